"""BatchNormalization and LRN."""

from __future__ import annotations

import nd
from nd.typing import HostArray

from ....layers import BatchNormalization, LocalResponseNormalization
from ....layers.normalization.batch_normalization import LEAST_VARIANCE, LOG10_SQUARED
from ..layout import Value
from ..piece import Piece


def batch_normalization(piece: Piece) -> Value:
    """BatchNormalization of a network that answers."""
    op, value = piece.op, piece.value()
    piece.need(not op.attribute("training_mode", 0), "it is in training")
    piece.need(2 <= value.rank <= 5, "too many axes")
    for position in range(1, 5):
        piece.constant(position)
    value = piece.arranged(value, value.axes)
    channels = piece.shape()[1][0]
    names = dict(zip(("gamma", "beta", "mean"), (1, 2, 3), strict=True))
    arrays = {name: _row(piece, position) for name, position in names.items()}
    arrays["log10stdev"] = lambda: _deviation(piece.constant(4))
    conf = {"n_out": channels, "eps": op.attribute("epsilon", 1e-5), "decay": op.attribute("momentum", 0.9)}
    node, tag = piece.layer(BatchNormalization, value, arrays, **conf)
    return piece.same(value, node, tag)


def _row(piece: Piece, position: int):  # type: ignore[no-untyped-def]
    return lambda: piece.constant(position).reshape(1, -1)


def _deviation(variance: HostArray) -> HostArray:
    """Return variances as DL4J keeps them, as logarithms of the deviation."""
    with nd.use_backend("numpy"):
        held = nd.maximum(nd.as_array(variance, "float64"), LEAST_VARIANCE)
        return nd.to_host(nd.reshape(nd.divide(nd.log(held), LOG10_SQUARED), (1, -1)))


def lrn(piece: Piece) -> Value:
    """LRN, of which DL4J does not divide alpha by the number; its window is as wide on both sides."""
    op, value = piece.op, piece.value()
    size = op.attribute("size")
    piece.need(size % 2 == 1, "its window is wider on one side")
    piece.need(value.rank == 4, "DL4J's is of images")
    value = piece.arranged(value, value.axes)
    node, tag = piece.layer(
        LocalResponseNormalization, value, n=size, k=op.attribute("bias", 1.0),
        alpha=op.attribute("alpha", 1e-4) / size, beta=op.attribute("beta", 0.75),
    )  # fmt: skip
    return piece.same(value, node, tag)
