"""Shapes of a model's outputs: what ONNX infers, and what the network knows beside it."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from nd import ConfigurationError

from .draft import is_small

if TYPE_CHECKING:
    from .drawing import Drawing


def tell_shapes(onnx: ModuleType, model: Any, tensors: Sequence[Any], drawing: Drawing) -> None:
    """Write the shapes of the outputs into a model that has no constants yet; ConfigurationError where none fit.

    Parameters
    ----------
    onnx : module
    model : ModelProto
    tensors : sequence of TensorProto
        Its constants.
    drawing : Drawing
        Which knows the types of the outputs, where the network does.
    """
    bare, make = onnx.ModelProto(), onnx.helper.make_tensor_value_info
    bare.CopyFrom(model)
    bare.graph.initializer.extend(filter(is_small, tensors))
    large = (one for one in tensors if not is_small(one))
    bare.graph.input.extend(make(one.name, one.data_type, one.dims) for one in large)
    try:
        inferred = onnx.shape_inference.infer_shapes(bare, strict_mode=True, data_prop=True).graph.output
    except onnx.shape_inference.InferenceError as error:
        said = " ".join(str(error).split())
        raise ConfigurationError(
            f"save: the shapes of all layers must fit on each other, got: {said}. Give other input_types, or mend the "
            "network."
        ) from error
    told = drawing.output_shapes()
    for output, known, sizes in zip(model.graph.output, inferred, told, strict=True):
        kind = known.type.tensor_type
        axes = [_length(axis) for axis in kind.shape.dim] if kind.HasField("shape") else [None] * len(sizes or ())
        beside = sizes or [None] * len(axes)
        shape = [
            one if one is not None else other if other is not None else f"{output.name}_{axis}"
            for axis, (one, other) in enumerate(zip(axes, beside, strict=True))
        ]
        output.CopyFrom(make(output.name, output.type.tensor_type.elem_type, shape))


def _length(axis: Any) -> int | str | None:
    """Return what is inferred of an axis: a length, or a name that an input has; None where it is unknown."""
    if axis.HasField("dim_value"):
        return int(axis.dim_value)
    name = str(axis.dim_param)
    return name if name and not name.startswith("unk__") else None
