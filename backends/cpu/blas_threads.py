"""The number of threads of the BLAS under NumPy: read and set, where that BLAS is OpenBLAS."""

from __future__ import annotations

import ctypes
from typing import Any

from ..holders import Holder, Holders

SYMBOLS = (
    ("scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"),  # NumPy's wheels
    ("openblas_get_num_threads64_", "openblas_set_num_threads64_"),
    ("scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"),
    ("openblas_get_num_threads", "openblas_set_num_threads"),
)


class BlasThreads:
    """Holds OpenBLAS at one thread while somebody needs that, and then restores the number that it had.

    A BLAS that spreads its own work over the cores fights with threads that call it side by side, and its workers keep
    a core busy for a while after every call. Several holders may overlap, in any order and from any thread: the first
    sets the number, the last restores it. One that is interrupted restores it too, and so does a forked child.

    Parameters
    ----------
    library : ctypes library, optional
        Holds the symbols; without it, NumPy's own extension module and what that has loaded.

    Attributes
    ----------
    controllable : bool
        Whether the library is an OpenBLAS; otherwise `hold` and `release` do nothing.
    """

    def __init__(self, library: Any = None) -> None:
        self._functions = _find(numpy_extension() if library is None else library)
        self.controllable = self._functions is not None
        self.holders = Holders(self._restore)
        self._before: int | None = None

    def count(self) -> int | None:
        """Return the number of threads that it uses now, None when it cannot be asked."""
        len(self.holders)  # whoever was interrupted has the number restored by now
        return None if self._functions is None else self._functions[0]()

    @property
    def held(self) -> bool:
        """Whether it has one thread because somebody asked for that."""
        return len(self.holders) > 0

    def hold(self) -> Holder:
        """Ask for one thread until `release`.

        Where nobody refers to the holder that is returned any more, the next call of any method here is what ends it.
        """
        holder = self.holders.add()
        if self._functions is not None:
            get, put = self._functions
            with self.holders.lock:
                if self._before is None:
                    self._before = get()
                    put(1)
        return holder

    def release(self, holder: Holder) -> None:
        """End a `hold`."""
        self.holders.discard(holder)

    def _restore(self) -> None:
        if self._functions is not None and self._before is not None:
            self._functions[1](self._before)
            self._before = None


def numpy_extension() -> Any:
    """Return NumPy's extension module as a library: its symbols include those of the BLAS it is linked to."""
    import numpy

    try:
        return ctypes.CDLL(numpy._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        return None


def _find(library: object) -> tuple[Any, Any] | None:
    for get_name, set_name in SYMBOLS:
        get, put = getattr(library, get_name, None), getattr(library, set_name, None)
        if get is not None and put is not None:
            get.argtypes, get.restype = (), ctypes.c_int
            put.argtypes, put.restype = (ctypes.c_int,), None
            return get, put
    return None
