"""Values that change with the iteration or the epoch: learning rates, momentum, regularisation, dropout."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nd import ConfigurationError
from nd.checks import check_choice


class ScheduleType(StrEnum):
    """What a schedule counts."""

    ITERATION = "iteration"
    EPOCH = "epoch"


class Schedule:
    """A value for every iteration (0-based, one minibatch each) or epoch (0-based)."""

    def value_at(self, iteration: int, epoch: int) -> float:
        """Return the value in force."""
        raise NotImplementedError


@dataclass(frozen=True)
class FixedSchedule(Schedule):
    """The same value always."""

    value: float

    def value_at(self, iteration: int, epoch: int) -> float:
        return self.value


@dataclass(frozen=True)
class _CountingSchedule(Schedule):
    schedule_type: ScheduleType | str

    def __post_init__(self) -> None:
        name = check_choice(type(self).__name__, "schedule type", str(self.schedule_type).lower(), list(ScheduleType))
        object.__setattr__(self, "schedule_type", ScheduleType(name))

    def count(self, iteration: int, epoch: int) -> int:
        """Return the counter that this schedule follows."""
        return iteration if self.schedule_type is ScheduleType.ITERATION else epoch


@dataclass(frozen=True)
class MapSchedule(_CountingSchedule):
    """The value of the largest key that has been reached.

    Parameters
    ----------
    schedule_type : {"iteration", "epoch"}
    values : mapping of int to float
        Must have key 0.

    Raises
    ------
    ConfigurationError
        Key 0 is missing.

    Examples
    --------
    >>> MapSchedule("iteration", {0: 0.05, 4: 0.04}).value_at(iteration=5, epoch=0)
    0.04

    Notes
    -----
    Source: ND4J ``MapSchedule``.
    """

    values: Mapping[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(int(key) != float(key) for key in self.values):
            raise ConfigurationError(f"MapSchedule: keys must be whole numbers, got {list(self.values)}.")
        object.__setattr__(self, "values", {int(key): float(value) for key, value in sorted(self.values.items())})
        if 0 not in self.values:
            raise ConfigurationError(
                f"MapSchedule: the map must contain key 0, got keys {list(self.values)}. Add the value to start with."
            )

    def __hash__(self) -> int:
        return hash((self.schedule_type, tuple(self.values.items())))

    def value_at(self, iteration: int, epoch: int) -> float:
        count = self.count(iteration, epoch)
        return self.values[max(key for key in self.values if key <= count)]


@dataclass(frozen=True)
class StepSchedule(_CountingSchedule):
    """initial_value * decay_rate ^ floor(i / step).

    Parameters
    ----------
    schedule_type : {"iteration", "epoch"}
    initial_value : float
    decay_rate : float
        Factor applied once per `step`.
    step : float
        Iterations or epochs.

    Notes
    -----
    Source: ND4J ``StepSchedule``.
    """

    initial_value: float
    decay_rate: float
    step: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.step > 0:
            raise ConfigurationError(f"StepSchedule: step must be > 0, got {self.step}.")

    def value_at(self, iteration: int, epoch: int) -> float:
        return self.initial_value * self.decay_rate ** (self.count(iteration, epoch) // self.step)


SCHEDULES = {"fixed": FixedSchedule, "map": MapSchedule, "step": StepSchedule}
"""Name -> class, sorted."""


def as_schedule(who: str, value: float | Schedule) -> Schedule:
    """Return `value` as a schedule; a number becomes a FixedSchedule.

    Raises
    ------
    ConfigurationError
        It is neither.
    """
    if isinstance(value, Schedule):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise ConfigurationError(f"{who}: expected a finite number, got {value}.")
        return FixedSchedule(float(value))
    raise ConfigurationError(f"{who}: expected a number or a schedule, got {value!r}.")
