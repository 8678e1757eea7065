from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from backends.errors import ArgumentError, DataError
from nd.dataset import AsyncDataSetIterator, DataSet, ExistingDataSetIterator, ListDataSetIterator

PATIENCE = 10.0  # seconds until a test gives up on a thread


def batches(n: int) -> list[DataSet]:
    return [DataSet(np.full((1, 2), i, np.float32), np.zeros((1, 3), np.float32)) for i in range(n)]


def numbers(iterator: AsyncDataSetIterator) -> list[int]:
    return [int(data_set.features[0, 0]) for data_set in iterator]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.001)


def producers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "AsyncDataSetIterator"]


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    yield
    if producers():  # to look at all objects there are takes longer than a test
        gc.collect()
    wait_until(lambda: not producers())


class Source:
    """A restartable iterable that counts what has been taken from it."""

    def __init__(self, n: int, fail_at: int | None = None, error: BaseException | None = None) -> None:
        self.n, self.fail_at, self.error, self.taken = n, fail_at, error, 0

    def __iter__(self) -> Iterator[DataSet]:
        for i, data_set in enumerate(batches(self.n)):
            self.taken = i + 1
            if i == self.fail_at and self.error is not None:
                raise self.error
            yield data_set


@pytest.mark.parametrize("queue_size", [1, 2, 7, 100])
@pytest.mark.quick_rows(2)
def test_order_is_the_bases_in_every_epoch(queue_size: int) -> None:
    iterator = AsyncDataSetIterator(ListDataSetIterator(batches(20)), queue_size)
    assert numbers(iterator) == list(range(20))
    assert numbers(iterator) == list(range(20))
    with pytest.raises(DataError, match="next: expected a minibatch, got the end of the data"):
        iterator.next()


def test_it_describes_the_base() -> None:
    base = ListDataSetIterator(batches(5))
    iterator = AsyncDataSetIterator(base)
    assert (iterator.batch(), iterator.input_columns(), iterator.total_outcomes(), len(iterator)) == (1, 2, 3, 5)
    assert iterator.reset_supported()
    assert not iterator.async_supported()
    with pytest.raises(DataError, match="expected no num, since the minibatches come as they are, got 3"):
        iterator.next(3)
    with pytest.raises(ArgumentError, match="queue_size must be an integer >= 1, got 0"):
        AsyncDataSetIterator(base, 0)


def test_it_reads_ahead_but_not_too_far() -> None:
    source = Source(50)
    with AsyncDataSetIterator(ExistingDataSetIterator(source), queue_size=3) as iterator:
        iterator.next()
        iterator.next()  # which leaves so few that the thread wakes up
        wait_until(lambda: source.taken == 6)  # 2 handed out, 3 in the queue, 1 waiting for room
        time.sleep(0.05)
        assert source.taken == 6


def test_reading_happens_in_another_thread() -> None:
    threads = []

    def note(data_set: DataSet) -> DataSet:
        threads.append(threading.current_thread())
        return data_set

    base = ListDataSetIterator(batches(2))
    base.pre_processor = note
    iterator = AsyncDataSetIterator(base)
    numbers(iterator)
    iterator.pre_processor = note
    numbers(iterator)
    main = threading.current_thread()
    assert [thread is main for thread in threads[:2]] == [False, False]
    assert sum(thread is main for thread in threads[2:]) == 2


@pytest.mark.parametrize("error", [OSError("disk gone"), KeyError("x"), SystemExit("leave")])
@pytest.mark.quick_rows(2)
def test_an_error_arrives_in_its_place_as_the_object_it_is(error: BaseException) -> None:
    iterator = AsyncDataSetIterator(ExistingDataSetIterator(Source(9, fail_at=3, error=error)))
    seen = [int(iterator.next().features[0, 0]) for _ in range(3)]
    assert seen == [0, 1, 2]
    lengths = []
    for call in (iterator.has_next, iterator.next, iterator.has_next):
        with pytest.raises(type(error), match=str(error)) as caught:
            call()
        assert caught.value is error
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert "raise self.error" in [frame.line for frame in frames]
        lengths.append(len(frames))
    assert lengths[0] == lengths[2], "the traceback must not grow"


def test_reset_recovers_from_an_error() -> None:
    source = Source(4, fail_at=1, error=ValueError("flaky"))
    iterator = AsyncDataSetIterator(ExistingDataSetIterator(source))
    with pytest.raises(ValueError, match="flaky"):
        numbers(iterator)
    source.fail_at = None
    iterator.reset()
    assert numbers(iterator) == [0, 1, 2, 3]


def test_break_loses_nothing() -> None:
    iterator = AsyncDataSetIterator(ListDataSetIterator(batches(10)))
    for data_set in iterator:
        if data_set.features[0, 0] == 3:
            break
    assert numbers(iterator) == [4, 5, 6, 7, 8, 9]


def test_close_stops_the_thread_and_loses_nothing() -> None:
    source = Source(10)
    iterator = AsyncDataSetIterator(ExistingDataSetIterator(source))
    for expected in range(0, 8, 2):
        assert iterator.next().features[0, 0] == expected
        iterator.close()
        assert not producers()
        iterator.close()
        assert iterator.next().features[0, 0] == expected + 1
        assert producers() or source.taken == 10
    assert numbers(iterator) == [8, 9]


def test_reset_starts_over_from_anywhere() -> None:
    iterator = AsyncDataSetIterator(ListDataSetIterator(batches(6)), queue_size=2)
    for stop in range(7):
        for expected in range(stop):
            assert iterator.next().features[0, 0] == expected
        iterator.reset()
        assert not producers()
    assert numbers(iterator) == [0, 1, 2, 3, 4, 5]


def test_reset_of_a_generator_is_refused_and_discards_nothing() -> None:
    iterator = AsyncDataSetIterator(ExistingDataSetIterator(iter(batches(4))))
    iterator.next()
    with pytest.raises(DataError, match="can start again, got list_iterator"):
        iterator.reset()
    assert numbers(iterator) == [1, 2, 3]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_block_leaves_no_thread(interruption: type[BaseException]) -> None:
    def train() -> None:
        with AsyncDataSetIterator(ListDataSetIterator(batches(100)), queue_size=1) as iterator:
            iterator.next()
            assert len(producers()) == 1
            raise interruption("now")

    with pytest.raises(interruption, match="now"):
        train()
    assert not producers()


def test_a_dropped_iterator_ends_its_thread() -> None:
    iterator = AsyncDataSetIterator(ListDataSetIterator(batches(100)), queue_size=1)
    iterator.next()
    (thread,) = producers()
    del iterator
    gc.collect()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def slow_base(gate: threading.Event, while_reading: Callable[[], object]) -> ExistingDataSetIterator:
    """Return a base that calls `while_reading` once the consumer waits, then keeps it waiting for the gate."""
    consumer = threading.main_thread().ident
    assert consumer is not None

    def waits() -> bool:
        names, frame = set(), sys._current_frames().get(consumer)
        while frame is not None:
            names.add(frame.f_code.co_name)
            frame = frame.f_back
        return "has_next" in names

    def generate() -> Iterator[DataSet]:
        wait_until(waits)
        time.sleep(0.05)
        while_reading()
        gate.wait(PATIENCE)
        yield from batches(3)

    return ExistingDataSetIterator(generate())


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
def test_ctrl_c_wakes_a_waiting_consumer_which_can_go_on() -> None:
    gate = threading.Event()
    main = threading.main_thread().ident
    assert main is not None
    iterator = AsyncDataSetIterator(slow_base(gate, lambda: signal.pthread_kill(main, signal.SIGINT)))
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        iterator.has_next()
    gate.set()
    assert numbers(iterator) == [0, 1, 2]


def test_close_from_another_thread_wakes_a_waiting_consumer() -> None:
    gate = threading.Event()
    closer = threading.Thread(target=lambda: iterator.close())
    iterator = AsyncDataSetIterator(slow_base(gate, closer.start))
    with pytest.raises(DataError, match="expected a minibatch, got close"):
        iterator.has_next()
    gate.set()
    closer.join()
    assert numbers(iterator) == [0, 1, 2]


def test_a_program_may_exit_with_a_full_queue() -> None:
    program = (
        "import numpy as np\n"
        "from nd.dataset import AsyncDataSetIterator, DataSet, ListDataSetIterator\n"
        "it = AsyncDataSetIterator(ListDataSetIterator(DataSet(np.zeros((50, 2))), 1), 1)\n"
        "it.next()\n"
        "print('done')\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")
