"""ScoreIterationListener."""

from __future__ import annotations

from typing import Any

from nd import ConfigurationError

from ..api import Listener
from .reporting import report


class ScoreIterationListener(Listener):
    """Prints the score every `print_iterations` iterations.

    Notes
    -----
    Source: DL4J ``ScoreIterationListener``.
    """

    def __init__(self, print_iterations: int = 10) -> None:
        if print_iterations < 1:
            raise ConfigurationError(f"ScoreIterationListener: print_iterations must be >= 1, got {print_iterations}.")
        self.print_iterations = print_iterations

    def iteration_done(self, model: Any, iteration: int, epoch: int) -> None:
        if iteration % self.print_iterations == 0:
            report(f"Score at iteration {iteration} is {model.score():.6g}")
