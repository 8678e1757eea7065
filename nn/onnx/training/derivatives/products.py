"""Derivatives of products of matrices."""

from __future__ import annotations

from ...out.node_draft import NotInOnnx
from ..tensors import Tensor
from .node_back import NodeBack

Below = list[Tensor | None]


def gemm(node: NodeBack) -> Below:
    """Gemm: alpha A B + beta C."""
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    turned = node.attribute("transA", 0), node.attribute("transB", 0)
    a, b = node.input(0), node.input(1)
    below: Below = [None, None, None]
    if node.needs(0):  # A: epsilon B^T, turned if A was
        pair, turns = ((b, node.epsilon), (turned[1], 1)) if turned[0] else ((node.epsilon, b), (0, 1 - turned[1]))
        below[0] = pair[0].op("Gemm", pair[1], alpha=alpha, transA=turns[0], transB=turns[1])
    if node.needs(1):  # B: A^T epsilon
        pair, turns = ((node.epsilon, a), (1, turned[0])) if turned[1] else ((a, node.epsilon), (1 - turned[0], 0))
        below[1] = pair[0].op("Gemm", pair[1], alpha=alpha, transA=turns[0], transB=turns[1])
    if node.needs(2):
        below[2] = node.fitted(node.epsilon if beta == 1.0 else beta * node.epsilon, 2)
    return below


def matmul(node: NodeBack) -> Below:
    """MatMul of stacks of matrices, of which one may stand for all of the other's."""
    ranks = [len(node.shape(node.input(number))) for number in (0, 1)]
    if min(ranks) < 2:
        raise NotInOnnx("a product with a vector has no derivative here")
    a, b = node.input(0), node.input(1)
    below: Below = [None, None]
    if node.needs(0):
        below[0] = _summed(node, node.epsilon.op("MatMul", _turned(b, ranks[1])), 0)
    if node.needs(1):
        below[1] = _summed(node, _turned(a, ranks[0]).op("MatMul", node.epsilon), 1)
    return below


def _turned(x: Tensor, rank: int) -> Tensor:
    """Return x with its last two axes exchanged."""
    return x.transpose(*range(rank - 2), rank - 1, rank - 2)


def _summed(node: NodeBack, gradient: Tensor, number: int) -> Tensor:
    """Return the gradient of a matrix that stood for several: their sum."""
    given, made = node.shape(node.input(number)), node.shape(node.y)
    missing = len(made) - len(given)
    gradient = gradient.sum(range(missing)) if missing else gradient
    repeated = [axis for axis in range(len(given) - 2) if given[axis] == 1 and made[missing + axis] != 1]
    return gradient.sum(repeated, keepdims=True) if repeated else gradient
