"""A network's flat vectors in chunks that fit the cache, and the update of a chunk.

An update is a dozen operations on every parameter. Done one after the other over the whole vectors they would be bound
by memory: so all of them are done on one chunk, which stays in the cache, then on the next. A chunk holds what is
treated alike, one updater with its penalties; backends say how long it may be, and which share each worker has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, NamedTuple

import nd
from nd.checks import check_choice
from nd.part import Part, pure
from nd.typing import Array

from .regularization import Regularization
from .step import CELLS
from .updaters import Updater

StepFunction = Callable[[Array, Array, float], object]
"""(params, direction, step) -> None, in place on params; `nd.part.pure` lets an update with it be recorded."""


@pure
def default_step(params: Array, direction: Array, step: float) -> None:
    """Params += step * direction. Source: DL4J ``DefaultStepFunction``."""
    nd.addi(params, nd.multiply(direction, step))


@pure
def gradient_step(params: Array, direction: Array, step: float = 1.0) -> None:
    """Params += direction. Source: DL4J ``GradientStepFunction``."""
    nd.addi(params, direction)


@pure
def negative_default_step(params: Array, direction: Array, step: float) -> None:
    """Params -= step * direction. Source: DL4J ``NegativeDefaultStepFunction``."""
    nd.subi(params, nd.multiply(direction, step))


@pure
def negative_gradient_step(params: Array, direction: Array, step: float = 1.0) -> None:
    """Params -= direction, the default of gradient descent. Source: DL4J ``NegativeGradientStepFunction``."""
    nd.subi(params, direction)


@pure
def update_alone(params: Array, direction: Array, step: float = 1.0) -> None:
    """Leave the parameters as they are, where the update alone is wanted."""


STEP_FUNCTIONS: dict[str, StepFunction] = {
    "default": default_step,
    "gradient": gradient_step,
    "negative_default": negative_default_step,
    "negative_gradient": negative_gradient_step,
}
"""Name -> function, sorted."""


def get_step_function(name: str) -> StepFunction:
    """Return a step function by name.

    Raises
    ------
    ChoiceError
        The name is unknown.
    """
    return STEP_FUNCTIONS[check_choice("step_function", "step function", str(name).lower(), STEP_FUNCTIONS)]


@dataclass(frozen=True)
class Segment:
    """A stretch of the flat vector that is treated alike.

    Parameters
    ----------
    start, stop : int
        Elements of the flat vector.
    updater : Updater
    regularization : tuple of Regularization
        Applied in order, before the updater or after it.
    running : bool
        Its part of the gradient vector is how far it goes: subtracted, whatever the step function. With `NoOp`.
    divided : bool
        Whether the part of one that is running is divided by the batch size, as others' are.
    resting : int, optional
        Number of the layer whose pretraining alone trains it: it is not updated, and its state stays. Only those of one
        layer share a block.
    """

    start: int
    stop: int
    updater: Updater
    regularization: tuple[Regularization, ...] = ()
    running: bool = False
    divided: bool = True
    resting: int | None = None


class Block(NamedTuple):
    """A maximal run of segments with the same updater: its state is [state 1 of all | state 2 of all | ...].

    Running segments, and those that are not divided, are apart from others: they have no state that it would change.
    So are resting ones, whose state does not change with the others'.
    """

    updater: Updater
    segments: tuple[Segment, ...]
    state_starts: tuple[int, ...]
    """Where in the vector of states each state would begin if it covered the whole flat vector."""

    def start_states(self, state: Array) -> None:
        """Put the updater's initial state into ``state [1, m]``, which is 0."""
        first, stop = self.segments[0].start, self.segments[-1].stop
        for begin, value in zip(self.state_starts, self.updater.initial_state, strict=True):
            if value != 0.0 and stop > first:
                nd.fill(state[0, begin + first : begin + stop], value)

    @property
    def running(self) -> bool:
        """Whether its segments are."""
        return self.segments[0].running

    @property
    def divided(self) -> bool:
        """Whether its segments are."""
        return self.segments[0].divided


def blocks_of(segments: Sequence[Segment]) -> tuple[list[Block], int]:
    """Return the blocks of a vector, and the length of all their states."""
    blocks, offset = [], 0
    keys = ("updater", "running", "divided", "resting")
    for (updater, *_), run in groupby(segments, key=attrgetter(*keys)):
        alike = tuple(run)
        first, length = alike[0].start, alike[-1].stop - alike[0].start
        states = len(updater.state_names)
        blocks.append(Block(updater, alike, tuple(offset + number * length - first for number in range(states))))
        offset += length * states
    return blocks, offset


class ChunkTerms(NamedTuple):
    """What an update of a chunk has computed with: its place in the flat vectors, its updater, and what that knows."""

    start: int
    stop: int
    updater: Updater
    arrays: dict[str, Array]
    """Parameters and update ``[n]`` after it, and the states by the updater's names."""
    coefficients: tuple[Any, ...]
    """Of the updater, floats or arrays ``[]``."""
    penalties: tuple[tuple[Regularization, Any], ...]
    """Those on some elements at least, and their coefficients."""


class Chunk:
    """A stretch of the flat vectors that is treated alike: what an update does with it.

    Parameters
    ----------
    start, stop : int
    number : int
        Of the block that it belongs to.
    block : Block
    penalties : sequence of (Regularization, int, array or None)
        Those that hold for some elements at least: the penalty, its number among all of the network's, and ones where
        it holds, None where that is everywhere.

    Attributes
    ----------
    on_update : callable, optional
        Called with None where an update begins, and with the `ChunkTerms` at its end: marks for a trace.
    """

    on_update: Callable[[ChunkTerms | None], object] | None = None

    def __init__(
        self,
        start: int,
        stop: int,
        number: int,
        block: Block,
        penalties: Sequence[tuple[Regularization, int, Array | None]],
    ) -> None:
        self.start, self.stop, self.number, self._block = start, stop, number, block
        self._penalties = [penalty for penalty, _, _ in penalties]
        self._places = [place for _, place, _ in penalties]
        self._where = [where for _, _, where in penalties]
        self._formulas: dict[tuple[object, ...], Callable[..., None]] = {}

    def take(self, block: Block) -> None:
        """Have the updater of another block, which begins and ends where this one's does."""
        self._block = block
        self._formulas.clear()

    def update(
        self,
        vectors: Sequence[Array],
        scratch: Array,
        numbers: tuple[Any, Sequence[Any], Sequence[Sequence[Any]]],
        step: StepFunction,
        divide: bool,
        cells: tuple[Array, ...],
        last: bool,
    ) -> None:
        """Add up and divide the gradient, add the penalties', turn it into the update, take the step.

        A penalty that is `post_updater` is added to the update.

        Parameters
        ----------
        vectors : sequence of array ``[n]``
            Parameters, gradient, states, then gradients that are added to the gradient first.
        scratch : array
            At least as long as the chunk.
        numbers : (divisor, coefficients of all penalties, coefficients of every block's updater)
            Floats, or arrays ``[]``.
        step : StepFunction
        divide : bool
        cells : tuple of array ``[]``
            Those of a `DeviceGuard`: with them the update is undone where it must not be.
        last : bool
            Whether it is the last chunk, which counts the update.
        """
        if self.on_update is not None:
            self.on_update(None)
        params, gradient, state, *others = vectors
        place, block = slice(self.start, self.stop), self._block
        states = [state[begin + self.start : begin + self.stop] for begin in block.state_starts]
        step = negative_gradient_step if block.running else step
        divide = divide and block.divided
        where = [ones for ones in self._where if ones is not None]
        arrays = (scratch[: self.stop - self.start], params[place], gradient[place], *(x[place] for x in others))
        divisor, coefficients, of_updaters = numbers
        of_penalties = [coefficients[place] for place in self._places]
        formula = self._formula(step, divide, len(others), (1 + last) * bool(cells))
        formula(*arrays, *states, *where, *cells, divisor, *of_penalties, *of_updaters[self.number])
        if self.on_update is not None:
            self.on_update(self.terms(vectors, numbers))

    def terms(
        self, vectors: Sequence[Array], numbers: tuple[Any, Sequence[Any], Sequence[Sequence[Any]]]
    ) -> ChunkTerms:
        """Return what `update` has computed with, from its arguments: views."""
        place, updater = slice(self.start, self.stop), self._block.updater
        begins = zip(updater.state_names, self._block.state_starts, strict=True)
        states = {name: vectors[2][begin + self.start : begin + self.stop] for name, begin in begins}
        arrays = {"parameters": vectors[0][place], "update": vectors[1][place], **states}
        of_penalties = tuple(
            (penalty, numbers[1][place]) for penalty, place in zip(self._penalties, self._places, strict=True)
        )
        return ChunkTerms(self.start, self.stop, updater, arrays, tuple(numbers[2][self.number]), of_penalties)

    def _formula(self, step: StepFunction, divide: bool, others: int, guarded: int) -> Callable[..., None]:
        """Return what `update` does; `guarded` is 0 without a device's guard, 2 for the last chunk."""
        key = (step, divide, others, guarded)
        formula = self._formulas.get(key)
        if formula is None:
            updater, states = self._block.updater, len(self._block.state_starts)
            everywhere = [(penalty, ones is None) for penalty, ones in zip(self._penalties, self._where, strict=True)]
            formula = partial(_update, updater, everywhere, step, divide, others, states, guarded)
            parts: list[Part] = [updater, *self._penalties]
            if all(part.pure for part in parts) and getattr(step, "pure", False):
                formula = nd.elementwise(formula, scratch=(0,))
            self._formulas[key] = formula
        return formula


def _update(
    updater: Updater,
    penalties: Sequence[tuple[Regularization, bool]],
    step: StepFunction,
    divide: bool,
    others: int,
    states: int,
    guarded: int,
    scratch: Array,
    params: Array,
    gradient: Array,
    *rest: Any,
) -> None:
    """Update on what `Chunk.update` hands over, element by element."""
    more = iter(rest)
    added, of_state = _next(more, others), _next(more, states)
    where = [None if everywhere else next(more) for _, everywhere in penalties]
    cells = _next(more, CELLS if guarded else 0)
    changing = (params, *of_state)
    before = tuple(nd.copy(array) for array in changing) if guarded else ()
    for other in added:
        nd.addi(gradient, other)
    divisor = next(more)
    if divide:
        nd.divi(gradient, divisor)
    of_penalties = [
        (penalty, coefficient if ones is None else nd.multiply(ones, coefficient))
        for (penalty, _), ones, coefficient in zip(penalties, where, _next(more, len(penalties)), strict=True)
    ]
    for penalty, coefficient in of_penalties:
        if not penalty.post_updater:
            penalty.apply(params, gradient, scratch, coefficient)
    returned = updater.apply(gradient, of_state, scratch, tuple(more))  # type: ignore[func-returns-value]
    if returned is not None:
        _check_returned(updater, returned, (gradient, *of_state, scratch))
    for penalty, coefficient in of_penalties:
        if penalty.post_updater:
            penalty.apply(params, gradient, scratch, coefficient)
    step(params, gradient, 1.0)
    if guarded:
        from .device_guard import protect  # which no host needs

        protect(cells, changing, before, guarded == 2)


def _next(more: Iterator[object], count: int) -> tuple[Any, ...]:
    return tuple(islice(more, count))


def _check_returned(updater: Updater, returned: object, written: Sequence[Array]) -> None:
    """Raise ConfigurationError where an updater has returned a new array: nobody looks at it."""
    if nd.is_array(returned) and all(returned is not array for array in written):
        raise nd.ConfigurationError(
            f"{type(updater).__name__}: apply must turn gradient into the update in its own memory, got another array "
            "returned. Write nd.assign(gradient, ...)."
        )


def penalties_of(blocks: Sequence[Block]) -> dict[tuple[int, int], tuple[Updater, Regularization]]:
    """Return every penalty of every block once, with the block's updater: (block, id of the penalty) -> both."""
    return {
        (number, id(penalty)): (block.updater, penalty)
        for number, block in enumerate(blocks)
        for segment in block.segments
        for penalty in segment.regularization
    }


def chunks_of(blocks: Sequence[Block], share: tuple[int, int], plan: nd.UpdatePlan, dtype: str) -> list[Chunk]:
    """Cut a worker's share of the flat vectors into chunks as long as the plan says; what rests is left out."""
    places = {key: place for place, key in enumerate(penalties_of(blocks))}
    chunks: list[Chunk] = []
    for number, block in enumerate(blocks):
        if block.segments[0].resting is not None:
            continue
        for regularization, first, stop in _alike(block, plan.most_merged):
            end = min(stop, share[1])
            for start in range(max(first, share[0]), end, plan.chunk):
                chunk_end = min(start + plan.chunk, end)
                penalties = [
                    (penalty, places[number, id(penalty)], _where(penalty, block, start, chunk_end, dtype))
                    for penalty in regularization
                ]
                chunks.append(Chunk(start, chunk_end, number, block, penalties))
    return chunks


def _alike(block: Block, most_merged: int) -> Iterable[tuple[tuple[Regularization, ...], int, int]]:
    """Yield the runs of a block's elements that are treated in one go, with the penalties on some of them at least."""
    if most_merged:
        different: list[Regularization] = []
        for segment in block.segments:
            different += [penalty for penalty in segment.regularization if penalty not in different]
        if len(different) <= most_merged:
            yield tuple(different), block.segments[0].start, block.segments[-1].stop
            return
    for regularization, run in groupby(block.segments, key=lambda segment: segment.regularization):
        alike = list(run)
        yield regularization, alike[0].start, alike[-1].stop


def _where(penalty: Regularization, block: Block, start: int, stop: int, dtype: str) -> Array | None:
    """Return ones for the elements of a stretch that have a penalty, and zeros; None where all have it."""
    inside = [segment for segment in block.segments if segment.start < stop and segment.stop > start]
    if all(penalty in segment.regularization for segment in inside):
        return None
    where = nd.zeros(stop - start, dtype=dtype)
    for segment in inside:
        if penalty in segment.regularization:
            nd.fill(where[max(segment.start, start) - start : min(segment.stop, stop) - start], 1.0)
    return where
