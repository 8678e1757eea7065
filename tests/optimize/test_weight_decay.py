"""Weight decay: after the updater, with the updater's learning rate or without."""

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
    WeightDecay,
)
from optimize.regularization import penalty_sum
from optimize.step import negative_gradient_step
from tests.stand_ins import TOLERANCE
from tests.step_plans import replanned
from tests.updates import run_update

PARAMS = np.array([[1.0, -2.0, 3.0, -4.0, 5.0, -6.0]])
GRADIENT = np.array([[8.0, 4.0, 0.0, -4.0, -8.0, 16.0]])


def updated(segments, dtype="float64", **counts):
    """Return the parameters, the update and the state after one step."""
    params, gradient = nd.create(PARAMS, dtype), nd.create(GRADIENT, dtype)
    updater = NetworkUpdater(segments, params, gradient)
    run_update(updater, 2, counts.get("iteration", 0), counts.get("epoch", 0), negative_gradient_step)
    return [np.array(nd.to_host(each))[0] for each in (params, gradient, updater.state)]


@pytest.mark.parametrize(("apply_lr", "rate"), [(True, 0.5 * 0.1), (False, 0.5)])
def test_it_is_added_to_the_update_and_does_not_reach_the_state(backend, dtype, apply_lr, rate):
    """v = -0.1 g / 2, update = 0.15 g / 2 + rate * w."""
    params, update, state = updated([Segment(0, 6, Nesterovs(0.1, 0.5), (WeightDecay(0.5, apply_lr),))], dtype)
    np.testing.assert_allclose(state, -0.05 * GRADIENT[0], **TOLERANCE[dtype])
    np.testing.assert_allclose(update, 0.075 * GRADIENT[0] + rate * PARAMS[0], **TOLERANCE[dtype])
    np.testing.assert_allclose(params, PARAMS[0] - update, **TOLERANCE[dtype])


@pytest.mark.parametrize("merges", [False, True])
def test_every_block_has_its_own_rate_though_the_penalty_is_the_same(backend, dtype, merges, monkeypatch):
    """Also beside other penalties, in the order of the list: L1 and L2 before the updater, the decay after it."""
    monkeypatch.setattr(backend, "plan_update", replanned(backend, most_merged=2 * merges))
    decay = WeightDecay(0.5)
    segments = [
        Segment(0, 2, Sgd(0.25), (L1Regularization(1.0), decay)), Segment(2, 3, Sgd(0.25), (L2Regularization(2.0),)),
        Segment(3, 4, Sgd(0.125), (decay,)), Segment(4, 5, NoOp(), (decay,)), Segment(5, 6, NoOp()),
    ]  # fmt: skip
    by_hand = [
        0.25 * (4 + 1) + 0.5 * 0.25, 0.25 * (2 - 1) - 2 * 0.5 * 0.25, 0.25 * 6, 0.125 * -2 - 4 * 0.5 * 0.125,
        -4 + 5 * 0.5, 8,
    ]  # fmt: skip
    np.testing.assert_allclose(updated(segments, dtype)[1], by_hand, **TOLERANCE[dtype])


@pytest.mark.parametrize(
    ("iteration", "epoch", "rate", "coefficient"), [(0, 0, 1.0, 2.0), (1, 0, 0.5, 2.0), (1, 1, 0.5, 4.0)]
)
def test_both_follow_their_schedules(iteration, epoch, rate, coefficient):
    sgd, decay = Sgd(MapSchedule("iteration", {0: 1.0, 1: 0.5})), WeightDecay(MapSchedule("epoch", {0: 2.0, 1: 4.0}))
    update = updated([Segment(0, 6, sgd, (decay,))], iteration=iteration, epoch=epoch)[1]
    np.testing.assert_allclose(update, rate * (GRADIENT[0] / 2 + coefficient * PARAMS[0]), **TOLERANCE["float64"])


def test_a_record_of_the_update_reads_the_rate_anew():
    """The second and third step run what the first one recorded."""
    sgd, decay = Sgd(MapSchedule("iteration", {0: 1.0, 1: 0.5, 2: 0.25})), WeightDecay(0.5)
    params, gradient = nd.create(PARAMS, "float64"), nd.zeros(1, 6, dtype="float64")
    updater = NetworkUpdater([Segment(0, 6, sgd, (decay,))], params, gradient)
    for iteration in range(3):
        nd.fill(gradient, 0.0)
        run_update(updater, 2, iteration, 0, negative_gradient_step)
    np.testing.assert_allclose(nd.to_host(params), PARAMS * 0.5 * 0.75 * 0.875, **TOLERANCE["float64"])


def test_adams_step_is_not_scaled_by_it_where_that_of_l2_is():
    """Adam's first step is its rate whatever the gradient: L2 turns into nothing, the decay does not."""
    adam = Adam(0.1, epsilon=0.0)
    plain, l2, decayed = (
        updated([Segment(0, 2, adam, penalties), Segment(2, 6, NoOp())])[1][:2]
        for penalties in ((), (L2Regularization(0.5),), (WeightDecay(0.5),))
    )
    np.testing.assert_allclose(l2, plain, rtol=1e-12)
    np.testing.assert_allclose(decayed, plain + 0.1 * 0.5 * PARAMS[0, :2], rtol=1e-12)


@pytest.mark.parametrize("merges", [False, True])
def test_the_score_does_not_know_the_rate(backend, dtype, merges, monkeypatch):
    monkeypatch.setattr(backend, "plan_update", replanned(backend, most_merged=2 * merges))
    segments = [Segment(0, 3, Sgd(0.1), (WeightDecay(0.5),)), Segment(3, 6, Sgd(0.1), (WeightDecay(0.5, False),))]
    params = nd.create(PARAMS[0], dtype)
    penalties = [(params[each.start : each.stop], each.regularization[0]) for each in segments]
    assert nd.item(penalty_sum(segments, penalties, params).at(0, 0)) == pytest.approx(0.5 * 0.5 * 91.0, rel=1e-6)
