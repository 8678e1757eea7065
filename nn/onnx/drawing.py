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
from ..terms.data_formats import SERIES, arranged, channels_last
from .draft import OnnxDraft
from .out import COUNTS, PREPROCESSORS, VERTICES, layer_written, part_writer
from .out.masks import mask_behind, mask_behind_preprocessor, mask_behind_vertex
from .out.node_draft import NodeDraft, NotInOnnx, SizesUnknown
from .signature import EXAMPLES, Shape, shape_of, steps_of, type_of

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
    masks : bool
        Whether inputs of series have masks.

    Attributes
    ----------
    inputs, outputs : list of str
        Tensors as users of the network see them.
    masks : dict of str -> shape
        Inputs that are masks, and their shapes.
    refused : list of str
        What ONNX cannot say, and why.
    """

    def __init__(self, network: Network, draft: OnnxDraft, input_types: Types, masks: bool = False) -> None:
        self.network, self.draft, self.conf = network, draft, network.conf
        self.types = self._carried(input_types)
        self._of_inputs = input_types
        self._layout, self._vector = self.conf.layout(), network.params()
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.masks: dict[str, Shape] = {}
        self.refused: list[str] = []
        self._takes_masks = masks
        self._tensors: dict[Source, str] = {}
        self._masks: dict[Source, str | None] = {}
        self._counts: dict[Source, Count] = {}
        self._of_examples = {Source(-1 - number) for number in range(len(self.conf.input_names))}
        self._doubtful: set[Source] = set()

    def _carried(self, input_types: Types) -> Any:
        """Return the types of all nodes; None where those that layers told by their sizes alone do not go through.

        Operators of other files may have the examples in any axis, which types do not say.
        """
        try:
            return self.conf.node_types(input_types)
        except nd.NdError:
            operators = any(type(node.conf.innermost).__name__ == "OnnxVertex" for node in self.conf.nodes)
            if not operators or any(kind is not None for kind in self.conf.network_input_types()):
                raise
            return None

    def draw(self) -> None:
        """Add all nodes; raise ConfigurationError with everything that ONNX cannot say."""
        formats = self.conf.formats
        self._add_inputs()
        for number, node in enumerate(self.conf.nodes):
            first = len(self.draft.nodes)
            tensor = self._drawn(number, node)
            seen = number in self.conf.output_nodes and channels_last(formats.behind[number])
            named = tensor if seen else self.draft.rename(tensor, node.own_name, first)
            self._tensors[Source(number)] = named
            if self._has_examples(node):
                self._of_examples.add(Source(number))
        if self.refused:
            raise ConfigurationError(
                "save: ONNX must be able to say every part of the network, got "
                f"{len(self.refused)} that it cannot: {'; '.join(self.refused)}."
            )
        for number, kind in zip(self.conf.output_nodes, formats.outputs, strict=True):
            self.outputs.append(self._as_seen(self._tensors[Source(number)], kind, self.conf.nodes[number].own_name))

    def output_shapes(self) -> list[list[int | str | None] | None]:
        """Return the shapes of the outputs as users see them, None for what is not known."""
        if self.types is None:
            return [None] * len(self.outputs)
        shapes: list[list[int | str | None] | None] = []
        for number, kind in zip(self.conf.output_nodes, self.conf.formats.outputs, strict=True):
            sizes = arranged(self.types[number].output.shape, kind)
            shapes.append([EXAMPLES if Source(number) in self._of_examples else None, *sizes])
        return shapes

    def _has_examples(self, node: NodeConf) -> bool:
        """Tell whether a node gives as many rows as the network has examples."""
        part: Any = node.conf.innermost
        if type(part).__name__ in (*COUNTS, "OnnxVertex", "SpaceToBatchLayer"):
            return False
        before = getattr(part, "preprocessor", node.preprocessor)
        if before is not None and SERIES in (before.takes, before.gives):
            return bool(before.gives == SERIES)
        return bool(node.inputs) and all(source in self._of_examples for source in node.inputs)

    def _add_inputs(self) -> None:
        for number, name in enumerate(self.conf.input_names):
            tensor, source = self.draft.name(name), Source(-1 - number)
            shape = shape_of(self.conf, number, self._of_inputs[number])
            self.draft.declare(tensor, shape)
            self.inputs.append(tensor)
            self._tensors[source] = self._channels_first(tensor, number, len(shape))
            self._counts[source] = cache(partial(self.draft.lengths, tensor, 0, 1, f"{tensor}/examples"))
            steps = steps_of(self.conf, number, shape) if self._takes_masks else None
            if steps is not None:
                mask = self.draft.name(f"{name}_mask")
                self.masks[mask] = (EXAMPLES, steps)
                self.draft.declare(mask, self.masks[mask])
                self._masks[source] = mask
        if self._takes_masks and not self.masks:
            raise ConfigurationError(
                "save: a network with masks must have an input of time series, got none. Leave masks out."
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
            self._masks[source] = mask_behind_vertex(draft)
            if type(part).__name__ in COUNTS:
                self._counts[source] = cache(partial(part_writer(COUNTS, part), draft))
            return str(tensor)
        except NotInOnnx as error:
            follows = isinstance(error, SizesUnknown) and not self._doubtful.isdisjoint(node.inputs)
            self._doubtful.add(source)
            if not follows:
                self.refused.append(f"{node.label}: {error}")
            return inputs[0] if inputs else ""

    def _layer(self, number: int, node: NodeConf, inputs: tuple[str, ...]) -> str:
        before, masks = node.preprocessor, tuple(self._masks.get(source) for source in node.inputs)
        if before is not None:
            draft = self._node_draft(number, node, before, inputs)
            draft = replace(draft, types=tuple(type_of(source, self._of_inputs, self.types) for source in node.inputs))
            inputs = (part_writer(PREPROCESSORS, before)(draft),)
            masks = (mask_behind_preprocessor(draft),)
        layer = replace(self._node_draft(number, node, node.conf, inputs), masks=masks)
        tensor = self.written(layer)
        self._masks[Source(number)] = mask_behind(layer)
        return tensor

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
        name = node.own_name
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

    def _channels_first(self, tensor: str, number: int, rank: int) -> str:
        kind = self.conf.formats.inputs[number]
        if not self._is_turned(kind, rank):
            return tensor
        return self.draft.node(
            "Transpose", [tensor], f"{tensor}/channels_first", perm=[0, rank - 1, *range(1, rank - 1)]
        )

    @staticmethod
    def _is_turned(kind: str | None, rank: int) -> bool:
        """Tell whether users see the channels last; rows have no such order, whatever a layer says."""
        return channels_last(kind) and rank == len(kind or "")

    def _as_seen(self, tensor: str, kind: str | None, name: str) -> str:
        """Return an output in the order of axes that users see, under a name of its own."""
        wanted = f"{name}_out" if name in self.inputs else name
        rank = self.draft.rank(tensor) or len(kind or "")
        if not self._is_turned(kind, rank):
            return tensor if tensor == name else self.draft.node("Identity", [tensor], wanted)
        return self.draft.node("Transpose", [tensor], wanted, perm=[0, *range(2, rank), 1])
