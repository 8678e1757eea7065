"""Threads that decode the pictures of minibatches to come."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any, NamedTuple

from nd.dataset.images.decoding import Decoder
from nd.interrupts import Held

_MOST_AT_ONCE = 16  # pictures of a task: a minibatch is divided among the threads
_THREADS: set[threading.Thread] = set()
"""Threads that decode, and some that have ended, which the next one forgets: at the end of a Thread object Python runs
code of its own, where a Ctrl-C would get lost."""


class Reading:
    """A minibatch that is being decoded.

    Parameters
    ----------
    start, stop : int
        Its places in the epoch.
    paths : sequence of str

    Attributes
    ----------
    pictures : list of array or None
        ``[H, W, C]`` each, as far as the threads are.
    faults : dict of int to Exception
        Of the rows that could not be decoded, why.
    """

    def __init__(self, start: int, stop: int, paths: Sequence[str]) -> None:
        self.start, self.stop, self.paths = start, stop, paths
        self.pictures: list[Any] = [None] * len(paths)
        self.faults: dict[int, BaseException] = {}
        self.wanted = True
        self._rest = 0
        self._ended: list[int] = []
        self._wake_ups: SimpleQueue[None] = SimpleQueue()

    def tasks(self, decoder: Decoder, threads: int) -> list[_Task]:
        """Return what the threads have to do, in several parts."""
        size = len(self.paths)
        step = min(_MOST_AT_ONCE, -(-size // (2 * max(threads, 1))))
        parts = [_Task(self, decoder, first, min(first + step, size)) for first in range(0, size, step)]
        self._rest = len(parts)
        return parts

    def decode(self, decoder: Decoder, row: int) -> None:
        """Decode a picture, or say why that cannot be."""
        try:
            self.pictures[row] = decoder(self.paths[row])
        except BaseException as error:  # MemoryError, say: whatever it is, it is for the caller's thread
            self.faults[row] = error.with_traceback(None)

    def end_task(self, first: int) -> None:
        """Note that the part from row `first` on is done."""
        self._ended.append(first)
        self._wake_ups.put(None)

    def wait(self) -> None:
        """Wait until all rows are done; Ctrl-C may come, and the next call waits on."""
        while len(self._ended) < self._rest:
            self._wake_ups.get()


class _Task(NamedTuple):
    """Some rows of a minibatch."""

    reading: Reading
    decoder: Decoder
    first: int
    last: int

    def run(self) -> None:
        """Decode the rows while somebody wants them."""
        for row in range(self.first, self.last):
            if not self.reading.wanted:
                break
            self.reading.decode(self.decoder, row)
        self.reading.end_task(self.first)


class Threads:
    """Decode in threads, which begin with the first task and end with `close`, or with the owner.

    Parameters
    ----------
    count : int
        0: whoever gives a task does it.
    owner : object
        The threads do not know it; with its end they end.
    name : str
        Of the threads.
    """

    def __init__(self, count: int, owner: object, name: str) -> None:
        self.count, self._name = count, name
        self.connect(owner)

    def connect(self, owner: object) -> None:
        """Begin without threads, whatever those of a parent process were doing."""
        self._inbox: SimpleQueue[Any] = SimpleQueue()
        self._owner = weakref.ref(owner, self._inbox.put)  # by C alone: a Ctrl-C in a callback of Python's is lost
        self._threads: list[threading.Thread] = []

    def begin(self, reading: Reading, decoder: Decoder) -> None:
        """Give the threads a minibatch to decode; without threads it is decoded now. Ctrl-C would halve it."""
        tasks = reading.tasks(decoder, self.count)
        if not self.count:
            for task in tasks:
                task.run()
            return
        self._start()
        for task in tasks:
            self._inbox.put(task)

    def _start(self) -> None:
        _THREADS.difference_update([thread for thread in tuple(_THREADS) if not thread.is_alive()])
        while len(self._threads) < self.count:
            # the thread knows the reference to the owner too: one that goes with its object calls nobody
            arguments = (self._inbox, self._owner)
            thread = threading.Thread(target=_work, args=arguments, name=self._name, daemon=True)
            _THREADS.add(thread)
            thread.start()
            self._threads.append(thread)

    def close(self, owner: object) -> None:
        """End the threads, after the pictures that they decode; `begin` starts new ones."""
        threads, inbox = self._threads, self._inbox
        with Held():
            self.connect(owner)
            inbox.put(None)
        for thread in threads:
            thread.join()


def _work(inbox: SimpleQueue[Any], _: weakref.ref[Any]) -> None:
    """Do tasks until something else comes: None, or the reference to an owner that is gone."""
    task = inbox.get()
    while isinstance(task, _Task):
        task.run()
        del task  # so that it keeps no minibatch while there is nothing to do
        task = inbox.get()
    inbox.put(None)  # for the others
