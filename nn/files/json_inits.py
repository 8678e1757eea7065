"""Codec of the initialisation of weights, inside DL4J's configuration JSON."""

from __future__ import annotations

from typing import Any

from nd import ChoiceError

from ..terms.distributions import DISTRIBUTIONS, Distribution
from ..terms.weights import ScaledWeightInit
from .json_values import DISTRIBUTION, Codec, Json, class_name

_WEIGHTS = "org.deeplearning4j.nn.weights."
INIT_CLASSES = {
    "identity": "WeightInitIdentity", "lecun_uniform": "WeightInitLecunUniform", "normal": "WeightInitNormal",
    "relu": "WeightInitRelu", "relu_uniform": "WeightInitReluUniform", "sigmoid_uniform": "WeightInitSigmoidUniform",
    "uniform": "WeightInitUniform", "var_scaling_normal_fan_avg": "WeightInitVarScalingNormalFanAvg",
    "var_scaling_normal_fan_in": "WeightInitVarScalingNormalFanIn",
    "var_scaling_normal_fan_out": "WeightInitVarScalingNormalFanOut",
    "var_scaling_uniform_fan_avg": "WeightInitVarScalingUniformFanAvg",
    "var_scaling_uniform_fan_in": "WeightInitVarScalingUniformFanIn",
    "var_scaling_uniform_fan_out": "WeightInitVarScalingUniformFanOut", "xavier": "WeightInitXavier",
    "xavier_legacy": "WeightInitXavierLegacy",
    "xavier_uniform": "WeightInitXavierUniform",
}  # fmt: skip


_OLDER_CLASSES = {"WeightInitLecunNormal": "normal", "WeightInitXavierFanIn": "normal"}
"""Of no release, but of files that this library wrote once."""


def _init_to_json(init: Any) -> Json | None:
    if init is None:
        return None
    if isinstance(init, ScaledWeightInit):
        return {"@class": _WEIGHTS + INIT_CLASSES[init.name], "scale": init.scale}
    if isinstance(init, Distribution):
        return {"@class": _WEIGHTS + "WeightInitDistribution", "distribution": DISTRIBUTION.encode(init)}
    if init in ("zero", "ones"):
        return {"@class": _WEIGHTS + "WeightInitConstant", "value": 1.0 if init == "ones" else 0.0}
    scale = {"scale": None} if init.startswith(("identity", "var_scaling")) else {}
    return {"@class": _WEIGHTS + INIT_CLASSES[init], **scale}


def _init_from_json(data: Json | None) -> object:
    if data is None:
        return None
    name = class_name("weightInitFn", data)
    if name == "WeightInitDistribution":
        return DISTRIBUTION.decode(data["distribution"])
    if name == "WeightInitConstant":
        constant = float(data["value"] if "value" in data else data.get("constant", 0.0))
        return {0.0: "zero", 1.0: "ones"}.get(constant) or DISTRIBUTIONS["constant"](constant)  # type: ignore[call-arg]
    by_class = {java: ours for ours, java in INIT_CLASSES.items()} | _OLDER_CLASSES
    if name not in by_class:
        raise ChoiceError(f"weightInitFn: unknown class {name!r}, expected one of {', '.join(sorted(by_class))}.")
    scale = data.get("scale")
    return by_class[name] if scale is None else ScaledWeightInit(by_class[name], scale)


WEIGHT_INIT = Codec(_init_to_json, _init_from_json)
