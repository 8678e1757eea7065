"""Batch normalisation in training, with mean and variance of the minibatch."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...layers.normalization.batch_normalization import LEAST_VARIANCE, LOG10_SQUARED
from ..out.node_draft import NodeDraft
from ..out.normalizations import batch_normalization as of_running
from .draft import Back, TrainingDraft
from .drawing import TrainedNode
from .tensors import Tensor


class Moments(NamedTuple):
    """Of the minibatch, and how it is scaled; ``[1, C, 1, ...]``."""

    axes: list[int]
    centered: Tensor
    mean: Tensor
    variance: Tensor
    inverse: Tensor
    factor: Tensor


def batch_normalization(layer: NodeDraft) -> str:
    """BatchNormalization: gamma * (x - mean) / sqrt(variance + eps) + beta."""
    if not isinstance(layer, TrainedNode) or not isinstance(layer.draft, TrainingDraft):
        return of_running(layer)  # frozen
    conf, draft = layer.conf, layer.draft
    rank = layer.rank()
    shape = (1, -1, *(1 for _ in range(rank - 2)))
    x = draft.tensor(layer.x)
    draft.scope = layer.name
    gamma, beta = _scales(layer, x, shape)
    moments: list[Moments] = []

    def add() -> str:
        axes = [0, *range(2, rank)]
        mean = x.mean(axes)
        centered = x - mean
        variance = centered.square().mean(axes)
        inverse = 1.0 / (variance + conf.eps).sqrt()
        moments.append(Moments(axes, centered, mean, variance, inverse, inverse * gamma))
        return (centered * moments[0].factor + beta).name

    output = draft.composite(add, lambda output: _back(x, moments[0], gamma, beta))
    decay = conf.decay if conf.minibatch else 0.0
    _follow(layer, moments[0], decay)
    draft.scope = ""
    return output


def _scales(layer: TrainedNode, x: Tensor, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Return gamma and beta, as parameters or as numbers."""
    conf: Any = layer.conf
    if not conf.lock_gamma_beta:
        names = layer.param("gamma", shape=shape), layer.param("beta", shape=shape)
        return Tensor(x.draft, names[0], x.dtype), Tensor(x.draft, names[1], x.dtype)
    gamma, beta = (conf.gamma, conf.beta) if conf.gamma != 1.0 and conf.beta != 0.0 else (1.0, 0.0)
    return x.like(gamma), x.like(beta)


def _back(x: Tensor, moments: Moments, gamma: Tensor, beta: Tensor) -> Back:
    """Return the way back: through mean and variance too."""
    axes, centered, inverse, factor = moments.axes, moments.centered, moments.inverse, moments.factor

    def back(epsilon: Tensor) -> dict[str, Tensor]:
        total = epsilon.sum(axes, keepdims=True)
        product = (epsilon * centered).sum(axes, keepdims=True)
        count = x.op("Size", dtype="int64").op("Div", total.op("Size", dtype="int64")).cast(x.dtype)
        slope = product * inverse * inverse / count
        below = factor * (epsilon - total / count - centered * slope)
        return {x.name: below, gamma.name: product * inverse, beta.name: total}

    return back


def _follow(layer: TrainedNode, moments: Moments, decay: float) -> None:
    """Note the steps of the running statistics: subtracted, they leave decay * running + (1 - decay) * now."""
    like = Tensor(layer.draft, layer.tensors["mean"], moments.mean.dtype)
    mean, variance = moments.mean.reshape(1, -1), moments.variance.reshape(1, -1)
    layer.steps["mean"] = (like - mean) * (1.0 - decay)
    if not layer.conf.use_log_std:
        running = Tensor(layer.draft, layer.tensors["var"], like.dtype)
        layer.steps["var"] = (running - variance) * (1.0 - decay)
        return
    running = Tensor(layer.draft, layer.tensors["log10stdev"], like.dtype)
    before = (running * LOG10_SQUARED).exp()
    after = (before * decay + variance * (1.0 - decay)).op("Max", LEAST_VARIANCE)
    layer.steps["log10stdev"] = (before / after).log() * (1.0 / LOG10_SQUARED)
