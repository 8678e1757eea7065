"""The values inside an old layer: one function for each kind, from the fields as they were to those of 1.0.

A function takes the layer's fields and hands back their replacements; `nn.files.legacy.layers` says which fields go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .names import ACTIVATIONS, DISTRIBUTIONS, LOSSES, RECONSTRUCTIONS, Json, as_class, number_or_none

_UPDATERS = "org.nd4j.linalg.learning.config."
_REGULARIZATION = "org.nd4j.linalg.learning.regularization."
_WEIGHTS = "org.deeplearning4j.nn.weights.WeightInit"
_FIXED = "org.nd4j.linalg.schedule.FixedSchedule"
_CONF = "org.deeplearning4j.nn.conf."

_MOMENTS = {"beta1": "adamMeanDecay", "beta2": "adamVarDecay", "epsilon": "epsilon", "learningRate": "learningRate"}
UPDATERS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "ADADELTA": ("AdaDelta", {"epsilon": "epsilon", "rho": "rho"}),
    "ADAGRAD": ("AdaGrad", {"epsilon": "epsilon", "learningRate": "learningRate"}),
    "ADAM": ("Adam", _MOMENTS),
    "ADAMAX": ("AdaMax", _MOMENTS),
    "NADAM": ("Nadam", _MOMENTS),
    "NESTEROVS": ("Nesterovs", {"learningRate": "learningRate", "momentum": "momentum"}),
    "NONE": ("NoOp", {}),
    "RMSPROP": ("RmsProp", {"epsilon": "epsilon", "learningRate": "learningRate", "rmsDecay": "rmsDecay"}),
    "SGD": ("Sgd", {"learningRate": "learningRate"}),
}
"""Enum -> class, and 1.0's field -> the layer's own. A field that is NaN is left to the class's default."""

WEIGHT_INITS: Mapping[str, str] = {
    "IDENTITY": "Identity", "LECUN_NORMAL": "LecunNormal", "LECUN_UNIFORM": "LecunUniform", "NORMAL": "Normal",
    "RELU": "Relu", "RELU_UNIFORM": "ReluUniform", "SIGMOID_UNIFORM": "SigmoidUniform", "UNIFORM": "Uniform",
    "VAR_SCALING_NORMAL_FAN_AVG": "VarScalingNormalFanAvg", "VAR_SCALING_NORMAL_FAN_IN": "VarScalingNormalFanIn",
    "VAR_SCALING_NORMAL_FAN_OUT": "VarScalingNormalFanOut", "VAR_SCALING_UNIFORM_FAN_AVG": "VarScalingUniformFanAvg",
    "VAR_SCALING_UNIFORM_FAN_IN": "VarScalingUniformFanIn", "VAR_SCALING_UNIFORM_FAN_OUT": "VarScalingUniformFanOut",
    "XAVIER": "Xavier", "XAVIER_FAN_IN": "XavierFanIn", "XAVIER_LEGACY": "XavierLegacy",
    "XAVIER_UNIFORM": "XavierUniform",
}  # fmt: skip
_CONSTANT_INITS = {"ONES": 1.0, "ZERO": 0.0}


class Around(NamedTuple):
    """Surroundings of a layer that change the meaning of its fields."""

    use_drop_connect: bool = False
    variables: tuple[str, ...] = ()
    in_graph: bool = False


def activations(fields: Json, around: Around) -> Json:
    """Give activations their classes, with the default constants where a string names them, as Java does."""
    classes: Json = {}
    if "activationFunction" in fields and fields.get("activationFn") is None:
        classes["activationFn"] = as_class(ACTIVATIONS, fields["activationFunction"])
    for key in ("activationFn", "gateActivationFn", "pzxActivationFn"):
        if fields.get(key) is not None:
            classes[key] = as_class(ACTIVATIONS, fields[key])
    for key in ("gateActivationFunction", "pzxActivationFunction"):
        if isinstance(fields.get(key), str):
            classes[key.removesuffix("unction") + "n"] = as_class(ACTIVATIONS, fields[key])
    return classes


def losses(fields: Json, around: Around) -> Json:
    """Give losses their classes; SQUARED_LOSS is LossL2, as in Java's own reader."""
    classes = {
        key: as_class(LOSSES, fields[key])
        for key in ("lossFn", "lossPositionScale", "lossClassPredictions")
        if fields.get(key) is not None
    }
    custom = fields.get("customLossFunction")
    if not classes and (custom is not None or fields.get("lossFunction") is not None):
        classes["lossFn"] = as_class(LOSSES, fields["lossFunction"] if custom is None else str(custom))
    return classes


def updaters(fields: Json, around: Around) -> Json:
    """Make an updater of its enum and the layer's own rates."""
    name = fields.get("updater")
    if fields.get("iupdater") is not None or not isinstance(name, str):
        return {}
    java, spelled = UPDATERS.get(name, (name, {}))
    values = {key: number_or_none(fields.get(theirs)) for key, theirs in spelled.items()}
    set_ones = {key: value for key, value in values.items() if value is not None}
    return {"iupdater": {"@class": _UPDATERS + java, **set_ones}}


def penalties(fields: Json, around: Around) -> Json:
    """Make lists of penalties: l2 is applied after the updater, without the learning rate, as these versions did."""
    if fields.get("regularization") is not None or not {"l1", "l2"} & fields.keys():
        return {}
    names = {"regularization": ("l1", "l2"), "regularizationBias": ("l1Bias", "l2Bias")}
    return {
        name: _penalties_of(*(number_or_none(fields.get(key)) or 0.0 for key in keys)) for name, keys in names.items()
    }


def _penalties_of(l1: float, l2: float) -> list[Json]:
    listed: list[Json] = []
    if l1 > 0:
        listed.append({"@class": f"{_REGULARIZATION}L1Regularization", "l1": {"@class": _FIXED, "value": l1}})
    if l2 > 0:
        decay = {"applyLR": False, "coeff": {"@class": _FIXED, "value": l2}}
        listed.append({"@class": f"{_REGULARIZATION}WeightDecay", **decay})
    return listed


def weight_inits(fields: Json, around: Around) -> Json:
    """Make a weight initialisation; a name that 1.0 no longer has becomes Xavier, which no saved weight depends on."""
    name = fields.get("weightInit")
    if fields.get("weightInitFn") is not None or not isinstance(name, str):
        return {}
    if name == "DISTRIBUTION" and fields.get("dist") is not None:
        drawn = as_class(DISTRIBUTIONS, fields["dist"])
        return {"weightInitFn": {"@class": f"{_WEIGHTS}Distribution", "distribution": drawn}}
    if name in _CONSTANT_INITS:
        return {"weightInitFn": {"@class": f"{_WEIGHTS}Constant", "constant": _CONSTANT_INITS[name]}}
    return {"weightInitFn": {"@class": _WEIGHTS + WEIGHT_INITS.get(name, "Xavier")}}


def is_known_init(fields: Json) -> bool:
    """Tell whether `weight_inits` knows the name that the layer gives."""
    name = fields.get("weightInit")
    known = name in WEIGHT_INITS or name in _CONSTANT_INITS or (name == "DISTRIBUTION" and fields.get("dist"))
    return bool(known) or not isinstance(name, str) or fields.get("weightInitFn") is not None


def dropouts(fields: Json, around: Around) -> Json:
    """Make a dropout, or a drop connect where the configuration says so; the number is the probability to retain."""
    retained = number_or_none(fields.get("dropOut"))
    if retained is None or retained <= 0 or fields.get("idropout") is not None:
        return {}
    if around.use_drop_connect and not around.in_graph:
        name = f"{_CONF}weightnoise.DropConnect"
        return {"weightNoise": {"@class": name, "applyToBiases": False, "weightRetainProb": retained}}
    return {"idropout": {"@class": f"{_CONF}dropout.Dropout", "p": retained}}


def distributions(fields: Json, around: Around) -> Json:
    """Give distributions their classes where they stand inside something of 1.0's form."""
    settings: Json = {}
    for key in ("weightInitFn", "weightInitFnRecurrent", "weightNoise"):
        inside = fields.get(key)
        if isinstance(inside, dict) and inside.get("distribution") is not None:
            settings[key] = {**inside, "distribution": as_class(DISTRIBUTIONS, inside["distribution"])}
    return settings


def reconstructions(fields: Json, around: Around) -> Json:
    """Give the reconstruction distribution of a variational autoencoder its class, and those that it holds."""
    given = fields.get("outputDistribution")
    return {} if given is None else {"outputDistribution": _reconstruction(given)}


def _reconstruction(value: object) -> object:
    modern = as_class(RECONSTRUCTIONS, value)
    if not isinstance(modern, dict):
        return modern
    inner: Json = {}
    if modern.get("activationFn") is not None:
        inner["activationFn"] = as_class(ACTIVATIONS, modern["activationFn"])
    if modern.get("lossFunction") is not None:
        inner["lossFunction"] = as_class(LOSSES, modern["lossFunction"])
    if isinstance(modern.get("reconstructionDistributions"), list):
        components = modern["reconstructionDistributions"]
        inner["reconstructionDistributions"] = [_reconstruction(component) for component in components]
    return {**modern, **inner}
