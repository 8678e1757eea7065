"""The sum of all penalties on a flat vector, in one pass over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nd

from .chunks import Segment
from .guard import broken_elements
from .regularization import Regularization

Array = Any


class PenaltySum:
    """Sums the penalties of all segments at once, for backends that care about passes more than about numbers read.

    Parameters
    ----------
    segments : sequence of Segment
    params : array ``[n]``

    Notes
    -----
    A penalty that does not hold everywhere is that of the parameters times ones and zeros: no penalty here has another
    value than 0 at 0.
    """

    def __init__(self, segments: Sequence[Segment], params: Array) -> None:
        self._params = params
        self._penalties: list[Regularization] = []
        for segment in segments:
            self._penalties += [each for each in segment.regularization if each not in self._penalties]
        self._where = [_indicator(segments, penalty, params) for penalty in self._penalties]
        self._sum = nd.Summed(self._total)
        self._watched = nd.Summed(lambda gradient, *rest: (*self._totals(*rest), broken_elements(gradient)))
        self._memory = nd.zeros(len(self._penalties), dtype=nd.dtype_name(params))
        self._cells = [nd.reshape_view(self._memory[at : at + 1], ()) for at in range(len(self._penalties))]
        self._coefficients: list[float] = []

    def at(self, iteration: int, epoch: int) -> Array | float:
        """Return the sum, with the coefficients in force; 0 without penalties."""
        if not self._penalties:
            return 0.0
        coefficients = [penalty.at(iteration, epoch) for penalty in self._penalties]
        return self._sum(self._params, *self._where, *coefficients)

    def set_coefficients(self, iteration: int, epoch: int) -> None:
        """Put the coefficients in force where `watch` reads them."""
        coefficients = [penalty.at(iteration, epoch) for penalty in self._penalties]
        if coefficients != self._coefficients:
            nd.assign(self._memory, coefficients)
            self._coefficients = coefficients

    def watch(self, gradient: Array, out: Array) -> None:
        """Write the sum, and how many elements of ``gradient [n]`` are not finite, into ``out [2]``.

        Reads memory only, so that it can be recorded; `set_coefficients` comes first.
        """
        arguments = (self._params, *self._where, *self._cells)
        self._watched(gradient, *arguments, out=out if self._penalties else out[1:])

    def _totals(self, *arguments: Any) -> tuple[Array, ...]:
        return (self._total(*arguments),) if self._penalties else ()

    def _total(self, params: Array, *rest: Any) -> Array:
        where, coefficients = rest[: len(self._penalties)], rest[len(self._penalties) :]
        total: Any = None
        for penalty, here, coefficient in zip(self._penalties, where, coefficients, strict=True):
            score = penalty.score(nd.multiply(params, here), coefficient)
            total = score if total is None else total + score
        return total


def _indicator(segments: Sequence[Segment], penalty: Regularization, params: Array) -> Array:
    """Return ones where the penalty holds, zeros elsewhere."""
    where = nd.zeros(params.shape[0], dtype=nd.dtype_name(params))
    for segment in segments:
        if penalty in segment.regularization:
            nd.fill(where[segment.start : segment.stop], 1.0)
    return where
