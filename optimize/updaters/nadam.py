"""Adam with Nesterov's look ahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.arguments import Fraction, NonNegative
from nd.typing import Array

from ..schedules import Schedule
from .base import Coefficients, States, Updater, gain_over_epsilon


@dataclass(frozen=True)
class Nadam(Updater):
    """m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; update = a (b1 m + (1 - b1) g) / (sqrt(v) + epsilon).

    a = learning_rate / (1 - b1^(t + 1)), t the iteration: v is not corrected for its start.

    Parameters
    ----------
    learning_rate : float or Schedule
        Per iteration.
    beta1, beta2 : float
        Decay of the running means of g and of g^2, per iteration.
    epsilon : float
        Added to sqrt(v), not under the root.

    Raises
    ------
    ConfigurationError
        beta1 is 1, which makes a infinite.

    Notes
    -----
    State: m, v, which start at 0. Source: ND4J ``NadamUpdater``; Dozat 2016, without his schedule of b1 and without
    the correction of v, which makes the first steps 1 / sqrt(1 - b2) as large.
    """

    pure = True
    learning_rate: NonNegative | Schedule = 1e-3
    beta1: Fraction = 0.9
    beta2: Fraction = 0.999
    epsilon: NonNegative = 1e-8
    state_names: ClassVar[tuple[str, ...]] = ("M", "V")
    coefficient_names: ClassVar[tuple[str, ...]] = ("corrected rate of m", "corrected rate of g")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta1 == 1.0:
            raise nd.ConfigurationError(f"Nadam: beta1 must be < 1, got {self.beta1}.")

    gain = gain_over_epsilon

    def coefficients(self, iteration: int, epoch: int) -> Coefficients:
        a = self.at(self.learning_rate, iteration, epoch) / (1.0 - self.beta1 ** (iteration + 1))
        return a * self.beta1, a * (1.0 - self.beta1)

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        m, v = states
        nd.axpby(1.0 - self.beta1, gradient, self.beta1, m, scratch)
        nd.axpby(1.0 - self.beta2, nd.square(gradient, scratch), self.beta2, v, scratch)
        of_m, of_gradient = coefficients
        nd.axpby(of_m, m, of_gradient, gradient, scratch)
        nd.addi(nd.sqrt(v, scratch), self.epsilon)
        nd.divi(gradient, scratch)
