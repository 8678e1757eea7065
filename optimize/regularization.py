"""L1, L2 and weight decay: penalties on parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import nd

from .schedules import Schedule, as_schedule

if TYPE_CHECKING:
    from .updaters import Updater

Array = Any


@dataclass(frozen=True)
class Regularization:
    """A penalty that is added to the score, and its gradient to the gradient, or to the update.

    Parameters
    ----------
    coefficient : float or Schedule
        >= 0.
    """

    coefficient: float | Schedule
    post_updater: ClassVar[bool] = False
    """Whether it is added to what the updater has made of the gradient."""

    def __post_init__(self) -> None:
        as_schedule(type(self).__name__, self.coefficient)
        if not isinstance(self.coefficient, Schedule) and self.coefficient < 0:
            raise nd.ConfigurationError(f"{type(self).__name__}: expected a penalty >= 0, got {self.coefficient}.")

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

    def apply(self, params: Array, gradient: Array, scratch: Array, coefficient: float) -> None:
        nd.addi(gradient, nd.muli(nd.sign(params, scratch), coefficient))

    def score(self, params: Array, coefficient: float) -> Array:
        return coefficient * nd.sum(nd.absolute(params))


class L2Regularization(Regularization):
    """0.5 * l2 * sum w^2; gradient l2 * w. Source: ND4J ``L2Regularization``."""

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

    apply_lr: bool = True
    post_updater: ClassVar[bool] = True

    def coefficient_for(self, updater: Updater, iteration: int, epoch: int) -> float:
        return self.at(iteration, epoch) * (updater.learning_rate_at(iteration, epoch) if self.apply_lr else 1.0)


REGULARIZATIONS: dict[str, type[Regularization]] = {
    "l1": L1Regularization,
    "l2": L2Regularization,
    "weight_decay": WeightDecay,
}
"""Name -> class, sorted; the order in which a layer's penalties are applied."""
