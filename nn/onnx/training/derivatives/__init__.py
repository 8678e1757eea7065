"""Derivatives of operators: one function for an operator, a file for a family.

Each takes a `NodeBack` and returns dL/d(input) for every input of the node, None where it is not needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from ...out.node_draft import NotInOnnx

DERIVATIVES: Mapping[str, str] = {
    "Abs": "arithmetic:absolute",
    "Add": "arithmetic:add",
    "AveragePool": "pooling:average_pool",
    "BatchNormalization": "arithmetic:batch_normalization",
    "Cast": "shapes:identity",
    "Clip": "arithmetic:clip",
    "Concat": "shapes:concat",
    "Conv": "convolution:conv",
    "ConvTranspose": "convolution:conv_transpose",
    "Div": "arithmetic:divide",
    "Erf": "arithmetic:error_function",
    "Exp": "arithmetic:exponential",
    "Expand": "shapes:expand",
    "Flatten": "shapes:reshape",
    "Gather": "shapes:gather",
    "Gemm": "products:gemm",
    "GlobalAveragePool": "pooling:global_average_pool",
    "GlobalMaxPool": "pooling:global_max_pool",
    "Identity": "shapes:identity",
    "LRN": "pooling:local_response",
    "Log": "arithmetic:logarithm",
    "MatMul": "products:matmul",
    "Max": "arithmetic:maximum",
    "MaxPool": "pooling:max_pool",
    "Mul": "arithmetic:multiply",
    "Neg": "arithmetic:negate",
    "PRelu": "arithmetic:prelu",
    "Pad": "shapes:pad",
    "Pow": "arithmetic:power",
    "ReduceL2": "reductions:norm",
    "ReduceMax": "pooling:reduce_max",
    "ReduceMean": "reductions:mean",
    "ReduceSum": "reductions:total",
    "Relu": "arithmetic:relu",
    "Reshape": "shapes:reshape",
    "Resize": "pooling:resize",
    "Sigmoid": "arithmetic:sigmoid",
    "Slice": "shapes:cut",
    "Softmax": "reductions:softmax",
    "SpaceToDepth": "shapes:space_to_depth",
    "Split": "shapes:split",
    "Sqrt": "arithmetic:root",
    "Squeeze": "shapes:reshape",
    "Sub": "arithmetic:subtract",
    "Sum": "arithmetic:add",
    "Tanh": "arithmetic:tanh",
    "Transpose": "shapes:transpose",
    "Unsqueeze": "shapes:reshape",
    "Where": "arithmetic:where",
}
"""Operator -> module and function, sorted."""
STOPS = frozenset(
    {
        "ArgMax", "Ceil", "ConstantOfShape", "Equal", "Floor", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
        "Not", "Shape", "Sign", "Size",
    }
)  # fmt: skip
"""Operators whose outputs do not change a little when their inputs do."""


def derivative_of(op: str) -> Callable[[Any], list[Any]]:
    """Return the derivative of an operator; raise NotInOnnx where there is none."""
    if op not in DERIVATIVES:
        raise NotInOnnx(f"the operator {op} has no derivative here")
    module, name = DERIVATIVES[op].split(":")
    function: Callable[[Any], list[Any]] = getattr(import_module(f".{module}", __name__), name)
    return function
