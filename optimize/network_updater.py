"""One pass over a network's flat vectors: divide, regularise, update, step; another before it to normalise."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import cached_property, partial
from itertools import islice, repeat, starmap
from typing import TYPE_CHECKING, Any

import nd
from nd.classes import ExplainedType
from nd.part import Part
from nd.state import NOTHING, computing, state, within
from nd.typing import Array

from . import chunks
from .chunks import Chunk, Key, Numbers, Segment
from .gradient_normalization import NormalizedLayer
from .step import (
    CELLS,
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
        flat = [nd.reshape_view(vector, (vector.shape[1],)) for vector in (params, gradient, self.state)]
        self.params, self.gradient, self._states = flat
        chunks.begin_states(self._blocks, self._states)
        self._divided = [self.gradient[place] for place in chunks.runs_of(self._blocks, "divided")]
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
        before, segments = self._blocks, chunks.with_updaters(self._blocks, updaters)
        self.guard.forget()
        self._group(segments)
        sizes = [[(len(block.segments), block.state_starts) for block in blocks] for blocks in (before, self._blocks)]
        if sizes[0] == sizes[1]:
            for chunk in self.chunks:
                chunk.block, chunk.formulas = self._blocks[chunk.number], {}
            return
        with within(self._backend):
            chunks.move_states(before, self._blocks, self._states)
            self._cut()

    def states_of(self, start: int, stop: int) -> list[Array]:
        """Return views ``[n]`` of every state of a stretch of the vector that lies in one segment."""
        (block,) = (block for block in self._blocks if any(part.start <= start < part.stop for part in block.segments))
        return [self.state[0, begin + start : begin + stop] for begin in block.state_starts]

    def _group(self, segments: Sequence[Segment]) -> int:
        """Make the blocks of segments; return the length of all their states."""
        self._blocks, states = chunks.blocks_of(segments)
        self._counts: list[int] = []
        """Of every block's coefficients, once they were looked at."""
        self._numbers: Numbers = (1, (), ())  # of the last update
        self._gain = 0.0  # by what an update with them may exceed its gradient
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
        self._shares = chunks.shares_of(self._blocks, plan, self._dtype)
        self.chunks = [chunk for share in self._shares for chunk in share]
        self.recordings = [nd.Recordings(self._dtype, self._pure) for _ in self._shares]
        self._scratch: list[Array | None] = [None] * len(self._shares)  # of what is not recorded

    @cached_property
    def running(self) -> Running:
        """The parameters that are not trained but follow the minibatches."""
        from .running import Running  # which searches along lines need, and nobody else

        return Running(chunks.runs_of(self._blocks, "running"), self.params, self.gradient)

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
            chunks.add_penalties(self._blocks, self.params, self.gradient, (iteration, epoch))
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
            numbers: Numbers = (result.divisor if key.divide else 1, penalties, coefficients)
            if numbers != self._numbers:
                self._take(numbers, known)
            tame = norm * self._gain < TAME**2 and (not penalties or max(map(abs, penalties)) < TAME)
            run = partial(self._run, key, others, known, (iteration + 1, epoch))
            if known and tame:
                run()
                return self.guard.taken(iteration)
            return self.guard.carry_out(iteration, self, run, key, tame)

    def _take(self, numbers: Numbers, known: bool) -> None:
        """Take other numbers than those of the last update, which recordings have read; raise where they cannot be."""
        divisor, penalties, coefficients = numbers
        if not known or [len(own) if type(own) is tuple else -1 for own in coefficients] != self._counts:
            given = zip(self.updaters, coefficients, self._counts or repeat(None), strict=False)
            self._counts = list(starmap(check_coefficients, given))
            coefficients = tuple(map(tuple, coefficients))  # of lists too
        gains = [block.updater.gain(own) for block, own in zip(self._blocks, coefficients, strict=True)]
        self._gain, self._numbers = max(gains, default=0.0), (divisor, penalties, coefficients)

    def _run(self, key: Key, others: tuple[Array, ...], known: bool, counts: tuple[int, int]) -> bool:
        """Update in all shares; tell whether that was recorded, or replayed."""
        recorded = self._pure and getattr(key.step, "pure", False) and not state.eager
        recorded = recorded and (not others or self._knows(others))

        def share(number: int) -> None:
            update = partial(self._pass, number, key, others, recorded)
            if recorded:
                self.recordings[number].run(key, update, self._numbers)
            else:
                with nd.backend().quiet():
                    update(self._numbers)

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
        share, vectors = self._shares[number], (self.params, self.gradient, self._states, *others)
        vectors = tuple(map(nd.traceable, vectors)) if traced else vectors
        scratch = self._scratch[number]
        if traced or scratch is None:
            scratch = nd.create_uninitialized(max(chunk.stop - chunk.start for chunk in share), dtype=self._dtype)
            self._scratch[number] = None if traced else scratch
        for chunk in share:
            update_chunk(chunk, vectors, scratch, numbers, key, self.guard.cells, chunk is share[-1])
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


def update_chunk(
    chunk: Chunk,
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
    if chunk.on_update is not None:
        chunk.on_update(None)
    params, gradient, state, *others = vectors
    place, block = slice(chunk.start, chunk.stop), chunk.block
    states = [state[begin + chunk.start : begin + chunk.stop] for begin in block.state_starts]
    ones = [where for _, _, where in chunk.penalties if where is not None]
    arrays = (scratch[: chunk.stop - chunk.start], params[place], gradient[place], *(x[place] for x in others))
    divisor, of_penalties, of_updaters = numbers
    coefficients = [of_penalties[penalty] for _, penalty, _ in chunk.penalties]
    guarded = (1 + last) * bool(cells)
    formula = chunk.formulas.get((key, guarded))
    if formula is None:
        formula = partial(_compute, chunk, key, guarded)
        parts: list[Part] = [block.updater, *block.penalties]
        if all(part.pure for part in parts) and getattr(key.step, "pure", False):
            formula = nd.elementwise(formula, scratch=(0,))
        chunk.formulas[key, guarded] = formula
    formula(*arrays, *states, *ones, *cells, divisor, *coefficients, *of_updaters[chunk.number])
    if chunk.on_update is not None:
        chunk.on_update(partial(chunks.terms_of, chunk, vectors, numbers))


def _compute(chunk: Chunk, key: Key, guarded: int, scratch: Array, params: Array, gradient: Array, *rest: Any) -> None:
    """Update on what `update_chunk` hands over, element by element; `guarded` is 2 for the last chunk on a device."""
    block, more = chunk.block, iter(rest)
    some = sum(where is not None for _, _, where in chunk.penalties)
    counts = (key.others, len(block.state_starts), some, CELLS if guarded else 0, 1, len(chunk.penalties))
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
        for (penalty, _, where), coefficient in zip(chunk.penalties, coefficients, strict=True)
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
