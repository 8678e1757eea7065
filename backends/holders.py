"""Users of something shared, and their ends, also where a user is interrupted before it can say that it has ended."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

from .forks import tell_of_forks


class Holder:
    """One use; it ends with `Holders.discard`, or with the last reference to it."""

    __slots__ = ("__weakref__",)


class Holders:
    """The uses of one thing.

    Ctrl-C may come between any two operations, also between taking something and the ``try`` that would give it back.
    A use then ends when the interrupted function's variables are gone.

    Parameters
    ----------
    when_none : callable
        Called, under `lock`, whenever the last use ends, perhaps twice; also in a forked child, where there are none.

    Attributes
    ----------
    lock : threading.RLock
        May be held by the caller to do more at once.
    """

    def __init__(self, when_none: Callable[[], None] = lambda: None) -> None:
        self.lock = threading.RLock()
        self._when_none = when_none
        self._alive: set[weakref.ref[Holder]] = set()
        tell_of_forks(self)

    def __len__(self) -> int:
        return len(self._alive)

    def add(self) -> Holder:
        """Begin a use; keep the returned holder as long as it lasts."""
        holder = Holder()
        with self.lock:
            self._alive.add(weakref.ref(holder, self._ended))
        return holder

    def add_if_none(self) -> Holder | None:
        """Begin a use if there is none, else return None."""
        with self.lock:
            return None if self._alive else self.add()

    def before_fork(self, deadline: float) -> None:
        """Take nothing."""

    def in_child(self, stood_still: bool) -> None:
        """In a forked child the threads with uses are gone."""
        self.lock = threading.RLock()  # the copied one may be held by one of them
        self._alive = set()
        self._when_none()

    def discard(self, holder: Holder) -> None:
        """End a use."""
        self._ended(weakref.ref(holder))

    def _ended(self, holder: weakref.ref[Holder]) -> None:
        """End a use; called for holders that were not discarded, as a KeyboardInterrupt is on its way already."""
        with self.lock:
            if holder in self._alive:
                if len(self._alive) == 1:
                    self._when_none()  # first: an interrupt in it leaves it to the holder's end
                self._alive.discard(holder)
