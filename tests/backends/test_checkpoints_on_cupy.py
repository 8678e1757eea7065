"""Checkpoints and listeners where the device computes while the host goes on: they wait only when they have to."""

import numpy as np
import pytest

import nd
from backends.cuda.cupy_backend import CupyBackend
from nd.dataset import ListDataSetIterator
from nn import MultiLayerNetwork
from optimize import (
    CheckpointListener,
    EvaluativeListener,
    NanListener,
    Nesterovs,
    StatisticsListener,
    TimeIterationListener,
)
from tests.backends.test_guard_on_cupy import GOOD, Waits, assert_same_state, conf, spoilt


@pytest.fixture(params=["eager", "captured"])
def device(request, cupy, monkeypatch):
    """The current backend, which makes graphs of steps, or not."""
    monkeypatch.setenv("ND_CUDA_GRAPH", str(int(request.param == "captured")))
    with nd.use_backend(CupyBackend()) as device:
        yield device


def batches():
    return ListDataSetIterator(GOOD)


def network():
    return MultiLayerNetwork(conf(Nesterovs(learning_rate=0.05), drop_out=0.7)).init()


@pytest.mark.parametrize("number", [0, 3, 8, 9, 13])
def test_training_goes_on_to_the_bit(device, number, tmp_path):
    whole = network()
    whole.set_listeners(CheckpointListener(tmp_path, save_every_n_iterations=1))
    whole.fit(batches(), epochs=2)
    again = MultiLayerNetwork.load_checkpoint(tmp_path, number)
    assert again.iteration_count == number + 1
    again.fit(batches(), epochs=2)
    assert_same_state(again, whole)


@pytest.mark.parametrize("good", [0, 1, 5])
def test_no_checkpoint_of_a_step_that_was_not_taken(device, good, tmp_path):
    """The device is asked before a file is written."""
    net = network()
    net.set_listeners(CheckpointListener(tmp_path, save_every_n_iterations=2))
    with pytest.raises(nd.NumericError, match=rf"got nan at iteration {good}\."):
        net.fit(ListDataSetIterator([*GOOD[:good], spoilt(), *GOOD[good:]]))
    twin = network()
    for each in GOOD[:good]:
        twin.fit_batch(each)
    assert_same_state(net, twin)
    found = [each.iteration for each in CheckpointListener.available_checkpoints(tmp_path)]
    assert found == list(range(2, good + 1, 2))


def test_steps_are_counted_rightly_after_a_checkpoint(device, tmp_path):
    net = network()
    net.set_listeners(CheckpointListener(tmp_path, save_every_n_iterations=2))
    with pytest.raises(nd.NumericError, match=r"got nan at iteration 4\."):
        net.fit(ListDataSetIterator([*GOOD[:4], spoilt()]))
    assert net.iteration_count == 4


def test_the_minibatch_where_it_began_is_named(device):
    net = network()
    net.set_listeners(NanListener(frequency=1))
    with pytest.raises(nd.NumericError, match=r"minibatch: features must be finite, got 1 NaN .* at iteration 2"):
        net.fit(ListDataSetIterator([*GOOD[:2], spoilt(), *GOOD[2:]]))


def test_later_the_minibatch_is_gone(device):
    net = network()
    net.set_listeners(NanListener())
    with pytest.raises(nd.NumericError, match=r"NanListener: .* at iteration 2.*only finite.*frequency=1"):
        net.fit(ListDataSetIterator([*GOOD[:2], spoilt(), *GOOD[2:]]))


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: CheckpointListener(folder, save_every_n_iterations=100, save_every_minutes=100),
        lambda folder: EvaluativeListener(GOOD, 100, "iteration_end"),
        lambda folder: NanListener(),
        lambda folder: TimeIterationListener(100, frequency=2),
        lambda folder: StatisticsListener(100),
    ],
    ids=["checkpoint", "evaluative", "nan", "time", "statistics"],
)
def test_a_step_waits_for_nothing(make, device, monkeypatch, tmp_path):
    net = network()
    net.set_listeners(make(tmp_path))
    net.fit_batch(GOOD[0])  # at which the statistics look
    waits = Waits(device, monkeypatch)
    for each in GOOD[1:]:
        net.fit_batch(each)
    assert waits.asked == []


def test_statistics_are_those_of_the_host(device, tmp_path):
    def records():
        net, listener = MultiLayerNetwork(conf()).init(), StatisticsListener(2)
        net.set_listeners(listener)
        net.fit(batches())
        return listener.records

    found = records()
    with nd.use_backend("numpy"):
        expected = records()
    assert len(found) == len(expected) == 5
    for theirs, ours in zip(found, expected, strict=True):
        for kind in ("parameters", "gradients", "updates", "activations"):
            for key, statistics in getattr(ours, kind).items():
                norm = getattr(theirs, kind)[key].norm
                np.testing.assert_allclose(norm, statistics.norm, rtol=1e-3, err_msg=f"{kind} {key}")
