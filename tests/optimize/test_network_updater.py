"""The order of one pass over the flat vectors; what each updater does is in test_every_updater.py."""

from itertools import pairwise

import numpy as np
import pytest

import nd
from optimize import (
    Adam,
    L1Regularization,
    L2Regularization,
    MapSchedule,
    Nesterovs,
    NetworkUpdater,
    NoOp,
    Segment,
    Sgd,
)
from optimize.step import negative_gradient_step
from tests.stand_ins import TOLERANCE
from tests.step_plans import replanned
from tests.updates import run_update

PARAMS = [[1.0, -2.0, 3.0, -4.0, 5.0, -6.0]]
GRADIENT = [[8.0, 4.0, 0.0, -4.0, -8.0, 16.0]]


class Recorder:
    """A step function that remembers what it was given."""

    def __init__(self):
        self.params, self.directions, self.rates = [], [], []

    def __call__(self, params, direction, rate):
        self.params.append(np.array(nd.to_host(params)))
        self.directions.append(np.array(nd.to_host(direction)))
        self.rates.append(rate)


def vectors(dtype="float64"):
    return nd.create(PARAMS, dtype), nd.create(GRADIENT, dtype)


def updated(segments, *, batch_size=None, iteration=0, epoch=0, dtype="float64"):
    """Return parameters and gradient vector after one update."""
    params, gradient = vectors(dtype)
    run_update(NetworkUpdater(segments, params, gradient), batch_size, iteration, epoch, negative_gradient_step)
    return nd.to_host(params)[0], nd.to_host(gradient)[0]


def test_the_gradient_is_divided_by_the_batch_size(backend, dtype):
    params, update = updated([Segment(0, 6, Sgd(0.5))], batch_size=4, dtype=dtype)
    np.testing.assert_allclose(update, [1.0, 0.5, 0.0, -0.5, -1.0, 2.0], **TOLERANCE[dtype])
    np.testing.assert_allclose(params, [0.0, -2.5, 3.0, -3.5, 6.0, -8.0], **TOLERANCE[dtype])


def test_without_a_batch_size_it_is_not():
    _, update = updated([Segment(0, 6, Sgd(0.5))], batch_size=None)
    np.testing.assert_array_equal(update, [4.0, 2.0, 0.0, -2.0, -4.0, 8.0])


def test_the_division_comes_before_the_penalty(backend, dtype):
    _, update = updated([Segment(0, 6, Sgd(1.0), (L2Regularization(0.5),))], batch_size=4, dtype=dtype)
    np.testing.assert_allclose(update, [2.5, 0.0, 1.5, -3.0, 0.5, 1.0], **TOLERANCE[dtype])


def test_the_penalty_comes_before_the_updater(backend, dtype):
    """Momentum keeps the penalised gradient, and the rate applies to the penalty: v = -0.1 (g / 4 + 0.5 w)."""
    params, gradient = vectors(dtype)
    segment = Segment(0, 6, Nesterovs(0.1, momentum=0.5), (L2Regularization(0.5),))
    updater = NetworkUpdater([segment], params, gradient)
    run_update(updater, 4, 0, 0, negative_gradient_step)
    penalised = np.array([2.5, 0.0, 1.5, -3.0, 0.5, 1.0])
    np.testing.assert_allclose(nd.to_host(updater.state)[0], -0.1 * penalised, **TOLERANCE[dtype])
    np.testing.assert_allclose(nd.to_host(gradient)[0], 0.15 * penalised, **TOLERANCE[dtype])
    np.testing.assert_allclose(nd.to_host(params)[0], PARAMS[0] - 0.15 * penalised, **TOLERANCE[dtype])


def test_penalties_add_up_and_see_the_parameters_before_the_step(backend, dtype):
    both = (L1Regularization(0.25), L2Regularization(0.5))
    _, update = updated([Segment(0, 6, NoOp(), both)], dtype=dtype)
    by_hand = [8.0 + 0.25 + 0.5, 4.0 - 0.25 - 1.0, 0.25 + 1.5, -4.0 - 0.25 - 2.0, -8.0 + 0.25 + 2.5, 16.0 - 0.25 - 3.0]
    np.testing.assert_allclose(update, by_hand, **TOLERANCE[dtype])


def test_every_segment_gets_its_own_updater_and_penalties(backend, dtype):
    segments = [
        Segment(0, 2, Sgd(0.5), (L2Regularization(1.0),)),
        Segment(2, 3, Sgd(0.5)),
        Segment(3, 5, NoOp(), (L1Regularization(1.0),)),
        Segment(5, 6, Sgd(0.125)),
    ]
    params, update = updated(segments, dtype=dtype)
    np.testing.assert_allclose(update, [4.5, 1.0, 0.0, -5.0, -7.0, 2.0], **TOLERANCE[dtype])
    np.testing.assert_allclose(params, PARAMS[0] - update, **TOLERANCE[dtype])


@pytest.mark.parametrize(
    ("iteration", "epoch", "rate", "penalty"), [(0, 0, 1.0, 2.0), (1, 0, 0.5, 2.0), (1, 1, 0.5, 4.0)]
)
def test_schedules_follow_their_counters(iteration, epoch, rate, penalty):
    sgd = Sgd(MapSchedule("iteration", {0: 1.0, 1: 0.5}))
    l2 = L2Regularization(MapSchedule("epoch", {0: 2.0, 1: 4.0}))
    _, update = updated([Segment(0, 6, sgd, (l2,))], iteration=iteration, epoch=epoch)
    np.testing.assert_allclose(update, rate * (GRADIENT[0] + penalty * np.array(PARAMS[0])), **TOLERANCE["float64"])


def test_the_step_function_sees_every_chunk_once_with_the_update_and_a_rate_of_1(backend, dtype, monkeypatch):
    monkeypatch.setattr(backend, "plan_update", replanned(backend, chunk=2, most_merged=0))
    params, gradient = vectors(dtype)
    segments = [Segment(0, 3, Sgd(0.5)), Segment(3, 5, Sgd(0.5), (L2Regularization(1.0),)), Segment(5, 6, NoOp())]
    record = Recorder()
    run_update(NetworkUpdater(segments, params, gradient), 2, 0, 0, record)
    chunks = [slice(start, end) for start, end in pairwise([0, 2, 3, 5, 6])]
    assert [chunk.tolist() for chunk in record.params] == [PARAMS[0][chunk] for chunk in chunks]
    expected = [2.0, 1.0, 0.0, -3.0, 0.5, 8.0]
    for direction, chunk in zip(record.directions, chunks, strict=True):
        np.testing.assert_allclose(direction, expected[chunk], **TOLERANCE[dtype])
    assert record.rates == [1.0] * 4
    np.testing.assert_array_equal(nd.to_host(params), PARAMS)  # only the step function moves them


def test_a_chunk_never_exceeds_what_the_backend_asks_for(monkeypatch):
    backend = nd.backend()
    monkeypatch.setattr(backend, "plan_update", replanned(backend, chunk=4))
    record = Recorder()
    run_update(NetworkUpdater([Segment(0, 6, NoOp())], *vectors()), None, 0, 0, record)
    assert [len(chunk) for chunk in record.params] == [4, 2]


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_chunks_are_the_same_for_any_number_of_workers(monkeypatch, workers):
    """Where one is cut decides on bits: a BLAS may round the last elements of a vector in another way."""
    backend, borders = nd.backend(), []
    shares = tuple((6 * n // workers, 6 * (n + 1) // workers) for n in range(workers))
    monkeypatch.setattr(backend, "plan_update", replanned(backend, chunk=2, shares=shares))
    params, gradient = vectors()

    def step(params, direction, rate):
        start = (params.__array_interface__["data"][0] - whole) // params.itemsize
        borders.append((start, start + len(params)))

    whole = params.__array_interface__["data"][0]
    segments = [Segment(0, 3, Sgd(0.5)), Segment(3, 5, Sgd(0.5), (L2Regularization(1.0),)), Segment(5, 6, NoOp())]
    with nd.eager():
        run_update(NetworkUpdater(segments, params, gradient), 2, 0, 0, step)
    assert sorted(borders) == [(0, 2), (2, 3), (3, 5), (5, 6)]


def test_the_state_is_zero_and_as_long_as_the_updaters_need():
    segments = [Segment(0, 2, Adam()), Segment(2, 3, NoOp()), Segment(3, 5, Nesterovs()), Segment(5, 6, Sgd())]
    updater = NetworkUpdater(segments, *vectors())
    assert updater.state.shape == (1, 2 * 2 + 0 + 2 + 0)
    np.testing.assert_array_equal(nd.to_host(updater.state), np.zeros((1, 6)))


def test_the_vectors_are_the_networks_own():
    params, gradient = vectors()
    updater = NetworkUpdater([Segment(0, 6, Sgd(1.0))], params, gradient)
    nd.fill(params, 1.0)
    nd.fill(gradient, 0.25)
    run_update(updater, None, 0, 0, negative_gradient_step)
    np.testing.assert_array_equal(nd.to_host(params), np.full((1, 6), 0.75))


def test_a_network_without_parameters():
    params, gradient = nd.zeros(1, 0), nd.zeros(1, 0)
    updater = NetworkUpdater([], params, gradient)
    run_update(updater, 8, 0, 0, negative_gradient_step)
    assert updater.state.shape == (1, 0)
