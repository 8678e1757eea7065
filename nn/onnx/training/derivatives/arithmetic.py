"""Derivatives of operators on numbers, with inputs that are repeated to one shape."""

from __future__ import annotations

import math

from ..tensors import Tensor
from .node_back import NodeBack

Below = list[Tensor | None]


def absolute(node: NodeBack) -> Below:
    """Abs; 0 at 0."""
    return [node.epsilon * node.x.sign()]


def add(node: NodeBack) -> Below:
    """Add, and Sum."""
    count = len(node.node.input)
    return [node.fitted(node.epsilon, number) if node.needs(number) else None for number in range(count)]


def batch_normalization(node: NodeBack) -> Below:
    """BatchNormalization with constants: the factor of every channel."""
    scale, variance = node.input(1), node.input(4)
    factor = scale / (variance + node.attribute("epsilon", 1e-5)).sqrt()
    return [node.epsilon * factor.reshape(1, -1, *(1 for _ in node.shape(node.x)[2:]))]


def subtract(node: NodeBack) -> Below:
    """Sub."""
    first = node.fitted(node.epsilon, 0) if node.needs(0) else None
    return [first, node.fitted(-node.epsilon, 1) if node.needs(1) else None]


def multiply(node: NodeBack) -> Below:
    """Mul."""
    first = node.fitted(node.epsilon * node.input(1), 0) if node.needs(0) else None
    return [first, node.fitted(node.epsilon * node.input(0), 1) if node.needs(1) else None]


def divide(node: NodeBack) -> Below:
    """Div."""
    share = node.epsilon / node.input(1)
    first = node.fitted(share, 0) if node.needs(0) else None
    return [first, node.fitted(-(share * node.y), 1) if node.needs(1) else None]


def negate(node: NodeBack) -> Below:
    """Neg."""
    return [-node.epsilon]


def error_function(node: NodeBack) -> Below:
    """Erf: 2 / √π exp(-x²)."""
    return [node.epsilon * ((-node.x.square()).exp() * (2.0 / math.sqrt(math.pi)))]


def exponential(node: NodeBack) -> Below:
    """Exp."""
    return [node.epsilon * node.y]


def logarithm(node: NodeBack) -> Below:
    """Log."""
    return [node.epsilon / node.x]


def root(node: NodeBack) -> Below:
    """Sqrt."""
    return [node.epsilon / (2.0 * node.y)]


def power(node: NodeBack) -> Below:
    """Pow with a constant exponent."""
    exponent = node.constant(1)
    return [node.fitted(node.epsilon * (exponent * node.x ** (exponent - 1.0)), 0), None]


def relu(node: NodeBack) -> Below:
    """Relu; 0 at 0."""
    return [node.epsilon * node.y.holds("Greater", 0.0)]


def sigmoid(node: NodeBack) -> Below:
    """Sigmoid."""
    return [node.epsilon * (node.y * (1.0 - node.y))]


def tanh(node: NodeBack) -> Below:
    """Tanh."""
    return [node.epsilon * (1.0 - node.y.square())]


def prelu(node: NodeBack) -> Below:
    """PRelu: x from 0 on, slope * x below."""
    x, slope = node.x, node.input(1)
    first = node.epsilon * x.where("GreaterOrEqual", 0.0, 1.0, slope) if node.needs(0) else None
    return [first, node.fitted(node.epsilon * x.op("Min", 0.0), 1) if node.needs(1) else None]


def clip(node: NodeBack) -> Below:
    """Clip; 1 at the limits."""
    slope = node.epsilon
    slope = slope * node.x.holds("GreaterOrEqual", node.input(1)) if node.has(1) else slope
    slope = slope * node.x.holds("LessOrEqual", node.input(2)) if node.has(2) else slope
    return [slope, None, None]


def maximum(node: NodeBack) -> Below:
    """Max; the first of equals has the gradient."""
    below: Below = []
    left = node.epsilon
    for number, x in enumerate(node.inputs()):
        share = left * x.holds("Equal", node.y)
        left = left - share
        below.append(node.fitted(share, number) if node.needs(number) else None)
    return below


def where(node: NodeBack) -> Below:
    """Where."""
    condition, zero = node.input(0), node.epsilon.like(0.0)
    yes = condition.op("Where", node.epsilon, zero) if node.needs(1) else None
    no = condition.op("Where", zero, node.epsilon) if node.needs(2) else None
    return [None, yes and node.fitted(yes, 1), no and node.fitted(no, 2)]
