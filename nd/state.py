"""The current backend and the default dtype.

The backend is chosen at first use: by `set_backend`, by a `use_backend` block, or by the environment
variable ``ND_BACKEND`` (``numpy``, ``cupy`` or ``auto``).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ContextDecorator, contextmanager, nullcontext
from typing import Any

from backends import get_backend
from backends.base import Backend
from backends.errors import check_choice

from .arguments import refusal

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

    def __init__(self) -> None:
        self.outer: list[tuple[_UseBackend, Any]] = []
        """What the blocks shadow that this thread is in; not kept in the block, which may be entered several times."""


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
    ArgumentError
        It is neither a name nor a backend.
    BackendError
        The backend cannot run on this machine.
    """
    _State.backend = _chosen("set_backend", name)
    return _State.backend


class _UseBackend(ContextDecorator):
    """Selects a backend for a block. A class, because every training step passes here several times."""

    __slots__ = ("_chosen",)

    def __init__(self, chosen: Backend) -> None:
        self._chosen = chosen

    def _recreate_cm(self) -> _UseBackend:
        return _UseBackend(self._chosen)  # a decorated function may run in several threads at once

    def __enter__(self) -> Backend:
        here = state.__dict__
        here["outer"].append((self, here.get("backend")))
        here["backend"] = self._chosen
        return self._chosen

    def __exit__(self, *error: object) -> None:
        here = state.__dict__
        block, outer = here["outer"].pop()
        while block is not self:  # whose end Ctrl-C has cut short
            block, outer = here["outer"].pop()
        if outer is None:
            del here["backend"]
        else:
            here["backend"] = outer


def use_backend(name: str | Backend) -> _UseBackend:
    """Select a backend for the block, or the decorated function, in this thread only. As `set_backend` otherwise."""
    return _UseBackend(_chosen("use_backend", name))


def _chosen(who: str, name: str | Backend) -> Backend:
    if isinstance(name, Backend):
        return name
    if not isinstance(name, str):
        raise refusal(who, "name", "text or a Backend", name)
    return get_backend(name)


@contextmanager
def computing(chosen: Backend) -> Iterator[None]:
    """Select a backend for a block after which one looks for what is not finite, so that the backend need not warn."""
    with within(chosen), chosen.quiet():
        yield


def within(chosen: Backend) -> AbstractContextManager[object]:
    """Select a backend as `use_backend` does, for a block that is entered at once: free where it is the current one."""
    return NOTHING if state.__dict__.get("backend") is chosen else _UseBackend(chosen)


NOTHING: AbstractContextManager[object] = nullcontext()
"""A block without effect, which costs nothing to enter."""


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
