"""NumPy's convolution: the algorithms, and where each is the one. Image rows lie outermost in memory."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from backends.typing import Array, NumpyArray

from ..generic.spatial import batch_last, gathered, padded
from ..generic.window import Window
from ..signatures import (
    Convolution,
    ConvolutionBack,
    Like,
    PooledConvolution,
    PooledConvolutionBack,
    Sliding,
)
from . import pooled_rows, toom_cook
from .blocked import blocked
from .pointwise import PointwiseConvolution
from .row_convolution import Geometry, RowConvolution, rows_first, view
from .toom_cook_rows import ToomCookRows

if TYPE_CHECKING:
    from .numpy_backend import NumpyBackend

LEAST_COLUMNS = 64  # with fewer columns per output row, BLAS does better on im2col's one large product
LEAST_DEPTH = 16  # channels times kernel_w below which Toom-Cook's transforms cost more than they save


# ---- where


def is_pointwise(backend: NumpyBackend, given: Convolution[NumpyArray]) -> bool:
    """Tell whether the kernel has one cell, and images no padding."""
    return given.x.ndim == 4 and given.window.kernel == (1, 1) and not given.window.has_padding


def rows_serve(backend: NumpyBackend, given: Convolution[NumpyArray]) -> bool:
    """Tell whether a product for each output row does better than im2col."""
    return serves_rows(given.window, given.x.shape[0])


def serves_rows(window: Window, n: int) -> bool:
    """Tell the same of windows over n examples."""
    return window.stride[0] == window.dilation[0] == 1 and window.out[1] * n >= LEAST_COLUMNS


def rows_pool(backend: NumpyBackend, given: PooledConvolution[NumpyArray]) -> bool:
    """Tell whether the rows serve, and pooling takes 2x2 cells side by side and leaves none over."""
    window, pool = given.windows
    halves = pool.kernel == (2, 2) and pool.tiles_exactly and window.out == (2 * pool.out[0], 2 * pool.out[1])
    return halves and serves_rows(window, given.x.shape[0])


def rows_have_pooled(backend: NumpyBackend, given: PooledConvolutionBack[NumpyArray]) -> bool:
    """Tell whether the way forward was that of `pooled_by_rows`."""
    return isinstance(given.saved, pooled_rows.PooledSaved)


def lies_rows_first(backend: NumpyBackend, given: Like[NumpyArray]) -> bool:
    """Tell whether image rows lie outermost."""
    return rows_first(given.x)


# ---- how


def algorithm_for(window: Window, W: NumpyArray, n: int, pooled: bool = False) -> RowConvolution:
    """Return the algorithm that convolves these windows by rows, before 2x2 pooling or not."""
    return _algorithm(Geometry(window, W.shape[1], W.shape[0], n), W.dtype, pooled)


@lru_cache(maxsize=256)
def _algorithm(geometry: Geometry, dtype: np.dtype, pooled: bool) -> RowConvolution:
    taps, outputs = geometry.window.kernel[0], geometry.window.out[0]
    tile = toom_cook.best_tile(taps, outputs)
    if tile > 1 and taps > 2 and geometry.depth >= LEAST_DEPTH:
        return ToomCookRows(geometry, dtype, tile)
    return RowConvolution(geometry, split=pooled)


@lru_cache(maxsize=256)
def _pointwise(geometry: Geometry) -> PointwiseConvolution:
    return PointwiseConvolution(geometry)


def pointwise(backend: NumpyBackend, given: Convolution[NumpyArray]) -> tuple[Array, object]:
    """Convolve by one product on the image as it lies."""
    x, W, _, window, *_ = given
    return _pointwise(Geometry(window, W.shape[1], W.shape[0], x.shape[0])).forward(given)


def by_rows(backend: NumpyBackend, given: Convolution[NumpyArray]) -> tuple[Array, object]:
    """Convolve by a product for each output row, or by Toom-Cook."""
    return algorithm_for(given.window, given.W, given.x.shape[0]).forward(given)


def by_columns(backend: NumpyBackend, given: Convolution[NumpyArray]) -> tuple[Array, object]:
    """Convolve by columns of some output rows at once, over any number of axes."""
    x, W, _, window, *_ = given
    return blocked(window, W.shape[1], W.shape[0], x.shape[0]).forward(given)


def algorithm_is_saved(backend: NumpyBackend, given: ConvolutionBack[NumpyArray]) -> bool:
    """Tell whether one of our algorithms has gone forward: a backend of a user's own may gather columns instead."""
    return hasattr(given.saved, "algorithm")


def back(backend: NumpyBackend, given: ConvolutionBack[NumpyArray]) -> Array | None:
    """Go back by the algorithm that was the one forward."""
    return given.saved.algorithm.backward(given)


def pooled_by_rows(backend: NumpyBackend, given: PooledConvolution[NumpyArray]) -> tuple[Array, object]:
    """Convolve and pool while the output is in the cache."""
    algorithm = algorithm_for(given.windows[0], given.W, given.x.shape[0], pooled=True)
    return pooled_rows.forward(algorithm, given)


def im2col(backend: NumpyBackend, given: Sliding[NumpyArray]) -> Array:
    """Copy all columns at once, where they can be seen in the padded image."""
    x, window, buffers = given
    cells: NumpyArray = padded(backend, x, window, 0.0, buffers)
    if not cells.flags.c_contiguous:
        return gathered(backend, cells, given)
    col = buffers("col", (*x.shape[:2], *window.kernel, *window.out))
    channel, *steps, example = cells.strides
    down = (step * far for step, far in zip(steps, window.dilation, strict=True))
    along = (step * far for step, far in zip(steps, window.stride, strict=True))
    strides = (channel, *down, *along, example)
    target: NumpyArray = batch_last(backend, col)
    np.copyto(target, view(cells, target.shape, strides))  # windows overlap in the view, not in the copy
    return col


def memory_rows_first(backend: NumpyBackend, given: Like[NumpyArray]) -> Array:
    """Return scratch memory in which image rows are outermost."""
    n, channels, height, width = given.shape
    return given.buffers(given.name, (n, height, channels, width), given.dtype).transpose(0, 2, 1, 3)
