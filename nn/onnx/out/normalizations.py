"""Batch normalisation, and local response normalisation."""

from __future__ import annotations

import nd

from ...layers.normalization.batch_normalization import LOG10_SQUARED
from .node_draft import NodeDraft
from .windows import sliced


def batch_normalization(layer: NodeDraft) -> str:
    """BatchNormalization with its running statistics, a log10 of the standard deviation as the variance that it is."""
    conf, params, channels = layer.conf, layer.params, layer.params["mean"].size
    if conf.lock_gamma_beta:
        locked = (conf.gamma, conf.beta) if conf.gamma != 1.0 and conf.beta != 0.0 else (1.0, 0.0)  # as in Java
        scale, shift = (layer.draft.numbers([number] * channels) for number in locked)
    else:
        scale, shift = layer.param("gamma", shape=(-1,)), layer.param("beta", shape=(-1,))
    if conf.use_log_std:
        with nd.use_backend("numpy"):
            variance = nd.exp(nd.multiply(nd.as_array(params["log10stdev"]), LOG10_SQUARED))
            variance = nd.reshape(variance, (channels,))
        var = layer.draft.array(variance, f"{layer.name}/var")
    else:
        var = layer.param("var", shape=(-1,))
    mean = layer.param("mean", shape=(-1,))
    return layer.node("BatchNormalization", layer.x, scale, shift, mean, var, epsilon=float(conf.eps))


def local_response(layer: NodeDraft) -> str:
    """LocalResponseNormalization: ``x / (k + alpha * sum of x^2)^beta``; the operator divides alpha by its size.

    The operator is for single precision and for numbers above 0 in runtimes; else squares are summed up channel by
    channel.
    """
    conf = layer.conf
    half = conf.n // 2
    size = 2 * half + 1
    if layer.draft.dtype == "float32" and conf.alpha > 0 and conf.beta > 0:
        numbers = {"alpha": float(conf.alpha * size), "beta": float(conf.beta), "bias": float(conf.k)}
        return layer.node("LRN", layer.x, size=size, **numbers)
    draft = layer.draft
    squares = layer.node("Mul", layer.x, layer.x)
    if half:
        around = layer.node("Pad", squares, draft.ints(0, half, 0, 0, 0, half, 0, 0))
        parts = [sliced(layer, around, 1, [first], [first - 2 * half]) for first in range(size)]
        squares = layer.node("Sum", *parts)
    weighed = layer.node("Mul", squares, float(conf.alpha))
    scale = layer.node("Add", weighed, float(conf.k))
    return layer.node("Div", layer.x, layer.node("Pow", scale, float(conf.beta)))
