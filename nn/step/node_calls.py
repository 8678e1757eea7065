"""Steps in which somebody is called around every node: all parts of a minibatch go through a node before the next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
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


class _Walk:
    """The way of all parts through the nodes and back.

    Parameters
    ----------
    calls : NodeCalls
    parts : list of list of _PartAtWork
        Of every worker.
    meeting : nd.Meeting or None
        Of the workers.
    step : StepInput
        Of the whole minibatch.
    """

    def __init__(
        self, calls: NodeCalls, parts: list[list[_PartAtWork]], meeting: nd.Meeting | None, step: StepInput
    ) -> None:
        self._calls, self._workers, self._meeting, self._step = calls, parts, meeting, step
        self._parts = [part for own in parts for part in own]
        propagation = self._parts[0].propagation
        self._nodes = propagation.nodes
        self._numbers = {node.name: number for number, node in enumerate(self._parts[0].conf.nodes)}

    def go(self) -> None:
        """Go there and, where somebody is called on the way back, back."""
        node_by_node = bool(self._calls.hooks)
        self._each(_PartAtWork.begin, 0 if node_by_node else len(self._nodes))
        for number, node in enumerate(self._nodes if node_by_node else ()):
            self._forward(number, node)
        self._calls(self._step.features, list(joined([tuple(part.shown) for part in self._parts])))
        if not self._calls.goes_everywhere:
            return
        self._each(_PartAtWork.turn_round)
        for number, node in reversed(list(enumerate(self._nodes))):
            self._backward(number, node)

    def _each(self, compute: Callable[..., None], *arguments: Any, undivided: bool = True) -> None:
        """Compute something of every part, those of a worker one after the other."""

        def run(own: Iterable[_PartAtWork]) -> None:
            for part in own:
                compute(part, *arguments)

        nd.run_tasks([partial(run, own) for own in self._workers], False, self._meeting, undivided)

    def _forward(self, number: int, node: Node) -> None:
        call, own = self._calls.call, self._numbers[node.name]
        inputs = [part.inputs_of(node) for part in self._parts]
        if node.inner is None:
            call("before_forward", own, inputs, ())
            self._each(_PartAtWork.forward, number)
            call("after_forward", own, inputs, [part.outputs_of(number) for part in self._parts])
            return
        first = self._numbers[node.inner[0]]
        call("before_forward", first, inputs, ())
        self._each(_PartAtWork.forward, number)
        between: list[Several] = [(part.shown[-2],) for part in self._parts]
        call("after_forward", first, inputs, between)
        call("before_forward", own, between, ())
        call("after_forward", own, between, [part.outputs_of(number) for part in self._parts])

    def _backward(self, number: int, node: Node) -> None:
        call, own = self._calls.call, self._numbers[node.name]
        epsilons = self._epsilons(number)
        call("before_backward", own, (), epsilons)
        if node.inner is not None:
            self._each(_PartAtWork.epsilon_between, number)
            between: list[Several] = [(part.between,) for part in self._parts]
            call("after_backward", own, between, epsilons)
            own, epsilons = self._numbers[node.inner[0]], between
            call("before_backward", own, (), epsilons)
        self._each(_PartAtWork.backward, number, undivided=bool(self._step.shards))
        call("after_backward", own, [part.belows for part in self._parts], epsilons)

    def _epsilons(self, number: int) -> list[Several]:
        """Return what has come back to a node: copies, as the way back writes into them."""
        if not self._calls.goes_everywhere:
            return []
        with computing(nd.backend()):
            return [copied(part.epsilons_of(number)) for part in self._parts]


class _PartAtWork:
    """A part of a minibatch on its way."""

    def __init__(self, worker: Worker, place: int, part: Part, calls: NodeCalls) -> None:
        self._worker, self._part, self._went_back = worker, part, calls.goes_everywhere
        apart = self._went_back and not part.alone
        self.propagation: Propagation = worker.looked_at(place, apart)
        self.conf = worker._shared.conf
        self._random: Random = part.random or nd.random.get_random()  # which a listener may take out of force
        self._keeping = _Hearing(self.propagation.nodes, worker._shared.keeps, calls.goes_everywhere)
        self._on_final = worker.hearing(part)
        self._waiting: dict[Source, Array] = {}
        self._deltas: dict[int, Array | None] = {}
        self.shown: list[Array] = []
        """Activations of every layer and vertex so far."""
        self.between: Array | None = None
        """dL/d(activations) between two nodes that run as one."""

    def begin(self, stop: int) -> None:
        """Bring the features, and run the nodes before `stop`."""
        with InForce(None, self._random), computing(nd.backend()):
            self._step = self._part.step.with_arrays(in_order(self._part.step.arrays))
            self._passed: ForwardPass = self.propagation.forward(
                self._step, stop=stop, meeting=self._part.seat, shown=self.shown, keeping=self._keeping
            )

    def inputs_of(self, node: Node) -> Several:
        """Return what comes into a node."""
        return tuple(self._passed.arrivals[source].x for source in node.inputs)

    def outputs_of(self, number: int) -> Several:
        """Return the activations of a node that has run."""
        outputs = range(self.propagation.nodes[number].outputs)
        return tuple(self._passed.arrivals[Source(number, output)].x for output in outputs)

    def forward(self, number: int) -> None:
        """Run a node."""
        step, seat = self._step.with_state(self._passed.state), self._part.seat
        span: dict[str, Any] = {"start": number, "stop": number + 1, "before": self._passed}
        with InForce(None, self._random), computing(nd.backend()):
            self._passed = self.propagation.forward(step, meeting=seat, shown=self.shown, keeping=self._keeping, **span)

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
            self.between = None if epsilon is None else self._keeping.inside(number, epsilon)

    def backward(self, number: int) -> None:
        """Take back what has come to a node."""
        self._keeping.belows = (None,) * len(self.propagation.nodes[number].inputs)
        self._back(number + 1, number)

    def _back(self, start: int, stop: int) -> None:
        """Go back from node start - 1 to stop."""
        span: dict[str, Any] = {"start": start, "stop": stop, "on_final": self._on_final, "keeping": self._keeping}
        with computing(nd.backend()):
            self._waiting = self.propagation.backward(self._passed, self._deltas, self._waiting, **span)

    @property
    def belows(self) -> Several:
        """What the node that went back last has sent to its inputs."""
        return self._keeping.belows

    def handed_over(self) -> Pass:
        """Leave the gradient where the worker's is; return what there is beside it."""
        if not self._went_back:
            self.turn_round()
            self._back(len(self.propagation.nodes), 0)
        elif not self._part.alone:
            nd.assign(self._worker.gradient, self.propagation.gradient)
        evidence = self._worker.observed(self._loss) if self._part.alone else None
        return Pass(self._loss, evidence, self._passed.state, self._keeping.result())


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
