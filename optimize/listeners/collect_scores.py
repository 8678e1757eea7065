"""CollectScoresListener."""

from __future__ import annotations

from nd.arguments import Count, checked

from ..api import Listener, Model


class CollectScoresListener(Listener):
    """Keeps the score of every `frequency`-th iteration.

    Attributes
    ----------
    scores : list of float
    iterations : list of int
        Iterations of the scores.

    Notes
    -----
    Source: DL4J ``CollectScoresListener``.
    """

    @checked
    def __init__(self, frequency: Count = 1) -> None:
        self.frequency = frequency
        self.scores: list[float] = []
        self.iterations: list[int] = []

    def iteration_done(self, model: Model, iteration: int, epoch: int) -> None:
        if iteration % self.frequency == 0:
            self.iterations.append(iteration)
            self.scores.append(model.score())
