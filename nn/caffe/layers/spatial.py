"""Crop, Permute, Upsample and Interp: numbers at other places."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import nd
from nd import ConfigurationError, ShapeError
from nd.arrays.rows import NO_ROW
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import CaffeLayer, Shape, count


def image_shape(layer: CaffeLayer, shape: Shape) -> Shape:
    """Return a shape ``(N, C, H, W)``; raise ShapeError for another one."""
    if len(shape) != 4:
        raise ShapeError(f"{layer.label}: expected a bottom [N, C, H, W], got {describe_shape(shape)}.")
    return shape


# ---- the same numbers


class Crop(CaffeLayer):
    """The part of bottom 0 that has the shape of bottom 1 from `axis` on, from an offset on.

    Notes
    -----
    One offset for all of these axes or one for each, 0 without any. Bottom 1 gives its shape alone, and gets no
    gradient. The top is a view. Source: BVLC Caffe, crop_layer.cpp.
    """

    pure = splits = True
    bottoms = (2, 2)

    def setup(self) -> None:
        self.settings = self.message.crop_param

    def may_split(self, training: bool) -> bool:
        return self._first(self.conf.bottoms[0]) > 0

    def _first(self, shape: Shape) -> int:
        """Return the first axis that is cut."""
        return self.axis(self.settings.axis, shape)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        return [tuple(one.stop - one.start for one in self._slices(*bottoms))]

    def _slices(self, shape: Shape, like: Shape) -> tuple[slice, ...]:
        first, offsets = self._first(shape), list(self.settings.offset)
        if len(like) != len(shape):
            raise ShapeError(
                f"{self.label}: both bottoms must have as many axes, got {describe_shape(shape)} and "
                f"{describe_shape(like)}."
            )
        axes = len(shape) - first
        if len(offsets) not in (0, 1, axes):
            raise ConfigurationError(
                f"{self.label}: expected one offset or one for each of the {axes} axes from {first} on, got {offsets}."
            )
        starts = [0] * first + (offsets if len(offsets) == axes else (offsets or [0]) * axes)
        lengths = (*shape[:first], *like[first:])
        for axis, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            if start + length > shape[axis]:
                raise ShapeError(
                    f"{self.label}: the crop must lie in bottom 0 {describe_shape(shape)}, got offset {start} and "
                    f"length {length} at axis {axis}."
                )
        return tuple(slice(start, start + length) for start, length in zip(starts, lengths, strict=True))

    def forward(
        self, xs: Sequence[Array], params: Params, ctx: VertexContext
    ) -> tuple[Array, tuple[Array, tuple[slice, ...]]]:
        x, like = xs
        slices = self._slices(tuple(x.shape), tuple(like.shape))
        return x[slices], (x, slices)

    def backward(
        self,
        epsilon: Array,
        cache: tuple[Array, tuple[slice, ...]],
        params: Params,
        grads: Params,
        ctx: VertexContext,
    ) -> list[Array | None]:
        x, slices = cache
        below = self.below(x, 0, ctx)
        if below is not None:
            nd.assign(nd.fill(below, 0.0)[slices], epsilon)
        return [below, None]


class Permute(CaffeLayer):
    """The axes in another order; those that are not named come behind, as they were. Of SSD.

    Notes
    -----
    The top is a view. Source: SSD (Liu and others 2016), permute_layer.cpp.
    """

    pure = splits = True

    def setup(self) -> None:
        self.given = list(self.message.permute_param.order)
        if len(set(self.given)) != len(self.given):
            raise ConfigurationError(f"{self.label}: every axis must be there once in order, got {self.given}.")

    def may_split(self, training: bool) -> bool:
        return self._order(self.conf.bottoms[0])[:1] == (0,)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        return [tuple(shape[axis] for axis in self._order(shape))]

    def _order(self, shape: Shape) -> tuple[int, ...]:
        first = [self.axis(axis, shape, "order") for axis in self.given]
        return (*first, *(axis for axis in range(len(shape)) if axis not in first))

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, tuple[int, ...]]:
        order = self._order(tuple(xs[0].shape))
        return nd.permute(xs[0], order), order

    def backward(
        self, epsilon: Array, cache: tuple[int, ...], params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        return [nd.permute(epsilon, tuple(map(cache.index, range(len(cache)))))]


# ---- more places, or fewer


class Upsample(CaffeLayer):
    """Every place several times, or with a mask as bottom 1 back to where a maximum came from. Of forks.

    Notes
    -----
    Bottom ``[N, C, H, W]``. With one bottom every place becomes a block of `scale` x `scale`, or scale_h x scale_w, as
    in converters from Darknet. With a mask of the same shape, the second top of a Pooling layer, every number goes to
    the place of its plane that the mask names, and other places are 0; the top has upsample_h x upsample_w places, or
    `scale` times those of the bottom, with pad_out_h and pad_out_w one fewer. The mask gets no gradient. Source: SegNet
    (Badrinarayanan, Kendall and Cipolla 2015), upsample_layer.cpp. Differs: numbers whose mask names one place are
    added up, where SegNet keeps the last; windows that do not overlap never do so.
    """

    pure = splits = True
    bottoms = (1, 2)

    def setup(self) -> None:
        settings = self.message.upsample_param
        each = settings.HasField("scale_h") or settings.HasField("scale_w")
        self.scale = (settings.scale_h, settings.scale_w) if each else (settings.scale, settings.scale)
        sized = settings.HasField("upsample_h") and settings.HasField("upsample_w")
        self.size = (settings.upsample_h, settings.upsample_w) if sized else None
        self.less = int(settings.pad_out_h), int(settings.pad_out_w)
        if min(self.size or self.scale) < 1:
            raise ConfigurationError(
                f"{self.label}: scale or upsample_h and upsample_w must be >= 1, got {self.size or self.scale}."
            )
        if len(self.message.bottom) == 1 and (sized or any(self.less)):
            raise ConfigurationError(
                f"{self.label}: upsample_h, upsample_w and pad_out need a mask as bottom 1, got none."
            )

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        n, channels, *places = image_shape(self, self.same_shapes(bottoms))
        size = self.size
        if size is None:
            height, width = (
                length * scale - less for length, scale, less in zip(places, self.scale, self.less, strict=True)
            )
            size = height, width
        return [(n, channels, *size)]

    def forward(
        self, xs: Sequence[Array], params: Params, ctx: VertexContext
    ) -> tuple[Array, tuple[Array, Shape] | None]:
        x, places = xs[0], tuple(xs[0].shape)
        (shape,) = self.top_shapes([tuple(each.shape) for each in xs])
        if len(xs) == 2:
            cells = nd.fill(ctx.buffer("cells", (count(shape), 1)), 0.0)
            indices = self._indices(xs[1], shape)
            nd.scatter_add(cells, indices, nd.reshape(x, (-1, 1)))
            return nd.reshape(cells, shape), (indices, places)
        y = nd.buffer_like(x, ctx.buffer, "y", shape)
        (n, channels, height, width), (rows, columns) = places, self.scale
        blocks = nd.reshape_view(y, (n, channels, height, rows, width, columns))
        nd.assign(blocks, nd.reshape(x, (n, channels, height, 1, width, 1)))
        return y, None

    def backward(
        self,
        epsilon: Array,
        cache: tuple[Array, Shape] | None,
        params: Params,
        grads: Params,
        ctx: VertexContext,
    ) -> list[Array | None]:
        below: list[Array | None] = [None] * len(ctx.needs_epsilons)
        if ctx.needs_epsilons[0] and cache is not None:
            indices, shape = cache
            rows = ctx.buffer("below0", (count(shape), 1))
            below[0] = nd.reshape(nd.pull_rows(nd.reshape(epsilon, (-1, 1)), indices, self.label, rows), shape)
        elif ctx.needs_epsilons[0]:
            below[0] = self._summed_blocks(epsilon, ctx)
        return below

    def _summed_blocks(self, epsilon: Array, ctx: VertexContext) -> Array:
        rows, columns = self.scale
        n, channels, height, width = epsilon.shape
        out = nd.buffer_like(epsilon, ctx.buffer, "below0", (n, channels, height // rows, width // columns))
        for number, (row, column) in enumerate(itertools.product(range(rows), range(columns))):
            part = epsilon[:, :, row::rows, column::columns]
            if number == 0:
                nd.assign(out, part)
            else:
                nd.addi(out, part)
        return out

    def _indices(self, mask: Array, shape: Shape) -> Array:
        """Return the number of the element of the top for every one of a mask; of a place beyond its plane NO_ROW."""
        n, channels, *places = shape
        plane = count(tuple(places))
        mask = nd.where(nd.greater(float(plane), mask), mask, -1.0)
        mask = nd.reshape(nd.where(nd.greater_equal(mask, 0.0), mask, -1.0), (n * channels, -1))
        starts = nd.multiply(nd.arange(n * channels, dtype="int64"), plane)
        indices = nd.add(nd.astype(mask, "int64"), nd.reshape(starts, (-1, 1)))
        return nd.reshape(nd.where(nd.greater_equal(mask, 0.0), indices, NO_ROW), (-1,))


class Interp(CaffeLayer):
    """Bilinear interpolation between places, the corners on the corners. Of DeepLab and PSPNet.

    Notes
    -----
    Bottom ``[N, C, H, W]``, less -pad_beg rows and columns before and -pad_end behind. With shrink_factor s the top has
    ``(H - 1) // s + 1`` rows, with zoom_factor z ``H + (H - 1) (z - 1)``, with both one after the other, otherwise
    `height` x `width`. Row i lies at ``i (H - 1) / (H' - 1)``. Each axis is one product with a matrix of weights, so
    that NaN and infinities spread along it. Source: DeepLab (Chen and others 2015), interp_layer.cpp.
    """

    pure = splits = True

    def setup(self) -> None:
        settings = self.settings = self.message.interp_param
        self.factors = [settings.HasField(name) for name in ("shrink_factor", "zoom_factor")]
        if settings.pad_beg > 0 or settings.pad_end > 0:
            raise ConfigurationError(
                f"{self.label}: pad_beg and pad_end must be <= 0, got {settings.pad_beg} and {settings.pad_end}."
            )
        if min(settings.shrink_factor, settings.zoom_factor) < 1:
            raise ConfigurationError(
                f"{self.label}: shrink_factor and zoom_factor must be >= 1, got {settings.shrink_factor} and "
                f"{settings.zoom_factor}."
            )
        if not self._is_sized and not any(self.factors):
            raise ConfigurationError(f"{self.label}: expected a factor, or height and width, got none.")

    @property
    def _is_sized(self) -> bool:
        """Whether height and width are given, and no factor alone, which Caffe prefers."""
        return self.settings.HasField("height") and self.settings.HasField("width") and sum(self.factors) != 1

    def _length(self, length: int, given: int) -> int:
        """Return the length of the top along an axis; with pad, the bottom's length is less."""
        if self._is_sized:
            return given
        shrunk = (length - 1) // self.settings.shrink_factor + 1
        return shrunk + (shrunk - 1) * (self.settings.zoom_factor - 1)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        n, channels, *places = image_shape(self, bottoms[0])
        less = self.settings.pad_beg + self.settings.pad_end
        given = self.settings.height, self.settings.width
        size = tuple(self._length(length + less, out) for length, out in zip(places, given, strict=True))
        if min(*(length + less for length in places), *size) < 1:
            raise ShapeError(
                f"{self.label}: bottom and top must have places, got {describe_shape(bottoms[0])} less {-less}, and "
                f"{describe_shape(size)}."
            )
        return [(n, channels, *size)]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Array]:
        (x,) = xs
        _, _, height, width = self.top_shapes([tuple(x.shape)])[0]
        inside = self._inside(x)
        z = self._along(inside, 2, self._weights(inside.shape[2], height), "rows", ctx)
        y = self._along(z, 3, self._weights(inside.shape[3], width), "columns", ctx)
        return nd.assign(ctx.buffer("y", tuple(y.shape)), y), x

    def backward(
        self, epsilon: Array, cache: Array, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        below = self.below(cache, 0, ctx)
        if below is None:
            return [None]
        inside = self._inside(below)
        columns = self._weights(inside.shape[3], epsilon.shape[3])
        z = self._along(epsilon, 3, columns, "columns", ctx, back=True)
        rows = self._weights(inside.shape[2], epsilon.shape[2])
        z = self._along(z, 2, rows, "rows", ctx, back=True)
        if tuple(inside.shape) != tuple(below.shape):
            nd.fill(below, 0.0)
        nd.assign(inside, z)
        return [below]

    def _inside(self, x: Array) -> Array:
        first, last = -self.settings.pad_beg, self.settings.pad_end
        return x[:, :, first : x.shape[2] + last, first : x.shape[3] + last]

    def _weights(self, before: int, after: int) -> Array | None:
        """Return what every place of the top takes of every place of the bottom, ``[after, before]``; None for all."""
        if before == after:
            return None
        ratio = (before - 1) / (after - 1) if after > 1 else 0.0
        places = nd.reshape(nd.multiply(nd.arange(after, dtype="float64"), ratio), (after, 1))
        away = nd.absolute(nd.subtract(places, nd.arange(before, dtype="float64")))
        return nd.astype(nd.maximum(nd.subtract(1.0, away), 0.0), self.dtype)

    def _along(
        self, x: Array, axis: int, weights: Array | None, name: str, ctx: VertexContext, back: bool = False
    ) -> Array:
        """Return the product of a matrix, or of its transpose on the way back, with one axis of an array."""
        if weights is None:
            return x
        order = (axis, *(other for other in range(4) if other != axis))
        moved = nd.permute(x, order)
        shape = tuple(moved.shape)
        rows = nd.reshape(nd.assign(ctx.buffer(f"{name} of it", shape), moved), (shape[0], count(shape, 1)))
        length = weights.shape[1 if back else 0]
        z = nd.gemm(weights, rows, ctx.buffer(name, (length, count(shape, 1))), transpose_a=back)
        return nd.permute(nd.reshape(z, (length, *shape[1:])), tuple(map(order.index, range(4))))
