"""Base of every vertex's configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import nd
from nd.arguments import Checked
from optimize.builder import Builder, builder_of

from ..terms.input_type import InputType
from ..terms.java_form import JavaForm
from ..terms.params import ParamSpec, shapes_of
from .runtime import VertexRuntime

if TYPE_CHECKING:
    from ..conf.network import NeuralNetConfiguration
    from ..layers.base import LayerConf


@dataclass(frozen=True)
class VertexConf(Checked):
    """Configuration of a vertex: a function of the activations of other vertices, in a ComputationGraph.

    The class itself is the base of vertices of one's own, as Java's ``GraphVertex`` is. One without a runtime cannot
    be run; `nn.register` makes it known to files.
    """

    runtime: ClassVar[type[VertexRuntime]]
    fewest_inputs: ClassVar[int] = 1
    most_inputs: ClassVar[int | None] = 1
    """None: any number."""
    form: ClassVar[JavaForm] = JavaForm({}, package="org.deeplearning4j.nn.conf.graph.")
    """Form in files. A class without one has that of the class it comes from, and its own fields in camelCase."""
    makes_axes: ClassVar[bool] = False
    """Whether the format of its activations is not that of its input: then layers behind it may say which."""
    of_whole_series: ClassVar[bool] = False
    """As on layers."""
    shape_fields: ClassVar[Mapping[str, object]] = {}

    @classmethod
    def Builder(cls, *arguments: Any) -> Builder:
        """Start DL4J's fluent style for this vertex; arguments set its fields in their order."""
        return builder_of(cls, *arguments)

    @property
    def network_inputs(self) -> tuple[str, ...]:
        """Names of the network's inputs that the vertex looks at, in `VertexContext.network_inputs`."""
        return ()

    @property
    def innermost(self) -> LayerConf | VertexConf:
        """The vertex that does the work: this one, unless it wraps another."""
        return self

    def resolved(self, defaults: NeuralNetConfiguration, index: int) -> Self:
        """Return a copy with every unset value taken from the network's defaults."""
        return self

    def in_format(self, label: str, incoming: str | None, wanted: str | None = None) -> tuple[Self, str | None]:
        """Return a copy for inputs of that format, and the format of the activations.

        Vertices compute with the channels first, as layers do. One in whose settings axes have numbers, or sizes an
        order, means those of arrays as users see them, as Java's do: it keeps the format as its data_format.

        Parameters
        ----------
        label : str
            In messages.
        incoming : str, optional
            Of the first input that has one.
        wanted : str, optional
            Where the vertex `makes_axes`: what a layer behind it says.
        """
        return self, incoming

    def inferred(self) -> Self:
        """Return a copy with what Java infers from the format of the input where a network is configured."""
        return self

    def with_inputs(self, label: str, input_types: Sequence[InputType]) -> Self:
        """Return a copy whose sizes are those of the inputs; raise ConfigurationError if others were given."""
        return self

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        """Return the kind and size of the activations.

        Raises
        ------
        ConfigurationError, ShapeError
            The inputs do not fit the vertex, or one another.
        """
        return input_types[0]

    def output_types(self, label: str, input_types: Sequence[InputType]) -> tuple[InputType, ...]:
        """Return those of every output: one, but for a vertex whose runtime has several."""
        return (self.output_type(label, input_types),)

    def examples_of(self, arriving: Sequence[int]) -> int:
        """Return how many examples come out of so many of each input."""
        return max(arriving)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        """Return the parameters in the order of the flat vector."""
        return ()

    def param_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return name -> shape, in the order of the flat vector."""
        return shapes_of(self.param_specs())

    def check(self, label: str) -> None:
        """Raise ConfigurationError unless the vertex is complete, so that parameters can be created."""

    def check_inputs(self, label: str, count: int) -> None:
        """Raise ConfigurationError unless the vertex takes so many inputs."""
        fewest, most = self.fewest_inputs, self.most_inputs
        if count < fewest or (most is not None and count > most):
            allowed = f"at least {fewest}" if most is None else f"{fewest}" if fewest == most else f"{fewest} to {most}"
            raise nd.ConfigurationError(f"{label}: expected {allowed} input(s), got {count}. Name others.")


class OuterAxes(VertexConf):
    """Base of vertices whose settings number the axes of arrays as users see them: they have a field data_format."""

    def in_format(self, label: str, incoming: str | None, wanted: str | None = None) -> tuple[Self, str | None]:
        known = {"data_format": incoming}
        return replace(self, **known), incoming
