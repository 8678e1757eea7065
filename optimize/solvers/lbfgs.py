"""Limited-memory BFGS."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Collection, Sequence
from typing import NamedTuple

import nd
from nd.arguments import Count, checked
from nd.typing import Array

from ..api import Listener, Model, OptimizationConf, OptimizerState
from ..line_search import Trial
from ..terminations import TerminationCondition
from .base import BaseOptimizer

MEMORY = 4  # steps, as DL4J
LEAST_CURVATURE = 1e-10  # cosine between a step and the gradient's change below which the pair says nothing


class _Pair(NamedTuple):
    """A step, how the gradient changed along it, and the product of both."""

    step: Array
    change: Array
    product: float


class LBFGS(BaseOptimizer):
    """Searches along H g, H an approximation of the inverse Hessian from the last m steps.

    Parameters
    ----------
    conf, model, listeners, terminations
        As for `BaseOptimizer`.
    m : int, optional
        Steps that are remembered, each with two vectors of the parameters' length; without it the configuration's
        `lbfgs_memory`, if it has one, or 4.

    Notes
    -----
    Two-loop recursion, starting from s . y / y . y of the last step; a step whose curvature s . y is not positive is
    not remembered. The first direction is the gradient, at most of length 1. Where no step along a direction helps,
    what is known is forgotten and the gradient tried. Source: DL4J ``LBFGS``; Nocedal and Wright, section 7.2.
    Differs: DL4J scales by other quotients and its differences of gradients are 0, by aliasing.
    """

    @checked
    def __init__(
        self,
        conf: OptimizationConf,
        model: Model,
        listeners: Collection[Listener] = (),
        terminations: Sequence[TerminationCondition] | None = None,
        m: Count | None = None,
    ) -> None:
        super().__init__(conf, model, listeners, terminations)
        m = getattr(conf, "lbfgs_memory", MEMORY) if m is None else m
        self._pairs: deque[_Pair] = deque(maxlen=min(m, sys.maxsize))

    def direction(self, gradient: Array) -> Array:
        direction, weights = nd.copy(gradient), []
        for pair in reversed(self._pairs):
            weight = nd.item(nd.dot(pair.step, direction)) / pair.product
            nd.subi(direction, nd.multiply(pair.change, weight))
            weights.append(weight)
        if self._pairs:
            last = self._pairs[-1]
            nd.muli(direction, last.product / nd.item(nd.dot(last.change, last.change)))
        for pair, weight in zip(self._pairs, reversed(weights), strict=True):
            other = nd.item(nd.dot(pair.change, direction)) / pair.product
            nd.addi(direction, nd.multiply(pair.step, weight - other))
        return direction

    def first_step(self, start: Trial, direction: Array) -> float:
        if self._pairs:
            return 1.0
        length = nd.item(nd.dot(direction, direction)) ** 0.5
        return min(1.0, 1.0 / length) if length else 1.0

    def learn(self, start: Trial, end: Trial, direction: Array) -> None:
        if not end.step:
            return
        step, change = nd.multiply(direction, -end.step), nd.subtract(end.gradient, start.gradient)
        product = nd.item(nd.dot(step, change))
        squares = nd.item(nd.dot(step, step)) * nd.item(nd.dot(change, change))
        if product > LEAST_CURVATURE * squares**0.5:
            self._pairs.append(_Pair(step, change, product))

    def get_state(self) -> OptimizerState:
        vectors = tuple(vector for pair in self._pairs for vector in (pair.step, pair.change))
        return OptimizerState(tuple(pair.product for pair in self._pairs), vectors)

    def set_state(self, state: OptimizerState) -> None:
        known = len(state.numbers)
        state.check("LBFGS", known, 2 * known)
        if not all(0.0 < product < float("inf") for product in state.numbers):
            raise nd.FormatError(f"LBFGS: products of steps and changes must be positive, got {list(state.numbers)}.")
        self._pairs.clear()
        self._pairs.extend(map(_Pair, state.vectors[::2], state.vectors[1::2], state.numbers))

    def forget(self) -> bool:
        known = bool(self._pairs)
        self._pairs.clear()
        return known
