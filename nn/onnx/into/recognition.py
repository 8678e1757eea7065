"""All nodes of a file, one after the other, as layers and vertices of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from nd import ConfigurationError

from ...terms.data_formats import axes_outward
from ..reading import OnnxFile
from ..vertices import OPERATORS, OnnxVertex
from .draft import GraphDraft, target_of
from .known import Known
from .layout import Value
from .ops import Op, OpGraph
from .piece import NotSaid, Piece
from .simplifying import simplify

RECOGNISERS = {
    "Add": "arithmetic:add",
    "AveragePool": "poolings:pooling",
    "BatchNormalization": "normalizations:batch_normalization",
    "Celu": "functions:celu",
    "Clip": "functions:clip",
    "Concat": "channels:concat",
    "Conv": "convolutions:convolution",
    "ConvTranspose": "convolutions:transposed_convolution",
    "Dense": "dense:dense",
    "Div": "arithmetic:divide",
    "Elu": "functions:elu",
    "Flatten": "shapes:flatten",
    "Gather": "channels:gather",
    "Gelu": "functions:gelu",
    "GlobalAveragePool": "poolings:global_pooling",
    "GlobalMaxPool": "poolings:global_pooling",
    "HardSigmoid": "functions:hard_sigmoid",
    "HardSwish": "functions:hard_swish",
    "LRN": "normalizations:lrn",
    "LSTM": "recurrent:lstm",
    "LeakyRelu": "functions:leaky_relu",
    "LogSoftmax": "functions:softmax",
    "Max": "arithmetic:maximum",
    "MaxPool": "poolings:pooling",
    "Mean": "arithmetic:mean",
    "Mish": "functions:plain",
    "Mul": "arithmetic:multiply",
    "Neg": "arithmetic:negate",
    "PRelu": "functions:prelu",
    "Pad": "shapes:pad",
    "Pick": "channels:pick",
    "Pow": "arithmetic:power",
    "RNN": "recurrent:rnn",
    "ReduceMax": "poolings:reduction",
    "ReduceMean": "poolings:reduction",
    "ReduceSum": "poolings:reduction",
    "Relu": "functions:plain",
    "Reshape": "shapes:reshape",
    "Resize": "shapes:resize",
    "Selu": "functions:selu",
    "Sigmoid": "functions:plain",
    "Slice": "channels:slice_of",
    "Softmax": "functions:softmax",
    "Softplus": "functions:plain",
    "Softsign": "functions:plain",
    "Split": "channels:split",
    "Squeeze": "shapes:reshape",
    "Sub": "arithmetic:subtract",
    "Sum": "arithmetic:add",
    "Swish": "functions:swish",
    "Tanh": "functions:plain",
    "ThresholdedRelu": "functions:thresholded_relu",
    "Transpose": "shapes:transpose",
    "Unsqueeze": "shapes:reshape",
    "Upsample": "shapes:resize",
}
"""Operator, of the file or of `simplify` -> module and function, sorted."""
NEWEST_FORM = {"Gelu": 20, "LayerNormalization": 17}
"""Operators that `simplify` puts into models of older opsets, which had none -> the first that has."""
OF_LAST_AXIS, OF_LAST_AXIS_FROM = frozenset({"Hardmax", "LogSoftmax", "Softmax"}), 13
"""Operators over several axes in older opsets, and the opset from which they are over one."""
BROADCAST = frozenset({"Add", "Div", "Max", "Min", "Mul", "Pow", "Sub", "Sum", "Where"})
"""Operators whose inputs are as long as the longest along every axis, or of length 1."""
UNLIKE = "no layer and no OnnxVertex is like it"
RESIZED_AXES = 18
"""Opset from which Resize may be told which axes have new sizes."""
RECURRENT = frozenset({"GRU", "LSTM", "RNN"})
MOVING = frozenset({"Gather", "GatherND", "Reshape", "ScatterElements", "Slice", "Transpose"})
"""Operators behind which an axis of the same length may be another one."""
TRAINED = {
    "Conv": (1, 2), "ConvTranspose": (1, 2), "Dense": (1, 2), "GRU": (1, 2, 3), "Gemm": (1, 2),
    "GroupNormalization": (1, 2), "InstanceNormalization": (1, 2), "LSTM": (1, 2, 3, 7), "LayerNormalization": (1, 2),
    "MatMul": (0, 1), "Add": (0, 1), "Mul": (0, 1), "PRelu": (1,), "RMSNormalization": (1,), "RNN": (1, 2, 3),
}  # fmt: skip
"""Operator -> constants that are parameters where the file has them as such."""


def recogniser(op: str) -> Callable[[Piece], Value | Sequence[Value | None]] | None:
    """Return what puts an operator into a graph; None where only an OnnxVertex does.

    It returns the tensor of the first output, or of all, and raises `NotSaid` where no layer says the node.
    """
    if op not in RECOGNISERS:
        return None
    module, name = RECOGNISERS[op].split(":")
    function: Callable[[Piece], Value | Sequence[Value | None]] = getattr(
        import_module(f".recognisers.{module}", __package__), name
    )
    return function


class Recognition:
    """The nodes of a file in a draft.

    Parameters
    ----------
    file : OnnxFile
    known : Known
    graph : OpGraph
        Simplified.
    turned : set of str
        Inputs that have the channels last.

    Attributes
    ----------
    draft : GraphDraft
    values : dict of str -> Value
    outputs : list of str
        Vertices whose activations, as users see them, are the file's outputs.
    seen : list of Value
        The tensors of the outputs, with those vertices.
    """

    def __init__(self, file: OnnxFile, known: Known, graph: OpGraph, turned: set[str]) -> None:
        self.file, self.known, self.graph = file, known, graph
        self.draft = GraphDraft(known.inputs, turned)
        self.values: dict[str, Value] = dict(self.draft.inputs)
        self.outputs: list[str] = []
        self.seen: list[Value] = []

    def recognise(self) -> None:
        """Draw all nodes; raise ConfigurationError with every one that neither a layer nor a vertex says."""
        refused: list[str] = []
        lost: set[str] = set()  # behind what is refused
        for op in self.graph.ops:
            try:
                if lost.isdisjoint(op.inputs):
                    self._draw(op)
                    continue
                lost.update(op.outputs)
                if op.op not in RECOGNISERS and op.op not in OPERATORS:
                    raise NotSaid(UNLIKE)
            except NotSaid as error:
                refused.append(f"{op.name!r} ({op.op}): {error}")
                lost.update(op.outputs)
        if refused:
            raise ConfigurationError(
                f"{self.file.name}: every node must be one that a layer or an OnnxVertex can say, got {len(refused)} "
                f"that none can: {'; '.join(refused)}. Export the model without them."
            )
        for name in self.graph.outputs:
            self.outputs.append(self._output(name))

    def _draw(self, op: Op) -> None:
        piece, function = Piece(self, op), recogniser(op.op)
        before = len(self.draft.nodes)
        try:
            if function is None:
                raise NotSaid("no layer is like it")
            made = function(piece)
        except NotSaid:
            for name in list(self.draft.nodes)[before:]:
                del self.draft.nodes[name]
                self.draft.arrays.pop(name, None)
            made = as_vertices(piece)
        values = [made] if isinstance(made, Value) else list(made)
        self.values |= {name: value for name, value in zip(op.outputs, values, strict=False) if name and value}

    def _output(self, name: str) -> str:
        value = self.values.get(name)
        if value is None:
            raise ConfigurationError(
                f"{self.file.name}: every output must depend on an input, got {name!r}, which is a constant. Export "
                "the model without it."
            )
        if not self.seen_as_in_file(value, value.tag):
            value = self.draft.in_file_order(value)
        if value.node in self.draft.inputs or value.node in self.outputs or not self.seen_as_in_file(value, value.tag):
            node = self.draft.add(f"{name}/output", OnnxVertex("Identity"), [value.node])  # seen as its array is
            value = value._replace(node=node, tag=None)
        self.seen.append(value)
        return value.node

    def seen_as_in_file(self, value: Value, tag: str | None) -> bool:
        """Tell whether users see an array of a format with the axes that the tensor has in the file."""
        seen = tuple(value.inner[axis] for axis in axes_outward(tag, len(value.inner)))
        return self.draft.factors.is_arranged(value._replace(inner=seen), value.axes)


def as_vertices(piece: Piece) -> list[Value | None]:
    """Add a node as it is in the file, one vertex for every output that is used."""
    op = piece.op
    if op.op not in OPERATORS:
        piece.refuse(UNLIKE)
    if any(type(value).__name__ == "GraphProto" for value in op.attributes.values()):
        piece.refuse("it has a graph inside")
    constants: dict[int, Any] = {}
    nodes = []
    for position, name in enumerate(op.inputs):
        if piece.is_value(position):
            nodes.append(piece.draft.in_file_order(piece.value(position)).node)
        else:
            constants[position] = _constant_of(piece, position) if name else None
    if not nodes:
        piece.refuse("only constants go in, and these were not folded")
    while op.inputs and constants.get(len(constants) + len(nodes) - 1, 0) is None:
        del constants[len(constants) + len(nodes) - 1]
    attributes = {name: _attribute(piece, value) for name, value in op.attributes.items()}
    newest = max(piece.opset, NEWEST_FORM.get(op.op, 0))
    axes = _resized_axes(piece)
    if axes is not None:
        attributes, newest = attributes | {"axes": axes}, max(newest, RESIZED_AXES)
    opset = max(piece.opset, NEWEST_FORM.get(op.op, 0))
    if op.op in OF_LAST_AXIS and piece.opset < OF_LAST_AXIS_FROM and len(piece.shape()) - 1 in _axes_of(piece):
        attributes, opset = {"axis": -1}, OF_LAST_AXIS_FROM  # over one axis alone older opsets mean the same
    used = [
        at
        for at, name in enumerate(op.outputs)
        if name and (name in piece.recognition.graph.outputs or piece.recognition.graph.readers(name))
    ]
    made: list[Value | None] = [None] * len(op.outputs)
    for at in used:
        conf = OnnxVertex(
            op.op,
            attributes,
            constants,
            opset,
            at,
            max(1, len(op.outputs)),
            trained=_trained(piece, constants),
        )
        node = piece.draft.add(op.outputs[at], conf, nodes)
        made[at] = value = _kept(piece, piece.factors.fresh(node, piece.shape(op.outputs[at])), at)
        piece.draft.has_types &= bool(value.axes) and piece.draft.are_examples(value.axes[0], value)
    return made


def _kept(piece: Piece, value: Value, output: int) -> Value:
    """Return the tensor behind a vertex with the factors of the axes that go through it, above all the examples'."""
    position = next(at for at in range(len(piece.op.inputs)) if piece.is_value(at))
    before = piece.value(position).axes
    if piece.op.op in RECURRENT and position == 0 and not piece.op.attribute("layout", 0):
        pairs: tuple[tuple[int, int], ...] = ((2, 1), (0, 0)) if output == 0 else ((1, 1),)
    elif len(before) == value.rank and piece.op.op not in MOVING:
        pairs = tuple((axis, axis) for axis in range(value.rank))
    else:
        return value
    axes = list(value.axes)
    for behind, ahead in pairs:
        if piece.factors.size(axes[behind]) == piece.factors.size(before[ahead]):
            axes[behind] = before[ahead]
    return value._replace(axes=tuple(axes), inner=tuple(axes))


def _axes_of(piece: Piece) -> tuple[int, ...]:
    """Return the axis that an older softmax begins at."""
    return (piece.op.attribute("axis", 1) % len(piece.shape()),)


def _attribute(piece: Piece, value: Any) -> Any:
    return piece.known.file.array(value) if type(value).__name__ == "TensorProto" else value


def _constant_of(piece: Piece, position: int) -> Any:
    """Return a constant input, in which open sizes are told by 0, -1 or 1 where the operator lets them be."""
    name, op = piece.op.input(position), piece.op
    array = piece.known.array(name)
    before, sizes = piece.known.shape(op.input(0)) or (), piece.known.sizes(name)
    examples = bool(sizes and before and sizes[0] == before[0] and not op.attribute("allowzero"))
    if op.op == "Reshape" and position == 1 and sizes and (array is None or examples):
        return _open_shape(piece, before)
    if op.op == "Expand" and position == 1 and sizes:
        offset = len(sizes) - len(before)
        kept = [at >= offset and before[at - offset] == size for at, size in enumerate(sizes)]
        piece.need(all(k or s[0] == s[1] for k, s in zip(kept, sizes, strict=True)), "it expands to an open size")
        return [1 if k else size[0] for k, size in zip(kept, sizes, strict=True)]
    if op.op in RECURRENT and position in (5, 6) and piece.known.uniform(name) == 0.0:
        return None  # as it is without
    axes = _resized_axes(piece) if position == 3 else None
    if axes is not None and sizes:
        return [sizes[axis][0] for axis in axes]
    if array is None and op.op in BROADCAST:
        array = _alike(piece, position)
    if array is None:
        piece.refuse(f"input {position} depends on an open size")
    return array


def _resized_axes(piece: Piece) -> list[int] | None:
    """Return the axes to which a Resize gives other sizes, where those that it keeps are open; else None."""
    sizes = piece.known.sizes(piece.op.input(3)) if piece.op.op == "Resize" else None
    before = piece.known.shape(piece.op.input(0))
    if not sizes or before is None or len(sizes) != len(before) or all(len(set(size)) == 1 for size in sizes):
        return None
    changed = [axis for axis, size in enumerate(sizes) if size != before[axis]]
    told = all(len(set(sizes[axis])) == 1 for axis in changed) and not piece.op.attribute("axes")
    return changed if told and not piece.op.input(1) else None


def _alike(piece: Piece, position: int) -> Any:
    """Return a constant of open size that is spread over an axis, and that other inputs have as long; else None."""
    shape, behind = piece.known.shape(piece.op.input(position)), piece.known.shape(piece.op.output)
    if shape is None or behind is None:
        return None
    others = [piece.known.shape(piece.op.input(at)) or () for at in range(len(piece.op.inputs)) if piece.is_value(at)]
    for axis, size in enumerate(shape, -len(shape)):
        spread = min(size) == max(size) or any(len(one) >= -axis and one[axis] == size for one in others)
        if not spread:
            return None
    return piece.known.alike(piece.op.input(position))


def _open_shape(piece: Piece, before: Sequence[Any]) -> list[int]:
    """Return the numbers of a Reshape: 0 for an axis that stays, -1 for one that is open."""
    target = target_of(before, piece.shape())
    piece.need(target.count(-1) < 2, "several of its sizes are open")
    return target


def _trained(piece: Piece, constants: dict[int, Any]) -> list[int]:
    """Return the positions of constants that are parameters."""
    tensors = piece.known.tensors
    if not hasattr(OnnxVertex, "updater_of"):
        return []
    return [
        position
        for position in TRAINED.get(piece.op.op, ())
        if position in constants
        and piece.op.input(position) in tensors
        and str(getattr(constants[position], "dtype", "")).startswith("float")
        and constants[position].size > 1
    ]


def recognised(file: OnnxFile) -> Recognition:
    """Return the graph of a file in a draft.

    Raises
    ------
    ConfigurationError
        Nodes that neither a layer nor a vertex says, all with their names.
    """
    turned: set[str] = set()
    while True:  # again with the inputs as what reads them wants them, as long as another one is wanted so
        known = Known(file)
        graph = OpGraph(known.ops, [value.name for value in file.graph.output])
        simplify(graph, known)
        made = Recognition(file, known, graph, turned)
        made.recognise()
        if not made.draft.wanted:
            return made
        turned = turned | made.draft.wanted
