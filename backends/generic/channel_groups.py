"""Convolutions by groups of channels, each for itself, once, for every backend: plain ones and transposed ones.

As in `spatial`, on batch-innermost views; the axes ``h, w`` may be any number of axes. The groups are a stack of
matrices, so that columns are gathered once for all of them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from backends.typing import Array

from ..signatures import Buffers, Convolution, ConvolutionBack, DeconvolutionBack
from .spatial import batch_last, finished, renamed, settled, sum_bias

if TYPE_CHECKING:
    from ..base import Backend


def grouped(backend: Backend, given: Convolution[Array]) -> tuple[Array, object]:
    """Cross-correlate groups of channels of ``x [N, groups * C, H, W]``, each with kernels of its own; add b.

    The weights are ``[groups, n_out, C, kernel_h, kernel_w]``.

    Returns
    -------
    z : array ``[N, groups * n_out, out_h, out_w]``
    saved : cache for `grouped_backward`
    """
    x, W, b, window, buffers, activate, _ = given
    groups, per_group, channels = W.shape[:3]
    if channels == 1:
        return backend.depthwise(x, _of_channels(backend, W), b, window, buffers, activate)
    col = backend.im2col(x, window, buffers)
    z = buffers("z", (x.shape[0], groups * per_group, *window.out))
    backend.batched_matmul(
        _matrices(backend, W), _columns_by_groups(backend, col, groups), _by_groups(backend, z, groups)
    )
    return finished(backend, z, given), col


def grouped_backward(backend: Backend, given: ConvolutionBack[Array]) -> Array | None:
    """Write dL/dW and dL/db into `gradients`; return dL/dx unless nobody needs it. `saved` is used up."""
    delta, saved, W, window, (W_gradient, b_gradient), buffers, need_epsilon = given
    groups, _, channels = W.shape[:3]
    if channels == 1:
        gradients = _of_channels(backend, W_gradient), b_gradient
        kernel = _of_channels(backend, W)
        return backend.depthwise_backward(delta, saved, kernel, window, gradients, buffers, need_epsilon)
    delta = settled(backend, delta, buffers)
    rows, columns = _by_groups(backend, delta, groups), _columns_by_groups(backend, saved, groups)
    _write_product(backend, rows, columns, W_gradient, buffers)
    sum_bias(backend, delta, b_gradient, buffers)
    if not need_epsilon:
        return None
    backend.batched_matmul(_turned(backend, _matrices(backend, W)), rows, columns)
    return backend.col2im(saved, window, buffers)


def grouped_deconv(backend: Backend, given: Convolution[Array]) -> tuple[Array, object]:
    """Spread every cell of ``x [N, groups * C, H, W]`` over a window, by groups; add b.

    The weights are ``[groups, C, n_out, kernel_h, kernel_w]``, the window is as for `deconv`.

    Returns
    -------
    z : array ``[N, groups * n_out, *window.size]``
    saved : cache for `grouped_deconv_backward`
    """
    W, window, buffers = given.W, given.window, given.buffers
    groups, _, per_group = W.shape[:3]
    x = backend.to_activation_order(given.x, buffers)
    kernel = _matrices(backend, W)
    col = buffers("col", (x.shape[0], groups * per_group, *window.kernel, *window.out))
    backend.batched_matmul(
        _turned(backend, kernel), _by_groups(backend, x, groups), _columns_by_groups(backend, col, groups)
    )
    z = backend.col2im(col, window, renamed(buffers, epsilon="z", padded_epsilon="padded"))
    return finished(backend, z, given), (x, kernel)


def grouped_deconv_backward(backend: Backend, given: DeconvolutionBack[Array]) -> Array | None:
    """Write dL/dW ``[groups, C, n_out, kernel_h, kernel_w]`` and dL/db; return dL/dx unless nobody needs it."""
    delta, (x, kernel), window, (W_gradient, b_gradient), buffers, need_epsilon = given
    delta = settled(backend, delta, buffers)
    groups = kernel.shape[0]
    columns = _columns_by_groups(backend, backend.im2col(delta, window, buffers), groups)
    _write_product(backend, _by_groups(backend, x, groups), columns, W_gradient, buffers)
    sum_bias(backend, delta, b_gradient, buffers)
    if not need_epsilon:
        return None
    epsilon = buffers("epsilon", tuple(x.shape))
    backend.batched_matmul(kernel, columns, _by_groups(backend, epsilon, groups))
    return epsilon


def of_group(number: int, count: int) -> slice:
    """Return which channels a group of so many has."""
    return slice(number * count, (number + 1) * count)


def _by_groups(backend: Backend, x: Array, groups: int) -> Array:
    """View ``[N, C, ...]`` as a matrix of every group, ``[groups, C / groups, places * N]``."""
    return backend.reshape_view(batch_last(backend, x), (groups, x.shape[1] // groups, -1))


def _columns_by_groups(backend: Backend, col: Array, groups: int) -> Array:
    """View columns ``[N, C, *kernel, *out]`` as ``[groups, C / groups * cells of the kernel, places * N]``."""
    cells = math.prod(col.shape[2 : col.ndim // 2 + 1])
    return backend.reshape_view(batch_last(backend, col), (groups, col.shape[1] // groups * cells, -1))


def _matrices(backend: Backend, W: Array) -> Array:
    """Return ``[groups, n, C, *kernel]`` as matrices ``[groups, n, C * cells of the kernel]``."""
    return backend.reshape(W, (*W.shape[:2], -1))


def _turned(backend: Backend, matrices: Array) -> Array:
    return backend.permute(matrices, (0, 2, 1))


def _of_channels(backend: Backend, W: Array) -> Array:
    """View the weights of groups of one channel, ``[C, n, 1, *kernel]``, as depthwise ones, ``[*kernel, C, n]``."""
    kernels = W[:, :, 0, ...]
    return backend.permute(kernels, (*range(2, kernels.ndim), 0, 1))


def _write_product(backend: Backend, rows: Array, columns: Array, out: Array, buffers: Buffers) -> None:
    """Write the products of every group's rows and columns, ``rows @ columns.T``, into an array of weights."""
    shape = (*rows.shape[:2], columns.shape[1])
    memory = backend.reshape_view(buffers("W_gradient", (math.prod(shape),)), shape)
    backend.batched_matmul(rows, _turned(backend, columns), memory)
    backend.assign(out, backend.reshape(memory, tuple(out.shape)))
