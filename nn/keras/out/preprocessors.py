"""Preprocessors: Flatten, Reshape and Permute, and where rows of time steps begin and end."""

from __future__ import annotations

from .draft import Value
from .node import Node, SizesUnknown


def to_rows(node: Node) -> Value:
    """CnnToFeedForwardPreProcessor and Cnn3DToFeedForwardPreProcessor; rows pass."""
    if node.x.own_rank == 2:
        return node.x
    return _flattened(node, node.x if node.conf.last else node.channels_first(node.x))


def from_rows(node: Node) -> Value:
    """FeedForwardToCnnPreProcessor and FeedForwardToCnn3DPreProcessor; images and volumes pass."""
    if node.x.own_rank == 2 + len(node.conf.image) - 1:
        return node.x
    return _images(node, node.x, node.conf.last)


def series_to_rows(node: Node) -> Value:
    """RnnToFeedForwardPreProcessor: rows of time steps, which Keras has as series; rows pass."""
    return node.x if node.x.own_rank == 2 else node.x._replace(of_steps=True)


def rows_to_series(node: Node) -> Value:
    """FeedForwardToRnnPreProcessor; series pass."""
    return node.x if node.x.own_rank == 3 else _ended(node, node.x)


def images_to_series(node: Node) -> Value:
    """CnnToRnnPreProcessor: images of time steps to series."""
    return _ended(node, _flattened(node, node.channels_first(node.x)))


def series_to_images(node: Node) -> Value:
    """RnnToCnnPreProcessor: series to images of time steps."""
    return _images(node, node.x._replace(of_steps=True), False)


def _flattened(node: Node, x: Value) -> Value:
    return node.add("Flatten", x, part="flatten", axes=2 - x.own_rank)


def _images(node: Node, rows: Value, last: bool) -> Value:
    channels, *places = (int(size) for size in node.conf.image)
    shape = [*places, channels] if last else [channels, *places]
    images = node.add("Reshape", rows, part="reshape", axes=len(places), target_shape=shape)
    return images if last else node.channels_last(images)


def _ended(node: Node, x: Value) -> Value:
    """Return rows of time steps as series again."""
    if not x.of_steps:
        raise SizesUnknown("nothing tells which of its rows are time steps of one series")
    return x._replace(of_steps=False)
