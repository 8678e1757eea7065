"""Where the parameters of every Deeplearning4j layer lie, from its JSON alone: also of layers that cannot run here.

One function for each family, from a layer's fields in 1.0's form to its parameters in the order of the vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from nd import ConfigurationError, FormatError

from .conf.json_fields import Json, class_of, flag, inner, size, sizes
from .params import ParamSpec

Specs = list[ParamSpec]


def _row(name: str, n: int) -> ParamSpec:
    return ParamSpec(name, (1, n), "c", bias=True)


def _matrix(fields: Json, extra: Callable[[int, int], Specs] | None = None) -> Specs:
    n_in, n_out = size(fields, "nIn"), size(fields, "nOut")
    found = [ParamSpec("W", (n_in, n_out), "f")]
    found += [_row("b", n_out)] if flag(fields, "hasBias", True) else []
    return found + (extra(n_in, n_out) if extra else [])


def _dense(fields: Json) -> Specs:
    normalised = flag(fields, "hasLayerNorm", False)
    return _matrix(fields, lambda n_in, n_out: [ParamSpec("g", (1, n_out), "c")] if normalised else [])


def _center_loss(fields: Json) -> Specs:
    always_biased = {**fields, "hasBias": True}
    return _matrix(always_biased, lambda n_in, n_out: [ParamSpec("cL", (n_out, n_in), "c")])


def _convolution(shape: Callable[[Json, int, int], tuple[int, ...]]) -> Callable[[Json], Specs]:
    def specs(fields: Json) -> Specs:
        n_in, n_out = size(fields, "nIn"), size(fields, "nOut")
        weights = [ParamSpec("W", shape(fields, n_in, n_out), "c")]
        return [_row("b", n_out), *weights] if flag(fields, "hasBias", True) else weights

    return specs


def _kernel(count: int, default: int) -> Callable[[Json], tuple[int, ...]]:
    return lambda fields: sizes(fields, "kernelSize", count, [default] * count)


_plane, _volume = _kernel(2, 5), _kernel(3, 2)


def _series_weights(fields: Json, n_in: int, n_out: int) -> tuple[int, ...]:
    """Return the shape of a Convolution1DLayer's weights, which 1.0.0-M1 turned round; see `nn.older_weights`."""
    kernel = sizes(fields, "kernelSize", 1, [0])[0]
    return (kernel, n_in, n_out) if "timeDistributedFormat" in fields else (n_out, n_in, kernel, 1)


def _depthwise(fields: Json) -> Specs:
    n_in, times = size(fields, "nIn"), size(fields, "depthMultiplier", 1)
    weights = [ParamSpec("W", (*_plane(fields), n_in, times), "c")]
    return [_row("b", n_in * times), *weights] if flag(fields, "hasBias", True) else weights


def _separable(fields: Json) -> Specs:
    n_in, n_out, times = size(fields, "nIn"), size(fields, "nOut"), size(fields, "depthMultiplier", 1)
    weights = [ParamSpec("W", (times, n_in, *_plane(fields)), "c"), ParamSpec("pW", (n_out, n_in * times, 1, 1), "c")]
    return [_row("b", n_out), *weights] if flag(fields, "hasBias", True) else weights


def _batch_normalization(fields: Json) -> Specs:
    n = size(fields, "nOut") or size(fields, "nIn", 0)
    variance = "log10stdev" if flag(fields, "useLogStd", False) else "var"
    learned = () if flag(fields, "lockGammaBeta", False) else ("gamma", "beta")
    return [ParamSpec(name, (1, n), "c") for name in (*learned, "mean", variance)]


def _lstm(peepholes: int, suffix: str = "") -> Callable[[Json], Specs]:
    def specs(fields: Json) -> Specs:
        n_in, n_out = size(fields, "nIn"), size(fields, "nOut")
        W = ParamSpec(f"W{suffix}", (n_in, 4 * n_out), "f")
        return [W, ParamSpec(f"RW{suffix}", (n_out, 4 * n_out + peepholes), "f"), _row(f"b{suffix}", 4 * n_out)]

    return specs


def _graves_bidirectional(fields: Json) -> Specs:
    return [*_lstm(3, "F")(fields), *_lstm(3, "B")(fields)]


def _simple_rnn(fields: Json) -> Specs:
    n_in, n_out = size(fields, "nIn"), size(fields, "nOut")
    found = [ParamSpec("W", (n_in, n_out), "f"), ParamSpec("RW", (n_out, n_out), "f"), _row("b", n_out)]
    return [*found, ParamSpec("g", (1, 2 * n_out), "c")] if flag(fields, "hasLayerNorm", False) else found


def _bidirectional(fields: Json) -> Specs:
    both = (("f", inner(fields, "fwd")), ("b", inner(fields, "bwd", "fwd")))
    return [spec_named(f"{side}{spec.name}", spec) for side, layer in both for spec in param_specs_of(layer)]


def spec_named(name: str, spec: ParamSpec) -> ParamSpec:
    """Return a parameter under another name."""
    return ParamSpec(name, spec.shape, spec.order, spec.bias)


def _wrapped(fields: Json) -> Specs:
    return param_specs_of(inner(fields, "layer", "underlying"))


def _prelu(fields: Json) -> Specs:
    shape = list(sizes(fields, "inputShape"))
    for axis in sizes(fields, "sharedAxes", None, []) if fields.get("sharedAxes") else ():
        if not 1 <= axis <= len(shape):
            raise FormatError(f"configuration: sharedAxes must be 1..{len(shape)}, got {axis}.")
        shape[axis - 1] = 1
    return [ParamSpec("W", tuple(shape), "f")]


def _element_wise(fields: Json) -> Specs:
    n_in = size(fields, "nIn")
    return [ParamSpec("W", (1, n_in), "c"), _row("b", n_in)]


def _auto_encoder(fields: Json) -> Specs:
    n_in, n_out = size(fields, "nIn"), size(fields, "nOut")
    return [ParamSpec("W", (n_in, n_out), "f"), _row("b", n_out), _row("vb", n_in)]


def _distribution_size(distribution: Any, n: int) -> int:
    """Return how many numbers describe n inputs."""
    java = class_of(distribution)
    if java == "GaussianReconstructionDistribution":
        return 2 * n
    if java != "CompositeReconstructionDistribution":
        return n
    counts = sizes(distribution, "distributionSizes")
    parts = distribution.get("reconstructionDistributions")
    if not isinstance(parts, list) or len(parts) != len(counts):
        raise FormatError("configuration: a composite distribution must have a size for each of its parts.")
    return sum(_distribution_size(part, count) for part, count in zip(parts, counts, strict=True))


def _variational(fields: Json) -> Specs:
    n_in, n_out = size(fields, "nIn"), size(fields, "nOut")
    encoder, decoder = (sizes(fields, f"{side}coderLayerSizes", None, [100]) for side in ("en", "de"))
    last = _distribution_size(fields.get("outputDistribution"), n_in)
    layers: list[tuple[str, int, int]] = []
    for letter, start, found in (("e", n_in, encoder), ("d", n_out, decoder)):
        steps = zip((start, *found), found, strict=False)
        layers += [(f"{letter}{index}", before, after) for index, (before, after) in enumerate(steps)]
        if letter == "e":
            top = (*((n_in,)), *encoder)[-1]
            layers += [("pZXMean", top, n_out), ("pZXLogStd2", top, n_out)]
    layers.append(("pXZ", (n_out, *decoder)[-1], last))
    return [
        spec
        for name, before, after in layers
        for spec in (ParamSpec(f"{name}W", (before, after), "f"), _row(f"{name}b", after))
    ]


def _one_class(fields: Json) -> Specs:
    n_in, hidden = size(fields, "nIn"), size(fields, "hiddenSize")
    return [ParamSpec("w", (1, hidden), "c"), ParamSpec("v", (n_in, hidden), "f"), ParamSpec("r", (1, 1), "c")]


def _projections(fields: Json, queries: int, keys: int, values: int) -> Specs:
    heads, head, n_out = size(fields, "nHeads", 1), size(fields, "headSize", 0), size(fields, "nOut")
    named = (("Wq", queries), ("Wk", keys), ("Wv", values))
    return [*(ParamSpec(name, (heads, head, n), "c") for name, n in named), ParamSpec("Wo", (heads * head, n_out), "c")]


def _attention(fields: Json) -> Specs:
    n_in = size(fields, "nIn")
    return _projections(fields, n_in, n_in, n_in) if flag(fields, "projectInput", False) else []


def _learned_attention(fields: Json) -> Specs:
    return [ParamSpec("Q", (1, size(fields, "nIn"), size(fields, "nQueries")), "c"), *_attention(fields)]


def _recurrent_attention(fields: Json) -> Specs:
    n_in, n_out = size(fields, "nIn"), size(fields, "nOut")
    weights = [ParamSpec("W", (n_in, n_out), "c"), ParamSpec("RW", (n_out, n_out), "c")]
    weights += _projections(fields, n_out, n_in, n_in) if flag(fields, "projectInput", False) else []
    return [*weights, _row("b", n_out)] if flag(fields, "hasBias", True) else weights


def _attention_vertex(fields: Json) -> Specs:
    if not flag(fields, "projectInput", False):
        return []
    return _projections(fields, *(size(fields, f"nIn{of}") for of in ("Queries", "Keys", "Values")))


def _locally_connected(axes: int) -> Callable[[Json], Specs]:
    def specs(fields: Json) -> Specs:
        n_in, n_out = size(fields, "nIn"), size(fields, "nOut")
        places = math.prod(sizes(fields, "outputSize", axes))
        kernel = math.prod(sizes(fields, "kernel", axes, [2] * axes))
        weights = [ParamSpec("W", (places, kernel * n_in, n_out), "c")]
        return [*weights, _row("b", n_out)] if flag(fields, "hasBias", True) else weights

    return specs


def _primary_capsules(fields: Json) -> Specs:
    out = size(fields, "capsuleDimensions") * size(fields, "channels", 32)
    kernel = sizes(fields, "kernelSize", 2, [9, 9])
    weights = [ParamSpec("W", (*kernel, size(fields, "inputChannels"), out), "c")]
    return [*weights, ParamSpec("b", (out,), "c", bias=True)] if flag(fields, "hasBias", True) else weights


def _capsules(fields: Json) -> Specs:
    capsules, length = size(fields, "capsules"), size(fields, "capsuleDimensions")
    before, of_length = size(fields, "inputCapsules"), size(fields, "inputCapsuleDimensions")
    weights = [ParamSpec("W", (1, before, capsules * length, of_length, 1), "c")]
    if not flag(fields, "hasBias", False):
        return weights
    return [*weights, ParamSpec("b", (1, 1, capsules, length, 1), "c", bias=True)]


def _none(fields: Json) -> Specs:
    return []


PARAM_TABLES: Mapping[str, Callable[[Json], Specs]] = {
    "ActivationLayer": _none,
    "AutoEncoder": _auto_encoder,
    "BatchNormalization": _batch_normalization,
    "Bidirectional": _bidirectional,
    "CapsuleLayer": _capsules,
    "CapsuleStrengthLayer": _none,
    "CenterLossOutputLayer": _center_loss,
    "Cnn3DLossLayer": _none,
    "CnnLossLayer": _none,
    "Convolution1DLayer": _convolution(_series_weights),
    "Convolution3D": _convolution(lambda fields, n_in, n_out: (n_out, n_in, *_volume(fields))),
    "ConvolutionLayer": _convolution(lambda fields, n_in, n_out: (n_out, n_in, *_plane(fields))),
    "Cropping1D": _none,
    "Cropping2D": _none,
    "Cropping3D": _none,
    "Deconvolution2D": _convolution(lambda fields, n_in, n_out: (n_in, n_out, *_plane(fields))),
    "Deconvolution3D": _convolution(lambda fields, n_in, n_out: (*_volume(fields), n_out, n_in)),
    "DenseLayer": _dense,
    "DepthwiseConvolution2D": _depthwise,
    "DropoutLayer": _none,
    "ElementWiseMultiplicationLayer": _element_wise,
    "EmbeddingLayer": _matrix,
    "EmbeddingSequenceLayer": _matrix,
    "FrozenLayer": _wrapped,
    "FrozenLayerWithBackprop": _wrapped,
    "GlobalPoolingLayer": _none,
    "GravesBidirectionalLSTM": _graves_bidirectional,
    "GravesLSTM": _lstm(3),
    "LSTM": _lstm(0),
    "LastTimeStep": _wrapped,
    "LearnedSelfAttentionLayer": _learned_attention,
    "LocalResponseNormalization": _none,
    "LocallyConnected1D": _locally_connected(1),
    "LocallyConnected2D": _locally_connected(2),
    "LossLayer": _none,
    "MaskLayer": _none,
    "MaskZeroLayer": _wrapped,
    "OCNNOutputLayer": _one_class,
    "OutputLayer": _matrix,
    "PReLULayer": _prelu,
    "PrimaryCapsules": _primary_capsules,
    "RecurrentAttentionLayer": _recurrent_attention,
    "RepeatVector": _none,
    "RnnLossLayer": _none,
    "RnnOutputLayer": _matrix,
    "SelfAttentionLayer": _attention,
    "SeparableConvolution2D": _separable,
    "SimpleRnn": _simple_rnn,
    "SpaceToBatchLayer": _none,
    "SpaceToDepthLayer": _none,
    "Subsampling1DLayer": _none,
    "Subsampling3DLayer": _none,
    "SubsamplingLayer": _none,
    "TimeDistributed": _wrapped,
    "Upsampling1D": _none,
    "Upsampling2D": _none,
    "Upsampling3D": _none,
    "VariationalAutoencoder": _variational,
    "Yolo2OutputLayer": _none,
    "ZeroPadding1DLayer": _none,
    "ZeroPadding3DLayer": _none,
    "ZeroPaddingLayer": _none,
}
"""Class -> its parameters, sorted."""

VERTEX_TABLES: Mapping[str, Callable[[Json], Specs]] = {
    "AttentionVertex": _attention_vertex,
    "DuplicateToTimeSeriesVertex": _none,
    "ElementWiseVertex": _none,
    "FrozenVertex": lambda fields: param_specs_of_vertex(inner(fields, "underlying")),
    "L2NormalizeVertex": _none,
    "L2Vertex": _none,
    "LastTimeStepVertex": _none,
    "LayerVertex": lambda fields: param_specs_of(inner(inner(fields, "layerConf"), "layer")),
    "MergeVertex": _none,
    "PoolHelperVertex": _none,
    "PreprocessorVertex": _none,
    "ReshapeVertex": _none,
    "ReverseTimeSeriesVertex": _none,
    "ScaleVertex": _none,
    "ShiftVertex": _none,
    "StackVertex": _none,
    "SubsetVertex": _none,
    "UnstackVertex": _none,
}
"""Class -> its parameters, sorted."""


def param_specs_of(fields: Json) -> Specs:
    """Return a layer's parameters in the order of the vector.

    Parameters
    ----------
    fields : dict
        A layer in 1.0's form, complete: with every n_in.

    Raises
    ------
    ConfigurationError
        Deeplearning4j has no such class; it is a user's own.
    FormatError
        A size is missing, or none.

    Notes
    -----
    Source: DL4J's ``ParamInitializer`` classes.
    """
    return _of("layer", PARAM_TABLES, fields)


def param_specs_of_vertex(fields: Json) -> Specs:
    """Return a vertex's parameters, for a LayerVertex its layer's. Same errors as `param_specs_of`."""
    return _of("vertex", VERTEX_TABLES, fields)


def _of(what: str, tables: Mapping[str, Callable[[Json], Specs]], fields: Json) -> Specs:
    java = class_of(fields)
    if java not in tables:
        raise ConfigurationError(f"{what}: the parameters of class {fields['@class']!r} are not known.")
    return tables[java](fields)
