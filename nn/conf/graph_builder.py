"""The fluent style from ``.graphBuilder()`` on: vertices one by one, and the settings of the graph of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import nd
from nd.arguments import Count, shown
from optimize.builder import Builder, item_verb

from ..terms.builder_names import IGNORED_BY_LISTS, SAID_BY_BUILDERS, UNUSED_OF_NETWORKS
from ..terms.enums import JAVA_BACKPROP_TYPES, OF_SERIES
from ..terms.input_type import InputType
from ..terms.preprocessors import InputPreProcessor
from .graph import labelled
from .graph_assembly import Graph, assemble
from .truncated import check_truncated

if TYPE_CHECKING:
    from ..layers.base import LayerConf
    from ..vertices.base import VertexConf
    from .graph import ComputationGraphConfiguration
    from .network import NeuralNetConfiguration


def graph_builder(base: Any = None) -> Builder:
    """Go on with a graph, from the settings of a network or their Builder; without them from Java's defaults."""
    from .network import NeuralNetConfiguration

    if base is None:
        base = NeuralNetConfiguration()
    elif isinstance(base, Builder):
        base = base.build()
    if not isinstance(base, NeuralNetConfiguration):
        raise nd.ConfigurationError(f"GraphBuilder: expected a NeuralNetConfiguration or its Builder, got {base!r}.")
    return Builder(GraphSettings, base=base, inputs=[], outputs=[], input_types=[], nodes={}, preprocessors={}, last=())


def _inputs_verb(builder: Builder, *names: object) -> Builder:
    given = _flat(names)
    builder.given["inputs"] = [*builder.given["inputs"], *given]
    builder.given["last"] = tuple(given[-1:])
    return builder


def _vertex_verb(builder: Builder, name: str, vertex: LayerConf | VertexConf, *inputs: object) -> Builder:
    """``addVertex(name, vertex, inputs...)`` and ``addLayer(name, layer, [preprocessor,] inputs...)``."""
    nodes = builder.given["nodes"]
    if not isinstance(name, str):
        raise nd.ConfigurationError(f"graph: the name of a vertex must be a text, got {shown(name)}.")
    if name in nodes:
        raise nd.ConfigurationError(f"graph: every vertex must have its own name, got {name!r} twice. Rename one.")
    if inputs and (inputs[0] is None or isinstance(inputs[0], InputPreProcessor)):
        if inputs[0] is not None:
            builder.given["preprocessors"][name] = inputs[0]
        inputs = inputs[1:]
    nodes[name] = (vertex.build() if isinstance(vertex, Builder) else vertex, *_flat(inputs))
    builder.given["last"] = (name,)
    return builder


def _append_verb(builder: Builder, name: str, vertex: LayerConf | VertexConf, *preprocessor: object) -> Builder:
    last = builder.given["last"]
    if not last:
        raise nd.ConfigurationError(f"graph: {name!r} must be appended to an input or a vertex, got none before it.")
    return _vertex_verb(builder, name, vertex, *preprocessor, *last)


def _outputs_verb(builder: Builder, *names: object) -> Builder:
    builder.given["outputs"] = _flat(names)
    return builder


def _input_types_verb(builder: Builder, *types: object) -> Builder:
    builder.given["input_types"] = [*builder.given["input_types"], *_flat(types)]
    return builder


def _remove_verb(builder: Builder, name: str, remove_connections: bool = True) -> Builder:
    """``removeVertex(name)``: with its connections, unless they are to stay for another one of that name."""
    nodes = builder.given["nodes"]
    del nodes[nd.checks.check_choice("removeVertex", "vertex", name, nodes)]
    if remove_connections:
        for other, (vertex, *inputs) in nodes.items():
            nodes[other] = (vertex, *(source for source in inputs if source != name))
        builder.given["outputs"] = [output for output in builder.given["outputs"] if output != name]
    builder.given["preprocessors"].pop(name, None)
    return builder


def _flat(names: Sequence[object]) -> list[object]:
    return [one for several in names for one in (several if isinstance(several, (list, tuple)) else [several])]


@dataclass(frozen=True, kw_only=True)
class GraphSettings:
    """Settings that DL4J's ``.graphBuilder()`` collects until ``.build()``."""

    base: NeuralNetConfiguration
    inputs: list[str]
    outputs: list[str]
    input_types: list[InputType]
    nodes: dict[str, Any]
    preprocessors: dict[str, Any]
    last: tuple[str, ...]
    allow_disconnected: bool = False
    allow_no_output: bool = False
    pretrain: bool | None = None
    backprop: bool | None = None
    validate_output_layer_config: bool | None = None
    dtype: str | None = None
    backprop_type: str = "standard"
    tbptt_fwd_length: Count = 20
    tbptt_back_length: Count = 20
    tbptt_exact: bool = False
    validate_tbptt_config: bool = True
    unused: Mapping[str, Any] = field(default_factory=dict)

    builder_names: ClassVar[dict[str, str]] = {
        "data_type": "dtype", "validate_output_config": "validate_output_layer_config",
        "global_configuration": "base", "input_pre_processors": "preprocessors", "network_input_types": "input_types",
        "network_inputs": "inputs", "network_outputs": "outputs", "t_bptt_backward_length": "tbptt_back_length",
        "t_bptt_forward_length": "tbptt_fwd_length",
    }  # fmt: skip
    builder_verbs: ClassVar[dict[str, Callable[..., object]]] = {
        "add_inputs": _inputs_verb,
        "add_layer": _vertex_verb,
        "add_vertex": _vertex_verb,
        "append_layer": _append_verb,
        "append_vertex": _append_verb,
        "get_last_added": lambda builder: next(iter(builder.given["last"][-1:]), None),
        "get_layer_activation_types": lambda builder: builder.build().get_layer_activation_types(),
        "get_vertex_inputs": lambda builder: {name: inputs for name, (_, *inputs) in builder.given["nodes"].items()},
        "get_vertices": lambda builder: {name: vertex for name, (vertex, *_) in builder.given["nodes"].items()},
        "input_pre_processor": item_verb("preprocessors"),
        "layer": _vertex_verb,
        "remove_vertex": _remove_verb,
        "set_input_types": _input_types_verb,
        "set_outputs": _outputs_verb,
        "t_bptt_length": lambda builder, length: builder.tBPTTForwardLength(length).tBPTTBackwardLength(length),
    }
    builder_unused: ClassVar[dict[str, str]] = UNUSED_OF_NETWORKS
    builder_ignored: ClassVar[frozenset[str]] = IGNORED_BY_LISTS

    def finish(self) -> ComputationGraphConfiguration:
        """Make the network's configuration."""
        if self.allow_no_output and not self.outputs:
            raise nd.ConfigurationError(
                "GraphBuilder: a network needs an output to be run, got none with allowNoOutput. Call setOutputs."
            )
        if self.input_types and len(self.input_types) != len(self.inputs):
            raise nd.ConfigurationError(
                f"GraphBuilder: expected a type for each of the inputs {self.inputs}, got {self.input_types}."
            )
        given = {name: getattr(self, name) for name in SAID_BY_BUILDERS}
        changes = {name: value for name, value in given.items() if value is not None}
        base = replace(self.base, unused={**self.base.unused, **self.unused}, layer=None, **changes)
        graph = Graph({}, {}, {})
        for name, (vertex, *inputs) in self.nodes.items():
            graph.add(name, vertex, inputs)
        graph.preprocessors.update(self.preprocessors)
        types: Sequence[InputType | None] = self.input_types or [None] * len(self.inputs)
        inputs_with_types = dict(zip(self.inputs, types, strict=True)) if self.input_types else self.inputs
        series = {name: getattr(self, name) for name in OF_SERIES}
        series["backprop_type"] = JAVA_BACKPROP_TYPES.get(series["backprop_type"], series["backprop_type"])
        if self.validate_tbptt_config:
            check_truncated(series["backprop_type"], labelled(graph.vertices))
        return assemble(base, inputs_with_types, graph, self.outputs, self.allow_disconnected, **series)
