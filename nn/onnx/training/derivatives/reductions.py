"""Derivatives of sums and means, and of the softmax."""

from __future__ import annotations

from ..tensors import Tensor
from .node_back import NodeBack

Below = list[Tensor | None]
LEAST_NORM = 1e-30


def reduced_axes(node: NodeBack) -> list[int]:
    """Return the axes that a reduction goes over: an input since opset 13 or 18, an attribute before."""
    rank = len(node.shape(node.x))
    given = node.constant(1) if node.has(1) else node.attribute("axes", list(range(rank)))
    return [axis % rank for axis in given]


def kept(node: NodeBack, tensor: Tensor) -> Tensor:
    """Return the output of a reduction, or its gradient, with the axes that it went over of size 1."""
    return tensor if node.attribute("keepdims", 1) else tensor.op("Unsqueeze", tensor.ints(*reduced_axes(node)))


def total(node: NodeBack) -> Below:
    """ReduceSum."""
    return [kept(node, node.epsilon).expand_as(node.x), None]


def mean(node: NodeBack) -> Below:
    """ReduceMean."""
    return [kept(node, node.epsilon / node.repeated()).expand_as(node.x), None]


def norm(node: NodeBack) -> Below:
    """ReduceL2; 0 where the norm is 0."""
    y = kept(node, node.y)
    floor = y.like(LEAST_NORM)
    return [node.x * (kept(node, node.epsilon) / y.op("Max", floor)), None]


def softmax(node: NodeBack) -> Below:
    """Softmax: y (epsilon - sum of epsilon y)."""
    axis = node.axis(node.attribute("axis", -1), node.y)
    return [(node.epsilon - (node.epsilon * node.y).sum([axis], keepdims=True)) * node.y]
