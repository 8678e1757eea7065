"""One training step can be followed: few files, and hardly a call from a lower package into a higher one."""

import pathlib
import sys

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Nesterovs

ROOT = pathlib.Path(nd.__file__).parent.parent
FLOORS = ("backends", "nd", "optimize", "nn")
MOST_FILES = 30
MOST_PAIRS = 5


def calls_of(run):
    """Return the files that a call goes through, and the pairs (caller, called) of files that call one another."""
    files, pairs = set(), set()

    def of(frame):
        path = pathlib.Path(frame.f_code.co_filename)
        inside = path.is_absolute() and path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FLOORS
        return path.relative_to(ROOT).as_posix() if inside else None

    def hear(frame, event, argument):
        if event != "call" or (here := of(frame)) is None:
            return
        files.add(here)
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
    return files, pairs


def floor(path):
    return FLOORS.index(path.split("/")[0])


@pytest.fixture
def step():
    conf = NeuralNetConfiguration(seed=1, updater=Nesterovs(0.1, momentum=0.9)).list(
        DenseLayer(n_in=6, n_out=5, activation="tanh"), OutputLayer(n_out=3, activation="softmax")
    )
    with nd.use_backend("numpy"):
        net = MultiLayerNetwork(conf).init()
    rng = np.random.default_rng(0)
    data = DataSet(rng.normal(size=(8, 6)).astype(np.float32), np.eye(3, dtype=np.float32)[rng.integers(0, 3, 8)])
    return lambda: net.fit_batch(data)


def test_a_step_that_is_not_recorded_goes_through_few_files(step):
    with nd.eager():
        step()  # what is made once is made
        files, _ = calls_of(step)
    assert len(files) <= MOST_FILES, sorted(files)


def test_a_replayed_step_goes_through_fewer(step):
    step()
    files, _ = calls_of(step)
    assert len(files) < MOST_FILES, sorted(files)


def test_lower_packages_hardly_call_higher_ones(step):
    with nd.eager():
        step()
        _, pairs = calls_of(step)
    upward = sorted(pair for pair in pairs if floor(pair[0]) < floor(pair[1]))
    assert len(upward) <= MOST_PAIRS, upward


def test_a_call_upward_is_found():
    _, pairs = calls_of(lambda: nd.backend().run_tasks([lambda: nd.zeros(2)]))
    assert [pair for pair in pairs if floor(pair[0]) < floor(pair[1])]
