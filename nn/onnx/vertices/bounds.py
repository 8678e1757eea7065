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

_IR_VERSION = 10
_KINDS = {"float32": 1, "int64": 7, "int32": 6, "bool": 9, "uint8": 2}
"""dtype -> TensorProto's number; those that an input may have instead, the likeliest first."""
_NAMES = {"float32": "float"}
"""dtype -> its name in schemas."""
_UNSAID = (OverflowError, RuntimeError, TypeError, ValueError)
"""The errors of attributes that are none."""
_GROWING = frozenset({
    "AffineGrid", "CenterCropPad", "Col2Im", "ConvTranspose", "Expand", "MaxUnpool", "OneHot", "Resize", "Tile",
    "Upsample",
})  # fmt: skip
"""Operators whose output has as many elements as numbers say that they are given."""
_ENDLESS = 1 << 62
"""More elements than there are."""
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
    faults = (onnx.defs.SchemaError, inference.InferenceError, onnx.checker.ValidationError, *_UNSAID)
    try:
        schema = onnx.defs.get_schema(conf.op, conf.opset, "")
        names = [f"input_{at}" if at in shapes else "" for at in range(1 + max(shapes, default=-1))]
        outputs = [f"output_{at}" for at in range(max(conf.output + 1, conf.outputs_of_operator, schema.min_output))]
        types, data = _typed(conf, shapes, schema, onnx.helper)
        node = onnx.helper.make_node(conf.op, names, outputs, **_plain(conf))
        imports = [onnx.helper.make_opsetid("", conf.opset)]
        found = inference.infer_node_outputs(schema, node, types, data, opset_imports=imports, ir_version=_IR_VERSION)
    except faults:
        return None
    return _sizes(found.get(outputs[conf.output]))


def _typed(conf: OnnxVertex, shapes: Shapes, schema: Any, helper: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the types of the inputs, and the small constants, by the names of inputs."""
    types, data = {}, {}
    for at, shape in shapes.items():
        name, given = f"input_{at}", conf.constants.get(at)
        kind = _KINDS[_dtype_of(schema, at, "float32" if given is None else given.dtype)]
        types[name] = helper.make_tensor_type_proto(kind, shape)
        if given is not None and given.size <= _MOST_TOLD:
            data[name] = helper.make_tensor(name, kind, shape, _flat(given.values()))
    return types, data


def _dtype_of(schema: Any, position: int, dtype: str) -> str:
    """Return the dtype of an input in the file: a network's numbers stand for whole ones and truths too."""
    types = schema.inputs[min(position, len(schema.inputs) - 1)].types if schema.inputs else ()
    own = "float32" if dtype.startswith("float") or dtype not in _KINDS else dtype
    return next((one for one in (own, *_KINDS) if f"tensor({_NAMES.get(one, one)})" in types), own)


def _flat(values: Any) -> list[Any]:
    return [leaf for one in values for leaf in _flat(one)] if isinstance(values, list) else [values]


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


def elements_told(conf: OnnxVertex, shapes: Shapes) -> int:
    """Return how many elements the operator may make by the numbers that it is given, at most; 0 where these do not."""
    given = [one.values() for one in conf.constants.values() if one is not None and one.size <= _MOST_TOLD]
    sizes = [size for told in (*given, *conf.attributes.values()) for size in _sizes_in(told)]
    if conf.op == "Pad":
        return math.prod(size + sum(sizes) for size in shapes.get(0, ()))
    if conf.op not in _GROWING:
        return 0
    most = max((math.prod(shape) for shape in shapes.values()), default=0)
    for size in sizes:
        most = min(most * max(1, size), _ENDLESS)
    return most


def elements_inside(conf: OnnxVertex, shapes: Shapes) -> int:
    """Return how many elements the largest array has that the operator needs beside its output, about."""
    most = max((math.prod(shape) for shape in shapes.values()), default=0)
    first, second = shapes.get(0, ()), shapes.get(1, ())
    if "pads" in conf.attributes:  # of windows: the padded array is made
        reach = sum(_sizes_in(conf.attributes["pads"]))
        most = max(most, math.prod((*first[:2], *(size + reach for size in first[2:]))))
    if conf.op == "Attention" and len(first) > 2 <= len(second):  # a weight for every pair of places
        heads = math.prod(_sizes_in(conf.attributes.get("q_num_heads", 1)))
        most = max(most, math.prod(first[:-1]) * second[-2] * heads)
    if conf.op == "RoiAlign":
        names = ("output_height", "output_width", "sampling_ratio", "sampling_ratio")
        most *= math.prod(max([1, *_sizes_in(conf.attributes.get(name, 1))]) for name in names)
    return most


def _sizes_in(value: Any) -> list[int]:
    """Return the magnitudes of the numbers in an attribute or a constant."""
    listed = _flat(list(value) if isinstance(value, tuple) else value)
    numbers = [one for one in listed if isinstance(one, (int, float)) and math.isfinite(one)]
    return [min(math.ceil(abs(number)), _ENDLESS) for number in numbers]
