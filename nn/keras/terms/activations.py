"""Activations of Keras, by their names and objects in files of all versions, and ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nd.activations import (
    ELU,
    SELU,
    Activation,
    HardSigmoid,
    HardTanh,
    Identity,
    LeakyReLU,
    Mish,
    ReLU,
    ReLU6,
    Sigmoid,
    Softmax,
    SoftPlus,
    SoftSign,
    Swish,
    Tanh,
    ThresholdedReLU,
)

from .functions import FUNCTIONS, KerasActivation
from .malformed import or_none

_NAMED: Mapping[str, Activation] = {
    "celu": ELU(1.0),
    "elu": ELU(1.0),
    "hard_tanh": HardTanh(),
    "leaky_relu": LeakyReLU(0.2),
    "linear": Identity(),
    "mish": Mish(),
    "relu": ReLU(),
    "relu6": ReLU6(),
    "selu": SELU(),
    "sigmoid": Sigmoid(),
    "silu": Swish(),
    "softmax": Softmax(),
    "softplus": SoftPlus(),
    "softsign": SoftSign(),
    "swish": Swish(),
    "tanh": Tanh(),
}
"""Name in all versions -> activation; softmax goes along the last axis of Keras."""
_ALIASES = {"hard_swish": "hard_silu", "log_soft_max": "log_softmax"}


def name_of(given: Any) -> str:
    """Return the name of an activation in a configuration, for messages: of a function, or of an object's class.

    Parameters
    ----------
    given : str, mapping or None
        ``"relu"``, ``{"class_name": "function", "config": "relu", ...}``, ``{"class_name": "ELU", "config": {...}}``.
    """
    if given is None:
        return "linear"
    if not isinstance(given, Mapping):
        return str(given)
    config, name = given.get("config"), str(given.get("class_name"))
    if isinstance(config, str):
        return config
    if name == "function":
        return str(given.get("registered_name") or name)
    return name


@or_none
def activation_of(given: Any, version: int) -> Activation | None:
    """Return the activation that a configuration of Keras means.

    Parameters
    ----------
    given : str, mapping or None
        As it stands in the file; see `name_of`. None is the identity.
    version : int
        Of Keras: until 2 hard_sigmoid is 0.2 x + 0.5, from 3 on x / 6 + 0.5, both held in 0 .. 1.

    Returns
    -------
    Activation or None
        None where none of ours computes it: ``glu`` and ``sparsemax``, a softmax along another axis than the last, a
        function of somebody's own.

    Notes
    -----
    An activation with `over_rows` goes along Keras' last axis, wherever that lies in ours. Source: Keras,
    keras.activations; KerasActivationUtils. Differs: Java takes the hard sigmoid of Keras 1 for every version, and its
    own GELU and leaky slope.
    """
    name = name_of(given)
    config = given.get("config") if isinstance(given, Mapping) else None
    if isinstance(config, Mapping) and name in _OBJECTS:
        return _OBJECTS[name](config)
    name = _ALIASES.get(name, name)
    if name == "hard_sigmoid" and version < 3:
        return HardSigmoid()
    if name in _NAMED:
        return _NAMED[name]
    return KerasActivation(name) if name in FUNCTIONS and name != "gelu_tanh" else None


# ---- layers that are activations


@or_none
def relu_of(config: Mapping[str, Any]) -> Activation | None:
    """Return the activation of a layer ReLU: with its bounds."""
    top, slope, threshold = (config.get(key) for key in ("max_value", "negative_slope", "threshold"))
    slope, threshold = slope or None, threshold or None
    if top == 6 and slope is None and threshold is None:
        return ReLU6()
    return ReLU(None if top is None else float(top), _real(threshold), _real(slope))


def _real(value: Any) -> float | None:
    return None if value is None else float(value)


@or_none
def elu_of(config: Mapping[str, Any]) -> Activation | None:
    """Return the activation of a layer ELU."""
    return ELU(float(config.get("alpha", 1.0)))


@or_none
def leaky_relu_of(config: Mapping[str, Any]) -> Activation | None:
    """Return the activation of a layer LeakyReLU; its slope is 0.3 where nothing says it."""
    return LeakyReLU(float(config.get("negative_slope", config.get("alpha", 0.3))))


@or_none
def softmax_of(config: Mapping[str, Any]) -> Activation | None:
    """Return the activation of a layer Softmax; None along another axis than the last."""
    return Softmax() if config.get("axis", -1) in (-1, [-1]) else None


@or_none
def thresholded_relu_of(config: Mapping[str, Any]) -> Activation | None:
    """Return the activation of a layer ThresholdedReLU."""
    return ThresholdedReLU(float(config.get("theta", 1.0)))


_OBJECTS: Mapping[str, Callable[[Mapping[str, Any]], Activation | None]] = {
    "ELU": elu_of,
    "LeakyReLU": leaky_relu_of,
    "ReLU": relu_of,
    "Softmax": softmax_of,
    "ThresholdedReLU": thresholded_relu_of,
}


# ---- the way back


def keras_of(activation: Activation) -> Any:
    """Return what Keras 3 has in a configuration for an activation: a name, or a layer's object; None for none.

    Notes
    -----
    DL4J's hard sigmoid, GELU, rational and rectified tanh, cube and thresholded ReLU have no word in Keras 3.
    """
    if isinstance(activation, KerasActivation):
        return None if activation.name == "gelu_tanh" else activation.name
    for name, known in _NAMED.items():
        if known == activation and name not in ("celu", "swish"):
            return name
    if type(activation) is LeakyReLU:
        return _object("LeakyReLU", negative_slope=activation.alpha)
    if type(activation) is ELU:
        return _object("ELU", alpha=activation.alpha)
    if type(activation) is ReLU:
        bounds = {"max_value": activation.max, "negative_slope": activation.negative_slope or 0.0}
        return _object("ReLU", **bounds, threshold=activation.threshold or 0.0)
    return None


def _object(class_name: str, **config: Any) -> dict[str, Any]:
    return {"module": "keras.layers", "class_name": class_name, "config": config, "registered_name": None}


__all__ = [
    "activation_of",
    "elu_of",
    "keras_of",
    "leaky_relu_of",
    "name_of",
    "relu_of",
    "softmax_of",
    "thresholded_relu_of",
]
