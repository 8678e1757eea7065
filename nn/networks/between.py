"""Passes from one node of a network to another, forward and back, on arrays that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.java_names import Pair
from nd.state import Restoring
from nd.typing import Array

from ..conf.nodes import Source, sources_of
from ..step.propagation import Arrival, ForwardPass
from ..step.worker import StepInput
from ..terms.data_formats import inward, outward
from .gradient import DefaultGradient
from .intake import unmasked_inputs_of
from .minibatch import as_features

if TYPE_CHECKING:
    from ..step.propagation import Propagation
    from .core import NetworkCore


class Between:
    """The nodes that lie on a way from one to another, and what comes into them from elsewhere.

    Parameters
    ----------
    network : NetworkCore
    who : str
        For messages.
    start, stop : int
        Numbers of nodes.

    Raises
    ------
    ConfigurationError
        No way leads from the first to the last.
    """

    def __init__(self, network: NetworkCore, who: str, start: int, stop: int) -> None:
        self.network, self.who, self.start, self.stop = network, who, start, stop
        nodes, reached, wanted = network.conf.nodes, {start}, {stop}
        for number in range(start + 1, stop + 1):
            if reached.intersection(sources_of(nodes[number])):
                reached.add(number)
        names = network._node_names()
        if stop not in reached:
            raise nd.ConfigurationError(
                f"{who}: a way must lead from {names[start]!r} to {names[stop]!r}, got none. Name nodes of which the "
                "last is computed from the first."
            )
        for number in range(stop, start, -1):
            if number in wanted:
                wanted.update(sources_of(nodes[number]))
        self.numbers = sorted(reached & wanted)
        self.inputs = tuple(dict.fromkeys(nodes[start].inputs))
        """What comes into the first node."""
        arriving = dict.fromkeys(source for number in self.numbers for source in self._arriving(number))
        self.others = tuple(
            source for source in arriving if source.node not in self.numbers and source not in self.inputs
        )
        """What comes into the others from outside."""

    def _arriving(self, number: int) -> list[Source]:
        """Return what comes into a node, with the network's inputs that a vertex looks at."""
        node, names = self.network.conf.nodes[number], self.network.conf.input_names
        looked_at = getattr(node.conf, "network_inputs", ())
        return [*node.inputs, *(Source(-1 - list(names).index(name)) for name in looked_at if name in names)]

    def name_of(self, source: Source) -> str:
        """Return the name of an input of the network, or of a node."""
        inputs = self.network.conf.input_names
        return self.network._node_names()[source.node] if source.node >= 0 else inputs[-1 - source.node]

    def format_of(self, source: Source) -> str | None:
        """Return the order of the axes of what comes from there."""
        formats = self.network.conf.formats
        return formats.behind[source.node] if source.node >= 0 else formats.inputs[-1 - source.node]

    # ---- passes

    def activations(self, xs: Sequence[object], others: Mapping[str, object] | None, training: bool) -> Any:
        """Return the activations of the last node, new arrays: one, or a tuple of several outputs."""
        network = self.network
        given = self._given(xs, others)
        with network.lock, Restoring(), network.engine.on_backend(), nd.random.drawing(network.random):
            passed = self._forward(network.engine.propagation, given, training)
            arrays = tuple(nd.copy(outward(passed.arrivals[out].x, self.format_of(out))) for out in self._outputs())
            return arrays if len(arrays) > 1 else arrays[0]

    def backpropagated(
        self, xs: Sequence[object], epsilon: object, others: Mapping[str, object] | None, training: bool
    ) -> Pair:
        """Return the gradient of the nodes between, and name -> dL/d(what came in), new arrays."""
        network = self.network
        given, vectors = self._given(xs, others), network.engine.vectors
        with network.lock, Restoring(), network.engine.on_backend(), nd.random.drawing(network.random):
            gradient = nd.zeros(*vectors.gradient.shape, dtype=network.dtype)
            propagation = network.engine.shared_nodes.propagation(vectors.params, gradient, one_by_one=True)
            passed = self._forward(propagation, given, training)
            waiting = self._epsilons(passed, epsilon)
            for number in reversed(self.numbers):
                span: dict[str, Any] = {"start": number + 1, "stop": number, "to_input": True}
                waiting = propagation.backward(passed, {}, waiting, **span)
            below = {
                self.name_of(source): outward(nd.copy(waiting[source]), self.format_of(source))
                for source in (*self.inputs, *self.others)
                if source in waiting
            }
            positions = [propagation.nodes[number].position for number in self.numbers]
            starts = {view.start for position in positions for view in vectors.layout.used_by(position)}
            views = [view for view in vectors.layout.views if view.start in starts]
            table = {view.key: view.of(gradient) for view in views}
            return Pair(DefaultGradient(None, table, {view.key: view.spec.order for view in views}), below)

    def _outputs(self) -> list[Source]:
        count = self.network.engine.shared_nodes.nodes[self.stop].outputs
        return [Source(self.stop, output) for output in range(count)]

    def _given(self, xs: Sequence[object], others: Mapping[str, object] | None) -> dict[Source, object]:
        """Return what is given for every input; raise ConfigurationError unless all of it is there."""
        network, who, others = self.network, self.who, others or {}
        network.engine.check_made()
        arrays = unmasked_inputs_of(network, who, xs, len(self.inputs))
        if len(arrays) != len(self.inputs):
            names = [self.name_of(source) for source in self.inputs]
            raise nd.ConfigurationError(
                f"{who}: expected an array for each of {names}, which come in, got {len(arrays)} of them."
            )
        named = {self.name_of(source): source for source in self.others}
        for name in others:
            nd.checks.check_choice(who, "other", name, named)
        missing = [name for name in named if name not in others]
        if missing:
            raise nd.ConfigurationError(
                f"{who}: nodes on the way also read {missing}, which must be given, got {sorted(others)}. Give "
                f"others={{{missing[0]!r}: array}}."
            )
        return dict(zip(self.inputs, arrays, strict=True)) | {named[name]: x for name, x in others.items()}

    def _forward(self, propagation: Propagation, given: Mapping[Source, object], training: bool) -> ForwardPass:
        """Run the nodes."""
        network, arrivals = self.network, {}
        network.engine.shared_nodes.at(network.iteration_count, network.epoch_count)
        for source, array in given.items():
            x = as_features(type(network).__name__, array, network.dtype, nd.fresh_buffers(network.dtype))
            arrivals[source] = Arrival(inward(x, self.format_of(source)), None, x.shape[0])
        passed = ForwardPass(range(0), arrivals, {}, (), set())
        for number in self.numbers:
            node, examples = propagation.nodes[number], passed.arrivals[propagation.nodes[number].inputs[0]].examples
            before: Any = [None] * sum(one.states for one in propagation.nodes[:number])
            step = StepInput((passed.arrivals[node.inputs[0]].x,), state=(*before, *node.layer.initial_state(examples)))
            passed = propagation.forward(step, training, start=number, stop=number + 1, before=passed)
        return passed

    def _epsilons(self, passed: ForwardPass, epsilon: object) -> dict[Source, Array]:
        """Return dL/d(activations of the last node), copies; raise ShapeError where they do not fit."""
        outputs = self._outputs()
        several = epsilon if isinstance(epsilon, (list, tuple)) and len(outputs) > 1 else [epsilon]
        if len(several) != len(outputs):
            raise nd.ShapeError(f"{self.who}: expected {len(outputs)} epsilons, got {len(several)}.")
        epsilons = {}
        for output, given in zip(outputs, several, strict=True):
            array = inward(nd.copy(nd.as_array(given, self.network.dtype)), self.format_of(output))
            x = passed.arrivals[output].x
            if tuple(array.shape) != tuple(x.shape):
                raise nd.ShapeError(f"{self.who}: epsilon must be {list(x.shape)}, got {list(array.shape)}.")
            epsilons[output] = array
        return epsilons
