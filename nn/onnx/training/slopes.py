"""Derivatives of activation functions as operators, at kinks too those of `nd.activations`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nd.activations import Activation

from .tensors import Tensor

Slope = Callable[[Any, Tensor, Tensor], Tensor]
"""(activation, z, a) -> da/dz."""


def back_through(activation: Activation, z: Tensor, a: Tensor) -> Callable[[Tensor], dict[str, Tensor]]:
    """Return what turns dL/da into dL/dz."""
    slope = SLOPES[type(activation).__name__]
    return lambda epsilon: {z.name: epsilon * slope(activation, z, a)}


def _elu(activation: Any, z: Tensor, a: Tensor) -> Tensor:
    return z.where("GreaterOrEqual", 0.0, 1.0, a + activation.alpha)


def _relu(activation: Any, z: Tensor, a: Tensor) -> Tensor:
    compare = "GreaterOrEqual" if activation.negative_slope or activation.threshold else "Greater"
    slope = z.where(compare, activation.threshold or 0.0, 1.0, activation.negative_slope or 0.0)
    return slope if activation.max is None else slope * z.holds("Less", activation.max)


def _rational_tanh(activation: Any, z: Tensor, a: Tensor) -> Tensor:
    y = (z.abs() * (2.0 / 3.0)).op("Min", 1e4)
    square = y * y
    q = y + square + 1.41645 * square.square()
    rise = 1.0 + 2.0 * y + (4.0 * 1.41645) * y * square
    return (1.7159 * 2.0 / 3.0) * rise / (q + 1.0).square()


def _gated(x: Tensor, gate: Tensor, steepness: Tensor | float) -> Tensor:
    """Return the slope of x σ(g(x)): σ (1 + x (1 - σ) g')."""
    s = gate.sigmoid()
    return s * (1.0 + x * ((1.0 - s) * steepness))


def _gelu(activation: Any, z: Tensor, a: Tensor) -> Tensor:
    if not activation.precise:
        return _gated(z, z * 1.702, 1.702)
    x = z.clip(-50.0, 50.0)  # the gate is 0 or 1 beyond
    scale = 2.0 * math.sqrt(2.0 / math.pi)
    t = x.square() * (0.044715**3 * scale)
    return _gated(x, (t + scale) * x, 3.0 * t + scale)


def _mish(activation: Any, z: Tensor, a: Tensor) -> Tensor:
    x = z.op("Min", 20.0)
    e = x.exp()
    n = e * (e + 2.0)
    t = 1.0 / (n + 2.0)
    return n * t + x * (4.0 * e * (e + 1.0) * t * t)


def _soft_sign(activation: Any, z: Tensor, a: Tensor) -> Tensor:
    return (1.0 / (z.abs() + 1.0)).square()


def _selu(activation: Any, z: Tensor, a: Tensor) -> Tensor:
    return a.op("Min", 0.0) + a.where("Greater", 0.0, activation.scale, activation.scale * activation.alpha)


SLOPES: dict[str, Slope] = {
    "Cube": lambda activation, z, a: 3.0 * z.square(),
    "ELU": _elu,
    "GELU": _gelu,
    "HardSigmoid": lambda activation, z, a: z.abs().where("LessOrEqual", 2.5, 0.2, 0.0),
    "HardTanh": lambda activation, z, a: z.abs().holds("LessOrEqual", 1.0),
    "LeakyReLU": lambda activation, z, a: z.where("GreaterOrEqual", 0.0, 1.0, activation.alpha),
    "Mish": _mish,
    "RationalTanh": _rational_tanh,
    "ReLU": _relu,
    "ReLU6": lambda activation, z, a: a.holds("Greater", 0.0) * a.holds("Less", 6.0),
    "RectifiedTanh": lambda activation, z, a: a.holds("Greater", 0.0) - a.square(),
    "SELU": _selu,
    "Sigmoid": lambda activation, z, a: a * (1.0 - a),
    "SoftPlus": lambda activation, z, a: 1.0 - (-a).exp(),
    "SoftSign": _soft_sign,
    "Swish": lambda activation, z, a: _gated(z, z, 1.0),
    "Tanh": lambda activation, z, a: 1.0 - a.square(),
    "ThresholdedReLU": lambda activation, z, a: z.holds("Greater", activation.theta),
}
"""Class -> da/dz, sorted. Softmax, whose numbers depend on one another, is differentiated as the operator."""
