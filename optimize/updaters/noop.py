"""The updater that leaves the gradient alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .base import Updater

Array = Any


@dataclass(frozen=True)
class NoOp(Updater):
    """update = g.

    Notes
    -----
    Source: ND4J ``NoOpUpdater``.
    """


    def coefficients(self, iteration: int, epoch: int) -> tuple[float, ...]:
        return ()

    def apply(self, gradient: Array, states: tuple[Array, ...], scratch: Array, coefficients: tuple[float, ...]) -> None:
        pass
