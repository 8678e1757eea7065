"""L1, L2 and weight decay: penalties on parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import nd
from nd.arguments import Checked, NonNegative
from nd.part import Part

from .schedules import FixedSchedule, Schedule

if TYPE_CHECKING:
    from .updaters import Updater

Array = Any


@dataclass(frozen=True)
class Regularization(Part, Checked):
    """A penalty that is added to the score, and its gradient to the gradient, or to the update.

    Parameters
    ----------
    coefficient : float or Schedule
        >= 0.
    """

    coefficient: NonNegative | Schedule
    post_updater: ClassVar[bool] = False
    """Whether it is added to what the updater has made of the gradient."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.coefficient, FixedSchedule):  # a number, as files say it
            object.__setattr__(self, "coefficient", self.coefficient.value)
            super().__post_init__()

    def at(self, iteration: int, epoch: int) -> float:
        """Return the coefficient in force."""
        value = self.coefficient
        return value.value_at(iteration, epoch) if isinstance(value, Schedule) else value

    def coefficient_for(self, updater: Updater, iteration: int, epoch: int) -> float:
        """Return what `apply` is given for parameters of that updater."""
        return self.at(iteration, epoch)

    def apply(self, params: Array, gradient: Array, scratch: Array, coefficient: float) -> None:
        """Add the penalty's gradient to `gradient`, the update if `post_updater`; all are ``[n]``."""
        raise NotImplementedError

    def score(self, params: Array, coefficient: float) -> Array:
        """Return the penalty on ``params [n]``, as a scalar array."""
        raise NotImplementedError


class L1Regularization(Regularization):
    """l1 * sum |w|; gradient l1 * sign(w), 0 at 0. Source: ND4J ``L1Regularization``."""

    pure = True

    def apply(self, params: Array, gradient: Array, scratch: Array, coefficient: float) -> None:
        nd.addi(gradient, nd.muli(nd.sign(params, scratch), coefficient))

    def score(self, params: Array, coefficient: float) -> Array:
        return coefficient * nd.sum(nd.absolute(params))


class L2Regularization(Regularization):
    """0.5 * l2 * sum w^2; gradient l2 * w. Source: ND4J ``L2Regularization``."""

    pure = True

    def apply(self, params: Array, gradient: Array, scratch: Array, coefficient: float) -> None:
        nd.axpby(coefficient, params, 1.0, gradient, scratch)

    def score(self, params: Array, coefficient: float) -> Array:
        return 0.5 * coefficient * nd.dot(params, params)


@dataclass(frozen=True)
class WeightDecay(L2Regularization):
    """0.5 * coefficient * sum w^2 in the score; coefficient * learning_rate * w is added to the update.

    Parameters
    ----------
    coefficient : float or Schedule
        >= 0.
    apply_lr : bool
        Multiply by the updater's learning rate now, 1 for an updater that has none; False: coefficient * w.

    Notes
    -----
    Unlike that of L2 its share does not go through the updater, which matters where that is not linear. The learning
    rate is not in the score. Source: ND4J ``WeightDecay``; Loshchilov and Hutter 2019.
    """

    pure = True
    apply_lr: bool = True
    post_updater: ClassVar[bool] = True

    def coefficient_for(self, updater: Updater, iteration: int, epoch: int) -> float:
        return self.at(iteration, epoch) * (updater.learning_rate_at(iteration, epoch) if self.apply_lr else 1.0)


@dataclass(frozen=True)
class _Times(Schedule):
    """A schedule's values, so many times as large."""

    schedule: Schedule
    times: int

    def value_at(self, iteration: int, epoch: int) -> float:
        return self.times * self.schedule.value_at(iteration, epoch)


def merged(penalties: Sequence[Regularization]) -> tuple[Regularization, ...]:
    """Return the penalties with equal ones as one, of which the coefficient is so many times as large."""
    different: list[Regularization] = []
    for penalty in penalties:
        if penalty not in different:
            different.append(penalty)
    return tuple(_times(penalty, list(penalties).count(penalty)) for penalty in different)


def _times(penalty: Regularization, times: int) -> Regularization:
    if times == 1:
        return penalty
    value = penalty.coefficient
    return replace(penalty, coefficient=_Times(value, times) if isinstance(value, Schedule) else times * value)


REGULARIZATIONS: dict[str, type[Regularization]] = {
    "l1": L1Regularization,
    "l2": L2Regularization,
    "weight_decay": WeightDecay,
}
"""Name -> class, sorted; the order in which a layer's penalties are applied."""
