"""Layers that look rows of a table up: Gather."""

from __future__ import annotations

from .functions import activate
from .node_draft import NodeDraft


def embedding(layer: NodeDraft) -> str:
    """EmbeddingLayer: numbers ``[N, 1]`` of rows; a fraction, which the layer refuses, is cut off."""
    rows = layer.node("Gather", layer.param("W"), _numbers(layer, 1))
    return activate(layer, _biased(layer, rows))


def embedding_sequence(layer: NodeDraft) -> str:
    """EmbeddingSequenceLayer: numbers ``[N, T]`` or ``[N, 1, T]``."""
    series = layer.rank() == 3
    rows = layer.node("Gather", layer.param("W"), _numbers(layer, 1) if series else _numbers(layer))
    steps = layer.node("Transpose", _biased(layer, rows), perm=[0, 2, 1])
    return activate(layer, steps)


def _numbers(layer: NodeDraft, *axes: int) -> str:
    """Return the numbers of rows as integers, without those axes of length 1."""
    numbers = layer.node("Cast", layer.x, to=layer.draft.word("int64"))
    return layer.node("Squeeze", numbers, layer.draft.ints(*axes)) if axes else numbers


def _biased(layer: NodeDraft, rows: str) -> str:
    return layer.node("Add", rows, layer.param("b", shape=(-1,))) if "b" in layer.params else rows
