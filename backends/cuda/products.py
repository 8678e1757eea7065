"""Matrix products by our own kernel, which a CUDA graph can hold; cuBLAS through CuPy refuses to be captured."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from . import Kernels

Array = Any

TILE, THREADS = 64, 256  # as gemm.cu
LEAST_INNER = 256  # of a split: below, adding up costs more than it saves
BLOCKS_PER_PROCESSOR = 2

_PRODUCT = struct.Struct("=4i6q")  # `struct Product` of gemm.cu
_PRODUCT_DTYPE = np.dtype((np.void, _PRODUCT.size))


class Products:
    """Products of matrices of one dtype, float32 or float64, that may lie in memory as they like.

    Parameters
    ----------
    cupy : module
    kernels : Kernels
    processors : int
        Of the device: a product is cut into so many parts that all of them have something to do.
    """

    def __init__(self, cupy: Any, kernels: Kernels, processors: int) -> None:
        self._cupy, self._kernels = cupy, kernels
        self._blocks = BLOCKS_PER_PROCESSOR * processors
        self._partial: dict[str, Array] = {}
        self._arrived: Array = None

    def run(self, left: Array, right: Array, out: Array) -> Array:
        """Write ``left [m, k] @ right [k, n]`` into ``out [m, n]``; sums are made in the same order every time."""
        (rows, inner), columns = left.shape, right.shape[1]
        tiles = -(-rows // TILE) * -(-columns // TILE)
        if tiles == 0:
            return out
        splits = max(1, min(self._blocks // tiles, inner // LEAST_INNER))
        strides = [stride // each.itemsize for each in (left, right, out) for stride in each.strides]
        product = np.frombuffer(_PRODUCT.pack(rows, columns, inner, splits, *strides), _PRODUCT_DTYPE)
        partial, arrived = self._memory(out, splits * rows * columns if splits > 1 else 1, tiles)
        arguments = (left, right, out, partial, arrived, product)
        self._kernels.launch("gemm", out.dtype.char, tiles * splits * THREADS, arguments)
        return out

    def _memory(self, out: Array, sums: int, tiles: int) -> tuple[Array, Array]:
        """Return what splits need beside the result; it stays, because a graph may know it."""
        kind = out.dtype.char
        if kind not in self._partial or self._partial[kind].size < sums:
            self._partial[kind] = self._cupy.empty(sums, out.dtype)
        if self._arrived is None or self._arrived.size < tiles:
            self._arrived = self._cupy.empty(tiles, "i")
            self._arrived.fill(0)
        return self._partial[kind], self._arrived
