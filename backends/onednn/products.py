"""Matrix products by oneDNN."""

from __future__ import annotations

from functools import partial

import numpy as np

from backends.typing import NumpyArray

from ..cpu.recording import note_held, plain, writable
from .library import library_there


def note_product(a: NumpyArray, b: NumpyArray, out: NumpyArray) -> NumpyArray:
    """Write ``a [M, K] @ b [K, N]`` into `out` in c order, now and whenever the recording that is made is replayed."""
    call, held = _call(plain(a), plain(b), writable(out)), library_there().single_threaded
    note_held(call, held)
    held(call)
    return out


def product(a: NumpyArray, b: NumpyArray, out: NumpyArray) -> None:
    """Write ``a [M, K] @ b [K, N]`` into `out` in c order."""
    library_there().single_threaded(_call(a, b, out))


def _call(a: NumpyArray, b: NumpyArray, out: NumpyArray) -> partial[None]:
    (rows, depth), columns = a.shape, b.shape[1]
    (a, *of_a), (b, *of_b) = _operand(a), _operand(b)
    single = library_there().sgemm
    ends = (b"T" if of_a[0] else b"N", b"T" if of_b[0] else b"N", rows, columns, depth, 1.0)
    call = partial(single, *ends, a.ctypes.data, of_a[1], b.ctypes.data, of_b[1], 0.0, out.ctypes.data, columns)
    call.keeps = (a, b, out)  # type: ignore[attr-defined]
    return call


def _operand(x: NumpyArray) -> tuple[NumpyArray, bool, int]:
    """Return a matrix or its copy, whether it lies transposed, and the distance of its rows or columns in memory."""
    for transposed, seen in ((False, x), (True, x.T)):
        far, near = (step // x.itemsize for step in seen.strides)
        if near == 1 and far >= seen.shape[1] and seen.strides[0] % x.itemsize == 0:
            return x, transposed, far
    return np.ascontiguousarray(x), False, x.shape[1]


def is_operand(x: NumpyArray) -> bool:
    """Tell whether a matrix may be multiplied as it lies in memory."""
    return _operand(x)[0] is x
