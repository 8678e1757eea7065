"""Convolution and Deconvolution: of several groups as parts of the channels, convolutions, and a merge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nd
from nd.typing import Array

from ...layers import ConvolutionLayer, Deconvolution2D, DepthwiseConvolution2D
from ...vertices import MergeVertex, SubsetVertex
from ..layers.windows import geometry_of
from .draft import LayerDraft


def convolution(layer: LayerDraft) -> list[str | None]:
    """Convolution, of as many groups as channels a depthwise one."""
    settings = _settings(layer)
    W, b = layer.blobs["W"], layer.blobs.get("b")
    channels, groups = layer.shape[1], layer.shape[1] // W.shape[1]
    if groups == channels > 1:
        outputs = W.shape[0]
        kernel = nd.reshape(W, (channels, outputs // channels, *W.shape[2:]))
        conf = DepthwiseConvolution2D(n_in=channels, depth_multiplier=outputs // channels, **settings)
        return [layer.add(conf, arrays={"W": nd.permute(kernel, (2, 3, 0, 1)), **_bias(b)})]
    return [_in_groups(layer, ConvolutionLayer, settings, groups, W.shape[1], W.shape[0] // groups)]


def deconvolution(layer: LayerDraft) -> list[str | None]:
    """Deconvolution."""
    W, outputs = layer.blobs["W"], layer.message.convolution_param.num_output
    groups = outputs // W.shape[1]
    return [_in_groups(layer, Deconvolution2D, _settings(layer), groups, W.shape[0] // groups, W.shape[1])]


def _settings(layer: LayerDraft) -> dict[str, Any]:
    """Return the geometry as DL4J's layers have it."""
    settings = layer.message.convolution_param
    layer.need(len(layer.bottoms) == 1, f"{len(layer.bottoms)} bottoms that share kernels")
    layer.need_axes(4)
    layer.need(layer.runtime.axis(settings.axis, layer.shape) == 1, f"channels along axis {settings.axis}")
    kernel, stride, padding, dilation = geometry_of(layer.plan.label, settings, 2)
    return {
        "kernel_size": kernel,
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "convolution_mode": "truncate",
        "has_bias": bool(settings.bias_term),
        "activation": "identity",
    }


def _bias(b: Array | None) -> dict[str, Array]:
    return {} if b is None else {"b": nd.reshape(b, (1, -1))}


def _in_groups(
    layer: LayerDraft, kind: Callable[..., Any], settings: dict[str, Any], groups: int, n_in: int, n_out: int
) -> str:
    """Add a layer for every group of n_in channels, which become n_out."""
    W, b = layer.blobs["W"], layer.blobs.get("b")
    conf = kind(n_in=n_in, n_out=n_out, **settings)
    if groups == 1:
        return layer.add(conf, arrays={"W": W, **_bias(b)})
    rows, parts = W.shape[0] // groups, []
    for group in range(groups):
        taken = layer.add(SubsetVertex(group * n_in, (group + 1) * n_in - 1), part=f"channels{group}")
        bias = None if b is None else b[group * n_out : (group + 1) * n_out]
        arrays = {"W": W[group * rows : (group + 1) * rows], **_bias(bias)}
        parts.append(layer.add(conf, taken, part=f"group{group}", arrays=arrays))
    return layer.add(MergeVertex(), *parts)
