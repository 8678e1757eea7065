"""LRN, and BatchNorm with the Scale behind it."""

from __future__ import annotations

from typing import Any

import nd
from nd.typing import Array

from ...layers import BatchNormalization, LocalResponseNormalization
from ...layers.normalization.batch_normalization import LEAST_VARIANCE, LOG10_SQUARED
from ..assembly import LayerPlan
from .draft import LayerDraft


def lrn(layer: LayerDraft) -> list[str | None]:
    """LRN across channels, of which DL4J does not divide alpha by the number."""
    settings = layer.message.lrn_param
    layer.need(settings.norm_region != settings.WITHIN_CHANNEL, "DL4J has no normalisation within a channel")
    n = settings.local_size
    conf = LocalResponseNormalization(n=n, k=settings.k, alpha=settings.alpha / n, beta=settings.beta)
    return [layer.chain(conf)]


def batch_norm(layer: LayerDraft) -> list[str | None]:
    """BatchNorm, with the factors and terms of a Scale that alone reads it.

    Notes
    -----
    With use_global_stats in a net to be trained it is a frozen layer, which takes the statistics that are there. In
    training DL4J's running variance is the mean of the minibatches' own, Caffe's has m / (m - 1) times that for m
    elements of a channel.
    """
    layer.need_axes(2, 4)
    settings, phase = layer.message.batch_norm_param, layer.runtime.phase
    of_blobs = settings.use_global_stats if settings.HasField("use_global_stats") else phase == "TEST"
    layer.need(of_blobs or phase == "TRAIN", "DL4J takes statistics of a minibatch in training alone")
    frozen, arrays, channels = of_blobs and phase == "TRAIN", _statistics(layer), layer.shape[1]
    conf: dict[str, Any] = {"n_out": channels, "decay": settings.moving_average_fraction, "eps": settings.eps}
    behind = _scale_behind(layer, frozen)
    if behind is None:
        return [layer.add(BatchNormalization(lock_gamma_beta=True, **conf), arrays=arrays, frozen=frozen)]
    layer.draft.joined.add(behind.plan.node or 0)
    if "bias" not in behind.blobs:
        behind.note("the graph trains terms too, which the layer has not")
    terms = behind.blobs.get("bias")
    gamma, beta = behind.blobs["scale"], nd.zeros(channels, dtype=layer.draft.net.dtype) if terms is None else terms
    arrays = {"gamma": _row(gamma), "beta": _row(beta), **arrays}
    return [layer.add(BatchNormalization(**conf), arrays=arrays, frozen=frozen)]


def _statistics(layer: LayerDraft) -> dict[str, Array]:
    """Return mean and variance as DL4J keeps them, the latter as the logarithm of the deviation."""
    divisor = nd.item(layer.blobs["factor"])
    inverse = 1.0 / divisor if divisor else 0.0
    variance = nd.maximum(nd.multiply(layer.blobs["variance"], inverse), LEAST_VARIANCE)
    logarithm = nd.divide(nd.log(variance), LOG10_SQUARED)
    return {"mean": _row(nd.multiply(layer.blobs["mean"], inverse)), "log10stdev": _row(logarithm)}


def _row(array: Array) -> Array:
    return nd.reshape(array, (1, -1))


def _scale_behind(layer: LayerDraft, frozen: bool) -> LayerDraft | None:
    """Return the Scale over channels that alone reads the layer's top, and is trained where the layer is at work so."""
    readers: list[LayerPlan] = layer.draft.readers(layer.plan)
    if len(readers) != 1 or readers[0].message.type != "Scale" or len(readers[0].bottoms) != 1:
        return None
    scale = LayerDraft(layer.draft, readers[0], layer.bottoms)
    along = scale.runtime.axis(scale.message.scale_param.axis, layer.shape)
    if along != 1 or tuple(scale.blobs["scale"].shape) != layer.shape[1:2]:
        return None
    return scale if scale.frozen == frozen or layer.runtime.phase == "TEST" else None
