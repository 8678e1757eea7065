"""Threads that stay: tasks run side by side, errors and Ctrl-C arrive, forked children have workers of their own."""

import contextvars
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from backends.cpu.numpy_backend import UFUNC_BUFFER, NumpyBackend
from backends.cpu.workers import Workers, thread_count
from backends.errors import BackendError
from tests.cells import every_row

ROOT = pathlib.Path(__file__).parent.parent.parent
PATIENCE = 20  # seconds, after which something hangs


def nothing():
    pass


def side_by_side(workers, count=2):
    """Run tasks that all wait for one another; return the threads that they ran in."""
    meet, seen = threading.Barrier(count, timeout=PATIENCE), [None] * count

    def task(number):
        meet.wait()
        seen[number] = threading.get_ident()

    workers.run([lambda number=number: task(number) for number in range(count)])
    return seen


def failing(error):
    def fail():
        raise error

    return fail


def in_another_process(code):
    """Run Python code that finds this module's imports; return its exit status and what it printed."""
    head = "import os, signal, sys, threading, time\nfrom backends.cpu.workers import Workers\n"
    done = subprocess.run(
        [sys.executable, "-c", head + code], cwd=ROOT, capture_output=True, text=True, timeout=3 * PATIENCE, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("count", [2, 3, 5])
def test_tasks_run_at_the_same_time_the_first_in_the_calling_thread(count):
    seen = side_by_side(Workers(count), count)
    assert seen[0] == threading.get_ident()
    assert len(set(seen)) == count


def test_the_threads_stay():
    workers = Workers(3)
    first = side_by_side(workers, 3)
    assert [side_by_side(workers, count) for count in (3, 2, 3)] == [first, first[:2], first]


def test_one_task_needs_no_thread_and_leaves_the_workers_to_others():
    workers, before, seen = Workers(4), threading.active_count(), []
    workers.run([lambda: seen.append((threading.get_ident(), workers.busy))])
    assert seen == [(threading.get_ident(), False)]
    assert threading.active_count() == before


def test_all_tasks_have_ended_when_run_returns():
    workers, ended = Workers(3), []
    for _ in range(200):
        workers.run([lambda number=number: ended.append(number) for number in range(3)])
        assert sorted(ended) == [0, 1, 2]
        ended.clear()


def test_busy_while_something_runs():
    workers, seen = Workers(2), []
    workers.run([lambda: seen.append(workers.busy), nothing])
    assert seen == [True]
    assert not workers.busy


# ---- errors


@every_row("kind", [ValueError, KeyboardInterrupt, SystemExit])
@every_row("place", [0, 1, 2])
def test_an_error_is_raised_after_all_have_ended(place, kind):
    workers, ended, raised = Workers(3), [], threading.Event()

    def after_the_error(number):
        assert raised.wait(PATIENCE)
        ended.append(number)

    def fail():
        raised.set()
        raise kind("went wrong")

    tasks = [lambda number=number: after_the_error(number) for number in range(3)]
    tasks[place] = fail
    with pytest.raises(kind, match="went wrong"):
        workers.run(tasks)
    assert sorted(ended) == [number for number in range(3) if number != place]
    assert not workers.busy
    assert len(set(side_by_side(workers, 3))) == 3


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ([failing(ValueError("own")), failing(KeyError("second")), failing(KeyError("third"))], "own"),
        ([nothing, failing(ValueError("second")), failing(KeyError("third"))], "second"),
    ],
)
def test_of_several_errors_the_first_tasks_is_raised(tasks, expected):
    with pytest.raises(ValueError, match=expected):
        Workers(3).run(tasks)


def test_an_error_is_forgotten_once_it_was_raised():
    workers = Workers(2)
    with pytest.raises(ValueError, match="once"):
        workers.run([nothing, failing(ValueError("once"))])
    with pytest.raises(ValueError, match="twice"):
        workers.run([failing(ValueError("twice")), failing(KeyError("of the worker"))])
    assert len(set(side_by_side(workers))) == 2


# ---- in use already


def test_tasks_of_a_task_run_one_after_the_other_where_they_are():
    workers, seen = Workers(2), {}

    def task(name):
        here = seen[name] = []
        workers.run([lambda: here.append(threading.get_ident())] * 3)
        here.append(threading.get_ident())

    workers.run([lambda: task("own"), lambda: task("worker")])
    assert [len(set(each)) for each in seen.values()] == [1, 1]
    assert [len(each) for each in seen.values()] == [4, 4]
    assert seen["own"][0] != seen["worker"][0]


def test_an_error_of_a_nested_task_comes_through():
    workers = Workers(2)
    with pytest.raises(ValueError, match="deep inside"):
        workers.run([nothing, lambda: workers.run([failing(ValueError("deep inside")), nothing])])


def test_a_second_thread_runs_its_tasks_itself_while_the_workers_are_in_use():
    workers, seen, taken, go_on = Workers(2), [], threading.Event(), threading.Event()

    def occupy():
        taken.set()
        assert go_on.wait(PATIENCE)

    other = threading.Thread(target=workers.run, args=([occupy, nothing],))
    other.start()
    assert taken.wait(PATIENCE)
    workers.run([lambda: seen.append(threading.get_ident())] * 3)
    go_on.set()
    other.join(PATIENCE)
    assert seen == [threading.get_ident()] * 3


def test_two_threads_that_use_the_workers_at_once_are_both_right():
    workers, wrong, meet = Workers(2), [], threading.Barrier(2, timeout=PATIENCE)

    def user(name):
        meet.wait()
        for turn in range(300):
            found = [None, None]
            workers.run([lambda i=i, found=found, turn=turn: found.__setitem__(i, (name, i, turn)) for i in (0, 1)])
            if found != [(name, 0, turn), (name, 1, turn)]:
                wrong.append((name, turn, found))

    users = [threading.Thread(target=user, args=(name,)) for name in "ab"]
    for each in users:
        each.start()
    for each in users:
        each.join(PATIENCE)
    assert not any(each.is_alive() for each in users)
    assert wrong == []


# ---- what the caller has set

SETTING = contextvars.ContextVar("SETTING", default="nobody's")


def test_context_variables_of_the_caller_are_seen_and_not_changed():
    workers, seen = Workers(2), []

    def task():
        seen.append(SETTING.get())
        SETTING.set("the task's")

    for value in ("first", "second"):
        SETTING.set(value)
        workers.run([nothing, task])
        assert SETTING.get() == value
    assert seen == ["first", "second"]


def test_errstate_of_the_caller_holds_in_the_other_worker():
    workers, zero = Workers(2), np.zeros(3)
    seen = []
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        workers.run([nothing, lambda: np.divide(1.0, zero)])
    with np.errstate(divide="ignore"):
        workers.run([nothing, lambda: seen.append(np.divide(1.0, zero))])
    assert np.isinf(seen[0]).all()


def test_the_buffer_of_ufuncs_is_small_in_every_worker_and_only_there():
    backend, before, seen = NumpyBackend(threads=2), np.getbufsize(), []
    backend.run_tasks([lambda: seen.append(np.getbufsize())] * 2)
    with pytest.raises(ValueError, match="went wrong"):
        backend.run_tasks([nothing, failing(ValueError("went wrong"))])
    assert seen == [UFUNC_BUFFER, UFUNC_BUFFER]
    assert np.getbufsize() == before


# ---- processes and signals

MEET = """
def meet(workers):
    barrier, seen = threading.Barrier(2, timeout=10), set()
    def task():
        barrier.wait()
        seen.add(threading.get_ident())
    workers.run([task, task])
    return len(seen) == 2
"""
FORK = """
def child_is_right(workers):
    child = os.fork()
    if child == 0:
        signal.alarm(15)  # ends a child that hangs
        os._exit(0 if not workers.busy and all(meet(workers) for _ in range(3)) else 3)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_workers_of_its_own():
    code = "workers = Workers(2)\nprint(meet(workers), child_is_right(workers), meet(workers))"
    assert in_another_process(MEET + FORK + code) == (0, "True 0 True\n")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_that_is_forked_while_the_workers_are_in_use_can_use_them():
    code = """
workers, taken, go_on = Workers(2), threading.Event(), threading.Event()
def occupy():
    taken.set()
    go_on.wait(30)
other = threading.Thread(target=workers.run, args=([occupy, occupy],))
other.start()
taken.wait(10)
status, busy = child_is_right(workers), workers.busy
go_on.set()
other.join()
print(busy, status, meet(workers))
"""
    assert in_another_process(MEET + FORK + code) == (0, "True 0 True\n")


INTERRUPT = """
workers, ended, own_has_ended = Workers(2), [], threading.Event()
def slow():
    own_has_ended.wait(10)
    time.sleep(0.1)  # the main thread waits by now
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    time.sleep(0.2)
    ended.append("slow")
meet(workers)
try:
    workers.run([own_has_ended.set, slow])
except KeyboardInterrupt:
    print("interrupted after", *ended)
print(workers.busy, [meet(workers) for _ in range(3)])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals of threads are POSIX's")
def test_an_interrupt_waits_for_the_other_worker_and_leaves_the_workers_right():
    expected = "interrupted after slow\nFalse [True, True, True]\n"
    assert in_another_process(MEET + INTERRUPT) == (0, expected)


def test_interrupts_at_any_moment_leave_nothing_taken():
    code = """
import random
from backends.cpu.numpy_backend import NumpyBackend
backend = NumpyBackend(threads=2)
found, interrupted = backend._blas.count(), 0
signal.signal(signal.SIGALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))  # which may be held back
for turn in range(1500):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 2e-4))
        while True:
            backend.run_tasks([int, int])
    except KeyboardInterrupt:
        interrupted += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert (backend._blas.count(), len(backend._blas.holders), backend._workers.busy) == (found, 0, False), turn
print(interrupted)
"""
    assert in_another_process(code) == (0, "1500\n")


def test_workers_that_nobody_has_any_more_end_their_threads():
    workers = Workers(3)
    threads = set(side_by_side(workers, 3)[1:])

    def alive():
        return threads & {thread.ident for thread in threading.enumerate()}

    assert alive() == threads
    del workers
    deadline = time.monotonic() + PATIENCE
    while alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert alive() == set()


def test_the_process_ends_while_a_thread_waits_for_tasks():
    assert in_another_process("Workers(3).run([int, int, int])\nprint('end')") == (0, "end\n")


# ---- how many


@pytest.mark.parametrize(("setting", "threads"), [("1", 1), ("3", 3), (" 12 ", 12)])
def test_the_environment_sets_the_number_of_threads(setting, threads, monkeypatch):
    monkeypatch.setenv("ND_NUM_THREADS", setting)
    assert thread_count() == threads
    assert NumpyBackend().threads == threads


@pytest.mark.parametrize("setting", [None, "", "  "])
def test_without_a_setting_it_is_the_number_of_usable_cores(setting, monkeypatch):
    monkeypatch.delenv("ND_NUM_THREADS", raising=False)
    if setting is not None:
        monkeypatch.setenv("ND_NUM_THREADS", setting)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {2, 3, 5, 7, 11}, raising=False)
    assert thread_count() == 5


@pytest.mark.parametrize(("cores", "threads"), [(7, 7), (None, 1)])
def test_where_the_usable_cores_cannot_be_asked_it_is_all(cores, threads, monkeypatch):
    monkeypatch.delenv("ND_NUM_THREADS", raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert thread_count() == threads


@pytest.mark.parametrize("setting", ["0", "-1", "many", "2.5", "1e1", "2,2", "²"])
def test_a_wrong_number_of_threads_is_named(setting, monkeypatch):
    monkeypatch.setenv("ND_NUM_THREADS", setting)
    expected = f"ND_NUM_THREADS: expected an integer >= 1, got {setting!r}. Unset it to use all cores."
    with pytest.raises(BackendError, match=re.escape(expected)):
        thread_count()
