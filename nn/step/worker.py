"""Workers, the nodes of a network at work for one thread each, and the division of minibatches among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.arguments import shown
from nd.execution.recording import mapped, noted
from nd.random import Random
from nd.state import InForce, computing
from nd.typing import Array
from optimize.step import NOTHING_KEPT, StepResult

from ..conf.work import FORWARD_AND_BACKWARD
from .plans import Plans
from .propagation import OnFinal, Propagation
from .step_input import Arrays, StepArrays, StepInput

if TYPE_CHECKING:
    from .keeping import KeptArrays
    from .shared_nodes import SharedNodes, State

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

    Parameters
    ----------
    shared : SharedNodes
    gradient : array ``[1, n]``
        For the layers' gradients; the attribute is a view ``[n]`` of it.
    number : int
        Among the workers.
    """

    def __init__(self, shared: SharedNodes, gradient: Array, number: int = 0) -> None:
        self.number = number
        self._shared, self._vector, self._guard = shared, gradient, shared.vectors.guard
        self.gradient = nd.reshape_view(gradient, (gradient.shape[1],))
        self.recordings = nd.Recordings(shared.dtype, shared.pure)
        self._propagations: dict[bool, Propagation] = {}
        self._looked_at: dict[tuple[int, bool], Propagation] = {}
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
        shared, step, keeping, propagation = self._shared, part.step.with_arrays(arrays), None, self.propagation()
        memory = propagation.pass_memory()
        if shared.keeps:
            from .keeping import Keeping  # which few programs need

            keeping = Keeping(propagation.nodes, shared.keeps)
        passed = propagation.forward(step, memory=memory, meeting=part.seat, keeping=keeping)
        loss, deltas, epsilons = propagation.losses_of(step, passed)
        if memory is not None:
            memory.keep((loss, *passed.state))
        propagation.backward(passed, deltas, epsilons, memory=memory, on_final=self.hearing(part), keeping=keeping)
        evidence = self._guard.observe(loss, propagation.gradient) if part.alone else None
        return Pass(loss, evidence, passed.state, () if keeping is None else keeping.result())

    def looked_at(self, place: int, apart: bool = False) -> Propagation:
        """Return nodes whose activations stay until another part comes to that place; `apart` with a gradient too."""
        if (place, apart) not in self._looked_at:
            vector = nd.zeros(*self._vector.shape, dtype=self._shared.dtype) if apart else self._vector
            self._looked_at[place, apart] = self._shared.propagation(self._shared.vectors.params, vector)
        return self._looked_at[place, apart]

    def hearing(self, part: Part) -> OnFinal | None:
        """Return what is told of stretches of a part's gradient; None where others are added to it, or nobody asks."""
        return self.final if part.alone and self._shared.on_final is not None else None

    def final(self, start: int, stop: int) -> None:
        """Tell who listens that a stretch of the gradient is as it will stay."""
        hear = self._shared.on_final
        if stop > start and hear is not None:
            noted(partial(hear, self.number, start, stop))

    def total(self, runs: Sequence[Run]) -> Pass:
        """Run parts one after the other, and add them up: the gradient is then this worker's."""
        if len(runs) == 1:
            return runs[0]()
        passes, total = [], self.aside(0)
        for number, run in enumerate(runs, 1):
            passes.append(copied(run()))
            if number == 1:
                nd.assign(total, self.gradient)
            else:
                nd.add(total, self.gradient, self.gradient if number == len(runs) else total)
        self.final(0, self.gradient.shape[0])
        of_all = sum_of(passes)
        return of_all._replace(evidence=self.observed(of_all.loss))

    def observed(self, loss: Array) -> tuple[Array, ...]:
        """Return what the guard sees in a loss and this worker's gradient."""
        with computing(nd.backend()):
            return self._guard.observe(loss, self.gradient)

    def aside(self, level: int) -> Array:
        """Return memory ``[n]`` for a gradient that is to be added, one for every level of a tree."""
        while len(self._aside) <= level:
            self._aside.append(nd.create_uninitialized(*self.gradient.shape, dtype=nd.dtype_name(self.gradient)))
        return self._aside[level]


def sum_of(passes: Sequence[Pass]) -> Pass:
    """Return what several passes give beside their gradients as that of one; losses are added one after the other."""
    losses, evidence, states, kept = zip(*passes, strict=True)
    seen = () if None in evidence else tuple(chain(*evidence))
    return Pass(reduce(add, losses), seen, joined(states), joined(kept))


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
        self._total: Array | None = None  # of the gradients of several minibatches
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
            step = step.with_state(shared.initial_state(step.features))
        plan, guard, keeps = self.plans.known.get(step.key) or self.plans.of(step), vectors.guard, shared.keeps
        more: Arrays = ()
        if step.shards:
            from .shards import compute_in_shards  # for whom bits must not depend on threads

            penalty = guard.penalty(iteration, epoch)
            loss, evidence, state, kept = compute_in_shards(self, step, on_forward)
        elif plan.undivided and on_forward is None:  # the usual case of small networks, where microseconds count
            penalty = guard.penalty(iteration, epoch)
            ((loss, evidence, state, kept),) = nd.run_tasks([self.workers[0].task(Part(step))], plan.light)
        else:
            (loss, evidence, state, kept), more, penalty = self._shares(step, plan, (iteration, epoch), on_forward)
        number = vectors.gradients.written(more, evidence)
        divisor = step.examples if self._averaged else 1
        score = guard.score(loss, penalty, divisor)
        named = dict(zip(keeps, kept, strict=True)) if kept else NOTHING_KEPT
        return StepResult(loss, penalty, step.examples, vectors.gradients, divisor, state, score, named, number)

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
        if len(steps) == 1:
            return self.compute(steps[0], iteration, epoch, on_forward)
        shared, vectors, losses, hears = self.shared, self.shared.vectors, [], self.shared.on_final
        if self._total is None:
            self._total = nd.create_uninitialized(*self.workers[0].gradient.shape, dtype=shared.dtype)
        shared.on_final = None  # of one minibatch no stretch is final
        try:
            for number, step in enumerate(steps):
                result = self.compute(step, iteration, epoch, on_forward)
                losses.append(nd.copy(result.loss))
                gradient = vectors.gradients.whole()
                with computing(nd.backend()):
                    nd.addi(self._total, gradient) if number else nd.assign(self._total, gradient)
        finally:
            shared.on_final = hears
        with computing(nd.backend()):
            nd.assign(vectors.gradients.whole(), self._total)
            loss = sum(losses[1:], losses[0])
        self.workers[0].final(0, gradient.shape[0])
        examples = sum(step.examples for step in steps)
        divisor = examples if self._averaged else 1
        score = vectors.guard.score(loss, result.penalty, divisor)
        return result._replace(loss=loss, examples=examples, divisor=divisor, known_score=score)

    def _shares(
        self, step: StepInput, plan: nd.WorkPlan, counts: tuple[int, int], on_forward: OnForward | None
    ) -> tuple[Pass, tuple[Array, ...], Array | float]:
        """Let every worker compute its share; return what is beside the gradient, further gradients, the penalties."""
        count, vectors = len(plan.workers), self.shared.vectors
        workers, (meeting, seats) = self.workers_for(count), self.meeting_of(count)
        parts = [
            [Part(step.part(rows), seat, len(own) == 1) for rows in own]
            for own, seat in zip(plan.workers, seats, strict=True)
        ]
        runs: Any = self.runs(workers, parts, meeting, on_forward, step)

        def share(number: int) -> tuple[Pass, Array | float]:
            own = vectors.penalty_sum.share(*counts, number, count) if count > 1 else vectors.guard.penalty(*counts)
            return workers[number].total(runs[number]), own

        computed = nd.run_tasks([partial(share, number) for number in range(count)], plan.light, meeting)
        more = tuple(worker.gradient for worker in workers[1:])
        return sum_of([one for one, _ in computed]), more, reduce(add, [penalty for _, penalty in computed])

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
