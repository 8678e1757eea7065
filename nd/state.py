"""The current backend and the default dtype.

The backend is chosen at first use: by `set_backend`, by a `use_backend` block, or by the environment
variable ``ND_BACKEND`` (``numpy``, ``cupy`` or ``auto``).
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, ContextDecorator, nullcontext
from typing import Any

from backends import get_backend
from backends.base import Backend
from backends.errors import check_choice

FLOAT_DTYPES = ("float32", "float64")


class _FirstUse:
    """Stands in for the backend until somebody needs it, so that importing nd detects nothing."""

    def __getattr__(self, name: str) -> Any:
        _State.backend = get_backend()
        return getattr(_State.backend, name)


class _State(threading.local):
    """Class attributes hold for every thread; a `use_backend` block shadows them in its own thread."""

    backend: Any = _FirstUse()
    dtype: str = "float32"


state = _State()


def backend() -> Backend:
    """Return the backend that the facade dispatches to now."""
    if isinstance(state.backend, _FirstUse):
        _State.backend = get_backend()
    return state.backend


def set_backend(name: str | Backend) -> Backend:
    """Select a backend for good, in every thread.

    Parameters
    ----------
    name : str or Backend
        ``"numpy"``, ``"cupy"``, ``"auto"``, or an instance.

    Raises
    ------
    ChoiceError
        The name is unknown.
    BackendError
        The backend cannot run on this machine.
    """
    _State.backend = name if isinstance(name, Backend) else get_backend(name)
    return _State.backend


class _UseBackend(ContextDecorator):
    """Selects a backend for a block. A class, because every training step passes here several times."""

    __slots__ = ("_chosen", "_outer")

    def __init__(self, chosen: Backend) -> None:
        self._chosen = chosen

    def _recreate_cm(self) -> _UseBackend:
        return _UseBackend(self._chosen)  # a decorated function may run in several threads at once

    def __enter__(self) -> Backend:
        here = state.__dict__
        self._outer = here.get("backend")
        here["backend"] = self._chosen
        return self._chosen

    def __exit__(self, *error: object) -> None:
        if self._outer is None:
            del state.__dict__["backend"]
        else:
            state.__dict__["backend"] = self._outer


def use_backend(name: str | Backend) -> _UseBackend:
    """Select a backend for the block, or the decorated function, in this thread only. As `set_backend` otherwise."""
    return _UseBackend(name if isinstance(name, Backend) else get_backend(name))


def within(chosen: Backend) -> AbstractContextManager[object]:
    """Select a backend as `use_backend` does, for a block that is entered at once: free where it is the current one."""
    return _NOTHING if state.__dict__.get("backend") is chosen else _UseBackend(chosen)


_NOTHING = nullcontext()


def default_dtype() -> str:
    """Return the name of the dtype that creation functions use when none is given."""
    return state.dtype


def set_default_dtype(dtype: str) -> None:
    """Make `dtype` (``"float32"`` or ``"float64"``) the default of creation functions and new networks.

    Raises
    ------
    ChoiceError
        Any other name.
    """
    _State.dtype = check_choice("set_default_dtype", "dtype", str(dtype), FLOAT_DTYPES)
