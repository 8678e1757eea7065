"""What early stopping is told, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from nd import ConfigurationError

from ..builder import Builder
from .api import EarlyStoppingModelSaver, EpochTerminationCondition, IterationTerminationCondition, ScoreCalculator
from .savers import InMemoryModelSaver


@dataclass(frozen=True, kw_only=True)
class EarlyStoppingConfiguration:
    """When training ends, and how the best model is found.

    Parameters
    ----------
    score_calculator : ScoreCalculator
        Says after an epoch how good the model is.
    epoch_termination_conditions : EpochTerminationCondition or sequence of them
    iteration_termination_conditions : IterationTerminationCondition or sequence of them
    evaluate_every_n_epochs : int
        Calculate a score, keep models and look at the epoch conditions after the epochs 0, n, 2 n, ... only.
    model_saver : EarlyStoppingModelSaver
        Keeps the best model; by default in memory.
    save_last_model : bool
        Also keep the model after every epoch with a score, and when an iteration condition ends training.

    Raises
    ------
    ConfigurationError
        There is no score calculator, no condition, or something that is none; `evaluate_every_n_epochs` is less
        than 1.

    Notes
    -----
    Source: DL4J ``EarlyStoppingConfiguration``.
    """

    score_calculator: ScoreCalculator | None = None
    epoch_termination_conditions: Iterable[EpochTerminationCondition] = ()
    iteration_termination_conditions: Iterable[IterationTerminationCondition] = ()
    evaluate_every_n_epochs: int = 1
    model_saver: EarlyStoppingModelSaver = field(default_factory=InMemoryModelSaver)
    save_last_model: bool = False

    def __post_init__(self) -> None:
        who = "EarlyStoppingConfiguration"
        self._settle("epoch_termination_conditions", EpochTerminationCondition)
        self._settle("iteration_termination_conditions", IterationTerminationCondition)
        if not hasattr(self.score_calculator, "calculate_score"):
            raise ConfigurationError(
                f"{who}: score_calculator must be a ScoreCalculator, got {self.score_calculator!r}. "
                "Pass DataSetLossCalculator(iterator), say."
            )
        if not self.epoch_termination_conditions and not self.iteration_termination_conditions:
            raise ConfigurationError(
                f"{who}: at least one termination condition must be given, got none. Training would never end."
            )
        if self.evaluate_every_n_epochs < 1:
            raise ConfigurationError(
                f"{who}: evaluate_every_n_epochs must be >= 1, got {self.evaluate_every_n_epochs}."
            )

    def _settle(self, name: str, kind: type) -> None:
        given = getattr(self, name)
        conditions = (given,) if isinstance(given, kind) else tuple(given)
        for condition in conditions:
            if not isinstance(condition, kind):
                raise ConfigurationError(
                    f"EarlyStoppingConfiguration: {name} must be instances of {kind.__name__}, got {condition!r}."
                )
        object.__setattr__(self, name, conditions)

    @classmethod
    def Builder(cls) -> Builder:
        """Start DL4J's fluent style."""
        return Builder(cls)


class TerminationReason(StrEnum):
    """Why training ended. Source: DL4J ``EarlyStoppingResult.TerminationReason``."""

    ERROR = "error"
    ITERATION_TERMINATION = "iteration_termination"
    EPOCH_TERMINATION = "epoch_termination"


@dataclass(frozen=True, kw_only=True)
class EarlyStoppingResult:
    """What came of training with early stopping.

    Parameters
    ----------
    termination_reason : TerminationReason
    termination_details : str
        The condition that ended training, or the error.
    score_vs_epoch : dict of int -> float
        The scores that were calculated; epochs count from 0.
    best_model_epoch : int
        -1 if training ended before there was a score.
    best_model_score : float
        NaN in that case.
    total_epochs : int
        Whole epochs.
    best_model : network
        The copy that was kept after the best epoch, None if there is none.
    error : Exception, optional
        What was raised, where that ended training.

    Notes
    -----
    Source: DL4J ``EarlyStoppingResult``.
    """

    termination_reason: TerminationReason
    termination_details: str
    score_vs_epoch: dict[int, float]
    best_model_epoch: int
    best_model_score: float
    total_epochs: int
    best_model: Any
    error: Exception | None = None
