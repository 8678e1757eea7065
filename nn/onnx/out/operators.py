"""OnnxVertex: an operator of ONNX goes back as it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import nd

from ..draft import FIRST_OPSET, onnx_package
from ..vertices.constants import OnnxConstant
from .node_draft import NodeDraft

COMPARING = ("Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual")
LOGICAL = ("And", "Not", "Or", "Xor")
COUNTING = ("ArgMax", "ArgMin", "Shape", "Size")
PLACES = (("MaxPool", 1), ("TopK", 1))
"""Operators and numbers of outputs that are places, whole numbers."""
WHOLE_INPUTS = {
    "Gather": 1, "GatherElements": 1, "GatherND": 1, "NegativeLogLikelihoodLoss": 1, "OneHot": 0, "RoiAlign": 2,
    "ScatterElements": 1, "ScatterND": 1, "SoftmaxCrossEntropyLoss": 1,
}  # fmt: skip
"""Operator -> position of an input that must be whole numbers."""
CHANGED = {
    "Clip": 11, "Dropout": 12, "GroupNormalization": 21, "Hardmax": 13, "LogSoftmax": 13, "Pad": 11, "ReduceSum": 13,
    "Resize": 11, "RoiAlign": 16, "Scatter": 11, "Softmax": 13, "Split": 18, "Squeeze": 13, "TopK": 11, "Unsqueeze": 13,
    "Upsample": 10,
}  # fmt: skip
"""Operator -> opset from which on the same inputs and attributes are not what they were, sorted."""
REDUCED = 18
"""Opset from which on the axes of other reductions are an input."""
RECURRENT, LENGTHS = ("GRU", "LSTM", "RNN"), 4
"""Operators on series, and the position of these' lengths, which are int32."""
GELU = 20
"""Opset that has a Gelu."""
SCALES = 2
"""Position of Resize's scales, which are float32 in every network."""


def operator(layer: NodeDraft) -> str:
    """Return the output of the operator, in the network's dtype."""
    conf, draft = layer.conf, layer.draft
    if conf.op == "Gelu" and draft.opset < GELU:
        return _gelu(layer)
    inputs, attributes = _inputs(layer), _attributes(layer)
    _check_form(layer, len(inputs), attributes)
    outputs = draft.nodes_of(conf.op, inputs, _outputs(conf), f"{layer.name}/{conf.op}", **attributes)
    result = outputs[conf.output]
    whole = conf.op in (*COMPARING, *LOGICAL, *COUNTING) or (conf.op, conf.output) in PLACES
    return layer.node("Cast", result, to=draft.word(draft.dtype)) if whole else result


def _check_form(layer: NodeDraft, inputs: int, attributes: Mapping[str, Any]) -> None:
    """Refuse an operator that the opset which is written does not have, or has in another form."""
    conf, defs, opset = layer.conf, onnx_package("save").defs, layer.draft.opset
    try:
        schema = defs.get_schema(conf.op, opset, "")
    except defs.SchemaError:
        layer.refuse(f"opset {opset} has no {conf.op}{_remedy(conf.opset)}")
    needed = {name for name, attribute in schema.attributes.items() if attribute.required}
    fits = needed <= set(attributes) <= set(schema.attributes) and schema.min_input <= inputs <= schema.max_input
    changed = CHANGED.get(conf.op, REDUCED if conf.op.startswith("Reduce") else 0)
    if not fits or (conf.opset < changed) != (opset < changed):
        layer.refuse(f"opset {opset} has {conf.op} in another form{_remedy(conf.opset)}")


def _remedy(opset: int) -> str:
    return f". Save with opset={opset}" if opset >= FIRST_OPSET else f", and opset {opset} is not written"


def _outputs(conf: Any) -> int:
    return max(conf.output + 1, conf.outputs_of_operator, 2 if conf.op == "TopK" else 1)


def _inputs(layer: NodeDraft) -> list[str]:
    conf = layer.conf
    positions = conf.positions_of_inputs(len(layer.inputs))
    given = {at: _of_kind(layer, x, at) for at, x in zip(positions, layer.inputs, strict=True)}
    for at, constant in conf.constants.items():
        if at in conf.trained:
            given[at] = layer.param(f"input_{at}")
        else:
            given[at] = "" if constant is None else _constant(layer, constant, at)
    tensors = [given.get(at, "") for at in range(1 + max(given))]
    while tensors and not tensors[-1]:
        tensors.pop()
    return tensors


def _of_kind(layer: NodeDraft, x: str, position: int) -> str:
    """Return activations as the kind of number that the operator takes there."""
    op, word = layer.conf.op, layer.draft.word
    if op in LOGICAL or (op == "Where" and position == 0):
        return layer.node("Cast", x, to=word("bool"))
    return layer.node("Cast", x, to=word("int64")) if WHOLE_INPUTS.get(op) == position else x


def _constant(layer: NodeDraft, constant: OnnxConstant, position: int) -> str:
    op, dtype = layer.conf.op, constant.dtype
    if dtype.startswith("float"):
        dtype = "float32" if op == "Resize" and position == SCALES else layer.draft.dtype
    elif layer.conf.takes_numbers(position):
        dtype = layer.draft.dtype
    elif op in RECURRENT and position == LENGTHS:
        dtype = "int32"
    with nd.use_backend("numpy"):
        return layer.draft.array(constant.array(dtype), f"{layer.name}/input_{position}")


def _attributes(layer: NodeDraft) -> dict[str, Any]:
    attributes = dict(layer.conf.attributes)
    tensors = [name for name, value in attributes.items() if isinstance(value, OnnxConstant)]
    if tensors:
        layer.refuse(f"the attribute {tensors[0]!r} of {layer.conf.op} is an array")
    if layer.conf.op == "Cast":
        attributes["to"] = layer.draft.word(layer.draft.dtype)
    if layer.conf.op == "MeanVarianceNormalization":
        attributes.setdefault("axes", (0, 2, 3))  # which its definition by other operators does not have
    return attributes


def _gelu(layer: NodeDraft) -> str:
    """Gelu as primitives, of the error function or of the tanh."""
    x = layer.x
    if layer.conf.attributes.get("approximate", "none") == "tanh":
        cubic = layer.node("Mul", layer.node("Mul", layer.node("Mul", x, x), x), 0.044715)
        inside = layer.node("Mul", layer.node("Add", x, cubic), math.sqrt(2.0 / math.pi))
        gate = layer.node("Tanh", inside)
    else:
        gate = layer.node("Erf", layer.node("Mul", x, math.sqrt(0.5)))
    return layer.node("Mul", layer.node("Mul", x, layer.node("Add", gate, 1.0)), 0.5)
