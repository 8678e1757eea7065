"""A network in two parts: what is not trained, and what reads its activations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import nd

from ..conf.graph import ComputationGraphConfiguration
from ..conf.multilayer import MultiLayerConfiguration
from ..layers import FrozenLayer
from ..vertices import FrozenVertex
from .graph_editing import frozen_ones

if TYPE_CHECKING:
    from ..terms.input_type import InputType


_WHO = "TransferLearningHelper"


class Border(NamedTuple):
    """The configurations of both parts.

    Attributes
    ----------
    below, above : NetworkConfiguration
    nodes_below, nodes_above : sequence of int
        Numbers, in the whole network, of their nodes.
    sources : sequence of int
        What the inputs of `above` are: numbers of the outputs of `below`; ``-1 - k`` for input k of the network.
    inputs_below : sequence of int
        Numbers of the network's inputs that `below` reads.
    """

    below: Any
    above: Any
    nodes_below: Sequence[int]
    nodes_above: Sequence[int]
    sources: Sequence[int]
    inputs_below: Sequence[int]


def border_of_layers(conf: MultiLayerConfiguration, frozen_till: int | None) -> Border:
    """Return the border behind a layer, by default the highest frozen one; raise ConfigurationError without one."""
    last, count = _checked(conf, frozen_till), len(conf.layers)
    types = conf.layer_types()
    below = _layers(conf, 0, last + 1, conf.input_type)
    below = replace(below, layers=tuple(_thawed(layer) for layer in below.layers))  # which may run as one
    above = _layers(conf, last + 1, count, conf.input_type if types is None else types[last][1])
    return Border(below, above, range(last + 1), range(last + 1, count), [0], [0])


def _thawed(conf: object) -> Any:
    """Return a layer or vertex without what freezes it."""
    while isinstance(conf, FrozenLayer | FrozenVertex):
        conf = conf.layer if isinstance(conf, FrozenLayer) else conf.underlying
    return conf


def _checked(conf: MultiLayerConfiguration, frozen_till: int | None) -> int:
    layers = conf.layers
    if frozen_till is None:
        frozen = [index for index, layer in enumerate(layers) if isinstance(layer, FrozenLayer)]
        if not frozen:
            raise nd.ConfigurationError(
                f"{_WHO}: a layer must be frozen, got none. Pass frozen_till, or a network made with "
                "TransferLearning(net, feature_extractor=...)."
            )
        return frozen[-1]
    if not 0 <= frozen_till < len(layers) - 1:
        raise nd.ConfigurationError(f"{_WHO}: frozen_till must be 0..{len(layers) - 2}, got {frozen_till!r}.")
    return frozen_till


def _layers(
    conf: MultiLayerConfiguration, start: int, stop: int, input_type: InputType | None
) -> MultiLayerConfiguration:
    """Return the configuration of some of the layers."""
    return replace(
        conf,
        layers=conf.layers[start:stop],
        preprocessors={i - start: conf.preprocessors[i] for i in conf.preprocessors if start <= i < stop},
        input_type=input_type,
    )


def border_of_graph(conf: ComputationGraphConfiguration, names: Sequence[str] = ()) -> Border:
    """Return the border above these vertices, by default the frozen ones, and everything that leads to them.

    Raises
    ------
    ConfigurationError, ChoiceError
        There are no such vertices, or one of them is an output.
    """
    frozen = _frozen(conf, names)
    above = [name for name in conf.vertices if name not in frozen]
    read = {source for name in above for source in conf.vertex_inputs[name]}
    read |= {source for name in above for source in getattr(conf.vertices[name], "network_inputs", ())}
    sources = sorted(name for name in read if name in frozen or name in conf.inputs)
    outputs = [name for name in sources if name in frozen]
    below = frozen_ones(conf, outputs)
    inputs = [name for name in conf.inputs if any(name in conf.vertex_inputs[vertex] for vertex in below)]
    inputs_of_masks = {source for name in below for source in getattr(conf.vertices[name], "network_inputs", ())}
    inputs = [name for name in conf.inputs if name in inputs or name in inputs_of_masks]
    numbers = {node.name: number for number, node in enumerate(conf.nodes)}
    of_below, of_above = _vertices(conf, inputs, below, outputs), _vertices(conf, sources, above, conf.outputs)
    bare = {name: _thawed(vertex) for name, vertex in of_below.vertices.items()}
    return Border(
        replace(of_below, vertices=bare),
        of_above,
        [numbers[node.name] for node in of_below.nodes],
        [numbers[node.name] for node in of_above.nodes],
        [outputs.index(name) if name in frozen else -1 - conf.inputs.index(name) for name in sources],
        [conf.inputs.index(name) for name in inputs],
    )


def _frozen(conf: ComputationGraphConfiguration, names: Sequence[str]) -> list[str]:
    for name in names:
        nd.checks.check_choice(f"{_WHO}: frozen", "vertex", name, conf.vertices)
    marked = [name for name, vertex in conf.vertices.items() if isinstance(vertex, (FrozenLayer, FrozenVertex))]
    frozen = frozen_ones(conf, [*names, *marked])
    if not frozen:
        raise nd.ConfigurationError(
            f"{_WHO}: a vertex must be frozen, got none. Pass the names of vertices, or a graph made with "
            "TransferLearning.GraphBuilder(graph).set_feature_extractor(...)."
        )
    outputs = [name for name in conf.outputs if name in frozen]
    if outputs:
        raise nd.ConfigurationError(f"{_WHO}: the outputs must be above what is frozen, got {outputs} among it.")
    return frozen


def _vertices(
    conf: ComputationGraphConfiguration, inputs: Sequence[str], names: Sequence[str], outputs: Sequence[str]
) -> ComputationGraphConfiguration:
    """Return the configuration of some of the vertices, in the order of the whole."""
    types = conf.node_types([None] * len(conf.inputs))
    known: dict[str, Any] = dict(zip(conf.inputs, conf.network_input_types(), strict=True))
    known |= {node.name: kind.output for node, kind in zip(conf.nodes, types or (), strict=types is not None)}
    kept = {name: vertex for name, vertex in conf.vertices.items() if name in names}
    return replace(
        conf,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        vertices=kept,
        vertex_inputs={name: sources for name, sources in conf.vertex_inputs.items() if name in kept},
        preprocessors={name: one for name, one in conf.preprocessors.items() if name in kept},
        input_types=None if types is None else tuple(known[name] for name in inputs),
        order=None,
    )
