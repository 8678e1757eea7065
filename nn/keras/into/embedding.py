"""Embedding: rows of a table, named by numbers."""

from __future__ import annotations

from ...layers import EmbeddingSequenceLayer
from ...onnx.vertices import OnnxVertex
from ...terms.data_formats import SERIES
from .masking import mask_of_numbers
from .piece import Piece, Value


def embedding(piece: Piece) -> Value:
    """Embedding: a series of rows for every row of numbers; other arrays of numbers by a vertex."""
    value, rows, width = piece.value, int(piece.get("input_dim")), int(piece.get("output_dim"))
    masks = bool(piece.get("mask_zero"))
    table = piece.weight("embeddings")
    settings = piece.trained("embeddings", None)
    if len(value.shape) == 1:
        conf = EmbeddingSequenceLayer(n_in=rows, n_out=width, data_format=SERIES[1], **settings)
        node = piece.add(conf, value.node, piece.arrays(W=table))
        mask = mask_of_numbers(piece, value) if masks else None
        return Value(node, (*value.shape, width), SERIES[1], mask)
    piece.need(not masks, f"mask_zero=True of numbers of shape {value.shape}")
    if table is None:
        piece.refuse(f"an input of shape {value.shape} without weights")
    value = piece.opened(value)
    vertex = OnnxVertex("Gather", {"axis": 0}, {0: table()}, trained=(0,))
    return piece.give(piece.add(vertex, value.node), (*value.shape, width))
