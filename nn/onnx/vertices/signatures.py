"""What operators take and give in any opset: numbers of inputs and outputs, and names of attributes."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from nd import ConfigurationError
from nd.checks import suggestion


class Signature(NamedTuple):
    """What an operator may have.

    Notes
    -----
    Source: ONNX operators, ai.onnx, of all opsets together.
    """

    inputs: int | None
    """The most; None for any number."""
    outputs: int | None = 1
    """The most; None for any number."""
    attributes: str = ""
    """Names, with blanks between."""


SIGNATURES: dict[str, Signature] = {
    "Abs": Signature(1, 1, "consumed_inputs"),
    "Acos": Signature(1),
    "Acosh": Signature(1),
    "Add": Signature(2, 1, "axis broadcast consumed_inputs"),
    "AffineGrid": Signature(2, 1, "align_corners"),
    "And": Signature(2, 1, "axis broadcast"),
    "ArgMax": Signature(1, 1, "axis keepdims select_last_index"),
    "ArgMin": Signature(1, 1, "axis keepdims select_last_index"),
    "Asin": Signature(1),
    "Asinh": Signature(1),
    "Atan": Signature(1),
    "Atanh": Signature(1),
    "Attention": Signature(
        7,
        4,
        "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size "
        "scale softcap softmax_precision",
    ),
    "AveragePool": Signature(1, 1, "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"),
    "BatchNormalization": Signature(5, 5, "consumed_inputs epsilon is_test momentum spatial training_mode"),
    "Cast": Signature(1, 1, "round_mode saturate to"),
    "Ceil": Signature(1, 1, "consumed_inputs"),
    "Celu": Signature(1, 1, "alpha"),
    "CenterCropPad": Signature(2, 1, "axes"),
    "Clip": Signature(3, 1, "consumed_inputs max min"),
    "Col2Im": Signature(3, 1, "dilations pads strides"),
    "Compress": Signature(2, 1, "axis"),
    "Concat": Signature(None, 1, "axis"),
    "Conv": Signature(3, 1, "auto_pad dilations group kernel_shape pads strides"),
    "ConvTranspose": Signature(3, 1, "auto_pad dilations group kernel_shape output_padding output_shape pads strides"),
    "Cos": Signature(1),
    "Cosh": Signature(1),
    "CumProd": Signature(2, 1, "exclusive reverse"),
    "CumSum": Signature(2, 1, "exclusive reverse"),
    "DeformConv": Signature(5, 1, "dilations group kernel_shape offset_group pads strides"),
    "DepthToSpace": Signature(1, 1, "blocksize mode"),
    "Det": Signature(1),
    "Div": Signature(2, 1, "axis broadcast consumed_inputs"),
    "Dropout": Signature(3, 2, "consumed_inputs is_test ratio seed"),
    "Einsum": Signature(None, 1, "equation"),
    "Elu": Signature(1, 1, "alpha consumed_inputs"),
    "Equal": Signature(2, 1, "axis broadcast"),
    "Erf": Signature(1),
    "Exp": Signature(1, 1, "consumed_inputs"),
    "Expand": Signature(2),
    "EyeLike": Signature(1, 1, "dtype k"),
    "Flatten": Signature(1, 1, "axis"),
    "Floor": Signature(1, 1, "consumed_inputs"),
    "GRU": Signature(
        6,
        2,
        "activation_alpha activation_beta activations clip direction hidden_size layout "
        "linear_before_reset output_sequence",
    ),
    "Gather": Signature(2, 1, "axis"),
    "GatherElements": Signature(2, 1, "axis"),
    "GatherND": Signature(2, 1, "batch_dims"),
    "Gelu": Signature(1, 1, "approximate"),
    "Gemm": Signature(3, 1, "alpha beta broadcast transA transB"),
    "GlobalAveragePool": Signature(1),
    "GlobalLpPool": Signature(1, 1, "p"),
    "GlobalMaxPool": Signature(1),
    "Greater": Signature(2, 1, "axis broadcast"),
    "GreaterOrEqual": Signature(2),
    "GridSample": Signature(2, 1, "align_corners mode padding_mode"),
    "GroupNormalization": Signature(3, 1, "epsilon num_groups stash_type"),
    "HardSigmoid": Signature(1, 1, "alpha beta consumed_inputs"),
    "HardSwish": Signature(1),
    "Hardmax": Signature(1, 1, "axis"),
    "Identity": Signature(1),
    "InstanceNormalization": Signature(3, 1, "consumed_inputs epsilon"),
    "IsInf": Signature(1, 1, "detect_negative detect_positive"),
    "IsNaN": Signature(1),
    "LRN": Signature(1, 1, "alpha beta bias size"),
    "LSTM": Signature(
        8,
        3,
        "activation_alpha activation_beta activations clip direction hidden_size input_forget layout output_sequence",
    ),
    "LayerNormalization": Signature(3, 3, "axis epsilon stash_type"),
    "LeakyRelu": Signature(1, 1, "alpha consumed_inputs"),
    "Less": Signature(2, 1, "axis broadcast"),
    "LessOrEqual": Signature(2),
    "Log": Signature(1, 1, "consumed_inputs"),
    "LogSoftmax": Signature(1, 1, "axis"),
    "LpNormalization": Signature(1, 1, "axis p"),
    "LpPool": Signature(1, 1, "auto_pad ceil_mode dilations kernel_shape p pads strides"),
    "MatMul": Signature(2),
    "Max": Signature(None, 1, "consumed_inputs"),
    "MaxPool": Signature(1, 2, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"),
    "MaxUnpool": Signature(3, 1, "kernel_shape pads strides"),
    "Mean": Signature(None, 1, "consumed_inputs"),
    "MeanVarianceNormalization": Signature(1, 1, "axes"),
    "Min": Signature(None, 1, "consumed_inputs"),
    "Mish": Signature(1),
    "Mod": Signature(2, 1, "fmod"),
    "Mul": Signature(2, 1, "axis broadcast consumed_inputs"),
    "Neg": Signature(1, 1, "consumed_inputs"),
    "NegativeLogLikelihoodLoss": Signature(3, 1, "ignore_index reduction"),
    "Not": Signature(1),
    "OneHot": Signature(3, 1, "axis"),
    "Or": Signature(2, 1, "axis broadcast"),
    "PRelu": Signature(2, 1, "consumed_inputs"),
    "Pad": Signature(4, 1, "mode paddings pads value"),
    "Pow": Signature(2, 1, "axis broadcast"),
    "RMSNormalization": Signature(2, 1, "axis epsilon stash_type"),
    "RNN": Signature(
        6,
        2,
        "activation_alpha activation_beta activations clip direction hidden_size layout output_sequence",
    ),
    "Reciprocal": Signature(1, 1, "consumed_inputs"),
    "ReduceL1": Signature(2, 1, "axes keepdims noop_with_empty_axes"),
    "ReduceL2": Signature(2, 1, "axes keepdims noop_with_empty_axes"),
    "ReduceLogSum": Signature(2, 1, "axes keepdims noop_with_empty_axes"),
    "ReduceLogSumExp": Signature(2, 1, "axes keepdims noop_with_empty_axes"),
    "ReduceMax": Signature(2, 1, "axes keepdims noop_with_empty_axes"),
    "ReduceMean": Signature(2, 1, "axes keepdims noop_with_empty_axes"),
    "ReduceMin": Signature(2, 1, "axes keepdims noop_with_empty_axes"),
    "ReduceProd": Signature(2, 1, "axes keepdims noop_with_empty_axes"),
    "ReduceSum": Signature(2, 1, "axes keepdims noop_with_empty_axes"),
    "ReduceSumSquare": Signature(2, 1, "axes keepdims noop_with_empty_axes"),
    "Relu": Signature(1, 1, "consumed_inputs"),
    "Reshape": Signature(2, 1, "allowzero consumed_inputs shape"),
    "Resize": Signature(
        4,
        1,
        "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value "
        "keep_aspect_ratio_policy mode nearest_mode",
    ),
    "ReverseSequence": Signature(2, 1, "batch_axis time_axis"),
    "RoiAlign": Signature(
        3,
        1,
        "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale",
    ),
    "RotaryEmbedding": Signature(4, 1, "interleaved num_heads rotary_embedding_dim"),
    "Round": Signature(1),
    "Scatter": Signature(3, 1, "axis"),
    "ScatterElements": Signature(3, 1, "axis reduction"),
    "ScatterND": Signature(3, 1, "reduction"),
    "Selu": Signature(1, 1, "alpha consumed_inputs gamma"),
    "Shape": Signature(1, 1, "end start"),
    "Shrink": Signature(1, 1, "bias lambd"),
    "Sigmoid": Signature(1, 1, "consumed_inputs"),
    "Sign": Signature(1),
    "Sin": Signature(1),
    "Sinh": Signature(1),
    "Size": Signature(1),
    "Slice": Signature(5, 1, "axes ends starts"),
    "Softmax": Signature(1, 1, "axis"),
    "SoftmaxCrossEntropyLoss": Signature(3, 2, "ignore_index reduction"),
    "Softplus": Signature(1),
    "Softsign": Signature(1),
    "SpaceToDepth": Signature(1, 1, "blocksize mode"),
    "Split": Signature(2, None, "axis num_outputs split"),
    "Sqrt": Signature(1, 1, "consumed_inputs"),
    "Squeeze": Signature(2, 1, "axes"),
    "Sub": Signature(2, 1, "axis broadcast consumed_inputs"),
    "Sum": Signature(None, 1, "consumed_inputs"),
    "SwiGLU": Signature(2, 1, "alpha"),
    "Swish": Signature(1, 1, "alpha"),
    "Tan": Signature(1),
    "Tanh": Signature(1, 1, "consumed_inputs"),
    "ThresholdedRelu": Signature(1, 1, "alpha"),
    "Tile": Signature(3),
    "TopK": Signature(2, 2, "axis k largest sorted"),
    "Transpose": Signature(1, 1, "perm"),
    "Trilu": Signature(2, 1, "upper"),
    "Unsqueeze": Signature(2, 1, "axes"),
    "Upsample": Signature(2, 1, "height_scale mode scales width_scale"),
    "Where": Signature(3),
    "Xor": Signature(2, 1, "axis broadcast"),
}
"""Operator that an OnnxVertex computes -> what it may have, sorted."""


def check_signature(op: str, attributes: Collection[str], constants: Collection[int], output: int) -> None:
    """Raise ConfigurationError where an operator has no such attribute, constant or output in any opset."""
    inputs, outputs, names = SIGNATURES[op]
    for name in attributes:
        if name not in names.split():
            known = f"one of {', '.join(names.split())}" if names else "none, as it has none"
            raise ConfigurationError(
                f"OnnxVertex {op}: an attribute must be {known}, got {name!r}."
                f"{suggestion('attribute', name, names.split())} Mend or leave it out."
            )
    for position in constants:
        if position < 0 or (inputs is not None and position >= inputs):
            most = "or more" if inputs is None else f"to {inputs - 1}"
            raise ConfigurationError(
                f"OnnxVertex {op}: constants must be at positions 0 {most}, got one at {position}. Mend the position."
            )
    if output < 0 or (outputs is not None and output >= outputs):
        most = "or more" if outputs is None else f"to {outputs - 1}"
        raise ConfigurationError(f"OnnxVertex {op}: output must be 0 {most}, got {output}. Mend it.")


def check_count(label: str, op: str, count: int) -> None:
    """Raise ConfigurationError where an operator has more inputs, constants among them, than it may."""
    inputs = SIGNATURES[op].inputs
    if inputs is not None and count > inputs:
        raise ConfigurationError(f"{label}: {op} must have {inputs} input(s) at most, got {count}. Take some away.")
