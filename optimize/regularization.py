"""Penalties on parameters: their formulas, and the sum of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import nd
from nd.arguments import Checked, NonNegative
from nd.part import Part, undefined
from nd.state import computing
from nd.typing import Array

from .schedules import FixedSchedule, Schedule

if TYPE_CHECKING:
    from .chunks import Segment
    from .updaters import Updater


@dataclass(frozen=True)
class Regularization(Part, Checked):
    """A penalty that is added to the score, and its gradient to the gradient, or to the update.

    Parameters
    ----------
    coefficient : float or Schedule
        >= 0.
    """

    coefficient: NonNegative | Schedule
    post_updater: ClassVar[bool] = False
    """Whether it is added to the update, the updater's result, instead of the gradient."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.coefficient, FixedSchedule):  # a number, as files say it
            object.__setattr__(self, "coefficient", self.coefficient.value)
            super().__post_init__()

    def at(self, iteration: int, epoch: int) -> float:
        """Return the coefficient in force."""
        value = self.coefficient
        return value.value_at(iteration, epoch) if isinstance(value, Schedule) else value

    def coefficient_for(self, updater: Updater, iteration: int, epoch: int) -> float:
        """Return the coefficient that `apply` is given for parameters of that updater."""
        return self.at(iteration, epoch)

    def apply(self, params: Array, gradient: Array, scratch: Array, coefficient: float | Array) -> None:
        """Add the penalty's gradient to `gradient`, the update if `post_updater`; all are ``[n]``."""
        undefined(self, "apply(params, gradient, scratch, coefficient)", "the gradient of the penalty")

    def score(self, params: Array, coefficient: float | Array) -> Array:
        """Return the penalty on ``params [n]``, as a scalar array."""
        undefined(self, "score(params, coefficient)", "the penalty")


class L1Regularization(Regularization):
    """l1 * sum |w|; gradient l1 * sign(w), 0 at 0. Source: ND4J ``L1Regularization``."""

    pure = True

    def apply(self, params: Array, gradient: Array, scratch: Array, coefficient: float | Array) -> None:
        nd.addi(gradient, nd.muli(nd.sign(params, scratch), coefficient))

    def score(self, params: Array, coefficient: float | Array) -> Array:
        return coefficient * nd.sum(nd.absolute(params))


class L2Regularization(Regularization):
    """0.5 * l2 * sum w^2; gradient l2 * w, before the updater. Source: ND4J ``L2Regularization``.

    PyTorch's ``weight_decay`` of SGD and Adam is the same; Keras's L2 has no 0.5, so that its number is half of this.
    """

    pure = True

    def apply(self, params: Array, gradient: Array, scratch: Array, coefficient: float | Array) -> None:
        nd.axpby(coefficient, params, 1.0, gradient, scratch)

    def score(self, params: Array, coefficient: float | Array) -> Array:
        return 0.5 * coefficient * nd.dot(params, params)


@dataclass(frozen=True)
class WeightDecay(L2Regularization):
    """0.5 * coefficient * sum w^2 in the score; coefficient * learning_rate * w is added to the update.

    Parameters
    ----------
    coefficient : float or Schedule
        >= 0.
    apply_lr : bool
        Multiply by the updater's learning rate now, 1 for an updater that has none; False: coefficient * w.

    Notes
    -----
    Unlike that of L2 its share does not go through the updater, which matters where that is not linear: it is AdamW's
    weight decay, not that of PyTorch's Adam, which is l2. The learning rate is not in the score. Source: ND4J
    ``WeightDecay``; Loshchilov and Hutter 2019.
    """

    pure = True
    apply_lr: bool = True
    post_updater: ClassVar[bool] = True

    def coefficient_for(self, updater: Updater, iteration: int, epoch: int) -> float:
        return self.at(iteration, epoch) * (updater.learning_rate_at(iteration, epoch) if self.apply_lr else 1.0)


@dataclass(frozen=True)
class _Times(Schedule):
    """A schedule's values, so many times as large."""

    schedule: Schedule
    times: int

    def value_at(self, iteration: int, epoch: int) -> float:
        return self.times * self.schedule.value_at(iteration, epoch)


def merged(penalties: Sequence[Regularization]) -> tuple[Regularization, ...]:
    """Return the penalties with equal ones as one, of which the coefficient is so many times as large."""
    once = list(different(penalties))
    for place, penalty in enumerate(once):
        times = list(penalties).count(penalty)
        if times > 1:
            value = penalty.coefficient
            value = _Times(value, times) if isinstance(value, Schedule) else times * value
            once[place] = replace(penalty, coefficient=value)
    return tuple(once)


def different(penalties: Iterable[Regularization]) -> tuple[Regularization, ...]:
    """Return the penalties without those that equal one before them."""
    once: list[Regularization] = []
    for penalty in penalties:  # some have schedules that cannot be hashed
        if penalty not in once:
            once.append(penalty)
    return tuple(once)


REGULARIZATIONS: dict[str, type[Regularization]] = {
    "l1": L1Regularization,
    "l2": L2Regularization,
    "weight_decay": WeightDecay,
}
"""Name -> class, sorted; the order in which a layer's penalties are applied."""


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
        return self.share(iteration, epoch, 0, 1) if self._penalties else 0.0

    def share(self, iteration: int, epoch: int, part: int, parts: int) -> Array | float:
        """Return the share of one of several equal parts of every parameter in the sum."""
        total: Array | float = 0.0
        if not self._penalties:
            return total
        with computing(nd.backend()):
            for flat, penalty in self._penalties:
                n = flat.shape[0]
                own = flat if parts == 1 else flat[part * n // parts : (part + 1) * n // parts]
                total = total + penalty.score(own, penalty.at(iteration, epoch))
        return total


def penalty_sum(
    segments: Sequence[Segment],
    penalties: Sequence[tuple[Array, Regularization]],
    params: Array,
    deferred: bool = False,
) -> PenaltySum:
    """Return the sum of penalties on ``params [n]``, as the backend computes it best; on the device if `deferred`."""
    merges = deferred or nd.plan_update(params.shape[0]).most_merged > 0
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
    A penalty that does not hold everywhere is that of the parameters times ones and zeros: every penalty of this
    library is 0 at 0.
    """

    def __init__(
        self, segments: Sequence[Segment], penalties: Sequence[tuple[Array, Regularization]], params: Array
    ) -> None:
        super().__init__(penalties)
        self._params = params
        self._different = different(penalty for segment in segments for penalty in segment.regularization)
        n, dtype = params.shape[0], nd.dtype_name(params)
        self._indicators = [indicator(segments, penalty, 0, n, dtype) for penalty in self._different]
        self._sum = nd.Summed(self._total)
        self._watched = nd.Summed(lambda gradient, *rest: (*self._totals(*rest), _broken_elements(gradient)))
        self._memory = nd.zeros(len(self._different), dtype=dtype)
        self._cells = [nd.reshape_view(self._memory[index : index + 1], ()) for index in range(len(self._different))]
        self._coefficients: list[float] = []

    def at(self, iteration: int, epoch: int) -> Array | float:
        if not self._different:
            return 0.0
        coefficients = [penalty.at(iteration, epoch) for penalty in self._different]
        return self._sum(self._params, *self._indicators, *coefficients)

    def set_coefficients(self, iteration: int, epoch: int) -> None:
        """Put the coefficients in force into the memory that `watch` reads."""
        coefficients = [penalty.at(iteration, epoch) for penalty in self._different]
        if coefficients != self._coefficients:
            nd.assign(self._memory, coefficients)
            self._coefficients = coefficients

    def watch(self, gradient: Array, out: Array) -> None:
        """Write the sum, and the number of elements of ``gradient [n]`` that are not finite, into ``out [2]``.

        Reads memory only, so that it can be recorded; `set_coefficients` comes first.
        """
        arguments = (self._params, *self._indicators, *self._cells)
        self._watched(gradient, *arguments, out=out if self._different else out[1:])

    def _totals(self, *arguments: Any) -> tuple[Array, ...]:
        return (self._total(*arguments),) if self._different else ()

    def _total(self, params: Array, *rest: Any) -> Array:
        indicators, coefficients = rest[: len(self._different)], rest[len(self._different) :]
        total: Array | Any = None
        for penalty, indicator, coefficient in zip(self._different, indicators, coefficients, strict=True):
            score = penalty.score(nd.multiply(params, indicator), coefficient)
            total = score if total is None else total + score
        return total


def _broken_elements(gradient: Array) -> Array:
    """Return how many elements are not finite, a sum for `nd.Summed`."""
    return nd.sum(nd.where(gradient - gradient >= 0.0, 0.0, 1.0))


def indicator(segments: Sequence[Segment], penalty: Regularization, start: int, stop: int, dtype: str) -> Array:
    """Return ones for the elements of a stretch where the penalty holds, zeros elsewhere; the segments lie in it."""
    ones = nd.zeros(stop - start, dtype=dtype)
    for segment in segments:
        if penalty in segment.regularization:
            nd.fill(ones[max(segment.start, start) - start : min(segment.stop, stop) - start], 1.0)
    return ones
