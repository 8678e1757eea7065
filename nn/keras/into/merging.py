"""Layers of several inputs: Add to Subtract, Concatenate, Dot."""

from __future__ import annotations

from collections.abc import Sequence

from ...onnx.vertices import OnnxVertex
from ...terms.data_formats import channels_last
from ...vertices import ElementWiseVertex, MergeVertex, ScaleVertex
from .piece import Piece, Value

OPS = {"Add": "add", "Average": "average", "Maximum": "max", "Multiply": "product", "Subtract": "subtract"}
"""Class of Keras -> function of an ElementWiseVertex."""


def element_wise(piece: Piece) -> Value:
    """Add, Average, Maximum, Multiply, Subtract: number by number, with axes of length 1 repeated."""
    op = OPS[piece.layer.class_name]
    piece.need(op != "subtract" or len(piece.values) == 2, f"it is called with {len(piece.values)} inputs")
    values = alike(piece)
    shape = _broadcast(piece, values)
    if len(values) == 1:
        return values[0]
    return piece.give(piece.add(ElementWiseVertex(op), nodes_of(values)), shape, values[0].data_format)


def minimum(piece: Piece) -> Value:
    """Minimum: the negative of the maximum of what is negated."""
    values = alike(piece)
    shape = _broadcast(piece, values)
    if len(values) == 1:
        return values[0]
    turned = [piece.add(ScaleVertex(-1.0), value.node, part=f"minus{at}") for at, value in enumerate(values)]
    most = piece.add(ElementWiseVertex("max"), turned, part="max")
    return piece.give(piece.add(ScaleVertex(-1.0), most), shape, values[0].data_format)


def concatenate(piece: Piece) -> Value:
    """Concatenate along an axis, the last unless it is told."""
    values = alike(piece, broadcast=False)
    rank = len(values[0].shape) + 1
    axis = int(piece.get("axis", -1)) % rank
    piece.need(axis > 0, "examples behind one another")
    if axis == 1 and channels_last(values[0].data_format):  # which MergeVertex takes for the channels
        values = [piece.opened(value, part=f"open{at}") for at, value in enumerate(values)]
    if len(values) == 1:
        return values[0]
    lengths = [value.shape[axis - 1] for value in values]
    shape = list(values[0].shape)
    shape[axis - 1] = None if None in lengths else sum(lengths)  # type: ignore[arg-type]
    return piece.give(piece.add(MergeVertex(axis), nodes_of(values)), shape, values[0].data_format)


def dot(piece: Piece) -> Value:
    """Dot of two rows."""
    piece.need(len(piece.values) == 2, f"it is called with {len(piece.values)} inputs")
    first, second = piece.values
    axes = piece.get("axes")
    given = [axes] * 2 if isinstance(axes, int) else list(axes)
    ranks = len(first.shape), len(second.shape)
    piece.need(ranks == (1, 1) and all(axis in (1, -1) for axis in given), f"axes={axes!r} of {ranks} axes")
    piece.need(first.shape == second.shape, f"rows of {first.shape} and {second.shape}")
    piece.need(not piece.get("normalize"), "normalize=True")
    product = piece.add(ElementWiseVertex("product"), [first.node, second.node], part="product")
    summed = OnnxVertex("ReduceSum", {"keepdims": 1}, {1: [1]})
    return piece.give(piece.add(summed, product), (1,))


def nodes_of(values: Sequence[Value]) -> list[str]:
    """Return the vertices of values."""
    return [value.node for value in values]


def alike(piece: Piece, broadcast: bool = True) -> list[Value]:
    """Return all inputs with as many axes, in one format; axes that are missing come behind the examples."""
    values = list(piece.values)
    rank = max(len(value.shape) for value in values)
    if any(len(value.shape) < rank for value in values):
        piece.need(broadcast, f"inputs of {sorted({len(value.shape) for value in values})} axes")
        values = [_lifted(piece, value, rank, at) for at, value in enumerate(values)]
    tags = {value.data_format for value in values if channels_last(value.data_format)}
    if not tags:
        return values
    if len(tags) == 1 and all(channels_last(value.data_format) for value in values):
        return values
    return [piece.opened(value, part=f"open{at}") for at, value in enumerate(values)]


def _lifted(piece: Piece, value: Value, rank: int, at: int) -> Value:
    """Return a value with axes of length 1 behind the examples."""
    more = rank - len(value.shape)
    value = piece.opened(value, part=f"open{at}")
    if not more:
        return value
    axes = list(range(1, more + 1))
    node = piece.add(OnnxVertex("Unsqueeze", {}, {1: axes}), value.node, part=f"axes{at}")
    return value._replace(node=node, shape=(*(1,) * more, *value.shape))


def _broadcast(piece: Piece, values: Sequence[Value]) -> list[int | None]:
    """Return the shape of all together."""
    shape: list[int | None] = []
    for lengths in zip(*(value.shape for value in values), strict=True):
        longer = {length for length in lengths if length != 1}
        piece.need(len(longer - {None}) < 2, f"inputs of {[value.shape for value in values]}")
        shape.append(next(iter(longer - {None}), None) if longer else 1)
    return shape
