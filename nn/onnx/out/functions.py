"""Activation functions as operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nd.activations import Activation

from ..draft import OnnxDraft
from .node_draft import NotInOnnx

Function = Callable[[OnnxDraft, Any, str, str], str]


def activated(draft: OnnxDraft, activation: Activation, z: str, name: str) -> str:
    """Add an activation function of ``z [N, C, ...]``; return its output."""
    function = FUNCTIONS.get(type(activation).__name__)
    if function is None or type(activation).__module__.partition(".")[0] != "nd":
        raise NotInOnnx(f"{type(activation).__name__} is no function of ONNX's")
    return function(draft, activation, z, f"{name}/{type(activation).__name__}")


def _plain(op: str, **attributes: Any) -> Function:
    def add(draft: OnnxDraft, activation: Any, z: str, name: str) -> str:
        return draft.node(op, [z], name, **attributes)

    return add


FUNCTIONS: dict[str, Function] = {
    "Identity": lambda draft, activation, z, name: z,
    "ReLU": _plain("Relu"),
    "Sigmoid": _plain("Sigmoid"),
    "SoftPlus": _plain("Softplus"),
    "SoftSign": _plain("Softsign"),
    "Softmax": _plain("Softmax", axis=1),
    "Tanh": _plain("Tanh"),
}
"""Class -> what adds it."""
