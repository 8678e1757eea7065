"""One pass over a network's flat vectors: divide, regularise, update, step."""

from __future__ import annotations

import math
from collections.abc import Sequence
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


class _Chunk(NamedTuple):
    """Views of as many elements as the backend treats in one go."""

    params: Array
    gradient: Array
    states: tuple[Array, ...]
    scratch: Array
    regularization: tuple[Regularization, ...]


class _Block(NamedTuple):
    """A maximal run of segments with the same updater: its state is [state 1 of all | state 2 of all | ...]."""

    updater: Updater
    chunks: list[_Chunk]


class NetworkUpdater:
    """The updaters of a whole network over its flat parameter and gradient vectors.

    Every step of the update runs on one chunk while it is in the cache, then on the next.

    Parameters
    ----------
    segments : sequence of Segment
        In the order of the vector, without gaps.
    params, gradient : arrays ``[1, n]``
        The network's own; the updater keeps views of them.

    Notes
    -----
    Source: DL4J ``BaseMultiLayerUpdater`` and ``UpdaterBlock``, whose state layout this repeats.
    """

    def __init__(self, segments: Sequence[Segment], params: Array, gradient: Array) -> None:
        runs = [list(run) for _, run in groupby(segments, key=lambda segment: segment.updater)]
        sizes = [(run[-1].stop - run[0].start) * len(run[0].updater.state_names) for run in runs]
        self.state = nd.zeros(1, sum(sizes), dtype=nd.dtype_name(params))
        self._backend = nd.backend()
        flat = [nd.reshape_view(vector, (vector.shape[1],)) for vector in (params, gradient, self.state)]
        self._gradient = flat[1]
        chunk_length = min(nd.backend().update_chunk, max(params.shape[1], 1))
        self._scratch = nd.create_uninitialized(chunk_length, dtype=nd.dtype_name(params))
        self._blocks = []
        offset = 0
        for run, size in zip(runs, sizes, strict=True):
            self._blocks.append(_Block(run[0].updater, self._chunks(run, flat, offset, chunk_length)))
            offset += size

    def _chunks(self, run: list[Segment], flat: list[Array], state_offset: int, chunk_length: int) -> list[_Chunk]:
        params, gradient, state = flat
        first, length = run[0].start, run[-1].stop - run[0].start
        state_starts = [state_offset + number * length - first for number in range(len(run[0].updater.state_names))]
        chunks = []
        for regularization, alike in groupby(run, key=lambda segment: segment.regularization):
            stretch = list(alike)
            for start in range(stretch[0].start, stretch[-1].stop, chunk_length):
                stop = min(start + chunk_length, stretch[-1].stop)
                states = tuple(state[begin + start : begin + stop] for begin in state_starts)
                scratch = self._scratch[: stop - start]
                chunks.append(_Chunk(params[start:stop], gradient[start:stop], states, scratch, regularization))
        return chunks

    def gradient_norm(self) -> float:
        """Return the Euclidean norm of the gradient vector; NaN or infinite if any of its elements is."""
        with nd.use_backend(self._backend):
            return self._norm()

    def _norm(self) -> float:
        square = nd.item(nd.dot(self._gradient, self._gradient))
        if math.isfinite(square) or self._gradient.shape[0] == 0:
            return math.sqrt(square)
        largest = nd.item(nd.max(nd.absolute(self._gradient)))  # the square of a large finite number may be infinite
        if not 0.0 < largest < float("inf"):
            return largest
        scaled = nd.multiply(self._gradient, 1.0 / largest)
        return largest * math.sqrt(nd.item(nd.dot(scaled, scaled)))

    def update(self, batch_size: int | None, iteration: int, epoch: int, step: StepFunction, rate: float = 1.0) -> None:
        """Turn the gradient vector into the update and apply it to the parameters.

        Parameters
        ----------
        batch_size : int, optional
            Examples that the gradient is a sum over; the gradient is divided by it first. None: it is not divided.
        iteration, epoch : int
            What schedules and bias corrections follow, 0-based.
        step : StepFunction
            How an update changes the parameters.
        rate : float
            Handed to `step`.
        """
        with nd.use_backend(self._backend):
            for updater, chunks in self._blocks:
                coefficients = updater.coefficients(iteration, epoch)
                for chunk in chunks:
                    self._prepare(chunk, batch_size, iteration, epoch)
                    updater.apply(chunk.gradient, chunk.states, chunk.scratch, coefficients)
                    step(chunk.params, chunk.gradient, rate)

    @staticmethod
    def _prepare(chunk: _Chunk, batch_size: int | None, iteration: int, epoch: int) -> None:
        """Divide the gradient by the minibatch size and add the penalties' gradients."""
        if batch_size is not None:
            nd.divi(chunk.gradient, batch_size)
        for penalty in chunk.regularization:
            penalty.apply(chunk.params, chunk.gradient, chunk.scratch, penalty.at(iteration, epoch))
