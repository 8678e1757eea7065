"""What Caffe's losses share: labels, normalisation, weights; and the losses of two bottoms of one shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import nd
from nd import ShapeError
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

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        first, second = bottoms[:2]
        if first[:1] != second[:1]:
            raise ShapeError(
                f"{self.label}: both bottoms must have as many examples, got {describe_shape(first)} and "
                f"{describe_shape(second)}."
            )
        return [()]

    def check_elements(self, bottoms: Sequence[Shape]) -> None:
        """Raise ShapeError unless both bottoms have as many elements for an example."""
        first, second = bottoms[:2]
        if count(first) != count(second):
            raise ShapeError(
                f"{self.label}: both bottoms must have as many elements, got {describe_shape(first)} and "
                f"{describe_shape(second)}."
            )


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

    def setup(self) -> None:
        def total(a: Array, b: Array, difference: Array, squares: Array) -> Array:
            return nd.sum(nd.square(nd.subtract(a, b, difference), squares))

        self._total = nd.summed(total)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        self.check_elements(bottoms)
        return super().top_shapes(bottoms)

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
