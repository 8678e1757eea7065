"""Plain gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.arguments import NonNegative
from nd.typing import Array

from ..schedules import Schedule
from .base import Coefficients, States, Updater, gain_of_factors, rate_alone


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

    pure = True
    learning_rate: NonNegative | Schedule = 1e-3
    coefficient_names: ClassVar[tuple[str, ...]] = ("rate",)

    gain = gain_of_factors
    coefficients = rate_alone

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        nd.muli(gradient, coefficients[0])
