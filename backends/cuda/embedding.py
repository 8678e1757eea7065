"""Rows of a table by their numbers, by the kernels of embedding.cu."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from backends.typing import CupyArray

from ..base import Backend
from . import REALS, Kernels

FINDERS = 256  # as embedding.cu

_LOOKUP = struct.Struct("=8q")  # `struct Lookup` of embedding.cu
_LOOKUP_DTYPE = np.dtype((np.void, _LOOKUP.size))


class CudaEmbedding(Backend):
    """Mixin of `CupyBackend`: launches that do not wait for the device, so that a CUDA graph can hold them.

    Nobody looks at the indices on the host: an index that is no row's gives NaN, and its update is left out.
    """

    looks_at_indices = False

    kernels: Kernels

    def pull_rows(
        self, table: CupyArray, indices: CupyArray, who: str = "pull_rows", out: CupyArray | None = None
    ) -> CupyArray:
        if table.dtype.char not in REALS:
            return super().pull_rows(table, indices, who, out)
        if out is None:
            out = self.empty((indices.shape[0], table.shape[1]), self.dtype_name(table))
        if out.size:
            numbers = self.astype(indices, "int64")
            arguments = (table, numbers, out, _lookup(table, numbers, out))
            self.kernels.launch("gather_rows", out.dtype.char, out.size, arguments)
        return out

    def scatter_add(self, table: CupyArray, indices: CupyArray, updates: CupyArray) -> CupyArray:
        if table.dtype.char not in REALS:
            return super().scatter_add(table, indices, updates)
        if updates.size:
            numbers = self.astype(indices, "int64")
            arguments = (table, numbers, updates, _lookup(table, numbers, updates))
            self.kernels.launch("scatter_add_rows", table.dtype.char, numbers.size * FINDERS, arguments)
        return table


def _lookup(table: CupyArray, indices: CupyArray, rows: CupyArray) -> Any:
    strides = [stride // array.itemsize for array in (indices, table, rows) for stride in array.strides]
    return np.frombuffer(_LOOKUP.pack(indices.size, *table.shape, *strides), _LOOKUP_DTYPE)
