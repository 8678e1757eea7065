"""NumPy's convolution by columns, some output rows at a time, so that their columns never leave the cache.

For windows over any number of axes, of any stride and dilation. The way back gathers the columns again: that is faster
than to have kept them in memory, where they take as often the room of the image as the kernel has cells.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from backends.typing import NumpyArray

from ..generic.window import Window
from ..signatures import Convolution, ConvolutionBack
from .row_convolution import CACHED_BYTES, Buffers, block


class BlockedSaved(NamedTuple):
    """Forward's cache for backward: the padded image, and the algorithm."""

    kept: np.ndarray
    """``[C, *padded, N]``."""
    algorithm: BlockedConvolution


class BlockedConvolution:
    """One product for every few rows along the first axis.

    Parameters
    ----------
    window : Window
    channels, n_out, n : int
        Channels before and after, examples.
    """

    def __init__(self, window: Window, channels: int, n_out: int, n: int) -> None:
        self.window, self.channels, self.n_out, self.n = window, channels, n_out, n
        self.depth = channels * math.prod(window.kernel)
        self.columns = math.prod(window.out[1:]) * n  # of one row

    def pieces(self, itemsize: int) -> list[slice]:
        """Cut the output rows into as many at once as have their columns in the cache."""
        rows, at_once = self.window.out[0], max(CACHED_BYTES // max(self.depth * self.columns * itemsize, 1), 1)
        return [slice(start, min(start + at_once, rows)) for start in range(0, rows, at_once)]

    def forward(self, given: Convolution[NumpyArray]) -> tuple[np.ndarray, BlockedSaved]:
        """Return ``z [N, n_out, *out]``, activated, and the cache that `backward` needs."""
        x, W, b, _, buffers, activate, _ = given
        cells, kernel = self._padded(x, buffers), self._matrix(W, buffers)
        z = block(buffers, "z", (self.n_out, *self.window.out, self.n))
        pieces = self.pieces(x.itemsize)
        for piece in pieces:
            out = self._rows(z, piece)
            np.matmul(kernel, self._gathered(cells, piece, pieces, buffers), out=out)
            if b is not None:
                np.add(out, b.reshape(self.n_out, 1), out=out)
            if activate is not None:
                activate(out)
        return z.transpose(z.ndim - 1, *range(z.ndim - 1)), BlockedSaved(cells, self)

    def backward(self, given: ConvolutionBack[NumpyArray]) -> np.ndarray | None:
        """Write the gradients, return that of x ``[N, C, ...]`` unless nobody needs it."""
        delta, (kept, _), W, _, gradients, buffers, need_epsilon = given
        share = delta.transpose(*range(1, delta.ndim), 0)
        if not share.flags.c_contiguous:
            share = block(buffers, "delta", (self.n_out, *self.window.out, self.n))
            np.copyto(share, delta.transpose(*range(1, delta.ndim), 0))
        if gradients[1] is not None:
            self._bias_gradient(share, gradients[1], buffers)
        image, turned = None, self._matrix(W, buffers).T
        if need_epsilon:
            image = block(buffers, "padded_epsilon", kept.shape)
            image.fill(0.0)
        pieces = self.pieces(share.itemsize)
        products = block(buffers, "products", (len(pieces), self.depth, self.n_out))
        for number, piece in enumerate(pieces):
            rows, columns = self._rows(share, piece), self._gathered(kept, piece, pieces, buffers)
            np.matmul(columns, rows.T, out=products[number])
            if image is not None:
                np.matmul(turned, rows, out=columns)
                self._scatter(columns, piece, image)
        total = np.add.reduce(products, axis=0, out=block(buffers, "total", products.shape[1:]))
        spread = total.reshape(self.channels, *self.window.kernel, self.n_out)
        np.copyto(gradients[0], spread.transpose(spread.ndim - 1, *range(spread.ndim - 1)))
        return (
            None if image is None else image[:, *self.window.interior].transpose(delta.ndim - 1, *range(delta.ndim - 1))
        )

    def _padded(self, x: np.ndarray, buffers: Buffers) -> np.ndarray:
        """Return ``[C, *padded, N]``, a view where there is no padding."""
        cells = x.transpose(*range(1, x.ndim), 0)
        if not self.window.has_padding:
            return cells
        padded = block(buffers, "padded_image", (self.channels, *self.window.padded, self.n))
        padded.fill(0.0)
        padded[:, *self.window.interior] = cells
        return padded

    def _matrix(self, W: np.ndarray, buffers: Buffers) -> np.ndarray:
        """Return the kernel as ``[n_out, C * cells]``; it may lie in any memory order."""
        kernel = block(buffers, "kernel", W.shape)
        np.copyto(kernel, W)
        return kernel.reshape(self.n_out, self.depth)

    def _rows(self, z: np.ndarray, piece: slice) -> np.ndarray:
        """View some rows of ``[n_out, *out, N]`` as a matrix ``[n_out, columns]``."""
        return z.reshape(self.n_out, self.window.out[0], self.columns)[:, piece].reshape(self.n_out, -1)

    def _gathered(self, cells: np.ndarray, piece: slice, pieces: list[slice], buffers: Buffers) -> np.ndarray:
        """Return the columns of some rows, ``[C * cells of the kernel, columns]``, in memory that they share."""
        window, rows = self.window, piece.stop - piece.start
        most = pieces[0].stop
        memory = block(buffers, "columns", (self.depth * most * self.columns,))
        shape = (self.channels, *window.kernel, rows, *window.out[1:], self.n)
        columns = memory[: math.prod(shape)].reshape(shape)
        under = cells[:, piece.start * window.stride[0] :]
        channel, *steps, example = cells.strides
        down = (step * far for step, far in zip(steps, window.dilation, strict=True))
        along = (step * far for step, far in zip(steps, window.stride, strict=True))
        np.copyto(columns, as_strided(under, shape, (channel, *down, *along, example), subok=True))
        return columns.reshape(self.depth, -1)

    def _scatter(self, columns: np.ndarray, piece: slice, image: np.ndarray) -> None:
        """Add the cells of some rows back where `_gathered` took them."""
        window, step = self.window, self.window.stride[0]
        spread = columns.reshape(self.channels, *window.kernel, piece.stop - piece.start, *window.out[1:], self.n)
        for cell, (first, *others) in window.places:
            rows = slice(first.start + piece.start * step, first.start + (piece.stop - 1) * step + 1, step)
            target = image[:, rows, *others]
            np.add(target, spread[(slice(None), *cell)], out=target)  # type: ignore[arg-type]

    def _bias_gradient(self, share: np.ndarray, gradient: np.ndarray, buffers: Buffers) -> None:
        rows = share.reshape(self.n_out, self.window.out[0], self.columns)
        ones = block(buffers, "ones", (self.columns,))
        ones.fill(1.0)
        sums = np.vecdot(rows, ones, out=block(buffers, "row_sums", rows.shape[:2]))
        np.add.reduce(sums, axis=1, out=gradient.reshape(-1))


@lru_cache(maxsize=256)
def blocked(window: Window, channels: int, n_out: int, n: int) -> BlockedConvolution:
    """Return the convolution over these windows."""
    return BlockedConvolution(window, channels, n_out, n)
