"""Activation functions in double precision, by operators that runtimes have in it.

Operators like Elu have a formula by others in ONNX, but runtimes read it at some opsets alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Add = Callable[..., str]
"""Adds a node: ``f("Mul", z, 2.0)``."""


def _expm1_below(f: Add, z: str) -> str:
    """Return exp(z) - 1 where z < 0, else 0."""
    return f("Sub", f("Exp", f("Min", z, 0.0)), 1.0)


def _elu(f: Add, activation: Any, z: str) -> str:
    return f("Add", f("Relu", z), f("Mul", _expm1_below(f, z), activation.alpha))


def _selu(f: Add, activation: Any, z: str) -> str:
    return f("Mul", _elu(f, activation, z), activation.scale)


def _leaky(f: Add, activation: Any, z: str) -> str:
    return f("Add", f("Relu", z), f("Mul", f("Min", z, 0.0), activation.alpha))


def _soft_plus(f: Add, z: str) -> str:
    """Return ln(1 + exp(z)): onnxruntime's operator is infinite above 709."""
    return f("Add", f("Relu", z), f("Log", f("Add", f("Exp", f("Neg", f("Abs", z))), 1.0)))


DOUBLE: dict[str, Callable[[Any, Any, str], str]] = {
    "ELU": _elu,
    "HardSigmoid": lambda f, activation, z: f("Clip", f("Add", f("Mul", z, 0.2), 0.5), 0.0, 1.0),
    "LeakyReLU": _leaky,
    "Mish": lambda f, activation, z: f("Mul", z, f("Tanh", _soft_plus(f, z))),
    "SELU": _selu,
    "SoftPlus": lambda f, activation, z: _soft_plus(f, z),
    "SoftSign": lambda f, activation, z: f("Div", z, f("Add", f("Abs", z), 1.0)),
    "ThresholdedReLU": lambda f, activation, z: f("Where", f("Greater", z, activation.theta), z, 0.0),
}
"""Class -> what adds it, sorted; others have the same operators in both precisions."""
