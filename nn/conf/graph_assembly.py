"""Making a graph of layers and vertices complete: defaults, merged inputs, sizes, preprocessors, and its rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.arguments import converted, shown
from nd.rules import SWITCH
from optimize.builder import Builder

from ..layers.base import LayerConf
from ..terms.input_type import InputType
from ..terms.preprocessors import InputPreProcessor
from ..vertices.base import VertexConf
from ..vertices.merging import MergeVertex
from ..vertices.wrapping import LayerVertex
from .graph import ComputationGraphConfiguration, node_label
from .graph_checks import check_structure
from .graph_order import topological_order
from .network_formats import settled, wanted_of
from .nodes import NodeConf, Source
from .output_layers import check_output_layers

if TYPE_CHECKING:
    from .network import NeuralNetConfiguration


class Graph(NamedTuple):
    """Vertices, their inputs and preprocessors, as they are collected."""

    vertices: dict[str, Any]
    vertex_inputs: dict[str, tuple[str, ...]]
    preprocessors: dict[str, InputPreProcessor]

    def add(self, name: str, vertex: Any, inputs: Sequence[str]) -> None:
        """Add a layer or a vertex; one that takes a single input gets several merged, by "<name>-merge" as in Java.

        Raises
        ------
        ConfigurationError
            The name is taken, or it is no layer and no vertex.
        """
        if not isinstance(name, str) or not name:
            raise nd.ConfigurationError(f"graph: the name of a vertex must be a text, got {name!r}.")
        if name in self.vertices:
            raise nd.ConfigurationError(f"graph: every vertex must have its own name, got {name!r} twice. Rename one.")
        vertex = vertex.build() if isinstance(vertex, Builder) else vertex
        if isinstance(vertex, LayerVertex):
            if vertex.preprocessor is not None:
                self.preprocessors[name] = vertex.preprocessor
            vertex = vertex.layer
        if not isinstance(vertex, LayerConf | VertexConf):
            raise nd.ConfigurationError(f"graph: {name!r} must be a layer or a vertex configuration, got {vertex!r}.")
        self.vertices[name] = vertex
        sources = tuple(inputs)
        if len(sources) > 1 and (isinstance(vertex, LayerConf) or vertex.most_inputs == 1):
            self.add(f"{name}-merge", MergeVertex(), sources)
            sources = (f"{name}-merge",)
        self.vertex_inputs[name] = sources


def graph_of(nodes: Mapping[str, object], preprocessors: Mapping[str, InputPreProcessor]) -> Graph:
    """Return the graph of ``{name: (layer or vertex, input, ...)}``."""
    if not isinstance(nodes, Mapping):
        raise nd.ConfigurationError(f"graph: nodes must map names to (layer or vertex, input, ...), got {nodes!r}.")
    if not isinstance(preprocessors, Mapping):
        raise nd.ConfigurationError(
            f"graph: preprocessors must map names of layers to preprocessors, got {shown(preprocessors)}."
        )
    graph = Graph({}, {}, {})
    for name, node in nodes.items():
        parts = tuple(node) if isinstance(node, (tuple, list)) else (node,)
        if not parts:
            raise nd.ConfigurationError(f"graph: {name!r} must be (layer or vertex, input, ...), got {node!r}.")
        inputs = [one for part in parts[1:] for one in (part if isinstance(part, (tuple, list)) else (part,))]
        graph.add(name, parts[0], inputs)
    return graph._replace(preprocessors={**graph.preprocessors, **preprocessors})


def assemble(
    base: NeuralNetConfiguration,
    inputs: Mapping[str, InputType | None] | Sequence[str] | str,
    graph: Graph,
    outputs: Sequence[str] | str,
    allow_disconnected: bool = False,
    complete: Collection[str] = (),
    **series: Any,
) -> ComputationGraphConfiguration:
    """Return a complete configuration; see `NeuralNetConfiguration.graph`.

    `complete` names vertices that have taken over their defaults already.
    """
    names, types = _names_and_types(inputs)
    outputs = _several("outputs", outputs)
    allow_disconnected = converted("graph", "allow_disconnected", SWITCH, allow_disconnected, False)
    check_structure(names, graph.vertex_inputs, outputs, allow_disconnected)
    _check_preprocessors(graph)
    vertices = {
        name: conf if name in complete else _resolved(base, name, index, conf)
        for index, (name, conf) in enumerate(graph.vertices.items())
    }
    for name, conf in vertices.items():
        if isinstance(conf, VertexConf):
            conf.check_inputs(node_label(name, conf), len(graph.vertex_inputs[name]))
            for source in conf.network_inputs:
                nd.checks.check_choice(node_label(name, conf), "input of the network", source, names)
    completed = graph._replace(vertices=vertices)
    order = [name for name in topological_order(names, graph.vertex_inputs) if name in vertices]
    if types:
        _infer(completed, order, dict(zip(names, types, strict=True)), complete)
    else:
        _follow(completed, order)
    for name, conf in vertices.items():
        conf.check(node_label(name, conf))
    if base.validate_output_layer_config:
        check_output_layers((node_label(name, conf), conf) for name, conf in vertices.items())
    conf = ComputationGraphConfiguration(
        base=base.of_all_layers(),
        inputs=names,
        outputs=outputs,
        vertices=vertices,
        vertex_inputs=graph.vertex_inputs,
        preprocessors=completed.preprocessors,
        input_types=types,
        **series,
    ).settled()
    inferred = {
        name: vertex.inferred() if isinstance(vertex, VertexConf) and name not in complete else vertex
        for name, vertex in conf.vertices.items()
    }
    conf = replace(conf, vertices=inferred)
    conf.check_training()
    return conf


def _several(kind: str, names: object) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable) or getattr(names, "shape", None) == ():
        raise nd.ConfigurationError(f"graph: {kind} must be a name or several, got {shown(names)}.")
    return tuple(names)


def _names_and_types(inputs: object) -> tuple[tuple[str, ...], tuple[InputType, ...] | None]:
    if not isinstance(inputs, Mapping):
        return _several("inputs", inputs), None
    types = tuple(inputs.values())
    for name, kind in inputs.items():
        if not isinstance(kind, InputType | None):
            raise nd.ConfigurationError(f"graph: input {name!r} must have a type made by InputType, got {kind!r}.")
    if all(kind is None for kind in types):
        return tuple(inputs), None
    if any(kind is None for kind in types):
        raise nd.ConfigurationError(f"graph: all inputs must have a type, or none, got {dict(inputs)}.")
    return tuple(inputs), types


def _check_preprocessors(graph: Graph) -> None:
    layers = {name: conf for name, conf in graph.vertices.items() if isinstance(conf, LayerConf)}
    for name, preprocessor in graph.preprocessors.items():
        nd.checks.check_choice("graph: preprocessors", "layer", name, layers)
        if not isinstance(preprocessor, InputPreProcessor):
            raise nd.ConfigurationError(
                f"graph: preprocessors must be instances of InputPreProcessor, got {preprocessor!r} for {name!r}."
            )


def _resolved(
    base: NeuralNetConfiguration, name: str, index: int, conf: LayerConf | VertexConf
) -> LayerConf | VertexConf:
    if isinstance(conf, VertexConf):
        if not type(conf).__module__.startswith("nn."):
            from .own_layers import check_vertex_class  # which programs without own vertices do not need

            check_vertex_class(node_label(name, conf), conf)
        return conf.resolved(base, index)
    if not type(conf.innermost).__module__.startswith("nn."):
        from .own_layers import check_class  # which programs without own layers do not need

        check_class(node_label(name, conf), conf.innermost)
    return replace(conf, name=name).resolved(base, index)


def _infer(graph: Graph, order: Sequence[str], types: dict[str, Any], complete: Collection[str]) -> None:
    """Set every n_in, in place; put preprocessors where the kind changes and there is none yet."""
    wanted = _wanted(graph, order, tuple(types))
    formats: dict[str, str | None] = {name: kind.format for name, kind in types.items()}
    types.update({name: kind.computed for name, kind in types.items()})
    for name in order:
        conf, arriving = graph.vertices[name], [types[source] for source in graph.vertex_inputs[name]]
        label = node_label(name, conf)
        told = (formats.get(source) for source in graph.vertex_inputs[name])
        arriving_format = next((told_format for told_format in told if told_format), None)
        if isinstance(conf, VertexConf):
            conf, formats[name] = conf.in_format(label, arriving_format, wanted.get(name))
            conf = conf if name in complete else conf.inferred()
            graph.vertices[name] = conf = conf.with_inputs(label, arriving)
            types[name] = conf.output_type(label, arriving)
            continue
        (kind,) = arriving
        preprocessor = graph.preprocessors.get(name) or conf.preprocessor_for(kind)
        conf, preprocessor, formats[name] = settled(label, conf, preprocessor, arriving_format)
        if preprocessor is not None:
            graph.preprocessors[name] = preprocessor
            kind = preprocessor.output_type(kind)
        graph.vertices[name] = conf = conf.with_inputs(label, kind)
        types[name] = conf.output_type(label, kind)


def _wanted(graph: Graph, order: Sequence[str], inputs: Sequence[str]) -> dict[str, str]:
    """Return vertex that makes new axes -> the format that a layer behind it says."""
    numbers = {name: -1 - k for k, name in enumerate(inputs)} | {name: number for number, name in enumerate(order)}
    nodes = [
        NodeConf(
            name,
            name,
            graph.vertices[name],
            tuple(Source(numbers[source]) for source in graph.vertex_inputs[name]),
            graph.preprocessors.get(name),
            number,
        )
        for number, name in enumerate(order)
    ]
    return {order[number]: wanted for number, wanted in wanted_of(nodes).items() if number >= 0}


def _follow(graph: Graph, order: Sequence[str]) -> None:
    """Without input types, set every n_in that follows from the layer before, in place."""
    after: dict[str, tuple[str, int] | None] = {}
    for name in order:
        conf, sources = graph.vertices[name], graph.vertex_inputs[name]
        if isinstance(conf, LayerConf):
            before = None if name in graph.preprocessors else after.get(sources[0])
            graph.vertices[name], after[name] = conf.following(node_label(name, conf), before)
