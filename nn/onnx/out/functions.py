"""Activation functions as operators."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nd.activations import Activation

from ...terms.data_formats import channels_last
from ..draft import OnnxDraft
from .double import DOUBLE
from .node_draft import AddsNodes, NodeDraft, NotInOnnx

LAST = -1
CHANNELS = 1


def activate(layer: NodeDraft, z: str, axis: int | None = None) -> str:
    """Add the layer's own activation function of ``z [N, C, ...]``; return its output.

    Parameters
    ----------
    layer : NodeDraft
    z : str
    axis : int, optional
        Along which a softmax goes. By default the last one of arrays as users see them: of images NCHW the columns, as
        in Java, of NHWC the channels.
    """
    conf = layer.conf
    if axis is None:
        given = getattr(conf, "data_format", None) or getattr(conf, "input_format", None)
        axis = CHANNELS if channels_last(given) else LAST
    return activated(layer.draft, conf.activation, z, layer.name, axis)


def activated(draft: OnnxDraft, activation: Activation, z: str, name: str, axis: int = LAST) -> str:
    """Add an activation function of z; return its output.

    Parameters
    ----------
    draft : OnnxDraft
    activation : Activation
    z : str
    name : str
        Of the layer.
    axis : int
        Along which a softmax goes.

    Raises
    ------
    NotInOnnx
        It is one of the user's own.
    """
    kind = type(activation)
    function = FUNCTIONS.get(kind.__name__)
    if draft.dtype == "float64":
        function = DOUBLE.get(kind.__name__, function)
    if function is None or kind.__module__.partition(".")[0] != "nd":
        raise NotInOnnx(f"its activation {kind.__name__} is no function of ONNX's")
    return draft.activated(activation, z, lambda: function(Formula(draft, name, axis), activation, z))


def normal(layer: NodeDraft, x: str, gain: str) -> str:
    """Add rows ``[..., C]`` with mean 0 and variance 1, times a gain ``[C]``.

    Rows of equal numbers become 0 / 1: there is no epsilon. Source: ``nd.arrays.layer_norm``.
    """
    centered = layer.node("Sub", x, layer.reduced("ReduceMean", x, [-1], True))
    variance = layer.reduced("ReduceMean", layer.node("Mul", centered, centered), [-1], True)
    varies = layer.node("Where", layer.node("Greater", variance, 0.0), variance, 1.0)
    return layer.node("Mul", layer.node("Div", centered, layer.node("Sqrt", varies)), gain)


class Formula(AddsNodes):
    """Adds the nodes of a formula, by being called.

    Parameters
    ----------
    draft : OnnxDraft
    name : str
        Of the layer.
    axis : int
        Along which a softmax goes.
    """

    def __init__(self, draft: OnnxDraft, name: str, axis: int = LAST) -> None:
        self.draft, self.name, self.axis = draft, name, axis

    def __call__(self, op: str, *inputs: str | float, **attributes: Any) -> str:
        """Do what `node` does."""
        return self.node(op, *inputs, **attributes)


Function = Callable[[Formula, Any, str], str]


def _plain(op: str) -> Function:
    def add(f: Formula, activation: Any, z: str) -> str:
        return f(op, z)

    return add


def _gelu(f: Formula, activation: Any, z: str) -> str:
    if not activation.precise:
        return f("Mul", z, f("Sigmoid", f("Mul", z, 1.702)))
    scale = 2.0 * math.sqrt(2.0 / math.pi)  # 0.5 (1 + tanh u) = sigmoid(2 u)
    steepness = f("Add", f("Mul", f("Mul", z, z), 0.044715**3 * scale), scale)
    return f("Mul", z, f("Sigmoid", f("Mul", steepness, z)))


def _rational_tanh(f: Formula, activation: Any, z: str) -> str:
    y = f("Min", f("Mul", f("Abs", z), 2.0 / 3.0), 1e4)
    square = f("Mul", y, y)
    q = f("Add", f("Add", y, square), f("Mul", f("Mul", square, square), 1.41645))
    return f("Mul", f("Sign", z), f("Mul", f("Div", q, f("Add", q, 1.0)), 1.7159))


def _relu(f: Formula, activation: Any, z: str) -> str:
    threshold, slope, most = activation.threshold or 0.0, activation.negative_slope or 0.0, activation.max
    if not threshold and not slope:
        return f("Relu", z) if most is None else f("Clip", z, 0.0, most)
    below = f("Mul", f("Sub", f("Min", z, threshold), threshold), slope)
    above = f("Where", f("GreaterOrEqual", z, threshold), z, 0.0) if threshold else f("Relu", z)
    out = f("Add", above, below)
    return out if most is None else f("Min", out, most)


FUNCTIONS: dict[str, Function] = {
    "Cube": lambda f, activation, z: f("Mul", f("Mul", z, z), z),
    "ELU": lambda f, activation, z: f("Elu", z, alpha=activation.alpha),
    "GELU": _gelu,
    "HardSigmoid": lambda f, activation, z: f("HardSigmoid", z, alpha=0.2, beta=0.5),
    "HardTanh": lambda f, activation, z: f("Clip", z, -1.0, 1.0),
    "Identity": lambda f, activation, z: z,
    "LeakyReLU": lambda f, activation, z: f("LeakyRelu", z, alpha=activation.alpha),
    "Mish": lambda f, activation, z: f("Mul", z, f("Tanh", f("Softplus", z))),
    "RReLU": lambda f, activation, z: f("Max", z, (activation.l + activation.u) / 2.0),
    "RationalTanh": _rational_tanh,
    "ReLU": _relu,
    "ReLU6": lambda f, activation, z: f("Clip", z, 0.0, 6.0),
    "RectifiedTanh": lambda f, activation, z: f("Relu", f("Tanh", z)),
    "SELU": lambda f, activation, z: f("Selu", z, alpha=activation.alpha, gamma=activation.scale),
    "Sigmoid": _plain("Sigmoid"),
    "SoftPlus": _plain("Softplus"),
    "SoftSign": _plain("Softsign"),
    "Softmax": lambda f, activation, z: f("Softmax", z, axis=f.axis),
    "Swish": lambda f, activation, z: f("Mul", z, f("Sigmoid", z)),
    "Tanh": _plain("Tanh"),
    "ThresholdedReLU": lambda f, activation, z: f("ThresholdedRelu", z, alpha=activation.theta),
}
"""Class -> what adds it, sorted."""
