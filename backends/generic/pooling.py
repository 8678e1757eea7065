"""Pooling over windows of two axes, once, for every backend, on the batch-innermost view ``[C, H, W, N]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.typing import Array

from ..signatures import AveragePooling, NormPooling, NormPoolingBack, PoolingBack, Sliding
from .spatial import BATCH_FIRST, BATCH_LAST, cropped, gradient_image, padded
from .window import Window

if TYPE_CHECKING:
    from ..base import Backend

# ---- maximum


def max_pool(backend: Backend, given: Sliding[Array]) -> tuple[Array, object]:
    """Return the maximum of every window; padding never wins.

    Returns
    -------
    out : array ``[N, C, out_h, out_w]``
    saved : which cell won, the first in row-major order among equals (as DL4J)
    """
    x, window, buffers = given
    if window.kernel == (2, 2) and window.tiles_exactly:
        return _max_pool_pairs(backend, given)
    cells = padded(backend, x, window, -float("inf"), buffers)
    shape = (*x.shape[:2], *window.out)
    out, winner = buffers("pooled", shape), buffers("winner", shape, "int32")
    best, best_cell = backend.permute(out, BATCH_LAST), backend.permute(winner, BATCH_LAST)
    larger = backend.permute(buffers("larger", shape, "bool"), BATCH_LAST)
    for number, (_, _, rows, columns) in enumerate(window.cells):
        candidate = cells[:, rows, columns, :]
        if number == 0:
            backend.assign(best, candidate)
            backend.fill(best_cell, 0)
            continue
        backend.put_where(best_cell, number, backend.greater(candidate, best, larger))
        backend.maximum(best, candidate, best)
    return out, winner


def largest(backend: Backend, given: Sliding[Array]) -> Array:
    """Return the maximum of every window, without the cell that won."""
    x, window, buffers = given
    cells = padded(backend, x, window, -float("inf"), buffers)
    out = backend.like(x, buffers, "pooled", (*x.shape[:2], *window.out))
    best = backend.permute(out, BATCH_LAST)
    for number, (_, _, rows, columns) in enumerate(window.cells):
        candidate = cells[:, rows, columns, :]
        if number == 0:
            backend.assign(best, candidate)
        else:
            backend.maximum(best, candidate, best)
    return out


def max_pool_backward(backend: Backend, given: PoolingBack[Array]) -> Array:
    """Hand every element of ``epsilon [N, C, out_h, out_w]`` to the cell that won."""
    epsilon, saved, window, buffers = given
    if isinstance(saved, tuple):
        return _max_pool_pairs_backward(backend, given)
    winner, share = backend.permute(saved, BATCH_LAST), backend.permute(epsilon, BATCH_LAST)
    image, target = gradient_image(backend, epsilon.shape[:2], window, buffers)
    dtype = backend.dtype_name(epsilon)
    won = backend.permute(buffers("won", epsilon.shape, dtype), BATCH_LAST)
    for number, (_, _, rows, columns) in enumerate(window.cells):
        backend.equal(winner, number, won)
        backend.multiply(won, share, won)
        cells = target[:, rows, columns, :]
        backend.add(cells, won, cells)
    return cropped(backend, image, target, window)


def _max_pool_pairs(backend: Backend, given: Sliding[Array]) -> tuple[Array, object]:
    """Pool 2x2 windows side by side: the larger of left and right, then of top and bottom; >= keeps the first."""
    x, window, buffers = given
    (n, channels), (out_h, out_w) = x.shape[:2], window.out
    left, right = _sides(backend.permute(x, BATCH_LAST), window)

    def memory(name: str, shape: tuple[int, ...]) -> Array:
        return backend.permute(backend.like(x, buffers, name, shape), BATCH_LAST)

    row = memory("row", (n, channels, 2 * out_h, out_w))
    left_won = memory("left_won", (n, channels, 2 * out_h, out_w))
    backend.greater_equal(left, right, left_won)
    backend.maximum(left, right, row)
    top, bottom = row[:, 0::2, ...], row[:, 1::2, ...]
    out = backend.like(x, buffers, "pooled", (n, channels, out_h, out_w))
    top_won = memory("top_won", (n, channels, out_h, out_w))
    backend.greater_equal(top, bottom, top_won)
    backend.maximum(top, bottom, backend.permute(out, BATCH_LAST))
    return out, (left_won, top_won)  # as [C, H, W, N]


def _max_pool_pairs_backward(backend: Backend, given: PoolingBack[Array]) -> Array:
    epsilon, (left_won, top_won), window, buffers = given
    (n, channels), (out_h, out_w) = epsilon.shape[:2], window.out
    share, won = backend.permute(epsilon, BATCH_LAST), backend.permute(left_won, BATCH_FIRST)
    row = backend.permute(backend.like(won, buffers, "row", (n, channels, 2 * out_h, out_w)), BATCH_LAST)
    top, bottom = row[:, 0::2, ...], row[:, 1::2, ...]
    backend.multiply(share, top_won, top)
    backend.subtract(share, top, bottom)
    image = backend.like(won, buffers, "epsilon", (n, channels, *window.size))
    cells = backend.permute(image, BATCH_LAST)
    if window.size != (2 * out_h, 2 * out_w):
        backend.fill(cells, 0.0)
    left, right = _sides(cells, window)
    backend.multiply(row, left_won, left)
    backend.subtract(row, left, right)
    return image


def _sides(cells: Array, window: Window) -> tuple[Array, Array]:
    """View ``[C, H, W, N]`` as the left and the right cells of windows side by side."""
    out_h, out_w = window.out
    return cells[:, : 2 * out_h, 0 : 2 * out_w : 2, :], cells[:, : 2 * out_h, 1 : 2 * out_w : 2, :]


# ---- average


def avg_pool(backend: Backend, given: AveragePooling[Array]) -> tuple[Array, object]:
    """Return the mean of every window, over its real cells or, with `count_padding`, over all of them."""
    x, window, count_padding, buffers = given
    cells = padded(backend, x, window, 0.0, buffers)
    out = buffers("pooled", (*x.shape[:2], *window.out))
    total = backend.permute(out, BATCH_LAST)
    backend.fill(total, 0.0)
    for _, _, rows, columns in window.cells:
        backend.add(total, cells[:, rows, columns, :], total)
    divisor: Array | float
    if count_padding or not window.has_padding:
        divisor = float(window.kernel[0] * window.kernel[1])
    else:
        counts = backend.asarray(window.real_cells(), backend.dtype_name(x))
        divisor = backend.reshape(counts, (1, *window.out, 1))
    backend.divide(total, divisor, total)
    return out, divisor


def avg_pool_backward(backend: Backend, given: PoolingBack[Array]) -> Array:
    """Spread every element of ``epsilon [N, C, out_h, out_w]`` evenly over the cells of its window."""
    epsilon, saved, window, buffers = given
    share = backend.permute(buffers("share", epsilon.shape), BATCH_LAST)
    backend.divide(backend.permute(epsilon, BATCH_LAST), saved, share)
    image, target = gradient_image(backend, epsilon.shape[:2], window, buffers)
    for _, _, rows, columns in window.cells:
        cells = target[:, rows, columns, :]
        backend.add(cells, share, cells)
    return cropped(backend, image, target, window)


# ---- p-norm


def pnorm_pool(backend: Backend, given: NormPooling[Array]) -> tuple[Array, object]:
    """Return (sum |x|^p)^(1/p) of every window."""
    x, window, p, buffers = given
    cells = padded(backend, x, window, 0.0, buffers)
    out = buffers("pooled", (*x.shape[:2], *window.out))
    norm = backend.permute(out, BATCH_LAST)
    backend.fill(norm, 0.0)
    for _, _, rows, columns in window.cells:
        backend.add(norm, backend.power(backend.absolute(cells[:, rows, columns, :]), p), norm)
    backend.power(norm, 1.0 / p, norm)
    return out, (cells, norm)


def pnorm_pool_backward(backend: Backend, given: NormPoolingBack[Array]) -> Array:
    """Return epsilon * norm^(1 - p) * |x|^(p - 1) * sign(x), 0 where the norm is 0."""
    epsilon, (cells, norm), window, p, buffers = given
    blank = backend.equal(norm, 0.0)
    scale = backend.where(blank, 0.0, backend.power(backend.where(blank, 1.0, norm), 1 - p))
    share = backend.multiply(scale, backend.permute(epsilon, BATCH_LAST))
    image, target = gradient_image(backend, epsilon.shape[:2], window, buffers)
    for _, _, rows, columns in window.cells:
        cell = cells[:, rows, columns, :]
        slope = backend.multiply(backend.power(backend.absolute(cell), p - 1), backend.sign(cell))
        place = target[:, rows, columns, :]
        backend.add(place, backend.multiply(slope, share), place)
    return cropped(backend, image, target, window)
