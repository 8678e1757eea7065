"""Workers that meet: everybody's numbers in their order, failures and Ctrl-C that leave nobody waiting."""

import pathlib
import random
import re
import signal
import threading
import time

import numpy as np
import pytest

import nd
from backends.cpu.meeting import Abandoned, WorkersMeeting
from backends.cpu.numpy_backend import NumpyBackend
from backends.cpu.recording import Recording, TracedArray
from backends.cpu.workers import Workers
from backends.scheduling import ALONE
from tests.backends.test_workers import in_another_process

PATIENCE = 20  # seconds, after which something hangs


def meet(workers, meeting, rounds=3, hurry=lambda: None):
    """Let every worker hand over numbers of its own several times; return what each has read."""

    def task(seat):
        seat.begin()
        seen = []
        for turn in range(rounds):
            hurry()
            seen.append(seat.gather(np.array([10.0 * turn + seat.number, 0.5])).copy())
        return seen

    return workers.run([lambda seat=seat: task(seat) for seat in meeting.seats], meeting)


def assert_all_met(outcome, rounds=3):
    for seen in outcome:
        expected = [[[10.0 * turn + number, 0.5] for number in range(len(outcome))] for turn in range(rounds)]
        np.testing.assert_array_equal(seen, expected)


def in_time(function):
    """Call a function in a thread; fail if it hangs."""
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(function()), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive(), "somebody still waits"
    return outcome[0]


def test_one_that_is_alone_gets_its_own_vector():
    found = ALONE.gather(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(found, [[1.0, 2.0]])
    assert (ALONE.number, ALONE.count) == (0, 1)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_everybody_gets_the_vectors_of_all_in_the_order_of_the_workers(count):
    workers, meeting = Workers(count), WorkersMeeting(count)
    for _ in range(20):
        assert_all_met(in_time(lambda: meet(workers, meeting)))


def test_nobody_reads_what_is_of_another_call_however_fast_the_others_are():
    rng, workers, meeting = random.Random(5), Workers(3), WorkersMeeting(3)
    for _ in range(15):
        assert_all_met(in_time(lambda: meet(workers, meeting, 30, lambda: time.sleep(rng.choice((0, 0, 1e-4))))), 30)


@pytest.mark.parametrize("failing", [0, 1, 2])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_the_error_of_the_one_that_fails_is_reported_and_the_others_end(failing, after):
    workers, meeting, ended = Workers(3), WorkersMeeting(3), []

    def task(seat):
        seat.begin()
        try:
            for turn in range(3):
                if (seat.number, turn) == (failing, after):
                    raise OSError(f"worker {failing} failed")
                seat.gather(np.zeros(2))
        except BaseException as error:
            ended.append(type(error))
            raise

    for _ in range(5):
        ended.clear()

        def run():
            with pytest.raises(OSError, match=f"worker {failing} failed"):
                workers.run([lambda seat=seat: task(seat) for seat in meeting.seats], meeting)
            return True

        assert in_time(run)
        assert sorted(map(str, ended)) == sorted(map(str, [OSError, Abandoned, Abandoned]))
        assert_all_met(in_time(lambda: meet(workers, meeting)))


def test_where_the_workers_are_in_use_they_meet_in_threads_that_end():
    workers, outer, inner = Workers(2), WorkersMeeting(2), WorkersMeeting(2)
    before = threading.active_count() + 1

    def task(seat):
        seat.begin()
        return meet(workers, inner) if seat.number == 0 else seat.number

    first, second = in_time(lambda: workers.run([lambda seat=seat: task(seat) for seat in outer.seats], outer))
    assert_all_met(first)
    assert second == 1
    deadline = time.monotonic() + PATIENCE
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_two_threads_that_meet_with_the_same_workers_are_both_right():
    workers, meetings = Workers(2), [WorkersMeeting(2) for _ in range(2)]
    outcomes, users = [[], []], []
    for number in (0, 1):

        def user(number=number):
            for _ in range(100):
                outcomes[number].append(meet(workers, meetings[number]))

        users.append(threading.Thread(target=user, daemon=True))
    for each in users:
        each.start()
    for each in users:
        each.join(PATIENCE)
    assert [len(each) for each in outcomes] == [100, 100]
    for outcome in (*outcomes[0], *outcomes[1]):
        assert_all_met(outcome)


def test_a_pass_that_one_begins_again_meets_nobody_a_second_time():
    """As when what it does cannot be recorded after all, and is computed anew."""
    workers, meeting = Workers(2), WorkersMeeting(2)

    def task(seat):
        seat.begin()
        if seat.number == 1:
            for turn in range(2):
                seat.gather(np.array([10.0 * turn + 1.0]))
            seat.begin()
        return [seat.gather(np.array([10.0 * turn + seat.number])).tolist() for turn in range(3)]

    found = in_time(lambda: workers.run([lambda seat=seat: task(seat) for seat in meeting.seats], meeting))
    assert found == [[[[10.0 * turn], [10.0 * turn + 1.0]] for turn in range(3)]] * 2


def test_a_recorded_meeting_takes_place_again_in_every_replay():
    backend, meeting = NumpyBackend(threads=2), WorkersMeeting(2)
    given = [np.zeros(2, np.float32) for _ in meeting.seats]
    recordings, results = [Recording(), Recording()], [None, None]

    def record(number):
        seat = meeting.seats[number]
        seat.begin()
        results[number] = recordings[number].hear(
            lambda: seat.gather(given[number].view(TracedArray)) * np.float32(2.0)
        )

    def run(of_number):
        tasks = [lambda number=number: of_number(number) for number in (0, 1)]
        return in_time(lambda: backend.run_tasks(tasks, meeting=meeting))

    run(record)
    for turn in range(20):
        for number in (0, 1):
            given[number][:] = turn, number
        run(lambda number: recordings[number].replay())
        for result in results:
            np.testing.assert_array_equal(result, [[2.0 * turn, 0.0], [2.0 * turn, 2.0]])


def test_workers_that_meet_get_one_part_each_and_others_tiles():
    from nd import Work

    backend = NumpyBackend(threads=2)
    work = Work(10_000_000, 1 << 20, 1000)
    assert len(backend.plan_work(64, work._replace(meetings=40)).workers) == 1  # which wait longer than they compute
    assert [len(parts) for parts in backend.plan_work(64, work).workers] == [4, 4]
    assert backend.plan_work(64, work._replace(meetings=4)).workers == ((slice(0, 32),), (slice(32, 64),))


STORM = """
import random
import numpy as np
from backends.cpu.meeting import WorkersMeeting
from backends.cpu.numpy_backend import NumpyBackend
backend, meeting, interrupted = NumpyBackend(threads=3), WorkersMeeting(3), 0
def task(seat):
    seat.begin()
    return [seat.gather(np.array([float(turn + seat.number)])).copy() for turn in range(3)]
def meet():
    return backend.run_tasks([lambda seat=seat: task(seat) for seat in meeting.seats], meeting=meeting)
left = [0]
def met_at_last():
    try:
        return meet()
    except KeyboardInterrupt:  # one that was held back for too long, as another came upon it
        return None
def interrupt(number, frame):
    if left[0]:
        left[0] -= 1
        signal.raise_signal(signal.SIGINT)
signal.signal(signal.SIGALRM, interrupt)
sys.unraisablehook = lambda unraisable: None  # an interrupt within a weak reference's callback, which Python swallows
sys.setswitchinterval(1e-4)
for turn in range(300):
    left[0] = random.choice((1, 2))
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 6e-4), random.choice((1e-5, 3e-5, 1e-4)))
            while left[0]:
                meet()
        except KeyboardInterrupt:
            interrupted += 1
            while left[0]:
                meet()
    except KeyboardInterrupt:
        interrupted += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    expected = [[[turn], [turn + 1.0], [turn + 2.0]] for turn in range(3)]
    assert any(np.array_equal(met_at_last(), [expected] * 3) for _ in range(2)), turn
print(interrupted > 270)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers that send signals are POSIX's")
def test_interrupts_at_any_moment_leave_nobody_waiting():
    """Also several that come one upon the other."""
    assert in_another_process(STORM) == (0, "True\n")


def test_a_forked_child_meets_with_workers_of_its_own():
    code = """
import numpy as np
from backends.cpu.meeting import WorkersMeeting
workers, meeting = Workers(2), WorkersMeeting(2)
def task(seat):
    seat.begin()
    return seat.gather(np.array([float(seat.number)])).ravel().tolist()
def met():
    return workers.run([lambda seat=seat: task(seat) for seat in meeting.seats], meeting) == [[0.0, 1.0]] * 2
print(met())
for _ in range(50):
    child = os.fork()
    if child == 0:
        signal.alarm(15)  # ends a child that hangs
        os._exit(0 if met() and met() else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print(met())
"""
    assert in_another_process(code) == (0, "True\nTrue\n")


OF_PYTHON = re.compile(
    r"threading\.(Barrier|BoundedSemaphore|Condition|Event|Semaphore)\(|from threading import|queue\.Queue\("
)
"""Their locks are taken in Python: a Ctrl-C between two of its lines keeps such a lock for good."""


def test_no_thread_waits_for_a_lock_that_a_ctrl_c_can_keep():
    root = pathlib.Path(nd.__file__).parents[1]
    paths = [path for package in ("backends", "nd", "optimize", "nn") for path in (root / package).rglob("*.py")]
    assert len(paths) > 400
    assert [path for path in paths if OF_PYTHON.search(path.read_text(encoding="utf-8"))] == []
