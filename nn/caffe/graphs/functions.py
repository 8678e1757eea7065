"""Functions of every element: ReLU, Sigmoid, Power and their like; PReLU, and Dropout."""

from __future__ import annotations

import math

import nd
from nd.activations import ELU, HardTanh, LeakyReLU, ReLU

from ...layers import ActivationLayer, DropoutLayer, PReLULayer
from ...vertices import ElementWiseVertex, ScaleVertex, ShiftVertex
from .draft import LayerDraft

MOST_FACTORS = 8
"""Of a whole power as a product."""


def absolute(layer: LayerDraft) -> list[str | None]:
    """AbsVal. The derivative at 0 is 1, not 0."""
    return [layer.chain(ActivationLayer(LeakyReLU(alpha=-1.0)))]


def softplus(layer: LayerDraft) -> list[str | None]:
    """BNLL."""
    return [layer.chain(ActivationLayer("softplus"))]


def clip(layer: LayerDraft) -> list[str | None]:
    """Clip. At the ends of the range the derivative is another."""
    low, high = layer.message.clip_param.min, layer.message.clip_param.max
    if (low, high) == (0.0, 6.0):
        return relu6(layer)
    if (low, high) == (-1.0, 1.0):
        return [layer.chain(ActivationLayer(HardTanh()))]
    layer.need(math.isfinite(low) and math.isfinite(high), f"the range {low:g} to {high:g}")
    rectifier = ActivationLayer(ReLU(max=high - low))
    return [layer.chain(rectifier) if low == 0.0 else layer.chain(ShiftVertex(-low), rectifier, ShiftVertex(low))]


def dropout(layer: LayerDraft) -> list[str | None]:
    """Dropout; DL4J's number is the probability to retain."""
    ratio = layer.message.dropout_param.dropout_ratio
    return [layer.chain(*([DropoutLayer(1.0 - ratio)] if ratio else []))]


def elu(layer: LayerDraft) -> list[str | None]:
    """ELU."""
    return [layer.chain(ActivationLayer(ELU(alpha=layer.message.elu_param.alpha)))]


def power(layer: LayerDraft) -> list[str | None]:
    """Power, where it is a whole one: a product of factors that are the same."""
    settings = layer.message.power_param
    exponent, scale, shift = settings.power, settings.scale, settings.shift
    layer.need(
        scale and exponent in range(1, MOST_FACTORS + 1),
        f"DL4J has whole powers, up to {MOST_FACTORS}, of what is not constant, got {exponent:g} and scale {scale:g}",
    )
    steps = [ScaleVertex(scale)] * (scale != 1.0) + [ShiftVertex(shift)] * (shift != 0.0)
    if exponent == 1.0:
        return [layer.chain(*steps)]
    node = layer.nodes[0]
    for number, conf in enumerate(steps, 1):
        node = layer.add(conf, node, part=str(number))
    if exponent == 3.0:
        return [layer.add(ActivationLayer("cube"), node)]
    return [layer.add(ElementWiseVertex("product"), *[node] * int(exponent))]


def prelu(layer: LayerDraft) -> list[str | None]:
    """PReLU. The derivative at 0 is 1, not the slope."""
    slope, (_, *sizes) = layer.blobs["slope"], layer.shape
    shared = layer.message.prelu_param.channel_shared
    axes = tuple(range(1 if shared else 2, len(sizes) + 1))
    layer.need(sizes != [1] or not shared, "one slope for one number")
    alpha = nd.reshape(slope, (1 if shared else -1, *(1,) * (len(sizes) - 1)))
    return [layer.add(PReLULayer(input_shape=tuple(sizes), shared_axes=axes or None), arrays={"W": alpha})]


def relu(layer: LayerDraft) -> list[str | None]:
    """ReLU. With a slope the derivative at 0 is 1, not the slope."""
    slope = layer.message.relu_param.negative_slope
    return [layer.chain(ActivationLayer(LeakyReLU(alpha=slope) if slope else ReLU()))]


def relu6(layer: LayerDraft) -> list[str | None]:
    """ReLU6."""
    return [layer.chain(ActivationLayer("relu6"))]


def sigmoid(layer: LayerDraft) -> list[str | None]:
    """Sigmoid."""
    return [layer.chain(ActivationLayer("sigmoid"))]


def swish(layer: LayerDraft) -> list[str | None]:
    """Swish: with a beta, that of beta x, divided by beta."""
    beta = layer.message.swish_param.beta
    function = ActivationLayer("swish")
    if beta == 1.0:
        return [layer.chain(function)]
    if beta == 0.0:
        return [layer.chain(ScaleVertex(0.5))]
    return [layer.chain(ScaleVertex(beta), function, ScaleVertex(1.0 / beta))]


def tanh(layer: LayerDraft) -> list[str | None]:
    """TanH."""
    return [layer.chain(ActivationLayer("tanh"))]
