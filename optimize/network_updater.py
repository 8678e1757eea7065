"""One pass over a network's flat vectors: divide, regularise, update, step; another before it to normalise."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.classes import ExplainedType
from nd.part import Part
from nd.state import NOTHING, computing, state, within
from nd.typing import Array

from .chunks import (
    Block,
    Segment,
    StepFunction,
    blocks_of,
    chunks_of,
    negative_gradient_step,
    penalties_of,
    update_alone,
)
from .gradient_normalization import NormalizedLayer
from .step import TAME, Gradients, Outcome, StepGuard, StepResult, check_counts
from .updaters import Updater
from .updaters.base import check_coefficients

if TYPE_CHECKING:
    from .constraints import Constraining
    from .running import Running

Numbers = tuple[Any, tuple[Any, ...], tuple[tuple[Any, ...], ...]]
"""Divisor, coefficients of all penalties, coefficients of every block's updater."""


class _Key(NamedTuple):
    """What decides on the operations of an update."""

    step: StepFunction
    divide: bool
    others: int
    """Gradients that are added to the first."""


class NetworkUpdater(metaclass=ExplainedType):
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
    guard : StepGuard, optional
        Says whether an update may be; without it the host's.
    constraints : Constraining, optional
        Bounds that the parameters are held to after an update.

    Attributes
    ----------
    recordings : list of Recordings
        One for every worker.
    lock : context manager
        The network's, held while it updates.

    Notes
    -----
    Source: DL4J ``BaseMultiLayerUpdater`` and ``UpdaterBlock``, whose state layout this repeats. The backend may treat
    parts of the vector side by side, each in a worker's own chunks, and record the update: then it is run again with
    other numbers.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        params: Array,
        gradient: Array,
        normalized: Sequence[NormalizedLayer] = (),
        guard: StepGuard | None = None,
        constraints: Constraining | None = None,
    ) -> None:
        self.guard, self.constraints = guard or StepGuard(), constraints
        self.lock: Any = NOTHING
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
        self._cut()
        self._others: tuple[Array, ...] = ()  # further workers' gradients that recordings know
        self._seen: Gradients | None = None  # of which is known that they are in the gradient vector

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
        self.guard.forget()
        self._group([replace(segment, updater=updater) for segment, updater in zip(segments, updaters, strict=True)])
        sizes = [[(len(block.segments), block.state_starts) for block in blocks] for blocks in (before, self._blocks)]
        if sizes[0] == sizes[1]:
            for chunk in self.chunks:
                chunk.take(self._blocks[chunk.number])
            return
        with within(self._backend):
            _move_states(before, self._blocks, self._vectors[2])
            self._cut()

    def states_of(self, start: int, stop: int) -> list[Array]:
        """Return views ``[n]`` of every state of a stretch of the vector that lies in one segment."""
        (block,) = (block for block in self._blocks if any(part.start <= start < part.stop for part in block.segments))
        return [self.state[0, begin + start : begin + stop] for begin in block.state_starts]

    def _group(self, segments: Sequence[Segment]) -> int:
        """Make the blocks of segments; return the length of all their states."""
        self._blocks, states = blocks_of(segments)
        self._counts: list[int] | list[None] = []
        """Of every block's coefficients, once they were looked at."""
        self._numbers: Numbers = (1, (), ())  # of the last update
        self._gain_of: tuple[object, float] = (None, 0.0)
        """Coefficients, and by what an update with them may exceed its gradient."""
        self._penalties = list(penalties_of(self._blocks).values())
        updaters = [block.updater for block in self._blocks]
        parts: list[Part] = [*updaters, *(penalty for _, penalty in self._penalties)]
        self._pure = all(part.pure for part in parts)
        rated: Any = next((updater for updater in updaters if hasattr(updater, "learning_rate")), None)
        plain = rated is not None and isinstance(rated.learning_rate, (int, float))
        self._rate = float(rated.learning_rate) if plain else math.nan if rated is None else rated
        return states

    def learning_rate_at(self, iteration: int, epoch: int) -> float:
        """Return the rate of the first block that has one; NaN where none has."""
        rate = self._rate
        return rate.learning_rate_at(iteration, epoch) if isinstance(rate, Updater) else rate

    def _cut(self) -> None:
        """Make the chunks of every worker, and its recordings."""
        plan = nd.plan_update(self._gradient.shape[0])
        self._shares = [chunks_of(self._blocks, share, plan, self._dtype) for share in plan.shares]
        self.chunks = [chunk for chunks in self._shares for chunk in chunks]
        self.recordings = [nd.Recordings(self._dtype, self._pure) for _ in self._shares]
        self._scratch: list[Array | None] = [None] * len(self._shares)  # of what is not recorded

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

    def objective_gradient(self, divisor: int, iteration: int, epoch: int) -> Array:
        """Make the gradient vector that of the score: divided, with the penalties', before any updater.

        It is 0 for running parameters, whose way is set aside in `running`.

        Returns
        -------
        array ``[n]``
            The gradient vector itself.
        """
        params, gradient, _ = self._vectors
        with computing(self._backend):
            self._divide(divisor)
            self.running.set_aside()
            for segment in (segment for block in self._blocks for segment in block.segments):
                place = slice(segment.start, segment.stop)
                for penalty in segment.regularization:
                    scratch = nd.create_uninitialized(segment.stop - segment.start, dtype=nd.dtype_name(params))
                    penalty.apply(params[place], gradient[place], scratch, penalty.at(iteration, epoch))
        return gradient

    def update(
        self, result: StepResult, iteration: int, epoch: int, step: StepFunction = negative_gradient_step
    ) -> Outcome:
        """Turn the gradient into the update, in the gradient vector, and apply it to the parameters.

        Parameters
        ----------
        result : StepResult
            Of the model: its gradients are added up, and divided by its divisor. The first is the gradient vector.
        iteration, epoch : int
            For schedules, bias corrections and constraints, 0-based: those before the update.
        step : StepFunction
            Changes the parameters by an update; constraints follow, but for `update_alone`.

        Returns
        -------
        Outcome
            Whether it was taken. Where a part of the user's own raises, everything is as it was.

        Raises
        ------
        DTypeError, ArgumentError
            The result or a count is none.
        ConfigurationError
            The result is another network's, or its gradient has been overwritten, or turned into an update, since.
        """
        counted = type(iteration) is type(epoch) is int and iteration >= 0 <= epoch
        if type(result) is not StepResult or not counted:
            iteration, epoch = check_counts(result, iteration, epoch)
        with self.lock:
            if result.gradients is not self._seen or result.number not in (None, result.gradients.number):
                result.gradients.check_holds(self._gradient, result.number)
                self._seen = result.gradients
            norm, error = self.guard.judged(result, iteration)
            if error is not None:
                return Outcome(error)
            if state.backend is self._backend:  # as in the steps of a network, unless a hook hears them
                return self._update(result, iteration, epoch, step, norm)
            with within(self._backend):
                return self._update(result, iteration, epoch, step, norm)

    def _update(self, result: StepResult, iteration: int, epoch: int, step: StepFunction, norm: float) -> Outcome:
        divide = result.divisor != 1 and not self._normalized
        penalties = tuple([penalty.coefficient_for(updater, iteration, epoch) for updater, penalty in self._penalties])
        coefficients: Any = tuple([block.updater.coefficients(iteration, epoch) for block in self._blocks])
        if self._normalized:
            self._normalize(result)
        others = result.gradients.take()
        key = _Key(step, divide, len(others))
        known = self.guard.knows(key)
        if not known or _lengths(coefficients) != self._counts:
            self._check_coefficients(coefficients)
            coefficients = tuple(map(tuple, coefficients))  # of lists too
        numbers = (result.divisor if divide else 1, penalties, coefficients)
        if numbers == self._numbers:
            numbers = self._numbers  # itself, which a recording has read
        self._numbers = numbers
        tame = norm * self._gain(coefficients) < TAME**2 and (not penalties or max(map(abs, penalties)) < TAME)
        run = partial(self._run, key, others, numbers, known, (iteration + 1, epoch))
        if known and tame:
            run()
            return self.guard.taken(iteration)
        return self.guard.carry_out(iteration, self, run, key, tame)

    def _run(
        self, key: _Key, others: tuple[Array, ...], numbers: Numbers, known: bool, counts: tuple[int, int]
    ) -> bool:
        """Update in all shares; tell whether that was recorded, or replayed."""
        recorded = self._pure and getattr(key.step, "pure", False) and not state.eager
        recorded = recorded and (not others or self._knows(others))
        if len(self._shares) == 1:
            self._run_share(0, key, recorded, others, numbers)
        else:
            shares = range(len(self._shares))
            nd.run_tasks([partial(self._run_share, n, key, recorded, others, numbers) for n in shares], light=True)
        if self.constraints is None or key.step is update_alone:
            return recorded
        self.constraints.apply(*counts, self.guard, check=not known)
        return recorded and self.constraints.pure

    def _run_share(self, number: int, key: _Key, recorded: bool, others: tuple[Array, ...], numbers: Numbers) -> None:
        """Update what one worker has."""
        if not self._shares[number]:
            return
        if recorded:
            self.recordings[number].run(key, partial(self._pass, number, key, others, True), numbers)
        else:
            with nd.backend().quiet():
                self._pass(number, key, others, False, numbers)

    def _pass(self, number: int, key: _Key, others: tuple[Array, ...], traced: bool, numbers: Numbers) -> Array:
        """Update one chunk after the other; return an array that was written."""
        step, divide, _ = key
        chunks, vectors = self._shares[number], (*self._vectors, *others)
        vectors = tuple(map(nd.traceable, vectors)) if traced else vectors
        scratch = self._scratch[number]
        if traced or scratch is None:
            longest = max(chunk.stop - chunk.start for chunk in chunks)
            scratch = nd.create_uninitialized(longest, dtype=self._dtype)
            self._scratch[number] = None if traced else scratch
        for chunk in chunks:
            chunk.update(vectors, scratch, numbers, step, divide, self.guard.cells, chunk is chunks[-1])
        return vectors[0]

    def _knows(self, others: tuple[Array, ...]) -> bool:
        """Tell whether these are the workers' gradients, which lie where they lay."""
        if len(others) > len(self._others):
            self._others = others
        return all(map(operator.is_, others, self._others))

    def _check_coefficients(self, coefficients: Sequence[tuple[object, ...]]) -> None:
        """Raise ConfigurationError where an updater's coefficients are no numbers, or others than before."""
        known = self._counts or [None] * len(self._blocks)
        given = zip(self._blocks, coefficients, known, strict=True)
        self._counts = [check_coefficients(block.updater, its_own, count) for block, its_own, count in given]

    def saved(self) -> list[Array]:
        """Return copies of the parameters ``[n]`` and of all states."""
        with within(self._backend):
            return [nd.copy(array) for array in (self._vectors[0], self._vectors[2])]

    def restore(self, saved: Sequence[Array]) -> None:
        """Take what `saved` returned back."""
        with within(self._backend):
            for array, old in zip((self._vectors[0], self._vectors[2]), saved, strict=True):
                nd.assign(array, old)

    def is_finite(self) -> bool:
        """Tell whether all parameters and states are finite."""
        return all(nd.all_finite(array) for array in (self._vectors[0], self._vectors[2]))

    def _gain(self, coefficients: tuple[tuple[object, ...], ...]) -> float:
        """Return by what an update may exceed its gradient."""
        if coefficients != self._gain_of[0]:
            pairs = zip(self._blocks, coefficients, strict=True)
            self._gain_of = coefficients, max((block.updater.gain(its_own) for block, its_own in pairs), default=0.0)
        return self._gain_of[1]

    def _normalize(self, result: StepResult) -> None:
        """Add up and divide the gradient, and normalise it layer by layer."""
        result.gradient()
        with self._backend.quiet():
            self._divide(result.divisor)
            for layer in self._normalized:
                layer.apply(self._gradient)

    def _divide(self, divisor: int) -> None:
        for part in self._divided if divisor != 1 else ():
            nd.divi(part, divisor)


def _lengths(coefficients: tuple[object, ...]) -> list[int]:
    """Return how many coefficients the updaters have, -1 for what is no tuple: looked at in every step, so no more."""
    return [len(its_own) if type(its_own) is tuple else -1 for its_own in coefficients]


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
