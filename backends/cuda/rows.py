"""Sums, softmax and normalisation of rows, by the kernels of reductions.cu."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from backends.typing import CupyArray

from . import REALS, Kernels

THREADS = 256  # of a block that computes one row
LONG = 64
"""Elements from which on a row is worth a block of its own."""

_ROWS = struct.Struct("=6q")  # `struct Rows` of reductions.cu
_ROWS_DTYPE = np.dtype((np.void, _ROWS.size))


class Rows:
    """Reductions along one axis of matrices.

    Parameters
    ----------
    kernels : Kernels
    """

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels

    def sum(self, x: CupyArray, axis: int, out: CupyArray) -> bool:
        """Sum a matrix along an axis into the vector `out`; else return False, with nothing done."""
        if x.ndim != 2 or out.ndim != 1 or x.dtype != out.dtype or x.dtype.char not in REALS or not x.size:
            return False
        rows = x if axis in (1, -1) else x.T
        strides = [stride // x.itemsize for stride in (*rows.strides, *out.strides)]
        described = _packed(*rows.shape, *strides, 0)
        self._kernels.launch("sum_rows", x.dtype.char, rows.shape[0] * THREADS, (x, out, described))
        return True

    def softmax(self, x: CupyArray, axis: int, out: CupyArray, bias: CupyArray | None = None) -> bool:
        """Write the softmax of a matrix or vector along its last axis into `out`, which may be x; else return False.

        A bias, one number per column, is added to x first.
        """
        if x.ndim not in (1, 2) or axis not in (x.ndim - 1, -1) or x.dtype != out.dtype or x.dtype.char not in REALS:
            return False
        if bias is not None and (bias.size != x.shape[-1] or not bias.flags.c_contiguous or bias.dtype != x.dtype):
            return False
        if not x.size:
            return True
        rows, result = (array.reshape(1, -1) if array.ndim == 1 else array for array in (x, out))
        strides = [stride // x.itemsize for array in (rows, result) for stride in array.strides]
        described, bias_or_null = _packed(*rows.shape, *strides), 0 if bias is None else bias
        long = rows.shape[1] >= LONG
        name, threads = ("softmax_long_rows", rows.shape[0] * THREADS) if long else ("softmax_rows", rows.shape[0])
        self._kernels.launch(name, x.dtype.char, threads, (x, bias_or_null, out, described))
        return True

    def normalize(self, x: CupyArray, out: CupyArray, inverse: CupyArray) -> bool:
        """Write rows with mean 0 and variance 1 into `out`, 1 / deviation into `inverse`; else return False."""
        return self._launch_normal("normalize_rows", x, out, inverse)

    def normalize_back(self, delta: CupyArray, normal: CupyArray, inverse: CupyArray) -> bool:
        """Turn errors of normalised rows into those of the rows, in their memory; else return False."""
        return self._launch_normal("normalize_rows_back", delta, normal, inverse)

    def _launch_normal(self, name: str, rows: CupyArray, others: CupyArray, inverse: CupyArray) -> bool:
        alike = rows.dtype == others.dtype == inverse.dtype and rows.dtype.char in REALS
        if not alike or not inverse.flags.c_contiguous or not rows.size:
            return False
        strides = [stride // rows.itemsize for array in (rows, others) for stride in array.strides]
        described = _packed(*rows.shape, *strides)
        self._kernels.launch(name, rows.dtype.char, rows.shape[0] * THREADS, (rows, others, inverse, described))
        return True


def _packed(*numbers: int) -> Any:
    return np.frombuffer(_ROWS.pack(*numbers), _ROWS_DTYPE)
