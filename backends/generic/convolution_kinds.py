"""Kinds of convolution beside `conv2d`, once, for every backend: over volumes, transposed, depthwise, unshared.

As in `spatial`, on batch-innermost views; the axes ``h, w`` may be any number of axes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from backends.typing import Array

from ..signatures import Buffers, Convolution, ConvolutionBack, DeconvolutionBack
from . import spatial
from .spatial import (
    batch_last,
    col_matrix,
    cropped,
    finished,
    gradient_image,
    padded,
    renamed,
    rows_of_channels,
    settled,
    sum_bias,
)
from .window import Window

if TYPE_CHECKING:
    from ..base import Backend

# ---- volumes


def conv3d(backend: Backend, given: Convolution[Array]) -> tuple[Array, object]:
    """Cross-correlate ``x [N, C, D, H, W]`` with ``W [n_out, C, *kernel]``, add ``b [1, n_out]``; see `conv2d`.

    Returns
    -------
    z : array ``[N, n_out, out_d, out_h, out_w]``
    saved : cache for `conv3d_backward`
    """
    return spatial.conv2d(backend, given)  # which takes any number of axes


def conv3d_backward(backend: Backend, given: ConvolutionBack[Array]) -> Array | None:
    """Write dL/dW and dL/db into `gradients`; return dL/dx unless nobody needs it. `saved` is used up."""
    return spatial.conv2d_backward(backend, given)


# ---- transposed


def deconv(backend: Backend, given: Convolution[Array]) -> tuple[Array, object]:
    """Spread every cell of ``x [N, C, H, W]``, times ``W [C, n_out, kernel_h, kernel_w]``, over a window; add b.

    The window is that of the convolution whose transpose this is: over the output, with as many positions as `x` has
    cells.

    Returns
    -------
    z : array ``[N, n_out, *window.size]``
    saved : cache for `deconv_backward`
    """
    W, window, buffers = given.W, given.window, given.buffers
    x = backend.to_activation_order(given.x, buffers)
    kernel = _as_kernel(backend, backend.assign(buffers("kernel", tuple(W.shape)), W))  # W may lie in any order
    col = buffers("col", (x.shape[0], W.shape[1], *window.kernel, *window.out))
    backend.matmul(kernel, rows_of_channels(backend, x), col_matrix(backend, col))
    z = backend.col2im(col, window, renamed(buffers, epsilon="z", padded_epsilon="padded"))
    return finished(backend, z, given), (x, kernel)


def deconv_backward(backend: Backend, given: DeconvolutionBack[Array]) -> Array | None:
    """Write dL/dW ``[C, n_out, kernel_h, kernel_w]`` and dL/db into `gradients`; return dL/dx unless not needed."""
    delta, (x, kernel), window, (W_gradient, b_gradient), buffers, need_epsilon = given
    delta = settled(backend, delta, buffers)
    columns = col_matrix(backend, backend.im2col(delta, window, buffers))
    gradient = buffers("W_gradient", tuple(W_gradient.shape))
    backend.matmul(columns, backend.transpose(rows_of_channels(backend, x)), _as_kernel(backend, gradient))
    backend.assign(W_gradient, gradient)
    sum_bias(backend, delta, b_gradient, buffers)
    if not need_epsilon:
        return None
    epsilon = buffers("epsilon", tuple(x.shape))
    backend.matmul(backend.transpose(kernel), columns, rows_of_channels(backend, epsilon))
    return epsilon


def _as_kernel(backend: Backend, kernel: Array) -> Array:
    """View ``[C, n_out, *kernel]`` as a matrix ``[n_out * cells of the kernel, C]``."""
    return backend.reshape_view(batch_last(backend, kernel), (-1, kernel.shape[0]))


# ---- depthwise


def depthwise(backend: Backend, given: Convolution[Array]) -> tuple[Array, object]:
    """Convolve every channel of ``x [N, C, H, W]`` for itself, with ``W [kernel_h, kernel_w, C, multiplier]``.

    Returns
    -------
    z : array ``[N, C * multiplier, out_h, out_w]``
        Channel ``c * multiplier + m`` is channel c with kernel m; ``b [1, C * multiplier]`` is added.
    saved : cache for `depthwise_backward`
    """
    x, W, _, window, buffers, *_ = given
    cells = padded(backend, x, window, 0.0, buffers)
    z = buffers("z", (x.shape[0], W.shape[-2] * W.shape[-1], *window.out))
    outputs = _by_kernel(backend, z, W)
    for channels in _cached_channels(backend, z, W):
        target = outputs[channels, ...]
        product = _by_kernel(backend, _product(z, W, channels, buffers), W)
        for number, (cell, under) in enumerate(window.places):
            out = target if number == 0 else product
            backend.multiply(cells[channels, None, *under, :], _broadcast(W[*cell, channels, :], out), out)
            if number:
                backend.add(target, product, target)
    return finished(backend, z, given), cells


def depthwise_backward(backend: Backend, given: ConvolutionBack[Array]) -> Array | None:
    """Write dL/dW and dL/db into `gradients`; return dL/dx unless nobody needs it."""
    delta, saved, W, window, (W_gradient, b_gradient), buffers, need_epsilon = given
    delta = settled(backend, delta, buffers)
    share, stretches = _by_kernel(backend, delta, W), _cached_channels(backend, delta, W)
    for channels in stretches:
        arrays = (share[channels, ...], saved[channels, ...], _product(delta, W, channels, buffers))
        _kernel_gradient(backend, *arrays, W_gradient[..., channels, :], window, buffers)
    sum_bias(backend, delta, b_gradient, buffers)
    if not need_epsilon:
        return None
    image, target = gradient_image(backend, (delta.shape[0], W.shape[-2]), window, buffers)
    for channels in stretches:
        product = _by_kernel(backend, _product(delta, W, channels, buffers), W)
        _spread(backend, share[channels, ...], W[..., channels, :], product, target[channels, ...], window)
    return cropped(backend, image, target, window)


def _kernel_gradient(
    backend: Backend, share: Array, cells: Array, product: Array, W_gradient: Array, window: Window, buffers: Buffers
) -> None:
    """Sum delta times the cells under the kernel; delta and product as ``[C, multiplier, ..., N]``."""
    rows = rows_of_channels(backend, product)
    products, sums = _by_kernel(backend, product, W_gradient), buffers("sums", (product.shape[1],))
    for cell, under in window.places:
        backend.multiply(cells[:, None, *under, :], share, products)
        backend.sum_channels(rows, sums, buffers)
        backend.assign(W_gradient[*cell, ...], backend.reshape(sums, tuple(W_gradient.shape[-2:])))


def _spread(backend: Backend, share: Array, W: Array, product: Array, target: Array, window: Window) -> None:
    """Add delta times the kernel to the places under it."""
    for cell, under in window.places:
        backend.multiply(share, _broadcast(W[*cell, ...], product), product)
        place = target[:, *under, :]
        for number in range(W.shape[-1]):
            backend.add(place, product[:, number, ...], place)


def _cached_channels(backend: Backend, z: Array, W: Array) -> list[slice]:
    """Cut the channels of the input into stretches whose outputs stay in the cache while more is done with them."""
    channels = W.shape[-2]
    at_once = max(1, backend.cached_elements * channels // max(math.prod(z.shape), 1))
    return [slice(start, min(start + at_once, channels)) for start in range(0, channels, at_once)]


def _product(z: Array, W: Array, channels: slice, buffers: Buffers) -> Array:
    """Return scratch memory for the outputs of some channels."""
    return buffers("product", (z.shape[0], (channels.stop - channels.start) * W.shape[-1], *z.shape[2:]))


def _by_kernel(backend: Backend, z: Array, W: Array) -> Array:
    """View ``[N, C * multiplier, ...]`` as ``[C, multiplier, ..., N]``."""
    return backend.reshape_view(batch_last(backend, z), (-1, W.shape[-1], *z.shape[2:], z.shape[0]))


def _broadcast(weights: Array, over: Array) -> Array:
    return weights[:, :, *(None for _ in range(over.ndim - 2))]


# ---- unshared


def locally_connected(backend: Backend, given: Convolution[Array]) -> tuple[Array, object]:
    """Convolve ``x [N, C, H, W]`` with weights of its own at every position; add ``b [1, n_out]``.

    The weights are ``[out_h * out_w, C * kernel_h * kernel_w, n_out]``. Position p is row p // out_w and column
    p % out_w of the output, and its window is at row p % out_h and column p // out_h of the input, as Deeplearning4j
    has it, which turns a square output round.

    Returns
    -------
    z : array ``[N, n_out, out_h, out_w]``
    saved : cache for `locally_connected_backward`
    """
    x, W, _, window, buffers, *_ = given
    col = backend.im2col(x, window, buffers)
    turned = _turned(backend, col, window)
    columns = batch_last(backend, buffers("columns", (turned.shape[-1], *turned.shape[:-1])))
    backend.assign(columns, turned)
    z = buffers("z", (x.shape[0], W.shape[2], *window.out))
    turned_weights = backend.permute(W, (0, 2, 1))
    backend.batched_matmul(turned_weights, _stacked(backend, columns), _by_position(backend, z, window))
    return finished(backend, z, given), (col, columns)


def locally_connected_backward(backend: Backend, given: ConvolutionBack[Array]) -> Array | None:
    """Write dL/dW and dL/db into `gradients`; return dL/dx unless nobody needs it. `saved` is used up."""
    delta, (col, columns), W, window, (W_gradient, b_gradient), buffers, need_epsilon = given
    delta = settled(backend, delta, buffers)
    stack, share = _stacked(backend, columns), _by_position(backend, delta, window)
    backend.batched_matmul(stack, backend.permute(share, (0, 2, 1)), W_gradient)
    sum_bias(backend, delta, b_gradient, buffers)
    if not need_epsilon:
        return None
    backend.batched_matmul(W, share, stack)
    backend.assign(_turned(backend, col, window), columns)
    return backend.col2im(col, window, buffers)


def _turned(backend: Backend, col: Array, window: Window) -> Array:
    """View the columns that `im2col` gathered as ``[out_w, out_h, C, kernel_h, kernel_w, N]``."""
    first = col.ndim - len(window.out)
    return backend.permute(col, (*reversed(range(first, col.ndim)), *range(1, first), 0))


def _stacked(backend: Backend, columns: Array) -> Array:
    """View ``[out_w, out_h, C, kernel_h, kernel_w, N]`` as a stack of matrices ``[positions, C * cells, N]``."""
    return backend.reshape_view(columns, (columns.shape[0] * columns.shape[1], -1, columns.shape[-1]))


def _by_position(backend: Backend, x: Array, window: Window) -> Array:
    """View ``[N, ..., *out]`` as a stack of matrices ``[positions, ..., N]``."""
    first = x.ndim - len(window.out)
    stack = backend.permute(x, (*range(first, x.ndim), *range(1, first), 0))
    return backend.reshape_view(stack, (window.positions, -1, x.shape[0]))
