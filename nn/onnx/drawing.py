"""All nodes of a network as operators of ONNX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import nd
from nd import ConfigurationError
from nd.typing import HostArray

from ..conf.nodes import NodeConf, Source
from ..layers.base import LayerConf
from ..terms.data_formats import channels_last
from .draft import OnnxDraft
from .out import LAYERS, MISSING, PREPROCESSORS, VERTICES, writer
from .out.node_draft import NodeDraft, NotInOnnx

if TYPE_CHECKING:
    from ..networks.network import Network
    from ..terms.input_type import InputType

Types = Sequence["InputType | None"]


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

    layers: ClassVar[Mapping[str, str]] = LAYERS
    """Class of a layer -> what writes it, as in `nn.onnx.out`; a training step has others for some."""
    missing: ClassVar[Mapping[str, str]] = MISSING
    """Class that it cannot say -> why."""

    def __init__(self, network: Network, draft: OnnxDraft, input_types: Types) -> None:
        self.network, self.draft, self.conf = network, draft, network.conf
        self.types = self.conf.node_types(input_types)
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.refused: list[str] = []
        self._tensors: dict[Source, str] = {}
        self._masks: dict[Source, str | None] = {}

    def draw(self) -> None:
        """Add all nodes; raise ConfigurationError with everything that ONNX cannot say."""
        formats = self.conf.formats
        for number, name in enumerate(self.conf.input_names):
            tensor = self.draft.name(name)
            self.inputs.append(tensor)
            self._tensors[Source(-1 - number)] = self._channels_first(tensor, number)
        for number, node in enumerate(self.conf.nodes):
            self._tensors[Source(number)] = self._drawn(number, node)
        if self.refused:
            raise ConfigurationError(
                "save: ONNX must be able to say every part of the network, got "
                f"{len(self.refused)} that it cannot: {'; '.join(self.refused)}."
            )
        for number, kind in zip(self.conf.output_nodes, formats.outputs, strict=True):
            self.outputs.append(self._as_seen(self._tensors[Source(number)], kind, self.conf.nodes[number].name))

    def _drawn(self, number: int, node: NodeConf) -> str:
        inputs = [self._tensors[source] for source in node.inputs]
        try:
            if isinstance(node.conf, LayerConf):
                return self._layer(number, node, inputs)
            return self._part(VERTICES, node.conf)(self._node_draft(number, node, node.conf, inputs))
        except NotInOnnx as error:
            self.refused.append(f"{node.label}: {error}")
            return inputs[0] if inputs else ""

    def _layer(self, number: int, node: NodeConf, inputs: list[str]) -> str:
        if node.preprocessor is not None:
            inputs = [self._part(PREPROCESSORS, node.preprocessor)(self.draft, node.preprocessor, inputs[0])]
        inner = node.conf.innermost if type(node.conf).__name__.startswith("Frozen") else node.conf
        return self._part(self.layers, inner)(self._node_draft(number, node, inner, inputs))

    def _part(self, table: Mapping[str, str], part: object) -> Any:
        function = writer(table, part)
        if function is None:
            kind = type(part).__name__
            raise NotInOnnx(self.missing.get(kind, f"ONNX has nothing like {kind}"))
        return function

    def _node_draft(self, number: int, node: NodeConf, conf: Any, inputs: list[str]) -> NodeDraft:
        types = tuple(self.types[number].inputs) if self.types else (None,) * len(inputs)
        masks = tuple(self._masks.get(source) for source in node.inputs)
        name = getattr(conf, "name", None) or node.name
        given = NodeDraft(self.draft, name, conf, self._params(number), tuple(inputs), types, masks)
        return self.draft_of(number, node, given)

    def draft_of(self, number: int, node: NodeConf, given: NodeDraft) -> NodeDraft:
        """Return what a node's writer is given; a training step has parameters that are no constants."""
        return given

    def tensor_of(self, number: int) -> str:
        """Return the activations of a node that is drawn, channels first."""
        return self._tensors[Source(number)]

    def _params(self, number: int) -> dict[str, HostArray]:
        params = self.network.engine.propagation.params[number]
        return {name: nd.to_host(view) for name, view in params.items()}

    def _channels_first(self, tensor: str, number: int) -> str:
        kind = self.conf.formats.inputs[number]
        if not channels_last(kind):
            return tensor
        rank = len(kind or "")
        return self.draft.node("Transpose", [tensor], f"{tensor}/channels_first", perm=[0, rank - 1, *range(1, rank - 1)])

    def _as_seen(self, tensor: str, kind: str | None, name: str) -> str:
        """Return an output in the order of axes that users see, under a name of its own."""
        wanted = f"{name}_out" if name in self.inputs else name
        if not channels_last(kind):
            return self.draft.node("Identity", [tensor], wanted)
        rank = len(kind or "")
        return self.draft.node("Transpose", [tensor], wanted, perm=[0, *range(2, rank), 1])
