"""Threads that decode ahead: their end, forks, Ctrl-C, copies."""

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

from nd.dataset import AsyncDataSetIterator, ImageFolderIterator

pytest.importorskip("PIL")

from nd.dataset.images.iterator import PictureIterator
from tests.nd.dataset.images.pictures import pets

OTHERS = set()
"""Threads of iterators that other tests have not let go."""


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "ImageFolderIterator" and thread not in OTHERS]


def wait_until(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.001)


@pytest.fixture(autouse=True)
def no_thread_left():
    OTHERS.update(threads())
    yield
    if threads():
        gc.collect()
    wait_until(lambda: not threads())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("pets")
    pets(path, 20, 20)
    return path


def bytes_of(iterator, epochs=1):
    return [data_set.features.tobytes() for _ in range(epochs) for data_set in iterator]


def test_threads_begin_when_they_are_needed_and_end_with_the_iterator(folder):
    iterator = ImageFolderIterator(folder, 4, 3, workers=3)
    assert threads() == []
    iterator.next()
    assert len(threads()) == 3
    assert all(thread.daemon for thread in threads())
    iterator.close()
    assert threads() == []
    assert sum(data_set.num_examples() for data_set in iterator) == 36  # nothing is lost
    del iterator
    wait_until(lambda: not threads())
    with ImageFolderIterator(folder, 4, 3) as iterator:
        iterator.next()
    assert threads() == []
    assert isinstance(iterator, PictureIterator)


def test_threads_end_with_an_iterator_in_a_circle(folder):
    iterator = ImageFolderIterator(folder, 4, 3)
    iterator.set_pre_processor(lambda data_set, owner=iterator: data_set)
    iterator.next()
    del iterator
    gc.collect()
    wait_until(lambda: not threads())


def test_copies_stand_where_the_iterator_does(folder):
    iterator = ImageFolderIterator(folder, 4, 3, seed=3)
    iterator.next()
    copies = [pickle.loads(pickle.dumps(iterator)), copy.deepcopy(iterator)]
    expected = bytes_of(iterator, 2)
    for other in copies:
        assert type(other) is ImageFolderIterator
        assert bytes_of(other, 2) == expected
        assert other.class_names == ("cat", "dog")


def test_it_may_be_read_ahead_by_another_thread(folder):
    expected = bytes_of(ImageFolderIterator(folder, 7, 3, seed=3), 3)
    with AsyncDataSetIterator(ImageFolderIterator(folder, 7, 3, seed=3)) as iterator:
        assert bytes_of(iterator, 2) == expected[:12]
        state = iterator.state()
    other = ImageFolderIterator(folder, 7, 3, seed=9)
    other.restore(state)
    assert bytes_of(other) == expected[12:]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_goes_on_with_threads_of_its_own(folder):
    iterator = ImageFolderIterator(folder, 4, 3, seed=3)
    iterator.next()
    for _ in range(2):
        child = os.fork()
        if not child:
            os._exit(0 if len(bytes_of(iterator)) == 9 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(bytes_of(iterator)) == 9


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.slow
def test_forks_do_not_wait_for_one_another_where_a_thread_reads_ahead(folder):
    expected = bytes_of(ImageFolderIterator(folder, 4, 60, seed=3))
    for taken in range(4):
        with AsyncDataSetIterator(ImageFolderIterator(folder, 4, 60, seed=3)) as iterator:
            for _ in range(taken):
                iterator.next()
            began = time.monotonic()
            child = os.fork()
            if not child:
                os._exit(0 if bytes_of(iterator) == expected[taken:] else 1)
            assert time.monotonic() - began < 5  # seconds: half of what a fork waits at most
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert bytes_of(iterator) == expected[taken:]


def test_a_close_that_ctrl_c_cuts_short_ends_the_threads(folder, monkeypatch):
    iterator = ImageFolderIterator(folder, 4, 3)
    iterator.next()
    began = threads()

    def interrupted(thread, timeout=None):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "join", interrupted)
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            iterator.close()
    assert sum(data_set.num_examples() for data_set in iterator) == 36
    wait_until(lambda: not any(thread.is_alive() for thread in began))


INTERRUPTED = """
import signal, sys
from nd.dataset import ImageFolderIterator

def interrupt(number, frame):
    signal.raise_signal(signal.SIGINT)

def make():
    return ImageFolderIterator(sys.argv[1], 3, 3, seed=3)

whole = make()
expected = [data_set.features.tobytes() for _ in range(2) for data_set in whole]
signal.signal(signal.SIGALRM, interrupt)
iterator, cut_short = make(), 0
start = iterator.state()
for step in range(1, 80):
    iterator.restore(start)
    try:
        signal.setitimer(signal.ITIMER_REAL, step * 2e-4)
        for _ in range(2):
            for data_set in iterator:
                pass
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        cut_short += 1
    state = iterator.state()
    rest = [data_set.features.tobytes() for data_set in iterator]
    other = make()
    other.restore(state)
    assert rest == [data_set.features.tobytes() for data_set in other], step
    signal.setitimer(signal.ITIMER_REAL, 0)
    if step % 20 == 0:
        iterator.close()
iterator.restore(start)
assert [data_set.features.tobytes() for _ in range(2) for data_set in iterator] == expected
assert cut_short > 10, cut_short
print("done")
"""


@pytest.mark.slow
def test_ctrl_c_at_any_moment_leaves_it_usable(folder):
    """In the main thread, as signals do: what is read afterwards is what the state says."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(folder)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


ENDS = """
import sys, signal, os, threading
from nd.dataset import ImageFolderIterator
iterator = ImageFolderIterator(sys.argv[1], 4, 200)
iterator.next()
if sys.argv[2] == "signal":
    os.kill(os.getpid(), signal.SIGINT)
    iterator.next()
"""


@pytest.mark.parametrize("how", ["end", "signal"])
@pytest.mark.quick_rows(1)
def test_a_program_may_end_at_any_time(how, folder):
    done = subprocess.run(
        [sys.executable, "-c", ENDS, str(folder), how], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == {"end": 0, "signal": -signal.SIGINT}[how], done.stderr
    assert "Exception ignored" not in done.stderr
