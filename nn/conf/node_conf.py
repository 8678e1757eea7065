"""A layer or vertex in its place, as the configuration of a network describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..layers.base import LayerConf

if TYPE_CHECKING:
    from ..vertices.base import VertexConf
    from .input_type import InputType
    from .preprocessors import InputPreProcessor


class NodeTypes(NamedTuple):
    """Types of what comes into a node, behind its preprocessor, and of its activations."""

    inputs: tuple[InputType, ...]
    output: InputType


class NodeConf(NamedTuple):
    """A layer or vertex in its place.

    Attributes
    ----------
    name : str
        The beginning of its parameters' names: ``"0"``, in a graph the vertex's name.
    label : str
        In messages.
    conf : LayerConf or VertexConf
    inputs : tuple of int
        Numbers of the nodes whose activations come in; ``-1 - k`` for input k of the network. A layer has one.
    preprocessor : InputPreProcessor or None
        Of a layer.
    draw_index : int
        In the order in which Java draws weights.
    """

    name: str
    label: str
    conf: LayerConf | VertexConf
    inputs: tuple[int, ...]
    preprocessor: InputPreProcessor | None
    draw_index: int

    def types(self, arriving: Sequence[InputType]) -> NodeTypes:
        """Return the types of the inputs, behind the preprocessor, and of the output; errors if they do not fit."""
        conf: Any = self.conf
        if not isinstance(conf, LayerConf):
            return NodeTypes(tuple(arriving), conf.output_type(self.label, arriving))
        (kind,) = arriving
        if self.preprocessor is not None:
            kind = self.preprocessor.output_type(kind)
        return NodeTypes((kind,), conf.output_type(self.label, kind))
