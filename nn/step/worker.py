"""Workers, the nodes of a network at work for one thread each, and the division of minibatches among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.arguments import shown
from nd.execution.recording import in_order, mapped, noted
from nd.state import computing
from nd.typing import Array
from optimize.step import NOTHING_KEPT, StepResult

from .plans import FORWARD_AND_BACKWARD, Plans
from .propagation import ForwardPass, OnFinal, Propagation
from .step_input import StepArrays, StepInput

if TYPE_CHECKING:
    from .keeping import Keeping, KeptArrays
    from .shared_nodes import SharedNodes, State

OnForward = Callable[[Sequence[Array], list[Array]], None]
"""Called with features and the activations of every layer and vertex, of all examples, between forward and backward."""


class Pass(NamedTuple):
    """What a worker computes of its rows, beside its gradient: in memory that the next pass uses again."""

    loss: Array
    """Summed over the rows."""
    evidence: Array | None
    """From `StepGuard.observe`."""
    state: State
    kept: tuple[KeptArrays, ...] = ()
    """Of the nodes that somebody has asked to keep, in their order."""


class HalfWay(NamedTuple):
    """A part of a minibatch between forward and backward."""

    propagation: Propagation
    step: StepInput
    passed: ForwardPass
    activations: list[Array]
    """Of every layer and vertex."""
    on_final: OnFinal | None
    keeping: Keeping | None

    def backward(self) -> Pass:
        """Go back."""
        with computing(nd.backend()):
            loss, deltas, epsilons = self.propagation.losses_of(self.step, self.passed)
            self.propagation.backward(self.passed, deltas, epsilons, on_final=self.on_final, keeping=self.keeping)
        return Pass(loss, None, self.passed.state, () if self.keeping is None else self.keeping.result())


class Worker:
    """The nodes of a network at work with memory of their own, and a gradient: for one thread at a time.

    Parameters
    ----------
    shared : SharedNodes
    gradient : array ``[1, n]``
        For the layers' gradients.
    number : int
        Among the workers.

    Attributes
    ----------
    gradient : array ``[n]``
    recordings : Recordings
    """

    def __init__(self, shared: SharedNodes, gradient: Array, number: int = 0) -> None:
        self.number = number
        self._shared, self._vector, self._guard = shared, gradient, shared.vectors.guard
        self.gradient = nd.reshape_view(gradient, (gradient.shape[1],))
        self.recordings = nd.Recordings(shared.dtype, shared.pure)
        self._propagations: dict[bool, Propagation] = {}
        self._looked_at: list[Propagation] = []
        self._aside: list[Array] = []

    def propagation(self) -> Propagation:
        """Return the nodes, made when they are first needed: on traceable vectors where their steps are recorded."""
        traced = self._shared.pure and not nd.is_eager()
        propagation = self._propagations.get(traced)
        if propagation is None:
            vectors = self._shared.vectors.params, self._vector
            params, gradient = map(nd.traceable, vectors) if traced else vectors
            propagation = self._propagations[traced] = self._shared.propagation(params, gradient)
        return propagation

    # ---- the gradient

    def task(self, step: StepInput, rows: Sequence[slice], seat: nd.Seat) -> Callable[[], Pass]:
        """Return what writes the gradient of those rows, one part after the other."""
        if len(rows) == 1:
            return partial(self.compute, step.part(rows[0]), seat, True)
        return partial(self._added, [partial(self.compute, step.part(part), seat, False) for part in rows])

    def compute(self, part: StepInput, seat: nd.Seat, alone: bool) -> Pass:
        """Write the gradient of a part.

        Layers that meet those of other workers do so at the `seat`. Where it is not `alone`, others will be added.
        """
        key = (part.key, seat.count, alone, self._shared.on_final, self._shared.keeps)
        return self.recordings.run(key, partial(self._pass, part, seat, alone), part.arrays)

    def _pass(self, part: StepInput, seat: nd.Seat, alone: bool, arrays: StepArrays) -> Pass:
        """Go through the nodes and back."""
        propagation, part = self.propagation(), part.with_arrays(arrays)
        memory = propagation.pass_memory()
        keeping = self._keeping(propagation)
        passed = propagation.forward(part, memory=memory, meeting=seat, keeping=keeping)
        loss, deltas, epsilons = propagation.losses_of(part, passed)
        if memory is not None:
            memory.keep((loss, *passed.state))
        final = self.final if alone and self._shared.on_final is not None else None
        propagation.backward(passed, deltas, epsilons, memory=memory, on_final=final, keeping=keeping)
        evidence = self._guard.observe(loss, propagation.gradient) if alone else None
        return Pass(loss, evidence, passed.state, () if keeping is None else keeping.result())

    def _keeping(self, propagation: Propagation) -> Keeping | None:
        """Return what keeps activations and epsilons; None where nobody has asked."""
        if not self._shared.keeps:
            return None
        from .keeping import Keeping  # which few programs need

        return Keeping(propagation.nodes, self._shared.keeps)

    def aside(self, level: int) -> Array:
        """Return memory ``[n]`` for a gradient that is to be added, one for every level of a tree."""
        while len(self._aside) <= level:
            self._aside.append(nd.create_uninitialized(*self.gradient.shape, dtype=nd.dtype_name(self.gradient)))
        return self._aside[level]

    def final(self, start: int, stop: int) -> None:
        """Tell who listens that a stretch of the gradient is as it will stay."""
        hear = self._shared.on_final
        if stop > start and hear is not None:
            noted(partial(hear, self.number, start, stop))

    def _added(self, passes: Sequence[Callable[[], Pass]]) -> Pass:
        """Add up the gradients that passes write, each in the place of the one before, and their losses."""
        done, total = [copied(passes[0]())], self.aside(0)
        nd.assign(total, self.gradient)
        for number, run in enumerate(passes[1:], 2):
            done.append(copied(run()))
            nd.add(total, self.gradient, self.gradient if number == len(passes) else total)
        self.final(0, self.gradient.shape[0])
        loss = reduce(add, [one.loss for one in done])
        return Pass(loss, self._observed(loss), joined([one.state for one in done]), joined([one.kept for one in done]))

    def _observed(self, loss: Array) -> Array | None:
        with computing(nd.backend()):
            return self._guard.observe(loss, self.gradient)

    # ---- the same with a stop between forward and backward

    def forward(self, step: StepInput, rows: Sequence[slice], seat: nd.Seat) -> list[HalfWay]:
        """Run all parts forward, unrecorded, as a step does: their activations stay until the next call."""
        return [self.half_way(place, step.part(part), seat, len(rows) == 1) for place, part in enumerate(rows)]

    def half_way(self, place: int, part: StepInput, seat: nd.Seat, alone: bool = False) -> HalfWay:
        """Run a part forward, in the memory of that place."""
        if place == len(self._looked_at):
            self._looked_at.append(self._shared.propagation(self._shared.vectors.params, self._vector))
        propagation, shown = self._looked_at[place], list[Array]()
        keeping, final = self._keeping(propagation), self.final if alone and self._shared.on_final is not None else None
        with computing(nd.backend()):
            part = part.with_arrays(in_order(part.arrays))
            passed = propagation.forward(part, meeting=seat, shown=shown, keeping=keeping)
        return HalfWay(propagation, part, passed, shown, final, keeping)

    def backward(self, half_ways: Sequence[HalfWay]) -> Pass:
        """Do as `compute`, from half way on."""
        if len(half_ways) > 1:
            return self._added([half_way.backward for half_way in half_ways])
        one = half_ways[0].backward()
        return one._replace(evidence=self._observed(one.loss))


def copied(nested: Any) -> Any:
    """Return copies of arrays in nested tuples, in memory that no later pass uses."""
    return mapped(lambda array: None if array is None else nd.copy(array), nested)


def joined(parts: Sequence[Any]) -> Any:
    """Return arrays of several parts of a minibatch, in nested tuples, as those of all of it."""
    first = parts[0]
    if len(parts) == 1 or first is None:
        return first
    if not isinstance(first, tuple):
        return nd.concat(list(parts))
    items = map(joined, zip(*parts, strict=True))
    return tuple(items) if type(first) is tuple else type(first)(*items)


class GradientComputer:
    """The gradient and the loss of minibatches.

    Parameters
    ----------
    shared : SharedNodes

    Notes
    -----
    Every worker has memory of its own over the same parameters. Their gradients are added in the order of the workers,
    so that the same number of workers gives the same bits every time: recorded or not, looked at or not.
    """

    def __init__(self, shared: SharedNodes) -> None:
        self.shared = shared
        meetings = 2 * shared.meeting_nodes(training=True)  # one each way
        self.plans = Plans(shared.conf, shared.splits(training=True), FORWARD_AND_BACKWARD, meetings)
        self._meetings: dict[int, nd.Meeting] = {}
        self.workers = [Worker(shared, shared.vectors.gradient)]
        self._averaged = shared.conf.base.mini_batch
        self._total: Array | None = None  # of the gradients of several minibatches

    def forget(self) -> None:
        """Throw the recordings of all workers away, and their memory."""
        for worker in self.workers:
            worker.recordings.clear()

    def compute(self, step: StepInput, iteration: int, epoch: int, on_forward: OnForward | None = None) -> StepResult:
        """Compute; with `on_forward`, unrecorded."""
        shared, vectors = self.shared, self.shared.vectors
        if shared.scheduled:
            shared.at(iteration, epoch)
        plan, guard = self.plans.known.get(step.key) or self.plans.of(step), vectors.guard
        workers = self.workers_for(1 if step.shards else len(plan.workers))
        more: tuple[Array, ...] = ()
        if len(workers) == 1 and (on_forward is None or step.shards):
            penalty = guard.penalty(iteration, epoch)
            if step.shards:
                one = self._in_shards(step, on_forward)
            else:  # the usual case of small networks, where microseconds count
                (one,) = nd.run_tasks([workers[0].task(step, plan.workers[0], nd.ALONE)], plan.light)
            loss, evidence, state, kept = one
            seen: tuple[Array, ...] = () if evidence is None else (evidence,)
        else:
            passes, penalty = self._passes(step, plan, workers, (iteration, epoch), on_forward)
            loss = reduce(add, [one.loss for one in passes])
            seen = tuple(one.evidence for one in passes if one.evidence is not None)
            state, more = joined([one.state for one in passes]), tuple(worker.gradient for worker in workers[1:])
            kept = joined([one.kept for one in passes])
        vectors.gradients.written(more, seen)
        divisor = step.examples if self._averaged else 1
        score = guard.score(loss, penalty, divisor)
        named = dict(zip(shared.keeps, kept, strict=True)) if kept else NOTHING_KEPT
        return StepResult(loss, penalty, step.examples, vectors.gradients, divisor, state, score, named)

    def compute_sum(
        self, steps: Sequence[StepInput], iteration: int, epoch: int, on_forward: OnForward | None = None
    ) -> StepResult:
        """Compute several minibatches, one after the other, and add up their gradients and losses.

        Layers write their gradients outright: what they have written is added, as a flat vector. The penalties count
        once.

        Raises
        ------
        DTypeError
            They are none, or something else.
        """
        if not isinstance(steps, Sequence) or not steps or not all(isinstance(step, StepInput) for step in steps):
            raise nd.DTypeError(
                f"compute_gradient_and_score: step must be a StepInput, or several, got {shown(steps)}. Make one with "
                "net.step_input(data)."
            )
        gradients, guard, losses = self.shared.vectors.gradients, self.shared.vectors.guard, []
        for number, step in enumerate(steps):
            result = self.compute(step, iteration, epoch, on_forward)
            gradient = gradients.whole()
            losses.append(nd.copy(result.loss))
            if self._total is None:
                self._total = nd.create_uninitialized(*gradient.shape, dtype=self.shared.dtype)
            with computing(nd.backend()):
                nd.addi(self._total, gradient) if number else nd.assign(self._total, gradient)
        with computing(nd.backend()):
            nd.assign(gradients.whole(), self._total)
            loss = sum(losses[1:], losses[0])
        examples = sum(step.examples for step in steps)
        divisor = examples if self._averaged else 1
        score = guard.score(loss, result.penalty, divisor)
        return result._replace(loss=loss, examples=examples, divisor=divisor, known_score=score)

    def _in_shards(self, step: StepInput, on_forward: OnForward | None) -> Pass:
        from .shards import compute_in_shards  # for whom bits must not depend on threads

        return compute_in_shards(self, step, on_forward)

    def _passes(
        self,
        step: StepInput,
        plan: nd.WorkPlan,
        workers: Sequence[Worker],
        counts: tuple[int, int],
        on_forward: OnForward | None,
    ) -> tuple[list[Pass], Array | float]:
        """Let all workers compute; return what each has made, and the sum of the penalties."""
        count, vectors = len(workers), self.shared.vectors
        meeting = self.meeting_of(count)
        half_ways = None if on_forward is None else self._half_ways(step, plan, workers, meeting, on_forward)

        seats = [nd.ALONE] * count if meeting is None else meeting.seats
        if half_ways is None:
            tasks = [worker.task(step, *own) for worker, *own in zip(workers, plan.workers, seats, strict=True)]
        else:
            tasks = [partial(worker.backward, ways) for worker, ways in zip(workers, half_ways, strict=True)]

        def run(number: int, task: Callable[[], Pass]) -> tuple[Pass, Array | float]:
            share = vectors.penalty_sum.share(*counts, number, count) if count > 1 else vectors.guard.penalty(*counts)
            return task(), share

        computed = nd.run_tasks([partial(run, *numbered) for numbered in enumerate(tasks)], plan.light, meeting)
        penalty = computed[0][1]
        for _, share in computed[1:]:
            penalty = penalty + share
        return [one for one, _ in computed], penalty

    def _half_ways(
        self,
        step: StepInput,
        plan: nd.WorkPlan,
        workers: Sequence[Worker],
        meeting: nd.Meeting | None,
        on_forward: OnForward,
    ) -> list[list[HalfWay]]:
        """Let all workers go half of the way, and show the activations of the whole minibatch."""
        seats = [nd.ALONE] * len(workers) if meeting is None else meeting.seats
        tasks = [
            partial(worker.forward, step, rows, seat)
            for worker, rows, seat in zip(workers, plan.workers, seats, strict=True)
        ]
        half_ways = nd.run_tasks(tasks, plan.light, meeting)
        on_forward(step.features, list(joined([tuple(part.activations) for parts in half_ways for part in parts])))
        return half_ways

    def meeting_of(self, count: int) -> nd.Meeting | None:
        """Return where so many workers meet; None where they do not. Recordings hold its seats."""
        if not self.plans.meetings or count == 1:
            return None
        if count not in self._meetings:
            self._meetings[count] = nd.meeting(count)
        return self._meetings[count]

    def workers_for(self, count: int) -> list[Worker]:
        """Return so many workers, the first with the network's gradient vector."""
        shared = self.shared
        while len(self.workers) < count:
            gradient = nd.zeros(*shared.vectors.gradient.shape, dtype=shared.dtype)  # which frozen layers keep
            self.workers.append(Worker(shared, gradient, len(self.workers)))
        return self.workers[:count]
