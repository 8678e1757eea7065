"""ROIPooling: the largest numbers of parts of regions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import nd
from nd import ConfigurationError, DataError, ShapeError
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import CaffeLayer, Shape, count


class RegionCache(NamedTuple):
    """Results of forward that backward needs."""

    shape: Shape
    """Of bottom 0."""
    winners: list[Array]
    """For every region the elements ``[parts, C]`` of bottom 0, read as ``[N, H, W, C]``, that were the largest."""
    counted: list[Array]
    """For every region 1 for parts that have places, else 0, ``[parts, 1]``."""


class ROIPooling(CaffeLayer):
    """The largest number of every channel in each of pooled_h x pooled_w parts of regions of pictures. Of Fast R-CNN.

    Notes
    -----
    Bottoms: ``[N, C, H, W]``, and regions ``[R, 5]``: number of the picture, then x1, y1, x2, y2, both ends included,
    which are multiplied by spatial_scale and rounded. Top ``[R, C, pooled_h, pooled_w]``. Part i of P of a region of
    length L has the places from ``floor(i L / P)`` to ``ceil((i + 1) L / P)`` from its start that are in the picture,
    and is 0 where there are none. Among equals the first wins the gradient; regions get none. Source: Girshick 2015,
    roi_pooling_layer.cpp. Differs: these limits are computed exactly, not in float32.
    """

    bottoms = (2, 2)

    def setup(self) -> None:
        self.settings = self.message.roi_pooling_param
        self.pooled = self.settings.pooled_h, self.settings.pooled_w
        if min(self.pooled) < 1:
            raise ConfigurationError(f"{self.label}: pooled_h and pooled_w must be >= 1, got {self.pooled}.")

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        shape, regions = bottoms
        if len(shape) != 4 or count(regions, 1) != 5:
            raise ShapeError(
                f"{self.label}: expected bottoms [N, C, H, W] and [R, 5], got {describe_shape(shape)} and "
                f"{describe_shape(regions)}."
            )
        return [(regions[0], shape[1], *self.pooled)]

    def examples(self, counts: Sequence[int]) -> int:
        return counts[1]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, RegionCache]:
        x, regions = xs
        (shape,) = self.top_shapes([tuple(x.shape), tuple(regions.shape)])
        y, cache = ctx.buffer("y", shape), RegionCache(tuple(x.shape), [], [])
        n, channels, height, width = x.shape
        table = nd.reshape(nd.permute(x, (0, 2, 3, 1)), (n * height * width, channels))
        for number, (picture, *corners) in enumerate(nd.to_host(nd.reshape(regions, (-1, 5))).tolist()):
            if not 0 <= picture < n:
                raise DataError(
                    f"{self.label}: region {number} must be of a picture 0..{n - 1} of {self.message.bottom[0]!r}, got "
                    f"{picture:g}."
                )
            x1, y1, x2, y2 = (_rounded(corner * self.settings.spatial_scale) for corner in corners)
            down, across = _parts(y1, y2, self.pooled[0], height), _parts(x1, x2, self.pooled[1], width)
            best = self._largest(table, int(picture) * height * width, width, (down, across), cache)
            nd.assign(y[number, ...], nd.permute(nd.reshape(best, (*self.pooled, channels)), (2, 0, 1)))
        return y, cache

    def backward(
        self, epsilon: Array, cache: RegionCache, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None, None]
        n, channels, height, width = cache.shape
        cells = nd.fill(ctx.buffer("cells", (count(cache.shape), 1)), 0.0)
        for number, (winners, counted) in enumerate(zip(cache.winners, cache.counted, strict=True)):
            parts = nd.permute(epsilon[number, ...], (1, 2, 0))
            share = nd.multiply(nd.reshape(parts, (-1, channels)), counted)
            nd.scatter_add(cells, nd.reshape(winners, (-1,)), nd.reshape(share, (-1, 1)))
        return [nd.permute(nd.reshape(cells, (n, height, width, channels)), (0, 3, 1, 2)), None]

    def _largest(
        self, table: Array, start: int, width: int, parts: tuple[list[range], list[range]], cache: RegionCache
    ) -> Array:
        """Return the largest numbers ``[parts, C]`` of a region; add to the cache where they were.

        All parts take as many places as the largest; smaller ones take their last ones again, which changes nothing.
        """
        (down, rows), (across, columns) = map(_filled, parts)
        grid = nd.add(
            nd.reshape(nd.multiply(nd.create(down, "int64"), width), (len(parts[0]), 1, rows, 1)),
            nd.reshape(nd.create(across, "int64"), (1, len(parts[1]), 1, columns)),
        )
        places = nd.reshape(nd.add(grid, start), (-1,))
        of_parts, channels = len(parts[0]) * len(parts[1]), table.shape[1]
        numbers = nd.reshape(nd.pull_rows(table, places, self.label), (of_parts, rows * columns, channels))
        first = nd.multiply(nd.arange(of_parts, dtype="int64"), rows * columns)
        at = nd.add(nd.astype(nd.argmax(numbers, 1), "int64"), nd.reshape(first, (-1, 1)))
        won = nd.pull_rows(nd.reshape(places, (-1, 1)), nd.reshape(at, (-1,)), self.label)
        won = nd.multiply(nd.reshape(won, (of_parts, channels)), channels)
        cache.winners.append(nd.add(won, nd.arange(channels, dtype="int64")))
        counted = [[float(bool(row) and bool(column))] for row in parts[0] for column in parts[1]]
        cache.counted.append(nd.create(counted, nd.dtype_name(table)))
        return nd.multiply(nd.max(numbers, 1), cache.counted[-1])


def _rounded(number: float) -> int:
    """Round to the nearest integer, halves away from 0, as C does."""
    return int(math.copysign(math.floor(abs(number) + 0.5), number))


def _parts(first: int, last: int, count: int, length: int) -> list[range]:
    """Return the places of each part of a region from `first` to `last` that lie in a picture of that length."""
    long = max(last - first + 1, 1)
    limits = ((first + part * long // count, first - (-(part + 1) * long // count)) for part in range(count))
    return [range(min(max(start, 0), length), min(max(stop, 0), length)) for start, stop in limits]


def _filled(parts: list[range]) -> tuple[list[int], int]:
    """Return the places of all parts, each with as many as the largest has, and that number; 0 for one without any."""
    longest = max(1, *map(len, parts))
    return [part[min(number, len(part) - 1)] if part else 0 for part in parts for number in range(longest)], longest
