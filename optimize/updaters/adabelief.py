"""AdaBelief."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.arguments import Fraction, NonNegative
from nd.typing import Array

from ..schedules import Schedule
from .base import Coefficients, States, Updater, corrected_coefficients, gain_over_epsilon


@dataclass(frozen=True)
class AdaBelief(Updater):
    """m = b1 m + (1 - b1) g; s = b2 s + (1 - b2) (g - m)^2 + epsilon; update = a m / (sqrt(s) + epsilon).

    a = learning_rate * sqrt(1 - b2^(t + 1)) / (1 - b1^(t + 1)), t the iteration.

    Parameters
    ----------
    learning_rate : float or Schedule
        Per iteration.
    beta1, beta2 : float
        Decay of the running means of g and of (g - m)^2, per iteration.
    epsilon : float
        Added to s in every iteration, and again to sqrt(s).

    Notes
    -----
    State: m, s, which start at 0. Source: ND4J ``AdaBeliefUpdater``; Zhuang et al. 2020, algorithm 2.
    """

    pure = True
    learning_rate: NonNegative | Schedule = 1e-3
    beta1: Fraction = 0.9
    beta2: Fraction = 0.999
    epsilon: NonNegative = 1e-14
    state_names: ClassVar[tuple[str, ...]] = ("M", "S")
    coefficient_names: ClassVar[tuple[str, ...]] = ("corrected rate",)

    gain = gain_over_epsilon
    coefficients = corrected_coefficients

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        m, s = states
        nd.axpby(1.0 - self.beta1, gradient, self.beta1, m, scratch)
        nd.square(nd.subi(gradient, m), scratch)
        nd.addi(nd.axpby(1.0 - self.beta2, scratch, self.beta2, s, scratch), self.epsilon)
        nd.addi(nd.sqrt(s, scratch), self.epsilon)
        nd.divi(nd.multiply(m, coefficients[0], gradient), scratch)
