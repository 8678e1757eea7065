"""Lanes: threads that stay, so that splitting a millisecond of work over the cores costs microseconds."""

from __future__ import annotations

import contextvars
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from .errors import BackendError

Task = Callable[[], object]


def thread_count() -> int:
    """Return ``ND_NUM_THREADS``, or the number of cores that this process may use.

    Raises
    ------
    BackendError
        The variable is not a positive integer.
    """
    setting = os.environ.get("ND_NUM_THREADS", "").strip()
    if not setting:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not setting.isdecimal() or int(setting) < 1:
        raise BackendError(f"ND_NUM_THREADS: expected an integer >= 1, got {setting!r}. Unset it to use all cores.")
    return int(setting)


class Lanes:
    """The calling thread and ``count - 1`` more, which wait between calls of `run`.

    Parameters
    ----------
    count : int
        Lanes, the caller's included. The threads are started when they are first needed.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._busy = threading.Lock()
        self._workers: list[_Worker] = []
        if hasattr(os, "register_at_fork"):
            alive = weakref.ref(self)
            os.register_at_fork(after_in_child=lambda: _forget_threads(alive()))

    @property
    def busy(self) -> bool:
        """Whether they run something."""
        return self._busy.locked()

    def run(self, tasks: Sequence[Task]) -> None:
        """Run tasks that do not depend on one another, the first in the calling thread; return when all have run.

        At most `count` tasks. Where the lanes are in use already, by another thread or by the task that calls, they
        run one after the other. The first error of a task is raised, after all have ended.
        """
        if len(tasks) == 1 or not self._busy.acquire(blocking=False):
            for task in tasks:
                task()
            return
        try:
            self._run_side_by_side(tasks)
        finally:
            self._busy.release()

    def _run_side_by_side(self, tasks: Sequence[Task]) -> None:
        while len(self._workers) < len(tasks) - 1:
            self._workers.append(_Worker(len(self._workers) + 1))
        workers = self._workers[: len(tasks) - 1]
        errors: list[BaseException | None] = []
        try:
            for worker, task in zip(workers, tasks[1:], strict=True):
                worker.start(task)
            tasks[0]()
        finally:
            errors += [worker.wait() for worker in workers]
        for error in errors:
            if error is not None:
                raise error

    def _forget(self) -> None:
        self._workers = []
        self._busy = threading.Lock()


def _forget_threads(lanes: Lanes | None) -> None:
    """In a forked child the threads are gone; new ones start on demand."""
    if lanes is not None:
        lanes._forget()


class _Worker:
    """One thread, which runs a task each time it is told to."""

    def __init__(self, number: int) -> None:
        self._inbox: SimpleQueue[tuple[int, contextvars.Context, Task]] = SimpleQueue()
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._asked = self._ended = 0  # numbers of tasks
        self._error: BaseException | None = None
        threading.Thread(target=self._loop, name=f"nd-lane-{number}", daemon=True).start()

    def start(self, task: Task) -> None:
        context = contextvars.copy_context()  # numpy.errstate lives there
        self._asked += 1
        self._inbox.put((self._asked, context, task))

    def wait(self) -> BaseException | None:
        """Return the task's error, None if it had none; Ctrl-C counts as one, and waits for the task's end too."""
        interrupted: BaseException | None = None
        while self._ended != self._asked:  # what counts is the number: Ctrl-C may swallow a wake-up
            try:
                self._wake.get()
            except KeyboardInterrupt as error:
                interrupted = error
        found, self._error = self._error, None
        return found or interrupted

    def _loop(self) -> None:
        while True:
            number, context, task = self._inbox.get()
            try:
                context.run(task)
            except BaseException as error:
                self._error = error
            del context, task
            self._ended = number
            self._wake.put(None)
