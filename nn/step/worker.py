"""The input of a step, and what computes it: workers, the nodes of a network at work for one thread each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.execution.recording import mapped, noted
from nd.random import Random
from nd.state import InForce, computing
from nd.typing import Array
from optimize.step import NOTHING_KEPT, StepResult

from ..conf.work import FORWARD_AND_BACKWARD
from ..terms.shard import Shard
from .plans import Plans
from .propagation import OnFinal, Propagation

if TYPE_CHECKING:
    from .keeping import KeptArrays
    from .shared_nodes import SharedNodes, State

Arrays = tuple[Array, ...]
Masks = tuple[Array | None, ...]


class Truncation(NamedTuple):
    """How the way back goes through a segment of series in layers with a state; see `Context`. By default all of it."""

    restarts: bool = False
    back_length: int | None = None


MOST_SHARDS = 256
WHOLE = Truncation()
_USUAL = (WHOLE, (), None, None)


class StepArrays(NamedTuple):
    """Everything whose numbers change from step to step; see `StepInput`."""

    features: Arrays
    labels: Arrays
    features_masks: Masks
    labels_masks: Masks
    state: Arrays


@dataclass(slots=True, eq=False)
class StepInput:
    """Features ``[N, ...]``, labels and masks of one minibatch, or of a segment of its series.

    Parameters
    ----------
    features, labels : tuple of array
        Of every input and of every output of the network; no labels for a prediction.
    features_masks, labels_masks : tuple of array or None
        Of every input and of every output; without them there are none.
    state : tuple of array ``[N, ...]``
        Carried by layers from the segment before.
    truncation : Truncation
        Of the way back.
    loss_weights : tuple of float
        For every output what its loss is multiplied by; none for 1.
    shards : int
        Into how many the examples are cut, whatever computes them; 0 for as many parts as are fast.
    shard : Shard, optional
        Where these examples lie in the minibatch whose random numbers they share.
    share : float, optional
        The part of the minibatch that these examples are; None where no node asks for it.

    Attributes
    ----------
    examples : int
        N: rows of the first labels, of which networks that stack inputs have more; without them of features.
    key : tuple
        Shapes of everything, the truncation and the weights of losses: steps of one key take the same operations.
    """

    features: Arrays
    labels: Arrays = ()
    features_masks: Masks = ()
    labels_masks: Masks = ()
    state: Arrays = ()
    truncation: Truncation = WHOLE
    loss_weights: tuple[float, ...] = ()
    shards: int = 0
    shard: Shard | None = None
    share: float | None = None
    examples: int = field(init=False)
    key: tuple[object, ...] = field(init=False)

    def __post_init__(self) -> None:
        features, labels = self.features, self.labels
        self.features_masks = self.features_masks or (None,) * len(features)
        self.labels_masks = self.labels_masks or (None,) * len(labels)
        self.examples = (labels or features)[0].shape[0]
        every = (*features, *labels, *self.features_masks, *self.labels_masks, *self.state)
        self.key = tuple([None if array is None else array.shape for array in every])
        others = self.truncation, self.loss_weights, self.shard, self.share
        if others != _USUAL:
            self.key = (*self.key, *others)

    @property
    def arrays(self) -> StepArrays:
        """Everything whose numbers change from step to step."""
        return StepArrays(self.features, self.labels, self.features_masks, self.labels_masks, self.state)

    def labels_mask(self, output: int) -> Array | None:
        """Return the mask of an output's labels, None for none."""
        return self.labels_masks[output] if self.labels_masks else None

    def with_arrays(self, arrays: StepArrays) -> StepInput:
        """Return the same with others in the place of `arrays`."""
        return StepInput(*arrays, self.truncation, self.loss_weights, self.shards, self.shard, self.share)

    def in_shards(self, shards: int) -> StepInput:
        """Return the same, cut into so many shards when it is computed.

        Raises
        ------
        SizeError
            They are more than `MOST_SHARDS`.
        """
        if shards > MOST_SHARDS:
            raise nd.SizeError(
                f"shards must be at most {MOST_SHARDS}, got {shards}: every one takes memory, and some take a thread. "
                "As many as threads will ever compute are enough."
            )
        return self if shards == self.shards else replace(self, shards=shards)

    def part(self, rows: slice) -> StepInput:
        """Return views of some of the examples."""
        if rows.start == 0 and rows.stop == self.examples:
            return self
        arrays: StepArrays = mapped(lambda x: None if x is None else x[rows, ...], self.arrays)
        share = None if self.share is None else self.share * (rows.stop - rows.start) / self.examples
        return replace(self, **arrays._asdict(), share=share)


OnForward = Callable[[Sequence[Array], list[Array]], None]
"""Called with features and the activations of every layer and vertex, of all examples, between forward and backward."""


class Pass(NamedTuple):
    """What a worker computes of its rows, beside its gradient: in memory that the next pass uses again."""

    loss: Array  # summed over the rows
    evidence: tuple[Array, ...] | None  # from `StepGuard.observe`; None where nobody has looked
    state: State
    kept: tuple[KeptArrays, ...] = ()  # of the nodes that somebody has asked to keep, in their order


Run = Callable[[], Pass]  # computes a part


class Part(NamedTuple):
    """Examples of a minibatch that are computed in one piece."""

    step: StepInput
    seat: nd.Seat = nd.ALONE  # where layers meet those of other workers
    alone: bool = True  # whether the gradient is the worker's, and no other part's is added
    random: Random | None = None  # drawn from; None for the generator in force


class Worker:
    """The nodes of a network at work with memory of their own, and a gradient: for one thread at a time.

    The gradient is given as ``[1, n]``; the attribute is a view ``[n]`` of it. `number` is that among the workers.
    """

    def __init__(self, shared: SharedNodes, gradient: Array, number: int = 0) -> None:
        self.number = number
        self._shared, self._vector, self._guard = shared, gradient, shared.vectors.guard
        self.gradient = nd.reshape_view(gradient, (gradient.shape[1],))
        self.recordings = nd.Recordings(shared.dtype, shared.pure)
        self._propagations: dict[bool | tuple[int, bool], Propagation] = {}
        self._aside: list[Array] = []

    def propagation(self) -> Propagation:
        """Return the nodes, made when they are first needed: on traceable vectors where their steps are recorded."""
        traced = self._shared.pure and not nd.is_eager()
        if traced not in self._propagations:
            vectors = self._shared.vectors.params, self._vector
            self._propagations[traced] = self._shared.propagation(*(map(nd.traceable, vectors) if traced else vectors))
        return self._propagations[traced]

    def task(self, part: Part) -> Run:
        """Return what writes the gradient of a part."""
        step, seat, alone, random = part
        key = (step.key, seat.count, alone, self._shared.on_final, self._shared.keeps)
        run = partial(self.recordings.run, key, partial(self._pass, part), step.arrays)
        return run if random is None else InForce(None, random)(run)

    def _pass(self, part: Part, arrays: StepArrays) -> Pass:
        """Go through the nodes and back."""
        step, keeping, propagation = part.step.with_arrays(arrays), None, self.propagation()
        memory = propagation.pass_memory()
        if self._shared.keeps:
            from .keeping import Keeping  # which few programs need

            keeping = Keeping(propagation.nodes, self._shared.keeps)
        passed = propagation.forward(step, memory=memory, meeting=part.seat, keeping=keeping)
        loss, deltas, epsilons = propagation.losses_of(step, passed)
        if memory is not None:
            memory.keep((loss, *passed.state))
        propagation.backward(passed, deltas, epsilons, memory=memory, on_final=self.hearing(part), keeping=keeping)
        evidence = self._guard.observe(loss, propagation.gradient) if part.alone else None
        return Pass(loss, evidence, passed.state, () if keeping is None else keeping.result())

    def looked_at(self, place: int, apart: bool) -> Propagation:
        """Return nodes whose activations stay until another part comes to that place; `apart` with a gradient too."""
        if (place, apart) not in self._propagations:
            vector = nd.zeros(*self._vector.shape, dtype=self._shared.dtype) if apart else self._vector
            self._propagations[place, apart] = self._shared.propagation(self._shared.vectors.params, vector)
        return self._propagations[place, apart]

    def hearing(self, part: Part) -> OnFinal | None:
        """Return what is told of stretches of a part's gradient; None where others are added to it, or nobody asks."""
        return self.final if part.alone and self._shared.on_final is not None else None

    def final(self, start: int, stop: int) -> None:
        """Tell who listens that a stretch of the gradient is as it will stay."""
        hear = self._shared.on_final
        if stop > start and hear is not None:
            noted(partial(hear, self.number, start, stop))

    def observed(self, loss: Array) -> tuple[Array, ...]:
        """Return what the guard sees in a loss and this worker's gradient."""
        with computing(nd.backend()):
            return self._guard.observe(loss, self.gradient)

    def aside(self, level: int) -> Array:
        """Return memory ``[n]`` for a gradient that is to be added, one for every level of a tree."""
        while len(self._aside) <= level:
            self._aside.append(nd.create_uninitialized(*self.gradient.shape, dtype=nd.dtype_name(self.gradient)))
        return self._aside[level]


def copied(nested: object) -> Any:
    """Return copies of arrays in nested tuples, in memory that no later pass uses."""
    return mapped(lambda array: None if array is None else nd.copy(array), nested)


def joined(parts: Sequence[Any]) -> Any:
    """Return arrays of several parts of a minibatch, in nested tuples, as those of all of it."""
    first = parts[0]
    if len(parts) == 1 or first is None:
        return first
    if not isinstance(first, tuple):
        return nd.concat(list(parts)) if first.ndim else reduce(add, parts)  # losses of parts add up
    items = map(joined, zip(*parts, strict=True))
    return tuple(items) if type(first) is tuple else type(first)(*items)


class GradientComputer:
    """The gradient and the loss of minibatches.

    Every worker has memory of its own over the same parameters. Their gradients are added in the order of the workers,
    so that the same number of workers gives the same bits every time: recorded or not, looked at or not.
    """

    def __init__(self, shared: SharedNodes) -> None:
        self.shared = shared
        meetings = 2 * sum(node.layer.has_to_meet(training=True) for node in shared.nodes)  # once each way
        self.plans = Plans(shared.conf, shared.splits(training=True), FORWARD_AND_BACKWARD, meetings)
        self._meeting = cache(nd.meeting)  # recordings hold its seats
        self.workers = [Worker(shared, shared.vectors.gradient)]
        self._averaged = shared.conf.base.mini_batch
        self.total: Array | None = None  # of the gradients of several minibatches
        self._twins: dict[object, Random] = {}

    def forget(self) -> None:
        """Throw the recordings of all workers away, and their memory."""
        for worker in self.workers:
            worker.recordings.clear()

    def compute(self, step: StepInput, iteration: int, epoch: int, on_forward: OnForward | None = None) -> StepResult:
        """Compute; with `on_forward`, unrecorded."""
        shared, vectors = self.shared, self.shared.vectors
        if shared.scheduled:
            shared.at(iteration, epoch)
        if shared.states and not step.state:  # series begin
            step = replace(step, state=shared.initial_state(step.features))
        plan, guard, keeps = self.plans.known.get(step.key) or self.plans.of(step), vectors.guard, shared.keeps
        more: Arrays = ()
        if step.shards:
            from .sums import compute_in_shards  # for whom bits must not depend on threads

            penalty = guard.penalty(iteration, epoch)
            loss, evidence, state, kept = compute_in_shards(self, step, on_forward)
        elif plan.undivided and on_forward is None:  # the usual case of small networks, where microseconds count
            penalty = guard.penalty(iteration, epoch)
            ((loss, evidence, state, kept),) = nd.run_tasks([self.workers[0].task(Part(step))], plan.light)
        else:
            from .sums import compute_in_shares  # which one worker does not need

            computed, more, penalty = compute_in_shares(self, step, plan, (iteration, epoch), on_forward)
            loss, evidence, state, kept = computed
        number = vectors.gradients.written(more, evidence)
        divisor = step.examples if self._averaged else 1
        score = guard.score(loss, penalty, divisor)
        named = dict(zip(keeps, kept, strict=True)) if kept else NOTHING_KEPT
        return StepResult(loss, penalty, step.examples, vectors.gradients, divisor, state, score, named, number)

    def runs(
        self,
        workers: Sequence[Worker],
        parts: Sequence[Sequence[Part | None]],
        meeting: nd.Meeting | None,
        on_forward: OnForward | None,
        step: StepInput,
    ) -> list[list[Run | None]]:
        """Return what computes every part; where somebody looks, what is left of it once all have been looked at."""
        if on_forward is not None:
            from .node_calls import NodeCalls  # which few programs need

            calls = on_forward if isinstance(on_forward, NodeCalls) else NodeCalls(on_forward=on_forward)
            return calls.runs(workers, parts, meeting, step)
        return [
            [None if part is None else worker.task(part) for part in own]
            for worker, own in zip(workers, parts, strict=True)
        ]

    def twin_of(self, generator: Random, key: object) -> Random:
        """Return a generator in the same state: one object for a key, as recordings know whose draws they hold."""
        twin = self._twins.get(key)
        if twin is None or twin.keeps_23_bits != generator.keeps_23_bits:
            twin = self._twins[key] = generator.copy()
        twin.set_state(generator.get_state())
        return twin

    def meeting_of(self, count: int) -> tuple[nd.Meeting | None, Sequence[nd.Seat]]:
        """Return where so many workers meet, None where they do not, and a seat for each."""
        meeting = self._meeting(count) if self.plans.meetings and count > 1 else None
        return meeting, [nd.ALONE] * count if meeting is None else meeting.seats

    def workers_for(self, count: int) -> list[Worker]:
        """Return so many workers, the first with the network's gradient vector."""
        shared = self.shared
        while len(self.workers) < count:
            gradient = nd.zeros(*shared.vectors.gradient.shape, dtype=shared.dtype)  # which frozen layers keep
            self.workers.append(Worker(shared, gradient, len(self.workers)))
        return self.workers[:count]
