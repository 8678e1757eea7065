"""Layers around other layers."""

from __future__ import annotations

from . import layer_written
from .draft import Value
from .node import Node
from .noise import noise


def frozen(node: Node) -> Value:
    """FrozenLayer and FrozenLayerWithBackprop: the other layer, which is not trainable."""
    return layer_written(node.around(node.conf.inside, node.params, trainable=False))


def time_distributed(node: Node) -> Value:
    """TimeDistributed: the layer inside, for every step of a series."""
    steps = node.x._replace(of_steps=True)
    inner = layer_written(node.around(node.conf.inside, node.params, steps, types=(None,)))
    return inner._replace(of_steps=False)


def dropout(node: Node) -> Value:
    """DropoutLayer: its noise."""
    conf = node.conf
    return node.x if conf.drop_out is None else noise(node, conf.drop_out, node.x, "")
