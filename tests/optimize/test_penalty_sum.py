"""All penalties on a flat vector at once, on every backend, against sums of each."""

import numpy as np
import pytest

import nd
from optimize import L1Regularization, L2Regularization, Sgd, StepSchedule
from optimize.chunks import Segment
from optimize.regularization import MergedPenaltySum, penalty_sum
from tests.step_plans import replanned

L1, L2 = L1Regularization(0.3), L2Regularization(0.5)
SEGMENTS = [
    Segment(0, 3, Sgd(0.1)),
    Segment(3, 7, Sgd(0.1), (L2,)),
    Segment(7, 8, Sgd(0.1), (L1, L2)),
    Segment(8, 12, Sgd(0.1), (L2Regularization(0.5),)),
]


merging = pytest.mark.parametrize("merges", [False, True])


def summed(segments, params, backend, merges, monkeypatch):
    """Return the sum of the penalties of segments, made for a backend that merges them or does not."""
    monkeypatch.setattr(backend, "plan_update", replanned(backend, most_merged=2 * merges))
    placed = [(params[each.start : each.stop], penalty) for each in segments for penalty in each.regularization]
    found = penalty_sum(segments, placed, params)
    assert isinstance(found, MergedPenaltySum) == merges
    return found


@merging
def test_each_penalty_counts_where_it_holds(backend, dtype, merges, monkeypatch):
    w = np.random.default_rng(1).normal(size=12)
    params = nd.create(w, dtype=dtype)
    found = nd.item(summed(SEGMENTS, params, backend, merges, monkeypatch).at(0, 0))
    assert found == pytest.approx(0.3 * abs(w[7]) + 0.25 * (w[3:] ** 2).sum(), rel=1e-6)


@merging
def test_coefficients_follow_their_schedules(backend, merges, monkeypatch):
    schedule = StepSchedule("iteration", 0.4, 0.5, 10)
    segments = [Segment(0, 2, Sgd(0.1), (L2Regularization(schedule),))]
    penalties = summed(segments, nd.create([1.0, 2.0]), backend, merges, monkeypatch)
    assert nd.item(penalties.at(0, 0)) == pytest.approx(0.5 * 0.4 * 5.0)
    assert nd.item(penalties.at(10, 0)) == pytest.approx(0.5 * 0.2 * 5.0)


@merging
def test_without_penalties_it_is_nothing(backend, merges, monkeypatch):
    assert summed(SEGMENTS[:1], nd.zeros(3), backend, merges, monkeypatch).at(0, 0) == 0.0
