"""The forward pass of a training step: a network's nodes with parameters that are inputs of the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ...conf.nodes import NodeConf
from ...terms.dropout import Dropout
from ..drawing import Drawing
from ..out import MISSING as OUT_MISSING
from ..out import writer
from ..out.node_draft import NodeDraft, NotInOnnx
from .draft import TrainingDraft, Unread
from .tables import LAYERS
from .tensors import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...networks.network import Network
    from ...terms.input_type import InputType

Key = tuple[int, str]


@dataclass(frozen=True)
class TrainedNode(NodeDraft):
    """A node of a network whose parameters are inputs of the graph.

    Attributes
    ----------
    tensors : mapping of str -> str
        Name of a parameter -> the input.
    steps : dict of str -> Tensor
        Takes how far parameters go that are not trained but follow the minibatches.
    params : mapping of str -> Unread
    """

    tensors: Mapping[str, str] = field(default_factory=dict)
    steps: dict[str, Tensor] = field(default_factory=dict)

    def param(self, name: str, *axes: int, shape: Sequence[int] | None = None) -> str:
        """Return a parameter as a tensor, which nodes bring into that order and shape."""
        tensor = self.tensors[name]
        if axes:
            tensor = self.node("Transpose", tensor, perm=list(axes))
        return tensor if shape is None else self.node("Reshape", tensor, self.draft.ints(*shape))


class TrainingDrawing(Drawing):
    """A network's nodes as in training.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    draft : TrainingDraft
    input_types : sequence of InputType or None
    trained : mapping of (int, str) -> str
        Number of a node and name of a parameter that changes -> the input of the graph.

    Attributes
    ----------
    steps : dict of (int, str) -> Tensor
        How far parameters go that follow the minibatches.
    """

    def __init__(
        self,
        network: Network,
        draft: TrainingDraft,
        input_types: Sequence[InputType | None],
        trained: Mapping[Key, str],
    ) -> None:
        super().__init__(network, draft, input_types)
        self._trained = trained
        self._of_nodes: dict[int, dict[str, Tensor]] = {}

    def written(self, layer: NodeDraft) -> str:
        """Add a layer as in training, a frozen one as outside of it; return its activations."""
        conf = layer.conf
        function = None if _is_frozen(conf) else writer(LAYERS, conf)
        if function is None and not _is_frozen(conf):
            kind = type(conf).__name__
            layer.refuse(OUT_MISSING.get(kind, f"a training step has no form of {kind} here"))
        return super().written(layer) if function is None else str(function(layer))

    @property
    def steps(self) -> dict[Key, Tensor]:
        """How far parameters go that follow the minibatches, by number of the node and name."""
        return {(number, name): step for number, of_node in self._of_nodes.items() for name, step in of_node.items()}

    def draft_of(self, number: int, node: NodeConf, given: NodeDraft) -> NodeDraft:
        """Return a node with its parameters as inputs; refuse what training draws random numbers for."""
        layer: Any = node.conf
        frozen = _is_frozen(layer)
        tensors = {name: self._trained[number, name] for name in given.params if (number, name) in self._trained}
        if not frozen:
            _refuse_noise(layer)
        if frozen or not given.params:
            return given
        rest = set(given.params) - set(tensors)
        if rest:
            raise NotInOnnx(f"its parameters {', '.join(sorted(rest))} are not trained on labels")
        unread: Any = {name: Unread(name, array.shape) for name, array in given.params.items()}
        own = {each.name: getattr(given, each.name) for each in fields(NodeDraft)} | {"params": unread}
        return TrainedNode(**own, tensors=tensors, steps=self._of_nodes.setdefault(number, {}))


def _is_frozen(conf: object) -> bool:
    return type(conf).__name__.startswith("Frozen")


def _refuse_noise(layer: Any) -> None:
    runtime = getattr(layer, "runtime", None)
    drop_out = getattr(layer, "drop_out", None) if getattr(runtime, "takes_dropout", False) else None
    if drop_out is not None and drop_out != Dropout(1.0):  # which keeps everything
        raise NotInOnnx("its dropout draws random numbers, which ONNX draws otherwise. Leave drop_out out")
    if getattr(layer, "weight_noise", None) is not None:
        raise NotInOnnx("its weight noise draws random numbers. Leave weight_noise out")
    if getattr(getattr(layer, "activation", None), "draws", False):
        raise NotInOnnx("its activation draws random numbers. Take another one")
