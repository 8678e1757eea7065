"""Rows of a table by their numbers, by the kernels of embedding.cu.

Their launches do not wait for the device, so that a CUDA graph can hold them: nobody looks at the indices on the host.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from backends.typing import CupyArray

from . import REALS

if TYPE_CHECKING:
    from .cupy_backend import CupyBackend

FINDERS = 256  # as embedding.cu

_LOOKUP = struct.Struct("=8q")  # `struct Lookup` of embedding.cu
_LOOKUP_DTYPE = np.dtype((np.void, _LOOKUP.size))


def is_real(backend: CupyBackend, table: CupyArray, *others: object, **named: object) -> bool:
    """Tell whether the kernels take the numbers of a table."""
    return table.dtype.char in REALS


def pull_rows(
    backend: CupyBackend, table: CupyArray, indices: CupyArray, who: str = "pull_rows", out: CupyArray | None = None
) -> CupyArray:
    """Return rows in one launch; NaN for an index that is no row's."""
    if out is None:
        out = backend.empty((indices.shape[0], table.shape[1]), backend.dtype_name(table))
    if out.size:
        numbers = backend.astype(indices, "int64")
        arguments = (table, numbers, out, _lookup(table, numbers, out))
        backend.kernels.launch("gather_rows", out.dtype.char, out.size, arguments)
    return out


def scatter_add(backend: CupyBackend, table: CupyArray, indices: CupyArray, updates: CupyArray) -> CupyArray:
    """Add to rows in one launch; what belongs to an index that is no row's is left out."""
    if updates.size:
        numbers = backend.astype(indices, "int64")
        arguments = (table, numbers, updates, _lookup(table, numbers, updates))
        backend.kernels.launch("scatter_add_rows", table.dtype.char, numbers.size * FINDERS, arguments)
    return table


def _lookup(table: CupyArray, indices: CupyArray, rows: CupyArray) -> object:
    strides = [stride // array.itemsize for array in (indices, table, rows) for stride in array.strides]
    return np.frombuffer(_LOOKUP.pack(indices.size, *table.shape, *strides), _LOOKUP_DTYPE)
