"""Many numbers to few: Reduction, Eltwise of several bottoms, and ArgMax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nd
from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.element_wise import Add, Max, Product
from ...vertices.runtime import VertexContext
from .base import CaffeLayer, Shape, count
from .shapes import AlongAxis


class Reduction(AlongAxis):
    """coeff times the sum, the sum of magnitudes or of squares, or the mean, over all axes from `axis` on.

    Notes
    -----
    The derivative of a magnitude at 0 is 0. Source: BVLC Caffe, reduction_layer.cpp.
    """

    pure = splits = True

    def setup(self) -> None:
        settings = self.message.reduction_param
        self.along, self.coeff = settings.axis, float(settings.coeff)
        self.kind: str = settings.ReductionOp.Name(settings.operation)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        return [shape[: self.axis(self.along, shape)]]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Array]:
        (x,) = xs
        t: Array = x
        if self.kind in ("ASUM", "SUMSQ"):
            each: Callable[..., Array] = nd.absolute if self.kind == "ASUM" else nd.square
            t = each(x, nd.buffer_like(x, ctx.buffer, "each"))
        axis = self.axis(self.along, tuple(x.shape))
        return nd.multiply(nd.sum(t, tuple(range(axis, x.ndim))), self._factor(x, axis)), x

    def backward(
        self, epsilon: Array, cache: Array, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        x, below = cache, self.below(cache, 0, ctx)
        if below is None:
            return [None]
        axis = self.axis(self.along, tuple(x.shape))
        factor = self._factor(x, axis) * (2.0 if self.kind == "SUMSQ" else 1.0)
        slope = nd.reshape(nd.multiply(epsilon, factor), (*x.shape[:axis], *(1,) * (x.ndim - axis)))
        if self.kind in ("SUM", "MEAN"):
            return [nd.assign(below, slope)]
        if self.kind == "SUMSQ":
            return [nd.multiply(x, slope, below)]
        return [nd.muli(nd.sign(x, below), slope)]

    def _factor(self, x: Array, axis: int) -> float:
        return self.coeff / max(count(x.shape, axis), 1) if self.kind == "MEAN" else self.coeff


class Eltwise(CaffeLayer):
    """The product of bottoms of one shape, their sum with a coefficient for each, or their maximum.

    Raises
    ------
    ConfigurationError
        There are coefficients, but not one for every bottom, or for another operation than the sum.

    Notes
    -----
    Of equal maxima bottom 1 gets the gradient before bottom 0, and both before the later ones. Without
    `stable_prod_grad` the derivative of a product is the top divided by the bottom, as in Caffe also where that is 0.
    Source: BVLC Caffe, eltwise_layer.cpp.
    """

    pure = splits = True
    bottoms = (2, None)

    def setup(self) -> None:
        settings = self.message.eltwise_param
        self.kind: str = settings.EltwiseOp.Name(settings.operation)
        self.stable: bool = settings.stable_prod_grad
        many = len(self.conf.bottoms)
        if settings.coeff and self.kind != "SUM":
            raise ConfigurationError(f"{self.label}: coeff must be left out but for SUM, got it with {self.kind}.")
        if settings.coeff and len(settings.coeff) != many:
            raise ConfigurationError(
                f"{self.label}: coeff must be one for each of {many} bottoms, got {list(settings.coeff)}."
            )
        self.coeff = list(settings.coeff) or [1.0] * many
        self.op = {"MAX": Max, "PROD": Product, "SUM": Add}[self.kind]()

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        return [self.same_shapes(bottoms)]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, tuple[Any, Array]]:
        self.same_shapes([tuple(x.shape) for x in xs])
        out = nd.buffer_like(xs[0], ctx.buffer, "a")
        if all(coeff == 1.0 for coeff in self.coeff):
            return self.op.forward(xs, out), (xs, out)
        nd.multiply(xs[0], self.coeff[0], out)
        for x, coeff in zip(xs[1:], self.coeff[1:], strict=True):
            part = x if coeff == 1.0 else nd.multiply(x, coeff, nd.buffer_like(out, ctx.buffer, "part"))
            nd.addi(out, part)
        return out, (xs, out)

    def backward(
        self, epsilon: Array, cache: tuple[Any, Array], params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        xs, out = cache
        if self.kind == "SUM":
            return self._back_from_sum(epsilon, ctx)
        if self.kind == "PROD" and not self.stable:
            below = [self.below(x, number, ctx) for number, x in enumerate(xs)]
            return [
                None if one is None else nd.muli(nd.divide(out, x, one), epsilon)
                for x, one in zip(xs, below, strict=True)
            ]
        first = (1, 0, *range(2, len(xs))) if self.kind == "MAX" else tuple(range(len(xs)))
        there = dict(zip(first, self.op.backward(epsilon, [xs[number] for number in first], out, ctx), strict=True))
        return [there[number] if needed else None for number, needed in enumerate(ctx.needs_epsilons)]

    def _back_from_sum(self, epsilon: Array, ctx: VertexContext) -> list[Array | None]:
        """Return epsilon times the coefficients, one of them in epsilon's own memory."""
        below: list[Array | None] = [None] * len(ctx.needs_epsilons)
        numbers = [number for number, needed in enumerate(ctx.needs_epsilons) if needed]
        for number in numbers[1:]:
            memory = nd.buffer_like(epsilon, ctx.buffer, f"below{number}")
            plain = self.coeff[number] == 1.0
            below[number] = nd.assign(memory, epsilon) if plain else nd.multiply(epsilon, self.coeff[number], memory)
        for number in numbers[:1]:
            below[number] = epsilon if self.coeff[number] == 1.0 else nd.muli(epsilon, self.coeff[number])
        return below


class ArgMax(CaffeLayer):
    """The places of the `top_k` largest numbers, the largest first, along `axis` or over all of an example.

    Raises
    ------
    ConfigurationError
        top_k is below 1; in the way back: something below is to be trained through it.
    ShapeError
        There are not as many numbers as top_k.

    Notes
    -----
    Top with an axis: that has the length top_k, and holds places, or with `out_max_val` numbers. Without: ``[N, 1,
    top_k]`` places, or with `out_max_val` ``[N, 2, top_k]``, places and numbers; further axes of the bottom become 1.
    Of equal numbers the one behind comes first. Source: BVLC Caffe, argmax_layer.cpp.
    """

    pure = splits = True

    def setup(self) -> None:
        settings = self.message.argmax_param
        self.along: int | None = settings.axis if settings.HasField("axis") else None
        self.values, self.top_k = settings.out_max_val, settings.top_k
        if self.top_k < 1:
            raise ConfigurationError(f"{self.label}: top_k must be >= 1, got {self.top_k}.")

    def may_split(self, training: bool) -> bool:
        return self.along is None or self.axis(self.along, self.conf.bottoms[0]) > 0

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        axis = None if self.along is None else self.axis(self.along, shape)
        if not shape:
            raise ShapeError(f"{self.label}: the bottom must have an axis of examples, got {describe_shape(shape)}.")
        there = count(shape, 1) if axis is None else shape[axis]
        if self.top_k > there:
            raise ShapeError(
                f"{self.label}: top_k must be at most {there}, the numbers to choose from in {describe_shape(shape)}, "
                f"got {self.top_k}."
            )
        if axis is not None:
            return [(*shape[:axis], self.top_k, *shape[axis + 1 :])]
        return [(shape[0], 2 if self.values else 1, self.top_k, *(1,) * (len(shape) - 3))]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, None]:
        (x,) = xs
        (shape,) = self.top_shapes([tuple(x.shape)])
        if self.along is None:
            x, axis = nd.reshape(x, (x.shape[0], -1)), 1
        else:
            axis = self.axis(self.along, shape)
        places, values = self._largest(x, axis, ctx)
        if self.along is not None:
            return nd.concat(values if self.values else places, axis), None
        parts = [places, values] if self.values else [places]
        rows = [nd.reshape(nd.concat(part, 1), (x.shape[0], 1, self.top_k)) for part in parts]
        return nd.reshape(rows[0] if len(rows) == 1 else nd.concat(rows, 1), shape), None

    def _largest(self, x: Array, axis: int, ctx: VertexContext) -> tuple[list[Array], list[Array]]:
        """Return places and numbers, one after the other, each with the length 1 along the axis."""
        numbers = nd.arange(0, x.shape[axis], nd.dtype_name(x))
        numbers = nd.reshape(numbers, (-1, *(1,) * (x.ndim - axis - 1)))
        free, hit = None, nd.buffer_like(x, ctx.buffer, "hit")
        places: list[Array] = []
        values: list[Array] = []
        for _ in range(self.top_k):
            left = x if free is None else nd.where(nd.greater(free, 0.0), x, -float("inf"))
            values.append(nd.max(left, axis, True))
            nd.equal(left, values[-1], hit)
            if free is not None:
                nd.muli(hit, free)
            places.append(nd.max(nd.muli(hit, numbers), axis, True))
            if len(places) == self.top_k:
                break
            taken = nd.equal(numbers, places[-1], nd.buffer_like(x, ctx.buffer, "taken"))
            if free is None:
                free = nd.subtract(1.0, taken, nd.buffer_like(x, ctx.buffer, "free"))
            else:
                nd.subi(free, taken)
        return places, values

    def backward(
        self, epsilon: Array, cache: None, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        return self.without_gradients(ctx)
