"""Sums, products and their like, of tensors and with constants."""

from __future__ import annotations

from typing import Any

from nd.typing import HostArray

from ....layers import ActivationLayer, DepthwiseConvolution2D, ElementWiseMultiplicationLayer
from ....vertices import ElementWiseVertex, ScaleVertex, ShiftVertex
from ..layout import Value
from ..piece import Piece
from .alike import alike, format_of
from .functions import chain


def add(piece: Piece) -> Value:
    """Add and Sum."""
    return _combined(piece, "add")


def subtract(piece: Piece) -> Value:
    """Sub."""
    if not piece.is_value(0):
        number = piece.scalar(0)
        if number is None:
            piece.refuse("it is of an array of constants")
        return _negated(piece, number)
    return _combined(piece, "subtract")


def _negated(piece: Piece, number: float) -> Value:
    """Return a number less a tensor."""
    value = piece.value(1)
    _keeps_shape(piece, 1)
    turned = piece.add(ScaleVertex(-1.0), value.node, part="negative")
    return piece.same(value, piece.add(ShiftVertex(number), turned))


def negate(piece: Piece) -> Value:
    """Neg."""
    return chain(piece, ScaleVertex(-1.0))


def multiply(piece: Piece) -> Value:
    """Mul."""
    return _combined(piece, "product")


def divide(piece: Piece) -> Value:
    """Div by a number."""
    number = piece.scalar(1)
    if number is None or not number or not piece.is_value(0):
        piece.refuse("DL4J divides by numbers")
    _keeps_shape(piece, 0)
    return chain(piece, ScaleVertex(1.0 / number))


def maximum(piece: Piece) -> Value:
    """Max."""
    return _of_values(piece, "max")


def mean(piece: Piece) -> Value:
    """Mean."""
    return _of_values(piece, "average")


def power(piece: Piece) -> Value:
    """Pow by 2 or 3."""
    exponent = piece.scalar(1)
    piece.need(exponent in (2.0, 3.0) and piece.is_value(0), "DL4J has no powers")
    _keeps_shape(piece, 0)
    if exponent == 3.0:
        return chain(piece, ActivationLayer("cube"))
    value = piece.value()
    return piece.same(value, piece.add(ElementWiseVertex("product"), [value.node, value.node]))


def _combined(piece: Piece, op: str) -> Value:
    """Return a function of two tensors, or of one and a constant."""
    at = [position for position in range(len(piece.op.inputs)) if piece.is_value(position)]
    if len(at) == len(piece.op.inputs):
        return _of_values(piece, op)
    piece.need(len(piece.op.inputs) == 2, "constants are among several inputs")
    (position,) = at
    number = piece.scalar(1 - position)
    value = piece.value(position)
    if number is None:
        return _of_channels(piece, value, piece.constant(1 - position), op)
    _keeps_shape(piece, position)
    conf: Any = ScaleVertex(number) if op == "product" else ShiftVertex(number if op == "add" else -number)
    return piece.same(value, piece.add(conf, value.node))


def _keeps_shape(piece: Piece, position: int) -> None:
    piece.need(piece.shape(piece.op.inputs[position]) == piece.shape(), "it has more axes behind it")


def _of_values(piece: Piece, op: str) -> Value:
    names = piece.op.inputs
    values = [piece.value(position) for position in range(len(names))]
    behind = piece.shape()
    piece.need(all(value.rank == len(behind) for value in values), "its inputs have several numbers of axes")
    whole = [value for value, name in zip(values, names, strict=True) if piece.shape(name) == behind]
    piece.need(whole, "both inputs are repeated")
    piece.need(all(piece.shape(name)[0] == behind[0] for name in names), "examples are repeated")
    made = alike(piece, [whole[0], *values])
    node = piece.add(ElementWiseVertex(op), [value.node for value in made[1:]])
    return made[0]._replace(node=node, tag=format_of(made[1:]))


def _of_channels(piece: Piece, value: Value, array: HostArray, op: str) -> Value:
    """Return a tensor with a factor or a term for every channel."""
    piece.need(op in ("add", "product", "subtract") and value.rank in (2, 4), "it is no number for every channel")
    _keeps_shape(piece, 0 if piece.is_value(0) else 1)
    shape = (1,) * (value.rank - array.ndim) + tuple(array.shape)
    channels = piece.shape()[1][0]
    piece.need(shape == (1, channels, *(1,) * (value.rank - 2)), "it is no number for every channel")
    value = piece.arranged(value, value.axes)
    row = array.reshape(1, -1)
    factors, terms = (row, row * 0.0) if op == "product" else (row * 0.0 + 1.0, row if op == "add" else -row)
    if value.rank == 2:
        conf = ElementWiseMultiplicationLayer(n_in=channels, n_out=channels, activation="identity")
        return piece.same(value, piece.add(conf, value.node, {"W": lambda: factors, "b": lambda: terms}))
    arrays = {"W": lambda: factors.reshape(1, 1, channels, 1), "b": lambda: terms}
    node, tag = piece.layer(
        DepthwiseConvolution2D, value, arrays, n_in=channels, kernel_size=(1, 1), activation="identity",
        convolution_mode="truncate", stride=(1, 1),
    )  # fmt: skip
    return piece.same(value, node, tag)
