"""What ONNX's own node cases ask for that OnnxVertex declines, and why."""

DECLINED_OPERATORS = {
    "bits of whole numbers": "BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor",
    "complex numbers": "DFT STFT",
    "control flow": "If Loop Scan",
    "nothing but constants goes in": (
        "BlackmanWindow Constant ConstantOfShape HammingWindow HannWindow MelWeightMatrix Range"
    ),
    "pictures in files": "ImageDecoder",
    "quantised numbers": (
        "ConvInteger DequantizeLinear DynamicQuantizeLinear MatMulInteger QLinearConv QLinearMatMul QuantizeLinear"
    ),
    "random numbers": "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike",
    "sequences and optional values": (
        "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty "
        "SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence"
    ),
    "strings": "RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer",
    "the result's shape depends on numbers": "NonMaxSuppression NonZero Unique",
    "the kind of number is that of another input": "CastLike",
    "without a counterpart so far": (
        "CausalConvWithState LinearAttention MaxRoiPool TensorScatter"
    ),
}  # fmt: skip
"""Reason -> operators of ONNX's own domain, sorted."""
DECLINED_KINDS = {
    "an operator of another domain": "domain",
    "arrays without numbers": "empty",
    "corners of regions: RoiAlign with the mode max": "corners",
    "kinds of numbers that networks have not: strings, sequences, bfloat16, 8 bits and fewer": "kinds",
    "the result rounds to 16 bits, or in between": "half",
    "training: statistics or draws of the minibatch": "training",
    "whole numbers: their quotients are rounded": "quotients",
}
"""Reason -> what `tests.nn.onnx.vertices.test_node_cases` calls it, sorted."""
ROUNDED_IN_BETWEEN = {"test_attention_4d_gqa_with_past_and_present_fp16"}
"""Cases whose expected result was computed in float16 and is a last place of that away."""


def declined_operators():
    """Return operator -> reason."""
    return {op: reason for reason, ops in DECLINED_OPERATORS.items() for op in ops.split()}
