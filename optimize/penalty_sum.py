"""The sum of all penalties on a flat vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nd
from nd.state import computing

from .chunks import Segment
from .regularization import Regularization
from .step_watch import broken_elements

Array = Any


class PenaltySum:
    """The sum of the penalties on the parameters of a network, one parameter after the other.

    Parameters
    ----------
    penalties : sequence of (parameter as ``[n]``, Regularization)
    """

    def __init__(self, penalties: Sequence[tuple[Array, Regularization]]) -> None:
        self._penalties = list(penalties)

    def at(self, iteration: int, epoch: int) -> Array | float:
        """Return the sum, with the coefficients in force; 0 without penalties."""
        return self.share(iteration, epoch, 0, 1)

    def share(self, iteration: int, epoch: int, part: int, parts: int) -> Array | float:
        """Return what one of several equal parts of every parameter adds to the sum."""
        total: Array | float = 0.0
        if not self._penalties:
            return total
        with computing(nd.backend()):
            for flat, penalty in self._penalties:
                n = flat.shape[0]
                some = flat if parts == 1 else flat[part * n // parts : (part + 1) * n // parts]
                total = total + penalty.score(some, penalty.at(iteration, epoch))
        return total


def penalty_sum(
    segments: Sequence[Segment], penalties: Sequence[tuple[Array, Regularization]], params: Array
) -> PenaltySum:
    """Return what sums the penalties on ``params [n]``, as the backend does it best."""
    merges = nd.plan_update(params.shape[0]).most_merged > 0
    return MergedPenaltySum(segments, penalties, params) if merges else PenaltySum(penalties)


class MergedPenaltySum(PenaltySum):
    """The same in one pass over the flat vector.

    Parameters
    ----------
    segments : sequence of Segment
    penalties : sequence of (parameter as ``[n]``, Regularization)
    params : array ``[n]``

    Notes
    -----
    A penalty that does not hold everywhere is that of the parameters times ones and zeros: no penalty here has another
    value than 0 at 0.
    """

    def __init__(
        self, segments: Sequence[Segment], penalties: Sequence[tuple[Array, Regularization]], params: Array
    ) -> None:
        super().__init__(penalties)
        self._params = params
        self._different: list[Regularization] = []
        for segment in segments:
            self._different += [each for each in segment.regularization if each not in self._different]
        self._where = [_indicator(segments, penalty, params) for penalty in self._different]
        self._sum = nd.Summed(self._total)
        self._watched = nd.Summed(lambda gradient, *rest: (*self._totals(*rest), broken_elements(gradient)))
        self._memory = nd.zeros(len(self._different), dtype=nd.dtype_name(params))
        self._cells = [nd.reshape_view(self._memory[at : at + 1], ()) for at in range(len(self._different))]
        self._coefficients: list[float] = []

    def at(self, iteration: int, epoch: int) -> Array | float:
        if not self._different:
            return 0.0
        coefficients = [penalty.at(iteration, epoch) for penalty in self._different]
        return self._sum(self._params, *self._where, *coefficients)

    def set_coefficients(self, iteration: int, epoch: int) -> None:
        """Put the coefficients in force where `watch` reads them."""
        coefficients = [penalty.at(iteration, epoch) for penalty in self._different]
        if coefficients != self._coefficients:
            nd.assign(self._memory, coefficients)
            self._coefficients = coefficients

    def watch(self, gradient: Array, out: Array) -> None:
        """Write the sum, and how many elements of ``gradient [n]`` are not finite, into ``out [2]``.

        Reads memory only, so that it can be recorded; `set_coefficients` comes first.
        """
        arguments = (self._params, *self._where, *self._cells)
        self._watched(gradient, *arguments, out=out if self._different else out[1:])

    def _totals(self, *arguments: Any) -> tuple[Array, ...]:
        return (self._total(*arguments),) if self._different else ()

    def _total(self, params: Array, *rest: Any) -> Array:
        where, coefficients = rest[: len(self._different)], rest[len(self._different) :]
        total: Any = None
        for penalty, here, coefficient in zip(self._different, where, coefficients, strict=True):
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
