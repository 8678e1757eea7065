"""The numbers of bottoms in other shapes: Flatten, Reshape, Concat, Slice and Tile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import nd
from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.merging import stretch
from ...vertices.runtime import VertexContext
from .base import CaffeLayer, Shape, count


class ViewLayer(CaffeLayer):
    """A layer whose top has the numbers of its bottom, in c order, in another shape."""

    in_place = False

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Shape]:
        (x,) = xs
        (shape,) = self.top_shapes([tuple(x.shape)])
        return self._reshaped(x, shape, ctx, "a"), tuple(x.shape)

    def backward(
        self, epsilon: Array, cache: Shape, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        return [self._reshaped(epsilon, cache, ctx, "below") if ctx.needs_epsilons[0] else None]

    def _reshaped(self, x: Array, shape: Shape, ctx: VertexContext, name: str) -> Array:
        """Return x in another shape: where examples stay what they are, as it lies in memory, or its copy there."""
        if x.ndim and shape[:1] == tuple(x.shape[:1]):
            x = nd.to_activation_order(x, lambda _, wanted: ctx.buffer(name, wanted))
        return nd.reshape(x, shape)

    def may_split(self, training: bool) -> bool:
        shape = self.conf.bottoms[0]
        return bool(shape) and self.top_shapes([shape])[0][:1] == shape[:1] and self._keeps_examples(shape)

    def _keeps_examples(self, shape: Shape) -> bool:
        """Tell whether the top has as many examples as the bottom, however many these are."""
        others = (shape[0] + 1, *shape[1:])
        try:
            return self.top_shapes([others])[0][:1] == others[:1]
        except ShapeError:
            return False


class Flatten(ViewLayer):
    """The axes from `axis` to `end_axis`, that one included, become one. Source: BVLC Caffe, flatten_layer.cpp."""

    pure = splits = True

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        settings = self.message.flatten_param
        first, last = self.axis(settings.axis, shape), self.axis(settings.end_axis, shape, "end_axis")
        if first > last:
            raise ShapeError(
                f"{self.label}: axis must not be after end_axis, got {settings.axis} and {settings.end_axis} for the "
                f"bottom {describe_shape(shape)}."
            )
        return [(*shape[:first], count(shape, first, last + 1), *shape[last + 1 :])]


class Reshape(ViewLayer):
    """The `num_axes` axes from `axis` on get another shape: 0 is the bottom's length there, one -1 what fits.

    Raises
    ------
    ConfigurationError
        -1 stands there twice, or a length is below -1.
    ShapeError
        The bottom has not that many numbers, or not those axes.

    Notes
    -----
    A negative axis counts from behind the last: -1 appends. Source: BVLC Caffe, reshape_layer.cpp.
    """

    pure = splits = True

    def setup(self) -> None:
        settings = self.message.reshape_param
        self.wanted = tuple(settings.shape.dim)
        self.start, self.replaced = settings.axis, settings.num_axes
        if self.wanted.count(-1) > 1 or any(length < -1 for length in self.wanted):
            raise ConfigurationError(
                f"{self.label}: shape must be lengths >= 0, and -1 at most once, got {list(self.wanted)}."
            )
        if self.replaced < -1:
            raise ConfigurationError(f"{self.label}: num_axes must be >= 0, or -1 for all, got {self.replaced}.")

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        start = self.axis(self.start, shape, more=1)
        stop = len(shape) if self.replaced == -1 else start + self.replaced
        missing = [place for place, length in enumerate(self.wanted) if length == 0 and start + place >= len(shape)]
        if stop > len(shape) or missing:
            what = f"an axis {start + missing[0]} to copy" if missing else f"{self.replaced} axes from {start} on"
            raise ShapeError(f"{self.label}: the bottom must have {what}, got {describe_shape(shape)}.")
        middle = [length or shape[start + place] for place, length in enumerate(self.wanted)]
        top = (*shape[:start], *middle, *shape[stop:])
        known = math.prod(length for length in top if length != -1)
        if -1 in top and known and count(shape) % known == 0:
            top = tuple(count(shape) // known if length == -1 else length for length in top)
        if count(top) != count(shape) or -1 in top:
            raise ShapeError(
                f"{self.label}: the numbers of the bottom {describe_shape(shape)} must fit into {describe_shape(top)}, "
                f"got {count(shape)} of them. Mend shape, axis or num_axes."
            )
        return [top]


class AlongAxis(CaffeLayer):
    """Shared by layers for which one axis differs from the others."""

    along: int
    """The axis as the message has it, which may be counted from the end."""

    def may_split(self, training: bool) -> bool:
        """Tell whether examples do not meet: the axis is not theirs."""
        return self.axis(self.along, self.conf.bottoms[0]) > 0


def axis_or_old_name(layer: CaffeLayer, settings: Any, old: str) -> int:
    """Return the axis of a message that has it under an older name too.

    Raises
    ------
    ConfigurationError
        It is there under both.
    """
    if not settings.HasField(old):
        return int(settings.axis)
    if settings.HasField("axis"):
        raise ConfigurationError(f"{layer.label}: the axis must be given once, got axis and {old}. Leave out {old}.")
    return int(getattr(settings, old))


class Concat(AlongAxis):
    """Bottoms side by side along `axis`. Source: BVLC Caffe, concat_layer.cpp."""

    pure = splits = True
    bottoms = (1, None)

    def setup(self) -> None:
        self.along = axis_or_old_name(self, self.message.concat_param, "concat_dim")

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        first, axis = bottoms[0], self.axis(self.along, bottoms[0])
        for number, shape in enumerate(bottoms[1:], 1):
            if len(shape) != len(first) or (*shape[:axis], *shape[axis + 1 :]) != (*first[:axis], *first[axis + 1 :]):
                raise ShapeError(
                    f"{self.label}: all bottoms must have the shape of bottom 0 but for axis {axis}, "
                    f"{describe_shape(first)}, got {describe_shape(shape)} for bottom {number}."
                )
        return [(*first[:axis], sum(shape[axis] for shape in bottoms), *first[axis + 1 :])]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, list[int]]:
        shapes = [tuple(x.shape) for x in xs]
        axis, (shape,) = self.axis(self.along, shapes[0]), self.top_shapes(shapes)
        lengths = [own[axis] for own in shapes]
        if len(xs) == 1:
            return xs[0], lengths
        out = nd.buffer_like(xs[0], ctx.buffer, "a", shape)
        for x, (start, stop) in zip(xs, stretches(lengths), strict=True):
            nd.assign(stretch(out, axis, start, stop), x)
        return out, lengths

    def backward(
        self, epsilon: Array, cache: list[int], params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        axis = self.axis(self.along, tuple(epsilon.shape))
        between = zip(ctx.needs_epsilons, stretches(cache), strict=True)
        return [stretch(epsilon, axis, start, stop) if needed else None for needed, (start, stop) in between]


def stretches(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Return first and last, behind it, of stretches that follow one another."""
    return list(pairwise([sum(lengths[:number]) for number in range(len(lengths) + 1)]))


class Slice(AlongAxis):
    """Stretches of an axis: those between the points of `slice_point`, or as many equal ones as there are tops.

    Raises
    ------
    ConfigurationError
        The points do not rise, or there is not one less than tops.
    ShapeError
        The axis is too short for the points, or cannot be divided into equal stretches.

    Notes
    -----
    Source: BVLC Caffe, slice_layer.cpp.
    """

    pure = splits = True
    tops = (1, None)

    def setup(self) -> None:
        self.along = axis_or_old_name(self, self.message.slice_param, "slice_dim")
        self.points = list(self.message.slice_param.slice_point)
        if self.points and len(self.points) != self.outputs - 1:
            raise ConfigurationError(
                f"{self.label}: slice_point must have one number less than {self.outputs} top(s), got {self.points}."
            )
        if any(start >= stop for start, stop in pairwise([0, *self.points])):
            raise ConfigurationError(f"{self.label}: slice_point must rise from above 0, got {self.points}.")

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        axis = self.axis(self.along, shape)
        length = shape[axis]
        if not self.points and length % self.outputs:
            raise ShapeError(
                f"{self.label}: axis {axis} must be divisible among {self.outputs} tops, got {describe_shape(shape)}. "
                "Give slice_point."
            )
        if self.points and self.points[-1] >= length:
            raise ShapeError(
                f"{self.label}: slice_point must be below the length of axis {axis}, got {self.points} for the bottom "
                f"{describe_shape(shape)}."
            )
        equal = [length // self.outputs * number for number in range(1, self.outputs)]
        ends = [0, *(self.points or equal), length]
        return [(*shape[:axis], stop - start, *shape[axis + 1 :]) for start, stop in pairwise(ends)]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, Array]:
        (x,) = xs
        axis = self.axis(self.along, tuple(x.shape))
        lengths = [shape[axis] for shape in self.top_shapes([tuple(x.shape)])]
        if len(lengths) == 1:
            return x, x
        return tuple(stretch(x, axis, start, stop) for start, stop in stretches(lengths)), x

    def backward(self, epsilon: Any, cache: Array, params: Params, grads: Params, ctx: VertexContext) -> list[Any]:
        if not ctx.needs_epsilons[0]:
            return [None]
        if self.outputs == 1:
            return [epsilon]
        shape = tuple(cache.shape)
        axis, below = self.axis(self.along, shape), nd.buffer_like(cache, ctx.buffer, "below")
        lengths = [top[axis] for top in self.top_shapes([shape])]
        for one, (start, stop) in zip(epsilon, stretches(lengths), strict=True):
            part = stretch(below, axis, start, stop)
            if one is None:
                nd.fill(part, 0.0)
            else:
                nd.assign(part, one)
        return [below]


class Tile(AlongAxis):
    """The bottom `tiles` times, side by side along `axis`. Source: BVLC Caffe, tile_layer.cpp."""

    pure = splits = True

    def setup(self) -> None:
        self.along, self.tiles = self.message.tile_param.axis, self.message.tile_param.tiles
        if self.tiles < 1:
            raise ConfigurationError(f"{self.label}: tiles must be >= 1, got {self.tiles}.")

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        axis = self.axis(self.along, shape)
        return [(*shape[:axis], shape[axis] * self.tiles, *shape[axis + 1 :])]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Array]:
        (x,) = xs
        (shape,) = self.top_shapes([tuple(x.shape)])
        out = nd.buffer_like(x, ctx.buffer, "a", shape)
        for part in self._parts(out, x):
            nd.assign(part, x)
        return out, x

    def backward(
        self, epsilon: Array, cache: Array, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        below = self.below(cache, 0, ctx)
        if below is None:
            return [None]
        first, *others = self._parts(epsilon, cache)
        nd.assign(below, first)
        for part in others:
            nd.addi(below, part)
        return [below]

    def _parts(self, tiled: Array, x: Array) -> list[Array]:
        axis = self.axis(self.along, tuple(x.shape))
        return [stretch(tiled, axis, *ends) for ends in stretches([x.shape[axis]] * self.tiles)]
