"""All nodes of a network as operators of ONNX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import nd
from nd import ConfigurationError

from ..conf.nodes import NodeConf, Source
from ..layers.base import LayerConf
from ..terms.data_formats import channels_last
from .draft import OnnxDraft
from .out import COUNTS, PREPROCESSORS, VERTICES, layer_written, part_writer
from .out.node_draft import NodeDraft, NotInOnnx
from .signature import shape_of

if TYPE_CHECKING:
    from ..networks.network import Network
    from ..terms.input_type import InputType

Types = Sequence["InputType | None"]
Count = Callable[[], str]
"""Returns a tensor, int64 ``[1]``: how many examples there are."""


class Drawing:
    """A network's nodes, one after the other, in a draft.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    draft : OnnxDraft
    input_types : sequence of InputType or None
        Of the network's inputs, as users see them.

    Attributes
    ----------
    inputs, outputs : list of str
        Tensors as users of the network see them.
    refused : list of str
        What ONNX cannot say, and why.
    """

    def __init__(self, network: Network, draft: OnnxDraft, input_types: Types) -> None:
        self.network, self.draft, self.conf = network, draft, network.conf
        self.types = self.conf.node_types(input_types)
        self._of_inputs = input_types
        self._layout, self._vector = self.conf.layout(), network.params()
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.refused: list[str] = []
        self._tensors: dict[Source, str] = {}
        self._masks: dict[Source, str | None] = {}
        self._counts: dict[Source, Count] = {}

    def draw(self) -> None:
        """Add all nodes; raise ConfigurationError with everything that ONNX cannot say."""
        formats = self.conf.formats
        for number, name in enumerate(self.conf.input_names):
            tensor, source = self.draft.name(name), Source(-1 - number)
            self.draft.declare(tensor, shape_of(self.conf, number, self._of_inputs[number]))
            self.inputs.append(tensor)
            self._tensors[source] = self._channels_first(tensor, number)
            self._counts[source] = cache(partial(self.draft.lengths, tensor, 0, 1, f"{tensor}/examples"))
        for number, node in enumerate(self.conf.nodes):
            first = len(self.draft.nodes)
            tensor = self._drawn(number, node)
            seen = number in self.conf.output_nodes and channels_last(formats.behind[number])
            named = tensor if seen else self.draft.rename(tensor, self._name_of(node), first)
            self._tensors[Source(number)] = named
        if self.refused:
            raise ConfigurationError(
                "save: ONNX must be able to say every part of the network, got "
                f"{len(self.refused)} that it cannot: {'; '.join(self.refused)}."
            )
        for number, kind in zip(self.conf.output_nodes, formats.outputs, strict=True):
            self.outputs.append(
                self._as_seen(self._tensors[Source(number)], kind, self._name_of(self.conf.nodes[number]))
            )

    def _drawn(self, number: int, node: NodeConf) -> str:
        inputs = tuple(self._tensors[source] for source in node.inputs)
        source = Source(number)
        self._counts[source] = self._counts[node.inputs[0]] if node.inputs else self._no_examples
        try:
            if isinstance(node.conf, LayerConf):
                return self._layer(number, node, inputs)
            part = node.conf.innermost if type(node.conf).__name__ == "FrozenVertex" else node.conf
            draft = self._node_draft(number, node, part, inputs)
            tensor = part_writer(VERTICES, part)(draft)
            if type(part).__name__ in COUNTS:
                self._counts[source] = cache(partial(part_writer(COUNTS, part), draft))
            return str(tensor)
        except NotInOnnx as error:
            self.refused.append(f"{node.label}: {error}")
            return inputs[0] if inputs else ""

    def _layer(self, number: int, node: NodeConf, inputs: tuple[str, ...]) -> str:
        before = node.preprocessor
        if before is not None:
            draft = self._node_draft(number, node, before, inputs)
            draft = replace(draft, types=tuple(self._type_of(source) for source in node.inputs))
            inputs = (part_writer(PREPROCESSORS, before)(draft),)
        return self.written(self._node_draft(number, node, node.conf, inputs))

    def written(self, layer: NodeDraft) -> str:
        """Add a layer; return its activations. A training step writes some in another way."""
        return layer_written(layer)

    def _node_draft(self, number: int, node: NodeConf, conf: Any, inputs: tuple[str, ...]) -> NodeDraft:
        types = tuple(self.types[number].inputs) if self.types else (None,) * len(inputs)
        masks = tuple(self._masks.get(source) for source in node.inputs)
        counts = tuple(self._counts[source] for source in node.inputs)
        named = {name: self._tensors[Source(-1 - place)] for place, name in enumerate(self.conf.input_names)}
        of_inputs = {name: self._masks.get(Source(-1 - place)) for place, name in enumerate(self.conf.input_names)}
        masked = {name: mask for name, mask in of_inputs.items() if mask is not None}
        params = {name: nd.to_host(view) for name, view in self._layout.views_of(number, self._vector).items()}
        name = self._name_of(node)
        given = NodeDraft(self.draft, name, conf, params, inputs, types, masks, counts, named, masked)
        return self.draft_of(number, node, given)

    def draft_of(self, number: int, node: NodeConf, given: NodeDraft) -> NodeDraft:
        """Return what a node's writer is given; a training step has parameters that are no constants."""
        return given

    def tensor_of(self, number: int) -> str:
        """Return the activations of a node that is drawn, channels first."""
        return self._tensors[Source(number)]

    def _no_examples(self) -> str:
        raise NotInOnnx("nothing tells how many examples there are")

    def _name_of(self, node: NodeConf) -> str:
        return getattr(node.conf, "name", None) or node.name

    def _type_of(self, source: Source) -> InputType | None:
        """Return the type of what a source gives, the channels first."""
        if source.node < 0:
            kind = self._of_inputs[-1 - source.node]
            return None if kind is None else kind.computed
        return None if self.types is None else self.types[source.node].outputs[source.output]

    def _channels_first(self, tensor: str, number: int) -> str:
        kind = self.conf.formats.inputs[number]
        if not channels_last(kind):
            return tensor
        rank = len(kind or "")
        return self.draft.node(
            "Transpose", [tensor], f"{tensor}/channels_first", perm=[0, rank - 1, *range(1, rank - 1)]
        )

    def _as_seen(self, tensor: str, kind: str | None, name: str) -> str:
        """Return an output in the order of axes that users see, under a name of its own."""
        wanted = f"{name}_out" if name in self.inputs else name
        if not channels_last(kind):
            return tensor if tensor == name else self.draft.node("Identity", [tensor], wanted)
        rank = len(kind or "")
        return self.draft.node("Transpose", [tensor], wanted, perm=[0, *range(2, rank), 1])
