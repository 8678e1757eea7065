"""Conditions that are looked at after an epoch."""

from __future__ import annotations

import math

from nd.arguments import Count, NonNegative, checked

from .api import EpochTerminationCondition


def improves(score: float, best: float, minimize: bool, by: float = 0.0) -> bool:
    """Tell whether a score is better than the best one by more than `by`; any number is better than NaN."""
    if math.isnan(best):
        return not math.isnan(score)
    return (best - score if minimize else score - best) > by


class MaxEpochsTerminationCondition(EpochTerminationCondition):
    """Ends training after `max_epochs` epochs.

    Parameters
    ----------
    max_epochs : int

    Raises
    ------
    ConfigurationError
        `max_epochs` is less than 1.

    Notes
    -----
    Source: DL4J ``MaxEpochsTerminationCondition``. As there, it is looked at only where a score is calculated: with
    ``evaluate_every_n_epochs=n`` training ends after the first epoch 0, n, 2 n, ... that is late enough.
    """

    @checked
    def __init__(self, max_epochs: Count) -> None:
        self.max_epochs = max_epochs

    def arguments(self) -> tuple[int]:
        return (self.max_epochs,)

    def terminate(self, epoch: int, score: float, minimize: bool) -> bool:
        return epoch + 1 >= self.max_epochs


class ScoreImprovementEpochTerminationCondition(EpochTerminationCondition):
    """Ends training when the score has not become better for some epochs.

    Parameters
    ----------
    max_epochs_with_no_improvement : int
        Training ends in that epoch after the best one.
    min_improvement : float
        An improvement counts only if it is larger.

    Raises
    ------
    ConfigurationError
        `max_epochs_with_no_improvement` is less than 1, or `min_improvement` negative.

    Notes
    -----
    Source: DL4J ``ScoreImprovementEpochTerminationCondition``. Differs: any number is better than a score of NaN;
    in Java nothing is.
    """

    @checked
    def __init__(self, max_epochs_with_no_improvement: Count, min_improvement: NonNegative = 0.0) -> None:
        self.max_epochs_with_no_improvement, self.min_improvement = max_epochs_with_no_improvement, min_improvement
        self.initialize()

    def initialize(self) -> None:
        self.best_epoch, self.best_score = -1, float("nan")

    def arguments(self) -> tuple[str, str]:
        return (
            f"maxEpochsWithNoImprovement={self.max_epochs_with_no_improvement}",
            f"minImprovement={self.min_improvement}",
        )

    def terminate(self, epoch: int, score: float, minimize: bool) -> bool:
        if self.best_epoch < 0 or improves(score, self.best_score, minimize, self.min_improvement):
            self.best_epoch, self.best_score = epoch, score
            return False
        return epoch >= self.best_epoch + self.max_epochs_with_no_improvement


class BestScoreEpochTerminationCondition(EpochTerminationCondition):
    """Ends training when the score is better than one that is good enough.

    Parameters
    ----------
    best_expected_score : float

    Notes
    -----
    Source: DL4J ``BestScoreEpochTerminationCondition``.
    """

    @checked
    def __init__(self, best_expected_score: float) -> None:
        self.best_expected_score = best_expected_score

    def arguments(self) -> tuple[float]:
        return (self.best_expected_score,)

    def terminate(self, epoch: int, score: float, minimize: bool) -> bool:
        return score < self.best_expected_score if minimize else score > self.best_expected_score
