"""Matrix products by our own kernel, which a CUDA graph can hold; cuBLAS through CuPy refuses to be captured."""

from __future__ import annotations

import struct

import numpy as np

from backends.typing import CupyArray

from . import Kernels
from .arguments import element_strides
from .splits import LARGE, SMALL, SQUARE, Splits, Tile

MUCH = 1 << 28  # multiplications from which on large tiles, which read less, fill the device

_PRODUCT = struct.Struct("=11q")  # `struct Product` of gemm.cu
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
        (lines, inner), columns = left.shape, right.shape[1]
        rows = lines if sums is None else lines + 1
        if rows * columns == 0:
            return out
        tile, name = self._tile(rows, columns, inner)
        tiles = tile.number(rows, columns)
        splits = self._splits.number(tiles, inner)
        rest = (lines, *element_strides(left), *reversed(element_strides(right)), *element_strides(out))
        product = np.frombuffer(_PRODUCT.pack(rows, columns, inner, splits, *rest), _PRODUCT_DTYPE)
        memory = self._splits.memory(out, tiles, splits * rows * columns if splits > 1 else 1)
        arguments = (left, right, out, out if sums is None else sums, *memory, product)
        self._kernels.launch(name, out.dtype.char, tiles * splits * tile.threads, arguments, tile.threads)
        return out

    def _tile(self, rows: int, columns: int, inner: int) -> tuple[Tile, str]:
        if SQUARE.number(rows, columns) * 4 <= self._splits.blocks:
            return SMALL, "gemm_small"
        if rows * columns * inner >= MUCH and min(rows, columns) > SQUARE.rows:
            return LARGE, "gemm_large"
        return SQUARE, "gemm"
