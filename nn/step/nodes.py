"""The nodes of a network: its layers and vertices in the order in which they run, each with its inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..layers.convolution.pooled_convolution import paired
from ..layers.draw_order import STEP_BY_STEP, draw_in

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration
    from ..terms.params import ParamLayout
    from ..terms.preprocessors import InputPreProcessor

NETWORK_INPUT = -1
"""Stands for the first features among the inputs of a node; ``-1 - k`` for those of input k."""


class Node(NamedTuple):
    """A layer or vertex in its place.

    Attributes
    ----------
    name : str
    position : int
        In the order in which nodes run, which is also that of their parameters in the flat vector.
    layer : LayerRuntime or VertexRuntime
        The same object for all workers.
    preprocessor : InputPreProcessor or None
        Applied between the input and the layer.
    inputs : tuple of int
        Numbers of the nodes whose activations come in, in the list of nodes; ``-1 - k`` for features.
    needs_epsilon : tuple of bool
        For each input whether there is anything to train above it.
    trained : bool
        Whether there is anything to train in the node or above it.
    states : int
        Arrays that the layer carries from one segment of a series to the next.
    joins : bool
        Whether it is a vertex, which takes several inputs.
    """

    name: str
    position: int
    layer: Any
    preprocessor: InputPreProcessor | None
    inputs: tuple[int, ...]
    needs_epsilon: tuple[bool, ...]
    trained: bool
    states: int
    joins: bool


def nodes_of(conf: NetworkConfiguration, layout: ParamLayout) -> tuple[Node, ...]:
    """Return the nodes of a network, at work."""
    from ..vertices.base import VertexConf

    nodes: list[Node] = []
    for number, (name, label, layer, inputs, preprocessor, _) in enumerate(conf.nodes):
        runtime = layer.runtime(layer, label, conf.dtype)
        axes = _draw_axes(layer, preprocessor, None if inputs[0] < 0 else conf.nodes[inputs[0]].conf)
        if axes is not None:
            draw_in(runtime, axes)  # type: ignore[arg-type]
        needs_epsilon = tuple(source >= 0 and nodes[source].trained for source in inputs)
        trained, states = any(needs_epsilon) or layout.is_trained(number), len(runtime.initial_state(1))
        joins = isinstance(layer, VertexConf)
        nodes.append(Node(name, number, runtime, preprocessor, inputs, needs_epsilon, trained, states, joins))
    return tuple(nodes)


def _draw_axes(layer: Any, preprocessor: InputPreProcessor | None, source: Any) -> tuple[int, ...] | None:
    """Return the order of a layer's input in Java's memory, None where it is that of the axes."""
    own = getattr(layer.runtime, "draw_axes", None)
    if own is not None or preprocessor is not None:
        return own or getattr(preprocessor, "draw_axes", None)
    recurrent = getattr(layer.innermost, "gives_steps", False)
    return STEP_BY_STEP if recurrent and getattr(source, "gives_steps", False) else None


def fused(nodes: tuple[Node, ...], outputs: Sequence[int]) -> tuple[tuple[Node, ...], tuple[int, ...]]:
    """Return the nodes with some pairs as one, where they can be, and the new outputs.

    Pairs are a convolution and its pooling, a batch normalisation and its ReLU; they can be one where nothing but the
    second reads the activations of the first.
    """
    readers = Counter(source for node in nodes for source in node.inputs)
    readers.update(outputs)
    joined: list[Node] = []
    places: dict[int, int] = {}  # number before -> number now
    for number, node in enumerate(nodes):
        source = node.inputs[0]
        alone = source >= 0 and node.preprocessor is None and not node.joins and readers[source] == 1
        pair: Any = None
        if alone:
            first = nodes[source].layer
            joined_by_first = None if nodes[source].joins else first.joined_with(node.layer)
            pair = paired(first, node.layer, not node.trained) or joined_by_first
        if pair is not None and places[source] == len(joined) - 1:
            joined[-1] = joined[-1]._replace(layer=pair)
        else:
            moved = tuple(places[source] if source >= 0 else source for source in node.inputs)
            joined.append(node._replace(inputs=moved))
        places[number] = len(joined) - 1
    return tuple(joined), tuple(places[number] for number in outputs)
