"""Dense layers, and those that only activate."""

from __future__ import annotations

from .functions import activated
from .node_draft import NodeDraft


def dense(layer: NodeDraft) -> str:
    """DenseLayer and its output layers: Gemm."""
    bias = [layer.param("b", shape=(-1,))] if "b" in layer.params else []
    z = layer.node("Gemm", layer.x, layer.param("W"), *bias)
    return activated(layer.draft, layer.conf.activation, z, layer.name)


def activation(layer: NodeDraft) -> str:
    """ActivationLayer and LossLayer."""
    return activated(layer.draft, layer.conf.activation, layer.x, layer.name)


def nothing(layer: NodeDraft) -> str:
    """What does something in training alone."""
    return layer.x
