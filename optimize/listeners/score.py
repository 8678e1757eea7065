"""ScoreIterationListener."""

from __future__ import annotations

from nd.arguments import Natural, checked

from ..api import Listener, Model
from .reporting import report


class ScoreIterationListener(Listener):
    """Prints the score every `print_iterations` iterations, 0 being 1 as in Java.

    Notes
    -----
    Source: DL4J ``ScoreIterationListener``.
    """

    @checked
    def __init__(self, print_iterations: Natural = 10) -> None:
        self.print_iterations = max(print_iterations, 1)

    def iteration_done(self, model: Model, iteration: int, epoch: int) -> None:
        if iteration % self.print_iterations == 0:
            report(f"Score at iteration {iteration} is {model.score():.6g}")
