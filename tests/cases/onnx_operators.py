"""Operators of ONNX with inputs, to differentiate them: one row or more for every operator that OnnxVertex has."""

from typing import Any, NamedTuple

import numpy as np


class OperatorCase(NamedTuple):
    """An operator, with inputs of these shapes between two numbers, and constants by position."""

    shapes: tuple[tuple[int, ...], ...]
    attributes: dict[str, Any] = {}
    constants: dict[int, Any] = {}
    between: tuple[float, float] = (-2.0, 2.0)
    opset: int = 21
    output: int = 0
    outputs: int = 1

    def inputs(self, seed: int = 7) -> list[np.ndarray]:
        """Return inputs whose numbers differ by much more than a step of a numeric derivative."""
        rng, made = np.random.default_rng(seed), []
        low, high = self.between
        for shape in self.shapes:
            count = int(np.prod(shape))
            steps = (rng.permutation(count) + 0.3 + 0.4 * rng.random(count)) / max(count, 1)
            made.append(low + (high - low) * steps.reshape(shape))
        return made


Case = OperatorCase
ONE = Case(((2, 3),))
TWO = Case(((2, 3), (1, 3)))
POSITIVE = Case(((2, 3),), between=(0.3, 2.0))
INSIDE = Case(((2, 3),), between=(-0.9, 0.9))
IMAGE = Case(((2, 4, 4, 6),))
REDUCED = [Case(((2, 3, 4),), {"keepdims": 0}, {1: [0, 2]}), Case(((2, 3),))]
SERIES = {"hidden_size": 2}

OPERATOR_CASES: dict[str, list[OperatorCase]] = {
    "Abs": [ONE],
    "Acos": [INSIDE],
    "Acosh": [Case(((2, 3),), between=(1.2, 3.0))],
    "Add": [TWO, Case(((3,), (2, 3)))],
    "AffineGrid": [
        Case(((2, 2, 3),), {"align_corners": 1}, {1: [2, 1, 2, 3]}),
        Case(((2, 3, 4),), {}, {1: [2, 1, 2, 3, 2]}),
    ],
    "And": [TWO],
    "ArgMax": [ONE],
    "ArgMin": [ONE],
    "Asin": [INSIDE],
    "Asinh": [ONE],
    "Atan": [ONE],
    "Atanh": [INSIDE],
    "Attention": [
        Case(((2, 2, 3, 4), (2, 1, 5, 4), (2, 1, 5, 3)), {"is_causal": 1, "softcap": 2.0}, opset=24),
        Case(((2, 3, 4), (2, 3, 4), (2, 3, 4)), {"q_num_heads": 2, "kv_num_heads": 2}, {3: [[True, True, False]] * 3}),
    ],
    "AveragePool": [
        Case(((2, 2, 5, 5),), {"kernel_shape": [3, 2], "strides": [2, 2], "ceil_mode": 1, "pads": [1, 0, 1, 1]}),
        Case(((2, 2, 6),), {"kernel_shape": [3], "pads": [1, 1], "count_include_pad": 1}),
    ],
    "BatchNormalization": [Case(((2, 3, 4), (3,), (3,), (3,)), {}, {4: [0.5, 1.0, 2.0]})],
    "Cast": [Case(((2, 3),), {"to": 1})],
    "Ceil": [ONE],
    "Celu": [Case(((2, 3),), {"alpha": 2.0})],
    "CenterCropPad": [Case(((2, 5, 2),), {}, {1: [2, 2, 4]})],
    "Clip": [Case(((2, 3),), {}, {1: -1.0, 2: 1.0}), Case(((2, 3),), {}, {1: None, 2: 0.5})],
    "Col2Im": [Case(((2, 12, 4),), {}, {1: [3, 3], 2: [2, 2]})],
    "Compress": [Case(((3, 2),), {"axis": 0}, {1: [True, False, True]})],
    "Concat": [Case(((2, 3), (2, 1)), {"axis": 1})],
    "Conv": [
        Case(((2, 4, 6), (6, 2, 3), (6,)), {"group": 2, "pads": [1, 2], "strides": [2], "dilations": [2]}),
        Case(((1, 2, 4, 5), (3, 2, 2, 3)), {"auto_pad": "SAME_UPPER"}),
    ],
    "ConvTranspose": [
        Case(((2, 4, 3), (4, 3, 2), (6,)), {"group": 2, "strides": [2], "pads": [1, 0], "output_padding": [1]}),
        Case(((1, 2, 3, 3), (2, 2, 3, 3)), {"strides": [2, 2], "output_shape": [6, 6]}),
    ],
    "Cos": [ONE],
    "Cosh": [ONE],
    "CumProd": [Case(((2, 3),), {"exclusive": 1}, {1: 1}), Case(((3, 2),), {"reverse": 1}, {1: 0})],
    "CumSum": [Case(((2, 3),), {"reverse": 1}, {1: 1}), Case(((2, 3),), {"exclusive": 1}, {1: 1})],
    "DeformConv": [
        Case(
            ((1, 4, 4, 5), (4, 2, 2, 2), (1, 16, 3, 4), (4,), (1, 8, 3, 4)),
            {"group": 2, "offset_group": 2, "pads": [1, 0, 0, 1], "dilations": [2, 2]}, between=(-0.9, 0.9),
        ),
    ],
    "DepthToSpace": [Case(((1, 8, 2, 3),), {"blocksize": 2}), Case(((1, 8, 2, 3),), {"blocksize": 2, "mode": "CRD"})],
    "Det": [Case(((2, 3, 3),))],
    "Div": [Case(((2, 3), (3,)), between=(0.5, 2.0))],
    "Dropout": [ONE],
    "Einsum": [
        Case(((2, 3, 4), (2, 4, 2)), {"equation": "bij, bjk -> bki"}),
        Case(((3, 3),), {"equation": "ii->i"}),
        Case(((2, 3), (3, 4), (4,)), {"equation": "ij,jk,k->i"}),
    ],
    "Elu": [ONE],
    "Equal": [TWO],
    "Erf": [ONE],
    "Exp": [ONE],
    "Expand": [Case(((3, 1),), {}, {1: [2, 1, 4]})],
    "EyeLike": [ONE],
    "Flatten": [Case(((2, 3, 4),), {"axis": 2})],
    "Floor": [ONE],
    "GRU": [
        Case(((3, 2, 4), (2, 6, 4), (2, 6, 2), (2, 12)), {**SERIES, "direction": "bidirectional"}),
        Case(((3, 2, 4), (1, 6, 4), (1, 6, 2), (1, 12), (1, 2, 2)), {**SERIES, "linear_before_reset": 1}, {4: [3, 2]}),
    ],
    "Gather": [Case(((3, 4),), {"axis": 1}, {1: [[0, -1], [2, 0]]})],
    "GatherElements": [Case(((3, 3),), {"axis": 1}, {1: [[0, -1], [2, 0]]})],
    "GatherND": [
        Case(((2, 3, 2),), {"batch_dims": 1}, {1: [[1], [-1]]}),
        Case(((2, 3, 2),), {}, {1: [[1, 2], [0, 2]]}),
    ],
    "Gelu": [ONE, Case(((2, 3),), {"approximate": "tanh"})],
    "Gemm": [Case(((3, 2), (4, 3), (4,)), {"alpha": 0.5, "beta": 2.0, "transA": 1, "transB": 1})],
    "GlobalAveragePool": [IMAGE],
    "GlobalLpPool": [IMAGE, Case(((2, 2, 4),), {"p": 3}, between=(0.5, 2.0))],
    "GlobalMaxPool": [IMAGE],
    "Greater": [TWO],
    "GreaterOrEqual": [TWO],
    "GridSample": [
        Case(((2, 2, 4, 5), (2, 3, 2, 2)), {"align_corners": 1}, between=(-0.8, 0.8)),
        Case(((1, 2, 4, 5), (1, 2, 2, 2)), {"mode": "cubic", "padding_mode": "border"}, between=(-0.8, 0.8)),
        Case(((1, 1, 4, 5), (1, 2, 2, 2)), {"padding_mode": "reflection"}, between=(-1.3, 1.3)),
    ],
    "GroupNormalization": [Case(((2, 4, 3), (4,), (4,)), {"num_groups": 2})],
    "HardSigmoid": [ONE],
    "HardSwish": [ONE],
    "Hardmax": [ONE],
    "Identity": [ONE],
    "InstanceNormalization": [Case(((2, 3, 4), (3,), (3,)))],
    "IsInf": [ONE],
    "IsNaN": [ONE],
    "LRN": [Case(((2, 5, 3, 1),), {"size": 3, "alpha": 0.5})],
    "LSTM": [
        Case(
            ((3, 2, 4), (2, 8, 4), (2, 8, 2), (2, 16), (2, 2, 2), (2, 2, 2), (2, 6)),
            {**SERIES, "direction": "bidirectional"}, {4: [3, 2]},
        ),
        Case(((3, 2, 4), (1, 8, 4), (1, 8, 2)), {**SERIES, "input_forget": 1, "clip": 0.7}, output=2),
        Case(((2, 3, 4), (1, 8, 4), (1, 8, 2)), {**SERIES, "layout": 1}, output=1),
    ],
    "LayerNormalization": [Case(((2, 3, 4), (3, 4), (3, 4)), {"axis": 1})],
    "LeakyRelu": [ONE],
    "Less": [TWO],
    "LessOrEqual": [TWO],
    "Log": [POSITIVE],
    "LogSoftmax": [ONE],
    "LpNormalization": [ONE, Case(((2, 3),), {"p": 1, "axis": 0})],
    "LpPool": [Case(((2, 2, 5),), {"kernel_shape": [2], "p": 3}, between=(0.5, 2.0))],
    "MatMul": [Case(((2, 1, 3, 4), (2, 4, 2))), Case(((3,), (2, 3, 4))), Case(((2, 3), (3,)))],
    "Max": [Case(((2, 3), (3,), (2, 3)))],
    "MaxPool": [
        Case(((2, 2, 5, 6),), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "dilations": [1, 2]}),
    ],
    "MaxUnpool": [Case(((1, 1, 2, 2),), {"kernel_shape": [2, 2], "strides": [2, 2]}, {1: [[[[1, 3], [4, 14]]]]})],
    "Mean": [TWO],
    "MeanVarianceNormalization": [IMAGE],
    "Min": [TWO],
    "Mish": [ONE],
    "Mod": [Case(((2, 3),), {"fmod": 1}, {1: 0.7}), Case(((2, 3),), {}, {1: 0.7})],
    "Mul": [TWO],
    "Neg": [ONE],
    "NegativeLogLikelihoodLoss": [Case(((2, 3, 2), (3,)), {"ignore_index": 0}, {1: [[0, 2], [1, 1]]})],
    "Not": [ONE],
    "OneHot": [Case(((2,),), {}, {0: [0, 2], 1: 3})],
    "Or": [TWO],
    "PRelu": [TWO],
    "Pad": [
        Case(((2, 3),), {}, {1: [1, -1, 0, 2], 2: 0.5}),
        Case(((2, 3),), {"mode": "reflect"}, {1: [1, 2, 0, 2]}),
        Case(((2, 3),), {"mode": "edge"}, {1: [2, 2], 2: None, 3: [1]}),
        Case(((2, 3),), {"mode": "wrap"}, {1: [0, 2, 0, 2]}),
    ],
    "Pow": [Case(((2, 3), (3,)), between=(0.5, 2.0)), Case(((2, 3),), {}, {1: 2.0}), Case(((2, 3),), {}, {1: 3})],
    "RMSNormalization": [Case(((2, 3, 4), (4,)), opset=23)],
    "RNN": [
        Case(
            ((3, 2, 4), (2, 2, 4), (2, 2, 2), (2, 4)),
            {
                **SERIES, "direction": "bidirectional", "activations": ["Affine", "HardSigmoid"],
                "activation_alpha": [0.5, 0.1], "activation_beta": [0.1, 0.4],
            },
        ),
        Case(((3, 2, 4), (1, 2, 4), (1, 2, 2)), {**SERIES, "direction": "reverse", "activations": ["Softsign"]}),
    ],
    "Reciprocal": [POSITIVE],
    "ReduceL1": REDUCED,
    "ReduceL2": REDUCED,
    "ReduceLogSum": [case._replace(between=(0.5, 2.0)) for case in REDUCED],
    "ReduceLogSumExp": REDUCED,
    "ReduceMax": REDUCED,
    "ReduceMean": REDUCED,
    "ReduceMin": REDUCED,
    "ReduceProd": REDUCED,
    "ReduceSum": [*REDUCED, Case(((2, 3),), {"noop_with_empty_axes": 1})],
    "ReduceSumSquare": REDUCED,
    "Relu": [ONE],
    "Reshape": [Case(((2, 3, 4),), {}, {1: [0, -1]})],
    "Resize": [
        Case(((1, 2, 3, 4),), {"mode": "linear"}, {1: None, 2: [1.0, 1.0, 2.0, 0.6]}),
        Case(((1, 1, 4, 5),), {"mode": "cubic", "exclude_outside": 1}, {1: None, 2: None, 3: [1, 1, 6, 3]}),
        Case(((1, 1, 4, 5),), {"mode": "nearest", "axes": [2]}, {1: None, 2: None, 3: [7]}),
    ],
    "ReverseSequence": [Case(((3, 2, 2),), {}, {1: [3, 2]})],
    "RoiAlign": [
        Case(
            ((2, 2, 6, 7), (2, 4)), {"output_height": 2, "output_width": 3, "sampling_ratio": 2, "spatial_scale": 2.0},
            {2: [1, 0]}, between=(0.4, 2.4),
        ),
        Case(((1, 2, 6, 7), (2, 4)), {"output_height": 2, "sampling_ratio": 1}, {2: [0, 0]}, (0.4, 4.4), opset=11),
    ],
    "RotaryEmbedding": [
        Case(((1, 2, 3, 4), (1, 3, 2), (1, 3, 2)), {"interleaved": 1}, opset=23),
        Case(((1, 3, 8), (5, 1), (5, 1)), {"num_heads": 2, "rotary_embedding_dim": 2}, {3: [[0, 4, 2]]}, opset=23),
    ],
    "Round": [ONE],
    "Scatter": [Case(((3, 3), (1, 2)), {"axis": 1}, {1: [[0, -1]]}, opset=10)],
    "ScatterElements": [
        Case(((3, 3), (2, 2)), {"axis": 0, "reduction": "add"}, {1: [[0, 1], [2, 1]]}),
        Case(((3, 3), (2, 2)), {"axis": 0, "reduction": "mul"}, {1: [[0, 1], [0, 1]]}),
        Case(((3, 3), (2, 2)), {"axis": 0, "reduction": "max"}, {1: [[0, 1], [0, 1]]}),
    ],
    "ScatterND": [
        Case(((3, 2), (2, 2)), {}, {1: [[2], [0]]}),
        Case(((3, 2), (2,)), {"reduction": "min"}, {1: [[2, 1], [0, 0]]}),
    ],
    "Selu": [ONE],
    "Shape": [ONE],
    "Shrink": [Case(((2, 3),), {"lambd": 0.5, "bias": 0.2})],
    "Sigmoid": [ONE],
    "Sign": [ONE],
    "Sin": [ONE],
    "Sinh": [ONE],
    "Size": [ONE],
    "Slice": [
        Case(((4, 5),), {}, {1: [3, 0], 2: [-10, -1], 3: [0, 1], 4: [-2, 2]}),
        Case(((4, 5),), {}, {1: [1], 2: [9]}),
    ],
    "Softmax": [Case(((2, 3, 4),), {"axis": 1}), Case(((2, 3, 4),), {"axis": 1}, opset=11)],
    "SoftmaxCrossEntropyLoss": [
        Case(((2, 3),), {}, {1: [0, 2]}),
        Case(((2, 3, 2), (3,)), {"reduction": "sum"}, {1: [[0, 2], [1, 1]]}),
    ],
    "Softplus": [ONE],
    "Softsign": [ONE],
    "SpaceToDepth": [Case(((1, 2, 4, 6),), {"blocksize": 2})],
    "Split": [Case(((2, 5),), {"axis": 1, "num_outputs": 2}, output=1, outputs=2)],
    "Sqrt": [POSITIVE],
    "Squeeze": [Case(((1, 3, 1),), {}, {1: [0]})],
    "Sub": [TWO],
    "Sum": [Case(((2, 3), (3,), (2, 1)))],
    "SwiGLU": [Case(((2, 3), (2, 3)), {"alpha": 1.5}, opset=25)],
    "Swish": [Case(((2, 3),), {"alpha": 1.5}, opset=24)],
    "Tan": [INSIDE],
    "Tanh": [ONE],
    "ThresholdedRelu": [ONE],
    "Tile": [Case(((2, 3),), {}, {1: [2, 3]})],
    "TopK": [Case(((3, 4),), {"axis": 0}, {1: [2]})],
    "Transpose": [Case(((2, 3, 4),), {"perm": [1, 2, 0]}), Case(((2, 3),))],
    "Trilu": [Case(((2, 3, 3),), {"upper": 0}, {1: 1}), Case(((3, 3),))],
    "Unsqueeze": [Case(((2, 3),), {}, {1: [0, -1]})],
    "Upsample": [Case(((1, 2, 2, 3),), {"mode": "linear"}, {1: [1.0, 1.0, 2.0, 2.0]}, opset=9)],
    "Where": [Case(((2, 3), (3,)), {}, {0: [[True, False, True], [False, True, True]]})],
    "Xor": [TWO],
}  # fmt: skip
"""Operator -> rows, sorted. A sum of outputs' numbers is differentiable where the operator is."""
