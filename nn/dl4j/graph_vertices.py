"""Vertices of a ComputationGraph as Java's programs see them: where they stand, and what they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nd.arguments import checked
from nd.checks import check_choice
from nd.classes import ExplainedType
from nd.typing import Array

from ..layers.base import LayerConf
from .constants import DataType

if TYPE_CHECKING:
    from ..networks.graph import ComputationGraph
    from ..terms.preprocessors import InputPreProcessor
    from ..vertices.base import VertexConf


class VertexIndices(NamedTuple):
    """One end of a connection: the number of a vertex, and which of its inputs or outputs it is."""

    vertex_index: int
    vertex_edge_number: int


class GraphVertex(metaclass=ExplainedType):
    """An input, a layer or another vertex of a graph, in its place.

    Parameters
    ----------
    graph : ComputationGraph
        After `init`.
    name : str
        Of one of its inputs or vertices.

    Notes
    -----
    `getVertices` has inputs first, then vertices in the order in which they were added; a vertex's index is its place
    there. Source: DL4J ``org.deeplearning4j.nn.graph.vertex.GraphVertex``.
    """

    def __init__(self, graph: ComputationGraph, name: str) -> None:
        self._graph, self._name = graph, name
        self._names = [*graph.conf.inputs, *graph.conf.vertices]

    @property
    def runtime(self) -> Any:
        """The layer or vertex that computes; None for an input of the network."""
        return None if self.isInputVertex() else self._graph.get_vertex(self._name)

    def getVertexName(self) -> str:
        """Return the name."""
        return self._name

    def getVertexIndex(self) -> int:
        """Return the place in `getVertices`."""
        return self._names.index(self._name)

    def getInputVertices(self) -> list[VertexIndices] | None:
        """Return what comes in: the index of each vertex, and this one's place among its readers; None for inputs."""
        sources = self._sources(self._name)
        return [VertexIndices(self._names.index(name), self._readers(name).index((self._name, at)))
                for at, name in enumerate(sources)] or None  # fmt: skip

    def getOutputVertices(self) -> list[VertexIndices] | None:
        """Return what reads this one: the index of each vertex, and which of its inputs this is; None for nothing."""
        return [VertexIndices(self._names.index(name), at) for name, at in self._readers(self._name)] or None

    def getNumInputArrays(self) -> int:
        """Return how many vertices it reads."""
        return len(self._sources(self._name))

    def getNumOutputConnections(self) -> int:
        """Return how often it is read."""
        return len(self._readers(self._name))

    def hasLayer(self) -> bool:
        """Tell whether it is a layer."""
        return isinstance(self._graph.conf.vertices.get(self._name), LayerConf)

    def getLayer(self) -> Any:
        """Return the layer, None where it is none."""
        return self.runtime if self.hasLayer() else None

    def isInputVertex(self) -> bool:
        """Tell whether it is an input of the network."""
        return self._name in self._graph.conf.inputs

    def isOutputVertex(self) -> bool:
        """Tell whether its activations are an output of the network."""
        return self._name in self._graph.conf.outputs

    def getConfig(self) -> LayerConf | VertexConf | None:
        """Return the configuration of the layer or vertex, None for an input."""
        return self._graph.conf.vertices.get(self._name)

    def getPreProcessor(self) -> InputPreProcessor | None:
        """Return the preprocessor before the layer, None without."""
        return self._graph.conf.preprocessors.get(self._name)

    getLayerPreProcessor = getPreProcessor

    def getDataType(self) -> DataType:
        """Return the type of its parameters."""
        return DataType(self._graph.dtype)

    @checked
    def paramTable(self, backprop_only: bool = True) -> dict[str, Array]:
        """Return name -> view of every parameter."""
        return {} if self.runtime is None else dict(self.runtime.params)

    def params(self) -> Array | None:
        """Return the parameters as a vector ``[1, n]``, None for none."""
        return self.runtime.params() if self.paramTable() else None

    def numParams(self) -> int:
        """Return the number of elements of all parameters."""
        return sum(array.size for array in self.paramTable().values())

    def __str__(self) -> str:
        kind = (
            "InputVertex"
            if self.isInputVertex()
            else "LayerVertex"
            if self.hasLayer()
            else type(self.getConfig()).__name__
        )
        return f'{kind}(id={self.getVertexIndex()},name="{self._name}")'

    __repr__ = __str__

    def _sources(self, name: str) -> Sequence[str]:
        given: Mapping[str, Sequence[str]] = self._graph.conf.vertex_inputs
        return given.get(name, ())

    def _readers(self, name: str) -> list[tuple[str, int]]:
        """Return who reads a vertex, and as which input, in the order of vertices."""
        return [
            (reader, at)
            for reader in self._names
            for at, source in enumerate(self._sources(reader)) if source == name
        ]  # fmt: skip


def get_vertex(graph: ComputationGraph, name: str) -> GraphVertex:
    """Return an input or a vertex by its name; raise ChoiceError if there is none."""
    graph.engine.check_made()
    names = [*graph.conf.inputs, *graph.conf.vertices]
    return GraphVertex(graph, check_choice("getVertex", "vertex", name, names))


def get_vertices(graph: ComputationGraph) -> list[GraphVertex]:
    """Return all inputs and vertices, in the order of their indices."""
    graph.engine.check_made()
    return [GraphVertex(graph, name) for name in (*graph.conf.inputs, *graph.conf.vertices)]
