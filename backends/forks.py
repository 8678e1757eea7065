"""Forked processes: what threads of the parent may hold, or be in the middle of, while the process is copied."""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from functools import cached_property
from importlib import _bootstrap  # where the locks of modules are
from typing import Any, Protocol

PATIENCE = 10.0
"""Seconds that a fork waits for other threads to come to where the memory may be copied."""
_OURS = ("backends", "nd", "nn", "optimize")
_IMPORTED_ANEW = {*_OURS, *sys.stdlib_module_names}
"""What a thread may be in the middle of importing, and a child may begin again: all in Python, without a state."""


class Forked(Protocol):
    """Has something that a thread may hold while another one forks."""

    def before_fork(self, deadline: float) -> Callable[[], object] | None:
        """Take what must stand still, until that time by `time.monotonic`; return what gives it back."""

    def in_child(self, stood_still: bool) -> None:
        """Make anew what a thread of the parent may have held; `stood_still`: what `before_fork` takes was had."""


class ById(weakref.ref[Any]):
    """A weak reference that is found by what it is, not by what its object equals."""

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__  # slots of C, as `weakref.ref`'s own


_told: set[ById] = set()
_taken: list[tuple[Forked, Callable[[], object] | None]] = []  # while a fork runs


def tell_of_forks(thing: Forked) -> None:
    """Have an object hear of forks as long as it lives."""
    _told.add(ById(thing, _told.discard))  # by C alone: a Ctrl-C in a callback of Python's would get lost


def _before() -> None:
    """Wait until no other thread is in the middle of what `Forked` objects take."""
    _taken.clear()
    deadline = time.monotonic() + PATIENCE
    for reference in tuple(_told):
        thing = reference()
        if thing is not None:
            _taken.append((thing, thing.before_fork(deadline)))


def _in_parent() -> None:
    while _taken:
        give_back = _taken.pop()[1]
        if give_back is not None:
            give_back()


def _in_child() -> None:
    _forget_imports()
    _renew_cached_properties()
    while _taken:
        thing, give_back = _taken.pop()
        if give_back is not None:
            give_back()
        thing.in_child(give_back is not None)


def _forget_imports() -> None:
    """Let the child import anew what a thread was importing, which keeps the lock of that module for ever."""
    locks = getattr(_bootstrap, "_module_locks", {})
    for name, reference in tuple(locks.items()):
        lock, module = reference(), sys.modules.get(name)
        if name.partition(".")[0] not in _IMPORTED_ANEW or getattr(lock, "owner", None) == threading.get_ident():
            continue
        del locks[name]
        if getattr(getattr(module, "__spec__", None), "_initializing", False):
            del sys.modules[name]


def _renew_cached_properties() -> None:
    """Until Python 3.12 each has one lock for all objects, which the thread holds that computes one of them."""
    if sys.version_info >= (3, 12):
        return
    ours = [module for name, module in tuple(sys.modules.items()) if name.partition(".")[0] in _OURS]
    classes = [each for module in ours for each in tuple(vars(module).values()) if isinstance(each, type)]
    for value in (value for each in classes for value in tuple(vars(each).values())):
        if isinstance(value, cached_property):
            value.lock = threading.RLock()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
