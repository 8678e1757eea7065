"""One pass over a network's flat vectors: divide, regularise, update, step; another before it to normalise."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby, repeat, starmap
from typing import TYPE_CHECKING, Any

import nd
from nd.classes import ExplainedType
from nd.part import Part
from nd.state import NOTHING, computing, state, within
from nd.typing import Array

from .chunks import (
    Block,
    Key,
    Numbers,
    Segment,
    blocks_of,
    shares_of,
)
from .gradient_normalization import NormalizedLayer
from .step import (
    TAME,
    Outcome,
    StepFunction,
    StepGuard,
    StepResult,
    check_counts,
    negative_gradient_step,
    update_alone,
)
from .updaters import Updater
from .updaters.base import check_coefficients

if TYPE_CHECKING:
    from .constraints import Constraining
    from .running import Running


class NetworkUpdater(metaclass=ExplainedType):
    """The updaters of a whole network over its flat parameter and gradient vectors.

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
    params, gradient : array ``[n]``
        Views of the network's vectors.
    state : array ``[1, m]``
        Of all updaters.
    normalizes : bool
        Whether it normalises gradients.
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
        self.normalizes, self._normalized = bool(normalized), tuple(normalized)
        self._backend, self._dtype = nd.backend(), nd.dtype_name(params)
        self.state = nd.zeros(1, self._group(segments), dtype=self._dtype)
        for block in self._blocks:
            for begin, value in zip(block.state_starts, block.updater.initial_state, strict=True):
                if value != 0.0 and block.place.stop > block.place.start:
                    nd.fill(self.state[0, begin + block.place.start : begin + block.place.stop], value)
        flat = [nd.reshape_view(vector, (vector.shape[1],)) for vector in (params, gradient, self.state)]
        self.params, self.gradient, self._states = flat
        self._divided = [self.gradient[place] for place in _runs(self._blocks, "divided")]
        self._cut()
        self._others: tuple[Array, ...] = ()  # further workers' gradients that recordings know

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
                chunk.block, chunk.formulas = self._blocks[chunk.number], {}
            return
        with within(self._backend):
            _move_states(before, self._blocks, self._states)
            self._cut()

    def states_of(self, start: int, stop: int) -> list[Array]:
        """Return views ``[n]`` of every state of a stretch of the vector that lies in one segment."""
        (block,) = (block for block in self._blocks if any(part.start <= start < part.stop for part in block.segments))
        return [self.state[0, begin + start : begin + stop] for begin in block.state_starts]

    def _group(self, segments: Sequence[Segment]) -> int:
        """Make the blocks of segments; return the length of all their states."""
        self._blocks, states = blocks_of(segments)
        self._counts: list[int] = []
        """Of every block's coefficients, once they were looked at."""
        self._numbers: Numbers = (1, (), ())  # of the last update
        self._gain_of: tuple[object, float] = (None, 0.0)
        """Coefficients, and by what an update with them may exceed its gradient."""
        self._penalties = [(block.updater, penalty) for block in self._blocks for penalty in block.penalties]
        updaters = self.updaters
        parts: list[Part] = [*updaters, *(penalty for _, penalty in self._penalties)]
        self._pure = all(part.pure for part in parts)
        self._rated = next((updater for updater in updaters if hasattr(updater, "learning_rate")), None)
        return states

    def learning_rate_at(self, iteration: int, epoch: int) -> float:
        """Return the rate of the first block that has one; NaN where none has."""
        return math.nan if self._rated is None else self._rated.learning_rate_at(iteration, epoch)

    def _cut(self) -> None:
        """Make the chunks of every worker, and its recordings."""
        plan = nd.plan_update(self.gradient.shape[0])
        self._shares = shares_of(self._blocks, plan, self._dtype)
        self.chunks = [chunk for chunks in self._shares for chunk in chunks]
        self.recordings = [nd.Recordings(self._dtype, self._pure) for _ in self._shares]
        self._scratch: list[Array | None] = [None] * len(self._shares)  # of what is not recorded

    @cached_property
    def running(self) -> Running:
        """The parameters that are not trained but follow the minibatches."""
        from .running import Running  # which searches along lines need, and nobody else

        return Running(_runs(self._blocks, "running"), self.params, self.gradient)

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
        with computing(self._backend):
            self._divide(divisor)
            self.running.set_aside()
            for segment in (segment for block in self._blocks for segment in block.segments):
                place = slice(segment.start, segment.stop)
                for penalty in segment.regularization:
                    scratch = nd.create_uninitialized(segment.stop - segment.start, dtype=self._dtype)
                    penalty.apply(self.params[place], self.gradient[place], scratch, penalty.at(iteration, epoch))
        return self.gradient

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
        with self.lock, NOTHING if state.backend is self._backend else within(self._backend):  # as it is in fit
            result.gradients.check_holds(self.gradient, result.number)
            norm, error = self.guard.judged(result, iteration)
            if error is not None:
                return Outcome(error)
            penalties = tuple([penalty.coefficient_for(one, iteration, epoch) for one, penalty in self._penalties])
            coefficients: Any = tuple([block.updater.coefficients(iteration, epoch) for block in self._blocks])
            if self._normalized:
                self._normalize(result)
            others = result.gradients.take()
            key = Key(step, result.divisor != 1 and not self._normalized, len(others))
            known = self.guard.knows(key)
            if not known or _lengths(coefficients) != self._counts:
                given = zip(self.updaters, coefficients, self._counts or repeat(None), strict=False)
                self._counts = list(starmap(check_coefficients, given))
                coefficients = tuple(map(tuple, coefficients))  # of lists too
            numbers = (result.divisor if key.divide else 1, penalties, coefficients)
            if numbers == self._numbers:
                numbers = self._numbers  # itself, which a recording has read
            self._numbers = numbers
            tame = norm * self._gain(coefficients) < TAME**2 and (not penalties or max(map(abs, penalties)) < TAME)
            run = partial(self._run, key, others, numbers, known, (iteration + 1, epoch))
            if known and tame:
                run()
                return self.guard.taken(iteration)
            return self.guard.carry_out(iteration, self, run, key, tame)

    def _run(self, key: Key, others: tuple[Array, ...], numbers: Numbers, known: bool, counts: tuple[int, int]) -> bool:
        """Update in all shares; tell whether that was recorded, or replayed."""
        recorded = self._pure and getattr(key.step, "pure", False) and not state.eager
        recorded = recorded and (not others or self._knows(others))

        def share(number: int) -> None:
            update = partial(self._pass, number, key, others, recorded)
            if recorded:
                self.recordings[number].run(key, update, numbers)
            else:
                with nd.backend().quiet():
                    update(numbers)

        if len(self._shares) == 1:
            share(0)
        else:
            nd.run_tasks([partial(share, number) for number in range(len(self._shares))], light=True)
        if self.constraints is None or key.step is update_alone:
            return recorded
        self.constraints.apply(*counts, self.guard, check=not known)
        return recorded and self.constraints.pure

    def _pass(self, number: int, key: Key, others: tuple[Array, ...], traced: bool, numbers: Numbers) -> Array:
        """Update one chunk of a share after the other; return an array that was written."""
        chunks, vectors = self._shares[number], (self.params, self.gradient, self._states, *others)
        vectors = tuple(map(nd.traceable, vectors)) if traced else vectors
        scratch = self._scratch[number]
        if traced or scratch is None:
            scratch = nd.create_uninitialized(max(chunk.stop - chunk.start for chunk in chunks), dtype=self._dtype)
            self._scratch[number] = None if traced else scratch
        for chunk in chunks:
            chunk.update(vectors, scratch, numbers, key, self.guard.cells, chunk is chunks[-1])
        return vectors[0]

    def _knows(self, others: tuple[Array, ...]) -> bool:
        """Tell whether these are the workers' gradients, which lie where they lay."""
        if len(others) > len(self._others):
            self._others = others
        return all(map(operator.is_, others, self._others))

    def saved(self) -> list[Array]:
        """Return copies of the parameters ``[n]`` and of all states."""
        return [nd.copy(array) for array in (self.params, self._states)]

    def restore(self, saved: Sequence[Array]) -> None:
        """Take what `saved` returned back."""
        for array, old in zip((self.params, self._states), saved, strict=True):
            nd.assign(array, old)

    def is_finite(self) -> bool:
        """Tell whether all parameters and states are finite."""
        return all(nd.all_finite(array) for array in (self.params, self._states))

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
                layer.apply(self.gradient)

    def _divide(self, divisor: int) -> None:
        for part in self._divided if divisor != 1 else ():
            nd.divi(part, divisor)


def _lengths(coefficients: tuple[object, ...]) -> list[int]:
    """Return how many coefficients the updaters have, -1 for what is no tuple: looked at in every step, so no more."""
    return [len(its_own) if type(its_own) is tuple else -1 for its_own in coefficients]


def _runs(blocks: Sequence[Block], kind: str) -> list[slice]:
    """Return the place of every maximal run of blocks whose segments are of a kind."""
    runs = []
    for held, run in groupby(blocks, key=lambda block: getattr(block.segments[0], kind)):
        alike = list(run)
        if held:
            runs.append(slice(alike[0].place.start, alike[-1].place.stop))
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
