"""Conditions that are looked at after every minibatch."""

from __future__ import annotations

import math
import time

from nd.arguments import Positive, checked
from nd.checks import check_choice

from .api import IterationTerminationCondition

SECONDS = {"days": 86400.0, "hours": 3600.0, "milliseconds": 1e-3, "minutes": 60.0, "seconds": 1.0}


class MaxTimeIterationTerminationCondition(IterationTerminationCondition):
    """Ends training when it has taken some time.

    Parameters
    ----------
    max_time : float
        From the start of `EarlyStoppingTrainer.fit`.
    max_time_unit : {"seconds", "milliseconds", "minutes", "hours", "days"}

    Raises
    ------
    ConfigurationError
        `max_time` is not positive.
    ChoiceError
        The unit is unknown.

    Notes
    -----
    Source: DL4J ``MaxTimeIterationTerminationCondition``.
    """

    needs_score = False

    @checked
    def __init__(self, max_time: Positive, max_time_unit: str = "seconds") -> None:
        who = "MaxTimeIterationTerminationCondition"
        self.max_time = max_time
        self.max_time_unit = check_choice(who, "unit of time", str(max_time_unit).lower(), SECONDS)
        self.initialize()

    def initialize(self) -> None:
        self._end = time.monotonic() + self.max_time * SECONDS[self.max_time_unit]

    def arguments(self) -> tuple[str, str]:
        return f"{self.max_time:g}", self.max_time_unit.upper()

    def terminate(self, last_score: float) -> bool:
        return time.monotonic() >= self._end


class MaxScoreIterationTerminationCondition(IterationTerminationCondition):
    """Ends training when a minibatch's score is larger than `max_score`, or NaN.

    Notes
    -----
    Source: DL4J ``MaxScoreIterationTerminationCondition``.
    """

    @checked
    def __init__(self, max_score: float) -> None:
        self.max_score = max_score

    def arguments(self) -> tuple[float]:
        return (self.max_score,)

    def terminate(self, last_score: float) -> bool:
        return last_score > self.max_score or math.isnan(last_score)


class InvalidScoreIterationTerminationCondition(IterationTerminationCondition):
    """Ends training when a minibatch's score is NaN or infinite.

    Notes
    -----
    A step whose score or gradient is not finite is not taken, see `NumericError`. Source: DL4J
    ``InvalidScoreIterationTerminationCondition``.
    """

    def __init__(self) -> None:
        super().__init__()

    def terminate(self, last_score: float) -> bool:
        return not math.isfinite(last_score)
