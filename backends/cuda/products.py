"""Matrix products by our own kernel, which a CUDA graph can hold; cuBLAS through CuPy refuses to be captured."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from backends.typing import CupyArray

from . import Kernels
from .arguments import element_strides
from .splits import LARGE, SMALL, SQUARE, Splits, Tile

MUCH = 1 << 28  # multiplications from which on large tiles, which read less, fill the device

_PRODUCT = struct.Struct("=14q")  # `struct Product` of gemm.cu
_PRODUCT_DTYPE = np.dtype((np.void, _PRODUCT.size))


class Products:
    """Products of matrices of one dtype, float32 or float64, that may lie in memory as they like.

    Parameters
    ----------
    kernels : Kernels
    splits : Splits
    """

    def __init__(self, kernels: Kernels, splits: Splits) -> None:
        self._kernels, self._splits = kernels, splits

    def run(self, left: CupyArray, right: CupyArray, out: CupyArray, sums: CupyArray | None = None) -> CupyArray:
        """Write ``left [m, k] @ right [k, n]`` into ``out [m, n]``, and the sums of right's columns into ``sums [n]``.

        Sums are added up in the same order every time.
        """
        return self._launch(1, left, right, out, sums, (0, 0, 0))

    def run_stacks(self, left: CupyArray, right: CupyArray, out: CupyArray) -> CupyArray:
        """Write the product of every matrix of ``left [B, m, k]`` with that of ``right [B, k, n]`` into `out`."""
        if out.shape[0]:
            between = [element_strides(stack)[0] for stack in (left, right, out)]
            self._launch(out.shape[0], left[0], right[0], out[0], None, between)
        return out

    def _launch(
        self,
        count: int,
        left: CupyArray,
        right: CupyArray,
        out: CupyArray,
        sums: CupyArray | None,
        between: Sequence[int],
    ) -> CupyArray:
        """Launch one kernel for the first matrices of stacks, and the others that lie so many elements behind."""
        (lines, inner), columns = left.shape, right.shape[1]
        rows = lines if sums is None else lines + 1
        if rows * columns == 0:
            return out
        tile, name = self._tile(rows, columns, inner, count)
        tiles = count * tile.number(rows, columns)
        splits = self._splits.number(tiles, inner)
        strides = (*element_strides(left), *reversed(element_strides(right)), *element_strides(out), *between)
        product = np.frombuffer(_PRODUCT.pack(rows, columns, inner, splits, lines, *strides), _PRODUCT_DTYPE)
        memory = self._splits.memory(out, tiles, count * splits * rows * columns if splits > 1 else 1)
        arguments = (left, right, out, out if sums is None else sums, *memory, product)
        self._kernels.launch(name, out.dtype.char, tiles * splits * tile.threads, arguments, tile.threads)
        return out

    def _tile(self, rows: int, columns: int, inner: int, count: int) -> tuple[Tile, str]:
        few = SQUARE.number(rows, columns) * count * 4 <= self._splits.blocks
        if few or (count > 1 and min(rows, columns) <= SMALL.rows):
            return SMALL, "gemm_small"
        if count * rows * columns * inner >= MUCH and min(rows, columns) > SQUARE.rows:
            return LARGE, "gemm_large"
        return SQUARE, "gemm"
