"""OnnxVertex: the operator that it is, where the opset that is written has it in the same form."""

from __future__ import annotations

import math
from typing import Any

import nd

from ..draft import onnx_package
from .node_draft import NodeDraft

TRUTHS_IN = {"And": (0, 1), "Not": (0,), "Or": (0, 1), "Where": (0,), "Xor": (0, 1)}
"""Operator -> inputs that are truths, which are 0 and 1 in a network."""
WHOLE_IN = {"Gather": (1,), "GatherElements": (1,), "GatherND": (1,), "ScatterElements": (1,), "ScatterND": (1,)}
"""Operator -> inputs that are whole numbers."""
OTHERS_OUT = frozenset({
    "And", "ArgMax", "ArgMin", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual", "NonZero",
    "Not", "Or", "Shape", "Size", "Xor",
})  # fmt: skip
"""Operators whose outputs are truths or whole numbers."""
MEANT_ANEW = {"Hardmax": 13, "LogSoftmax": 13, "Softmax": 13}
"""Operator -> opset from which its axis means something else."""
ERF_FROM = 20
"""Opset that has a Gelu."""


def onnx_vertex(vertex: NodeDraft) -> str:
    """OnnxVertex."""
    conf, draft = vertex.conf, vertex.draft
    if conf.op == "Gelu" and draft.opset < ERF_FROM:
        return _gelu(vertex)
    _check_form(vertex)
    positions = dict(zip(conf.positions_of_inputs(len(vertex.inputs)), vertex.inputs, strict=True))
    inputs = [
        _typed(vertex, at, positions[at]) if at in positions else _constant(vertex, at)
        for at in range(len(positions) + len(conf.constants))
    ]
    attributes = {name: list(one) if isinstance(one, tuple) else one for name, one in conf.attributes.items()}
    outputs = draft.nodes_of(conf.op, inputs, conf.outputs_of_operator, f"{vertex.name}/{conf.op}", **attributes)
    made = outputs[conf.output]
    return vertex.node("Cast", made, to=draft.word(draft.dtype)) if conf.op in OTHERS_OUT else made


def _check_form(vertex: NodeDraft) -> None:
    """Refuse an operator that the opset which is written has not, or has in another form."""
    conf, defs = vertex.conf, onnx_package("save").defs
    try:
        schema = defs.get_schema(conf.op, vertex.draft.opset, "")
    except defs.SchemaError:
        vertex.refuse(f"opset {vertex.draft.opset} has no {conf.op}. Save with opset={conf.opset}")
    count = len(vertex.inputs) + len(conf.constants)
    fits = set(conf.attributes) <= set(schema.attributes) and schema.min_input <= count <= schema.max_input
    changed = MEANT_ANEW.get(conf.op, 0)
    anew = (conf.opset < changed) != (vertex.draft.opset < changed)
    if not fits or anew or any(not isinstance(one, (int, float, str, tuple)) for one in conf.attributes.values()):
        vertex.refuse(f"opset {vertex.draft.opset} has {conf.op} in another form. Save with opset={conf.opset}")


def _typed(vertex: NodeDraft, position: int, tensor: str) -> str:
    """Return an input in the type that the operator takes."""
    for table, dtype in ((TRUTHS_IN, "bool"), (WHOLE_IN, "int64")):
        if position in table.get(vertex.conf.op, ()):
            return vertex.node("Cast", tensor, to=vertex.draft.word(dtype))
    return tensor


def _constant(vertex: NodeDraft, position: int) -> str:
    """Return a constant as a tensor, "" for an input that is left out."""
    given: Any = vertex.conf.constants[position]
    if given is None:
        return ""
    if position in vertex.conf.trained:
        return vertex.param(f"input_{position}")
    real = given.dtype.startswith("float")
    with nd.use_backend("numpy"):
        array = nd.to_host(given.array(vertex.draft.dtype)) if real else given.host()
    return vertex.draft.array(array, f"{vertex.name}/constant")


def _gelu(vertex: NodeDraft) -> str:
    """Gelu as primitives, of the error function or of the tanh."""
    x = vertex.x
    if vertex.conf.attributes.get("approximate", "none") == "tanh":
        cubic = vertex.node("Mul", vertex.node("Mul", vertex.node("Mul", x, x), x), 0.044715)
        inside = vertex.node("Mul", vertex.node("Add", x, cubic), math.sqrt(2.0 / math.pi))
        gate = vertex.node("Tanh", inside)
    else:
        gate = vertex.node("Erf", vertex.node("Mul", x, math.sqrt(0.5)))
    return vertex.node("Mul", vertex.node("Mul", x, vertex.node("Add", gate, 1.0)), 0.5)
