"""AdaMax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.arguments import Fraction, NonNegative
from nd.typing import Array

from ..schedules import Schedule
from .base import Coefficients, States, Updater, corrected_rate, gain_of_factors


@dataclass(frozen=True)
class AdaMax(Updater):
    """m = b1 m + (1 - b1) g; u = max(b2 u, |g|) + 1e-32; update = a m / u.

    a = learning_rate / (1 - b1^(t + 1)), t the iteration.

    Parameters
    ----------
    learning_rate : float or Schedule
        Per iteration.
    beta1, beta2 : float
        Decay of the running mean of g and of the largest |g|, per iteration.
    epsilon : float
        Takes the place of a where that is 0 or infinite, as in ND4J.

    Notes
    -----
    State: m, u, which start at 0. Source: ND4J ``AdaMaxUpdater``; Kingma and Ba 2015, algorithm 2.
    """

    pure = True
    learning_rate: NonNegative | Schedule = 1e-3
    beta1: Fraction = 0.9
    beta2: Fraction = 0.999
    epsilon: NonNegative = 1e-8
    state_names: ClassVar[tuple[str, ...]] = ("M", "U")
    coefficient_names: ClassVar[tuple[str, ...]] = ("corrected rate",)

    gain = gain_of_factors

    def coefficients(self, iteration: int, epoch: int) -> Coefficients:
        rate = self.at(self.learning_rate, iteration, epoch)
        return (corrected_rate(rate, self.beta1, 0.0, iteration, self.epsilon),)

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        m, u = states
        nd.axpby(1.0 - self.beta1, gradient, self.beta1, m, scratch)
        nd.maximum(nd.muli(u, self.beta2), nd.absolute(gradient, scratch), u)
        nd.addi(u, 1e-32)
        nd.divi(nd.multiply(m, coefficients[0], gradient), u)
