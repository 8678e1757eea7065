"""Names in older Deeplearning4j releases, and the classes that 1.0 writes in their place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from nd import FormatError

Json = dict[str, Any]


class Family(NamedTuple):
    """A kind of value: the package of its classes, and older name in lower case -> class."""

    kind: str
    package: str
    names: Mapping[str, str]


_LAYERS = "org.deeplearning4j.nn.conf.layers."
_LOSSES = "org.nd4j.linalg.lossfunctions.impl."

LAYERS = Family("layer", _LAYERS, {
    "activation": "ActivationLayer",
    "autoencoder": "AutoEncoder",
    "batchnormalization": "BatchNormalization",
    "bidirectional": "recurrent.Bidirectional",
    "centerlossoutputlayer": "CenterLossOutputLayer",
    "cnnlosslayer": "CnnLossLayer",
    "convolution": "ConvolutionLayer",
    "convolution1d": "Convolution1DLayer",
    "cropping1d": "convolutional.Cropping1D",
    "cropping2d": "convolutional.Cropping2D",
    "dense": "DenseLayer",
    "dropout": "DropoutLayer",
    "elementwisemult": "misc.ElementWiseMultiplicationLayer",
    "embedding": "EmbeddingLayer",
    "frozenlayer": "misc.FrozenLayer",
    "globalpooling": "GlobalPoolingLayer",
    "gravesbidirectionallstm": "GravesBidirectionalLSTM",
    "graveslstm": "GravesLSTM",
    "localresponsenormalization": "LocalResponseNormalization",
    "loss": "LossLayer",
    "lstm": "LSTM",
    "masklayer": "util.MaskLayer",
    "maskzerolayer": "util.MaskZeroLayer",
    "output": "OutputLayer",
    "rbm": "RBM",
    "rnnlosslayer": "RnnLossLayer",
    "rnnoutput": "RnnOutputLayer",
    "simplernn": "recurrent.SimpleRnn",
    "subsampling": "SubsamplingLayer",
    "subsampling1d": "Subsampling1DLayer",
    "upsampling2d": "Upsampling2D",
    "variationalautoencoder": "variational.VariationalAutoencoder",
    "yolo2outputlayer": "objdetect.Yolo2OutputLayer",
    "zeropadding": "ZeroPaddingLayer",
    "zeropadding1d": "ZeroPadding1DLayer",
})  # fmt: skip
PREPROCESSORS = Family("input preprocessor", "org.deeplearning4j.nn.conf.preprocessor.", {
    "cnntofeedforward": "CnnToFeedForwardPreProcessor",
    "cnntornn": "CnnToRnnPreProcessor",
    "composableinput": "ComposableInputPreProcessor",
    "feedforwardtocnn": "FeedForwardToCnnPreProcessor",
    "feedforwardtornn": "FeedForwardToRnnPreProcessor",
    "rnntocnn": "RnnToCnnPreProcessor",
    "rnntofeedforward": "RnnToFeedForwardPreProcessor",
})  # fmt: skip
VERTICES = Family("vertex", "org.deeplearning4j.nn.conf.graph.", {
    "duplicatetotimeseriesvertex": "rnn.DuplicateToTimeSeriesVertex",
    "lasttimestepvertex": "rnn.LastTimeStepVertex",
    "reversetimeseriesvertex": "rnn.ReverseTimeSeriesVertex",
})  # fmt: skip
ACTIVATIONS = Family("activationFn", "org.nd4j.linalg.activations.impl.", {
    "cube": "ActivationCube",
    "elu": "ActivationELU",
    "hardsigmoid": "ActivationHardSigmoid",
    "hardtanh": "ActivationHardTanH",
    "identity": "ActivationIdentity",
    "leakyrelu": "ActivationLReLU",
    "lrelu": "ActivationLReLU",
    "rationaltanh": "ActivationRationalTanh",
    "rectifiedtanh": "ActivationRectifiedTanh",
    "relu": "ActivationReLU",
    "rrelu": "ActivationRReLU",
    "selu": "ActivationSELU",
    "sigmoid": "ActivationSigmoid",
    "softmax": "ActivationSoftmax",
    "softplus": "ActivationSoftPlus",
    "softsign": "ActivationSoftSign",
    "swish": "ActivationSwish",
    "tanh": "ActivationTanH",
})  # fmt: skip
LOSSES = Family("lossFn", _LOSSES, {
    "binaryxent": "LossBinaryXENT",
    "cosine_proximity": "LossCosineProximity",
    "cosineproximity": "LossCosineProximity",
    "fmeasure": "LossFMeasure",
    "hinge": "LossHinge",
    "kl_divergence": "LossKLD",
    "kld": "LossKLD",
    "l1": "LossL1",
    "l2": "LossL2",
    "mae": "LossMAE",
    "mape": "LossMAPE",
    "mcxent": "LossMCXENT",
    "mean_absolute_error": "LossMAE",
    "mean_absolute_percentage_error": "LossMAPE",
    "mean_squared_logarithmic_error": "LossMSLE",
    "mse": "LossMSE",
    "msle": "LossMSLE",
    "negativeloglikelihood": "LossNegativeLogLikelihood",
    "poisson": "LossPoisson",
    "reconstruction_crossentropy": "LossKLD",
    "squared_hinge": "LossSquaredHinge",
    "squared_loss": "LossL2",
    "squaredhinge": "LossSquaredHinge",
    "xent": "LossBinaryXENT",
})  # fmt: skip
RECONSTRUCTIONS = Family("outputDistribution", f"{_LAYERS}variational.", {
    "bernoulli": "BernoulliReconstructionDistribution",
    "composite": "CompositeReconstructionDistribution",
    "exponential": "ExponentialReconstructionDistribution",
    "gaussian": "GaussianReconstructionDistribution",
    "losswrapper": "LossFunctionWrapper",
})  # fmt: skip
DISTRIBUTIONS = Family("distribution", "org.deeplearning4j.nn.conf.distribution.", {
    "binomial": "BinomialDistribution",
    "constant": "ConstantDistribution",
    "gaussian": "GaussianDistribution",
    "log_normal": "LogNormalDistribution",
    "lognormal": "LogNormalDistribution",
    "normal": "NormalDistribution",
    "orthogonal": "OrthogonalDistribution",
    "truncated_normal": "TruncatedNormalDistribution",
    "truncatednormal": "TruncatedNormalDistribution",
    "uniform": "UniformDistribution",
})  # fmt: skip
STEP_FUNCTIONS = Family("stepFunction", "org.deeplearning4j.nn.conf.stepfunctions.", {
    "default": "DefaultStepFunction",
    "gradient": "GradientStepFunction",
    "negativedefault": "NegativeDefaultStepFunction",
    "negativegradient": "NegativeGradientStepFunction",
})  # fmt: skip


def is_wrapper(value: object) -> bool:
    """Tell whether a value is an object of the oldest form, ``{"dense": {...}}``."""
    return isinstance(value, dict) and len(value) == 1 and not {"@class", "type"} & value.keys()


def as_class(family: Family, value: Any) -> Any:
    """Return a value of a family as 1.0 writes it.

    Parameters
    ----------
    family : Family
    value : object, str or None
        ``{"@class": ...}``, which stays as it is; ``{"type": "normal", ...}``; a wrapper ``{"normal": {...}}``; or
        the name of an enum, ``"RELU"``.

    Raises
    ------
    FormatError
        None of these.
    """
    if value is None or (isinstance(value, dict) and "@class" in value):
        return value
    if isinstance(value, str):
        name, content = value, {}
    elif isinstance(value, dict) and isinstance(value.get("type"), str):
        name, content = value["type"], {key: field for key, field in value.items() if key != "type"}
    elif is_wrapper(value):
        name, content = next(iter(value.items()))
    else:
        raise FormatError(f"{family.kind}: expected an object with '@class', got {str(value)[:200]}.")
    if not isinstance(content, dict | None):
        raise FormatError(f"configuration: {family.kind} {name!r} must hold an object, got {str(content)[:200]!r}.")
    java = name if "." in name else family.package + family.names.get(name.lower(), name)
    return {"@class": java, **(content or {})}


def number_or_none(value: object) -> float | None:
    """Return a number; None for NaN, which stands for "not set" in old files, and where there is none."""
    if value is None or value == "NaN":
        return None
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise FormatError(f"configuration: expected a number, got {str(value)[:200]!r}.")
    return None if math.isnan(value) else float(value)
