"""Numbers that follow the iteration or the epoch, as operators on scalars of float64: as exact as Python's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from optimize.schedules import Schedule

from ..out.node_draft import NotInOnnx
from .tensors import Tensor

Formula = Callable[["Counters", Any], "Tensor | float"]


class Counters:
    """The counters of a training, scalars of float64.

    Parameters
    ----------
    iteration : Tensor
    epoch : callable
        Makes the epoch an input of the graph, and returns it: only schedules that count epochs need it.
    """

    def __init__(self, iteration: Tensor, epoch: Callable[[], Tensor]) -> None:
        self.iteration, self._epoch = iteration, epoch

    def of(self, schedule: Any) -> Tensor:
        """Return the counter that a schedule follows."""
        return self.iteration if str(schedule.schedule_type) == "iteration" else self._epoch()

    def value(self, number: float | Schedule) -> Tensor | float:
        """Return a number that may be a schedule: a number, or a scalar of float64."""
        return SCHEDULES[type(number).__name__](self, number) if isinstance(number, Schedule) else float(number)


def check_schedules(part: object) -> None:
    """Raise NotInOnnx where a number of an updater, a penalty or a schedule follows one that is not the library's."""
    for number in vars(part).values():
        if not isinstance(number, Schedule):
            continue
        kind = type(number)
        if kind.__name__ not in SCHEDULES or kind.__module__.partition(".")[0] != "optimize":
            raise NotInOnnx(f"the schedule {kind.__name__} has no form as operators here")
        check_schedules(number)


def _picked(condition: Tensor, yes: Tensor | float, no: Tensor | float) -> Tensor:
    """Return one or the other by a condition, a scalar of bool."""
    numbers = [Tensor(condition.draft, condition.name, "float64").like(value) for value in (yes, no)]
    return condition.op("Where", *numbers, dtype="float64")


def _map(counters: Counters, schedule: Any) -> Tensor | float:
    count = counters.of(schedule)
    value: Tensor | float = schedule.values[0]
    for key, number in schedule.values.items():
        if key:
            value = _picked(count.op("Less", float(key), dtype="bool"), value, number)
    return value


def _step(counters: Counters, schedule: Any) -> Tensor:
    steps = (counters.of(schedule) / schedule.step).op("Floor")
    return schedule.initial_value * schedule.decay_rate**steps


def _inverse(counters: Counters, schedule: Any) -> Tensor:
    return schedule.initial_value / (1.0 + schedule.gamma * counters.of(schedule)) ** schedule.power


def _poly(counters: Counters, schedule: Any) -> Tensor:
    left = (1.0 - counters.of(schedule) / float(schedule.max_iter)).op("Max", 0.0)
    value = schedule.initial_value * left**schedule.power
    return _picked(counters.of(schedule).op("Less", float(schedule.max_iter), dtype="bool"), value, 0.0)


def _sigmoid(counters: Counters, schedule: Any) -> Tensor:
    x = -schedule.gamma * (counters.of(schedule) - float(schedule.step_size))
    return schedule.initial_value / (1.0 + x.exp())


def _cosine(counters: Counters, schedule: Any) -> Tensor:
    part = (counters.of(schedule) / float(schedule.max_iter)).op("Min", 1.0)
    cosine = (math.pi * part).op("Cos")
    return schedule.final_value + (schedule.initial_value - schedule.final_value) * 0.5 * (1.0 + cosine)


def _cycle(counters: Counters, schedule: Any) -> Tensor:
    count, length, steps = counters.of(schedule), float(schedule.cycle_length), schedule.step_size
    position = count - (count / length).op("Floor") * length
    up = schedule.initial_learning_rate + schedule.increment * position
    down = schedule.max_learning_rate - schedule.increment * (position - float(steps))
    decays = (schedule.annealing_length - (length - position)).op("Max", 0.0)
    decayed = schedule.initial_learning_rate * schedule.annealing_decay**decays
    on_top = position.op("Less", float(steps), dtype="bool")
    return _picked(on_top, up, _picked(position.op("Less", 2.0 * steps, dtype="bool"), down, decayed))


def _ramp(counters: Counters, schedule: Any) -> Tensor:
    share = ((counters.iteration + 1.0) / float(schedule.num_iter)).op("Min", 1.0)
    return share * counters.value(schedule.base_schedule)


SCHEDULES: Mapping[str, Formula] = {
    "CosineSchedule": _cosine,
    "CycleSchedule": _cycle,
    "ExponentialSchedule": lambda counters, it: it.initial_value * it.gamma ** counters.of(it),
    "FixedSchedule": lambda counters, it: it.value,
    "InverseSchedule": _inverse,
    "MapSchedule": _map,
    "PolySchedule": _poly,
    "RampSchedule": _ramp,
    "SigmoidSchedule": _sigmoid,
    "StepSchedule": _step,
}
"""Class -> its formula, sorted."""
