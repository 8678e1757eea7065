"""Which weights the layers of Keras have, in which order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_CONVOLUTION = ("kernel", "bias")
_RECURRENT = ("kernel", "recurrent_kernel", "bias")
_NORMALIZATION = ("gamma", "beta", "moving_mean", "moving_variance")
WEIGHTS: dict[str, tuple[str, ...]] = {
    "BatchNormalization": _NORMALIZATION,
    "Conv1D": _CONVOLUTION,
    "Conv1DTranspose": _CONVOLUTION,
    "Conv2D": _CONVOLUTION,
    "Conv2DTranspose": _CONVOLUTION,
    "Conv3D": _CONVOLUTION,
    "Conv3DTranspose": _CONVOLUTION,
    "ConvLSTM1D": _RECURRENT,
    "ConvLSTM2D": _RECURRENT,
    "ConvLSTM3D": _RECURRENT,
    "Dense": _CONVOLUTION,
    "DepthwiseConv1D": _CONVOLUTION,
    "DepthwiseConv2D": _CONVOLUTION,
    "EinsumDense": _CONVOLUTION,
    "Embedding": ("embeddings",),
    "GRU": _RECURRENT,
    "GRUCell": _RECURRENT,
    "LSTM": _RECURRENT,
    "LSTMCell": _RECURRENT,
    "LayerNormalization": ("gamma", "beta"),
    "LocallyConnected1D": _CONVOLUTION,
    "LocallyConnected2D": _CONVOLUTION,
    "PReLU": ("alpha",),
    "SeparableConv1D": ("depthwise_kernel", "pointwise_kernel", "bias"),
    "SeparableConv2D": ("depthwise_kernel", "pointwise_kernel", "bias"),
    "SimpleRNN": _RECURRENT,
    "SimpleRNNCell": _RECURRENT,
}
"""Class -> names of all its weights, trained ones first, in Keras 3's spelling; sorted."""
GATES = {"ConvLSTM2D": 4, "GRU": 3, "LSTM": 4}
"""Class -> gates, which have weights of their own in Keras 1."""
_MOVING = ("moving_mean", "moving_variance")
_SWITCHES = {"beta": "center", "bias": "use_bias", "gamma": "scale"}
"""Weight -> the setting without which there is none."""
_OTHER_SWITCHES = {"EinsumDense": {"bias": "bias_axes"}}
_WRAPPED = {"Bidirectional": 2, "TimeDistributed": 1}


class Expected(NamedTuple):
    """Weights that a layer must have: those that are trained, and the others."""

    trained: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, in the order of the layer."""
        return self.trained + self.others


def expected(class_name: str, config: Mapping[str, Any]) -> Expected | None:
    """Return the weights that a layer has by its settings; None for classes of which nothing is known."""
    if class_name in _WRAPPED:
        inner = [config.get("layer"), config.get("backward_layer") or config.get("layer")][: _WRAPPED[class_name]]
        found = [expected(*wrapped(one)) for one in inner]
        parts = [one for one in found if one is not None]
        if len(parts) < len(found):
            return None
        return Expected(sum((one.trained for one in parts), ()), sum((one.others for one in parts), ()))
    if class_name not in WEIGHTS:
        return None
    switches = _OTHER_SWITCHES.get(class_name, _SWITCHES)
    names = [name for name in WEIGHTS[class_name] if config.get(switches.get(name, ""), True)]
    return Expected(
        tuple(name for name in names if name not in _MOVING), tuple(name for name in names if name in _MOVING)
    )


def wrapped(layer: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the class and the settings of a layer in a wrapper: "" and none of what is no layer."""
    fields = layer if isinstance(layer, dict) else {}
    settings = fields.get("config")
    return str(fields.get("class_name", "")), settings if isinstance(settings, dict) else {}


def snake_case(class_name: str) -> str:
    """Return the name that Keras 3 numbers the layers of a class by: ``"max_pooling2d"``.

    Notes
    -----
    Source: Keras 3, utils/naming.py.
    """
    name = re.sub(r"\W+", "", class_name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
