"""InnerProduct: DenseLayer, whose weights lie the other way."""

from __future__ import annotations

import nd

from ...layers import DenseLayer
from ...vertices import ReshapeVertex
from ..layers.base import count
from .draft import LayerDraft


def inner_product(layer: LayerDraft) -> list[str | None]:
    """InnerProduct over all axes behind the examples."""
    settings = layer.message.inner_product_param
    layer.need(layer.runtime.axis(settings.axis, layer.shape) == 1, f"rows from axis {settings.axis} on")
    W, b = layer.blobs["W"], layer.blobs.get("b")
    conf = DenseLayer(
        n_in=count(layer.shape, 1), n_out=settings.num_output, has_bias=b is not None, activation="identity"
    )
    arrays = {"W": W if settings.transpose else nd.transpose(W)}
    if b is not None:
        arrays["b"] = nd.reshape(b, (1, -1))
    node = layer.nodes[0]
    if len(layer.shape) == 3:  # a dense layer would go over the steps of series
        node = layer.add(ReshapeVertex(-1, count(layer.shape, 1)), part="rows")
    return [layer.add(conf, node, arrays=arrays)]
