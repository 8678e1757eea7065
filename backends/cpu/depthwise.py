"""NumPy's depthwise convolution: `banded` forward and back, the gradient of the kernel by vector products."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from backends.typing import Array, NumpyArray

from ..generic.spatial import BATCH_LAST, settled
from ..generic.window import Window
from ..signatures import Convolution, ConvolutionBack
from . import banded
from .row_convolution import CACHED_BYTES, Buffers, block, rows_first, view

if TYPE_CHECKING:
    from .numpy_backend import NumpyBackend


class DepthwiseSaved(NamedTuple):
    """Forward's cache for backward."""

    x: np.ndarray
    """``[N, C, H, W]``."""


def activation(buffers: Buffers, name: str, shape: tuple[int, ...], like: np.ndarray) -> np.ndarray:
    """Return scratch memory ``[C, H, W, N]``, in which image rows are outermost where they are in an activation."""
    if rows_first(like):
        return block(buffers, name, (shape[1], shape[0], *shape[2:])).transpose(1, 0, 2, 3)
    return block(buffers, name, shape)


def by_group(x: np.ndarray, groups: int) -> np.ndarray:
    """View ``[C, H, W, N]`` as ``[groups, C / groups, H, W, N]``."""
    return x.reshape(groups, -1, *x.shape[1:])


def bands_serve(backend: NumpyBackend, given: Convolution[NumpyArray]) -> bool:
    """Tell whether products with band matrices convolve images: rows that follow one another are under the kernel."""
    return given.window.dilation[0] == 1 and len(given.window.size) == 2


def bands_have_served(backend: NumpyBackend, given: ConvolutionBack[NumpyArray]) -> bool:
    """Tell whether they did on the way forward."""
    return isinstance(given.saved, DepthwiseSaved)


def by_bands(backend: NumpyBackend, given: Convolution[NumpyArray]) -> tuple[Array, object]:
    """Convolve by products with band matrices."""
    x, W, b, window, buffers, activate, _ = given
    n, channels, multiplier = x.shape[0], W.shape[2], W.shape[3]
    z = activation(buffers, "z", (channels * multiplier, *window.out, n), x)
    bias = None if b is None else b.reshape(channels, multiplier)
    kernel = W.transpose(2, 3, 0, 1)[:, :, None]
    banded.forward_of(window, multiplier).run(
        by_group(x.transpose(BATCH_LAST), channels), kernel, bias, by_group(z, channels), buffers, activate
    )
    return z.transpose(3, 0, 1, 2), DepthwiseSaved(x)


def back_by_bands(backend: NumpyBackend, given: ConvolutionBack[NumpyArray]) -> Array | None:
    """Go back: to the image by such products, to the kernel by vector products."""
    delta, saved, W, window, (W_gradient, b_gradient), buffers, need_epsilon = given
    if not rows_first(delta):
        delta = settled(backend, delta, buffers)
    n, channels, multiplier = delta.shape[0], W.shape[2], W.shape[3]
    share = by_group(delta.transpose(BATCH_LAST), channels)
    if b_gradient is not None:
        _bias_gradient(share, b_gradient, buffers)
    _kernel_gradient(share, saved.x.transpose(BATCH_LAST), W_gradient, window, buffers)
    if not need_epsilon:
        return None
    epsilon = activation(buffers, "epsilon", (channels, *window.size, n), saved.x)
    kernel = W[::-1, ::-1].transpose(2, 3, 0, 1)[:, None]
    banded.backward_of(window, multiplier).run(share, kernel, None, by_group(epsilon, channels), buffers)
    return epsilon.transpose(3, 0, 1, 2)


def _lines(x: np.ndarray) -> np.ndarray:
    """View ``[..., W, N]`` as ``[..., W * N]``."""
    return x.reshape(*x.shape[:-2], -1)


def _bias_gradient(share: np.ndarray, gradient: np.ndarray, buffers: Buffers) -> None:
    """Sum delta ``[groups, multiplier, out_h, out_w, N]`` over examples and positions."""
    lines = _lines(share)
    ones = block(buffers, "ones", lines.shape[-1:])
    ones.fill(1.0)
    sums = np.vecdot(lines, ones, out=block(buffers, "line_sums", lines.shape[:-1]))
    np.add.reduce(sums, axis=2, out=gradient.reshape(sums.shape[:2]))


def _kernel_gradient(share: np.ndarray, x: np.ndarray, gradient: np.ndarray, window: Window, buffers: Buffers) -> None:
    """Write the gradient ``[kernel_h, kernel_w, C, multiplier]``: rows of delta times rows of x, some channels at once.

    Rows of zeros and cells that every stride-th window sees first make the cells under one of the kernel's columns a
    vector: four times as fast as products that are summed cell by cell, three times as fast as np.einsum.
    """
    channels, multiplier, out_h, out_w, n = share.shape
    down, across = banded.axes_of(window)
    height, step = down.reach(out_h), across.stride
    width = -(-across.reach(out_w) // step)
    at_once = min(max(1, CACHED_BYTES // max(2 * height * step * width * n * x.itemsize, 1)), channels)
    padded = block(buffers, "padded", (at_once, height, step, width, n))
    padded.fill(0.0)
    products = block(buffers, "products", (channels, multiplier, out_h, *window.kernel))
    for start in range(0, channels, at_once):
        some = slice(start, min(start + at_once, channels))
        memory = padded[: some.stop - start]
        _lay_by_stride(x[some], memory, window)
        group, row, *inner = memory.strides
        shape = (len(memory), 1, out_h, window.kernel[0], *memory.shape[2:])
        under = view(memory, shape, (group, group, row * down.stride, row, *inner))
        for cell in range(window.kernel[1]):
            first, phase = divmod(cell * across.dilation, step)
            cells = _lines(under[..., phase, first : first + out_w, :])
            np.vecdot(_lines(share[some])[:, :, :, None], cells, out=products[some, ..., cell])
    total = np.add.reduce(products, axis=2, out=block(buffers, "total", (channels, multiplier, *window.kernel)))
    np.copyto(gradient, total.transpose(2, 3, 0, 1))


def _lay_by_stride(x: np.ndarray, memory: np.ndarray, window: Window) -> None:
    """Copy ``[C, H, W, N]`` into ``[C, padded H, stride, padded W / stride, N]``: every stride-th cell side by side."""
    (high, rows), (step, left) = (
        banded.axes_of(window)[0].laid(0, memory.shape[1]),
        (window.stride[1], window.pad_before[1]),
    )
    for phase in range(step):
        first = (phase - left) % step
        at = (first + left) // step
        cells = x[:, rows, first::step][:, :, : memory.shape[3] - at]
        np.copyto(memory[:, high, phase, at : at + cells.shape[2]], cells)
