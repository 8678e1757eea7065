"""Scale, Bias and Axpy: products and sums with arrays of fewer axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import nd
from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import BlobSpec, CaffeLayer, Shape
from .normalization import filler_or_one


class ScaleCache(NamedTuple):
    """Results of forward that backward needs."""

    x: Array
    factor: Array
    """As a blob or bottom 1 has it."""


class _Broadcast(CaffeLayer):
    """Shared by Scale and Bias: a blob or bottom 1 whose axes are some of those of bottom 0, from `axis` on.

    Examples do not meet where the array has no axis of examples, or has a row for each of them, from bottom 1.
    """

    bottoms = (1, 2)

    def setup(self) -> None:
        given = {"Scale": self.message.scale_param, "Bias": self.message.bias_param}
        self.settings = given[self.message.type]
        if self.settings.num_axes < -1:
            raise ConfigurationError(f"{self.label}: num_axes must be -1 or more, got {self.settings.num_axes}.")

    def may_split(self, training: bool) -> bool:
        shapes = self.conf.bottoms
        if len(shapes) == 2:
            return len(shapes[1]) > 0 and self._first(*shapes) == 0
        return self.settings.num_axes == 0 or self._first(*shapes) > 0

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        self._spread(*bottoms)
        return [bottoms[0]]

    def _first(self, shape: Shape, small: Shape | None = None) -> int:
        """Return the axis of bottom 0 that is the first of the smaller array; 0 for a number, as in Caffe."""
        return 0 if small == () else self.axis(self.settings.axis, shape)

    def _blob_shape(self, shape: Shape) -> Shape:
        """Return the shape of the blob that stands for bottom 1.

        Raises
        ------
        ShapeError
            There are not as many axes.
        """
        count = self.settings.num_axes
        if count == 0:
            return ()
        first = self.axis(self.settings.axis, shape)
        if first + count > len(shape):
            raise ShapeError(
                f"{self.label}: axis {first} and num_axes {count} must lie in the bottom, got {describe_shape(shape)}."
            )
        return shape[first:] if count == -1 else shape[first : first + count]

    def _spread(self, shape: Shape, small: Shape | None = None) -> Shape:
        """Return the shape in which the smaller array broadcasts to one of that shape.

        Raises
        ------
        ShapeError
            The axes differ.
        """
        if small is None:
            small = self._blob_shape(shape)
        first = self._first(shape, small)
        if shape[first : first + len(small)] != small:
            raise ShapeError(
                f"{self.label}: from axis {first} on the bottom must have the shape {describe_shape(small)}, got "
                f"{describe_shape(shape)}."
            )
        return ((1,) * first + small + (1,) * (len(shape) - first - len(small))) if small else (1,) * len(shape)

    def across(self, small: Array, x: Array) -> Array:
        """View the smaller array so that it broadcasts to x."""
        return nd.reshape(small, self._spread(tuple(x.shape), tuple(small.shape)))

    def summed(self, x: Array, y: Array | None, small: Array, out: Array) -> Array:
        """Write the sum of x, or of x * y, over all axes that the smaller array has not."""
        spread = self._spread(tuple(x.shape), tuple(small.shape))
        axes = tuple(axis for axis, length in enumerate(x.shape) if spread[axis] == 1 != length)
        if x.ndim > 1 and axes == tuple(axis for axis, length in enumerate(x.shape) if axis != 1 and length != 1):
            sums = nd.channel_sums(x, y)
        else:
            product = x if y is None else nd.multiply(x, y)
            sums = nd.sum(product, axes, True) if axes else product
        return nd.assign(out, nd.reshape(sums, tuple(small.shape)))


class Scale(_Broadcast):
    """y = a x, or a x + b, where a and b broadcast to x from `axis` on.

    Notes
    -----
    Blobs: a, of the num_axes axes of bottom 0 from `axis` on, all of them for -1, ``[]`` for 0; then b with bias_term.
    With bottom 1 that is a, whose axes count, and b is the only blob. It starts as 1 where there is no filler. Source:
    BVLC Caffe, scale_layer.cpp.
    """

    pure = splits = True

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        alone = len(bottoms) == 1
        shape = self._blob_shape(bottoms[0]) if alone else bottoms[1]
        scale = BlobSpec("scale", shape, filler_or_one(self.settings, "filler"))
        bias = BlobSpec("bias", shape, self.settings.bias_filler)
        return (*((scale,) if alone else ()), *((bias,) if self.settings.bias_term else ()))

    def may_split(self, training: bool) -> bool:
        rows_of_bias = self.settings.bias_term and len(self.conf.bottoms) == 2  # for a number of examples
        return super().may_split(training) and not rows_of_bias

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, ScaleCache]:
        x, factor = xs[0], xs[1] if len(xs) == 2 else params["scale"]
        y = nd.multiply(x, self.across(factor, x), nd.buffer_like(x, ctx.buffer, "y"))
        if "bias" in params:
            nd.addi(y, self.across(params["bias"], x))
        return y, ScaleCache(x, factor)

    def backward(
        self, epsilon: Array, cache: ScaleCache, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        x, factor = cache
        if "bias" in grads:
            self.summed(epsilon, None, factor, grads["bias"])
        if "scale" in grads:
            self.summed(epsilon, x, factor, grads["scale"])
        below: list[Array | None] = [None] * len(ctx.needs_epsilons)
        if len(below) == 2 and ctx.needs_epsilons[1]:
            below[1] = self.summed(epsilon, x, factor, nd.buffer_like(factor, ctx.buffer, "below1"))
        if ctx.needs_epsilons[0]:
            below[0] = nd.muli(epsilon, self.across(factor, x))
        return below


class Bias(_Broadcast):
    """y = x + b, where b broadcasts to x from `axis` on.

    Notes
    -----
    Blob: b, as Scale's a, starting as 0. With bottom 1 that is b. Source: BVLC Caffe, bias_layer.cpp.
    """

    pure = splits = True

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        if len(bottoms) == 2:
            return ()
        return (BlobSpec("bias", self._blob_shape(bottoms[0]), self.settings.filler),)

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Array]:
        x, bias = xs[0], xs[1] if len(xs) == 2 else params["bias"]
        return nd.add(x, self.across(bias, x), nd.buffer_like(x, ctx.buffer, "y")), bias

    def backward(
        self, epsilon: Array, cache: Array, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        if "bias" in grads:
            self.summed(epsilon, None, cache, grads["bias"])
        below: list[Array | None] = [epsilon if ctx.needs_epsilons[0] else None]
        if len(ctx.needs_epsilons) == 2:
            needed = ctx.needs_epsilons[1]
            memory = nd.buffer_like(cache, ctx.buffer, "below1") if needed else None
            below.append(None if memory is None else self.summed(epsilon, None, cache, memory))
        return below


class Axpy(CaffeLayer):
    """z = a x + y with a number a for every example and channel. Of squeeze-and-excitation networks.

    Notes
    -----
    Bottoms: a ``[N, C]`` or ``[N, C, 1, ...]``, x and y ``[N, C, ...]``. Source: SENet (Hu, Shen and Sun 2018),
    axpy_layer.cpp.
    """

    pure = splits = True
    bottoms = (3, 3)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        factor, x, y = bottoms
        if x != y or len(x) < 2 or factor[:2] != x[:2] or any(length != 1 for length in factor[2:]):
            raise ShapeError(
                f"{self.label}: expected bottoms [N, C, 1, 1], [N, C, ...] and one of the same shape, got "
                f"{', '.join(map(describe_shape, bottoms))}."
            )
        return [x]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, tuple[Array, Array]]:
        factor, x, y = xs
        spread = nd.reshape(factor, (*x.shape[:2], *(1,) * (x.ndim - 2)))
        z = nd.multiply(x, spread, nd.buffer_like(x, ctx.buffer, "z"))
        return nd.addi(z, y), (factor, x)

    def backward(
        self, epsilon: Array, cache: tuple[Array, Array], params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        factor, x = cache
        of_factor, of_x, of_y = ctx.needs_epsilons
        below: list[Array | None] = [None, None, epsilon if of_y else None]
        spread = (*x.shape[:2], *(1,) * (x.ndim - 2))
        product = nd.buffer_like(x, ctx.buffer, "product")
        if of_factor:
            axes = tuple(range(2, x.ndim))
            nd.multiply(epsilon, x, product)
            sums = nd.sum(product, axes) if axes else nd.copy(product)
            below[0] = nd.reshape(sums, tuple(factor.shape))
        if of_x:
            below[1] = nd.multiply(epsilon, nd.reshape(factor, spread), product)
        return below
