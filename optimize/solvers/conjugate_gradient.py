"""Nonlinear conjugate gradients."""

from __future__ import annotations

import math
from typing import Any

import nd
from nd.typing import Array

from ..api import OptimizerState
from ..line_search import Evaluate, Trial
from .base import BaseOptimizer

FLAT = 0.1  # share of the slope below which a point on the line is low enough
REFINEMENTS = 3  # evaluations for it, at most
FARTHEST = 10.0  # times as far as the search went


class ConjugateGradient(BaseOptimizer):
    """Polak-Ribiere+ with restart: d = g + max(0, (g - g') . g / g' . g') d', g' and d' of the iteration before.

    Parameters, errors and notes as for `BaseOptimizer`.

    Notes
    -----
    Starts again with the gradient where that direction does not lead down or no step along it helps. Conjugacy needs
    points that are low on their lines: after the backtracking, secants lead to where the slope is small, also beyond
    the first step, which is as long as the curvature of the last line says. Source: DL4J ``ConjugateGradient``;
    Nocedal and Wright, section 5.2. Differs: DL4J's stored gradient aliases the live one, so that it descends plainly.
    """

    _gradient: Array | None = None
    _direction: Array | Any = None  # known where the gradient is
    _curvature = 0.0

    def direction(self, gradient: Array) -> Array:
        if self._gradient is None:
            return gradient
        before = nd.item(nd.dot(self._gradient, self._gradient))
        change = nd.item(nd.dot(nd.subtract(gradient, self._gradient), gradient))
        if not before or change <= 0.0:
            return gradient
        conjugate = nd.addi(nd.multiply(self._direction, change / before), gradient)
        return conjugate if nd.item(nd.dot(conjugate, gradient)) > 0.0 else gradient

    def first_step(self, start: Trial, direction: Array) -> float:
        slope, square = nd.item(nd.dot(direction, start.gradient)), nd.item(nd.dot(direction, direction))
        if self._curvature > 0.0 and square:
            return slope / (self._curvature * square)
        return min(1.0, square**-0.5) if square else 1.0

    def refine(self, evaluate: Evaluate, start: Trial, end: Trial, direction: Array) -> Trial:
        steep = nd.item(nd.dot(direction, start.gradient))
        for _ in range(REFINEMENTS):
            slope = nd.item(nd.dot(direction, end.gradient))
            if abs(slope) <= FLAT * steep:
                break
            lowest = end.step * steep / (steep - slope) if slope < steep else FARTHEST * end.step
            step = min(lowest, FARTHEST * end.step)
            cost, gradient = evaluate(step)
            if not cost < end.cost:
                break
            end = Trial(step, cost, nd.copy(gradient))
        return end

    def learn(self, start: Trial, end: Trial, direction: Array) -> None:
        if not end.step:
            return
        bend = nd.item(nd.dot(direction, start.gradient)) - nd.item(nd.dot(direction, end.gradient))
        self._curvature = bend / (end.step * nd.item(nd.dot(direction, direction)))
        self._gradient, self._direction = nd.copy(start.gradient), nd.copy(direction)

    def get_state(self) -> OptimizerState:
        vectors = () if self._gradient is None else (self._gradient, self._direction)
        return OptimizerState((self._curvature,), vectors)

    def set_state(self, state: OptimizerState) -> None:
        state.check("ConjugateGradient", 1, 2 if state.vectors else 0)
        (self._curvature,) = state.numbers
        if not math.isfinite(self._curvature):
            raise nd.FormatError(f"ConjugateGradient: the curvature must be finite, got {self._curvature}.")
        self._gradient, self._direction = state.vectors or (None, None)

    def forget(self) -> bool:
        known, self._gradient, self._curvature = self._gradient is not None, None, 0.0
        return known
