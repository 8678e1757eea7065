"""Scale, Bias and Eltwise: products and sums."""

from __future__ import annotations

import nd
from nd.typing import Array

from ...layers import DepthwiseConvolution2D, ElementWiseMultiplicationLayer
from ...vertices import ElementWiseVertex, ScaleVertex, ShiftVertex
from .draft import LayerDraft


def eltwise(layer: LayerDraft) -> list[str | None]:
    """Eltwise; of equal maxima bottom 0 gets the gradient, not bottom 1."""
    runtime, nodes = layer.runtime, layer.nodes
    if runtime.kind == "SUM":
        nodes = [
            node if coeff == 1.0 else layer.add(ScaleVertex(coeff), node, part=f"times{number}")
            for number, (node, coeff) in enumerate(zip(nodes, runtime.coeff, strict=True))
        ]
    return [layer.add(ElementWiseVertex({"MAX": "max", "PROD": "product", "SUM": "add"}[runtime.kind]), *nodes)]


def scale(layer: LayerDraft) -> list[str | None]:
    """Scale, where BatchNorm has not taken it in."""
    if layer.plan.node in layer.draft.joined:
        return [layer.nodes[0]]
    if len(layer.bottoms) == 2:
        layer.need(not layer.blobs, "a bias for every number")
        return [_of_two(layer, "product")]
    return [_of_channels(layer, layer.message.scale_param, layer.blobs["scale"], layer.blobs.get("bias"))]


def bias(layer: LayerDraft) -> list[str | None]:
    """Bias."""
    if len(layer.bottoms) == 2:
        return [_of_two(layer, "add")]
    return [_of_channels(layer, layer.message.bias_param, None, layer.blobs["bias"])]


def _of_two(layer: LayerDraft, op: str) -> str:
    layer.need(layer.bottoms[1].shape == layer.shape, "bottoms of several shapes")
    return layer.add(ElementWiseVertex(op))


def _of_channels(layer: LayerDraft, settings: object, factors: Array | None, terms: Array | None) -> str:
    """Add a factor and a term for every channel, or one for all numbers."""
    blob = factors if terms is None else terms
    shape, ndim = tuple(blob.shape), len(layer.shape)  # type: ignore[union-attr]
    if shape == ():
        if not layer.frozen:
            layer.note("its number is a constant of the graph, which is not trained")
        steps = [] if factors is None else [ScaleVertex(nd.item(factors))]
        return layer.chain(*steps, *([] if terms is None else [ShiftVertex(nd.item(terms))]))
    along = layer.runtime.axis(settings.axis, layer.shape)  # type: ignore[attr-defined]
    layer.need(along == 1 and len(shape) == 1 and ndim in (2, 4), f"an array {list(shape)} from axis {along} on")
    (channels,) = shape
    if (factors is None or terms is None) and not layer.frozen:
        layer.note(f"the graph trains {'factors' if factors is None else 'terms'} too, which the layer has not")
    first = nd.ones(channels, dtype=layer.draft.net.dtype) if factors is None else factors
    second = nd.zeros(channels, dtype=layer.draft.net.dtype) if terms is None else terms
    row = nd.reshape(second, (1, -1))
    if ndim == 2:
        conf = ElementWiseMultiplicationLayer(n_in=channels, n_out=channels, activation="identity")
        return layer.add(conf, arrays={"W": nd.reshape(first, (1, -1)), "b": row})
    conf_of_images = DepthwiseConvolution2D(n_in=channels, kernel_size=(1, 1), activation="identity")
    return layer.add(conf_of_images, arrays={"W": nd.reshape(first, (1, 1, channels, 1)), "b": row})
