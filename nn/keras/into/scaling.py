"""Rescaling, and EinsumDense of one number for every channel."""

from __future__ import annotations

from ...layers import ElementWiseMultiplicationLayer
from ...vertices import ScaleVertex, ShiftVertex
from .dense import as_row
from .piece import Piece, Value


def rescaling(piece: Piece) -> Value:
    """Rescaling: ScaleVertex and ShiftVertex, of which one that changes nothing is left out."""
    value = piece.value
    numbers = [piece.get("scale", 1.0), piece.get("offset", 0.0)]
    piece.need(all(isinstance(number, (int, float)) for number in numbers), "numbers for every channel")
    scale, offset = map(float, numbers)
    node = value.node
    if scale != 1.0 or not offset:
        node = piece.add(ScaleVertex(scale), node, part="scale" if offset else "")
    if offset:
        node = piece.add(ShiftVertex(offset), node)
    return value._replace(node=node)


def einsum_dense(piece: Piece) -> Value:
    """EinsumDense: rows times a vector, plus another one."""
    value = piece.value
    equation, axes = str(piece.get("equation")).replace("ab,b->ab", "...x,x->...x"), piece.get("bias_axes")
    piece.need(equation == "...x,x->...x" and bool(axes) and len(axes) == 1, f"equation={equation!r}")
    piece.need(len(value.shape) == 1, f"an input of shape {value.shape}")
    piece.get("output_shape")
    arrays = piece.arrays(W=as_row(piece.weight("kernel", 0)), b=as_row(piece.weight("bias", 1)))
    size = value.shape[0]
    return piece.add_layer(ElementWiseMultiplicationLayer, value.shape, None, arrays, n_in=size, n_out=size)
