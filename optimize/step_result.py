"""What a model has computed of a minibatch, before anything is changed by it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nd
from nd.state import within

from .step_watch import StepWatch, refuse

Array = Any


class StepResult:
    """Loss, penalties and gradient of one minibatch; valid until the model computes again.

    Parameters
    ----------
    loss : array ``[]``
        Summed over the examples.
    penalty : array ``[]`` or float
        Sum of the penalties on the parameters.
    examples : int
    gradients : sequence of array ``[n]``
        One from every worker: the gradient is their sum, over the examples.
    squares : sequence of array ``[]``
        The sum of squares of each of several gradients, where the workers know it.
    watch : StepWatch
        Keeps what is not finite from the parameters.
    averaged : bool
        Whether the score is the mean loss of the examples, not its sum.
    state : object
        What layers hand on to the next segment of the same series; None where none does.
    """

    @classmethod
    def of_score(cls, score: float, watch: StepWatch) -> StepResult:
        """Return what is left of a step in a file: its score."""
        return cls(score, 0.0, 0, (), watch, averaged=False)

    __slots__ = (
        "_divisor", "_gradients", "_score", "_squares", "examples", "loss", "observed", "penalty", "state", "watch",
    )  # fmt: skip

    def __init__(
        self,
        loss: Array,
        penalty: Array | float,
        examples: int,
        gradients: Sequence[Array],
        watch: StepWatch,
        *,
        squares: Sequence[Array] = (),
        averaged: bool = True,
        state: Any = None,
    ) -> None:
        self.loss, self.penalty, self.examples, self.watch, self.state = loss, penalty, examples, watch, state
        self.observed = False
        """Whether the watch has seen loss, penalties and gradient on the device."""
        self._gradients, self._squares = tuple(gradients), tuple(squares)
        self._divisor = examples if averaged else 1
        self._score: float | None = None

    @property
    def gradients(self) -> tuple[Array, ...]:
        """The vectors ``[n]`` whose sum the gradient is; a single one after `gradient`."""
        return self._gradients

    def gradient(self) -> Array:
        """Return the gradient ``[n]``; the workers' are added up in the memory of the first."""
        first, *others = self._gradients
        if others:
            with within(self.watch.backend), self.watch.backend.quiet():
                for other in others:
                    nd.addi(first, other)
            self._gradients, self._squares = (first,), ()
        return first

    def added_up(self) -> None:
        """Hear that an update has added the gradients up, and overwritten the first."""
        self._gradients, self._squares = self._gradients[:1], ()

    @property
    def scored(self) -> bool:
        """Whether somebody has asked for the score, and the host has waited for it."""
        return self._score is not None

    @property
    def score(self) -> float:
        """The regularised score, before the update: mean or summed loss, and the penalties."""
        if self._score is None:
            with within(self.watch.backend):
                self._score = nd.item(self.loss / self._divisor + self.penalty)
        return self._score

    def check_finite(self, iteration: int) -> None:
        """Raise NumericError where score or gradient are not finite; a watch on a device does it later instead."""
        if self.observed:
            return
        norm = self.norm()
        if math.isfinite(self.score) and math.isfinite(norm):
            return
        what, value = ("norm of the gradient", norm) if math.isfinite(self.score) else ("score", self.score)
        refuse(what, value, iteration)

    def norm(self) -> float:
        """Return the Euclidean norm of the gradient; NaN or infinite if any of its elements is.

        Of several workers' gradients whose squares are known, the sum of their norms.
        """
        with within(self.watch.backend):
            if len(self._gradients) == len(self._squares) > 1:
                total = sum(math.sqrt(nd.item(square)) for square in self._squares)
                if math.isfinite(total):
                    return total
            return self.watch.backend.quietly(_norm, self.gradient())


def _norm(gradient: Array) -> float:
    square = nd.item(nd.dot(gradient, gradient))
    if math.isfinite(square) or gradient.shape[0] == 0:
        return math.sqrt(square)
    largest = nd.item(nd.max(nd.absolute(gradient)))  # the square of a large finite number may be infinite
    if not 0.0 < largest < float("inf"):
        return largest
    scaled = nd.multiply(gradient, 1.0 / largest)
    return largest * math.sqrt(nd.item(nd.dot(scaled, scaled)))
