"""Softmax and losses: layers of DL4J's with a loss, whose activations are the probabilities."""

from __future__ import annotations

import math
from typing import Any

from nd.losses import Loss, LossBinaryXENT, LossHinge, LossL2, LossMCXENT, LossSquaredHinge

from ...layers import ActivationLayer, Cnn3DLossLayer, CnnLossLayer, LossLayer, RnnLossLayer
from ..layers.losses import Normalised
from .draft import LayerDraft

OF_AXES: dict[int, Any] = {2: LossLayer, 3: RnnLossLayer, 4: CnnLossLayer, 5: Cnn3DLossLayer}
"""Number of axes of scores -> the layer with a loss of every place."""


def softmax(layer: LayerDraft) -> list[str | None]:
    """Softmax; the last one has a loss, so that the graph can be trained."""
    along = layer.runtime.axis(layer.message.softmax_param.axis, layer.shape)
    layer.need(along == 1, f"a softmax along axis {along}")
    if not layer.draft.is_read(layer.plan):
        return [_loss(layer, LossMCXENT(), "softmax")]
    layer.need_axes(2)
    return [layer.chain(ActivationLayer("softmax"))]


def softmax_with_loss(layer: LayerDraft) -> list[str | None]:
    """SoftmaxWithLoss: labels are rows of 0 and 1."""
    along = layer.runtime.axis(layer.message.softmax_param.axis, layer.shape)
    layer.need(along == 1, f"a softmax along axis {along}")
    normalised = Normalised(layer.message, "VALID")
    factor = _factor(layer, normalised, normalised.mode != "BATCH_SIZE")
    node = _labelled_loss(layer, LossMCXENT(weights=_weights(layer, factor)), "softmax")
    return [None, node][: len(layer.tops)]


def sigmoid_cross_entropy(layer: LayerDraft) -> list[str | None]:
    """SigmoidCrossEntropyLoss; DL4J holds probabilities in 1e-5 .. 1 - 1e-5."""
    normalised = Normalised(layer.message, "BATCH_SIZE")
    factor = _factor(layer, normalised, False)
    if normalised.mode != "BATCH_SIZE":
        factor /= math.prod(layer.shape[1:])
    return [None] if _labelled_loss(layer, LossBinaryXENT(weights=_weights(layer, factor)), "sigmoid") else []


def euclidean(layer: LayerDraft) -> list[str | None]:
    """EuclideanLoss: half of DL4J's sum of squares."""
    return [None] if _labelled_loss(layer, LossL2(weights=_weights(layer, 0.5)), "identity") else []


def hinge(layer: LayerDraft) -> list[str | None]:
    """HingeLoss: labels are rows of 1 and -1."""
    layer.need_axes(2)
    layer.need(layer.plan.loss_weights == [1.0], "DL4J's hinge losses have no weight")
    loss: Loss = LossSquaredHinge() if layer.runtime.squares else LossHinge()
    return [None] if _labelled_loss(layer, loss, "identity") else []


def _factor(layer: LayerDraft, normalised: Normalised, over_places: bool) -> float:
    """Return what DL4J's sum over places, divided by the number of examples, is multiplied by."""
    layer.need(normalised.ignored is None, "DL4J does not ignore a label. Mask the labels, and leave ignore_label out")
    layer.need(normalised.mode != "NONE", "DL4J divides by the number of examples")
    return 1.0 / math.prod(layer.shape[2:]) if over_places else 1.0


def _weights(layer: LayerDraft, factor: float) -> tuple[float, ...] | None:
    """Return a weight for every output that stands for a factor."""
    factor *= layer.plan.loss_weights[0]
    return None if factor == 1.0 else (factor,) * layer.shape[1]


def _labelled_loss(layer: LayerDraft, loss: Loss, activation: str) -> str:
    """Add a layer with a loss against what comes from an input."""
    layer.need(layer.draft.is_input(layer.nodes[1]), "labels that a layer computes, not an input")
    name = _loss(layer, loss, activation)
    layer.draft.losses.append(name)
    return name


def _loss(layer: LayerDraft, loss: Loss, activation: str) -> str:
    layer.need_axes(*OF_AXES)
    return layer.add(OF_AXES[len(layer.shape)](loss=loss, activation=activation), layer.nodes[0])
