"""CollectScoresListener."""

from __future__ import annotations

from typing import Any

from nd import ConfigurationError

from ..api import Listener


class CollectScoresListener(Listener):
    """Keeps the score of every `frequency`-th iteration.

    Attributes
    ----------
    scores : list of float
    iterations : list of int
        Which iteration each score is from.

    Notes
    -----
    Source: DL4J ``CollectScoresListener``.
    """

    def __init__(self, frequency: int = 1) -> None:
        if frequency < 1:
            raise ConfigurationError(f"CollectScoresListener: frequency must be >= 1, got {frequency}.")
        self.frequency = frequency
        self.scores: list[float] = []
        self.iterations: list[int] = []

    def iteration_done(self, model: Any, iteration: int, epoch: int) -> None:
        if iteration % self.frequency == 0:
            self.iterations.append(iteration)
            self.scores.append(model.score())
