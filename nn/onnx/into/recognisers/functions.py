"""Functions of every element: Relu, Gelu, Clip and their like; PRelu, and Softmax."""

from __future__ import annotations

from typing import Any

from nd.activations import ELU, GELU, LeakyReLU, ReLU, ThresholdedReLU

from ....layers import ActivationLayer, Cnn3DLossLayer, CnnLossLayer, PReLULayer, RnnLossLayer
from ....vertices import ElementWiseVertex, ScaleVertex, ShiftVertex
from ...vertices import OnnxVertex
from ..layout import Value
from ..piece import Piece

PLAIN = {
    "Mish": "mish", "Relu": "relu", "Sigmoid": "sigmoid", "Softplus": "softplus", "Softsign": "softsign",
    "Tanh": "tanh",
}  # fmt: skip
"""Operator without settings -> activation."""
SELU = (1.6732632423543772, 1.0507009873554805)
NEAR = 1e-6


def is_near(number: float, wanted: float) -> bool:
    """Tell whether two numbers are one, of float32 perhaps."""
    return abs(number - wanted) <= NEAR * max(1.0, abs(wanted))


def plain(piece: Piece) -> Value:
    """Functions without settings."""
    return chain(piece, ActivationLayer(PLAIN[piece.op.op]))


def chain(piece: Piece, *confs: Any) -> Value:
    """Add functions of every element, one after the other."""
    value = piece.value()
    node = value.node
    for number, conf in enumerate(confs, 1):
        node = piece.add(conf, node, part="" if number == len(confs) else str(number))
    return piece.same(value, node)


def of_elements(piece: Piece) -> Value:
    """Return the operator as a vertex on the array as it lies: it does not look at axes."""
    value = piece.value()
    node = piece.add(OnnxVertex(piece.op.op, piece.op.attributes, opset=max(piece.opset, 20)), value.node)
    return value._replace(node=node, tag=None)


def celu(piece: Piece) -> Value:
    """Celu: alpha elu(x / alpha)."""
    alpha = piece.op.attribute("alpha", 1.0)
    if alpha == 1.0:
        return chain(piece, ActivationLayer(ELU()))
    return chain(piece, ScaleVertex(1.0 / alpha), ActivationLayer(ELU()), ScaleVertex(alpha))


def clip(piece: Piece) -> Value:
    """Clip."""
    low, high = (
        piece.op.attributes[name] if name in piece.op.attributes else piece.scalar(at)
        for at, name in ((1, "min"), (2, "max"))
    )
    piece.need(not (piece.op.input(1) and low is None) and not (piece.op.input(2) and high is None), "open limits")
    if low == 0.0 and high is None:
        return chain(piece, ActivationLayer("relu"))
    if low is None or high is None or low > high:
        piece.refuse("it has one limit")
    if (low, high) == (0.0, 6.0):
        return chain(piece, ActivationLayer("relu6"))
    if (low, high) == (-1.0, 1.0):
        return chain(piece, ActivationLayer("hardtanh"))
    if low == 0.0 and high > 0.0:
        return chain(piece, ActivationLayer(ReLU(max=high)))
    return piece.refuse("DL4J has no such limits")


def elu(piece: Piece) -> Value:
    """Elu."""
    return chain(piece, ActivationLayer(ELU(alpha=piece.op.attribute("alpha", 1.0))))


def gelu(piece: Piece) -> Value:
    """Gelu: a vertex, as Java's activation cubes a constant that others do not, and knows no error function."""
    return of_elements(piece)


def hard_sigmoid(piece: Piece) -> Value:
    """HardSigmoid."""
    alpha, beta = piece.op.attribute("alpha", 0.2), piece.op.attribute("beta", 0.5)
    if is_near(alpha, 0.2) and is_near(beta, 0.5):
        return chain(piece, ActivationLayer("hardsigmoid"))
    piece.need(alpha > 0.0, "it falls")
    if is_near(alpha, 1 / 6) and is_near(beta, 0.5):
        return chain(piece, ShiftVertex(3.0), ActivationLayer("relu6"), ScaleVertex(1 / 6))
    return chain(piece, ScaleVertex(alpha), ShiftVertex(beta), ActivationLayer(ReLU(max=1.0)))


def hard_swish(piece: Piece) -> Value:
    """HardSwish: x times a sixth of x + 3, held in 0 .. 6."""
    value = piece.value()
    shifted = piece.add(ShiftVertex(3.0), value.node, part="shift")
    held = piece.add(ActivationLayer("relu6"), shifted, part="hold")
    gate = piece.add(ScaleVertex(1 / 6), held, part="gate")
    return piece.same(value, piece.add(ElementWiseVertex("product"), [value.node, gate]))


def leaky_relu(piece: Piece) -> Value:
    """LeakyRelu."""
    return chain(piece, ActivationLayer(LeakyReLU(alpha=piece.op.attribute("alpha", 0.01))))


def prelu(piece: Piece) -> Value:
    """PRelu with a slope for every element, or the same along axes."""
    value, slope = piece.value(), piece.constant(1)
    sizes = piece.shape(piece.op.input(0))
    groups = value.axes
    value = piece.arranged(value, groups)
    piece.need(not piece.is_last(value), "channels are last")
    shape = (1,) * (len(sizes) - slope.ndim) + tuple(slope.shape)
    piece.need(len(shape) == len(sizes) and shape[0] == 1, "a slope for every example")
    shared = tuple(axis for axis, size in enumerate(shape[1:], 1) if size == 1)
    if len(shared) == len(shape) - 1:
        return chain(piece, ActivationLayer(LeakyReLU(alpha=float(slope.reshape(-1)[0]))))
    lengths = [size[0] if size[0] == size[1] else 1 for size in sizes[1:]]
    conf = PReLULayer(input_shape=tuple(lengths), shared_axes=shared or None)
    node = piece.add(conf, value.node, {"W": lambda: slope.reshape(shape[1:])})
    return piece.same(value, node)


def selu(piece: Piece) -> Value:
    """Selu, with the usual constants."""
    alpha, gamma = piece.op.attribute("alpha", SELU[0]), piece.op.attribute("gamma", SELU[1])
    if is_near(alpha, SELU[0]) and is_near(gamma, SELU[1]):
        return chain(piece, ActivationLayer("selu"))
    return chain(piece, ActivationLayer(ELU(alpha=alpha)), ScaleVertex(gamma))


def softmax(piece: Piece) -> Value:
    """Softmax over the last axis of rows, or over the channels of what only layers with a loss have behind them."""
    value = piece.value()
    rank = value.rank
    axis = piece.op.attribute("axis", -1 if piece.opset >= 13 else 1)
    axis += rank if axis < 0 else 0
    piece.need(piece.op.op == "Softmax" and rank >= 2, "DL4J has no logarithm of it")
    older = piece.opset < 13 and axis < rank - 1
    piece.need(not older or all(size == (1, 1) for size in piece.shape()[axis + 1 :]), "it is over several axes")
    if rank == 2 and axis == 1:
        value = piece.arranged(value, value.axes)
        return piece.same(value, piece.add(ActivationLayer("softmax"), value.node))
    piece.need(rank > 2 and len(value.inner) == rank, "its axis is a part of another")
    groups = (value.axes[0], value.axes[axis], *(group for at, group in enumerate(value.axes) if at not in (0, axis)))
    piece.need(axis != 0, "it is over examples")
    if value.inner[:2] != groups[:2]:
        value = piece.arranged(value, groups)
    loss = {3: RnnLossLayer, 4: CnnLossLayer, 5: Cnn3DLossLayer}.get(rank)
    piece.need(loss and piece.op.output in piece.recognition.graph.outputs, "DL4J's goes over the last axis")
    node, tag = piece.layer(loss, value, loss="mcxent", activation="softmax")
    return piece.same(value, node, tag)


def swish(piece: Piece) -> Value:
    """Swish: that of alpha x, divided by alpha."""
    alpha = piece.op.attribute("alpha", 1.0)
    if alpha == 1.0:
        return chain(piece, ActivationLayer("swish"))
    if is_near(alpha, 1.702):
        return chain(piece, ActivationLayer(GELU()))
    return chain(piece, ScaleVertex(alpha), ActivationLayer("swish"), ScaleVertex(1.0 / alpha))


def thresholded_relu(piece: Piece) -> Value:
    """ThresholdedRelu."""
    return chain(piece, ActivationLayer(ThresholdedReLU(theta=piece.op.attribute("alpha", 1.0))))
