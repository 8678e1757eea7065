"""How many threads the BLAS under NumPy uses: read and set, where that BLAS is OpenBLAS."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

SYMBOLS = (
    ("scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"),  # NumPy's wheels
    ("openblas_get_num_threads64_", "openblas_set_num_threads64_"),
    ("scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"),
    ("openblas_get_num_threads", "openblas_set_num_threads"),
)


class BlasThreads:
    """Holds OpenBLAS at one thread while somebody needs it, and gives back what it found.

    A BLAS that spreads its own work over the cores fights with threads that each call it, and its workers keep a
    core busy for a while after every call. Several holders may overlap, in any order and from any thread: the first
    sets it, the last restores what was there.

    Parameters
    ----------
    library : ctypes library, optional
        Where the symbols are; without it, what NumPy's own extension module has loaded.

    Attributes
    ----------
    controllable : bool
        Whether an OpenBLAS was found; otherwise `hold` and `release` do nothing.
    """

    def __init__(self, library: Any = None) -> None:
        self._functions = _find(numpy_extension() if library is None else library)
        self.controllable = self._functions is not None
        self.holders = 0
        self._before = 0
        self._lock = threading.Lock()

    def count(self) -> int | None:
        """Return the number of threads it uses now, None when it cannot be asked."""
        return None if self._functions is None else self._functions[0]()

    def hold(self) -> None:
        """Ask for one thread until `release`."""
        with self._lock:
            self.holders += 1
            if self.holders == 1 and self._functions is not None:
                get, put = self._functions
                self._before = get()
                put(1)

    def release(self) -> None:
        """End what `hold` began."""
        with self._lock:
            self.holders -= 1
            if self.holders == 0 and self._functions is not None:
                self._functions[1](self._before)


def numpy_extension() -> Any:
    """Return NumPy's extension module as a library: its symbols include those of the BLAS it is linked to."""
    import numpy

    try:
        return ctypes.CDLL(numpy._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        return None


def _find(library: Any) -> tuple[Any, Any] | None:
    for get_name, set_name in SYMBOLS:
        get, put = getattr(library, get_name, None), getattr(library, set_name, None)
        if get is not None and put is not None:
            get.argtypes, get.restype = (), ctypes.c_int
            put.argtypes, put.restype = (ctypes.c_int,), None
            return get, put
    return None
