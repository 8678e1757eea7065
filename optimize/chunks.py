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


class Numbers:
    """The numbers of an update, one list: minibatch size, rate, every block's coefficients, every penalty's.

    Parameters
    ----------
    blocks : list of Block
    """

    BATCH_SIZE, RATE, FIRST = 0, 1, 2

    def __init__(self, blocks: list[Block]) -> None:
        self._blocks = blocks
        self.places: list[slice] = []
        """Where the coefficients of each block are."""
        end = self.FIRST
        for block in blocks:
            start, end = end, end + len(block.updater.coefficients(0, 0))
            self.places.append(slice(start, end))
        distinct = {
            id(penalty): penalty for block in blocks for each in block.segments for penalty in each.regularization
        }
        self._penalties = list(distinct.values())
        self._first_penalty = end
        self._place_of = {key: end + number for number, key in enumerate(distinct)}

    def place_of(self, penalty: Regularization) -> int:
        """Return where the coefficient of a penalty is."""
        return self._place_of[id(penalty)]

    def at(self, batch_size: int | None, iteration: int, epoch: int, rate: float) -> list[float]:
        """Return the numbers of one update."""
        numbers = [1.0 if batch_size is None else batch_size, rate]
        for block in self._blocks:
            numbers += block.updater.coefficients(iteration, epoch)
        return numbers + [penalty.at(iteration, epoch) for penalty in self._penalties]


class Chunk(NamedTuple):
    """Views of as many elements as the backend treats in one go."""

    params: Array
    gradient: Array
    states: tuple[Array, ...]
    scratch: Array
    updater: Updater
    coefficients: slice
    penalties: tuple[tuple[Regularization, int], ...]

    def update(self, numbers: Sequence[Any], divide: bool, step: StepFunction) -> None:
        """Divide the gradient by the minibatch size, add the penalties', turn it into the update, take the step."""
        if divide:
            nd.divi(self.gradient, numbers[Numbers.BATCH_SIZE])
        for penalty, place in self.penalties:
            penalty.apply(self.params, self.gradient, self.scratch, numbers[place])
        self.updater.apply(self.gradient, self.states, self.scratch, numbers[self.coefficients])
        step(self.params, self.gradient, numbers[Numbers.RATE])


def cut(
    blocks: list[Block], numbers: Numbers, vectors: tuple[Array, Array, Array], border: tuple[int, int]
) -> list[Chunk]:
    """Cut what lies between two borders of ``params, gradient, state [n]`` into chunks with a common scratch."""
    params, gradient, state = vectors
    chunks: list[Chunk] = []
    size = max(min(nd.backend().update_chunk, border[1] - border[0]), 1)
    scratch = nd.create_uninitialized(size, dtype=nd.dtype_name(params))
    for block, place in zip(blocks, numbers.places, strict=True):
        for regularization, start, stop in _stretches(block, border, size):
            here = slice(start, stop)
            states = tuple(state[begin + start : begin + stop] for begin in block.state_starts)
            penalties = tuple((penalty, numbers.place_of(penalty)) for penalty in regularization)
            parts = (params[here], gradient[here], states, scratch[: stop - start])
            chunks.append(Chunk(*parts, block.updater, place, penalties))
    return chunks


def _stretches(
    block: Block, border: tuple[int, int], size: int
) -> Iterable[tuple[tuple[Regularization, ...], int, int]]:
    for regularization, alike in groupby(block.segments, key=lambda segment: segment.regularization):
        segments = list(alike)
        end = min(segments[-1].stop, border[1])
        for start in range(max(segments[0].start, border[0]), end, size):
            yield regularization, start, min(start + size, end)
