"""Pooling over windows of two axes, once, for every backend, on the batch-innermost view ``[C, H, W, N]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.typing import Array

from ..signatures import AveragePooling, Buffers, NormPooling, NormPoolingBack, PoolingBack, Sliding, StochasticPooling
from .spatial import BATCH_FIRST, BATCH_LAST, batch_last, cropped, gradient_image, padded
from .window import Window

if TYPE_CHECKING:
    from ..base import Backend

# ---- windows that are cut off where the image ends, instead of an image that is padded


def _image(backend: Backend, x: Array, window: Window, value: float, buffers: Buffers) -> Array:
    """Return ``[C, H, W, N]`` with its padding, unless windows are cut off."""
    return batch_last(backend, x) if window.only_hangs_over else padded(backend, x, window, value, buffers)


def _image_below(backend: Backend, epsilon: Array, window: Window, buffers: Buffers) -> tuple[Array, Array]:
    """Return the image ``[N, C, H, W]`` and the view ``[C, H, W, N]`` to add into, which is filled with 0."""
    if not window.only_hangs_over:
        return gradient_image(backend, epsilon.shape[:2], window, buffers)
    image = buffers("epsilon", (*epsilon.shape[:2], *window.size))
    return image, backend.fill(batch_last(backend, image), 0.0)


def _at(x: Array, outputs: tuple[slice, ...] | None) -> Array:
    """View some outputs of ``[C, H, W, N]``."""
    return x if outputs is None else x[:, *outputs, :]


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
    cells = _image(backend, x, window, -float("inf"), buffers)
    shape = (*x.shape[:2], *window.out)
    out, winner = buffers("pooled", shape), buffers("winner", shape, "int32")
    best, best_cell = backend.permute(out, BATCH_LAST), backend.permute(winner, BATCH_LAST)
    larger = backend.permute(buffers("larger", shape, "bool"), BATCH_LAST)
    for number, (outputs, under) in enumerate(window.cut_cells):
        candidate = cells[:, *under, :]
        if number == 0:  # of which no window lacks its own
            backend.assign(best, candidate)
            backend.fill(best_cell, 0)
            continue
        so_far = _at(best, outputs)
        backend.put_where(_at(best_cell, outputs), number, backend.greater(candidate, so_far, _at(larger, outputs)))
        backend.maximum(so_far, candidate, so_far)
    return out, winner


def largest(backend: Backend, given: Sliding[Array]) -> Array:
    """Return the maximum of every window, without the cell that won."""
    x, window, buffers = given
    cells = _image(backend, x, window, -float("inf"), buffers)
    out = backend.like(x, buffers, "pooled", (*x.shape[:2], *window.out))
    best = backend.permute(out, BATCH_LAST)
    for number, (outputs, under) in enumerate(window.cut_cells):
        candidate = cells[:, *under, :]
        if number == 0:
            backend.assign(best, candidate)
        else:
            so_far = _at(best, outputs)
            backend.maximum(so_far, candidate, so_far)
    return out


def max_pool_backward(backend: Backend, given: PoolingBack[Array]) -> Array:
    """Hand every element of ``epsilon [N, C, out_h, out_w]`` to the cell that won."""
    epsilon, saved, window, buffers = given
    if isinstance(saved, tuple):
        return _max_pool_pairs_backward(backend, given)
    winner, share = backend.permute(saved, BATCH_LAST), backend.permute(epsilon, BATCH_LAST)
    image, target = _image_below(backend, epsilon, window, buffers)
    dtype = backend.dtype_name(epsilon)
    won = backend.permute(buffers("won", epsilon.shape, dtype), BATCH_LAST)
    for number, (outputs, under) in enumerate(window.cut_cells):
        there = _at(won, outputs)
        backend.equal(_at(winner, outputs), number, there)
        backend.multiply(there, _at(share, outputs), there)
        cells = target[:, *under, :]
        backend.add(cells, there, cells)
    return image if window.only_hangs_over else cropped(backend, image, target, window)


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


def max_places(backend: Backend, given: Sliding[Array]) -> Array:
    """Return where in the plane ``[H, W]`` every window has its maximum, as numbers ``row * W + column``.

    Returns
    -------
    array ``[N, C, out_h, out_w]``
        Of the dtype of `x`; the first in row-major order among equals, as `max_pool` has it.
    """
    x, window, buffers = given
    cells = padded(backend, x, window, -float("inf"), buffers)
    shape, width = (*x.shape[:2], *window.out), window.size[1]
    best, larger = (buffers("best", shape), buffers("larger", shape, "bool"))
    best, larger = backend.permute(best, BATCH_LAST), backend.permute(larger, BATCH_LAST)
    places = buffers("places", shape)
    best_place = backend.permute(places, BATCH_LAST)
    backend.fill(best, -float("inf"))
    backend.fill(best_place, 0.0)
    for row, column, rows, columns in window.cells:  # of a window in the corner: of others, what is added below
        candidate = cells[:, rows, columns, :]
        place = row * window.dilation[0] * width + column * window.dilation[1]
        backend.put_where(best_place, place, backend.greater(candidate, best, larger))
        backend.maximum(best, candidate, best)
    corners = [
        [
            (down * window.stride[0] - window.pad_before[0]) * width + across * window.stride[1] - window.pad_before[1]
            for across in range(window.out[1])
        ]
        for down in range(window.out[0])
    ]
    moved = backend.reshape(backend.asarray(corners, backend.dtype_name(x)), (1, *window.out, 1))
    backend.add(best_place, moved, best_place)
    return places


def stochastic_pool(backend: Backend, given: StochasticPooling[Array]) -> tuple[Array, object]:
    """Return a cell of every window, drawn with its value as weight; cells are not negative, and padding is 0.

    The cell is the first at which the sum of those up to it reaches the draw's share of the sum of all.

    Returns
    -------
    out : array ``[N, C, out_h, out_w]``
    saved : which cell it is, for `max_pool_backward`
    """
    x, draws, window, buffers = given
    cells = padded(backend, x, window, 0.0, buffers)
    shape = (*x.shape[:2], *window.out)
    out, winner = buffers("pooled", shape), buffers("winner", shape, "int32")
    drawn, number_drawn = backend.permute(out, BATCH_LAST), backend.permute(winner, BATCH_LAST)
    reached, sums = (backend.permute(buffers(name, shape), BATCH_LAST) for name in ("reached", "sums"))
    beyond = backend.permute(buffers("larger", shape, "bool"), BATCH_LAST)
    backend.fill(sums, 0.0)
    for _, _, rows, columns in window.cells:
        backend.add(sums, cells[:, rows, columns, :], sums)
    backend.multiply(sums, backend.permute(draws, BATCH_LAST), sums)
    backend.fill(reached, 0.0)
    backend.fill(number_drawn, 0)
    backend.assign(drawn, cells[:, window.cells[0][2], window.cells[0][3], :])
    for number, (_, _, rows, columns) in enumerate(window.cells[1:], 1):
        _, _, *before = window.cells[number - 1]
        backend.add(reached, cells[:, *before, :], reached)
        backend.greater(sums, reached, beyond)
        backend.put_where(number_drawn, number, beyond)
        backend.put_where(drawn, cells[:, rows, columns, :], beyond)
    return out, winner


# ---- average


def avg_pool(backend: Backend, given: AveragePooling[Array]) -> tuple[Array, object]:
    """Return the mean of every window, over its real cells or, with `count_padding`, over all but the overhang."""
    x, window, count_padding, buffers = given
    cells = _image(backend, x, window, 0.0, buffers)
    out = buffers("pooled", (*x.shape[:2], *window.out))
    total = backend.permute(out, BATCH_LAST)
    backend.fill(total, 0.0)
    for outputs, under in window.cut_cells:
        so_far = _at(total, outputs)
        backend.add(so_far, cells[:, *under, :], so_far)
    divisor: Array | float
    if not window.rounds_up and (count_padding or not window.has_padding):
        divisor = float(window.kernel[0] * window.kernel[1])
    else:
        cells_of_each = window.padded_cells() if count_padding else window.real_cells()
        counts = backend.asarray(cells_of_each, backend.dtype_name(x))
        divisor = backend.reshape(counts, (1, *window.out, 1))
    backend.divide(total, divisor, total)
    return out, divisor


def avg_pool_backward(backend: Backend, given: PoolingBack[Array]) -> Array:
    """Spread every element of ``epsilon [N, C, out_h, out_w]`` evenly over the cells of its window."""
    epsilon, saved, window, buffers = given
    share = backend.permute(buffers("share", epsilon.shape), BATCH_LAST)
    backend.divide(backend.permute(epsilon, BATCH_LAST), saved, share)
    image, target = _image_below(backend, epsilon, window, buffers)
    for outputs, under in window.cut_cells:
        cells = target[:, *under, :]
        backend.add(cells, _at(share, outputs), cells)
    return image if window.only_hangs_over else cropped(backend, image, target, window)


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
