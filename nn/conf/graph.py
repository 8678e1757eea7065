"""Configuration of a network that is a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import nd
from nd.arguments import checked, shown
from optimize.builder import Builder

from ..layers.base import LayerConf
from ..terms import late
from ..terms.enums import OF_SERIES
from ..terms.input_type import InputType
from ..terms.preprocessors import InputPreProcessor
from ..vertices.base import VertexConf
from .graph_order import topological_order
from .network import NeuralNetConfiguration
from .nodes import NetworkConfiguration, NodeConf, Source

if TYPE_CHECKING:
    from .multilayer import MultiLayerConfiguration


@dataclass(frozen=True, kw_only=True, eq=False)
class ComputationGraphConfiguration(NetworkConfiguration):
    """A graph of layers and vertices, complete: every n_in known, every default taken over.

    Parameters
    ----------
    base : NeuralNetConfiguration
    inputs, outputs : tuple of str
        Names of the network's inputs, and of the vertices whose activations are its outputs.
    vertices : dict of str -> LayerConf or VertexConf
        In the order in which they were added: that in which weights are drawn.
    vertex_inputs : dict of str -> tuple of str
        Vertex -> names of the inputs and vertices that come in.
    preprocessors : dict of str -> InputPreProcessor
        Of layers, by their vertices' names.
    input_types : tuple of InputType, optional
        Of the network's inputs. DL4J's JSON has no place for them; model files keep them in an entry of our own.
    order : tuple of str, optional
        The topological order that a file says, inputs first; without it that of `nn.conf.graph_order`.
    iteration_count, epoch_count : int
        State of the training, for networks that are saved and loaded.
    backprop_type, tbptt_fwd_length, tbptt_back_length, tbptt_exact
        As in `NeuralNetConfiguration.list`.

    Notes
    -----
    Made by `NeuralNetConfiguration.graph`, or in DL4J's fluent style by ``NeuralNetConfiguration.Builder()...
    .graphBuilder()``. Source: DL4J ``ComputationGraphConfiguration``.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    vertices: Mapping[str, LayerConf | VertexConf]
    vertex_inputs: Mapping[str, tuple[str, ...]]
    preprocessors: Mapping[str, InputPreProcessor] = field(default_factory=dict)
    input_types: tuple[InputType, ...] | None = None
    order: tuple[str, ...] | None = None
    compared: ClassVar[tuple[str, ...]] = ("inputs", "outputs", "vertices", "vertex_inputs", "preprocessors")
    made_by: ClassVar[str] = "Say NeuralNetConfiguration(...).graph(inputs=..., nodes=..., outputs=...)."

    @staticmethod
    def GraphBuilder(base: object = None) -> Builder:
        """Start DL4J's fluent style, with the settings of a network or their Builder."""
        from .graph_builder import graph_builder

        return graph_builder(base)

    def topological_order(self) -> list[str]:
        """Return the names of inputs and vertices in the order in which they run, which is Java's."""
        return list(self.order) if self.order else topological_order(self.inputs, self.vertex_inputs)

    def as_initialised(self) -> Self:
        return replace(self, order=tuple(self.topological_order()))

    @cached_property
    def nodes(self) -> tuple[NodeConf, ...]:
        names = [name for name in self.topological_order() if name in self.vertices]
        numbers = {name: -1 - number for number, name in enumerate(self.inputs)}
        numbers |= {name: number for number, name in enumerate(names)}
        drawn = {name: number for number, name in enumerate(self.vertices)}
        return tuple(
            NodeConf(
                name,
                node_label(name, self.vertices[name]),
                self.vertices[name],
                tuple(Source(numbers[source]) for source in self.vertex_inputs[name]),
                self.preprocessors.get(name),
                drawn[name],
            )
            for name in names
        )

    @cached_property
    def output_nodes(self) -> tuple[int, ...]:
        numbers = {node.name: number for number, node in enumerate(self.nodes)}
        return tuple(numbers[output] for output in self.outputs)

    @property
    def input_names(self) -> tuple[str, ...]:
        return self.inputs

    def network_input_types(self) -> tuple[InputType | None, ...]:
        return self.input_types or (None,) * len(self.inputs)

    def with_confs(self, confs: Sequence[Any]) -> Self:
        by_name = {node.name: conf for node, conf in zip(self.nodes, confs, strict=True)}
        return replace(self, vertices={name: by_name[name] for name in self.vertices})

    def settled(self) -> Self:
        """Return a copy whose layers and preprocessors are in the format of what comes into them."""
        confs, found = [conf for conf, _ in self.formats.settled], zip(self.nodes, self.formats.settled, strict=True)
        placed = {node.name: preprocessor for node, (_, preprocessor) in found if preprocessor is not None}
        return replace(self.with_confs(confs), preprocessors={name: placed[name] for name in self.preprocessors})

    @checked
    def get_layer_activation_types(self, *input_types: InputType) -> dict[str, InputType]:
        """Return vertex -> type of its activations, for such inputs; without them for those of the configuration."""
        given = replace(self, input_types=input_types) if input_types else self
        if len(given.network_input_types()) != len(self.inputs):
            raise nd.ConfigurationError(
                f"get_layer_activation_types: expected {len(self.inputs)} types, got {len(input_types)}."
            )
        types = given.node_types([None] * len(self.inputs))
        return {node.name: kind.output for node, kind in zip(self.nodes, types or (), strict=types is not None)}

    @checked
    def get_conf(self, name: str) -> NeuralNetConfiguration:
        """Return the configuration of one layer, ``get_conf("conv1").layer``; raise ChoiceError if there is none."""
        layers = {vertex: conf for vertex, conf in self.vertices.items() if isinstance(conf, LayerConf)}
        return replace(self.base, layer=layers[nd.checks.check_choice("get_conf", "layer", name, layers)])

    @staticmethod
    @checked
    def from_json(text: str, strict: bool = True) -> ComputationGraphConfiguration:
        """Read the JSON of any DL4J release since 0.5; parameters and errors as `MultiLayerConfiguration.from_json`."""
        return late("graph_from_json")(text, strict)

    @classmethod
    def of_chain(cls, conf: MultiLayerConfiguration) -> ComputationGraphConfiguration:
        """Return the graph that a network whose layers follow one another is: input "in", vertices "0", "1", ..."""
        from .multilayer import MultiLayerConfiguration

        if not isinstance(conf, MultiLayerConfiguration):
            raise nd.ConfigurationError(f"of_chain: conf must be a MultiLayerConfiguration, got {shown(conf)}.")
        names = [str(number) for number in range(len(conf.layers))]
        layers = [replace(layer, name=name) for name, layer in zip(names, conf.layers, strict=True)]
        return cls(
            base=conf.base,
            inputs=("in",),
            outputs=(names[-1],),
            vertices=dict(zip(names, layers, strict=True)),
            vertex_inputs={name: (before,) for name, before in zip(names, ("in", *names), strict=False)},
            preprocessors={str(number): preprocessor for number, preprocessor in conf.preprocessors.items()},
            input_types=None if conf.input_type is None else (conf.input_type,),
            iteration_count=conf.iteration_count,
            epoch_count=conf.epoch_count,
            **{name: getattr(conf, name) for name in OF_SERIES},
        )


def labelled(vertices: Mapping[str, LayerConf | VertexConf]) -> list[tuple[str, object]]:
    """Return layers and vertices with the names that messages have for them."""
    return [(node_label(name, conf), conf) for name, conf in vertices.items()]


def node_label(name: str, conf: LayerConf | VertexConf) -> str:
    """Name a vertex as the messages do: ``layer 'fc1' (DenseLayer)``, ``vertex 'sum' (ElementWiseVertex)``."""
    return f"{'layer' if isinstance(conf, LayerConf) else 'vertex'} {name!r} ({type(conf).__name__})"
