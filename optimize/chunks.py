"""A network's flat vectors in chunks that fit the cache, and the update of a chunk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import nd

from .regularization import Regularization
from .step_functions import StepFunction
from .updaters import Updater

Array = Any


@dataclass(frozen=True)
class Segment:
    """A stretch of the flat vector that is treated alike.

    Parameters
    ----------
    start, stop : int
        Elements of the flat vector.
    updater : Updater
    regularization : tuple of Regularization
        Applied in order, before the updater.
    """

    start: int
    stop: int
    updater: Updater
    regularization: tuple[Regularization, ...] = ()


class Block(NamedTuple):
    """A maximal run of segments with the same updater: its state is [state 1 of all | state 2 of all | ...]."""

    updater: Updater
    segments: tuple[Segment, ...]
    state_starts: tuple[int, ...]
    """Where in the vector of states each state would begin if it covered the whole flat vector."""


def blocks_of(segments: Sequence[Segment]) -> tuple[list[Block], int]:
    """Return the blocks of a vector, and the length of all their states."""
    blocks, offset = [], 0
    for updater, run in groupby(segments, key=lambda segment: segment.updater):
        alike = tuple(run)
        first, length = alike[0].start, alike[-1].stop - alike[0].start
        states = len(updater.state_names)
        blocks.append(Block(updater, alike, tuple(offset + number * length - first for number in range(states))))
        offset += length * states
    return blocks, offset


class Numbers(NamedTuple):
    """What an update multiplies and divides by: floats, or arrays with one number each."""

    batch_size: Any
    rate: Any
    penalties: Sequence[Any]
    coefficients: Sequence[Sequence[Any]]
    """Of every block's updater."""

    def flat(self) -> list[Any]:
        """Return all of them in one list."""
        return [self.batch_size, self.rate, *self.penalties, *(each for block in self.coefficients for each in block)]

    def with_values(self, values: Sequence[Any]) -> Numbers:
        """Return others, in the order of `flat`."""
        rest = iter(values)
        batch_size, rate = next(rest), next(rest)
        penalties = [next(rest) for _ in self.penalties]
        return Numbers(batch_size, rate, penalties, [[next(rest) for _ in block] for block in self.coefficients])


class Chunk(NamedTuple):
    """Views of as many elements as the backend treats in one go."""

    params: Array
    gradient: Array
    others: tuple[Array, ...]
    """To be added to the gradient first."""
    states: tuple[Array, ...]
    scratch: Array
    updater: Updater
    block: int
    penalties: tuple[tuple[Regularization, int], ...]
    """With the place of their coefficients."""

    def update(self, numbers: Numbers, divide: bool, step: StepFunction) -> None:
        """Add up and divide the gradient, add the penalties', turn it into the update, take the step."""
        for other in self.others:
            nd.addi(self.gradient, other)
        if divide:
            nd.divi(self.gradient, numbers.batch_size)
        for penalty, place in self.penalties:
            penalty.apply(self.params, self.gradient, self.scratch, numbers.penalties[place])
        self.updater.apply(self.gradient, self.states, self.scratch, numbers.coefficients[self.block])
        step(self.params, self.gradient, numbers.rate)


def penalties_of(blocks: list[Block]) -> list[Regularization]:
    """Return every penalty once."""
    every = (penalty for block in blocks for segment in block.segments for penalty in segment.regularization)
    return list({id(penalty): penalty for penalty in every}.values())


def cut(
    blocks: list[Block],
    vectors: tuple[Array, Array, Array],
    border: tuple[int, int],
    others: Sequence[Array] = (),
    recorded: bool = False,
) -> list[Chunk]:
    """Cut what lies between two borders of ``params, gradient, state [n]`` into chunks with a common scratch.

    `others` are further gradients, to be added. `recorded` makes chunks whose update can be recorded.
    """
    params, gradient, state = vectors
    chunks: list[Chunk] = []
    size = max(min(nd.backend().update_chunk, border[1] - border[0]), 1)
    scratch = nd.create_uninitialized(size, dtype=nd.dtype_name(params))
    if recorded:
        params, gradient, state, scratch = (nd.traceable(each) for each in (params, gradient, state, scratch))
        others = [nd.traceable(each) for each in others]
    places = {id(penalty): place for place, penalty in enumerate(penalties_of(blocks))}
    for number, block in enumerate(blocks):
        for regularization, start, stop in _stretches(block, border, size):
            here = slice(start, stop)
            states = tuple(state[begin + start : begin + stop] for begin in block.state_starts)
            penalties = tuple((penalty, places[id(penalty)]) for penalty in regularization)
            more = tuple(other[here] for other in others)
            parts = (params[here], gradient[here], more, states, scratch[: stop - start])
            chunks.append(Chunk(*parts, block.updater, number, penalties))
    return chunks


def _stretches(
    block: Block, border: tuple[int, int], size: int
) -> Iterable[tuple[tuple[Regularization, ...], int, int]]:
    for regularization, alike in groupby(block.segments, key=lambda segment: segment.regularization):
        segments = list(alike)
        end = min(segments[-1].stop, border[1])
        for start in range(max(segments[0].start, border[0]), end, size):
            yield regularization, start, min(start + size, end)
