"""Looking changes nothing: twenty steps with traces between them leave what twenty steps leave."""

import functools

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn.trace import stepping
from tests.cases.layers import make_features, make_labels
from tests.nn.layers.test_contracts import N
from tests.nn.layers.test_every_layer import ROWS, make_network
from tests.nn.trace.networks import EVERY

STEPS = 20


@pytest.fixture(autouse=True)
def timed_once(monkeypatch):
    monkeypatch.setattr(stepping, "TIMED", (1, 1))


def left_by(net, batches, looks):
    """Return what training leaves, with a trace before every step whose number `looks` has; every other is recorded."""
    for number in range(STEPS):
        data = batches[number % len(batches)]
        if number in looks:
            trace = traced(net, data, looks.index(number) % 2 == 1)
        net.fit_batch(data)
        if number in looks:
            assert trace.about["score"] == repr(float(net.score()))
    vectors = [nd.to_host(nd.copy(vector)) for vector in (net.params(), net.updater_state(), net.flattened_gradients())]
    return vectors, net.score(), net.random.get_state(), net.iteration_count


def traced(net, data, recorded):
    """Return a trace, of a recording where the step has one: a layer that decides by values has none."""
    try:
        return net.trace(data, recorded=recorded)
    except nd.ConfigurationError as error:
        if "a step that is recorded as a list of calls, got none" not in str(error):
            raise
        return net.trace(data)


def assert_looking_changes_nothing(make, batches, looks):
    quiet, looked_at = left_by(make(), batches, ()), left_by(make(), batches, looks)
    for one, other in zip(quiet[0], looked_at[0], strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_equal(looked_at[1:], quiet[1:])


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.quick_rows(1)
def test_networks_of_both_kinds(name):
    make, data = EVERY[name]
    assert_looking_changes_nothing(make, [data(seed=seed) for seed in range(3)], range(STEPS))


@pytest.mark.slow
@pytest.mark.parametrize("case", ROWS)
def test_every_layer(case):
    make = functools.partial(make_network, case, "float32", updater="adam")
    shape = make().output(make_features(case, 0, N)).shape
    batches = [DataSet(make_features(case, seed, N), make_labels(case, shape[1:], seed, shape[0])) for seed in (0, 1)]
    assert make().trace(batches[0]).compare(make().trace(batches[0])) is None
    assert_looking_changes_nothing(make, batches, (0, 1, 9, 18))
