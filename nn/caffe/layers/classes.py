"""Scores of classes beside the number of the right one: SoftmaxWithLoss and Accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import nd
from nd import ConfigurationError, ShapeError
from nd.activations.base import softmax
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import CaffeLayer, Shape, count
from .losses import LossLayer, Normalised

FLT_MIN = 1.1754943508222875e-38
"""The smallest probability in a logarithm, of which the negative is 87.3365: the smallest normal number of float32."""
NAN = float("nan")


class Labels(NamedTuple):
    """Labels beside scores ``[..., C, ...]``."""

    of_classes: Array
    """1 for the right class, 0 for the others, of the shape of the scores."""
    known: Array
    """Whether a place's label is one of the classes, ``[..., 1, ...]``."""
    counted: Array | None
    """1 for places that count, 0 for those with the label to be ignored, ``[..., 1, ...]``; None where all do."""


def check_labels(layer: CaffeLayer, scores: Shape, labels: Shape, axis: int) -> None:
    """Raise ShapeError unless there is a label for every place of scores."""
    places = count(scores, 0, axis) * count(scores, axis + 1)
    if count(labels) != places:
        raise ShapeError(
            f"{layer.label}: there must be {places} labels for scores {describe_shape(scores)} with classes along axis "
            f"{axis}, got {count(labels)}, {describe_shape(labels)}."
        )


def read_labels(scores: Array, labels: Array, axis: int, ignored: int | None, ctx: VertexContext) -> Labels:
    """Return labels as rows of 0 and 1, without looking at their values."""
    shape = tuple(scores.shape)
    place = nd.reshape(labels, (*shape[:axis], 1, *shape[axis + 1 :]))
    classes = nd.reshape(nd.arange(0, shape[axis], nd.dtype_name(scores)), (-1, *(1,) * (len(shape) - axis - 1)))
    of_classes = nd.equal(place, classes, nd.buffer_like(scores, ctx.buffer, "of_classes"))
    known = nd.greater(nd.sum(of_classes, axis, True), 0.0)
    if ignored is None:
        return Labels(of_classes, known, None)
    counted = nd.equal(place, float(ignored), ctx.buffer("counted", tuple(place.shape)))
    return Labels(of_classes, known, nd.subtract(1.0, counted, counted))


def softmax_along(x: Array, axis: int, out: Array) -> Array:
    """Write the softmax along an axis into `out`; return it."""
    if axis == x.ndim - 1:
        return softmax(x, out)
    axes = (*range(axis), *range(axis + 1, x.ndim), axis)
    softmax(nd.permute(x, axes), nd.permute(out, axes))
    return out


class Scored(NamedTuple):
    """What the way back of SoftmaxWithLoss needs."""

    p: Array
    labels: Labels
    factor: float | Array


class SoftmaxWithLoss(LossLayer):
    """-Σ ln softmax(x) of the right classes, over the places whose label counts, divided as ``loss_param`` says.

    Raises
    ------
    ShapeError
        There is not a label for every place.
    ConfigurationError
        In the way back: labels need a gradient.

    Notes
    -----
    Bottoms ``[..., C, ...]``, the classes along `axis`, and labels of the other axes, from 0 to C - 1. Tops: the loss
    ``[]``, and the probabilities, through which no gradient comes. A probability counts as at least 1.18e-38. VALID
    divides by the number of places that count, FULL by all places, BATCH_SIZE by the product of the axes before the
    classes, NONE not at all. Source: BVLC Caffe, softmax_loss_layer.cpp. Differs: a label that is no class makes the
    loss NaN, where Caffe reads beyond the scores; so does a fraction, which Caffe cuts.
    """

    pure = splits = True
    tops = (1, 2)

    def setup(self) -> None:
        self.normalised = Normalised(self.message, "VALID")

        def delta(p: Array, of_classes: Array, factor: Array | float, out: Array) -> None:
            nd.muli(nd.subtract(p, of_classes, out), factor)

        self._delta = nd.elementwise(delta)

    def may_split(self, training: bool) -> bool:
        return self.normalised.adds_up and self.outputs == 1 and self._axis(self.conf.bottoms[0]) > 0

    def _axis(self, shape: Shape) -> int:
        return self.axis(self.message.softmax_param.axis, shape)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        scores, labels = bottoms
        check_labels(self, scores, labels, self._axis(scores))
        return [*super().top_shapes(bottoms), scores][: max(self.outputs, 1)]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, Scored]:
        x, given = xs
        axis = self._axis(tuple(x.shape))
        p = softmax_along(x, axis, nd.buffer_like(x, ctx.buffer, "p"))
        labels = read_labels(x, given, axis, self.normalised.ignored, ctx)
        right = nd.sum(nd.multiply(p, labels.of_classes, nd.buffer_like(x, ctx.buffer, "right")), axis, True)
        t = nd.where(labels.known, nd.log(nd.maximum(right, FLT_MIN, right), right), NAN)
        if labels.counted is not None:
            t = nd.where(nd.greater(labels.counted, 0.0), t, 0.0)
        outer, inner = count(x.shape, 0, axis), count(x.shape, axis + 1)
        factor = self.normalised.factor(outer, inner, labels.counted, ctx.share)
        loss = nd.multiply(nd.sum(t), -factor)
        return loss if self.outputs == 1 else (loss, p), Scored(p, labels, factor)

    def backward(
        self,
        epsilon: Any,
        cache: Scored,
        params: Params,
        grads: Params,
        ctx: VertexContext,
    ) -> list[Array | None]:
        self.refuse_gradient(1, ctx)
        p, labels, factor = cache
        below = self.below(p, 0, ctx)
        weight = epsilon if self.outputs == 1 else epsilon[0]
        if below is None or weight is None:
            return [None if below is None else nd.fill(below, 0.0), None]
        self._delta(p, labels.of_classes, nd.multiply(weight, factor), below)
        return [below if labels.counted is None else nd.muli(below, labels.counted), None]


class Accuracy(CaffeLayer):
    """The part of the places in which fewer than top_k other classes have a score as high as the right one's.

    Raises
    ------
    ShapeError
        There is not a label for every place, or top_k is more than the classes.
    ConfigurationError
        Something below is to be trained through it.

    Notes
    -----
    Bottoms ``[..., C, ...]``, the classes along `axis`, and labels of the other axes. Tops: the accuracy ``[]``, 0
    where nothing counts, and that of each class ``[C]``, 0 for those that no label has. Equal scores count against
    the right class, so constant ones give 0. Source: BVLC Caffe, accuracy_layer.cpp. Differs: a label that is no class
    makes the accuracy NaN; scores that are NaN count against the right class, and never as right.
    """

    pure = splits = True
    bottoms = (2, 2)
    tops = (1, 2)

    def setup(self) -> None:
        settings = self.message.accuracy_param
        self.ignored: int | None = settings.ignore_label if settings.HasField("ignore_label") else None
        self.top_k = settings.top_k
        if self.top_k < 1:
            raise ConfigurationError(f"{self.label}: top_k must be >= 1, got {self.top_k}.")

    def may_split(self, training: bool) -> bool:
        return self.ignored is None and self.outputs == 1 and self._axis(self.conf.bottoms[0]) > 0

    def _axis(self, shape: Shape) -> int:
        return self.axis(self.message.accuracy_param.axis, shape)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        scores, labels = bottoms
        axis = self._axis(scores)
        check_labels(self, scores, labels, axis)
        if self.top_k > scores[axis]:
            raise ShapeError(
                f"{self.label}: top_k must be at most the number of classes, {scores[axis]}, got {self.top_k}."
            )
        return [(), (scores[axis],)][: self.outputs]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, None]:
        x, given = xs
        axis = self._axis(tuple(x.shape))
        labels = read_labels(x, given, axis, self.ignored, ctx)
        of_right = nd.max(nd.where(nd.greater(labels.of_classes, 0.0), x, -float("inf")), axis, True)
        lower = nd.greater(of_right, x, nd.buffer_like(x, ctx.buffer, "lower"))
        high_enough = nd.sum(lower, axis, True)
        nd.greater_equal(high_enough, float(x.shape[axis] - self.top_k), high_enough)
        hits = nd.where(labels.known, high_enough, NAN)
        if labels.counted is None:
            accuracy = nd.multiply(nd.sum(hits), ctx.share / max(count(given.shape), 1))
        else:
            hits = nd.where(nd.greater(labels.counted, 0.0), hits, 0.0)
            accuracy = nd.divide(nd.sum(hits), nd.maximum(nd.sum(labels.counted), 1.0))
        return (accuracy if self.outputs == 1 else (accuracy, self._of_each_class(hits, labels, axis))), None

    def _of_each_class(self, hits: Array, labels: Labels, axis: int) -> Array:
        of_classes = labels.of_classes if labels.counted is None else nd.multiply(labels.of_classes, labels.counted)
        others = tuple(number for number in range(of_classes.ndim) if number != axis)
        hit, there = nd.sum(nd.multiply(of_classes, hits), others), nd.sum(of_classes, others)
        return nd.divide(hit, nd.maximum(there, 1.0))

    def backward(
        self, epsilon: Any, cache: None, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        return self.without_gradients(ctx)
