"""Forks while other threads train, predict, read ahead and import: children compute, and none hangs."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

BEGIN = """
import os, random, signal, sys, threading, time
import numpy as np
import nd
from backends import forks
from nd.dataset import AsyncDataSetIterator, DataSet, ListDataSetIterator
from tests.nn.passes import IMAGES, images, read_ahead, vectors
COUNT = int(sys.argv[1])

def exits(task, seconds=30):
    '''Return what a child makes of a task: 0 if it is true.'''
    child = os.fork()
    if not child:
        signal.alarm(seconds)  # ends a child that hangs
        status = 3
        try:
            status = 0 if task() else 1
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""
TRAINED = (
    BEGIN
    + """
net = images(sys.argv[2])
done, after = False, {0: vectors(net)[:2]}  # steps -> what they lead to
def train():
    while not done:
        net.fit(read_ahead(), epochs=3)
        net.output(IMAGES.features)
after = {}
twin = images(sys.argv[2])

def right():
    '''The child has the network between two steps, and computes, saves and trains on with it.'''
    params, state, count = vectors(net)
    twin = net.clone()
    out = net.output(IMAGES.features)
    same = (twin.output(IMAGES.features) == out).all() and vectors(twin) == (params, state, count)
    net.fit_batch(IMAGES)
    net.fit(read_ahead())
    return same and np.isfinite(out).all() and net.iteration_count == count + 3

threads = [threading.Thread(target=train)]
threads[0].start()
rng = random.Random(3)
statuses = []
for _ in range(COUNT):
    time.sleep(rng.uniform(0, 0.01))
    statuses.append(exits(right))
done = True
for thread in threads:
    thread.join()
print(statuses == [0] * COUNT or statuses)
"""
)


def run(code, *arguments, seconds=280):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n" * code.count("print("), "")


@pytest.mark.slow
@pytest.mark.parametrize("library", ["oneDNN", "NumPy"])
def test_200_children_use_a_network_that_another_thread_trains(library):
    run(TRAINED, 200, library)


EXACT = (
    BEGIN
    + """
# what a network is after each step, from a run that nobody forked
net, steps = images("NumPy"), {}
for number in range(400):
    steps[net.iteration_count] = vectors(net)[:2]
    net.fit_batch(IMAGES)
net, statuses = images("NumPy"), []
def train():
    while net.iteration_count < 399:
        net.fit_batch(IMAGES)
thread = threading.Thread(target=train)
thread.start()
for _ in range(COUNT):
    statuses.append(exits(lambda: steps[net.iteration_count] == vectors(net)[:2]))
thread.join()
print(statuses == [0] * COUNT or statuses)
"""
)


@pytest.mark.slow
def test_the_child_has_the_network_after_a_whole_step():
    run(EXACT, 50)


READ = (
    BEGIN
    + """
class Slow(ListDataSetIterator):
    def next(self, num=None):
        time.sleep(0.001)
        return super().next(num)

def features(iterator):
    return [data.features.tobytes() for data in iterator]

whole = features(ListDataSetIterator(IMAGES, batch=1))
statuses = []
for number in range(COUNT):
    iterator = AsyncDataSetIterator(Slow(IMAGES, batch=1), queue_size=2)
    first = [iterator.next().features.tobytes() for _ in range(number % 3)]
    time.sleep(0.0005 * (number % 5))
    rest = lambda: first + [iterator.next().features.tobytes() for _ in range(6 - len(first))] == whole
    statuses += [exits(lambda: rest() and not iterator.has_next()), 0 if rest() else 7]
    iterator.close()
print(statuses == [0] * 2 * COUNT or statuses)
"""
)


@pytest.mark.slow
def test_parent_and_child_read_the_same_minibatches_on():
    run(READ, 60)


STUCK = (
    BEGIN
    + """
forks.PATIENCE = 0.2
gate, inside = threading.Event(), threading.Event()

class Stuck(ListDataSetIterator):
    def next(self, num=None):
        if self.state() != ListDataSetIterator(IMAGES, batch=3).state():
            inside.set()
            gate.wait(30)
        return super().next(num)

net = images("NumPy")
iterator = AsyncDataSetIterator(Stuck(IMAGES, batch=3))
iterator.next()
inside.wait(10)
taken = threading.Event()
def hold():
    with net.lock:
        taken.set()
        gate.wait(30)
thread = threading.Thread(target=hold)
thread.start()
taken.wait(10)

def refused(task, words):
    try:
        task()
    except (nd.ConfigurationError, nd.DataError) as error:
        return words in str(error)

methods = (net.clone, lambda: net.output(IMAGES.features), lambda: net.fit(IMAGES), lambda: net.fit_batch(IMAGES),
    lambda: net.score(IMAGES), lambda: net.save("/nowhere/x.zip"), lambda: net.predict(IMAGES.features))
statuses = [exits(lambda: all(refused(method, "half updated") for method in methods))]
statuses.append(exits(lambda: refused(iterator.next, "was being read")))
gate.set()
thread.join()
net.output(IMAGES.features)
print(statuses == [0, 0] or statuses)
"""
)


IN_A_LISTENER = (
    BEGIN
    + """
from optimize import Listener
statuses = []
class Forks(Listener):
    def iteration_done(self, model, iteration, epoch):
        statuses.append(exits(lambda: np.isfinite(model.output(IMAGES.features)).all()))
    def on_backward_pass(self, model):
        statuses.append(exits(lambda: np.isfinite(model.output(IMAGES.features)).all()))
net = images("oneDNN")
net.set_listeners(Forks())
net.fit(IMAGES, epochs=2)
print(statuses == [0] * 4 or statuses)
"""
)


@pytest.mark.slow
def test_children_of_a_process_that_trains_reads_ahead_and_is_stuck():
    """In one process, which takes a while to begin."""
    run("".join([BEGIN, *(code.removeprefix(BEGIN) for code in (TRAINED, IN_A_LISTENER, READ, STUCK))]), 3, "oneDNN")


POOL = (
    BEGIN
    + """
import multiprocessing
net = images("oneDNN")
net.fit(IMAGES)
expected = net.output(IMAGES.features)
def predict(rows):
    return net.output(IMAGES.features[rows:rows + 2])
with multiprocessing.get_context("fork").Pool(2) as pool:
    found = pool.map(predict, [0, 2, 4] * 4)
print(np.allclose(np.concatenate(found[:3]), expected, atol=1e-6))
"""
)


@pytest.mark.slow
def test_a_pool_of_processes_predicts():
    run(POOL, 0)


IMPORTS = (
    BEGIN
    + """
statuses = []
for name in ("nd.evaluation.roc", "nd.dataset.mnist", "nn.vertices.shapes", "nn.files.legacy", "nd.losses.margins"):
    thread = threading.Thread(target=__import__, args=(name,))
    thread.start()
    statuses.append(exits(lambda: __import__(name) is not None))
    thread.join()
print(set(statuses) == {0} or statuses)
"""
)


@pytest.mark.slow
def test_the_child_imports_what_another_thread_was_importing():
    run(IMPORTS, 0)
