"""RMSProp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.arguments import Fraction, NonNegative
from nd.typing import Array

from ..schedules import Schedule
from .base import Coefficients, States, Updater, gain_over_epsilon, rate_alone


@dataclass(frozen=True)
class RmsProp(Updater):
    """v = rms_decay v + (1 - rms_decay) g^2; update = learning_rate * g / (sqrt(v) + epsilon).

    Parameters
    ----------
    learning_rate : float or Schedule
        Per iteration.
    rms_decay : float
        Of the running mean of g^2, per iteration: Keras's rho, PyTorch's alpha.
    epsilon : float
        Added to sqrt(v), not under the root.

    Notes
    -----
    State: v, which starts at epsilon. Source: ND4J ``RmsPropUpdater``; Tieleman and Hinton 2012.
    """

    pure = True
    learning_rate: NonNegative | Schedule = 0.1
    rms_decay: Fraction = 0.95
    epsilon: NonNegative = 1e-8
    state_names: ClassVar[tuple[str, ...]] = ("G",)
    coefficient_names: ClassVar[tuple[str, ...]] = ("rate",)

    @property
    def initial_state(self) -> tuple[float, ...]:
        return (self.epsilon,)

    gain = gain_over_epsilon
    coefficients = rate_alone

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        (v,) = states
        nd.axpby(1.0 - self.rms_decay, nd.square(gradient, scratch), self.rms_decay, v, scratch)
        nd.addi(nd.sqrt(v, scratch), self.epsilon)
        nd.divi(nd.muli(gradient, coefficients[0]), scratch)
