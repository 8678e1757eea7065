"""Gradient descent with a line search."""

from __future__ import annotations

import nd
from nd.typing import Array

from ..api import OptimizerState
from ..line_search import LEAST_SHRINK, MOST_SHRINK, Trial
from .base import BaseOptimizer

LONGER = 2.0
SHORTEST = 1e-12


class LineGradientDescent(BaseOptimizer):
    """Searches along the gradient: the score never rises.

    Parameters, errors and notes as for `BaseOptimizer`.

    Notes
    -----
    The first search begins with a step of length 1 at most, later ones with twice the step that was taken last; where
    no step helped, shorter ones are tried. Source: DL4J ``LineGradientDescent``. Differs: DL4J begins with the whole
    gradient every time, and stays where a few evaluations do not shorten it enough.
    """

    _tried = 0.0
    _taken = 0.0

    def direction(self, gradient: Array) -> Array:
        return gradient

    def first_step(self, start: Trial, direction: Array) -> float:
        if self._taken:
            self._tried = LONGER * self._taken
        elif self._tried:
            self._tried *= max(LEAST_SHRINK ** (self.line_search.max_iterations - 1), 1e-6) * MOST_SHRINK
        else:
            length = nd.item(nd.dot(direction, direction)) ** 0.5
            self._tried = min(1.0, 1.0 / length) if length else 1.0
        return self._tried

    def learn(self, start: Trial, end: Trial, direction: Array) -> None:
        self._taken = end.step

    def get_state(self) -> OptimizerState:
        return OptimizerState((self._tried, self._taken))

    def set_state(self, state: OptimizerState) -> None:
        state.check("LineGradientDescent", 2, 0)
        if not all(0.0 <= length < float("inf") for length in state.numbers):
            raise nd.FormatError(f"LineGradientDescent: lengths of steps must be >= 0, got {list(state.numbers)}.")
        self._tried, self._taken = state.numbers

    def forget(self) -> bool:
        return self._tried > SHORTEST
