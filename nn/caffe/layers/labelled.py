"""Losses of scores beside the number of the right class: hinge, of the logarithm, and weighed by a matrix."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import nd
from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from ..blobs import blobproto_to_array
from ..files import read_message
from .base import Shape, count
from .classes import NAN, check_labels, read_labels, softmax_along
from .losses import LossLayer, Normalised

LOG_THRESHOLD = 1e-20
"""The smallest probability in a logarithm."""


class Rows(NamedTuple):
    """What the way back of a loss of rows needs."""

    kept: Array
    of_classes: Array
    shape: Shape


class OfRows(LossLayer):
    """A loss of rows of scores, each with the number of its right class, divided by the number of examples."""

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        tops, (scores, labels) = super().top_shapes(bottoms), bottoms
        if not scores or count(labels) != scores[0]:
            raise ShapeError(
                f"{self.label}: there must be a label for each example of the scores {describe_shape(scores)}, got "
                f"{describe_shape(labels)}."
            )
        return tops

    def rows(self, x: Array) -> Array:
        """Return scores as ``[N, C]``."""
        return nd.reshape(x, (x.shape[0], count(x.shape, 1)))

    def summed(self, losses: Array, known: Array, ctx: VertexContext) -> Array:
        """Return the loss from those of rows ``[N, 1]``: NaN where a label is no class."""
        return nd.multiply(nd.sum(nd.where(known, losses, NAN)), ctx.share / max(losses.shape[0], 1))


class HingeLoss(OfRows):
    """Σ max(0, 1 - x) of the right classes and max(0, 1 + x) of the others, or of their squares, divided by N.

    Notes
    -----
    Bottoms ``[N, C]``, and labels ``[N]`` from 0 to C - 1; ``norm: L2`` squares. At a margin of 0 the derivative is 0.
    Source: BVLC Caffe, hinge_loss_layer.cpp. Differs: a label that is no class makes the loss NaN.
    """

    pure = splits = True

    def setup(self) -> None:
        settings = self.message.hinge_loss_param
        self.squares = settings.Norm.Name(settings.norm) == "L2"

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Rows]:
        x = self.rows(xs[0])
        labels = read_labels(x, xs[1], 1, None, ctx)
        signs = nd.subtract(1.0, nd.muli(labels.of_classes, 2.0), labels.of_classes)
        margins = nd.multiply(x, signs, nd.buffer_like(x, ctx.buffer, "margins"))
        nd.maximum(nd.addi(margins, 1.0), 0.0, margins)
        t = nd.square(margins, nd.buffer_like(x, ctx.buffer, "squares")) if self.squares else margins
        return self.summed(nd.sum(t, 1, True), labels.known, ctx), Rows(margins, signs, tuple(xs[0].shape))

    def backward(
        self, epsilon: Array, cache: Rows, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        self.refuse_gradient(1, ctx)
        margins, signs, shape = cache
        below = self.below(margins, 0, ctx)
        if below is None:
            return [None, None]
        factor = ctx.share / max(shape[0], 1)
        t = margins if self.squares else nd.greater(margins, 0.0, below)
        nd.muli(nd.multiply(t, signs, below), nd.multiply(epsilon, 2.0 * factor if self.squares else factor))
        return [nd.reshape(below, shape), None]


class MultinomialLogisticLoss(OfRows):
    """-Σ ln p of the right classes, divided by N, for probabilities p.

    Notes
    -----
    Bottoms ``[N, C]``, and labels ``[N]`` from 0 to C - 1. A probability counts as at least 1e-20. Source: BVLC Caffe,
    multinomial_logistic_loss_layer.cpp. Differs: a label that is no class makes the loss NaN.
    """

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Rows]:
        p = self.rows(xs[0])
        labels = read_labels(p, xs[1], 1, None, ctx)
        right = nd.sum(nd.multiply(p, labels.of_classes, nd.buffer_like(p, ctx.buffer, "right")), 1, True)
        nd.maximum(right, LOG_THRESHOLD, right)
        loss = self.summed(nd.multiply(nd.log(right), -1.0), labels.known, ctx)
        return loss, Rows(right, labels.of_classes, tuple(xs[0].shape))

    def backward(
        self, epsilon: Array, cache: Rows, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        self.refuse_gradient(1, ctx)
        right, of_classes, shape = cache
        below = self.below(of_classes, 0, ctx)
        if below is None:
            return [None, None]
        slope = nd.divide(nd.multiply(epsilon, -ctx.share / max(shape[0], 1)), right)
        return [nd.reshape(nd.multiply(of_classes, slope, below), shape), None]


class Weighed(NamedTuple):
    """What the way back of InfogainLoss needs; the classes of weights and of what counts are the last axis."""

    p: Array
    weights: Array
    counted: Array | None
    factor: float | Array


class InfogainLoss(LossLayer):
    """-Σ_k H[label, k] ln softmax(x)_k over the places whose label counts, with a matrix H of weights ``[C, C]``.

    Raises
    ------
    ConfigurationError
        There is neither a third bottom nor a `source`, or the old `normalize` is used; in the way back: labels or H
        need a gradient.
    ShapeError
        There is not a label for every place, or H has not C C numbers.
    DataError
        A label is no class; on a GPU the loss is NaN instead.
    FormatError, FileNotFoundError
        The file `source` is no BlobProto, or is not there.

    Notes
    -----
    Bottoms ``[..., C, ...]``, the classes along `axis`, labels of the other axes, and perhaps H, in the place of which
    `source` names the file of a BlobProto. Tops: the loss ``[]``, and the probabilities, through which no gradient
    comes. A probability counts as at least 1e-20. Divided as in SoftmaxWithLoss. Source: BVLC Caffe,
    infogain_loss_layer.cpp.
    """

    pure = splits = True
    bottoms = (2, 3)
    tops = (1, 2)
    not_forced: ClassVar[tuple[int, ...]] = (1,)

    def setup(self) -> None:
        settings = self.message.infogain_loss_param
        if self.message.loss_param.HasField("normalize"):
            raise ConfigurationError(f"{self.label}: normalize must be left out. Give normalization.")
        self.normalised = Normalised(self.message, "VALID")
        self.matrix: tuple[float, ...] = ()
        if len(self.conf.bottoms) < 3:
            if not settings.HasField("source"):
                raise ConfigurationError(f"{self.label}: the matrix must be bottom 2 or in a file, got no source.")
            blob = blobproto_to_array(read_message(settings.source, "BlobProto"))
            self.matrix = tuple(nd.to_host(nd.reshape(blob, (-1,))).tolist())
            _matrix(nd.backend(), self.dtype, self.matrix)  # now, because a recording could not hold its making

    def may_split(self, training: bool) -> bool:
        alone = self.normalised.adds_up and self.outputs == 1 and len(self.conf.bottoms) == 2
        return alone and self._axis(self.conf.bottoms[0]) > 0

    def _axis(self, shape: Shape) -> int:
        return self.axis(self.message.infogain_loss_param.axis, shape)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        scores, labels, *matrix = bottoms
        axis = self._axis(scores)
        check_labels(self, scores, labels, axis)
        there, classes = count(matrix[0]) if matrix else len(self.matrix), scores[axis]
        if there != classes * classes:
            raise ShapeError(
                f"{self.label}: the matrix must have {classes} x {classes} numbers for the scores "
                f"{describe_shape(scores)}, got {describe_shape(matrix[0]) if matrix else there}."
            )
        return [*super().top_shapes(bottoms), scores][: max(self.outputs, 1)]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, Weighed]:
        x, labels = xs[:2]
        shape = tuple(x.shape)
        axis, classes = self._axis(shape), shape[self._axis(shape)]
        dtype = nd.dtype_name(x)
        matrix = xs[2] if len(xs) > 2 else _matrix(nd.backend(), dtype, self.matrix)
        places, counted = (*shape[:axis], *shape[axis + 1 :]), None
        if self.normalised.ignored is not None:
            counted = nd.equal(labels, float(self.normalised.ignored), ctx.buffer("counted", tuple(labels.shape)))
            nd.subtract(1.0, counted, counted)
            labels = nd.where(nd.greater(counted, 0.0), labels, 0.0)
            counted = nd.reshape(counted, (*places, 1))
        numbers = nd.astype(nd.reshape(labels, (-1,)), "int64")
        weights = nd.pull_rows(nd.reshape(matrix, (classes, classes)), numbers, f"{self.label}, labels")
        weights = nd.reshape(weights, (*places, classes))
        if counted is not None:
            nd.muli(weights, counted)
        p = softmax_along(x, axis, nd.buffer_like(x, ctx.buffer, "p"))
        logs = nd.maximum(p, LOG_THRESHOLD, nd.buffer_like(x, ctx.buffer, "logs"))
        total = nd.sum(nd.multiply(nd.permute(nd.log(logs, logs), _inward(axis, len(shape))), weights))
        outer, inner = count(shape, 0, axis), count(shape, axis + 1)
        factor = self.normalised.factor(outer, inner, counted, ctx.share)
        loss = nd.multiply(nd.multiply(total, -1.0), factor)
        return (loss if self.outputs == 1 else (loss, p)), Weighed(p, weights, counted, factor)

    def backward(self, epsilon: Any, cache: Weighed, params: Params, grads: Params, ctx: VertexContext) -> list[Any]:
        for number in range(1, len(ctx.needs_epsilons)):
            self.refuse_gradient(number, ctx)
        p, weights, _, factor = cache
        below = self.below(p, 0, ctx)
        weight = epsilon if self.outputs == 1 else epsilon[0]
        if below is None or weight is None:
            return [below if below is None else nd.fill(below, 0.0), *[None] * (len(ctx.needs_epsilons) - 1)]
        axes = _inward(self._axis(tuple(p.shape)), p.ndim)
        rows = nd.permute(below, axes)
        nd.multiply(nd.permute(p, axes), nd.sum(weights, weights.ndim - 1, True), rows)
        nd.muli(nd.subi(rows, weights), nd.multiply(weight, factor))
        return [below, *[None] * (len(ctx.needs_epsilons) - 1)]


def _inward(axis: int, axes: int) -> tuple[int, ...]:
    """Return the axes with one of them last."""
    return (*range(axis), *range(axis + 1, axes), axis)


@functools.lru_cache(maxsize=16)
def _matrix(backend: object, dtype: str, numbers: tuple[float, ...]) -> Array:
    """Return the matrix of a file as a vector on a backend, cached so that a pass copies nothing to the device."""
    return nd.as_array(list(numbers), dtype)
