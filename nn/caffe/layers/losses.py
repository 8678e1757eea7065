"""What Caffe's losses share, and losses of two bottoms of one size: Euclidean, sigmoid cross entropy, contrastive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import nd
from nd import ShapeError
from nd.activations.base import sigmoid
from nd.arrays.standard import trunc
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import CaffeLayer, Shape, count


class LossLayer(CaffeLayer):
    """A loss: its first top is one number, ``[]``, with the weight 1 in the net's loss unless the message says another.

    Notes
    -----
    Parts of a minibatch are added up: what is divided by a number of examples is multiplied by the part of the
    examples that these are.
    """

    bottoms: ClassVar = (2, 2)
    automatic_tops: ClassVar[bool] = True
    is_loss: ClassVar[bool] = True
    not_forced: ClassVar[tuple[int, ...]] = (1,)
    of_one_size: ClassVar[bool] = False
    """Whether both bottoms must have as many elements."""

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        first, second = bottoms[:2]
        if first[:1] != second[:1]:
            raise ShapeError(
                f"{self.label}: both bottoms must have as many examples, got {describe_shape(first)} and "
                f"{describe_shape(second)}."
            )
        if self.of_one_size and count(first) != count(second):
            raise ShapeError(
                f"{self.label}: both bottoms must have as many elements, got {describe_shape(first)} and "
                f"{describe_shape(second)}."
            )
        return [()]


class Normalised:
    """How a loss of many places is divided: ``loss_param``.

    Parameters
    ----------
    message : LayerParameter
    usual : str
        The normalization where the message has neither it nor the old `normalize`.
    """

    def __init__(self, message: Any, usual: str) -> None:
        settings = message.loss_param
        self.ignored: int | None = settings.ignore_label if settings.HasField("ignore_label") else None
        if settings.HasField("normalization"):
            self.mode: str = settings.NormalizationMode.Name(settings.normalization)
        elif settings.HasField("normalize"):
            self.mode = "VALID" if settings.normalize else "BATCH_SIZE"
        else:
            self.mode = usual

    @property
    def adds_up(self) -> bool:
        """Whether the loss of a minibatch is the sum of its parts' losses."""
        return self.mode != "VALID" or self.ignored is None

    def factor(self, outer: int, inner: int, counted: Array | None, share: float) -> float | Array:
        """Return what the sum over all places is multiplied by: a number, or an array ``[]`` where labels decide it."""
        if self.mode == "NONE":
            return 1.0
        if self.mode == "VALID" and counted is not None:
            return nd.divide(share, nd.maximum(nd.sum(counted), 1.0))
        return share / max(outer if self.mode == "BATCH_SIZE" else outer * inner, 1)


class Compared(NamedTuple):
    """What the way back of a comparison needs."""

    difference: Array
    factor: float
    shapes: tuple[Shape, Shape]


class EuclideanLoss(LossLayer):
    """Σ (a - b)² / (2 N) over all elements, N the number of examples; gradients go to both bottoms.

    Notes
    -----
    Source: BVLC Caffe, euclidean_loss_layer.cpp.
    """

    pure = splits = True
    not_forced = ()
    of_one_size = True

    def setup(self) -> None:
        def total(a: Array, b: Array, difference: Array, squares: Array) -> Array:
            return nd.sum(nd.square(nd.subtract(a, b, difference), squares))

        self._total = nd.summed(total)

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Compared]:
        a, b = xs
        shapes = tuple(a.shape), tuple(b.shape)
        difference, squares = (nd.buffer_like(a, ctx.buffer, name) for name in ("difference", "squares"))
        total = self._total(a, b if shapes[0] == shapes[1] else nd.reshape(b, shapes[0]), difference, squares)
        factor = ctx.share / max(shapes[0][0], 1)
        return nd.multiply(total, 0.5 * factor), Compared(difference, factor, shapes)

    def backward(
        self, epsilon: Array, cache: Compared, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        below: list[Array | None] = [None, None]
        for number, sign in enumerate((1.0, -1.0)):
            memory = self.below(cache.difference, number, ctx)
            if memory is not None:
                nd.multiply(cache.difference, nd.multiply(epsilon, sign * cache.factor), memory)
                below[number] = nd.reshape(memory, cache.shapes[number])
        return below


class CrossEntropy(NamedTuple):
    """What the way back of SigmoidCrossEntropyLoss needs."""

    x: Array
    targets: Array
    counted: Array | None
    factor: float | Array


class SigmoidCrossEntropyLoss(LossLayer):
    """-Σ t ln σ(x) + (1 - t) ln(1 - σ(x)) over all numbers that count, divided as ``loss_param`` says.

    Notes
    -----
    Targets t, probabilities, have as many numbers as the scores x. A target whose whole part is the label to be ignored
    does not count. BATCH_SIZE, the usual way, divides by the number of examples, FULL by that of all numbers, VALID by
    those that count, NONE not at all. Source: BVLC Caffe, sigmoid_cross_entropy_loss_layer.cpp.
    """

    pure = splits = True
    of_one_size = True

    def setup(self) -> None:
        self.normalised = Normalised(self.message, "BATCH_SIZE")

        def total(x: Array, targets: Array, a: Array, b: Array, *counted: Array) -> Array:
            nd.exp(nd.muli(nd.absolute(x, a), -1.0), a)
            nd.log(nd.addi(a, 1.0), a)
            nd.subi(nd.addi(a, nd.maximum(x, 0.0, b)), nd.multiply(x, targets, b))
            for one in counted:
                nd.muli(a, one)
            return nd.sum(a)

        def delta(x: Array, targets: Array, factor: Array | float, out: Array, *counted: Array) -> None:
            nd.muli(nd.subi(sigmoid(x, out), targets), factor)
            for one in counted:
                nd.muli(out, one)

        self._total, self._delta = nd.summed(total), nd.elementwise(delta)

    def may_split(self, training: bool) -> bool:
        return self.normalised.adds_up

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, CrossEntropy]:
        x, targets = xs
        targets, ignored, counted = nd.reshape(targets, tuple(x.shape)), self.normalised.ignored, None
        if ignored is not None:
            counted = nd.equal(trunc(targets), float(ignored), nd.buffer_like(x, ctx.buffer, "counted"))
            nd.subtract(1.0, counted, counted)
        a, b = (nd.buffer_like(x, ctx.buffer, name) for name in ("a", "b"))
        total = self._total(x, targets, a, b, *(() if counted is None else (counted,)))
        factor = self.normalised.factor(x.shape[0], count(x.shape, 1), counted, ctx.share)
        return nd.multiply(total, factor), CrossEntropy(x, targets, counted, factor)

    def backward(
        self, epsilon: Array, cache: CrossEntropy, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        self.refuse_gradient(1, ctx)
        x, targets, counted, factor = cache
        below = self.below(x, 0, ctx)
        if below is not None:
            self._delta(x, targets, nd.multiply(epsilon, factor), below, *(() if counted is None else (counted,)))
        return [below, None]


class Pairs(NamedTuple):
    """What the way back of ContrastiveLoss needs."""

    difference: Array
    distances: Array
    similar: Array


class ContrastiveLoss(LossLayer):
    """Σ y d² + (1 - y) max(margin - d, 0)² over pairs a, b of distance d = |a - b|, divided by 2 N.

    Raises
    ------
    ShapeError
        a and b are not of one shape ``[N, C]`` (or with axes of length 1), or y is not of N numbers.

    Notes
    -----
    Bottoms a, b and y ``[N]``: the whole part of y is 0 for pairs that are not similar. With `legacy_version` these
    have max(margin - d², 0). The derivative of d divides by d + 0.0001, as in Caffe. Source: BVLC Caffe,
    contrastive_loss_layer.cpp; Hadsell et al. 2006.
    """

    pure = splits = True
    bottoms = (3, 3)
    not_forced = (2,)
    floor: ClassVar[float] = 1e-4
    """Added to distances that are divided by."""

    def setup(self) -> None:
        self.settings = self.message.contrastive_loss_param

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        a, b, y = bottoms
        if a != b or len(a) < 2 or count(a, 2) != 1:
            raise ShapeError(
                f"{self.label}: bottoms 0 and 1 must be of one shape [N, C], got {describe_shape(a)} and "
                f"{describe_shape(b)}. Flatten them."
            )
        if y[:1] != a[:1] or count(y, 1) != 1:
            raise ShapeError(
                f"{self.label}: bottom 2 must be [{a[0]}], a number for each pair, got {describe_shape(y)}."
            )
        return [()]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Pairs]:
        a, b, y = xs
        margin, axes = self.settings.margin, tuple(range(1, a.ndim))
        difference, squares = (nd.buffer_like(a, ctx.buffer, name) for name in ("difference", "squares"))
        squared = nd.sum(nd.square(nd.subtract(a, b, difference), squares), axes, True)
        similar = nd.greater_equal(nd.absolute(nd.reshape(y, tuple(squared.shape))), 1.0)
        distances = squared if self.settings.legacy_version else nd.sqrt(squared)
        apart = nd.maximum(nd.subtract(margin, distances), 0.0)
        apart = apart if self.settings.legacy_version else nd.square(apart)
        total = nd.sum(nd.where(similar, squared, apart))
        return nd.multiply(total, 0.5 * self._factor(a, ctx)), Pairs(difference, distances, similar)

    def backward(
        self, epsilon: Array, cache: Pairs, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        self.refuse_gradient(2, ctx)
        difference, distances, similar = cache
        beyond = nd.subtract(self.settings.margin, distances)
        if self.settings.legacy_version:
            slope = nd.where(nd.greater(beyond, 0.0), -1.0, nd.multiply(distances, 0.0))
        else:
            slope = nd.divide(nd.minimum(nd.multiply(beyond, -1.0), 0.0), nd.add(distances, self.floor))
        slope = nd.multiply(nd.where(similar, 1.0, slope), nd.multiply(epsilon, self._factor(difference, ctx)))
        first, second = (self.below(difference, number, ctx) for number in range(2))
        return [
            None if first is None else nd.multiply(difference, slope, first),
            None if second is None else nd.muli(nd.multiply(difference, slope, second), -1.0),
            None,
        ]

    def _factor(self, a: Array, ctx: VertexContext) -> float:
        return ctx.share / max(a.shape[0], 1)
