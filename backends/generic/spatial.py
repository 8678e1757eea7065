"""Convolution, once, for every backend.

It works on the batch-innermost view ``[C, H, W, N]`` of an activation ``[N, C, H, W]``: then im2col is a few long
copies, one GEMM writes the next layer's memory order, and pooling is arithmetic on slices. The view costs nothing when
the activation already lies so, which `Backend.activation_view` sees to. Gathering and convolving take any number of
axes, ``[N, C, D, H, W]`` too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from backends.typing import Array

from ..signatures import (
    Buffers,
    Convolution,
    ConvolutionBack,
    Like,
    PooledConvolution,
    PooledConvolutionBack,
    Sliding,
)
from .window import Window

if TYPE_CHECKING:
    from ..base import Backend

BATCH_LAST = (1, 2, 3, 0)  # [N, C, H, W] -> [C, H, W, N]
BATCH_FIRST = (3, 0, 1, 2)  # and back


def renamed(buffers: Buffers, **names: str) -> Buffers:
    """Return the same memory under other names: ``input="delta"`` hands out "delta" for "input"."""
    return lambda name, *shape: buffers(names.get(name, name), *shape)


def fresh_buffers(backend: Backend, dtype: str) -> Buffers:
    """Return a `buffers` that allocates every time."""

    def allocate(name: str, shape: Sequence[int], kind: str | None = None) -> Array:
        return backend.empty_activation(shape, kind or dtype)

    return allocate


# ---- im2col


def im2col(backend: Backend, given: Sliding[Array]) -> Array:
    """Gather the cells of every window: ``[N, C, H, W]`` to ``[N, C, kernel_h, kernel_w, out_h, out_w]``."""
    return gathered(backend, padded(backend, given.x, given.window, 0.0, given.buffers), given)


def gathered(backend: Backend, cells: Array, given: Sliding[Array]) -> Array:
    """Do as `im2col` from what is padded already."""
    window = given.window
    col = given.buffers("col", (*given.x.shape[:2], *window.kernel, *window.out))
    target = batch_last(backend, col)
    for cell, under in window.places:
        backend.assign(target[:, *cell, ...], cells[:, *under, :])
    return col


def col2im(backend: Backend, given: Sliding[Array]) -> Array:
    """Add the cells of every window back where im2col took them: the transpose of `im2col`."""
    col, window, buffers = given
    n, channels = col.shape[:2]
    source = batch_last(backend, col)
    image, target = gradient_image(backend, (n, channels), window, buffers)
    for cell, under in window.places:
        cells = target[:, *under, :]
        backend.add(cells, source[:, *cell, ...], cells)
    return cropped(backend, image, target, window)


# ---- convolution


def conv2d(backend: Backend, given: Convolution[Array]) -> tuple[Array, object]:
    """Cross-correlate ``x [N, C, H, W]`` with ``W [n_out, C, kernel_h, kernel_w]``, add ``b [1, n_out]``.

    Returns
    -------
    z : array ``[N, n_out, out_h, out_w]``
    saved : cache for `conv2d_backward`
    """
    x, W, _, window, buffers, *_ = given
    n_out = W.shape[0]
    col = backend.im2col(x, window, buffers)
    z = buffers("z", (x.shape[0], n_out, *window.out))
    kernel = backend.reshape(W, (n_out, -1))
    backend.matmul(kernel, col_matrix(backend, col), rows_of_channels(backend, z))
    return finished(backend, z, given), col


def finished(backend: Backend, z: Array, given: Convolution[Array]) -> Array:
    """Add the bias, and activate."""
    if given.b is not None:
        rows = rows_of_channels(backend, z)
        backend.add(rows, backend.reshape(given.b, (z.shape[1], 1)), rows)
    if given.activate is not None:
        given.activate(z)
    return z


def conv2d_backward(backend: Backend, given: ConvolutionBack[Array]) -> Array | None:
    """Write dL/dW and dL/db into `gradients`; return dL/dx ``[N, C, H, W]`` unless nobody needs it.

    `saved` is used up: its memory takes the gradient of the columns.
    """
    delta, saved, W, window, (W_gradient, b_gradient), buffers, need_epsilon = given
    n_out = W.shape[0]
    delta = settled(backend, delta, buffers)
    rows, columns = rows_of_channels(backend, delta), col_matrix(backend, saved)
    backend.product_of_channels(rows, columns, backend.reshape_view(W_gradient, (n_out, -1)), buffers)
    sum_bias(backend, delta, b_gradient, buffers)
    if not need_epsilon:
        return None
    backend.matmul(backend.transpose(backend.reshape(W, (n_out, -1))), rows, columns)
    return backend.col2im(saved, window, buffers)


def product_of_channels(backend: Backend, rows: Array, columns: Array, out: Array, buffers: Buffers) -> None:
    """Write ``rows @ columns.T`` into `out`; the buffer's memory order makes it the transpose, faster for BLAS."""
    memory = buffers("W_gradient", tuple(out.shape))
    backend.assign(out, backend.matmul(rows, backend.transpose(columns), memory))


def sum_channels(backend: Backend, rows: Array, out: Array, buffers: Buffers) -> None:
    """Sum every row of a matrix into the vector `out`: on a CPU BLAS does it faster than anything else."""
    ones = backend.fill(buffers("ones", (rows.shape[1], 1)), 1.0)
    backend.matmul(rows, ones, backend.reshape_view(out, (rows.shape[0], 1)))


def sum_bias(backend: Backend, delta: Array, b_gradient: Array | None, buffers: Buffers) -> None:
    """Write the gradient of a bias that is there from ``delta [N, n_out, ...]``, which has settled."""
    if b_gradient is not None:
        sums = backend.reshape_view(b_gradient, (delta.shape[1],))
        backend.sum_channels(rows_of_channels(backend, delta), sums, buffers)


def conv2d_max_pool(backend: Backend, given: PooledConvolution[Array]) -> tuple[Array, object]:
    """Run `conv2d`, `activate` in place on its output, and `max_pool`.

    Returns
    -------
    pooled : array ``[N, n_out, out_h, out_w]``
    saved : cache for `conv2d_max_pool_backward`
    """
    x, W, b, activate, windows, buffers, keep, inner = given
    z, convolved = backend.conv2d(x, W, b, windows[0], buffers[0], activate, keep)
    if inner is not None:
        backend.assign(inner, z)
    if not keep:
        return backend.largest(z, windows[1], buffers[1]), None
    pooled, won = backend.max_pool(z, windows[1], buffers[1])
    return pooled, (convolved, won)


def conv2d_max_pool_backward(backend: Backend, given: PooledConvolutionBack[Array]) -> Array | None:
    """Write the gradients of W and b from the pooled epsilon before the pooling; return that of x."""
    epsilon, (convolved, won), W, windows, gradients, buffers, need_epsilon = given
    delta = backend.max_pool_backward(epsilon, won, windows[1], buffers[1])
    return backend.conv2d_backward(delta, convolved, W, windows[0], gradients, buffers[0], need_epsilon)


# ---- views


def batch_last(backend: Backend, x: Array) -> Array:
    """View ``[N, C, ...]`` as ``[C, ..., N]``."""
    return backend.permute(x, (*range(1, x.ndim), 0))


def settled(backend: Backend, delta: Array, buffers: Buffers) -> Array:
    """Return dL/dz in the preferred memory order, in which a matrix of it is a view."""
    return backend.to_activation_order(delta, renamed(buffers, input="delta"))


def rows_of_channels(backend: Backend, x: Array) -> Array:
    """Return ``[N, C, H, W]`` as a matrix ``[C, H * W * N]``; a view when the batch is innermost in memory."""
    return backend.reshape(batch_last(backend, x), (x.shape[1], -1))


def col_matrix(backend: Backend, col: Array) -> Array:
    """View columns ``[N, C, *kernel, *out]`` as a matrix ``[C * cells of the kernel, positions * N]``."""
    cells = math.prod(col.shape[1 : col.ndim // 2 + 1])
    return backend.reshape(batch_last(backend, col), (cells, -1))


def like(backend: Backend, given: Like[Array]) -> Array:
    """Return a scratch activation of that shape in the memory order of `x`, as far as the backend knows others."""
    _, buffers, name, shape, dtype = given
    return buffers(name, shape) if dtype is None else buffers(name, shape, dtype)


# ---- padding


def padded(backend: Backend, x: Array, window: Window, value: float, buffers: Buffers) -> Array:
    """Return ``[C, H, W, N]`` with its padding."""
    cells = batch_last(backend, x)
    if not window.has_padding:
        return cells
    wider = batch_last(backend, buffers("padded", (*x.shape[:2], *window.padded)))
    backend.fill(wider, value)
    backend.assign(wider[:, *window.interior, :], cells)
    return wider


def gradient_image(
    backend: Backend, batch_and_channels: tuple[int, ...], window: Window, buffers: Buffers
) -> tuple[Array, Array]:
    """Return the image ``[N, C, H, W]`` and the padded view ``[C, H, W, N]`` to add into, which is filled with 0."""
    target = image = buffers("epsilon", (*batch_and_channels, *window.size))
    if window.has_padding:
        target = buffers("padded_epsilon", (*batch_and_channels, *window.padded))
    return image, backend.fill(batch_last(backend, target), 0.0)


def cropped(backend: Backend, image: Array, target: Array, window: Window) -> Array:
    """Fill the image from inside of its padded view, where that is another array; return it."""
    if window.has_padding:
        backend.assign(batch_last(backend, image), target[:, *window.interior, :])
    return image
