"""NumPy's convolution: the choice of an algorithm, and the entry points."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from backends.typing import Array, NumpyArray

from ..generic.spatial import batch_last, padded
from ..generic.window import Window
from . import pooled_rows, toom_cook
from .blocked import blocked
from .depthwise import NumpyDepthwise
from .pointwise import PointwiseConvolution
from .row_convolution import Buffers, Geometry, RowConvolution, rows_first, view
from .toom_cook_rows import ToomCookRows

LEAST_COLUMNS = 64  # with fewer columns per output row, BLAS does better on im2col's one large product
LEAST_DEPTH = 16  # channels times kernel_w below which Toom-Cook's transforms cost more than they save


def algorithm_for(window: Window, W: Array, n: int, pooled: bool = False) -> RowConvolution | None:
    """Return the algorithm that convolves these windows, before 2x2 pooling or not; None where im2col does better."""
    if window.stride[0] != 1 or window.dilation[0] != 1 or window.out[1] * n < LEAST_COLUMNS:
        return None
    return _algorithm(Geometry(window, W.shape[1], W.shape[0], n), np.dtype(W.dtype), pooled)


@lru_cache(maxsize=256)
def _algorithm(geometry: Geometry, dtype: Any, pooled: bool) -> RowConvolution:
    taps, outputs = geometry.window.kernel[0], geometry.window.out[0]
    tile = toom_cook.best_tile(taps, outputs)
    if tile > 1 and taps > 2 and geometry.depth >= LEAST_DEPTH:
        return ToomCookRows(geometry, dtype, tile)
    return RowConvolution(geometry, split=pooled)


@lru_cache(maxsize=256)
def _pointwise(geometry: Geometry) -> PointwiseConvolution:
    return PointwiseConvolution(geometry)


def halves(window: Window, pool: Window) -> bool:
    """Tell whether pooling takes 2x2 cells side by side and leaves none over."""
    return pool.kernel == (2, 2) and pool.tiles_exactly and window.out == (2 * pool.out[0], 2 * pool.out[1])


class NumpyConvolution(NumpyDepthwise):
    """Mixin of `NumpyBackend`: convolution with image rows outermost in memory."""

    def im2col(self, x: NumpyArray, window: Window, buffers: Buffers) -> Array:
        cells: Any = padded(self, x, window, 0.0, buffers)
        if not cells.flags.c_contiguous:
            return super().im2col(x, window, buffers)
        col = buffers("col", (*x.shape[:2], *window.kernel, *window.out))
        channel, *steps, example = cells.strides
        down = (step * far for step, far in zip(steps, window.dilation, strict=True))
        along = (step * far for step, far in zip(steps, window.stride, strict=True))
        strides = (channel, *down, *along, example)
        target: Any = batch_last(self, col)
        np.copyto(target, view(cells, target.shape, strides))  # windows overlap in the view, not in the copy
        return col

    def conv2d(
        self,
        x: NumpyArray,
        W: NumpyArray,
        b: NumpyArray | None,
        window: Window,
        buffers: Buffers,
        activate: Callable[[NumpyArray], object] | None = None,
        exact: bool = True,
    ) -> tuple[Array, Any]:
        if x.ndim == 4 and window.kernel == (1, 1) and not window.has_padding:
            return _pointwise(Geometry(window, W.shape[1], W.shape[0], x.shape[0])).forward(x, W, b, buffers, activate)
        algorithm = algorithm_for(window, W, x.shape[0])
        if algorithm is None:
            return blocked(window, W.shape[1], W.shape[0], x.shape[0]).forward(x, W, b, buffers, activate)
        return algorithm.forward(x, W, b, buffers, activate, exact)

    def conv2d_backward(
        self,
        delta: NumpyArray,
        saved: Any,
        W: NumpyArray,
        window: Window,
        gradients: tuple[NumpyArray, NumpyArray | None],
        buffers: Buffers,
        need_epsilon: bool = True,
    ) -> Array | None:
        return saved.algorithm.backward(delta, saved.kept, W, gradients, buffers, need_epsilon)

    def conv3d(
        self,
        x: NumpyArray,
        W: NumpyArray,
        b: NumpyArray | None,
        window: Window,
        buffers: Buffers,
        activate: Callable[[NumpyArray], object] | None = None,
        exact: bool = True,
    ) -> tuple[Array, Any]:
        return blocked(window, W.shape[1], W.shape[0], x.shape[0]).forward(x, W, b, buffers, activate)

    conv3d_backward = conv2d_backward  # the algorithm's own, too

    def conv2d_max_pool(
        self,
        x: NumpyArray,
        W: NumpyArray,
        b: NumpyArray | None,
        activate: Callable[[NumpyArray], object] | None,
        windows: tuple[Window, Window],
        buffers: tuple[Buffers, Buffers],
        keep: bool = True,
        inner: NumpyArray | None = None,
    ) -> tuple[Array, Any]:
        algorithm = algorithm_for(windows[0], W, x.shape[0], pooled=True) if halves(*windows) else None
        if algorithm is None:
            return super().conv2d_max_pool(x, W, b, activate, windows, buffers, keep, inner)
        return pooled_rows.forward(algorithm, x, W, b, activate, buffers[0], keep, inner)

    def conv2d_max_pool_backward(
        self,
        epsilon: NumpyArray,
        saved: Any,
        W: NumpyArray,
        windows: tuple[Window, Window],
        gradients: tuple[NumpyArray, NumpyArray | None],
        buffers: tuple[Buffers, Buffers],
        need_epsilon: bool = True,
    ) -> Array | None:
        if not isinstance(saved, pooled_rows.PooledSaved):
            return super().conv2d_max_pool_backward(epsilon, saved, W, windows, gradients, buffers, need_epsilon)
        return pooled_rows.backward(epsilon, saved, W, gradients, buffers[0], need_epsilon)

    def like(
        self, x: NumpyArray, buffers: Buffers, name: str, shape: tuple[int, ...], dtype: str | None = None
    ) -> Array:
        if not rows_first(x):
            return super().like(x, buffers, name, shape, dtype)
        n, channels, height, width = shape
        return buffers(name, (n, height, channels, width), dtype).transpose(0, 2, 1, 3)
