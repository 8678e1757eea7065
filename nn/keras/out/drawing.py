"""All nodes of a network as layers of Keras."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd import ConfigurationError

from ...conf.nodes import NodeConf, Source
from ...layers.base import LayerConf
from ...onnx.signature import shape_of, types_of
from ...terms.data_formats import channels_last
from ...terms.input_type import InputType, RecurrentType
from . import PREPROCESSORS, VERTICES, layer_written, part_writer
from .draft import KerasDraft, Value
from .node import Node, NotInKeras, SizesUnknown
from .stacking import OTHER_EXAMPLES, STACKS, Parts, in_parts

if TYPE_CHECKING:
    from ...networks.network import Network

NO_ROWS = "Keras has no rows of time steps"


class Drawing:
    """A network's nodes, one after the other, in a draft.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    input_types : sequence of InputType or None, optional
        Of the network's inputs, as users see them, where its configuration has none.

    Attributes
    ----------
    draft : KerasDraft
    inputs, outputs : list of Value
        As users of the network see them.
    refused : list of str
        What Keras cannot say, and why.
    """

    def __init__(self, network: Network, input_types: Sequence[InputType | None] | None = None) -> None:
        self.network, self.conf, self.draft = network, network.conf, KerasDraft(network.dtype)
        self._of_inputs = types_of(self.conf, input_types or [None] * len(self.conf.input_names))
        self.types = self.conf.node_types(self._of_inputs)
        self._layout, self._vector = self.conf.layout(), network.params()
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.refused: list[str] = []
        self._values: dict[Source, Parts] = {}
        self._doubtful: set[Source] = set()
        self._made: list[list[str]] = []

    def draw(self) -> None:
        """Add all nodes; raise ConfigurationError with everything that Keras cannot say."""
        self._add_inputs()
        for number, node in enumerate(self.conf.nodes):
            self._values[Source(number)] = self._drawn(number, node)
        for number, kind in zip(self.conf.output_nodes, self.conf.formats.outputs, strict=True):
            node, (value, *others) = self.conf.nodes[number], self._values[Source(number)]
            if (value.of_steps or others) and Source(number) not in self._doubtful:
                what = f"{OTHER_EXAMPLES}, and this output has others" if others else f"{NO_ROWS}, as this output is"
                self.refused.append(f"{node.label}: {what}")
            self.outputs.append(self._as_seen(value, kind, self._name_of(node)))
        if self.refused:
            raise ConfigurationError(
                "save: Keras must be able to say every part of the network, got "
                f"{len(self.refused)} that it cannot: {'; '.join(self.refused)}."
            )

    def _add_inputs(self) -> None:
        for number, name in enumerate(self.conf.input_names):
            shape = shape_of(self.conf, number, self._of_inputs[number])
            value = self.draft.input(name, [size if isinstance(size, int) else None for size in shape[1:]])
            self.inputs.append(value)
            seen = self._is_turned(self.conf.formats.inputs[number], value)
            last = [*range(2, value.rank), 1]
            if not seen and value.rank > 2:
                value = self.draft.permuted(value, last, f"{name}_channels_last")
            self._values[Source(-1 - number)] = (value,)

    def _drawn(self, number: int, node: NodeConf) -> Parts:
        inputs = tuple(self._values[source] for source in node.inputs)
        shared = [] if node.params_of is None else self._made[node.params_of]
        self._made.append(shared)
        try:
            part: Any = node.conf.innermost if type(node.conf).__name__ == "FrozenVertex" else node.conf
            if type(part).__name__ in STACKS and type(part).__module__.startswith("nn."):
                types = [] if self.types is None else self.types[number].inputs
                return STACKS[type(part).__name__](part, inputs, types)
            parts = []
            for values in in_parts(inputs):
                self.draft.made, self.draft.shared = [], list(shared)
                before = len(self.draft.layers)
                value = self._part(number, node, part, values)
                made = list(self.draft.layers)[before:]
                parts.append(self.draft.renamed(value, self._name_of(node), made))
                shared = shared or self.draft.made
            self._made[number] = shared
            return tuple(parts)
        except NotInKeras as error:
            source = Source(number)
            follows = isinstance(error, SizesUnknown) and not self._doubtful.isdisjoint(node.inputs)
            self._doubtful.add(source)
            if not follows:
                self.refused.append(f"{node.label}: {error}")
            return inputs[0]

    def _part(self, number: int, node: NodeConf, part: Any, inputs: tuple[Value, ...]) -> Value:
        if isinstance(node.conf, LayerConf):
            return self._layer(number, node, inputs)
        value: Value = part_writer(VERTICES, part)(self._node(number, node, part, inputs))
        return value

    def _layer(self, number: int, node: NodeConf, inputs: tuple[Value, ...]) -> Value:
        before = node.preprocessor
        if before is not None:
            types = [self._type_of(source) for source in node.inputs]
            draft = self._node(number, node, before, inputs, types)
            inputs = (part_writer(PREPROCESSORS, before)(draft),)
        return layer_written(self._node(number, node, node.conf, inputs))

    def _node(
        self, number: int, node: NodeConf, conf: Any, inputs: tuple[Value, ...],
        types: Sequence[InputType | None] | None = None,
    ) -> Node:  # fmt: skip
        if types is None:
            types = tuple(self.types[number].inputs) if self.types else (None,) * len(inputs)
        params = {name: nd.to_host(view) for name, view in self._layout.views_of(number, self._vector).items()}
        steps = {name: _steps(kind) for name, kind in zip(self.conf.input_names, self._of_inputs, strict=True)}
        return Node(self.draft, self._name_of(node), conf, params, inputs, tuple(types), steps_of=steps)

    def _name_of(self, node: NodeConf) -> str:
        return getattr(node.conf, "name", None) or node.name

    def _type_of(self, source: Source) -> InputType | None:
        """Return the type of what a source gives, the channels first."""
        if source.node < 0:
            kind = self._of_inputs[-1 - source.node]
            return None if kind is None else kind.computed
        return None if self.types is None else self.types[source.node].outputs[source.output]

    @staticmethod
    def _is_turned(kind: str | None, value: Value) -> bool:
        """Tell whether users see the channels last; rows have no such order, whatever a layer says."""
        return channels_last(kind) and value.rank == len(kind or "")

    def _as_seen(self, value: Value, kind: str | None, name: str) -> Value:
        """Return an output in the order of axes that users see."""
        if value.rank < 3 or self._is_turned(kind, value):
            return value
        return self.draft.permuted(value, [value.rank - 1, *range(1, value.rank - 1)], f"{name}_channels_first")


def _steps(kind: InputType | None) -> int | None:
    return kind.time_series_length if isinstance(kind, RecurrentType) else None
