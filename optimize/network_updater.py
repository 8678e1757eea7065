"""One pass over a network's flat vectors: divide, regularise, update, step; another before it to normalise."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import nd
from nd.java_names import JavaNames
from nd.part import Part
from nd.state import computing, state, within
from nd.typing import Array

from .chunks import (
    Block,
    Chunk,
    Numbers,
    Segment,
    StepFunction,
    Stretch,
    Way,
    blocks_of,
    chunks_of,
    cut,
    penalties_of,
    update_chunks,
)
from .gradient_normalization import NormalizedLayer
from .step_result import StepResult, refuse, watch_steps
from .updaters import Updater
from .updaters.base import check_coefficients

if TYPE_CHECKING:
    from .running import Running

TAME = 1e12  # gradients and factors below it make no update that overflows


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
        self._backend = nd.backend()
        flat = [nd.reshape_view(vector, (vector.shape[1],)) for vector in (params, gradient, self.state)]
        self._vectors = (flat[0], flat[1], flat[2])
        self._gradient = flat[1]
        self._divided = [self._gradient[start:stop] for start, stop in _runs(self._blocks, lambda block: block.divided)]
        self._dtype = nd.dtype_name(params)
        self._shares = [_Share(self._vectors, stretches, self._pure) for stretches in self._cut()]
        self.watch = watch_steps(self._dtype, params.shape[1])
        self._last_way: Way | None = None
        self.proven: StepFunction | None = None
        """The step function of the last update where it was recorded, so that the next one runs nobody's code."""

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
        self.proven = None
        self._group([replace(segment, updater=updater) for segment, updater in zip(segments, updaters, strict=True)])
        sizes = [[(len(block.segments), block.state_starts) for block in blocks] for blocks in (before, self._blocks)]
        if sizes[0] == sizes[1]:
            return
        with within(self._backend):
            _move_states(before, self._blocks, self._vectors[2])
            for share, stretches in zip(self._shares, self._cut(), strict=True):
                share.forget(stretches, self._pure)

    def states_of(self, start: int, stop: int) -> list[Array]:
        """Return views ``[n]`` of every state of a stretch of the vector that lies in one segment."""
        (block,) = (block for block in self._blocks if any(part.start <= start < part.stop for part in block.segments))
        return [self.state[0, begin + start : begin + stop] for begin in block.state_starts]

    def _group(self, segments: Sequence[Segment]) -> int:
        """Make the blocks of segments; return the length of all their states."""
        self._blocks, states = blocks_of(segments)
        self._counts: list[int] | list[None] = []
        """Of every block's coefficients, once they were looked at."""
        self._gain: float = 0.0
        self._gain_of: Sequence[Any] | None = None
        """By what an update may exceed its gradient, and the coefficients that it follows from."""
        self._penalties = list(penalties_of(self._blocks).values())
        updaters = [block.updater for block in self._blocks]
        parts: list[Part] = [*updaters, *(penalty for _, penalty in self._penalties)]
        self._pure = all(part.pure for part in parts)
        rated: Any = next((updater for updater in updaters if hasattr(updater, "learning_rate")), None)
        plain = rated is not None and isinstance(rated.learning_rate, (int, float))
        self._rate: Any = float(rated.learning_rate) if plain else math.nan if rated is None else rated
        return states

    def learning_rate_at(self, iteration: int, epoch: int) -> float:
        """Return the rate of the first block that has one; NaN where none has."""
        rate = self._rate
        return rate.learning_rate_at(iteration, epoch) if isinstance(rate, Updater) else rate

    def _cut(self) -> list[list[Stretch]]:
        """Return the stretches of every worker."""
        plan = nd.plan_update(self._gradient.shape[0])
        return [cut(self._blocks, share, plan, self._dtype) for share in plan.shares]

    @cached_property
    def running(self) -> Running:
        """The parameters that are not trained but follow the minibatches."""
        from .running import Running  # which searches along lines need, and nobody else

        return Running(_runs(self._blocks, lambda block: block.running), self._vectors[0], self._gradient)

    @property
    def params(self) -> Array:
        """The parameters ``[n]``, a view of the network's vector."""
        return self._vectors[0]

    @property
    def gradient(self) -> Array:
        """The gradient vector ``[n]``, a view of the network's."""
        return self._gradient

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
        params, gradient, _ = self._vectors
        with computing(self._backend):
            self._divide(batch_size)
            self.running.set_aside()
            for segment in (segment for block in self._blocks for segment in block.segments):
                place = slice(segment.start, segment.stop)
                for penalty in segment.regularization:
                    scratch = nd.create_uninitialized(segment.stop - segment.start, dtype=nd.dtype_name(params))
                    penalty.apply(params[place], gradient[place], scratch, penalty.at(iteration, epoch))
        return gradient

    def update(
        self,
        batch_size: int | None,
        iteration: int,
        epoch: int,
        step: StepFunction,
        rate: float = 1.0,
        result: StepResult | None = None,
    ) -> None:
        """Turn the gradient into the update, in the gradient vector, and apply it to the parameters.

        Parameters
        ----------
        batch_size : int, optional
            Examples that the gradient is a sum over; the gradient is divided by it first. None: it is not divided.
        iteration, epoch : int
            For schedules and bias corrections, 0-based.
        step : StepFunction
            Changes the parameters by an update.
        rate : float
            Handed to `step`.
        result : StepResult, optional
            Of the model: its gradients are added up, the first of them is the gradient vector; where its watch has
            seen it, the device decides whether anything changes. Without one the gradient vector is the gradient.
        """
        divide = batch_size is not None and not self._normalized
        way, watched = self._last_way, self.watch.arguments if result is not None and result.observed else ()
        if way is None or way.divide is not divide or way.step is not step or way.watched is not watched:
            way = self._last_way = Way(divide, step, watched, getattr(step, "pure", False))
        numbers = Numbers(
            batch_size if divide else 1,
            rate,
            [penalty.coefficient_for(updater, iteration, epoch) for updater, penalty in self._penalties],
            [block.updater.coefficients(iteration, epoch) for block in self._blocks],
        )
        if self.proven is None:
            self._check_coefficients(numbers)
        if state.backend is self._backend:  # as in the steps of a network, unless a hook hears them
            self._run(way, numbers, batch_size, iteration, result)
        else:
            with within(self._backend):
                self._run(way, numbers, batch_size, iteration, result)
        self.proven = step if way.pure and self._pure else None

    def _run(
        self, way: Way, numbers: Numbers, batch_size: int | None, iteration: int, result: StepResult | None
    ) -> None:
        """Update in all shares, and look at what came out where it might overflow."""
        if self._normalized:
            self._normalize(batch_size, result)
        others = result.take_others() if result is not None and len(result.gradients) > 1 else ()
        tame = self._is_tame(result, numbers)
        try:
            if tame and len(self._shares) == 1:
                self._shares[0].run(self._blocks, way, numbers, others)
                return
            tasks = [partial(share.run, self._blocks, way, numbers, others) for share in self._shares]
            nd.run_tasks(tasks, True) if tame else self._run_checked(tasks, iteration)
        except (TypeError, ValueError):  # of a recording that others are given than before
            self._check_coefficients(numbers)
            raise

    def _check_coefficients(self, numbers: Numbers) -> None:
        """Raise ConfigurationError where an updater's coefficients are no numbers, or others than before."""
        known = self._counts or [None] * len(self._blocks)
        given = zip(self._blocks, numbers.coefficients, known, strict=True)
        self._counts = [check_coefficients(block.updater, coefficients, count) for block, coefficients, count in given]

    def saved(self) -> list[Array]:
        """Return copies of the parameters ``[n]`` and of all states."""
        with within(self._backend):
            return [nd.copy(array) for array in (self._vectors[0], self._vectors[2])]

    def restore(self, saved: Sequence[Array]) -> None:
        """Take what `saved` returned back."""
        with within(self._backend):
            for array, old in zip((self._vectors[0], self._vectors[2]), saved, strict=True):
                nd.assign(array, old)

    def _is_tame(self, result: StepResult | None, numbers: Numbers) -> bool:
        """Tell whether an update cannot overflow, or nobody can look at that: it is not one of a step."""
        if result is None or (result.known_norm is None and not result.observed):
            return True
        if numbers.coefficients != self._gain_of:
            pairs = zip(self._blocks, numbers.coefficients, strict=True)
            self._gain = max((block.updater.gain(coefficients) for block, coefficients in pairs), default=0.0)
            self._gain_of = numbers.coefficients
        norm = TAME if result.known_norm is None else result.known_norm
        return norm * self._gain < TAME**2 and (not numbers.penalties or max(map(abs, numbers.penalties)) < TAME)

    def _run_checked(self, tasks: Sequence[Callable[[], None]], iteration: int) -> None:
        """Update; give parameters and states back and raise NumericError unless they are finite then."""
        before = self.saved()
        nd.run_tasks([partial(self._backend.quietly, task) for task in tasks], light=True)
        if all(nd.all_finite(array) for array in (self._vectors[0], self._vectors[2])):
            return
        self.restore(before)
        refuse("update", "NaN or infinity in it", iteration)

    def _normalize(self, batch_size: int | None, result: StepResult | None) -> None:
        """Add up and divide the gradient, and normalise it layer by layer."""
        if result is not None:
            result.gradient()
        with self._backend.quiet():
            self._divide(batch_size)
            for layer in self._normalized:
                layer.apply(self._gradient)

    def _divide(self, batch_size: int | None) -> None:
        if batch_size is None:
            return
        for part in self._divided:
            nd.divi(part, batch_size)


class _Share:
    """The part of the flat vectors that one worker updates.

    Parameters
    ----------
    vectors : arrays ``[n]``
        Parameters, gradient, states of the network.
    stretches : list of Stretch
    pure : bool
        Whether all updaters and penalties are.
    """

    def __init__(self, vectors: tuple[Array, Array, Array], stretches: list[Stretch], pure: bool) -> None:
        self._vectors, self._stretches = vectors, stretches
        self._recordings = nd.Recordings(nd.dtype_name(vectors[0]), pure)
        self._others: tuple[Array, ...] = ()
        self._arrays: tuple[Array, ...] = ()
        self._chunks: list[Chunk] = []

    def run(self, blocks: list[Block], way: Way, numbers: Numbers, others: tuple[Array, ...]) -> None:
        """Update; `others` are gradients to be added to the first."""
        if not self._stretches:
            return
        arrays = (*self._vectors, *others) if others else self._vectors
        if way.pure and not state.eager and (not others or self._known(others)):
            compute = partial(_update, self._stretches, blocks, numbers, way)
            key = (way.divide, way.step, not way.watched, len(others))
            self._recordings.run(key, compute, arrays, numbers.flat(), (True,) * len(arrays))
            return
        with nd.backend().quiet():
            update_chunks(self._chunks_of(arrays), blocks, numbers, way)

    def _known(self, others: tuple[Array, ...]) -> bool:
        """Tell whether these are the workers' gradients, which lie where they lay."""
        if len(others) > len(self._others):
            self._others = others
        return all(map(operator.is_, others, self._others))

    def _chunks_of(self, arrays: tuple[Array, ...]) -> list[Chunk]:
        same = len(arrays) == len(self._arrays) and all(map(operator.is_, arrays, self._arrays))
        if not same:
            self._arrays, self._chunks = arrays, chunks_of(self._stretches, arrays)
        return self._chunks

    def forget(self, stretches: list[Stretch], pure: bool) -> None:
        """Take other stretches; what was recorded of those before is forgotten."""
        self._stretches, self._recordings.pure, self._arrays = stretches, pure, ()
        self._recordings.clear()


def _update(
    stretches: list[Stretch],
    blocks: list[Block],
    numbers: Numbers,
    way: Way,
    arrays: Sequence[Array],
    values: Sequence[Any],
) -> Array:
    """Compute an update on arrays and numbers that a recording may read."""
    return update_chunks(chunks_of(stretches, arrays), blocks, numbers.with_values(values), way)


def _runs(blocks: Sequence[Block], holds: Callable[[Block], bool]) -> list[tuple[int, int]]:
    """Return start and stop of every maximal run of blocks for which something holds."""
    runs = []
    for held, run in groupby(blocks, key=holds):
        alike = list(run)
        if held:
            runs.append((alike[0].segments[0].start, alike[-1].segments[-1].stop))
    return runs


def _move_states(before: Sequence[Block], now: Sequence[Block], state: Array) -> None:
    """Put every segment's states where other blocks of the same segments have them, in ``state [m]``."""
    if before and state.shape[0]:
        old = nd.copy(state)
        places = [(segment, block.state_starts) for block in before for segment in block.segments]
        targets = [block.state_starts for block in now for _ in block.segments]
        for (segment, sources), starts in zip(places, targets, strict=True):
            for source, target in zip(sources, starts, strict=True):
                numbers = old[source + segment.start : source + segment.stop]
                nd.assign(state[target + segment.start : target + segment.stop], numbers)
