"""Plain gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import nd

from ..schedules import Schedule
from .base import Updater

Array = Any


@dataclass(frozen=True)
class Sgd(Updater):
    """update = learning_rate * g.

    Parameters
    ----------
    learning_rate : float or Schedule
        Per iteration.

    Notes
    -----
    Source: ND4J ``SgdUpdater``.
    """

    learning_rate: float | Schedule = 1e-3

    def coefficients(self, iteration: int, epoch: int) -> tuple[float, ...]:
        return (self.at(self.learning_rate, iteration, epoch),)

    def apply(self, gradient: Array, states: tuple[Array, ...], scratch: Array, coefficients: tuple[float, ...]) -> None:
        nd.muli(gradient, coefficients[0])
