"""AdaGrad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.arguments import NonNegative
from nd.typing import Array

from ..schedules import Schedule
from .base import Coefficients, States, Updater, gain_over_epsilon, rate_alone


@dataclass(frozen=True)
class AdaGrad(Updater):
    """h = h + g^2; update = learning_rate * g / (sqrt(h) + epsilon).

    Parameters
    ----------
    learning_rate : float or Schedule
        Per iteration.
    epsilon : float
        Added to sqrt(h), not under the root.

    Notes
    -----
    State: h, which starts at 1e-6 whatever epsilon is. Source: ND4J ``AdaGradUpdater``; Duchi et al. 2011. Differs:
    ND4J's clone of an AdaGrad loses its schedule.
    """

    pure = True
    learning_rate: NonNegative | Schedule = 0.1
    epsilon: NonNegative = 1e-6
    state_names: ClassVar[tuple[str, ...]] = ("H",)
    coefficient_names: ClassVar[tuple[str, ...]] = ("rate",)

    @property
    def initial_state(self) -> tuple[float, ...]:
        return (1e-6,)

    gain = gain_over_epsilon
    coefficients = rate_alone

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        (h,) = states
        nd.addi(h, nd.square(gradient, scratch))
        nd.addi(nd.sqrt(h, scratch), self.epsilon)
        nd.divi(nd.muli(gradient, coefficients[0]), scratch)
