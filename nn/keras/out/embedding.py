"""Layers that look rows of a table up: Embedding."""

from __future__ import annotations

from .activations import activated, softmax_axis
from .draft import Value
from .node import Node
from .settings import of_params


def embedding(node: Node) -> Value:
    """EmbeddingLayer: numbers ``[N, 1]`` of rows."""
    rows = node.add("Flatten", _looked_up(node, node.x), part="flatten", axes=-1)
    return activated(node, node.conf.activation, rows, softmax_axis(node.conf, rows))


def embedding_sequence(node: Node) -> Value:
    """EmbeddingSequenceLayer: numbers ``[N, T]`` or ``[N, 1, T]``."""
    numbers = node.x
    if numbers.own_rank == 3:
        numbers = node.add("Reshape", numbers, part="numbers", axes=-1, target_shape=[-1])
    series = _looked_up(node, numbers)
    return activated(node, node.conf.activation, series, softmax_axis(node.conf, series))


def _looked_up(node: Node, numbers: Value) -> Value:
    """Return the rows of numbers, with a bias, which every row of the table gets, added."""
    table = node.params["W"]
    if "b" in node.params:
        table = table + node.params["b"].reshape(1, -1)
        node.lose("that its bias is one for all rows of the table")
    settings = of_params(node, "embeddings", "")
    return node.add(
        "Embedding", numbers, axes=1, input_dim=int(table.shape[0]), output_dim=int(table.shape[1]), weights=[table],
        mask_zero=False, **settings,
    )  # fmt: skip
