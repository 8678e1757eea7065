"""AdaDelta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.arguments import Fraction, NonNegative
from nd.typing import Array

from .base import Coefficients, States, Updater, gain_over_epsilon


@dataclass(frozen=True)
class AdaDelta(Updater):
    """s = rho s + (1 - rho) g^2; u = g sqrt(d + epsilon) / sqrt(s + epsilon); d = rho d + (1 - rho) u^2; update = u.

    Parameters
    ----------
    rho : float
        Decay of the running means of g^2 and of u^2, per iteration.
    epsilon : float
        Under both roots; it alone makes the first step.

    Notes
    -----
    State: s, d, which start at 0. There is no learning rate. Source: ND4J ``AdaDeltaUpdater``; Zeiler 2012,
    algorithm 1.
    """

    pure = True
    rho: Fraction = 0.95
    epsilon: NonNegative = 1e-6
    state_names: ClassVar[tuple[str, ...]] = ("msg", "msdx")

    gain = gain_over_epsilon

    def coefficients(self, iteration: int, epoch: int) -> Coefficients:
        return ()

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        s, d = states
        nd.axpby(1.0 - self.rho, nd.square(gradient, scratch), self.rho, s, scratch)
        nd.muli(gradient, nd.sqrt(nd.add(d, self.epsilon, scratch), scratch))
        nd.divi(gradient, nd.sqrt(nd.add(s, self.epsilon, scratch), scratch))
        nd.axpby(1.0 - self.rho, nd.square(gradient, scratch), self.rho, d, scratch)
