"""Values that change with the iteration or the epoch: learning rates, momentum, regularisation, dropout."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from nd import ConfigurationError
from nd.arguments import Checked, Count, Natural, NonNegative, Positive, checked, shown
from nd.checks import check_choice
from nd.java_enums import JavaEnum

from .builder import Builder, builder_of


class ScheduleType(JavaEnum):
    """Counters that schedules follow."""

    ITERATION = "iteration"
    EPOCH = "epoch"


class Schedule(Checked):
    """A value for every iteration (0-based, one per minibatch) or epoch (0-based)."""

    in_java: ClassVar[bool] = True
    """Whether ND4J has it; else Java's files have the initial value, and an entry of our own the schedule."""

    @classmethod
    def Builder(cls, *arguments: Any) -> Builder:
        """Start ND4J's fluent style: ``MapSchedule.Builder("iteration").add(0, 0.1).build()``."""
        return builder_of(cls, *arguments)

    def value_at(self, iteration: int, epoch: int) -> float:
        """Return the value in force."""
        raise NotImplementedError(f"{type(self).__name__}: value_at(iteration, epoch) must be defined. Write it.")


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
        super().__post_init__()
        name = check_choice(type(self).__name__, "schedule type", str(self.schedule_type).lower(), list(ScheduleType))
        object.__setattr__(self, "schedule_type", ScheduleType(name))

    def count(self, iteration: int, epoch: int) -> int:
        """Return the counter that this schedule follows."""
        return iteration if self.schedule_type is ScheduleType.ITERATION else epoch


def _add_verb(builder: Builder, position: int, value: float) -> Builder:
    builder.given["values"] = {**builder.given.get("values", {}), position: value}
    return builder


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

    values: Mapping[Natural, float] = field(default_factory=dict)
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = {"add": _add_verb}

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "values", dict(sorted(self.values.items())))
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
    step: Positive

    def value_at(self, iteration: int, epoch: int) -> float:
        return self.initial_value * self.decay_rate ** (self.count(iteration, epoch) // self.step)


@dataclass(frozen=True)
class ExponentialSchedule(_CountingSchedule):
    """initial_value * gamma ^ i.

    Parameters
    ----------
    schedule_type : {"iteration", "epoch"}
    initial_value, gamma : float

    Notes
    -----
    Source: ND4J ``ExponentialSchedule``.
    """

    initial_value: float
    gamma: float

    def value_at(self, iteration: int, epoch: int) -> float:
        return self.initial_value * self.gamma ** self.count(iteration, epoch)


@dataclass(frozen=True)
class InverseSchedule(_CountingSchedule):
    """initial_value / (1 + gamma * i) ^ power.

    Parameters
    ----------
    schedule_type : {"iteration", "epoch"}
    initial_value : float
    gamma : float
        >= 0.
    power : float

    Notes
    -----
    Source: ND4J ``InverseSchedule``.
    """

    initial_value: float
    gamma: NonNegative
    power: float

    def value_at(self, iteration: int, epoch: int) -> float:
        return self.initial_value / (1.0 + self.gamma * self.count(iteration, epoch)) ** self.power


@dataclass(frozen=True)
class PolySchedule(_CountingSchedule):
    """initial_value * (1 - i / max_iter) ^ power, and 0 from max_iter on.

    Parameters
    ----------
    schedule_type : {"iteration", "epoch"}
    initial_value, power : float
    max_iter : int
        Iterations or epochs.

    Notes
    -----
    Source: ND4J ``PolySchedule``; Caffe's policy "poly". Differs: ND4J has 1 + i / max_iter, which grows until it drops
    to 0.
    """

    initial_value: float
    power: float
    max_iter: Count

    def value_at(self, iteration: int, epoch: int) -> float:
        count = self.count(iteration, epoch)
        return self.initial_value * (1.0 - count / self.max_iter) ** self.power if count < self.max_iter else 0.0


@dataclass(frozen=True)
class SigmoidSchedule(_CountingSchedule):
    """initial_value / (1 + exp(-gamma * (i - step_size))).

    Parameters
    ----------
    schedule_type : {"iteration", "epoch"}
    initial_value : float
    gamma : float
        Steepness; negative for a value that falls.
    step_size : int
        Iterations or epochs after which it is half of initial_value.

    Notes
    -----
    Source: ND4J ``SigmoidSchedule``.
    """

    initial_value: float
    gamma: float
    step_size: int

    def value_at(self, iteration: int, epoch: int) -> float:
        x = self.gamma * (self.count(iteration, epoch) - self.step_size)
        return self.initial_value * (1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x)))


@dataclass(frozen=True)
class CycleSchedule(_CountingSchedule):
    """Up from the initial rate to the largest and down again, on straight lines; then it decays; and again.

    With p = i mod cycle_length, s = floor((cycle_length - annealing_length) / 2): initial + (max - initial) p / s up to
    p = s, then max - (max - initial) (p - s) / s up to p = 2 s, then
    initial * annealing_decay ^ (annealing_length - (cycle_length - p)).

    Parameters
    ----------
    schedule_type : {"iteration", "epoch"}
    initial_learning_rate, max_learning_rate : float
    cycle_length, annealing_length : int
        Iterations or epochs.
    annealing_decay : float
        Factor per iteration or epoch.

    Raises
    ------
    ConfigurationError
        annealing_length is negative, or leaves less than two steps of the cycle.

    Notes
    -----
    Source: ND4J ``CycleSchedule``; Smith and Topin 2018. Differs: where cycle_length - annealing_length is odd, the
    step too many has the initial rate; ND4J decays by a power of -1 there, which is ten times as much by default.
    """

    initial_learning_rate: float
    max_learning_rate: float
    cycle_length: Count
    annealing_length: Natural
    annealing_decay: float

    def __post_init__(self) -> None:
        super().__post_init__()
        most = self.cycle_length - 2
        if self.annealing_length > most:
            raise ConfigurationError(
                f"CycleSchedule: annealing_length must be in 0..cycle_length - 2 = {most}, got "
                f"{self.annealing_length}. Leave two steps of the cycle for the way up and down."
            )

    @classmethod
    @checked
    def of(cls, schedule_type: ScheduleType | str, max_learning_rate: float, cycle_length: Count) -> CycleSchedule:
        """Return Java's short form: from a tenth of the largest rate, the last tenth of the cycle decays by 0.1.

        Examples
        --------
        >>> schedule = CycleSchedule.of("iteration", max_learning_rate=1.0, cycle_length=10)
        >>> [round(schedule.value_at(i, 0), 3) for i in range(11)]
        [0.1, 0.325, 0.55, 0.775, 1.0, 0.775, 0.55, 0.325, 0.1, 0.1, 0.1]
        """
        annealing = math.floor(0.1 * cycle_length + 0.5)
        return cls(schedule_type, 0.1 * max_learning_rate, max_learning_rate, cycle_length, annealing, 0.1)

    @property
    def step_size(self) -> int:
        """Steps of the way up, and of the way down."""
        return (self.cycle_length - self.annealing_length) // 2

    @property
    def increment(self) -> float:
        """Change of the rate in one of these steps, up or down."""
        return (self.max_learning_rate - self.initial_learning_rate) / self.step_size

    def value_at(self, iteration: int, epoch: int) -> float:
        position, steps = self.count(iteration, epoch) % self.cycle_length, self.step_size
        if position < steps:
            return self.initial_learning_rate + self.increment * position
        if position < 2 * steps:
            return self.max_learning_rate - self.increment * (position - steps)
        decays = self.annealing_length - (self.cycle_length - position)
        return self.initial_learning_rate * self.annealing_decay ** max(decays, 0)


@dataclass(frozen=True)
class CosineSchedule(_CountingSchedule):
    """final + (initial - final) * (1 + cos(pi * i / max_iter)) / 2, and final_value from max_iter on.

    Parameters
    ----------
    schedule_type : {"iteration", "epoch"}
    initial_value : float
    max_iter : int
        Iterations or epochs.
    final_value : float

    Notes
    -----
    With a linear warm-up: ``RampSchedule(CosineSchedule("iteration", 0.1, 1000), 100)``. Source: Loshchilov and Hutter
    2017, one cycle; PyTorch's ``CosineAnnealingLR``. Not in ND4J: see `Schedule.in_java`.
    """

    initial_value: float
    max_iter: Count
    final_value: float = 0.0
    in_java: ClassVar[bool] = False

    def value_at(self, iteration: int, epoch: int) -> float:
        part = min(self.count(iteration, epoch) / self.max_iter, 1.0)
        return self.final_value + (self.initial_value - self.final_value) * 0.5 * (1.0 + math.cos(math.pi * part))


@dataclass(frozen=True)
class RampSchedule(Schedule):
    """Linear warm-up: base_schedule * (iteration + 1) / num_iter until iteration num_iter - 1, then base_schedule.

    Parameters
    ----------
    base_schedule : Schedule or float
    num_iter : int
        Iterations, also where base_schedule counts epochs.

    Notes
    -----
    Source: ND4J ``RampSchedule``. Differs: Java cannot read one from a file, not even its own: see `Schedule.in_java`.
    """

    base_schedule: Schedule | float
    num_iter: Count
    in_java: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "base_schedule", as_schedule("RampSchedule.base_schedule", self.base_schedule))

    def value_at(self, iteration: int, epoch: int) -> float:
        base: Schedule = self.base_schedule  # type: ignore[assignment]
        return base.value_at(iteration, epoch) * min(1.0, (iteration + 1) / self.num_iter)


SCHEDULES: dict[str, type[Schedule]] = {
    "cosine": CosineSchedule,
    "cycle": CycleSchedule,
    "exponential": ExponentialSchedule,
    "fixed": FixedSchedule,
    "inverse": InverseSchedule,
    "map": MapSchedule,
    "poly": PolySchedule,
    "ramp": RampSchedule,
    "sigmoid": SigmoidSchedule,
    "step": StepSchedule,
}
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
    try:
        return FixedSchedule(value)
    except ConfigurationError as error:
        raise ConfigurationError(f"{who}: expected a finite number or a schedule, got {shown(value)}.") from error
