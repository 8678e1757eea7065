"""Some of the examples: BatchReindex and Filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import nd
from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import CaffeLayer, Shape, count


class Chosen(NamedTuple):
    """Which examples went on, and the shape of all."""

    numbers: Array
    shapes: tuple[Shape, ...]


def examples_of(layer: CaffeLayer, x: Array, numbers: Array, ctx: VertexContext, name: str) -> Array:
    """Return some examples of x, in memory of that name."""
    shape, many = tuple(x.shape), numbers.shape[0]
    rows = ctx.buffer(name, (many, count(shape, 1)))
    nd.pull_rows(nd.reshape(x, (shape[0], count(shape, 1))), numbers, f"{layer.label}, numbers of examples", rows)
    return nd.reshape(rows, (many, *shape[1:]))


def back_to_examples(epsilon: Array, numbers: Array, shape: Shape, ctx: VertexContext, name: str) -> Array:
    """Return the sum of what comes from each example, in memory of that name; 0 for those that did not go on."""
    below = nd.fill(ctx.buffer(name, (shape[0], count(shape, 1))), 0.0)
    nd.scatter_add(below, numbers, nd.reshape(epsilon, (numbers.shape[0], count(shape, 1))))
    return nd.reshape(below, shape)


class BatchReindex(CaffeLayer):
    """The examples of bottom 0 whose numbers are in bottom 1 ``[M]``, in that order, each any number of times.

    Raises
    ------
    DataError
        There is no such example; on a GPU it is NaN instead.
    ShapeError
        Bottom 1 is no vector.

    Notes
    -----
    Source: BVLC Caffe, batch_reindex_layer.cpp.
    """

    pure = True
    bottoms = (2, 2)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        first, numbers = bottoms
        if len(numbers) != 1 or not first:
            raise ShapeError(
                f"{self.label}: bottoms must be [N, ...] and numbers of examples [M], got {describe_shape(first)} and "
                f"{describe_shape(numbers)}."
            )
        return [(*numbers, *first[1:])]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Chosen]:
        x, given = xs
        numbers = nd.astype(given, "int64")
        return examples_of(self, x, numbers, ctx, "a"), Chosen(numbers, (tuple(x.shape),))

    def backward(
        self, epsilon: Array, cache: Chosen, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        self.refuse_gradient(1, ctx)
        if not ctx.needs_epsilons[0]:
            return [None, None]
        return [back_to_examples(epsilon, cache.numbers, cache.shapes[0], ctx, "below"), None]


class Filter(CaffeLayer):
    """The examples of all bottoms but the last for which that, the selector ``[N, 1, ...]``, is not 0.

    Raises
    ------
    ConfigurationError
        There are not as many tops as bottoms without the selector.
    ShapeError
        The selector has more than a number for each example, or bottoms have other numbers of examples.

    Notes
    -----
    Decides on values, so it is run every time as it is written. Source: BVLC Caffe, filter_layer.cpp.
    """

    bottoms = (2, None)
    tops = (1, None)

    def setup(self) -> None:
        many = len(self.conf.bottoms)
        if self.outputs != many - 1:
            raise ConfigurationError(
                f"{self.label}: expected {many - 1} top(s), one for every bottom but the selector, got {self.outputs}."
            )

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        *others, selector = bottoms
        if not selector or count(selector, 1) != 1:
            raise ShapeError(f"{self.label}: the selector must be [N, 1, ...], got {describe_shape(selector)}.")
        for number, shape in enumerate(others):
            if shape[:1] != selector[:1]:
                raise ShapeError(
                    f"{self.label}: bottom {number} must have the {selector[0]} examples of the selector "
                    f"{describe_shape(selector)}, got {describe_shape(shape)}."
                )
        return list(others)

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, Chosen]:
        *others, selector = xs
        chosen = nd.to_host(nd.reshape(selector, (-1,))).tolist()
        numbers = nd.create([number for number, value in enumerate(chosen) if value], "int64")
        tops = tuple(examples_of(self, x, numbers, ctx, f"a{place}") for place, x in enumerate(others))
        return (tops if self.outputs > 1 else tops[0]), Chosen(numbers, tuple(tuple(x.shape) for x in others))

    def backward(self, epsilon: Any, cache: Chosen, params: Params, grads: Params, ctx: VertexContext) -> list[Any]:
        self.refuse_gradient(self.outputs, ctx)
        epsilons = epsilon if self.outputs > 1 else [epsilon]
        below: list[Any] = [None] * (self.outputs + 1)
        for place, (one, shape) in enumerate(zip(epsilons, cache.shapes, strict=True)):
            if ctx.needs_epsilons[place]:
                name = f"below{place}"
                nothing = one is None
                below[place] = (
                    nd.fill(ctx.buffer(name, shape), 0.0)
                    if nothing
                    else back_to_examples(one, cache.numbers, shape, ctx, name)
                )
        return below
