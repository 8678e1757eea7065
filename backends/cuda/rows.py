"""Sums, softmax and normalisation of rows, by the kernels of reductions.cu."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from backends.typing import Array, CupyArray

from . import REALS, Kernels

if TYPE_CHECKING:
    from .cupy_backend import CupyBackend

THREADS = 256  # of a block that computes one row
LONG = 64
"""Elements from which on a row is worth a block of its own."""

_ROWS = struct.Struct("=6q")  # `struct Rows` of reductions.cu
_ROWS_DTYPE = np.dtype((np.void, _ROWS.size))


def sum_rows(kernels: Kernels, x: CupyArray, axis: int, out: CupyArray) -> bool:
    """Sum a matrix along an axis into the vector `out`; else return False, with nothing done."""
    if x.ndim != 2 or out.ndim != 1 or x.dtype != out.dtype or x.dtype.char not in REALS or not x.size:
        return False
    rows = x if axis in (1, -1) else x.T
    strides = [stride // x.itemsize for stride in (*rows.strides, *out.strides)]
    kernels.launch("sum_rows", x.dtype.char, rows.shape[0] * THREADS, (x, out, _packed(*rows.shape, *strides, 0)))
    return True


def are_last(
    backend: CupyBackend, x: CupyArray, axis: int, out: CupyArray | None = None, bias: CupyArray | None = None
) -> bool:
    """Tell whether the kernels take softmax: of a matrix or vector along its last axis, with a bias per column."""
    if x.ndim not in (1, 2) or axis not in (x.ndim - 1, -1) or x.dtype.char not in REALS:
        return False
    if bias is not None and (bias.size != x.shape[-1] or not bias.flags.c_contiguous or bias.dtype != x.dtype):
        return False
    return out is None or out.dtype == x.dtype


def softmax(
    backend: CupyBackend, x: CupyArray, axis: int, out: CupyArray | None = None, bias: CupyArray | None = None
) -> Array:
    """Write the softmax in one launch."""
    out = backend.cupy.empty_like(x) if out is None else out
    if not x.size:
        return out
    rows, result = (array.reshape(1, -1) if array.ndim == 1 else array for array in (x, out))
    strides = [stride // x.itemsize for array in (rows, result) for stride in array.strides]
    described, bias_or_null = _packed(*rows.shape, *strides), 0 if bias is None else bias
    long = rows.shape[1] >= LONG
    name, threads = ("softmax_long_rows", rows.shape[0] * THREADS) if long else ("softmax_rows", rows.shape[0])
    backend.kernels.launch(name, x.dtype.char, threads, (x, bias_or_null, out, described))
    return out


def are_alike(backend: CupyBackend, x: CupyArray, out: CupyArray, inverse: CupyArray) -> bool:
    """Tell whether the kernels normalise these rows."""
    return _are_alike(x, out, inverse)


def are_alike_back(
    backend: CupyBackend, delta: CupyArray, normal: CupyArray, inverse: CupyArray, scratch: CupyArray
) -> bool:
    """Tell whether they take the errors back."""
    return _are_alike(delta, normal, inverse)


def _are_alike(rows: CupyArray, others: CupyArray, inverse: CupyArray) -> bool:
    alike = rows.dtype == others.dtype == inverse.dtype and rows.dtype.char in REALS
    return alike and inverse.flags.c_contiguous and rows.size > 0


def normalize(backend: CupyBackend, x: CupyArray, out: CupyArray, inverse: CupyArray) -> Array:
    """Normalise rows in one launch."""
    _launch(backend, "normalize_rows", x, out, inverse)
    return out


def normalize_back(
    backend: CupyBackend, delta: CupyArray, normal: CupyArray, inverse: CupyArray, scratch: CupyArray
) -> Array:
    """Turn errors of normalised rows into those of the rows in one launch."""
    _launch(backend, "normalize_rows_back", delta, normal, inverse)
    return delta


def _launch(backend: CupyBackend, name: str, rows: CupyArray, others: CupyArray, inverse: CupyArray) -> None:
    strides = [stride // rows.itemsize for array in (rows, others) for stride in array.strides]
    arguments = (rows, others, inverse, _packed(*rows.shape, *strides))
    backend.kernels.launch(name, rows.dtype.char, rows.shape[0] * THREADS, arguments)


def _packed(*numbers: int) -> object:
    return np.frombuffer(_ROWS.pack(*numbers), _ROWS_DTYPE)
