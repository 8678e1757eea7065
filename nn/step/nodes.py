"""The nodes of a network: its layers and vertices in the order in which they run, each with its inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..conf.nodes import sources_of
from ..layers.convolution.pooled_convolution import paired
from ..layers.draw_order import BY_COLUMNS, STEP_BY_STEP, comes_by_columns, draw_in

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration, Source
    from ..terms.params import ParamLayout
    from ..terms.preprocessors import InputPreProcessor

NETWORK_INPUT = -1
"""Stands for the first features among the sources of a node; ``-1 - k`` for those of input k."""


class Node(NamedTuple):
    """A layer or vertex in its place."""

    name: str
    position: int  # in the order in which nodes run, which is also that of their parameters in the flat vector
    layer: Any  # a LayerRuntime or VertexRuntime, the same object for all workers
    preprocessor: InputPreProcessor | None  # applied between the input and the layer
    inputs: tuple[Source, ...]  # where what comes in comes from: nodes of the list of nodes, or features
    needs_epsilon: tuple[bool, ...]  # for each input whether there is anything to train above it
    trained: bool  # whether there is anything to train in the node or above it
    states: int  # arrays that the layer carries from one segment of a series to the next
    joins: bool  # whether it is a vertex, which takes several inputs
    outputs: int = 1  # arrays of activations
    inner: tuple[str, Any] | None = None
    """Of two that run as one the name of the first, and the second by itself: `name` is that of the second."""
    tells_ways: bool = False
    """Whether the network says to which inputs something comes back: to no others, whoever looks."""


def nodes_of(conf: NetworkConfiguration, layout: ParamLayout) -> tuple[Node, ...]:
    """Return the nodes of a network, at work."""
    from ..vertices.base import VertexConf

    nodes: list[Node] = []
    ways_back = conf.ways_back()
    for number, (name, label, layer, inputs, preprocessor, *_) in enumerate(conf.nodes):
        runtime: Any = layer.runtime(layer, label, conf.dtype)
        before = inputs[0].node if inputs else NETWORK_INPUT
        axes = _draw_axes(layer, preprocessor, None if before < 0 else conf.nodes[before].conf)
        if axes is not None:
            draw_in(runtime, axes)
        if ways_back is None:
            needs_epsilon = tuple(source.node >= 0 and nodes[source.node].trained for source in inputs)
            trained = any(needs_epsilon) or layout.is_trained(number)
        else:
            needs_epsilon, trained = ways_back[number]
        joins, states = isinstance(layer, VertexConf), len(runtime.initial_state(1))
        ways = needs_epsilon, trained, states, joins, runtime.outputs if joins else 1
        nodes.append(Node(name, number, runtime, preprocessor, inputs, *ways, tells_ways=ways_back is not None))
    return tuple(nodes)


def _draw_axes(layer: Any, preprocessor: InputPreProcessor | None, source: object) -> tuple[int, ...] | None:
    """Return the order of a layer's input in Java's memory, None where it is that of the axes."""
    own = getattr(layer.runtime, "draw_axes", None)
    if own is not None or preprocessor is not None:
        return own or getattr(preprocessor, "draw_axes", None)
    if comes_by_columns(source):
        return BY_COLUMNS
    recurrent = getattr(layer.innermost, "gives_steps", False)
    return STEP_BY_STEP if recurrent and getattr(source, "gives_steps", False) else None


class Fused(NamedTuple):
    """Nodes of which some run as one, and what was numbered among the nodes before."""

    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    losses: dict[Source, float]


def fused(nodes: tuple[Node, ...], outputs: Sequence[int], losses: Mapping[Source, float]) -> Fused:
    """Return the nodes with some pairs as one, where they can be.

    Pairs are a convolution and its pooling, a batch normalisation and its ReLU; they can be one where nothing but the
    second reads the activations of the first.
    """
    readers = Counter(source for node in nodes for source in sources_of(node))
    readers.update(outputs)
    readers.update(source.node for source in losses)
    joined: list[Node] = []
    places: dict[int, int] = {}  # number before -> number now

    def moved(source: Source) -> Source:
        return source._replace(node=places.get(source.node, source.node))

    for number, node in enumerate(nodes):
        source = node.inputs[0].node if node.inputs else NETWORK_INPUT
        pair = None
        if source >= 0 and node.preprocessor is None and not (node.joins or nodes[source].joins):
            first = nodes[source].layer
            pair = paired(first, node.layer, not node.trained) or first.joined_with(node.layer)
        if pair is not None and readers[source] == 1 and places[source] == len(joined) - 1:
            before = joined[-1]
            joined[-1] = before._replace(name=node.name, layer=pair, inner=(before.name, node.layer))
        else:
            joined.append(node._replace(inputs=tuple(map(moved, node.inputs))))
        places[number] = len(joined) - 1
    of_losses = {moved(source): weight for source, weight in losses.items()}
    return Fused(tuple(joined), tuple(places[number] for number in outputs), of_losses)
