"""Conditions on sequences of scores, by hand."""

import time

import pytest

import nd
from optimize.earlystopping import (
    BestScoreEpochTerminationCondition,
    InvalidScoreIterationTerminationCondition,
    MaxEpochsTerminationCondition,
    MaxScoreIterationTerminationCondition,
    MaxTimeIterationTerminationCondition,
    ScoreImprovementEpochTerminationCondition,
)
from tests.cells import every_row

NAN, INF = float("nan"), float("inf")


def stops_at(condition, scores, minimize=True):
    """Return the first epoch at which the condition says so."""
    condition.initialize()
    return next((e for e, score in enumerate(scores) if condition.terminate(e, score, minimize)), None)


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_max_epochs(limit):
    assert stops_at(MaxEpochsTerminationCondition(limit), [1.0] * 9) == limit - 1


@every_row(
    ("patience", "by", "scores", "minimize", "expected"),
    [
        (1, 0.0, [3, 2, 1, 1], True, 3),  # equal is no improvement
        (1, 0.0, [3, 2, 2.5], True, 2),
        (2, 0.0, [3, 2, 2.5, 1, 1.5, 1.5], True, 5),  # the best is epoch 3
        (2, 0.0, [3, 3, 3], True, 2),
        (3, 0.0, [3, 2, 4, 4], True, None),
        (1, 0.5, [3, 2.5], True, 1),  # must exceed
        (1, 0.5, [3, 2.49, 2.0], True, 2),
        (2, 0.5, [3, 2.6, 2.2, 2.0], True, None),  # 2.2 is compared with 3, not with 2.6
        (2, 0.5, [3, 2.6, 2.5], True, 2),
        (1, 0.0, [0.1, 0.2, 0.2], False, 2),
        (1, 0.0, [0.1, 0.2, 0.3], False, None),
        (1, 0.0, [NAN, 2, 1], True, None),
        (1, 0.0, [2, NAN], True, 1),
        (2, 0.0, [INF, 2, INF, INF], True, 3),
    ],
)
def test_score_improvement(patience, by, scores, minimize, expected):
    assert stops_at(ScoreImprovementEpochTerminationCondition(patience, by), scores, minimize) == expected


def test_score_improvement_forgets_what_was_before():
    condition = ScoreImprovementEpochTerminationCondition(1)
    assert stops_at(condition, [2.0, 1.0, 1.0]) == 2
    assert stops_at(condition, [5.0, 4.0, 4.0]) == 2


def test_best_score():
    assert stops_at(BestScoreEpochTerminationCondition(0.5), [0.7, 0.5, 0.4]) == 2
    assert stops_at(BestScoreEpochTerminationCondition(0.5), [0.3, 0.5, 0.6], minimize=False) == 2
    assert stops_at(BestScoreEpochTerminationCondition(0.5), [NAN, NAN]) is None


def test_max_score():
    condition = MaxScoreIterationTerminationCondition(10.0)
    assert [condition.terminate(score) for score in (9.0, 10.0, 10.1, INF, NAN)] == [False, False, True, True, True]


def test_invalid_score():
    condition = InvalidScoreIterationTerminationCondition()
    assert [condition.terminate(score) for score in (1e30, INF, -INF, NAN)] == [False, True, True, True]


@pytest.mark.parametrize(
    ("unit", "seconds"),
    [("milliseconds", 2e-3), ("seconds", 2.0), ("MINUTES", 120.0), ("hours", 7200.0), ("days", 172800.0)],
)
def test_max_time(unit, seconds, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    condition = MaxTimeIterationTerminationCondition(2, unit)
    now[0] += 1e6
    condition.initialize()
    assert not condition.terminate(1.0)
    now[0] += 0.999 * seconds
    assert not condition.terminate(NAN)
    now[0] += 0.0011 * seconds
    assert condition.terminate(1.0)


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        (MaxEpochsTerminationCondition(5), "MaxEpochsTerminationCondition(5)"),
        (
            ScoreImprovementEpochTerminationCondition(2, 0.5),
            "ScoreImprovementEpochTerminationCondition(maxEpochsWithNoImprovement=2, minImprovement=0.5)",
        ),
        (BestScoreEpochTerminationCondition(0.1), "BestScoreEpochTerminationCondition(0.1)"),
        (MaxScoreIterationTerminationCondition(2.5), "MaxScoreIterationTerminationCondition(2.5)"),
        (MaxTimeIterationTerminationCondition(3, "hours"), "MaxTimeIterationTerminationCondition(3, HOURS)"),
        (InvalidScoreIterationTerminationCondition(), "InvalidScoreIterationTerminationCondition()"),
    ],
)
def test_conditions_are_shown_with_their_limits(condition, shown):
    assert str(condition) == repr(condition) == shown


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MaxEpochsTerminationCondition(0), r"max_epochs must be an integer >= 1, got 0\."),
        (lambda: ScoreImprovementEpochTerminationCondition(0), r"no_improvement must be an integer >= 1, got 0\."),
        (
            lambda: ScoreImprovementEpochTerminationCondition(1, -0.5),
            r"min_improvement must be a number >= 0, got -0\.5\.",
        ),
        (
            lambda: ScoreImprovementEpochTerminationCondition(1, NAN),
            r"min_improvement must be a number >= 0, got nan\.",
        ),
        (lambda: MaxTimeIterationTerminationCondition(0), r"max_time must be a number > 0, got 0\."),
    ],
)
def test_limits_that_make_no_sense_are_refused(make, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        make()


def test_an_unknown_unit_names_the_nearest():
    with pytest.raises(nd.ChoiceError, match=r"unknown unit of time 'second'.*Did you mean 'seconds'"):
        MaxTimeIterationTerminationCondition(1, "second")
