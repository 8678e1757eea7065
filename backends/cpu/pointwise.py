"""NumPy's 1x1 convolution: products of the channels at every place, on the image as it lies in memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from backends.typing import NumpyArray

from ..generic.spatial import BATCH_FIRST, BATCH_LAST
from ..signatures import Convolution, ConvolutionBack
from .row_convolution import CACHED_BYTES, ROWS_FIRST, ROWS_FIRST_BACK, Buffers, Geometry, block, rows_first

COLUMNS = 512  # of a product, at least: one of 25,088 columns took half as long again as 28 of 896


class Stack(NamedTuple):
    """An image as matrices of channels by places, which lie in it as they are."""

    matrices: np.ndarray
    """``[H, C, W * N]`` where rows are outermost in memory, else ``[groups of rows, C, rows * W * N]``."""
    by_rows: bool

    @classmethod
    def over(cls, image: np.ndarray, by_rows: bool) -> Stack:
        """View an image that has its memory to itself, rows outermost or batch innermost."""
        n, channels, height, width = image.shape
        if by_rows:
            return cls(image.transpose(ROWS_FIRST).reshape(height, channels, -1), by_rows)
        groups = max(
            each for each in range(1, height + 1) if height % each == 0 and _wide(height // each * width * n, each)
        )
        return cls(image.transpose(BATCH_LAST).reshape(channels, groups, -1).transpose(1, 0, 2), by_rows)

    @classmethod
    def of(cls, x: np.ndarray, by_rows: bool, buffers: Buffers, name: str) -> Stack:
        """Return an image, or its copy where it does not lie so."""
        if not x.transpose(ROWS_FIRST if by_rows else BATCH_LAST).flags.c_contiguous:
            copy = empty_image(x.shape, by_rows, buffers, name)
            np.copyto(copy, x)
            x = copy
        return cls.over(x, by_rows)

    def pieces(self, bytes_per_column: int) -> list[slice]:
        """Cut it into matrices that stay in the cache while more is done with them."""
        at_once = max(CACHED_BYTES // max(bytes_per_column * self.matrices.shape[2], 1), 1)
        return [slice(start, start + at_once) for start in range(0, len(self.matrices), at_once)]


def _wide(columns: int, groups: int) -> bool:
    return columns >= COLUMNS or groups == 1


def empty_image(shape: tuple[int, ...], by_rows: bool, buffers: Buffers, name: str) -> np.ndarray:
    """Return scratch memory ``[N, C, H, W]``, rows outermost or batch innermost."""
    n, channels, height, width = shape
    if by_rows:
        return block(buffers, name, (height, channels, width, n)).transpose(ROWS_FIRST_BACK)
    return block(buffers, name, (channels, height, width, n)).transpose(BATCH_FIRST)


class PointwiseSaved(NamedTuple):
    """Forward's cache for backward: the cells that were convolved, and the algorithm."""

    kept: Stack
    algorithm: PointwiseConvolution


class PointwiseConvolution:
    """Convolution with a kernel of one cell, without padding.

    Parameters
    ----------
    geometry : Geometry
    """

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        window = geometry.window
        lasts = ((out - 1) * step + 1 for out, step in zip(window.out, window.stride, strict=True))
        self.under = tuple(slice(0, stop, step) for stop, step in zip(lasts, window.stride, strict=True))
        self.everywhere = window.size == window.out

    def forward(self, given: Convolution[NumpyArray]) -> tuple[np.ndarray, PointwiseSaved]:
        """Return ``z [N, n_out, out_h, out_w]`` and the cache that `backward` needs."""
        x, W, b, _, buffers, activate, _ = given
        window, channels, n_out, n = self.geometry
        cells = Stack.of(x[:, :, *self.under], rows_first(x), buffers, "columns")
        z = empty_image((n, n_out, *window.out), cells.by_rows, buffers, "z")
        out, kernel = Stack.over(z, cells.by_rows), W.reshape(n_out, channels)
        for piece in out.pieces((channels + n_out) * x.itemsize):
            np.matmul(kernel, cells.matrices[piece], out=out.matrices[piece])
            if b is not None:
                np.add(out.matrices[piece], b.reshape(n_out, 1), out=out.matrices[piece])
            if activate is not None:
                activate(out.matrices[piece])
        return z, PointwiseSaved(cells, self)

    def backward(self, given: ConvolutionBack[NumpyArray]) -> np.ndarray | None:
        """Write the gradients, return that of x ``[N, C, H, W]`` unless nobody needs it."""
        delta, (kept, _), W, window, gradients, buffers, need_epsilon = given
        _, channels, n_out, n = self.geometry
        cells, rows = kept.matrices, Stack.of(delta, kept.by_rows, buffers, "delta_rows").matrices
        if gradients[1] is not None:
            ones = block(buffers, "ones", rows.shape[2:])
            ones.fill(1.0)
            sums = np.vecdot(rows, ones, out=block(buffers, "row_sums", rows.shape[:2]))
            np.add.reduce(sums, axis=0, out=gradients[1].reshape(-1))
        products = block(buffers, "products", (len(rows), channels, n_out))
        np.matmul(cells, rows.transpose(0, 2, 1), out=products)
        total = np.add.reduce(products, axis=0, out=block(buffers, "total", (channels, n_out)))
        np.copyto(gradients[0].reshape(n_out, channels), total.T)
        if not need_epsilon:
            return None
        below = empty_image((n, channels, *window.out), kept.by_rows, buffers, "below")
        np.matmul(W.reshape(n_out, channels).T, rows, out=Stack.over(below, kept.by_rows).matrices)
        return below if self.everywhere else self._spread(below, kept.by_rows, buffers)

    def _spread(self, below: np.ndarray, by_rows: bool, buffers: Buffers) -> np.ndarray:
        """Return the gradient of all places, zero where the stride passes over them."""
        epsilon = empty_image((*below.shape[:2], *self.geometry.window.size), by_rows, buffers, "epsilon")
        Stack.over(epsilon, by_rows).matrices.fill(0.0)
        np.copyto(epsilon[:, :, *self.under], below)
        return epsilon
