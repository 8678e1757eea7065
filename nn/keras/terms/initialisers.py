"""Initialisers of Keras and ours."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from ...terms.distributions import (
    ConstantDistribution,
    Distribution,
    NormalDistribution,
    OrthogonalDistribution,
    TruncatedNormalDistribution,
    UniformDistribution,
)
from ...terms.weights import ScaledWeightInit
from .malformed import or_none

_CUT = 0.87962566103423978
"""Standard deviation of N(0, 1) within -2 .. 2: Keras divides by it, so that what is drawn has the variance."""
_VARIANCES = {
    "glorot_normal": (1.0, "fan_avg", "truncated_normal"),
    "glorot_uniform": (1.0, "fan_avg", "uniform"),
    "he_normal": (2.0, "fan_in", "truncated_normal"),
    "he_uniform": (2.0, "fan_in", "uniform"),
    "lecun_normal": (1.0, "fan_in", "truncated_normal"),
    "lecun_uniform": (1.0, "fan_in", "uniform"),
}
"""Name -> scale, mode and distribution of the VarianceScaling that it is."""
_PLAIN = {
    (1.0, "fan_avg", "uniform"): "xavier_uniform",
    (1.0, "fan_avg", "untruncated_normal"): "xavier",
    (1.0, "fan_in", "untruncated_normal"): "normal",
    (2.0, "fan_in", "uniform"): "relu_uniform",
    (2.0, "fan_in", "untruncated_normal"): "relu",
}
"""Those that have a name of their own here."""
_ALIASES = {"one": "ones", "zero": "zeros", "normal": "random_normal", "uniform": "random_uniform"}
Init = str | Distribution


def _read(given: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the name in small letters, and the settings."""
    is_object = isinstance(given, Mapping)
    name, config = (str(given.get("class_name")), given.get("config")) if is_object else (str(given), None)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().removesuffix("_initializer").removesuffix("_v2")
    return _ALIASES.get(name, name), config if isinstance(config, Mapping) else {}


@or_none
def weight_init_of(given: Any) -> Init | None:
    """Return the initialisation that a configuration of Keras names; None where ours cannot say it.

    Parameters
    ----------
    given : str, mapping or None
        ``"glorot_uniform"``, ``{"class_name": "GlorotUniform", "config": {...}}``.

    Notes
    -----
    The distributions are Keras'; the numbers drawn are others, as the generators are. Source: Keras,
    keras.initializers; KerasInitilizationUtils. Differs: Java draws Keras' truncated normal ones untruncated.
    """
    name, config = _read(given)
    if name in _VARIANCES:
        return _scaled(*_VARIANCES[name])
    if name == "variance_scaling":
        kind = str(config.get("distribution", "truncated_normal")).lower()
        kind = "truncated_normal" if kind == "normal" else kind
        return _scaled(float(config.get("scale", 1.0)), str(config.get("mode", "fan_in")).lower(), kind)
    if name in ("random_normal", "truncated_normal"):
        normal = NormalDistribution if name == "random_normal" else TruncatedNormalDistribution
        return normal(float(config.get("mean", 0.0)), float(config.get("stddev", 0.05)))
    if name == "random_uniform":
        lower, upper = float(config.get("minval", -0.05)), float(config.get("maxval", 0.05))
        return UniformDistribution(lower, upper) if lower < upper else ConstantDistribution(lower)
    if name == "orthogonal":
        return OrthogonalDistribution(float(config.get("gain", 1.0)))
    if name == "identity":
        gain = float(config.get("gain", 1.0))
        return "identity" if gain == 1.0 else ScaledWeightInit("identity", gain) if gain > 0.0 else None
    value = bias_init_of(given)
    return None if value is None else {0.0: "zero", 1.0: "ones"}.get(value, ConstantDistribution(value))


def _scaled(scale: float, mode: str, kind: str) -> Init | None:
    """Return the initialisation of a VarianceScaling."""
    plain = _PLAIN.get((scale, mode, kind))
    if plain is not None or mode not in ("fan_avg", "fan_in", "fan_out") or scale <= 0.0:
        return plain
    if kind == "uniform":  # ours is 3 / sqrt(fan) times its scale
        return ScaledWeightInit(f"var_scaling_uniform_{mode}", math.sqrt(scale / 3.0))
    return ScaledWeightInit(f"var_scaling_normal_{mode}", scale / _CUT**2)


@or_none
def bias_init_of(given: Any) -> float | None:
    """Return the number with which an initialiser of Keras fills all of an array; None for those that draw."""
    name, config = _read(given)
    if name == "constant":
        value = config.get("value", 0.0)
        return float(value) if isinstance(value, (int, float)) else None
    return {"zeros": 0.0, "ones": 1.0}.get(name)


def keras_of(init: Init) -> dict[str, Any]:
    """Return Keras' object for an initialisation; GlorotUniform for one that Keras has not.

    Parameters
    ----------
    init : str or Distribution
        As a layer has it.
    """
    if isinstance(init, ScaledWeightInit):
        return _keras_of_scaled(init.name, init.scale)
    if isinstance(init, TruncatedNormalDistribution):
        return _object("TruncatedNormal", mean=init.mean, stddev=init.std)
    if isinstance(init, NormalDistribution):
        return _object("RandomNormal", mean=init.mean, stddev=init.std)
    if isinstance(init, UniformDistribution):
        return _object("RandomUniform", minval=init.lower, maxval=init.upper)
    if isinstance(init, ConstantDistribution):
        return _object("Constant", value=init.value)
    if isinstance(init, OrthogonalDistribution):
        return _object("Orthogonal", gain=init.gain)
    known = {"identity": ("Identity", {"gain": 1.0}), "ones": ("Ones", {}), "zero": ("Zeros", {})}
    if init in known:
        class_name, config = known[str(init)]
        return {"module": "keras.initializers", "class_name": class_name, "config": config, "registered_name": None}
    for (scale, mode, kind), name in _PLAIN.items():
        if name == init:
            return _object("VarianceScaling", scale=scale, mode=mode, distribution=kind)
    return _keras_of_scaled(str(init), 1.0) if str(init).startswith("var_scaling") else _object("GlorotUniform")


def _keras_of_scaled(name: str, scale: float) -> dict[str, Any]:
    if name == "identity":
        return {**_object("Identity"), "config": {"gain": scale}}
    kind, mode = name.removeprefix("var_scaling_").split("_", 1)
    if kind == "uniform":
        return _object("VarianceScaling", scale=3.0 * scale**2, mode=mode, distribution="uniform")
    return _object("VarianceScaling", scale=scale * _CUT**2, mode=mode, distribution="truncated_normal")


def _object(class_name: str, **config: Any) -> dict[str, Any]:
    drawn = {} if class_name == "Constant" else {"seed": None}
    settings = {**config, **drawn}
    return {"module": "keras.initializers", "class_name": class_name, "config": settings, "registered_name": None}
