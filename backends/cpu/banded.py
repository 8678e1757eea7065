"""Depthwise convolution as products: a matrix with a channel's kernel in every row, times the rows under it.

Some neighbouring outputs of a row, a tile, read ``reach`` cells of kernel_h rows. Where these lie one after the other
they are a matrix ``[kernel_h * reach, N]``, and the tile is its product with a matrix ``[tile, kernel_h * reach]``,
which holds the kernel once in every row, each time one step further, and zeros. Kernel 3 in tiles of 4 takes twice the
multiplications; BLAS is still four times as fast as ufuncs that multiply and add cell by cell (twice with AVX2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..generic.window import Window
from .row_convolution import CACHED_BYTES, Activate, Buffers, block, view

TILE = 4
"""Outputs: of 28 in a row, 4 at a time took 153 us where 7 took 140, 14 178 and 28 312; with AVX2 350, 455, 483, 705.

"""
UNROLLED = 8
"""BLAS sums so many cells at a time, and 4 rows alike: where their number is a multiple, windows over equal cells give
equal outputs, of which max pooling takes the first, as Java does."""


class Axis(NamedTuple):
    """Cells of a source, spread over a line, and windows over that line.

    Cell k lies at ``offset + k * spread``, and output o reads ``o * stride + number * dilation``. There are zeros
    between, before and behind the cells.
    """

    cells: int
    offset: int
    spread: int
    kernel: int
    stride: int
    dilation: int
    out: int

    def reach(self, outputs: int) -> int:
        """Return the length of the line under so many outputs."""
        return (outputs - 1) * self.stride + (self.kernel - 1) * self.dilation + 1

    def laid(self, start: int, length: int) -> tuple[slice, slice]:
        """Return where in a piece of the line there are cells, and which."""
        first = max(-(-(start - self.offset) // self.spread), 0)
        stop = max(min((start + length - 1 - self.offset) // self.spread + 1, self.cells), first)
        at = self.offset + first * self.spread - start
        return slice(at, at + max((stop - first - 1) * self.spread + 1, 0), self.spread), slice(first, stop)


def axes_of(window: Window) -> tuple[Axis, Axis]:
    """Return the axes of a convolution."""
    first, second = (
        Axis(
            window.size[axis],
            window.pad_before[axis],
            1,
            window.kernel[axis],
            window.stride[axis],
            window.dilation[axis],
            window.out[axis],
        )
        for axis in window.axes
    )
    return first, second


def axes_back(window: Window) -> tuple[Axis, Axis]:
    """Return the axes of the convolution of delta with the turned kernel, which is the gradient of the input."""
    first, second = (
        Axis(
            window.out[axis],
            window.effective[axis] - 1 - window.pad_before[axis],
            window.stride[axis],
            window.kernel[axis],
            1,
            window.dilation[axis],
            window.size[axis],
        )
        for axis in window.axes
    )
    return first, second


class _Tiles(NamedTuple):
    """Tiles of one width, side by side in every output row."""

    start: int
    number: int
    width: int


class _Run(NamedTuple):
    """Tiles next to one another whose cells are laid alike, each `step` cells after those of the one before."""

    first: int
    tiles: int
    wide: slice
    cells: slice
    step: int


def tiles_over(outputs: int) -> tuple[_Tiles, ...]:
    """Cut the outputs of a row into tiles of one width; the last one may begin in the one before."""
    width = min(outputs, TILE)
    count, rest = divmod(outputs, width)
    return (_Tiles(0, count, width), *((_Tiles(outputs - width, 1, width),) if rest else ()))


class BandedConvolution:
    """Groups of a few channels, each convolved with kernels of its own into a few others.

    Parameters
    ----------
    down, across : Axis
        Dilation `down` is 1.
    ins, outs : int
        Channels of a group, before and after.
    """

    def __init__(self, down: Axis, across: Axis, ins: int, outs: int) -> None:
        self.down, self.across, self.ins, self.outs = down, across, ins, outs
        self.tiles = tiles_over(across.out)
        row = ins * across.reach(self.tiles[0].width)
        self.depth = -(-down.kernel * row // UNROLLED) * UNROLLED
        self.height = down.reach(down.out) + -(-(self.depth - down.kernel * row) // row)

    def run(
        self,
        source: np.ndarray,
        kernel: np.ndarray,
        b: np.ndarray | None,
        z: np.ndarray,
        buffers: Buffers,
        activate: Activate | None = None,
    ) -> None:
        """Write z.

        Parameters
        ----------
        source : array ``[groups, ins, h, w, N]``
        kernel : array ``[groups, outs, ins, kernel_h, kernel_w]``
        b : array ``[groups, outs]``, or None
            Added.
        z : array ``[groups, outs, out_h, out_w, N]``
            An output row of a channel is contiguous.
        """
        bands = [self._band(kernel, tiles, number, buffers) for number, tiles in enumerate(self.tiles)]
        for groups, laid in self._cached(source, buffers):
            for number, (tiles, band) in enumerate(zip(self.tiles, bands, strict=True)):
                under = self._laid(source[groups], tiles, laid[number])
                np.matmul(band[groups, :, None, None], under[:, None], out=_of_tiles(z[groups], tiles))
            if b is not None:
                np.add(z[groups], b[groups, :, None, None, None], out=z[groups])
            if activate is not None:
                activate(z[groups])

    def _cached(self, source: np.ndarray, buffers: Buffers) -> Iterator[tuple[slice, list[np.ndarray]]]:
        """Yield groups that stay in the cache, and memory for their tiles, zero where no cells come to lie."""
        groups, n = source.shape[0], source.shape[4]
        shapes = [(tiles.number, self.height, self.ins, self.across.reach(tiles.width), n) for tiles in self.tiles]
        elements = sum(map(math.prod, shapes)) + self.outs * self.down.out * self.across.out * n
        at_once = min(max(1, CACHED_BYTES // max(elements * source.itemsize, 1)), groups)
        memory = [block(buffers, f"laid{number}", (at_once, *shape)) for number, shape in enumerate(shapes)]
        for each in memory:
            each.fill(0.0)
        for start in range(0, groups, at_once):
            stop = min(start + at_once, groups)
            yield slice(start, stop), [each[: stop - start] for each in memory]

    def _laid(self, source: np.ndarray, tiles: _Tiles, memory: np.ndarray) -> np.ndarray:
        """Lay the cells under the tiles side by side; view them as ``[groups, tiles, out_h, depth, N]``."""
        high, rows = self.down.laid(0, memory.shape[2])
        for run in self._runs(tiles, memory.shape[4]):
            target = memory[:, run.first : run.first + run.tiles, high, :, run.wide]
            cells = source[:, :, rows, run.cells]
            group, channel, row, cell, example = cells.strides
            strides = (group, run.step * cell, row, channel, cell, example)
            np.copyto(target, as_strided(cells, target.shape, strides, subok=True))
        shape = (*memory.shape[:2], self.down.out, self.depth, memory.shape[5])
        group, tile, row, _, cell, example = memory.strides
        return view(memory, shape, (group, tile, row * self.down.stride, cell, example))

    def _runs(self, tiles: _Tiles, length: int) -> list[_Run]:
        """Return tiles next to one another that take as many cells to the same places, as one run."""
        runs: list[_Run] = []
        for number in range(tiles.number):
            wide, cells = self.across.laid((tiles.start + number * tiles.width) * self.across.stride, length)
            if runs and runs[-1].wide == wide:
                last = runs[-1]
                step = last.step or cells.start - last.cells.start
                if cells.start == last.cells.start + last.tiles * step:
                    runs[-1] = last._replace(tiles=last.tiles + 1, step=step)
                    continue
            runs.append(_Run(number, 1, wide, cells, 0))
        return runs

    def _band(self, kernel: np.ndarray, tiles: _Tiles, number: int, buffers: Buffers) -> np.ndarray:
        """Return ``[groups, outs, width, depth]``."""
        groups, outs, ins, kernel_h, kernel_w = kernel.shape
        length = self.across.reach(tiles.width)
        band = block(buffers, f"band{number}", (groups, outs, tiles.width, self.depth))
        band.fill(0.0)
        group, out, place, cell = band.strides
        across = self.across
        shape = (groups, outs, tiles.width, kernel_h, ins, kernel_w)
        steps = (across.stride * cell + place, ins * length * cell, length * cell, across.dilation * cell)
        np.copyto(view(band, shape, (group, out, *steps)), kernel.transpose(0, 1, 3, 2, 4)[:, :, None])
        return band


def _of_tiles(z: np.ndarray, tiles: _Tiles) -> np.ndarray:
    """View ``[groups, outs, out_h, out_w, N]`` as ``[groups, outs, tiles, out_h, width, N]``."""
    part = z[:, :, :, tiles.start : tiles.start + tiles.number * tiles.width]
    split = part.reshape(*part.shape[:3], tiles.number, tiles.width, part.shape[4])
    return split.transpose(0, 1, 3, 2, 4, 5)


@lru_cache(maxsize=256)
def forward_of(window: Window, multiplier: int) -> BandedConvolution:
    """Return the depthwise convolution over these windows."""
    return BandedConvolution(*axes_of(window), 1, multiplier)


@lru_cache(maxsize=256)
def backward_of(window: Window, multiplier: int) -> BandedConvolution:
    """Return the way back of its gradient."""
    return BandedConvolution(*axes_back(window), multiplier, 1)
