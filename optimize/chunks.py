"""A network's flat vectors in chunks that fit the cache, and the update of a chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple
from weakref import ref

import nd
from nd.checks import check_choice
from nd.part import Part, pure
from nd.typing import Array

from .regularization import Regularization
from .step_result import WATCHED, protect
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
    """

    start: int
    stop: int
    updater: Updater
    regularization: tuple[Regularization, ...] = ()
    running: bool = False
    divided: bool = True


class Block(NamedTuple):
    """A maximal run of segments with the same updater: its state is [state 1 of all | state 2 of all | ...].

    Running segments, and those that are not divided, are apart from others: they have no state that it would change.
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
    treatments = groupby(segments, key=lambda segment: (segment.updater, segment.running, segment.divided))
    for (updater, _, _), run in treatments:
        alike = tuple(run)
        first, length = alike[0].start, alike[-1].stop - alike[0].start
        states = len(updater.state_names)
        blocks.append(Block(updater, alike, tuple(offset + number * length - first for number in range(states))))
        offset += length * states
    return blocks, offset


class Numbers(NamedTuple):
    """Factors and divisors of an update: floats, or arrays with one number each."""

    batch_size: Any
    rate: Any
    penalties: Sequence[Any]
    coefficients: Sequence[Sequence[Any]]
    """Of every block's updater."""

    def flat(self) -> list[Any]:
        """Return all of them in one list."""
        numbers = [self.batch_size, self.rate, *self.penalties]
        for coefficients in self.coefficients:
            numbers += coefficients
        return numbers

    def with_values(self, values: Sequence[Any]) -> Numbers:
        """Return others, in the order of `flat`."""
        rest = iter(values)
        batch_size, rate = next(rest), next(rest)
        penalties = [next(rest) for _ in self.penalties]
        return Numbers(batch_size, rate, penalties, [[next(rest) for _ in block] for block in self.coefficients])


class Penalised(NamedTuple):
    """A penalty on a stretch, the place of its coefficient, and ones where it holds, None where that is everywhere."""

    penalty: Regularization
    place: int
    where: Array | None


class Stretch(NamedTuple):
    """As many elements of the flat vector as are treated in one go."""

    start: int
    stop: int
    block: Block
    number: int
    """Of the block."""
    penalties: tuple[Penalised, ...]


class Way(NamedTuple):
    """Settings of an update, the same for all of its chunks."""

    divide: bool
    """Whether the gradient is divided by the batch size."""
    step: StepFunction
    watched: tuple[Array, ...]
    """The arguments of `protect`, where the device decides whether the update is made."""
    pure: bool
    """Whether it may be recorded."""


def _weakly(method: Callable[..., None]) -> Callable[..., None]:
    """Return a method that does not keep its object, which keeps it: chunks hold views of a network's vectors."""
    weak, function = ref(method.__self__), method.__func__  # type: ignore[attr-defined]  # a WeakMethod's end is Python's

    def call(*arguments: Any) -> None:
        owner = weak()
        if owner is not None:
            function(owner, *arguments)

    return call


class Chunk:
    """Views of what the update of one stretch reads and writes.

    Parameters
    ----------
    stretch : Stretch
    arrays : sequence of array ``[n]``
        Parameters, gradient, states, then gradients that are added to the gradient first.
    scratch : array
        At least as long as the stretch.
    """

    def __init__(self, stretch: Stretch, arrays: Sequence[Array], scratch: Array) -> None:
        params, gradient, state, *others = arrays
        place = slice(stretch.start, stretch.stop)
        self.stretch, block = stretch, stretch.block
        self.params, self.gradient = params[place], gradient[place]
        self.others = tuple(other[place] for other in others)
        self.states = tuple(state[begin + stretch.start : begin + stretch.stop] for begin in block.state_starts)
        self.scratch = scratch[: stretch.stop - stretch.start]
        self._updater = block.updater
        self._formulas: dict[tuple[Any, ...], Callable[..., None]] = {}

    def update(self, numbers: Numbers, way: Way, updater: Updater, last: bool) -> None:
        """Add up and divide the gradient, add the penalties', turn it into the update, take the step.

        A penalty that is `post_updater` is added to the update. With what a `DeviceWatch` watches it is undone where it
        must not be; the `last` chunk counts it.
        """
        stretch, block = self.stretch, self.stretch.block
        divide = way.divide and block.divided
        step = negative_gradient_step if block.running else way.step
        where = [penalised.where for penalised in stretch.penalties if penalised.where is not None]
        penalties = [numbers.penalties[penalised.place] for penalised in stretch.penalties]
        scalars = (numbers.batch_size, numbers.rate, *penalties, *numbers.coefficients[stretch.number])
        self._updater = updater
        formula = self._formula(divide, step, (1 + last) * bool(way.watched))
        arrays = (self.scratch, self.params, self.gradient, *self.others, *self.states, *where, *way.watched)
        formula(*arrays, *scalars)

    def _formula(self, divide: bool, step: StepFunction, watch: int) -> Callable[..., None]:
        """`watch` is 0 without a watch, 2 for the last chunk."""
        key = (divide, step, watch)
        formula = self._formulas.get(key)
        if formula is None:
            formula = partial(_weakly(self._update), divide, step)
            if watch:
                formula = partial(_weakly(self._guarded), watch == 2, divide, step)
            parts: tuple[Part, ...] = (self._updater, *(penalised.penalty for penalised in self.stretch.penalties))
            if all(part.pure for part in parts) and getattr(step, "pure", False):
                formula = nd.elementwise(formula, scratch=(0,))
            self._formulas[key] = formula
        return formula

    def _guarded(
        self,
        last: bool,
        divide: bool,
        step: StepFunction,
        scratch: Array,
        params: Array,
        gradient: Array,
        *rest: Any,
    ) -> None:
        """`_update`, undone where it must not be."""
        arrays = len(self.others) + len(self.states)
        arrays += sum(penalised.where is not None for penalised in self.stretch.penalties)
        watched = rest[arrays : arrays + WATCHED]
        changing = (params, *rest[len(self.others) : len(self.others) + len(self.states)])
        before = tuple(nd.copy(array) for array in changing)
        self._update(divide, step, scratch, params, gradient, *rest[:arrays], *rest[arrays + WATCHED :])
        protect(watched, changing, before, last)

    def _update(
        self, divide: bool, step: StepFunction, scratch: Array, params: Array, gradient: Array, *rest: Any
    ) -> None:
        """`update`, on what it hands over, element by element."""
        more = iter(rest)
        for _ in self.others:
            nd.addi(gradient, next(more))
        states = tuple(next(more) for _ in self.states)
        where = [None if penalised.where is None else next(more) for penalised in self.stretch.penalties]
        batch_size, rate = next(more), next(more)
        if divide:
            nd.divi(gradient, batch_size)
        penalties = []
        for penalised, ones in zip(self.stretch.penalties, where, strict=True):
            coefficient = next(more)
            penalties.append((penalised.penalty, coefficient if ones is None else nd.multiply(ones, coefficient)))
        for penalty, coefficient in penalties:
            if not penalty.post_updater:
                penalty.apply(params, gradient, scratch, coefficient)
        returned = self._updater.apply(gradient, states, scratch, tuple(more))  # type: ignore[func-returns-value]
        if returned is not None:
            self._check_returned(returned, (gradient, *states, scratch))
        for penalty, coefficient in penalties:
            if penalty.post_updater:
                penalty.apply(params, gradient, scratch, coefficient)
        step(params, gradient, rate)

    def _check_returned(self, returned: Any, written: Sequence[Array]) -> None:
        """Raise ConfigurationError where an updater has returned a new array: nobody looks at it."""
        if nd.is_array(returned) and all(returned is not array for array in written):
            who = type(self._updater).__name__
            raise nd.ConfigurationError(
                f"{who}: apply must turn gradient into the update in its own memory, got another array returned. Write "
                "nd.assign(gradient, ...)."
            )


def chunks_of(stretches: Sequence[Stretch], arrays: Sequence[Array]) -> list[Chunk]:
    """Return the chunks of stretches with a common scratch; `arrays` as for `Chunk`."""
    size = max((stretch.stop - stretch.start for stretch in stretches), default=1)
    scratch = nd.create_uninitialized(size, dtype=nd.dtype_name(arrays[0]))
    return [Chunk(stretch, arrays, scratch) for stretch in stretches]


def update_chunks(chunks: Sequence[Chunk], blocks: Sequence[Block], numbers: Numbers, way: Way) -> Array:
    """Update one chunk after the other; return an array that was written."""
    for chunk in chunks:
        chunk.update(numbers, way, blocks[chunk.stretch.number].updater, last=chunk is chunks[-1])
    return chunks[-1].params


def penalties_of(blocks: list[Block]) -> dict[tuple[int, int], tuple[Updater, Regularization]]:
    """Return every penalty of every block once, with the block's updater: (block, id of the penalty) -> both."""
    return {
        (number, id(penalty)): (block.updater, penalty)
        for number, block in enumerate(blocks)
        for segment in block.segments
        for penalty in segment.regularization
    }


def cut(blocks: list[Block], share: tuple[int, int], plan: nd.UpdatePlan, dtype: str) -> list[Stretch]:
    """Cut a share of the flat vector into stretches that are treated alike, as long as the plan says."""
    places = {key: place for place, key in enumerate(penalties_of(blocks))}
    stretches: list[Stretch] = []
    for number, block in enumerate(blocks):
        for regularization, first, stop in _alike(block, plan.most_merged):
            end = min(stop, share[1])
            for start in range(max(first, share[0]), end, plan.chunk):
                chunk_end = min(start + plan.chunk, end)
                penalties = tuple(
                    Penalised(penalty, places[number, id(penalty)], _where(penalty, block, start, chunk_end, dtype))
                    for penalty in regularization
                )
                stretches.append(Stretch(start, chunk_end, block, number, penalties))
    return stretches


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
