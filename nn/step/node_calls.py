"""Steps in which somebody is called around every node: all parts of a minibatch go through a node before the next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.execution.recording import in_order
from nd.random import Random
from nd.state import InForce, Restoring, computing
from nd.typing import Array

from ..conf.nodes import Source
from .keeping import Keeping, KeptKey
from .worker import OnForward, Pass, copied, joined

if TYPE_CHECKING:
    from .nodes import Node
    from .propagation import ForwardPass, Propagation
    from .worker import Part, Run, StepInput, Worker

Several = tuple[Array | None, ...]


class NodeArrays(NamedTuple):
    """Arrays around a node of a network; in the backward pass dL/d(those), sums over the examples.

    Copies of the whole minibatch: what is written into them changes nothing.
    """

    inputs: Several
    """What comes in, before the preprocessor. On the way back None where nobody needs it, as of features."""
    outputs: Several
    """Activations, of most nodes one. On the way back None where nothing comes, as to the layer of an output."""


Hear = Callable[[str, int, NodeArrays], None]
"""Called with the name of a hook and the number of a node."""


class NodeCalls:
    """Runs the parts of a minibatch node by node, and calls before and after each; unrecorded.

    Nodes, parts and workers are those of any step, and so are the bits. Of two nodes that run as one the calls between
    them come after the first way through both, and before the way back.

    Parameters
    ----------
    hear : callable (hook, number, NodeArrays), optional
        Called in this thread. What it draws comes from a copy of the step's generator.
    hooks : collection of str
        ``"before_forward"``, ``"after_forward"``, ``"before_backward"``, ``"after_backward"``: those to call.
    on_forward : callable, optional
        Called with all activations between forward and backward. Where it is all that is called, parts run through all
        nodes at once, and go back one after the other.
    """

    def __init__(
        self, hear: Hear | None = None, hooks: Collection[str] = (), on_forward: OnForward | None = None
    ) -> None:
        self._hear, self.hooks, self._on_forward = hear, frozenset(hooks), on_forward
        self.goes_everywhere = bool(self.hooks & {"before_backward", "after_backward"})

    def __call__(self, features: Sequence[Array], activations: list[Array]) -> None:
        """Hear that all parts are between forward and backward."""
        if self._on_forward is not None:
            self._on_forward(features, activations)

    def runs(
        self,
        workers: Sequence[Worker],
        parts: Sequence[Sequence[Part | None]],
        meeting: nd.Meeting | None,
        step: StepInput,
    ) -> list[list[Run | None]]:
        """Compute all parts; return what hands over the gradient of each."""
        at_work = [
            [None if part is None else _PartAtWork(worker, place, part, self) for place, part in enumerate(own)]
            for worker, own in zip(workers, parts, strict=True)
        ]
        with nd.use_backend(nd.backend()):  # whatever a listener sets
            _Walk(self, [[part for part in own if part is not None] for own in at_work], meeting, step).go()
        return [[None if part is None else part.handed_over for part in own] for own in at_work]

    def call(self, hook: str, number: int, inputs: Sequence[Several], outputs: Sequence[Several]) -> None:
        """Call, if somebody hears it, with copies of what there is of every part, joined."""
        if hook not in self.hooks or self._hear is None:
            return
        with computing(nd.backend()):
            arrays = NodeArrays(_whole(inputs), _whole(outputs))
        generator = nd.random.get_random()
        drawn = generator.get_state()
        try:
            with Restoring(), InForce(None, generator.copy()):
                self._hear(hook, number, arrays)
        finally:
            generator.set_state(drawn)


def _whole(parts: Sequence[Several]) -> Several:
    """Return new arrays of the whole minibatch, from those of its parts."""
    if not parts:
        return ()
    several: Several = copied(parts[0]) if len(parts) == 1 else joined(parts)
    return several


class _Walk(NamedTuple):
    """The way of all parts of a minibatch through the nodes and back."""

    calls: NodeCalls
    workers: list[list[_PartAtWork]]  # the parts of each
    meeting: nd.Meeting | None  # of the workers
    step: StepInput  # of the whole minibatch

    @property
    def parts(self) -> list[_PartAtWork]:
        """Those of all workers."""
        return [part for own in self.workers for part in own]

    def go(self) -> None:
        """Go there and, where somebody is called on the way back, back."""
        nodes, node_by_node = self.parts[0].propagation.nodes, bool(self.calls.hooks)
        self._each(_PartAtWork.forward, 0, 0 if node_by_node else len(nodes))
        for number, node in enumerate(nodes if node_by_node else ()):
            self._forward(number, node)
        self.calls(self.step.features, list(joined([tuple(part.shown) for part in self.parts])))
        if not self.calls.goes_everywhere:
            return
        self._each(_PartAtWork.turn_round)
        for number, node in reversed(list(enumerate(nodes))):
            self._backward(number, node)

    def _each(self, compute: Callable[..., None], *arguments: Any, undivided: bool = True) -> None:
        """Compute something of every part, those of a worker one after the other."""

        def run(own: Iterable[_PartAtWork]) -> None:
            for part in own:
                compute(part, *arguments)

        nd.run_tasks([partial(run, own) for own in self.workers], False, self.meeting, undivided)

    def _forward(self, number: int, node: Node) -> None:
        call, parts, own = self.calls.call, self.parts, node.position
        inputs = [part.inputs_of(node) for part in parts]
        call("before_forward", own, inputs, ())
        self._each(_PartAtWork.forward, number, number + 1)
        if node.inner is not None:
            between: list[Several] = [(part.shown[-2],) for part in parts]
            call("after_forward", own, inputs, between)
            own, inputs = own + 1, between
            call("before_forward", own, inputs, ())
        call("after_forward", own, inputs, [part.outputs_of(number) for part in parts])

    def _backward(self, number: int, node: Node) -> None:
        call, parts, own = self.calls.call, self.parts, node.position + (node.inner is not None)
        with computing(nd.backend()):
            epsilons = [copied(part.epsilons_of(number)) for part in parts]  # as the way back writes into them
        call("before_backward", own, (), epsilons)
        if node.inner is not None:
            self._each(_PartAtWork.epsilon_between, number)
            between: list[Several] = [(part.between,) for part in parts]
            call("after_backward", own, between, epsilons)
            own, epsilons = own - 1, between
            call("before_backward", own, (), epsilons)
        self._each(_PartAtWork.backward, number + 1, number, undivided=bool(self.step.shards))
        call("after_backward", own, [part.keeping.belows for part in parts], epsilons)


class _PartAtWork:
    """A part of a minibatch on its way."""

    def __init__(self, worker: Worker, place: int, part: Part, calls: NodeCalls) -> None:
        self._worker, self._part, self._went_back = worker, part, calls.goes_everywhere
        self.propagation: Propagation = worker.looked_at(place, apart=self._went_back and not part.alone)
        self._random: Random = part.random or nd.random.get_random()  # which a listener may take out of force
        self.keeping = _Hearing(self.propagation.nodes, worker._shared.keeps, calls.goes_everywhere)
        self._passed: ForwardPass | Any = None
        self._waiting: dict[Source, Array] = {}
        self.shown: list[Array] = []
        """Activations of every layer and vertex so far."""
        self.between: Array | None = None
        """dL/d(activations) between two nodes that run as one."""

    def forward(self, start: int, stop: int) -> None:
        """Run nodes start .. stop - 1; at first bring the features."""
        with InForce(None, self._random), computing(nd.backend()):
            if self._passed is None:
                self._step = self._part.step.with_arrays(in_order(self._part.step.arrays))
            span: dict[str, Any] = {"start": start, "stop": stop, "before": self._passed}
            self._passed = self.propagation.forward(
                self._step, meeting=self._part.seat, shown=self.shown, keeping=self.keeping, **span
            )
            self._step = replace(self._step, state=self._passed.state)

    def inputs_of(self, node: Node) -> Several:
        """Return what comes into a node."""
        return tuple(self._passed.arrivals[source].x for source in node.inputs)

    def outputs_of(self, number: int) -> Several:
        """Return the activations of a node that has run."""
        outputs = range(self.propagation.nodes[number].outputs)
        return tuple(self._passed.arrivals[Source(number, output)].x for output in outputs)

    def turn_round(self) -> None:
        """Compute the loss, and with what the way back begins."""
        with computing(nd.backend()):
            self._loss, self._deltas, self._waiting = self.propagation.losses_of(self._step, self._passed)

    def epsilons_of(self, number: int) -> Several:
        """Return what has come back to a node."""
        outputs = range(self.propagation.nodes[number].outputs)
        return tuple(self._waiting.get(Source(number, output)) for output in outputs)

    def epsilon_between(self, number: int) -> None:
        """Compute what comes back between two nodes that run as one."""
        epsilon = self._waiting.get(Source(number))
        with computing(nd.backend()):
            self.between = None if epsilon is None else self.keeping.inside(number, epsilon)

    def backward(self, start: int, stop: int) -> None:
        """Go back from node start - 1 to stop."""
        on_final = self._worker.hearing(self._part)
        self.keeping.belows = (None,) * len(self.propagation.nodes[stop].inputs)
        with computing(nd.backend()):
            self._waiting = self.propagation.backward(
                self._passed, self._deltas, self._waiting, False, None, on_final, start, stop, self.keeping
            )

    def handed_over(self) -> Pass:
        """Leave the gradient where the worker's is; return what there is beside it."""
        if not self._went_back:
            self.turn_round()
            self.backward(len(self.propagation.nodes), 0)
        elif not self._part.alone:
            nd.assign(self._worker.gradient, self.propagation.gradient)
        evidence = self._worker.observed(self._loss) if self._part.alone else None
        return Pass(self._loss, evidence, self._passed.state, self.keeping.result())


class _Hearing(Keeping):
    """Keeps what somebody has asked to keep, and what the node that went back last has sent to its inputs."""

    def __init__(self, nodes: Sequence[Node], keys: Collection[KeptKey], everywhere: bool) -> None:
        super().__init__(nodes, keys)
        self._everywhere = everywhere
        self.belows: Several = ()
        if everywhere:
            self.wanted = [not node.tells_ways for node in nodes]
            self.into = {number for number, node in enumerate(nodes) if node.inner is not None}

    def at_belows(self, belows: Sequence[Array | None]) -> None:
        self.belows = copied(tuple(belows)) if self._everywhere else ()
