"""How much an operator makes of its inputs, from their sizes alone, before it is run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nd import ConfigurationError
from nd.extras import optional

if TYPE_CHECKING:
    from .vertex import OnnxVertex

Shapes = Mapping[int, tuple[int, ...]]
"""Position of an input -> its shape."""

_FLOAT, _IR_VERSION = 1, 10
_MOST_TOLD = 1 << 10
"""Elements of constants that tell shapes."""


def inferred_shape(conf: OnnxVertex, shapes: Shapes) -> tuple[int, ...] | None:
    """Return the shape of the operator's output by ONNX's own rules; None where these, or the package, do not tell.

    Notes
    -----
    Source: ONNX, shape inference.
    """
    try:
        onnx = optional("load", "onnx", "onnx", "onnx")
        inference = optional("load", "onnx.shape_inference", "onnx", "onnx")
    except ConfigurationError:
        return None
    names = [f"input_{at}" if at in shapes else "" for at in range(1 + max(shapes, default=-1))]
    outputs = [f"output_{at}" for at in range(max(conf.output + 1, conf.outputs_of_operator))]
    make, data, types = onnx.helper.make_tensor_type_proto, {}, {}
    for at, shape in shapes.items():
        constant = conf.constants.get(at)
        kind = onnx.helper.np_dtype_to_tensor_dtype(constant.host().dtype) if constant else _FLOAT
        types[names[at]] = make(kind, shape)
        if constant and constant.size <= _MOST_TOLD:
            data[names[at]] = onnx.numpy_helper.from_array(constant.host(), names[at])
    try:
        node = onnx.helper.make_node(conf.op, names, outputs, **_plain(conf))
        schema = onnx.defs.get_schema(conf.op, conf.opset, "")
        imports = [onnx.helper.make_opsetid("", conf.opset)]
        found = inference.infer_node_outputs(schema, node, types, data, opset_imports=imports, ir_version=_IR_VERSION)
    except (onnx.defs.SchemaError, inference.InferenceError, onnx.checker.ValidationError, *_UNSAID):
        return None
    return _sizes(found.get(outputs[conf.output]))


_UNSAID = (OverflowError, RuntimeError, TypeError, ValueError)
"""The errors of attributes that are none."""


def _plain(conf: OnnxVertex) -> dict[str, Any]:
    """Return the attributes that are numbers and texts."""
    return {name: value for name, value in conf.attributes.items() if isinstance(value, (int, float, str, tuple))}


def _sizes(kind: Any) -> tuple[int, ...] | None:
    if kind is None or not kind.tensor_type.HasField("shape"):
        return None
    dims = kind.tensor_type.shape.dim
    if not all(dim.HasField("dim_value") and dim.dim_value >= 0 for dim in dims):
        return None
    return tuple(dim.dim_value for dim in dims)


def elements_inside(conf: OnnxVertex, shapes: Shapes) -> int:
    """Return how many elements the largest array has that the operator needs beside its output, about."""
    numbers = conf.attributes
    most = max((math.prod(shape) for shape in shapes.values()), default=0)
    if "pads" in numbers and shapes:  # of windows: the padded array is made
        reach = sum(abs(int(pad)) for pad in numbers["pads"])
        most = max(most, math.prod(size + reach for size in shapes.get(0, ())[2:]) * math.prod(shapes.get(0, ())[:2]))
    if conf.op == "Attention":
        most = max(most, math.prod(shape[-2] for shape in shapes.values() if len(shape) > 1))
    if conf.op == "RoiAlign":
        sizes = (numbers.get(name, 1) for name in ("output_height", "output_width", "sampling_ratio", "sampling_ratio"))
        most *= math.prod(abs(int(size)) for size in sizes)
    return most
