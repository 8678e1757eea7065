"""TransferLearning.GraphBuilder: a new graph that keeps the weights of a trained one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self

import nd
from nd.arguments import checked, shown
from nd.classes import ExplainedType
from nd.state import Restoring
from nd.typing import Array

from ..conf.graph import ComputationGraphConfiguration, node_label
from ..conf.graph_assembly import Graph, assemble
from ..layers import FrozenLayer, LayerConf
from ..networks.graph import ComputationGraph
from ..terms.input_type import InputType
from ..terms.preprocessors import InputPreProcessor
from ..vertices import FrozenVertex
from .fine_tune import FineTuneConfiguration
from .resizing import Resizing, resized_input

if TYPE_CHECKING:
    from ..vertices.base import VertexConf


_START_ANEW: dict[str, object] = {
    **dict.fromkeys((
        "bias_init", "bias_updater", "constraints", "drop_out", "l1", "l1_bias", "l2", "l2_bias", "regularization",
        "regularization_bias", "updater", "weight_decay", "weight_decay_bias",
    )),
    "gradient_normalization": "none", "gradient_normalization_threshold": 1.0,
}  # fmt: skip
"""Settings that a layer loses when its size is replaced, as in Java: those of the fine-tune configuration follow."""


class GraphBuilder(Resizing[str], metaclass=ExplainedType):
    """Changes that turn a trained graph into a new one, call by call, in DL4J's names or in snake_case.

    Parameters
    ----------
    graph : ComputationGraph
        After `init`; it stays as it is.

    Raises
    ------
    ConfigurationError
        It has not been initialised.

    Notes
    -----
    `build` makes the graph, and draws all of its weights from its seed: the fine-tune configuration's, or the old
    graph's. Vertices that were there and have not been changed keep their parameters. What is replaced moves to the end
    of the vertices, and with it the order in which weights are drawn. Iterations and epochs begin at 0, the updater has
    no state; `class_names` stay where the first output does.

    A layer whose size is replaced loses its updater, penalties, dropout, constraints and start of biases: it is set as
    one that is added, by the fine-tune configuration and Java's defaults beside it. Layers that read it get another
    n_in and start anew, but keep the settings that they had before fine tuning. Both as in Java.

    Source: DL4J ``TransferLearning.GraphBuilder``. Differs: settings of the network that are not fine-tuned stay, in
    Java they become defaults; sizes are passed on through layers without weights, and through preprocessors; several
    changes of one layer add up; vertices with parameters keep them; what is left out of added layers' n_in is found.
    """

    _rebuild = "Or rebuild the layers behind, with remove_vertex_and_connections and add_layer."

    @checked
    def __init__(self, graph: ComputationGraph) -> None:
        graph.params()
        self._old, self._conf = graph, graph.conf
        self._fine_tune: FineTuneConfiguration | None = None
        self._begin(FineTuneConfiguration())
        self._frozen: tuple[str, ...] = ()
        self._validate = True
        self._changed = False

    def _begin(self, fine_tune: FineTuneConfiguration) -> None:
        conf: ComputationGraphConfiguration = self._conf
        vertices = {
            name: fine_tune._of_layer(vertex) if isinstance(vertex, LayerConf) else vertex
            for name, vertex in conf.vertices.items()
        }
        self._graph = Graph(vertices, dict(conf.vertex_inputs), dict(conf.preprocessors))
        self._inputs, self._outputs = list(conf.inputs), list(conf.outputs)
        self._types: dict[str, Any] = dict(zip(conf.inputs, conf.network_input_types(), strict=True))
        self._given_types: list[InputType] = []
        self._new: set[str] = set()  # vertices that keep nothing of the old graph's parameters

    # ---- settings

    @checked
    def fine_tune_configuration(self, fine_tune_configuration: FineTuneConfiguration) -> Self:
        """Set settings of all layers, and defaults of those that are added; raise ConfigurationError after a change."""
        if self._changed:
            raise nd.ConfigurationError(
                "TransferLearning: fine_tune_configuration must come before other changes, which would be lost, got it "
                "behind one. Call it first."
            )
        self._fine_tune = fine_tune_configuration
        self._begin(fine_tune_configuration)
        return self

    @checked
    def set_feature_extractor(self, *names: str) -> Self:
        """Freeze these vertices, and everything that leads to them; the last call counts."""
        self._frozen = names
        return self

    @checked
    def validate_output_layer_config(self, validate: bool) -> Self:
        """Say whether output layers are checked, as for `NeuralNetConfiguration`: they are by default."""
        self._validate = validate
        return self

    def set_workspace_mode(self, mode: object) -> Self:
        """Do nothing: there are no workspaces."""
        return self

    # ---- changes

    @checked
    def n_out_replace(self, name: str, n_out: int, init: Any = None, *next_init: Any) -> Self:
        """Give a layer another size, and the layers that read it another n_in; all of them start anew.

        Parameters
        ----------
        name : str
        n_out : int
        init : str or Distribution, optional
            Weight initialisation, by default the layer's own.
        next_init : str or Distribution, optional
            That of the layers that read it, by default the same.

        Raises
        ------
        ConfigurationError, ChoiceError
            It is no layer that can be changed so, or something else than layers reads it.
        """
        self._replace_n_out(name, n_out, init, *next_init)
        return self

    @checked
    def n_in_replace(self, name: str, n_in: int, init: Any = None) -> Self:
        """Let a layer take another size; it starts anew. Arguments and errors as `n_out_replace`."""
        self._replace_n_in(name, n_in, init)
        sources = self._graph.vertex_inputs[name]
        for source in sources if len(sources) == 1 else ():
            if self._types.get(source) is not None and name not in self._graph.preprocessors:
                self._types[source] = resized_input(self._types[source], n_in)
        return self

    @checked
    def remove_vertex_keep_connections(self, name: str) -> Self:
        """Remove a vertex or an input; another one of its name has to take its place."""
        nd.checks.check_choice("TransferLearning: remove_vertex", "vertex", name, [*self._inputs, *self._graph[0]])
        self._changed = True
        if name in self._inputs:
            self._inputs.remove(name)
            return self
        for of_vertices in self._graph:
            of_vertices.pop(name, None)
        self._new.add(name)
        return self

    @checked
    def remove_vertex_and_connections(self, name: str) -> Self:
        """Remove a vertex or an input, also where others read it, and from the outputs."""
        self.remove_vertex_keep_connections(name)
        self._outputs = [output for output in self._outputs if output != name]
        for reader, sources in self._graph.vertex_inputs.items():
            self._graph.vertex_inputs[reader] = tuple(source for source in sources if source != name)
        return self

    @checked
    def add_layer(self, name: str, layer: object, *inputs: object) -> Self:
        """Add a layer, or its Builder, behind vertices or inputs; a preprocessor may stand before their names.

        Several inputs are merged. Settings that it leaves open are the fine-tune configuration's, and not the old
        graph's; n_in may be left out where it follows.
        """
        if inputs and (inputs[0] is None or isinstance(inputs[0], InputPreProcessor)):
            if inputs[0] is not None:
                self._graph.preprocessors[name] = inputs[0]
            inputs = inputs[1:]
        return self.add_vertex(name, layer, *inputs)

    @checked
    def add_vertex(self, name: str, vertex: object, *inputs: Any) -> Self:
        """Add a vertex behind vertices or inputs; raise ConfigurationError if the name is taken."""
        sources = [one for several in inputs for one in (several if isinstance(several, (list, tuple)) else [several])]
        for source in sources:
            if not isinstance(source, str):
                raise nd.ConfigurationError(
                    f"TransferLearning: {name!r} must be behind vertices or inputs, given by name, got {shown(source)}."
                )
        before = set(self._graph.vertices)
        self._graph.add(name, vertex, sources)
        self._new |= set(self._graph.vertices) - before
        self._changed = True
        return self

    @checked
    def set_outputs(self, *names: str) -> Self:
        """Name the vertices whose activations are the outputs."""
        self._outputs, self._changed = list(names), True
        return self

    @checked
    def set_inputs(self, *names: str) -> Self:
        """Name the inputs, in the place of those that there are."""
        self._inputs, self._changed = list(names), True
        return self

    @checked
    def add_inputs(self, *names: str) -> Self:
        """Name more inputs."""
        self._inputs, self._changed = [*self._inputs, *names], True
        return self

    @checked
    def set_input_types(self, *types: InputType) -> Self:
        """Give the type of every input, in the place of those of the old graph; several calls add up."""
        self._given_types, self._changed = [*self._given_types, *types], True
        return self

    # ---- how layers hang together, for Resizing

    def _layer_of(self, who: str, key: str) -> LayerConf:
        known = {name: conf for name, conf in self._graph.vertices.items() if isinstance(conf, LayerConf)}
        return known[nd.checks.check_choice(who, "layer", key, known)]

    def _label(self, key: str) -> str:
        return node_label(key, self._graph.vertices[key])

    def _readers(self, who: str, key: str) -> Sequence[str]:
        graph = self._graph
        before = [*dict.fromkeys((*self._conf.vertex_inputs, *graph.vertex_inputs))]  # Java's order of the old graph
        readers = [name for name in before if key in graph.vertex_inputs.get(name, ())]
        for name in readers:
            if not isinstance(graph.vertices[name], LayerConf):
                raise nd.ConfigurationError(
                    f"TransferLearning: {who}: what reads {key!r} must be a layer, got {self._label(name)}. Use "
                    "remove_vertex_keep_connections and add_layer, for it and for the layers behind."
                )
        return readers

    def _preprocessors_of_layers(self) -> dict[str, InputPreProcessor]:
        return self._graph.preprocessors

    def _put_anew(self, key: str, behind: bool, changes: dict[str, Any]) -> None:
        graph = self._graph
        layer = graph.vertices.pop(key) if key in self._new else self._conf.vertices[key]
        graph.vertices.pop(key, None)
        if not behind:
            known = {field.name for field in fields(layer)}
            layer = replace(layer, **{name: value for name, value in _START_ANEW.items() if name in known})
        sources = graph.vertex_inputs.pop(key)
        graph.vertices[key], graph.vertex_inputs[key] = replace(layer, **changes), sources
        self._new.add(key)
        self._changed = True

    # ---- the new graph

    def build(self) -> ComputationGraph:
        """Make the new graph, on the backend of the old one.

        Raises
        ------
        ConfigurationError, ShapeError, ChoiceError
            The vertices do not make a graph, or do not fit on each other; an output layer would be frozen.
        """
        old = self._old
        with Restoring(), old.engine.on_backend():
            graph = ComputationGraph(self._configuration()).init()
            parts = self._kept_params(graph)
            if parts:
                graph.set_params(nd.concat(parts))
        first, classes = graph.conf.outputs[0], graph.engine.classes.classes
        if first == old.conf.outputs[0] and first not in self._new and classes == old.engine.classes.classes:
            graph.class_names = old.class_names
        return graph

    def _configuration(self) -> ComputationGraphConfiguration:
        old, fine_tune = self._conf, self._fine_tune or FineTuneConfiguration()
        defaults = fine_tune._of_added_layers(old.base)
        conf = assemble(
            replace(defaults, validate_output_layer_config=self._validate),
            self._inputs_with_types(),
            Graph(*map(dict, self._graph)),
            self._outputs,
            complete=set(self._graph.vertices) - self._new,
            **fine_tune._of_series(old),
        )
        base = replace(fine_tune._of_network(old.base), validate_output_layer_config=self._validate)
        return replace(conf, base=base, vertices=self._with_frozen(conf))

    def _inputs_with_types(self) -> Any:
        if self._given_types:
            if len(self._given_types) != len(self._inputs):
                raise nd.ConfigurationError(
                    f"TransferLearning: expected a type for each of the inputs {self._inputs}, got {self._given_types}."
                )
            return dict(zip(self._inputs, self._given_types, strict=True))
        types = {name: self._types.get(name) for name in self._inputs}
        known = len(types) == len(self._inputs) and all(kind is not None for kind in types.values())
        return types if known else self._inputs

    def _with_frozen(self, conf: ComputationGraphConfiguration) -> dict[str, LayerConf | VertexConf]:
        """Return the vertices, with those frozen that lead to the feature extractor."""
        vertices, ahead = dict(conf.vertices), list(self._frozen)
        for name in ahead:
            nd.checks.check_choice("TransferLearning: set_feature_extractor", "vertex", name, vertices)
        for name in frozen_ones(conf, ahead):
            vertex = vertices[name]
            if isinstance(vertex, LayerConf):
                vertices[name] = vertex if isinstance(vertex, FrozenLayer) else FrozenLayer(vertex, name=name)
            else:
                vertices[name] = vertex if isinstance(vertex, FrozenVertex) else FrozenVertex(vertex)
        return vertices

    def _kept_params(self, graph: ComputationGraph) -> list[Array]:
        """Return all parameters of the new graph in their order: the old graph's, or as they were drawn."""
        own, theirs = graph.conf.layout(), self._conf.layout()
        numbers = {node.name: number for number, node in enumerate(self._conf.nodes)}
        parts = []
        for number, node in enumerate(graph.conf.nodes):
            keeps = node.name in numbers and node.name not in self._new
            layout, params = (theirs, self._old.params()) if keeps else (own, graph.params())
            views = layout.of_layer(numbers[node.name] if keeps else number)
            parts += [nd.copy(view.flat(params)) for view in views]
        return parts


def frozen_ones(conf: ComputationGraphConfiguration, last: Sequence[str]) -> list[str]:
    """Return vertices and everything that leads to them but inputs, in the order in which they run."""
    frozen, ahead = set(), list(last)
    while ahead:
        name = ahead.pop()
        if name in conf.vertices and name not in frozen:
            frozen.add(name)
            ahead += conf.vertex_inputs[name]
    return [name for name in conf.topological_order() if name in frozen]
