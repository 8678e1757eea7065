"""The table of operators: where each is computed, and what holds for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import NamedTuple

import nd
from nd.checks import describe_shape

from .call import Call
from .values import Value


class Operator(NamedTuple):
    """What holds for an operator."""

    function: str
    """Module and function; of a function of one number "elements:unary" and its name."""
    constants: tuple[int, ...] = ()
    """Positions of inputs that must be constants."""
    splits: int = 0
    """Number of its arrays, where it is a function of their elements: with one that is no constant it is computed in
    parts."""
    differentiable: bool = True
    """Whether a gradient goes back through it; else zeros do."""


def _unary(name: str, differentiable: bool = True) -> Operator:
    return Operator(f"elements:unary:{name}", splits=1, differentiable=differentiable)


def _reduction(name: str) -> Operator:
    return Operator(f"reductions:reduction:{name}", constants=(1,))


OPERATORS: dict[str, Operator] = {
    "Abs": _unary("absolute"),
    "Acos": _unary("acos"),
    "Acosh": _unary("acosh"),
    "Add": Operator("elements:add", splits=2),
    "AffineGrid": Operator("grids:affine_grid", constants=(1,)),
    "And": Operator("comparisons:both", splits=2, differentiable=False),
    "ArgMax": Operator("indexing:arg_max", differentiable=False),
    "ArgMin": Operator("indexing:arg_min", differentiable=False),
    "Asin": _unary("asin"),
    "Asinh": _unary("asinh"),
    "Atan": _unary("atan"),
    "Atanh": _unary("atanh"),
    "Attention": Operator("attention:attention"),
    "AveragePool": Operator("poolings:average_pool"),
    "BatchNormalization": Operator("normalizations:batch_normalization"),
    "Cast": Operator("comparisons:cast", splits=1),
    "Ceil": _unary("ceil", False),
    "Celu": Operator("elements:celu", splits=1),
    "CenterCropPad": Operator("shapes:center_crop_pad", constants=(1,)),
    "Clip": Operator("elements:clip", splits=3),
    "Col2Im": Operator("convolutions:col2im", constants=(1, 2)),
    "Compress": Operator("shapes:compress", constants=(1,)),
    "Concat": Operator("shapes:concat"),
    "Conv": Operator("convolutions:conv"),
    "ConvTranspose": Operator("convolutions:conv_transpose"),
    "Cos": _unary("cos"),
    "Cosh": _unary("cosh"),
    "CumProd": Operator("reductions:cum_prod", constants=(1,)),
    "CumSum": Operator("reductions:cum_sum", constants=(1,)),
    "DeformConv": Operator("convolutions:deform_conv"),
    "DepthToSpace": Operator("shapes:depth_to_space"),
    "Det": Operator("products:det"),
    "Div": Operator("elements:div", splits=2),
    "Dropout": Operator("elements:dropout", constants=(1, 2), splits=1),
    "Einsum": Operator("products:einsum"),
    "Elu": Operator("elements:elu", splits=1),
    "Equal": Operator("comparisons:equal", splits=2, differentiable=False),
    "Erf": _unary("erf"),
    "Exp": _unary("exp"),
    "Expand": Operator("shapes:expand", constants=(1,)),
    "EyeLike": Operator("shapes:eye_like", differentiable=False),
    "Flatten": Operator("shapes:flatten"),
    "Floor": _unary("floor", False),
    "GRU": Operator("recurrent:gru"),
    "Gather": Operator("indexing:gather"),
    "GatherElements": Operator("indexing:gather_elements"),
    "GatherND": Operator("indexing:gather_nd"),
    "Gelu": Operator("elements:gelu", splits=1),
    "Gemm": Operator("products:gemm"),
    "GlobalAveragePool": Operator("poolings:global_average_pool"),
    "GlobalLpPool": Operator("poolings:global_lp_pool"),
    "GlobalMaxPool": Operator("poolings:global_max_pool"),
    "Greater": Operator("comparisons:greater", splits=2, differentiable=False),
    "GreaterOrEqual": Operator("comparisons:greater_or_equal", splits=2, differentiable=False),
    "GridSample": Operator("grids:grid_sample"),
    "GroupNormalization": Operator("normalizations:group_normalization"),
    "HardSigmoid": Operator("elements:hard_sigmoid", splits=1),
    "HardSwish": Operator("elements:hard_swish", splits=1),
    "Hardmax": Operator("indexing:hardmax", differentiable=False),
    "Identity": Operator("elements:identity", splits=1),
    "InstanceNormalization": Operator("normalizations:instance_normalization"),
    "IsInf": Operator("comparisons:is_inf", splits=1, differentiable=False),
    "IsNaN": Operator("comparisons:is_nan", splits=1, differentiable=False),
    "LRN": Operator("normalizations:lrn"),
    "LSTM": Operator("recurrent:lstm"),
    "LayerNormalization": Operator("normalizations:layer_normalization"),
    "LeakyRelu": Operator("elements:leaky_relu", splits=1),
    "Less": Operator("comparisons:less", splits=2, differentiable=False),
    "LessOrEqual": Operator("comparisons:less_or_equal", splits=2, differentiable=False),
    "Log": _unary("log"),
    "LogSoftmax": Operator("reductions:log_softmax"),
    "LpNormalization": Operator("normalizations:lp_normalization"),
    "LpPool": Operator("poolings:lp_pool"),
    "MatMul": Operator("products:matmul"),
    "Max": Operator("elements:max_of", splits=2),
    "MaxPool": Operator("poolings:max_pool"),
    "MaxUnpool": Operator("poolings:max_unpool", constants=(2,)),
    "Mean": Operator("elements:mean_of", splits=2),
    "MeanVarianceNormalization": Operator("normalizations:mean_variance_normalization"),
    "Min": Operator("elements:min_of", splits=2),
    "Mish": Operator("elements:mish", splits=1),
    "Mod": Operator("elements:mod", splits=2),
    "Mul": Operator("elements:mul", splits=2),
    "Neg": Operator("elements:neg", splits=1),
    "NegativeLogLikelihoodLoss": Operator("normalizations:negative_log_likelihood"),
    "Not": Operator("comparisons:opposite", splits=1, differentiable=False),
    "OneHot": Operator("indexing:one_hot", constants=(1,)),
    "Or": Operator("comparisons:either", splits=2, differentiable=False),
    "PRelu": Operator("elements:prelu", splits=2),
    "Pad": Operator("shapes:pad", constants=(1, 2, 3)),
    "Pow": Operator("elements:pow", splits=2),
    "RMSNormalization": Operator("normalizations:rms_normalization"),
    "RNN": Operator("recurrent:rnn"),
    "Reciprocal": Operator("elements:reciprocal", splits=1),
    "ReduceL1": _reduction("l1"),
    "ReduceL2": _reduction("l2"),
    "ReduceLogSum": _reduction("log_sum"),
    "ReduceLogSumExp": _reduction("log_sum_exp"),
    "ReduceMax": _reduction("max"),
    "ReduceMean": _reduction("mean"),
    "ReduceMin": _reduction("min"),
    "ReduceProd": _reduction("prod"),
    "ReduceSum": _reduction("sum"),
    "ReduceSumSquare": _reduction("sum_square"),
    "Relu": _unary("relu"),
    "Reshape": Operator("shapes:reshape", constants=(1,)),
    "Resize": Operator("resizing:resize", constants=(1, 2, 3)),
    "ReverseSequence": Operator("shapes:reverse_sequence", constants=(1,)),
    "RoiAlign": Operator("grids:roi_align"),
    "RotaryEmbedding": Operator("attention:rotary_embedding"),
    "Round": _unary("rounded", False),
    "Scatter": Operator("indexing:scatter_elements"),
    "ScatterElements": Operator("indexing:scatter_elements"),
    "ScatterND": Operator("indexing:scatter_nd"),
    "Selu": Operator("elements:selu", splits=1),
    "Shape": Operator("shapes:shape_of", differentiable=False),
    "Shrink": Operator("elements:shrink", splits=1),
    "Sigmoid": _unary("sigmoid"),
    "Sign": _unary("sign", False),
    "Sin": _unary("sin"),
    "Sinh": _unary("sinh"),
    "Size": Operator("shapes:size_of", differentiable=False),
    "Slice": Operator("shapes:slice_of", constants=(1, 2, 3, 4)),
    "Softmax": Operator("reductions:softmax"),
    "SoftmaxCrossEntropyLoss": Operator("normalizations:softmax_cross_entropy"),
    "Softplus": Operator("elements:softplus", splits=1),
    "Softsign": Operator("elements:softsign", splits=1),
    "SpaceToDepth": Operator("shapes:space_to_depth"),
    "Split": Operator("shapes:split", constants=(1,)),
    "Sqrt": _unary("sqrt"),
    "Squeeze": Operator("shapes:squeeze", constants=(1,)),
    "Sub": Operator("elements:sub", splits=2),
    "Sum": Operator("elements:sum_of", splits=2),
    "SwiGLU": Operator("elements:swi_glu"),
    "Swish": Operator("elements:swish", splits=1),
    "Tan": _unary("tan"),
    "Tanh": _unary("tanh"),
    "ThresholdedRelu": Operator("elements:thresholded_relu", splits=1),
    "Tile": Operator("shapes:tile", constants=(1,)),
    "TopK": Operator("indexing:top_k", constants=(1,)),
    "Transpose": Operator("shapes:transpose"),
    "Trilu": Operator("shapes:trilu", constants=(1,)),
    "Unsqueeze": Operator("shapes:unsqueeze", constants=(1,)),
    "Upsample": Operator("resizing:resize", constants=(1,)),
    "Where": Operator("comparisons:where", splits=3),
    "Xor": Operator("comparisons:one_of_both", splits=2, differentiable=False),
}
"""Name in ONNX's own domain -> operator, sorted."""


@cache
def operator_function(op: str) -> Callable[[Call], Value | Sequence[Value]]:
    """Return the function of an operator that is in the table."""
    module, name, *arguments = OPERATORS[op].function.split(":")
    function: Callable[..., Value | Sequence[Value]] = getattr(import_module(f".{module}", __package__), name)
    return function(*arguments) if arguments else function  # type: ignore[return-value]


def computed(call: Call, output: int) -> Value:
    """Return one of the operator's outputs.

    Raises
    ------
    ConfigurationError, ShapeError
        Inputs, attributes and constants do not fit the operator, or one another.
    """
    try:
        results = operator_function(call.op)(call)
        return results if isinstance(results, Value) else results[output]
    except nd.NdError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # of the backend's library, or of counting
        shapes = ", ".join(describe_shape(call[place].shape) for place in range(call.count) if call.has(place))
        raise nd.ShapeError(
            f"{call.label}: {call.op} must have inputs that fit its attributes and one another, got {shapes} with "
            f"{dict(call.attributes)}: {error}. Mend the file, or the shapes of what goes in."
        ) from error
