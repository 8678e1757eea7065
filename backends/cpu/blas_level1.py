"""y = alpha x + beta y in one pass over memory, by the BLAS that NumPy has loaded."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from .blas_threads import numpy_extension

_SPELLINGS = (("scipy_cblas_{}64_", ctypes.c_int64), ("cblas_{}64_", ctypes.c_int64))
_KINDS = {"float32": ("saxpby", ctypes.c_float), "float64": ("daxpby", ctypes.c_double)}
LEAST_ELEMENTS = 4096  # below, three ufuncs take less time than one call through ctypes


class LevelOne:
    """The BLAS routine of every dtype, where the library has one; elsewhere NumPy does the work."""

    def __init__(self, library: Any = None) -> None:
        blas = numpy_extension() if library is None else library
        self._routines = {np.dtype(dtype): _routine(blas, *kind) for dtype, kind in _KINDS.items()}

    def bound(self, alpha: Any, x: np.ndarray, beta: Any, y: np.ndarray) -> Callable[[], None] | None:
        """Return a function that computes ``y = alpha x + beta y`` on vectors ``[n]``, reading alpha and beta anew.

        None where no routine takes them, or where it would not be faster.
        """
        routine = self._routines.get(y.dtype)
        if (
            routine is None
            or y.size < LEAST_ELEMENTS
            or x.dtype != y.dtype
            or x.shape != y.shape
            or not y.flags.writeable
            or (x is not y and np.may_share_memory(x, y))
            or not (x.flags.c_contiguous and y.flags.c_contiguous)
        ):
            return None
        n, x_at, y_at = y.size, x.ctypes.data, y.ctypes.data

        def run(keep: tuple[np.ndarray, np.ndarray] = (x, y)) -> None:
            routine(n, float(alpha), x_at, 1, float(beta), y_at, 1)

        return run


def _routine(library: object, name: str, kind: object) -> Any:
    for spelling, integer in _SPELLINGS:
        routine = getattr(library, spelling.format(name), None)
        if routine is not None:
            routine.argtypes = (integer, kind, ctypes.c_void_p, integer, kind, ctypes.c_void_p, integer)
            routine.restype = None
            return routine
    return None
