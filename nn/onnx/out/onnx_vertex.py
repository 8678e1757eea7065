"""Vertices that are operators of ONNX: the node, in the form of the opset that is written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import nd

from ..draft import FIRST_OPSET, WORDS, onnx_package
from ..vertices.constants import OnnxConstant
from .node_draft import NodeDraft

KINDS = {
    "bool": "bool", "double": "float64", "float": "float32", "float16": "float16", "int16": "int16", "int32": "int32",
    "int64": "int64", "int8": "int8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "uint8": "uint8",
}  # fmt: skip
"""ONNX's name of a type -> dtype."""
AXES_BY_INPUT = {"ReduceSum": 13, "Squeeze": 13, "Unsqueeze": 13}
"""Operator -> opset from which its axes are an input; of other reductions from 18."""
_REDUCES_BY_INPUT = 18
_ALONG_ONE_AXIS = 13
"""Opset from which Softmax and its like sum over one axis, not over all behind it."""
ALONG = frozenset({"Hardmax", "LogSoftmax", "Softmax"})
GROUPED = {"GroupNormalization": 21}
"""Operator -> opset from which its weights are others."""
_SPLIT_COUNTS = 18
"""Opset from which Split is told the number of its outputs."""
_LINEAR = 20
"""Opset from which GridSample says linear and cubic."""


def onnx_vertex(vertex: NodeDraft) -> str:
    """OnnxVertex: its operator; truths and whole numbers, which the network has as real ones, are cast there and back.

    Raises
    ------
    NotInOnnx
        The operator's form is none of the opset that is written.
    """
    conf, draft = vertex.conf, vertex.draft
    if conf.op in SPELLED and draft.opset < SPELLED[conf.op][0]:
        return SPELLED[conf.op][1](vertex)
    schema = _schema(vertex)
    attributes = {name: _attribute(value) for name, value in conf.attributes.items()}
    inputs, bound = _inputs(vertex, schema)
    if conf.op in ALONG and conf.opset < _ALONG_ONE_AXIS <= draft.opset:
        return _over_all_behind(vertex, inputs[0], int(conf.attributes.get("axis", 1)))
    if conf.op == "Cast" and attributes.get("to") in (WORDS["float32"], WORDS["float64"]):
        attributes["to"] = WORDS[draft.dtype]
    _renew(vertex, inputs, attributes)
    _fits(vertex, schema, inputs, attributes)
    count = max(conf.outputs_of_operator, conf.output + 1, schema.min_output)
    made = draft.nodes_of(conf.op, inputs, count, f"{vertex.name}/{conf.op}", **attributes)[conf.output]
    if _kind_behind(schema, conf, bound, draft.dtype) == draft.dtype:
        return made
    return vertex.node("Cast", made, to=WORDS[draft.dtype])


def _schema(vertex: NodeDraft) -> Any:
    defs, conf = onnx_package("save").defs, vertex.conf
    try:
        schema = defs.get_schema(conf.op, vertex.draft.opset)
    except defs.SchemaError:
        vertex.refuse(f"opset {vertex.draft.opset} has no {conf.op}{_remedy(conf.opset)}")
    if schema.deprecated:
        vertex.refuse(f"opset {vertex.draft.opset} has no {conf.op} any more")
    return schema


def _remedy(opset: int) -> str:
    """Name the vertex' own opset where files of it can be written."""
    return f". Save with opset={opset}" if opset >= FIRST_OPSET else ""


def _attribute(value: Any) -> Any:
    if not isinstance(value, OnnxConstant):
        return list(value) if isinstance(value, tuple) else value
    helper = onnx_package("save").helper
    word = next(number for number, name in _words().items() if name == value.dtype)
    return helper.make_tensor("value", word, value.shape, value.host().tobytes(), raw=True)


def _words() -> dict[int, str]:
    kinds = onnx_package("save").TensorProto.DataType
    return {kinds.Value(kind.upper()): dtype for kind, dtype in KINDS.items()}


# ---- inputs and their types


def _inputs(vertex: NodeDraft, schema: Any) -> tuple[list[str], dict[str, str]]:
    """Return the tensors, and the dtype of every type that the operator's description names."""
    conf = vertex.conf
    bound: dict[str, str] = {}
    places = dict(zip(conf.positions_of_inputs(len(vertex.inputs)), vertex.inputs, strict=True))
    for position in places:
        formal = _formal(schema.inputs, position)
        bound.setdefault(formal.type_str, _nearest(formal, vertex.draft.dtype))
    inputs = []
    for position in range(len(places) + len(conf.constants)):
        formal, given = _formal(schema.inputs, position), conf.constants.get(position)
        if position in places:
            kind = bound[formal.type_str]
            whole = kind == vertex.draft.dtype
            inputs.append(places[position] if whole else _cast(vertex, places[position], kind))
        elif given is None:
            inputs.append("")
        elif position in conf.trained:
            inputs.append(vertex.param(f"input_{position}"))
        else:
            real = vertex.draft.dtype if given.dtype.startswith("float") else given.dtype
            kind = bound.setdefault(formal.type_str, _nearest(formal, real))
            with nd.use_backend("numpy"):
                inputs.append(vertex.draft.array(given.array(kind), f"{vertex.name}/input_{position}"))
    return inputs, bound


def _formal(formals: Any, position: int) -> Any:
    return formals[min(position, len(formals) - 1)]


def _nearest(formal: Any, wanted: str) -> str:
    """Return a dtype that an input may have: the wanted one if it may, else int64 or truths, or any other."""
    allowed = [KINDS[name] for name in sorted(one[7:-1] for one in formal.types) if name in KINDS]
    return next((kind for kind in (wanted, "float32", "int64", "bool") if kind in allowed), allowed[0])


def _cast(vertex: NodeDraft, tensor: str, kind: str) -> str:
    return vertex.node("Cast", tensor, to=next(number for number, dtype in _words().items() if dtype == kind))


def _kind_behind(schema: Any, conf: Any, bound: Mapping[str, str], dtype: str) -> str | None:
    formal = _formal(schema.outputs, conf.output)
    if formal.type_str in bound:
        return bound[formal.type_str]
    told = conf.attributes.get("to") if conf.op in ("Cast", "BitCast") else conf.attributes.get("dtype")
    if told in (WORDS["float32"], WORDS["float64"]):
        return dtype
    if told is not None:
        return _words().get(told)
    return _nearest(formal, dtype) if len(formal.types) == 1 else dtype


# ---- forms of other opsets


def _renew(vertex: NodeDraft, inputs: list[str], attributes: dict[str, Any]) -> None:
    """Turn the form of an older opset into that of the one that is written."""
    conf, draft = vertex.conf, vertex.draft
    by_input = AXES_BY_INPUT.get(conf.op, _REDUCES_BY_INPUT if conf.op.startswith("Reduce") else None)
    if by_input is not None and "axes" in attributes and conf.opset < by_input <= draft.opset:
        inputs.append(draft.ints(*attributes.pop("axes")))
    if conf.op == "Split":
        if "split" in attributes and draft.opset >= AXES_BY_INPUT["Squeeze"]:
            inputs.append(draft.ints(*attributes.pop("split")))
        if len(inputs) == 1 and draft.opset >= _SPLIT_COUNTS:
            attributes.setdefault("num_outputs", conf.outputs_of_operator)
    if conf.op == "MeanVarianceNormalization":
        attributes.setdefault("axes", [0, 2, 3])  # which its definition by other operators does not have
    if conf.op == "GridSample" and conf.opset < _LINEAR <= draft.opset and "mode" in attributes:
        attributes["mode"] = {"bilinear": "linear", "bicubic": "cubic"}.get(attributes["mode"], attributes["mode"])


def _fits(vertex: NodeDraft, schema: Any, inputs: list[str], attributes: dict[str, Any]) -> None:
    """Leave out attributes that are newer, and as they are by default; refuse others, and inputs too many."""
    onnx, conf, opset = onnx_package("save"), vertex.conf, vertex.draft.opset
    known = onnx.defs.get_schema(conf.op, max(conf.opset, opset)).attributes
    lost = [name for name in attributes if name not in schema.attributes]
    for name in lost:
        default = known[name].default_value if name in known else None
        told = onnx.helper.get_attribute_value(default) if default is not None and default.name else None
        if told is None or told not in (attributes[name], str(attributes[name]).encode()):
            break
        del attributes[name]
    turned = conf.op in ALONG and (conf.opset < _ALONG_ONE_AXIS) != (opset < _ALONG_ONE_AXIS)
    fits = set(attributes) <= set(schema.attributes) and schema.min_input <= len(inputs) <= schema.max_input
    if turned or not fits or (conf.op in GROUPED and (conf.opset < GROUPED[conf.op]) != (opset < GROUPED[conf.op])):
        vertex.refuse(f"opset {opset} has {conf.op} in another form{_remedy(conf.opset)}")


def _over_all_behind(vertex: NodeDraft, x: str, axis: int) -> str:
    """Add a Softmax, or its like, of before opset 13: over all axes from one on together."""
    flat = vertex.node("Flatten", x, axis=axis)
    return vertex.node("Reshape", vertex.node(vertex.conf.op, flat, axis=-1), vertex.node("Shape", x))


# ---- operators that older opsets have not


def _gelu(vertex: NodeDraft) -> str:
    """Gelu: x times the normal distribution's share below x, or its approximation by tanh."""
    x = vertex.x
    if vertex.conf.attributes.get("approximate", "none") == "tanh":
        cube = vertex.node("Mul", vertex.node("Mul", vertex.node("Mul", x, x), x), 0.044715)
        inside = vertex.node("Tanh", vertex.node("Mul", vertex.node("Add", x, cube), math.sqrt(2 / math.pi)))
    else:
        inside = vertex.node("Erf", vertex.node("Div", x, math.sqrt(2.0)))
    return vertex.node("Mul", vertex.node("Mul", x, 0.5), vertex.node("Add", inside, 1.0))


SPELLED: dict[str, tuple[int, Callable[[NodeDraft], str]]] = {"Gelu": (20, _gelu)}
"""Operator -> opset from which it is one, and what writes it for older ones."""
