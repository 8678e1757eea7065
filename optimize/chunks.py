"""A network's flat vectors in chunks that fit the cache: what an update treats alike, made once.

An update is a dozen operations on every parameter. Done one after the other over the whole vectors they would be bound
by memory: so all of them are done on one chunk, which stays in the cache, then on the next. A chunk holds what is
treated alike, one updater with its penalties; backends say how long it may be, and which share each worker has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import nd
from nd.typing import Array

from .regularization import Regularization, different, indicator
from .step import StepFunction
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


def terms_of(chunk: Chunk, vectors: Sequence[Array], numbers: Numbers) -> ChunkTerms:
    """Return what an update of a chunk has computed with, from its arguments: views."""
    place, updater = slice(chunk.start, chunk.stop), chunk.block.updater
    begins = zip(updater.state_names, chunk.block.state_starts, strict=True)
    states = {name: vectors[2][begin + chunk.start : begin + chunk.stop] for name, begin in begins}
    arrays = {"parameters": vectors[0][place], "update": vectors[1][place], **states}
    penalties = tuple((penalty, numbers[1][number]) for penalty, number, _ in chunk.penalties)
    return ChunkTerms(chunk.start, chunk.stop, updater, arrays, tuple(numbers[2][chunk.number]), penalties)


def with_updaters(blocks: Sequence[Block], updaters: Sequence[Updater]) -> list[Segment]:
    """Return the segments of blocks with other updaters of the same classes; raise ConfigurationError for another."""
    segments = [segment for block in blocks for segment in block.segments]
    for segment, updater in zip(segments, updaters, strict=True):
        if type(segment.updater) is not type(updater):
            raise nd.ConfigurationError(
                f"NetworkUpdater: the state is that of {segment.updater!r}, got {updater!r} for it."
            )
    return [replace(segment, updater=updater) for segment, updater in zip(segments, updaters, strict=True)]


def begin_states(blocks: Sequence[Block], state: Array) -> None:
    """Fill ``state [m]``, which is zeros, with the values that updaters begin with."""
    for block in blocks:
        for begin, value in zip(block.state_starts, block.updater.initial_state, strict=True):
            if value != 0.0 and block.place.stop > block.place.start:
                nd.fill(state[begin + block.place.start : begin + block.place.stop], value)


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


def _chunks_of(blocks: Sequence[Block], plan: nd.UpdatePlan, dtype: str) -> Iterable[Chunk]:
    before = 0
    for number, block in enumerate(blocks):
        for regularization, first, stop in _alike(block, plan.most_merged):
            for start in range(first, stop, plan.chunk):
                chunk_end = min(start + plan.chunk, stop)
                penalties = [
                    (penalty, before + block.penalties.index(penalty), _where(penalty, block, start, chunk_end, dtype))
                    for penalty in regularization
                ]
                yield Chunk(start, chunk_end, number, block, penalties)
        before += len(block.penalties)


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


def runs_of(blocks: Sequence[Block], kind: str) -> list[slice]:
    """Return the place of every maximal run of blocks whose segments are of a kind."""
    runs = [(held, list(run)) for held, run in groupby(blocks, key=lambda block: getattr(block.segments[0], kind))]
    return [slice(run[0].place.start, run[-1].place.stop) for held, run in runs if held]


def move_states(before: Sequence[Block], now: Sequence[Block], state: Array) -> None:
    """Put every segment's states where other blocks of the same segments have them, in ``state [m]``."""
    if before and state.shape[0]:
        old = nd.copy(state)
        places = [(segment, block.state_starts) for block in before for segment in block.segments]
        targets = [block.state_starts for block in now for _ in block.segments]
        for (segment, sources), starts in zip(places, targets, strict=True):
            for source, target in zip(sources, starts, strict=True):
                numbers = old[source + segment.start : source + segment.stop]
                nd.assign(state[target + segment.start : target + segment.stop], numbers)


def add_penalties(blocks: Sequence[Block], params: Array, gradient: Array, counts: tuple[int, int]) -> None:
    """Add the gradients of the penalties that hold at an iteration and epoch to ``gradient [n]``."""
    dtype = nd.dtype_name(params)
    for segment in (segment for block in blocks for segment in block.segments):
        place = slice(segment.start, segment.stop)
        for penalty in segment.regularization:
            scratch = nd.create_uninitialized(segment.stop - segment.start, dtype=dtype)
            penalty.apply(params[place], gradient[place], scratch, penalty.at(*counts))
