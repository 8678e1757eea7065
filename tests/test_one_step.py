"""One training step can be followed: few files, few frames, hardly a call from a lower package into a higher one."""

import pathlib
import sys

import numpy as np
import pytest

import nd
from backends.cpu.blas_threads import BlasThreads
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Nesterovs

ROOT = pathlib.Path(nd.__file__).parent.parent
FLOORS = ("backends", "nd", "optimize", "nn")
MOST_FILES = 27  # of a step: one is the network's engine, so that the network itself has only what its users need
MOST_FILES_OF_FIT, MOST_FRAMES_OF_FIT = 30, 23  # with the loop around it
MOST_PAIRS = 5


def calls_of(run):
    """Return the files that a call goes through, the pairs (caller, called) of files, and the most frames at a time."""
    files, pairs, depths = set(), set(), [0]

    def of(frame):
        path = pathlib.Path(frame.f_code.co_filename)
        inside = path.is_absolute() and path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FLOORS
        return path.relative_to(ROOT).as_posix() if inside else None

    def depth_of(frame):
        depth = 0
        while frame is not None:
            depth, frame = depth + (of(frame) is not None), frame.f_back
        return depth

    def hear(frame, event, argument):
        if event != "call" or (here := of(frame)) is None:
            return
        files.add(here)
        depths.append(depth_of(frame))
        caller = frame.f_back
        while caller is not None and of(caller) is None:  # through Python's own
            caller = caller.f_back
        if caller is not None:
            pairs.add((of(caller), here))

    sys.setprofile(hear)
    try:
        run()
    finally:
        sys.setprofile(None)
    return files, pairs, max(depths)


def floor(path):
    return FLOORS.index(path.split("/")[0])


@pytest.fixture
def net():
    conf = NeuralNetConfiguration(seed=1, updater=Nesterovs(0.1, momentum=0.9)).list(
        DenseLayer(n_in=6, n_out=5, activation="tanh"), OutputLayer(n_out=3, activation="softmax")
    )
    with nd.use_backend(NumpyBackend(threads=BlasThreads().count())):  # as many as the BLAS has, as elsewhere
        return MultiLayerNetwork(conf).init()


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return DataSet(rng.normal(size=(8, 6)).astype(np.float32), np.eye(3, dtype=np.float32)[rng.integers(0, 3, 8)])


@pytest.fixture
def step(net, data):
    return lambda: net.fit_batch(data)


def test_fit_goes_through_few_files_and_is_not_deep(net, data):
    with nd.eager():
        net.fit(data)  # what is made once is made
        files, _, depth = calls_of(lambda: net.fit(data))
    assert len(files) <= MOST_FILES_OF_FIT, sorted(files)
    assert depth <= MOST_FRAMES_OF_FIT


def test_a_step_that_is_not_recorded_goes_through_few_files(step):
    with nd.eager():
        step()  # what is made once is made
        files, *_ = calls_of(step)
    assert len(files) <= MOST_FILES, sorted(files)


def test_a_replayed_step_goes_through_fewer(step):
    step()
    files, *_ = calls_of(step)
    assert len(files) < MOST_FILES, sorted(files)


def test_lower_packages_hardly_call_higher_ones(step):
    with nd.eager():
        step()
        _, pairs, _ = calls_of(step)
    upward = sorted(pair for pair in pairs if floor(pair[0]) < floor(pair[1]))
    assert len(upward) <= MOST_PAIRS, upward


def test_a_call_upward_is_found():
    _, pairs, _ = calls_of(lambda: nd.backend().run_tasks([lambda: nd.zeros(2)]))
    assert [pair for pair in pairs if floor(pair[0]) < floor(pair[1])]
