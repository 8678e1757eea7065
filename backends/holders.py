"""Users of something shared, and their ends, also where a user is interrupted before it can say that it has ended."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable

from .forks import tell_of_forks


class Holder:
    """One use; it ends with `Holders.discard`, or with the last reference to it."""

    __slots__ = ("__weakref__",)


class Holders:
    """The uses of one thing.

    Ctrl-C may come between any two operations, also between taking something and the ``try`` that would give it back.
    A use then ends when the interrupted function's variables are gone. C alone notes that, as a second Ctrl-C that came
    within a finaliser of Python's would get lost; whoever next asks, begins or ends a use does the rest.

    Parameters
    ----------
    when_none : callable
        Called, under `lock`, whenever the last use ends, perhaps twice; also in a forked child, where there are none.
        After a use that was not discarded it is called at the next call of a method, or of ``len``.

    Attributes
    ----------
    lock : threading.RLock
        May be held by the caller to do more at once.
    """

    def __init__(self, when_none: Callable[[], None] = lambda: None) -> None:
        self.lock = threading.RLock()
        self._when_none = when_none
        self._alive: set[weakref.ref[Holder]] = set()
        self._ended: deque[weakref.ref[Holder]] = deque()  # whose holders were not discarded
        tell_of_forks(self)

    def __len__(self) -> int:
        if self._ended:
            self._settle()
        return len(self._alive)

    def add(self) -> Holder:
        """Begin a use; keep the returned holder as long as it lasts."""
        if self._ended:
            self._settle()
        holder = Holder()
        with self.lock:
            self._alive.add(weakref.ref(holder, self._ended.append))
        return holder

    def add_if_none(self) -> Holder | None:
        """Begin a use if there is none, else return None."""
        with self.lock:
            if self._ended:
                self._settle()
            return None if self._alive else self.add()

    def before_fork(self, deadline: float) -> None:
        """Take nothing."""

    def in_child(self, stood_still: bool) -> None:
        """In a forked child the threads with uses are gone."""
        self.lock = threading.RLock()  # the copied one may be held by one of them
        self._alive = set()
        self._ended.clear()
        self._when_none()

    def discard(self, holder: Holder) -> None:
        """End a use."""
        if self._ended:
            self._settle()
        self._end(weakref.ref(holder))

    def _settle(self) -> None:
        """End the uses whose holders are gone."""
        with self.lock:
            while self._ended:
                self._end(self._ended[0])
                self._ended.popleft()  # last: an interrupt before leaves it to the next call

    def _end(self, holder: weakref.ref[Holder]) -> None:
        with self.lock:
            if holder in self._alive:
                if len(self._alive) == 1:
                    self._when_none()  # first: an interrupt in it leaves it to the holder's end
                self._alive.discard(holder)
