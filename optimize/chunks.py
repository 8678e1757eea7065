"""A network's flat vectors in chunks that fit the cache, and the update of a chunk.

An update is a dozen operations on every parameter. Done one after the other over the whole vectors they would be bound
by memory: so all of them are done on one chunk, which stays in the cache, then on the next. A chunk holds what is
treated alike, one updater with its penalties; backends say how long it may be, and which share each worker has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, NamedTuple

import nd
from nd.part import Part
from nd.typing import Array

from .regularization import Regularization, different, indicator
from .step import CELLS, StepFunction, negative_gradient_step
from .updaters import Updater


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
    state_starts: tuple[int, ...]  # where each state would begin if it covered the whole flat vector
    penalties: tuple[Regularization, ...]  # of all its segments, each once

    @property
    def place(self) -> slice:
        """Its elements of the flat vector."""
        return slice(self.segments[0].start, self.segments[-1].stop)


def blocks_of(segments: Sequence[Segment]) -> tuple[list[Block], int]:
    """Return the blocks of a vector, and the length of all their states."""
    blocks, offset = [], 0
    for (updater, *_), run in groupby(segments, key=attrgetter("updater", "running", "divided", "resting")):
        alike = tuple(run)
        first, length = alike[0].start, alike[-1].stop - alike[0].start
        starts = tuple(offset + number * length - first for number in range(len(updater.state_names)))
        penalties = different(penalty for segment in alike for penalty in segment.regularization)
        blocks.append(Block(updater, alike, starts, penalties))
        offset += length * len(starts)
    return blocks, offset


class Key(NamedTuple):
    """What decides on the operations of an update."""

    step: StepFunction
    divide: bool
    others: int  # gradients that are added to the first


Numbers = tuple[Any, tuple[Any, ...], tuple[tuple[Any, ...], ...]]
"""Divisor, coefficients of all blocks' penalties, of every block's updater: floats, or arrays ``[]``."""


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


@dataclass(eq=False)
class Chunk:
    """A stretch of the flat vectors that is treated alike: what an update does with it."""

    start: int
    stop: int
    number: int  # of the block
    block: Block  # replaced by one with another updater where rates change; then without the formulas
    penalties: Sequence[tuple[Regularization, int, Array | None]]
    """Those that hold for some elements at least, their numbers among all blocks', and ones where they hold; None where
    that is everywhere."""
    formulas: dict[object, Callable[..., None]] = field(default_factory=dict)
    on_update: Callable[[Callable[[], ChunkTerms] | None], object] | None = None
    """Called with None where an update begins, and with what returns the `ChunkTerms` at its end: marks for a trace."""

    def update(
        self,
        vectors: Sequence[Array],
        scratch: Array,
        numbers: Numbers,
        key: Key,
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
        cells : tuple of array ``[]``
            Those of a `DeviceGuard`: with them the update is undone where it must not be.
        last : bool
            Whether it is the last chunk, which counts the update.
        """
        if self.on_update is not None:
            self.on_update(None)
        params, gradient, state, *others = vectors
        place, block = slice(self.start, self.stop), self.block
        states = [state[begin + self.start : begin + self.stop] for begin in block.state_starts]
        ones = [where for _, _, where in self.penalties if where is not None]
        arrays = (scratch[: self.stop - self.start], params[place], gradient[place], *(x[place] for x in others))
        divisor, of_penalties, of_updaters = numbers
        coefficients = [of_penalties[penalty] for _, penalty, _ in self.penalties]
        guarded = (1 + last) * bool(cells)
        formula = self.formulas.get((key, guarded))
        if formula is None:
            formula = partial(self._compute, key, guarded)
            parts: list[Part] = [block.updater, *block.penalties]
            if all(part.pure for part in parts) and getattr(key.step, "pure", False):
                formula = nd.elementwise(formula, scratch=(0,))
            self.formulas[key, guarded] = formula
        formula(*arrays, *states, *ones, *cells, divisor, *coefficients, *of_updaters[self.number])
        if self.on_update is not None:
            self.on_update(partial(self.terms, vectors, numbers))

    def terms(self, vectors: Sequence[Array], numbers: Numbers) -> ChunkTerms:
        """Return what `update` has computed with, from its arguments: views."""
        place, updater = slice(self.start, self.stop), self.block.updater
        begins = zip(updater.state_names, self.block.state_starts, strict=True)
        states = {name: vectors[2][begin + self.start : begin + self.stop] for name, begin in begins}
        arrays = {"parameters": vectors[0][place], "update": vectors[1][place], **states}
        penalties = tuple((penalty, numbers[1][number]) for penalty, number, _ in self.penalties)
        return ChunkTerms(self.start, self.stop, updater, arrays, tuple(numbers[2][self.number]), penalties)

    def _compute(self, key: Key, guarded: int, scratch: Array, params: Array, gradient: Array, *rest: Any) -> None:
        """Update on what `update` hands over, element by element; `guarded` is 2 for the last chunk on a device."""
        block, more = self.block, iter(rest)
        some = sum(where is not None for _, _, where in self.penalties)
        counts = (key.others, len(block.state_starts), some, CELLS if guarded else 0, 1, len(self.penalties))
        others, states, ones, cells, (divisor,), coefficients = [tuple(islice(more, count)) for count in counts]
        changing = (params, *states)
        before = tuple(map(nd.copy, changing)) if guarded else ()
        for other in others:
            nd.addi(gradient, other)
        if key.divide and block.segments[0].divided:
            nd.divi(gradient, divisor)
        left = iter(ones)
        penalties = [
            (penalty, coefficient if where is None else nd.multiply(next(left), coefficient))
            for (penalty, _, where), coefficient in zip(self.penalties, coefficients, strict=True)
        ]
        for penalty, coefficient in penalties:
            if not penalty.post_updater:
                penalty.apply(params, gradient, scratch, coefficient)
        updater: Any = block.updater
        returned = updater.apply(gradient, states, scratch, tuple(more))
        given = (None, gradient, *states, scratch)
        if all(returned is not one for one in given) and nd.is_array(returned):
            raise nd.ConfigurationError(  # nobody looks at it
                f"{type(updater).__name__}: apply must turn gradient into the update in its own memory, got another "
                "array returned. Write nd.assign(gradient, ...)."
            )
        for penalty, coefficient in penalties:
            if penalty.post_updater:
                penalty.apply(params, gradient, scratch, coefficient)
        step = negative_gradient_step if block.segments[0].running else key.step
        step(params, gradient, 1.0)
        if guarded:
            from .device_guard import protect  # which no host needs

            protect(cells, changing, before, guarded == 2)


def shares_of(blocks: Sequence[Block], plan: nd.UpdatePlan, dtype: str) -> list[list[Chunk]]:
    """Cut the flat vectors into chunks as long as the plan says; return every worker's, what rests is left out.

    A worker has the chunks whose middle lies in its share: none is cut where a share ends, because the end of a vector
    may be rounded in another way than its middle (by one multiplication and addition fused, or not). So the bits do
    not depend on the number of workers.
    """
    shares: list[list[Chunk]] = [[] for _ in plan.shares]
    for chunk in _chunks_of(blocks, plan, dtype):
        middle = (chunk.start + chunk.stop) // 2
        shares[sum(stop <= middle for _, stop in plan.shares)].append(chunk)
    return [share for share in shares if share]


def _chunks_of(blocks: Sequence[Block], plan: nd.UpdatePlan, dtype: str) -> list[Chunk]:
    chunks: list[Chunk] = []
    before = 0
    for number, block in enumerate(blocks):
        for regularization, first, stop in _alike(block, plan.most_merged):
            for start in range(first, stop, plan.chunk):
                chunk_end = min(start + plan.chunk, stop)
                penalties = [
                    (penalty, before + block.penalties.index(penalty), _where(penalty, block, start, chunk_end, dtype))
                    for penalty in regularization
                ]
                chunks.append(Chunk(start, chunk_end, number, block, penalties))
        before += len(block.penalties)
    return chunks


def _alike(block: Block, most_merged: int) -> Iterable[tuple[tuple[Regularization, ...], int, int]]:
    """Yield the runs of a block's elements that are treated in one go, with the penalties on some of them at least."""
    if block.segments[0].resting is not None:
        return
    if most_merged and len(block.penalties) <= most_merged:
        yield block.penalties, block.place.start, block.place.stop
        return
    for regularization, run in groupby(block.segments, key=attrgetter("regularization")):
        alike = list(run)
        yield regularization, alike[0].start, alike[-1].stop


def _where(penalty: Regularization, block: Block, start: int, stop: int, dtype: str) -> Array | None:
    """Return ones for the elements of a stretch that have a penalty, and zeros; None where all have it."""
    inside = [segment for segment in block.segments if segment.start < stop and segment.stop > start]
    everywhere = all(penalty in segment.regularization for segment in inside)
    return None if everywhere else indicator(inside, penalty, start, stop, dtype)
