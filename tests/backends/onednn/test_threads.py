"""OpenMP has one thread in oneDNN's calls and what it had before behind them; forked children go on."""

import os
import subprocess
import sys

import numpy as np
import pytest

from backends.cpu.blas_threads import BlasThreads
from backends.cpu.numpy_backend import NumpyBackend
from backends.generic.window import Window
from tests.backends.onednn.draws import Buffers, numbers
from tests.backends.onednn.networks import data, network
from tests.sweeps import share

PATIENCE = 120  # seconds, after which something hangs
FORKS = """
import os, signal, sys
from backends.cpu.numpy_backend import NumpyBackend
from tests.backends.onednn.networks import data, network, output_of
import numpy as np
backend, name = NumpyBackend(int(sys.argv[2])), sys.argv[3]
net, given = network(name, backend), data(name, 16)
for _ in range(2):
    net.fit(given)
expected = output_of(net, given)
for number in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that hangs
        same = np.array_equal(output_of(net, given), expected)
        net.fit(given)
        again = network(name, NumpyBackend(2)) if number % 10 == 0 else net
        again.fit(given)
        os._exit(0 if same and np.isfinite(output_of(again, given)).all() else 1)
    status = os.waitpid(child, 0)[1]
    assert status == 0, (number, status)
net.fit(given)
print("done")
"""


def threads_of_this_process():
    return len(os.listdir("/proc/self/task"))


@pytest.fixture
def openmp(onednn):
    if not onednn.openmp or not os.path.isdir("/proc/self/task"):
        pytest.skip("this libdnnl has no OpenMP, or this system no /proc")
    return onednn


def test_the_number_of_threads_is_restored(openmp):
    before = openmp.omp_threads()
    try:
        for count in (1, 2, 3):
            openmp.set_omp_threads(count)
            inside = openmp.single_threaded(openmp.omp_threads)
            assert (inside, openmp.omp_threads()) == (1, count)
            with pytest.raises(ValueError, match="in a call"):
                openmp.single_threaded(lambda: failing("in a call"))
            assert openmp.omp_threads() == count
    finally:
        openmp.set_omp_threads(before)


@pytest.mark.parametrize("moment", ["before", "behind"])
def test_ctrl_c_while_the_number_is_set(moment, openmp, monkeypatch):
    before, given = openmp.omp_threads(), openmp.set_omp_threads

    def interrupted(count):
        monkeypatch.setattr(openmp, "set_omp_threads", given)
        if moment == "behind":
            given(count)
        raise KeyboardInterrupt

    try:
        given(2)
        monkeypatch.setattr(openmp, "set_omp_threads", interrupted)
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            openmp.single_threaded(list)
        assert openmp.omp_threads() == 2
    finally:
        given(before)


def failing(text):
    raise ValueError(text)


@pytest.mark.parametrize("name", ["normalised", "series", "vgg"])
def test_training_starts_no_thread_of_openmp_and_leaves_the_settings(name, openmp):
    before, blas = openmp.omp_threads(), BlasThreads().count()
    net = network(name, NumpyBackend(1))
    try:
        openmp.set_omp_threads(2)
        threads = threads_of_this_process()
        for seed in (1, 2, 3):
            net.fit(data(name, 8, seed))
        assert threads_of_this_process() == threads
        assert openmp.omp_threads() == 2
    finally:
        openmp.set_omp_threads(before)
    assert BlasThreads().count() == blas


def test_every_call_has_one_thread(openmp, monkeypatch):
    """Also those of a recording that is replayed, and products."""
    seen, execute, sgemm = [], openmp.execute, openmp.sgemm
    before = openmp.omp_threads()

    def noting(function):
        def call(*arguments):
            seen.append(openmp.omp_threads())
            return function(*arguments)

        return call

    monkeypatch.setattr(openmp, "execute", noting(execute))
    monkeypatch.setattr(openmp, "sgemm", noting(sgemm))
    try:
        openmp.set_omp_threads(2)
        net = network("normalised", NumpyBackend(1))
        net.fit(data("normalised", 8, 1))
        counts = [len(seen)]
        for seed in (2, 3):
            net.fit(data("normalised", 8, seed))
            counts.append(len(seen))
    finally:
        openmp.set_omp_threads(before)
    assert set(seen) == {1}
    assert counts[0] < counts[1] < counts[2]


def test_primitives_are_made_with_one_thread(openmp, monkeypatch):
    """Some choose their kernel for the number of threads."""
    from backends.onednn import primitive

    seen, make, before = [], primitive.Primitive._make, openmp.omp_threads()
    monkeypatch.setattr(primitive.Primitive, "_make", lambda kernel: seen.append(openmp.omp_threads()) or make(kernel))
    try:
        openmp.set_omp_threads(2)
        x, W = numbers(np.random.default_rng(1), (2, 16, 9, 11)), numbers(np.random.default_rng(2), (16, 16, 2, 4))
        NumpyBackend(1).conv2d(x, W, None, Window((9, 11), (2, 4)), Buffers())
    finally:
        openmp.set_omp_threads(before)
    assert set(seen) == {1}


def forked(count, threads, name):
    """Train, and let so many children predict and train, one after the other."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS, str(count), str(threads), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_forked_children_train():
    forked(3, 2, "normalised")


@pytest.mark.slow
@pytest.mark.parametrize(("threads", "name"), [(1, "series"), (2, "normalised"), (2, "series"), (2, "vgg")])
def test_250_forked_children_train(threads, name):
    """1,000 in all."""
    forked(share(250), threads, name)
