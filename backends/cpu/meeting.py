"""Meetings: workers that need numbers of one another in the middle of a step, as batch normalisation does."""

from __future__ import annotations

import _thread
import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from queue import SimpleQueue

import numpy as np

from backends.typing import NumpyArray

from ..scheduling import Meeting, Seat
from .recording import note, plain

Task = Callable[[], object]


class Abandoned(Exception):
    """Ends the tasks of workers that wait for one that has failed; the error of that one is what is reported."""


class Run:
    """One run of workers that meet, as often as they like.

    The last to come opens the doors of the others, so that one meeting is one lock handed over for each of them: 19 us
    between two threads that compute for a while, where `threading.Barrier` takes 35.

    Parameters
    ----------
    count : int
        Workers.
    at_once : int, optional
        As many of them compute at a time; the others wait for one that waits, or is through. Without it all do.
    """

    def __init__(self, count: int, at_once: int | None = None) -> None:
        self._count, self._failed = count, False
        turns = count if at_once is None else max(at_once, 1)
        # A token for everybody who may compute; after an error there may be more. No threading.Semaphore: its lock is
        # taken in Python, where a Ctrl-C keeps it for good.
        self._turns: SimpleQueue[None] | None = SimpleQueue() if turns < count else None
        for _ in range(turns):
            self._give_turn()
        self._arrivals = itertools.count(1)  # the next number of it is one operation: no other thread comes between
        self._doors = [_thread.allocate_lock() for _ in range(count)]
        for door in self._doors:
            door.acquire()

    def compute(self, task: Task) -> object:
        """Run a worker's task when it is its turn."""
        if self._turns is None:
            return task()
        self._turns.get()
        try:
            return task()
        finally:
            self._give_turn()

    def wait(self, number: int) -> None:
        """Return when all workers have come; raise Abandoned where one of them will not."""
        if self._turns is None:
            self._meet(number)
            return
        self._give_turn()
        try:
            self._meet(number)
        finally:
            self._turns.get()

    def _meet(self, number: int) -> None:
        if not self._failed:
            if next(self._arrivals) % self._count:
                self._doors[number].acquire()
            else:
                self._open(door for other, door in enumerate(self._doors) if other != number)
        if self._failed:
            raise Abandoned

    def abandon(self) -> None:
        """Let nobody wait any longer, now or later; may be called often."""
        self._failed = True
        self._open(self._doors)
        for _ in range(self._count):
            self._give_turn()

    def _give_turn(self) -> None:
        if self._turns is not None:
            self._turns.put(None)

    @staticmethod
    def _open(doors: Iterable[_thread.LockType]) -> None:
        for door in doors:
            try:
                door.release()
            except RuntimeError:  # it is open: somebody has given up meanwhile
                continue


class WorkerSeat(Seat):
    """The place of one of several workers."""

    def __init__(self, number: int, count: int, memory: dict[object, np.ndarray]) -> None:
        self.number, self.count, self._memory = number, count, memory
        self._run = Run(count)
        self._calls = self._met = 0

    def attend(self, run: Run, task: Task) -> object:
        """Return what a task returns that meets the others in this run; they end if it fails."""
        self._run, self._met = run, 0
        try:
            return run.compute(task)
        except BaseException:
            run.abandon()
            raise

    def begin(self) -> None:
        self._calls = 0

    def gather(self, vector: NumpyArray) -> np.ndarray:
        """Do as `Seat.gather`; every call of a pass has memory of its own, which the next run overwrites.

        So nobody has to wait until all have read: the next run begins when all are through with this one.
        """
        call, self._calls = self._calls, self._calls + 1
        key = (call, vector.shape[0], vector.dtype)
        table = self._memory.get(key)
        if table is None:  # of two workers that come here at once, one sets it
            table = self._memory.setdefault(key, np.empty((self.count, vector.shape[0]), vector.dtype))
        exchange = partial(self._exchange, call, plain(vector), table[self.number])
        note(exchange)
        exchange()
        return table.view(type(vector))

    def _exchange(self, call: int, vector: np.ndarray, own: np.ndarray) -> None:
        own[...] = vector
        if call >= self._met:  # a pass that is begun again, as it could not be recorded, writes what it wrote before
            self._run.wait(self.number)
            self._met = call + 1


class WorkersMeeting(Meeting):
    """Where so many workers meet.

    Parameters
    ----------
    count : int
    """

    def __init__(self, count: int) -> None:
        memory: dict[object, np.ndarray] = {}
        super().__init__(tuple(WorkerSeat(number, count, memory) for number in range(count)))

    def tasks_of(self, run: Run, tasks: Sequence[Task]) -> list[Task]:
        """Return tasks, one for every seat, as they are to be run: side by side."""
        return [partial(seat.attend, run, task) for seat, task in zip(self.seats, tasks, strict=True)]  # type: ignore[attr-defined]
