"""Products with matrices of constants: rows, series and images through a DenseLayer at every place."""

from __future__ import annotations

from typing import Any

from nd.typing import HostArray

from ....layers import Convolution3D, ConvolutionLayer, DenseLayer, TimeDistributed
from ..draft import Arrays
from ..layout import Value
from ..piece import Piece


def dense(piece: Piece) -> Value:
    """Gemm and MatMul with a constant matrix, and the bias behind it."""
    value, op = piece.value(), piece.op
    rows, columns = (size[0] for size in piece.shape(op.inputs[1]))
    n_in, n_out = (columns, rows) if op.attribute("transB", 0) else (rows, columns)
    arrays = _arrays(piece, n_out)
    settings: dict[str, Any] = {"n_in": n_in, "n_out": n_out, "has_bias": "b" in arrays, "activation": "identity"}
    *places, channels = value.axes
    solid = [axis for axis in places if piece.factors.solid(axis)]
    if len(places) == 1 and len(solid) == 1 and len(solid[0]) > 1:  # rows that are steps of examples
        solid = [(factor,) for factor in piece.factors.solid(solid[0])]
    if len(solid) == 1 or (len(places) == 1 and not solid):
        first = solid[0] if solid else places[0]
        value = piece.arranged(value, (first, channels))
        node = piece.add(DenseLayer(**settings), value.node, arrays)
        new = (piece.factors.new((n_out, n_out)),)
        return Value(node, (*places, new), (first, new), None)
    return _of_places(piece, value, solid or places, settings, arrays)


def _of_places(
    piece: Piece, value: Value, places: list[tuple[int, ...]], settings: dict[str, Any], arrays: Arrays
) -> Value:
    """Add a layer that works at every time step, at every pixel, or at every cell of a volume."""
    piece.need(len(places) in (2, 3, 4), "it has too many axes")
    first = next((axis for axis in places if piece.draft.are_examples(axis, value)), places[0])
    groups = (first, value.axes[-1], *(axis for axis in places if axis != first))
    value = piece.arranged(value, groups)
    n_out = settings["n_out"]
    new = (piece.factors.new((n_out, n_out)),)
    if len(places) == 2:
        node, tag = piece.layer(TimeDistributed, value, arrays, layer=DenseLayer(**settings))
    else:
        size = (1,) * (len(places) - 1)
        kernels = {**arrays, "W": lambda: arrays["W"]().T.reshape(settings["n_out"], -1, *size)}
        kind = ConvolutionLayer if len(size) == 2 else Convolution3D
        node, tag = piece.layer(kind, value, kernels, kernel_size=size, **settings)
    return Value(node, (*value.axes[:-1], new), (groups[0], new, *groups[2:]), tag)


def _arrays(piece: Piece, n_out: int) -> Arrays:
    """Return ``W [n_in, n_out]`` and ``b [1, n_out]``."""
    op, known = piece.op, piece.known
    alpha, beta, turned = op.attribute("alpha", 1.0), op.attribute("beta", 1.0), op.attribute("transB", 0)

    def weights() -> HostArray:
        array = known.read(op.inputs[1])
        array = array.T if turned else array
        return array if alpha == 1.0 else array * alpha

    def bias() -> HostArray:
        array = known.read(op.inputs[2]).reshape(-1)
        array = array if array.size == n_out else array.repeat(n_out)
        return (array if beta == 1.0 else array * beta).reshape(1, -1)

    return {"W": weights, "b": bias} if op.input(2) and beta else {"W": weights}
