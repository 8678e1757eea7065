"""AMSGrad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.arguments import Fraction, NonNegative
from nd.typing import Array

from ..schedules import Schedule
from .base import Coefficients, States, Updater, corrected_coefficients, gain_over_epsilon


@dataclass(frozen=True)
class AMSGrad(Updater):
    """Adam whose v never shrinks: m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; h = max(h, v).

    update = a m / (sqrt(h) + epsilon), a = learning_rate * sqrt(1 - b2^(t + 1)) / (1 - b1^(t + 1)), t the iteration.

    Parameters
    ----------
    learning_rate : float or Schedule
        Per iteration.
    beta1, beta2 : float
        Decay of the running means of g and of g^2, per iteration.
    epsilon : float
        Added to sqrt(h), not under the root.

    Notes
    -----
    State: m, v, h, which start at 0. Source: ND4J ``AMSGradUpdater``; Reddi et al. 2018, algorithm 2, with Adam's
    corrections.
    """

    pure = True
    learning_rate: NonNegative | Schedule = 1e-3
    beta1: Fraction = 0.9
    beta2: Fraction = 0.999
    epsilon: NonNegative = 1e-8
    state_names: ClassVar[tuple[str, ...]] = ("M", "V", "VHat")
    coefficient_names: ClassVar[tuple[str, ...]] = ("corrected rate",)

    gain = gain_over_epsilon
    coefficients = corrected_coefficients

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        m, v, h = states
        nd.axpby(1.0 - self.beta1, gradient, self.beta1, m, scratch)
        nd.axpby(1.0 - self.beta2, nd.square(gradient, scratch), self.beta2, v, scratch)
        nd.maximum(h, v, h)
        nd.addi(nd.sqrt(h, scratch), self.epsilon)
        nd.divi(nd.multiply(m, coefficients[0], gradient), scratch)
