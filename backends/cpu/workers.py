"""Workers: threads that stay, so that splitting a millisecond of work over the cores costs microseconds."""

from __future__ import annotations

import contextvars
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from ..errors import BackendError
from ..forks import tell_of_forks
from ..holders import Holders
from ..interrupts import Held
from .meeting import Abandoned, Run, WorkersMeeting

Task = Callable[[], object]


_MOST_DIGITS = 6  # of a number of threads: no machine starts more


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
    if not setting.isdecimal() or len(setting) > _MOST_DIGITS or int(setting) < 1:
        raise BackendError(f"ND_NUM_THREADS: expected an integer >= 1, got {setting!r}. Unset it to use all cores.")
    return int(setting)


def even_parts(length: int, count: int) -> list[slice]:
    """Cut ``0 .. length`` into so many stretches of about the same length, one for every worker."""
    borders = [number * length // count for number in range(count + 1)]
    return [slice(start, stop) for start, stop in itertools.pairwise(borders)]


class Workers:
    """The calling thread and ``count - 1`` more, which wait between calls of `run`.

    Parameters
    ----------
    count : int
        Workers, the caller's included. The threads are started when they are first needed.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._users = Holders()
        self._workers: list[_Worker] = []
        self._meets: Run | None = None  # of workers that meet, until all of them have ended
        tell_of_forks(self)

    @property
    def busy(self) -> bool:
        """Whether the workers run something."""
        return len(self._users) > 0

    def run(self, tasks: Sequence[Task], meeting: WorkersMeeting | None = None) -> list[object]:
        """Run tasks that do not depend on one another, the first in the calling thread; return their results.

        At most `count` tasks at once; more only where they meet. Where the workers are in use already, by another
        thread or by the task that calls, they run one after the other, up to the first error; those that meet in
        threads that end with them. Side by side, the first error is raised when all have ended.
        """
        user = None if len(tasks) <= 1 else self._users.add_if_none()
        if user is None:
            meets = meeting is not None and len(tasks) > 1
            return _in_new_threads(tasks, meeting, self.count) if meets else [task() for task in tasks]  # type: ignore[arg-type]
        try:
            while len(self._workers) < len(tasks) - 1:
                self._workers.append(_Worker(len(self._workers) + 1, self))
            if self._meets is not None:  # a second Ctrl-C has cut the end of that run short: somebody may wait there
                self._meets.abandon()
            self._meets = None if meeting is None else Run(len(tasks), self.count)
            results = _side_by_side(self._workers, tasks, meeting, self._meets)
            self._meets = None
            return results
        finally:
            self._users.discard(user)

    def run_in_turn(self, tasks: Sequence[Task]) -> list[object]:
        """Run such tasks one after the other in the calling thread, while the workers count as busy as in `run`."""
        user = None if len(tasks) <= 1 else self._users.add_if_none()
        try:
            return [task() for task in tasks]
        finally:
            if user is not None:
                self._users.discard(user)

    def before_fork(self, deadline: float) -> None:
        """Take nothing."""

    def in_child(self, stood_still: bool) -> None:
        """In a forked child the threads are gone; new ones start on demand."""
        self._workers.clear()
        self._meets = None


def _in_new_threads(tasks: Sequence[Task], meeting: WorkersMeeting, at_once: int) -> list[object]:
    """Run tasks that meet where the workers that stay are in use."""
    workers: list[_Worker] = []
    run = Run(len(tasks), at_once)
    try:
        with Held():
            workers += [_Worker(number) for number in range(1, len(tasks))]
        return _side_by_side(workers, tasks, meeting, run)
    finally:
        run.abandon()
        _stop(workers)


def _side_by_side(
    workers: Sequence[_Worker], tasks: Sequence[Task], meeting: WorkersMeeting | None, run: Run | None
) -> list[object]:
    if meeting is not None and run is not None:
        tasks = meeting.tasks_of(run, tasks)
    jobs = [_Job(task) for task in tasks[1:]]
    first, awaited = None, run
    try:
        for worker, job in zip(workers, jobs, strict=False):
            worker.start(job)
        first = tasks[0]()
        awaited = None
    except Abandoned:
        pass  # because of an error that a job has
    finally:
        for worker, job in zip(workers, jobs, strict=False):
            worker.wait(job, awaited)
    errors = [job.error for job in jobs if job.error is not None]
    if errors:
        error = next((error for error in errors if not isinstance(error, Abandoned)), errors[0])
        try:
            raise error
        finally:
            del error, errors, jobs, job  # its traceback knows this frame: without a cycle all ends with the error
    return [first, *(job.result for job in jobs)]


def _stop(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        worker.stop()


class _Job:
    """A task on its way through a worker."""

    __slots__ = ("context", "ended", "error", "interrupt", "result", "sent", "task")

    def __init__(self, task: Task) -> None:
        self.context = contextvars.copy_context()  # numpy.errstate lives there
        self.task = task
        self.result: object = None
        self.sent = self.ended = False
        self.error: BaseException | None = None
        self.interrupt: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self.context.run(self.task)
        except BaseException as error:
            self.error = error
        self.ended = True


class _Worker:
    """One thread, which runs the jobs that it is given, until its owner is gone or `stop`."""

    def __init__(self, number: int, owner: Workers | None = None) -> None:
        self._inbox: SimpleQueue[object] = SimpleQueue()
        if owner is not None:  # the callback is C's: a Ctrl-C in one of Python's would get lost
            self._owner = weakref.ref(owner, self._inbox.put)
        self._wake: SimpleQueue[None] = SimpleQueue()
        with Held():  # Ctrl-C while Python waits for a thread to begin leaves its lock in disorder
            threading.Thread(target=self._loop, name=f"nd-worker-{number}", daemon=True).start()

    def start(self, job: _Job) -> None:
        self._inbox.put(job)
        job.sent = True

    def wait(self, job: _Job, run: Run | None = None) -> None:
        """Return when the job has ended; Ctrl-C is the job's error, if it has no other, and is waited through.

        A job that waits in a `run` for a worker that has failed is told so.
        """
        while not job.ended:  # a wake-up alone proves nothing: Ctrl-C may swallow one, or make one too many
            try:
                if run is not None:
                    run.abandon()
                if not job.sent:
                    self.start(job)
                self._wake.get()
            except KeyboardInterrupt as error:
                job.interrupt = error
        while not self._wake.empty():
            self._wake.get()
        if job.interrupt is not None and (job.error is None or isinstance(job.error, Abandoned)):
            job.error = job.interrupt

    def stop(self) -> None:
        """End the thread."""
        self._inbox.put(None)

    def _loop(self) -> None:
        while isinstance(job := self._inbox.get(), _Job):
            if not job.ended:  # given twice, if an interrupt came while it was given
                job.run()
            del job
            self._wake.put(None)
