"""Configuration of early stopping, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from nd import ConfigurationError
from nd.arguments import Checked, Count
from nd.classes import ExplainedType
from nd.java_enums import JavaEnum

from ..builder import Builder
from .api import (
    EarlyStoppingModelSaver,
    EpochTerminationCondition,
    IterationTerminationCondition,
    ScoreCalculator,
    StoppingCondition,
)
from .savers import InMemoryModelSaver


@dataclass(frozen=True, kw_only=True)
class EarlyStoppingConfiguration(Checked):
    """Conditions that end training, and the score that chooses the best model.

    Parameters
    ----------
    score_calculator : ScoreCalculator
        Scores the model after an epoch.
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
    epoch_termination_conditions: Sequence[EpochTerminationCondition] = ()
    iteration_termination_conditions: Sequence[IterationTerminationCondition] = ()
    evaluate_every_n_epochs: Count = 1
    model_saver: EarlyStoppingModelSaver = field(default_factory=InMemoryModelSaver)
    save_last_model: bool = False

    def __post_init__(self) -> None:
        who = "EarlyStoppingConfiguration"
        for name in ("epoch_termination_conditions", "iteration_termination_conditions"):
            if isinstance(getattr(self, name), StoppingCondition):
                object.__setattr__(self, name, (getattr(self, name),))
        super().__post_init__()
        if self.score_calculator is None:
            raise ConfigurationError(
                f"{who}: score_calculator must be a ScoreCalculator, got None. Say DataSetLossCalculator(iterator)."
            )
        if not self.epoch_termination_conditions and not self.iteration_termination_conditions:
            raise ConfigurationError(
                f"{who}: at least one termination condition must be given, got none. Training would never end."
            )

    @classmethod
    def Builder(cls) -> Builder:
        """Start DL4J's fluent style."""
        return Builder(cls)


class TerminationReason(JavaEnum):
    """Why training ended. Source: DL4J ``EarlyStoppingResult.TerminationReason``."""

    ERROR = "error"
    ITERATION_TERMINATION = "iteration_termination"
    EPOCH_TERMINATION = "epoch_termination"
    ITERATION_TERMINATION_CONDITION = "iteration_termination"
    EPOCH_TERMINATION_CONDITION = "epoch_termination"


@dataclass(frozen=True, kw_only=True)
class EarlyStoppingResult(metaclass=ExplainedType):
    """Result of training with early stopping.

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
        The exception, where one ended training.
    history : History, optional
        Scores and learning rates of the complete epochs, as of a network's `fit`.

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
    history: object = None
    TerminationReason: ClassVar[type[TerminationReason]] = TerminationReason
