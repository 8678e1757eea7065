"""Workers, the nodes of a network at work for one thread each, and the division of minibatches among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.execution.recording import MOST_KEYS, in_order
from nd.state import computing
from nd.typing import Array
from optimize.step_result import StepResult

from .minibatch import StepInput
from .pass_memory import Keeping, check_activations
from .propagation import ForwardPass, Propagation

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration, NodeTypes
    from .shared_nodes import SharedNodes, State

MOST_PLANS = 1000  # keys that are remembered
FORWARD_ONLY, FORWARD_AND_BACKWARD = 1, 3  # products that every one of the forward pass stands for


class Plans:
    """Division of minibatches: as the backend wishes, where no part of the network minds.

    Parameters
    ----------
    conf : NetworkConfiguration
    splits : bool
        Whether examples meet nowhere.
    products : int
        Matrix products that every one of the forward pass stands for.
    meetings : int
        How often workers have to meet.
    """

    def __init__(self, conf: NetworkConfiguration, splits: bool, products: int, meetings: int = 0) -> None:
        self.conf, self.splits, self.products, self.meetings = conf, splits, products, meetings
        self.keeping = Keeping.INPUTS if products > FORWARD_ONLY else Keeping.NOTHING
        self._known: dict[object, nd.WorkPlan] = {}

    def of(self, step: StepInput) -> nd.WorkPlan:
        """Return the plan for inputs of those shapes; raise SizeError where no memory of this size holds them."""
        plan = self._known.get(step.key)
        if plan is None:
            types = self.types_of(step)
            plan = nd.plan_work(step.examples, self._work(step, types) if self.splits else None)
            if types is not None:
                rows = sum(max(part.stop - part.start for part in parts) for parts in plan.workers)
                check_activations(self.conf, step, types, rows, self.keeping)
            if len(self._known) < MOST_PLANS:
                self._known[step.key] = plan
        return plan

    def types_of(self, step: StepInput) -> list[NodeTypes] | None:
        """Return the types of all nodes; None where something does not fit, which the layers then say of the whole."""
        from .work import input_type_of  # of the first step of a shape

        try:
            return self.conf.node_types([input_type_of(x.shape) for x in step.features])
        except nd.NdError:
            return None

    def _work(self, step: StepInput, types: list[NodeTypes] | None) -> nd.Work | None:
        """Return what an example costs; None where something does not fit."""
        if types is None or not self._fit(step, types):
            return None
        from .work import work_of

        work = work_of(self.conf, types, [x.shape for x in step.features], self.products)
        return work._replace(meetings=self.meetings)

    def _fit(self, step: StepInput, types: list[NodeTypes]) -> bool:
        """Tell whether labels and their masks fit the outputs, so that no part of them will be refused."""
        nodes = self.conf.nodes
        for output, number in enumerate(self.conf.output_nodes if step.labels else ()):
            loss = getattr(nodes[number].conf, "loss", None)
            labels, mask = step.labels[output], step.labels_mask(output)
            if loss is None:
                continue
            places = tuple(labels.shape[2:])
            expected = (step.examples, loss.label_columns(types[number].output.shape[0]), *places)
            masks = {(step.examples, 1), (step.examples, *places), expected, (step.examples, 1, *places)}
            if tuple(labels.shape) != expected or (mask is not None and tuple(mask.shape) not in masks):
                return False
        return True


OnForward = Callable[[Sequence[Array], list[Array]], None]
"""Called with features and the activations of every layer and vertex, of all examples, between forward and backward."""


class HalfWay(NamedTuple):
    """A part of a minibatch between forward and backward."""

    propagation: Propagation
    step: StepInput
    passed: ForwardPass
    activations: list[Array]
    """Of every layer and vertex."""

    def gradient_and_loss(self) -> tuple[Array, State]:
        """Go back."""
        with computing(nd.backend()):
            return self.propagation.way_back(self.step, self.passed)


class Worker:
    """The nodes of a network at work with memory of their own, and a gradient: for one thread at a time.

    Parameters
    ----------
    shared : SharedNodes
    gradient : array ``[1, n]``
        For the layers' gradients.

    Attributes
    ----------
    gradient : array ``[n]``
    recordings : Recordings
    """

    def __init__(self, shared: SharedNodes, gradient: Array) -> None:
        self._shared, self._vector = shared, gradient
        self.gradient = nd.reshape_view(gradient, (gradient.shape[1],))
        self.recordings = nd.Recordings(shared.dtype, shared.pure)
        (self.square,) = nd.cells(nd.zeros(1, dtype=shared.dtype))
        """The sum of the gradient's squares, where it was observed."""
        self._propagations: dict[bool, Propagation] = {}
        self._looked_at: list[Propagation] = []
        self._memory: dict[object, tuple[Array, ...]] = {}
        self._total: Array | None = None

    def observe(self, loss: Array) -> None:
        """Have the step's loss, the gradient as it is now and the penalties looked at; see `StepWatch.observe`."""
        vectors = self._shared.vectors
        vectors.updater.watch.observe(loss, self.gradient, vectors.penalty_sum, self.square)

    def _propagation(self) -> Propagation:
        """Return the nodes, made when they are first needed: on traceable vectors where their steps are recorded."""
        traced = self._shared.pure and not nd.is_eager()
        propagation = self._propagations.get(traced)
        if propagation is None:
            vectors = self._shared.vectors.params, self._vector
            params, gradient = map(nd.traceable, vectors) if traced else vectors
            propagation = self._propagations[traced] = self._shared.propagation(params, gradient)
        return propagation

    def forward(self, step: StepInput, rows: tuple[slice, ...], meeting: nd.Seat) -> list[HalfWay]:
        """Run all parts forward, unrecorded, as a step does: their activations stay until the next call."""
        while len(self._looked_at) < len(rows):
            self._looked_at.append(self._shared.propagation(self._shared.vectors.params, self._vector))
        half_ways = []
        with computing(nd.backend()):
            for propagation, part in zip(self._looked_at, map(step.part, rows), strict=False):
                part, shown = part.with_arrays(in_order(part.arrays)), list[Array]()
                passed = propagation.way_there(part, meeting, shown=shown)
                half_ways.append(HalfWay(propagation, part, passed, shown))
        return half_ways

    def gradients(self, passes: Sequence[Callable[[], tuple[Array, State]]]) -> tuple[Array, list[State]]:
        """Add up the gradients that passes over one part each write, and their losses; return the state of each."""
        loss, state = passes[0]()
        if len(passes) == 1:
            return loss, [state]
        if self._total is None:
            self._total = nd.create_uninitialized(*self.gradient.shape, dtype=nd.dtype_name(self.gradient))
        nd.assign(self._total, self.gradient)
        loss, states = nd.copy(loss), [_copied(state)]  # whose memory the next part uses again
        for number, run in enumerate(passes[1:], 2):
            more, state = run()
            loss = loss + more
            states.append(_copied(state))
            nd.add(self._total, self.gradient, self.gradient if number == len(passes) else self._total)
        return loss, states

    def observed(self, half_way: HalfWay) -> tuple[Array, State]:
        """Do as `gradient_of` with `observe`, from half way on."""
        loss, state = half_way.gradient_and_loss()
        with computing(nd.backend()):
            self.observe(loss)
        return loss, state

    def gradient_of(self, step: StepInput, observe: bool, meeting: nd.Seat = nd.ALONE) -> tuple[Array, State]:
        """Write the gradient; return the summed loss, and the state, in memory that the next of these shapes reuses.

        Layers that meet those of other workers do so at the `meeting`.
        """
        key = (step.key, observe, meeting.count)
        after = self._memory_like(key, step.state) if step.state else ()
        watch, penalties = self._shared.vectors.updater.watch, self._shared.vectors.penalty_sum

        def compute(arrays: Sequence[Array | Any], _: Any) -> Array:
            gradient, square, *rest = arrays
            given = step.with_arrays(rest[: len(rest) - len(after)])
            loss, state = self._propagation().gradient_and_loss(given, meeting=meeting)
            for target, source in zip(rest[len(rest) - len(after) :], state, strict=True):
                nd.assign(target, source)
            if observe:
                watch.observe(loss, gradient, penalties, square)
            return loss

        arrays, own = (self.gradient, self.square, *step.arrays), (True, True, *step.own)
        if after:
            arrays, own = (*arrays, *after), (*own, *(False for _ in after), *(True for _ in after))
        return self.recordings.run(key, compute, arrays, own=own), after

    def _memory_like(self, key: object, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """Return where a computation of that key writes what is not its result: a state, further outputs."""
        if key not in self._memory:
            if len(self._memory) >= MOST_KEYS:  # the oldest goes, and the recording that writes it
                oldest = next(iter(self._memory))
                del self._memory[oldest]
                self.recordings.forget(oldest)
            self._memory[key] = tuple(nd.activation_like(array) for array in arrays)
        return self._memory[key]

    def outputs(
        self, step: StepInput, rows: tuple[slice, ...], keeps_state: bool
    ) -> list[tuple[tuple[Array, ...], State]]:
        """Return the activations of every output for each part, new arrays, and where wanted the state after it.

        A state of the whole lies where the next computation of these shapes goes on from it without a copy.
        """
        if len(rows) == 1:
            return [self._outputs_of(step.part(rows[0]), keeps_state)]
        parts = (self._outputs_of(step.part(part), keeps_state) for part in rows)
        return [(outputs, _copied(state)) for outputs, state in parts]

    def _outputs_of(self, step: StepInput, keeps_state: bool) -> tuple[tuple[Array, ...], State]:
        """A recording has one result: others, and the state, are written where it finds memory for them."""
        before, more = step.state if keeps_state else (), len(self._shared.outputs) - 1
        key = (step.key, keeps_state)
        targets = self._memory.get(key)
        plainly = nd.is_eager() or not self._shared.pure  # may fail in the middle: what is stored must stay
        if plainly or (targets is None and more):
            after = _copied(before)
            with computing(nd.backend()):
                outputs = self._propagation().output(step, state_into=after)
            if not plainly:
                self._memory_like(key, (*outputs[1:], *after))
            return _copied(outputs), after
        if targets is None and before:
            targets = self._memory_like(key, before)
        others, state = (targets or ())[:more], (targets or ())[more:]
        for target, source in zip(state, before, strict=True):
            if target is not source:
                nd.assign(target, source)
        given = (*step.arrays[: len(step.arrays) - len(state)], *state) if state else step.arrays

        def compute(arrays: Sequence[Array | Any], _: Any) -> Array:
            into = tuple(arrays[len(given) - len(state) : len(given)])
            first, *rest = self._propagation().output(step.with_arrays(arrays), state_into=into)
            for target, source in zip(arrays[len(given) :], rest, strict=True):
                nd.assign(target, source)
            return first

        own = (*step.own, *(keeps_state for _ in step.state), *(True for _ in others))
        first = self.recordings.run(key, compute, (*given, *others), own=own)
        return _copied((first, *others)), state


def _copied(arrays: Iterable[Array]) -> tuple[Array, ...]:
    return tuple(map(nd.copy, arrays))


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

    def compute(self, step: StepInput, iteration: int, epoch: int, on_forward: OnForward | None = None) -> StepResult:
        """Compute; with `on_forward`, unrecorded."""
        if self.shared.scheduled:
            self.shared.at(iteration, epoch)
        plan = self.plans.of(step)
        if not plan.undivided:
            return self._compute_parts(step, plan, iteration, epoch, on_forward)
        worker, vectors = self.workers[0], self.shared.vectors
        penalty = vectors.updater.watch.penalty(vectors.penalty_sum, iteration, epoch)
        run = partial(worker.gradient_of, step, True)
        if on_forward is not None:
            run = partial(worker.observed, self._half_ways(step, plan, on_forward)[0][0])
        ((loss, state),) = nd.run_tasks([run], plan.light)
        return self._result(step, loss, penalty, state, (worker.square,), observed=True)

    def _half_ways(self, step: StepInput, plan: nd.WorkPlan, on_forward: OnForward) -> list[list[HalfWay]]:
        """Let all workers go half of the way, and show the activations of the whole minibatch."""
        workers = self._workers_for(plan)
        meeting = self._meeting_of(len(workers))
        seats = [nd.ALONE] * len(workers) if meeting is None else meeting.seats
        tasks = [
            partial(worker.forward, step, rows, seat)
            for worker, rows, seat in zip(workers, plan.workers, seats, strict=True)
        ]
        half_ways = nd.run_tasks(tasks, plan.light, meeting)
        parts = [half_way.activations for of_worker in half_ways for half_way in of_worker]
        whole = parts[0] if len(parts) == 1 else [nd.concat(list(arrays)) for arrays in zip(*parts, strict=True)]
        on_forward(step.features, whole)
        return half_ways

    def _compute_parts(
        self, step: StepInput, plan: nd.WorkPlan, iteration: int, epoch: int, on_forward: OnForward | None
    ) -> StepResult:
        workers, vectors = self._workers_for(plan), self.shared.vectors
        count = len(workers)
        meeting = self._meeting_of(count)
        half_ways = None if on_forward is None else self._half_ways(step, plan, on_forward)

        def passes_of(number: int) -> list[Callable[[], tuple[Array, State]]]:
            if half_ways is not None:
                return [half_way.gradient_and_loss for half_way in half_ways[number]]
            seat = nd.ALONE if meeting is None else meeting.seats[number]
            return [partial(workers[number].gradient_of, step.part(rows), False, seat) for rows in plan.workers[number]]

        def run(number: int) -> tuple[Any, ...]:
            penalty = vectors.penalty_sum.share(iteration, epoch, number, count)
            worker = workers[number]
            loss, states = worker.gradients(passes_of(number))
            square = nd.dot(worker.gradient, worker.gradient) if count > 1 else None
            return loss, penalty, square, states

        outcomes = nd.run_tasks([partial(run, number) for number in range(count)], plan.light, meeting)
        loss, penalty = outcomes[0][:2]
        for more, more_penalty, *_ in outcomes[1:]:
            loss, penalty = loss + more, penalty + more_penalty
        states = [state for *_, states in outcomes for state in states]  # of the parts of the minibatch
        state = states[0] if len(states) == 1 else tuple(nd.concat(arrays) for arrays in zip(*states, strict=True))
        squares = [square for _, _, square, _ in outcomes] if count > 1 else ()
        return self._result(step, loss, penalty, state, squares, workers)

    def _meeting_of(self, count: int) -> nd.Meeting | None:
        """Return where so many workers meet; None where they do not. Recordings hold its seats."""
        if not self.plans.meetings or count == 1:
            return None
        if count not in self._meetings:
            self._meetings[count] = nd.meeting(count)
        return self._meetings[count]

    def _workers_for(self, plan: nd.WorkPlan) -> list[Worker]:
        count, shared = len(plan.workers), self.shared
        while len(self.workers) < count:
            gradient = nd.zeros(*shared.vectors.gradient.shape, dtype=shared.dtype)  # which frozen layers keep
            self.workers.append(Worker(shared, gradient))
        return self.workers[:count]

    def _result(
        self,
        step: StepInput,
        loss: Array,
        penalty: Array | float,
        state: State,
        squares: Sequence[Array] = (),
        workers: Sequence[Worker] = (),
        observed: bool = False,
    ) -> StepResult:
        watch = self.shared.vectors.updater.watch
        gradients = [worker.gradient for worker in workers] if workers else (self.workers[0].gradient,)
        examples = step.examples
        result = StepResult(loss, penalty, examples, gradients, watch, squares, self._averaged, state)
        if watch.arguments:
            if not observed:
                result.gradient()
                self.workers[0].observe(loss)
            result.observed = True
        return result
