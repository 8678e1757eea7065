"""L1 and L2 penalties on parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import nd

from .schedules import Schedule, as_schedule

Array = Any


@dataclass(frozen=True)
class Regularization:
    """A penalty that is added to the score, and its gradient to the gradient before the updater."""

    coefficient: float | Schedule

    def __post_init__(self) -> None:
        as_schedule(type(self).__name__, self.coefficient)
        if not isinstance(self.coefficient, Schedule) and self.coefficient < 0:
            raise nd.ConfigurationError(f"{type(self).__name__}: expected a penalty >= 0, got {self.coefficient}.")

    def at(self, iteration: int, epoch: int) -> float:
        """Return the coefficient in force."""
        value = self.coefficient
        return value.value_at(iteration, epoch) if isinstance(value, Schedule) else value

    def apply(self, params: Array, gradient: Array, scratch: Array, coefficient: float) -> None:
        """Add the penalty's gradient to `gradient`; all are ``[n]``."""
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


REGULARIZATIONS = {"l1": L1Regularization, "l2": L2Regularization}
"""Name -> class, sorted; the order in which a layer's penalties are applied."""
