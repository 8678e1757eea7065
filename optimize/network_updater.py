"""One pass over a network's flat vectors: divide, regularise, update, step; another before it to normalise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from typing import Any

import nd
from nd.java_names import JavaNames
from nd.state import computing, within

from .chunks import Block, Chunk, Numbers, Segment, blocks_of, cut, is_own, penalties_of
from .gradient_normalization import NormalizedLayer
from .guard import Guard
from .running import Running
from .step_functions import STEP_FUNCTIONS, StepFunction
from .updaters import Updater

Array = Any


class NetworkUpdater(JavaNames):
    """The updaters of a whole network over its flat parameter and gradient vectors.

    Every step of the update runs on one chunk while it is in the cache, then on the next.

    Parameters
    ----------
    segments : sequence of Segment
        In the order of the vector, without gaps.
    params, gradient : arrays ``[1, n]``
        The network's own; the updater keeps views of them.
    normalized : sequence of NormalizedLayer
        Layers whose gradient is normalised once it is divided.

    Attributes
    ----------
    running : Running
        The parameters that are not trained but follow the minibatches.

    Notes
    -----
    Source: DL4J ``BaseMultiLayerUpdater`` and ``UpdaterBlock``, whose state layout this repeats. The backend may treat
    parts of the vector side by side, and record the update: then it is run again with other numbers.
    """

    def __init__(
        self, segments: Sequence[Segment], params: Array, gradient: Array, normalized: Sequence[NormalizedLayer] = ()
    ) -> None:
        self._normalized = tuple(normalized)
        states = self._group(segments)
        self.state = nd.zeros(1, states, dtype=nd.dtype_name(params))
        for block in self._blocks:
            block.start_states(self.state)
        self._backend = here = nd.backend()
        flat = [_flat(each) for each in (params, gradient, self.state)]
        self._vectors = (flat[0], flat[1], flat[2])
        self._gradient = flat[1]
        self._divided = [self._gradient[start:stop] for start, stop in _runs(self._blocks, lambda block: block.divided)]
        self.running = Running(_runs(self._blocks, lambda block: block.running), flat[0], flat[1])
        length = params.shape[1]
        lanes = max(1, min(here.lanes, length // here.lane_elements))
        self._borders = list(pairwise(number * length // lanes for number in range(lanes + 1)))
        self._lanes = self._cut()
        self._recordable = length > 0 and self._own
        self._recorded: dict[tuple[object, ...], _Recorded] = {}
        self._others: tuple[Array, ...] = ()
        self._squares: list[Array] = []
        self.guard = Guard(nd.dtype_name(params)) if here.asynchronous else None

    def set_updaters(self, updaters: Sequence[Updater]) -> None:
        """Put others of the same classes in the place of the segments' updaters: other rates; the state stays.

        Where the blocks stay the same, so do recordings; else the state is put where the new blocks have it, as in
        ND4J's ``rebuildUpdaterStateArray``.

        Raises
        ------
        ConfigurationError
            One is of another class.
        """
        segments = [segment for block in self._blocks for segment in block.segments]
        for segment, updater in zip(segments, updaters, strict=True):
            if type(segment.updater) is not type(updater):
                raise nd.ConfigurationError(
                    f"NetworkUpdater: the state is that of {segment.updater!r}, got {updater!r} for it."
                )
        before = self._blocks
        self._group([replace(segment, updater=updater) for segment, updater in zip(segments, updaters, strict=True)])
        sizes = [[(len(block.segments), block.state_starts) for block in blocks] for blocks in (before, self._blocks)]
        if sizes[0] == sizes[1]:
            for chunk in (chunk for lane in self._lanes for chunk in lane):
                chunk.updater = self._blocks[chunk.block].updater
            return
        with within(self._backend):
            _move_states(before, self._blocks, self._vectors[2])
            self._lanes = self._cut()
        self._recordable = self._vectors[0].shape[0] > 0 and self._own
        self._recorded.clear()

    def states_of(self, start: int, stop: int) -> list[Array]:
        """Return views ``[n]`` of every state of a stretch of the vector that lies in one segment."""
        (block,) = (block for block in self._blocks if any(each.start <= start < each.stop for each in block.segments))
        return [self.state[0, begin + start : begin + stop] for begin in block.state_starts]

    def _group(self, segments: Sequence[Segment]) -> int:
        """Make the blocks of segments; return the length of all their states."""
        self._blocks, states = blocks_of(segments)
        self._penalties = list(penalties_of(self._blocks).values())
        updaters = [block.updater for block in self._blocks]
        self._own = is_own(*updaters, *(penalty for _, penalty in self._penalties))
        rated: Any = next((updater for updater in updaters if hasattr(updater, "learning_rate")), None)
        plain = rated is not None and isinstance(rated.learning_rate, (int, float))
        self._rate: Any = float(rated.learning_rate) if plain else math.nan if rated is None else rated
        return states

    def learning_rate_at(self, iteration: int, epoch: int) -> float:
        """Return the rate of the first block that has one; NaN where none has."""
        rate = self._rate
        return rate.learning_rate_at(iteration, epoch) if isinstance(rate, Updater) else rate

    def ready_guard(self) -> Guard | None:
        """Return the guard if it watches the step whose update comes next; else the host has to look itself."""
        if self.guard is None or not self.guard.ready:
            return None
        self.guard.ready = False
        return self.guard

    def _cut(self, others: Sequence[Array] = (), recorded: bool = False) -> list[list[Chunk]]:
        """Return the chunks of every lane."""
        return [cut(self._blocks, self._vectors, border, others, recorded) for border in self._borders]

    def spread(self, others: Sequence[Array], squares: Sequence[Array]) -> None:
        """Say that the gradient is the sum of the gradient vector and others: the update adds them up, or `settle`.

        Parameters
        ----------
        others : arrays ``[1, n]``
            Not changed until then.
        squares : scalar arrays
            Sum of squares of the gradient vector and of each of the others.
        """
        self._others = tuple(others)
        self._squares = list(squares)

    def settle(self) -> None:
        """Make the gradient vector the whole gradient."""
        if self._others:
            others, self._others = self._others, ()
            with computing(self._backend):
                for other in others:
                    nd.addi(self._gradient, _flat(other))

    def score_asked(self, model: Any, in_step: bool) -> None:
        """Learn how the steps went, now that the host has waited anyway: at once, or when this one ends.

        Raises
        ------
        NumericError
            As `Guard.check`.
        """
        if self.guard is None:
            return
        if in_step:
            self.guard.suspect()
        else:
            self.guard.check(model)

    def settle_steps(self, model: Any) -> None:
        """Let a step that was not taken be over and done with: counters go back to it, and what follows counts."""
        if self.guard is not None:
            self.guard.give_up(model)

    @property
    def params(self) -> Array:
        """The parameters ``[n]``, a view of the network's vector."""
        return self._vectors[0]

    @property
    def normalizes(self) -> bool:
        """Whether it normalises gradients."""
        return bool(self._normalized)

    @property
    def updaters(self) -> list[Updater]:
        """Those of all blocks, in their order."""
        return [block.updater for block in self._blocks]

    def objective_gradient(self, batch_size: int | None, iteration: int, epoch: int) -> Array:
        """Make the gradient vector that of the score: divided as for `update`, with the penalties', before any updater.

        It is 0 for running parameters, whose way is set aside in `running`.

        Returns
        -------
        array ``[n]``
            The gradient vector itself.
        """
        self.settle()
        params, gradient, _ = self._vectors
        with computing(self._backend):
            self._divide(batch_size)
            self.running.set_aside()
            for segment in (segment for block in self._blocks for segment in block.segments):
                here = slice(segment.start, segment.stop)
                for penalty in segment.regularization:
                    scratch = nd.create_uninitialized(segment.stop - segment.start, dtype=nd.dtype_name(params))
                    penalty.apply(params[here], gradient[here], scratch, penalty.at(iteration, epoch))
        return gradient

    def gradient_norm(self) -> float:
        """Return the Euclidean norm of the gradient vector; NaN or infinite if any of its elements is.

        Of a gradient that is spread, the sum of the parts' norms.
        """
        with within(self._backend):
            if self._others:
                total = sum(math.sqrt(nd.item(square)) for square in self._squares)
                if math.isfinite(total):
                    return total
                self.settle()
            norm: float = self._backend.quietly(self._norm)
            return norm

    def _norm(self) -> float:
        square = nd.item(nd.dot(self._gradient, self._gradient))
        if math.isfinite(square) or self._gradient.shape[0] == 0:
            return math.sqrt(square)
        largest = nd.item(nd.max(nd.absolute(self._gradient)))  # the square of a large finite number may be infinite
        if not 0.0 < largest < float("inf"):
            return largest
        scaled = nd.multiply(self._gradient, 1.0 / largest)
        return largest * math.sqrt(nd.item(nd.dot(scaled, scaled)))

    def update(
        self,
        batch_size: int | None,
        iteration: int,
        epoch: int,
        step: StepFunction,
        rate: float = 1.0,
        guard: Guard | None = None,
    ) -> None:
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
        guard : Guard, optional
            Decides on the device whether anything changes.
        """
        watched: tuple[Array, ...] = ()
        if guard is not None:
            watched = guard.arguments
            guard.count(iteration)
        divide = batch_size is not None and not self._normalized
        penalties = [penalty.coefficient_for(updater, iteration, epoch) for updater, penalty in self._penalties]
        coefficients = [block.updater.coefficients(iteration, epoch) for block in self._blocks]
        numbers = Numbers(batch_size if divide else 1, rate, penalties, coefficients)
        with within(self._backend):
            if self._normalized:
                self._normalize(batch_size)
            others = tuple(map(id, self._others)) if self._others else ()
            recorded = self._recorded.get((divide, step, guard is None, *others))
            if recorded is not None:
                recorded.run(numbers)
            elif not self._record(numbers, divide, step, watched):
                self.settle()
                with self._backend.quiet():
                    nd.run_lanes([partial(_run, lane, numbers, divide, step, watched) for lane in self._lanes])
            self._others = ()

    def _normalize(self, batch_size: int | None) -> None:
        """Add up and divide the gradient, and normalise it layer by layer."""
        self.settle()
        with self._backend.quiet():
            self._divide(batch_size)
            for layer in self._normalized:
                layer.apply(self._gradient)

    def _divide(self, batch_size: int | None) -> None:
        if batch_size is None:
            return
        for part in self._divided:
            nd.divi(part, batch_size)

    def _record(self, numbers: Numbers, divide: bool, step: StepFunction, watched: tuple[Array, ...]) -> bool:
        """Run the update while it is recorded; False, and nothing has run, where it cannot be."""
        self._recordable = self._recordable and self._backend.recorder() is not None
        if not self._recordable or step not in STEP_FUNCTIONS.values():
            return False
        recorded = _Recorded(self._cut([_flat(other) for other in self._others], recorded=True), numbers)
        recorded.record(numbers, divide, step, watched)
        self._recorded[divide, step, not watched, *map(id, self._others)] = recorded
        return True


class _Recorded:
    """The programs of an update, one for each lane, and the numbers that they read."""

    def __init__(self, lanes: list[list[Chunk]], numbers: Numbers) -> None:
        self._lanes = lanes
        count = len(numbers.flat())
        self._memory = nd.create_uninitialized(count, dtype=nd.dtype_name(lanes[0][0].params))
        self._cells = numbers.with_values([self._cell(at) for at in range(count)])
        self._programs: list[Any] = [None] * len(lanes)
        self._values: list[float] = []

    def _cell(self, at: int) -> Array:
        return nd.traceable(nd.reshape_view(self._memory[at : at + 1], ()))

    def record(self, numbers: Numbers, divide: bool, step: StepFunction, watched: tuple[Array, ...]) -> None:
        nd.assign(self._memory, numbers.flat())
        lanes = range(len(self._lanes))
        nd.run_lanes([partial(self._record_lane, lane, divide, step, watched) for lane in lanes])

    def _record_lane(self, lane: int, divide: bool, step: StepFunction, watched: tuple[Array, ...]) -> None:
        self._programs[lane] = nd.record(partial(_run, self._lanes[lane], self._cells, divide, step, watched))

    def run(self, numbers: Numbers) -> None:
        values = numbers.flat()
        if values != self._values:
            nd.assign(self._memory, values)
            self._values = values
        nd.run_lanes([program.replay for program in self._programs], light=True)


def _runs(blocks: Sequence[Block], holds: Callable[[Block], bool]) -> list[tuple[int, int]]:
    """Return start and stop of every maximal run of blocks for which something holds."""
    found = []
    for held, run in groupby(blocks, key=holds):
        alike = list(run)
        if held:
            found.append((alike[0].segments[0].start, alike[-1].segments[-1].stop))
    return found


def _move_states(before: Sequence[Block], now: Sequence[Block], state: Array) -> None:
    """Put every segment's states where other blocks of the same segments have them, in ``state [m]``."""
    if before and state.shape[0]:
        old = nd.copy(state)
        places = [(segment, block.state_starts) for block in before for segment in block.segments]
        targets = [block.state_starts for block in now for _ in block.segments]
        for (segment, sources), starts in zip(places, targets, strict=True):
            for source, target in zip(sources, starts, strict=True):
                here = old[source + segment.start : source + segment.stop]
                nd.assign(state[target + segment.start : target + segment.stop], here)


def _flat(vector: Array) -> Array:
    """View ``[1, n]`` as ``[n]``."""
    return nd.reshape_view(vector, (vector.shape[1],))


def _run(chunks: list[Chunk], numbers: Numbers, divide: bool, step: StepFunction, watched: tuple[Array, ...]) -> Array:
    for chunk in chunks:
        chunk.update(numbers, divide, step, watched, last=chunk is chunks[-1])
    return chunks[-1].params if chunks else None
