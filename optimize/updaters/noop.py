"""The updater that leaves the gradient alone."""

from __future__ import annotations

from dataclasses import dataclass

from nd.typing import Array

from .base import Coefficients, States, Updater, gain_of_factors


@dataclass(frozen=True)
class NoOp(Updater):
    """update = g.

    Notes
    -----
    Source: ND4J ``NoOpUpdater``.
    """

    pure = True

    gain = gain_of_factors

    def coefficients(self, iteration: int, epoch: int) -> Coefficients:
        return ()

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        pass
