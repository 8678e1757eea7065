"""Convolutions in training, whose weights are inputs of the graph. Runtimes have Conv in single precision alone."""

from __future__ import annotations

from ..out.convolutions import transposed_sliding
from ..out.functions import activate
from ..out.node_draft import NodeDraft
from ..out.windows import Sliding, padded, sliding_of

_SINGLE = "runtimes have Conv in single precision alone. Give the network dtype='float32'"


def convolution(layer: NodeDraft) -> str:
    """ConvolutionLayer and Convolution3D."""
    return activate(layer, _conv(layer, layer.param("W")))


def convolution1d(layer: NodeDraft) -> str:
    """Convolution1DLayer, whose W is ``[kernel, n_in, n_out]``."""
    return activate(layer, _conv(layer, layer.param("W", 2, 1, 0)))


def depthwise(layer: NodeDraft) -> str:
    """DepthwiseConvolution2D, whose W is ``[kernel_h, kernel_w, n_in, multiplier]``."""
    height, width, channels, multiplier = layer.params["W"].shape
    W = layer.param("W", 2, 3, 0, 1, shape=(channels * multiplier, 1, height, width))
    return activate(layer, _conv(layer, W, channels))


def separable(layer: NodeDraft) -> str:
    """SeparableConvolution2D: W ``[multiplier, n_in, kernel_h, kernel_w]`` on every channel, then pW on cells."""
    multiplier, channels, height, width = layer.params["W"].shape
    W = layer.param("W", 1, 0, 2, 3, shape=(channels * multiplier, 1, height, width))
    between = _slid(layer, layer.x, W, sliding_of(layer), channels)
    cells = Sliding((1, 1), (1, 1), (1, 1), (0,) * 4)
    return activate(layer, _slid(layer, between, layer.param("pW"), cells, None, *_bias(layer)))


def deconvolution2d(layer: NodeDraft) -> str:
    """Deconvolution2D, whose W is ``[n_in, n_out, *kernel]``."""
    return _spread(layer, layer.param("W"))


def deconvolution3d(layer: NodeDraft) -> str:
    """Deconvolution3D, whose W is ``[*kernel, n_out, n_in]``."""
    return _spread(layer, layer.param("W", 4, 3, 0, 1, 2))


def _spread(layer: NodeDraft, W: str) -> str:
    _check_precision(layer)
    own, more = transposed_sliding(layer)
    added = more if any(more) else None
    z = layer.node("ConvTranspose", layer.x, W, *_bias(layer), output_padding=added, **own.attributes())
    return activate(layer, z)


def _conv(layer: NodeDraft, W: str, group: int | None = None) -> str:
    return _slid(layer, layer.x, W, sliding_of(layer), group, *_bias(layer))


def _slid(layer: NodeDraft, x: str, W: str, sliding: Sliding, group: int | None, *bias: str) -> str:
    _check_precision(layer)
    if sliding.padding is None and not sliding.automatic:
        x, sliding = padded(layer, x, sliding), sliding.within()
    return layer.node("Conv", x, W, *bias, group=group, **sliding.attributes())


def _check_precision(layer: NodeDraft) -> None:
    if layer.draft.dtype != "float32":
        layer.refuse(_SINGLE)


def _bias(layer: NodeDraft) -> list[str]:
    return [layer.param("b", shape=(-1,))] if "b" in layer.params else []
