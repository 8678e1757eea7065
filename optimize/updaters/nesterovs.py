"""Nesterov's accelerated gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import nd

from ..schedules import Schedule
from .base import Coefficients, States, Updater

Array = Any


@dataclass(frozen=True)
class Nesterovs(Updater):
    """v' = momentum * v - learning_rate * g; update = momentum * v - (1 + momentum) * v'.

    Parameters
    ----------
    learning_rate : float or Schedule
        Per iteration.
    momentum : float or Schedule
        0..1.

    Notes
    -----
    The update is computed as ``learning_rate * g - momentum * v'``, which is the same with one pass less.
    State: v, which starts at 0. Source: ND4J ``NesterovsUpdater``; Sutskever et al. 2013.
    """

    learning_rate: float | Schedule = 0.1
    momentum: float | Schedule = 0.9
    state_names: ClassVar[tuple[str, ...]] = ("V",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.momentum, Schedule) and not 0.0 <= self.momentum <= 1.0:
            raise nd.ConfigurationError(f"Nesterovs: momentum must be in 0..1, got {self.momentum}.")

    def coefficients(self, iteration: int, epoch: int) -> Coefficients:
        momentum = self.at(self.momentum, iteration, epoch)
        learning_rate = self.at(self.learning_rate, iteration, epoch)
        return learning_rate, -learning_rate, momentum, -momentum

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        learning_rate, minus_learning_rate, momentum, minus_momentum = coefficients
        (v,) = states
        nd.axpby(minus_learning_rate, gradient, momentum, v, scratch)  # v'
        nd.axpby(minus_momentum, v, learning_rate, gradient, scratch)  # which is the update
