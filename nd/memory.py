"""Workspaces: memory that a network uses again in every step."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .arguments import checked
from .state import state

Array = Any


class Workspace:
    """Buffers that are handed out by name, and handed out again the next time.

    Inside a ``with workspace:`` block `Scope` returns the same memory for the same name in every step, so that
    training allocates nothing large after its first iteration. Outside of one it allocates, so that what a user
    asks for by hand is never overwritten. One thread at a time is inside.

    Parameters
    ----------
    dtype : str
        Of the buffers, where none is named.
    """

    @checked
    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.active = 0
        self._lock = threading.RLock()

    def __enter__(self) -> Workspace:
        self._lock.acquire()
        self.active += 1
        return self

    def __exit__(self, *error: object) -> None:
        self.active -= 1
        self._lock.release()

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Enter as ``with`` does; inside of another block allocate, so that its buffers stay."""
        with self:
            outer, self.active = self.active, int(self.active == 1)
            try:
                yield
            finally:
                self.active = outer

    def scope(self) -> Scope:
        """Return a new name space for the buffers of one layer."""
        return Scope(self)


class Scope:
    """The buffers of one layer: call it with a name and a shape."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._memory: dict[tuple[str, str], Array] = {}
        self._kept: list[Array] = []
        self._views: dict[tuple[str, tuple[int, ...], str], Array] = {}

    def __call__(self, name: str, shape: tuple[int, ...], dtype: str | None = None) -> Array:
        """Return an uninitialised activation of that shape, in the backend's preferred memory order."""
        kind = dtype or self.workspace.dtype
        if not self.workspace.active:
            return state.backend.empty_activation(shape, kind)
        key = (name, shape, kind)
        view = self._views.get(key)
        return self._new_view(key) if view is None else view

    def _new_view(self, key: tuple[str, tuple[int, ...], str]) -> Array:
        """A smaller batch takes the beginning of a larger one's memory; a larger one replaces it."""
        name, shape, dtype = key
        memory = self._memory.get((name, dtype))
        if memory is None or memory.shape[0] < math.prod(shape):
            needed = math.prod(shape)
            if memory is not None and state.backend.keeps_addresses:
                self._kept.append(memory)
                needed = max(needed, 2 * memory.shape[0])  # so that little is kept in vain
            memory = self._memory[name, dtype] = state.backend.empty((needed,), dtype)
            self._views = {old: view for old, view in self._views.items() if (old[0], old[2]) != (name, dtype)}
        view = self._views[key] = state.backend.activation_view(memory, shape)
        return view
