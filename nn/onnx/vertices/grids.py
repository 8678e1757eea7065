"""Operators that sample images at places: AffineGrid, GridSample, RoiAlign."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import nd
from nd.typing import Array

from . import functions as f
from .call import Call
from .picking import elements, indices, rows, strides
from .values import Value


def affine_grid(call: Call) -> Value:
    """Places ``[N, ..., axes]`` in -1..1 of an image's elements, moved by matrices ``[N, axes, axes + 1]``."""
    theta, size = call[0], call.ints(1) or []
    sizes, aligned = size[2:], bool(call.whole("align_corners", 0))
    f.check_size(size)
    columns = []
    for axis in reversed(range(len(sizes))):  # x comes before y
        length = sizes[axis]
        ends = [_end(number, length, aligned) for number in range(length)]
        column = nd.reshape(nd.as_array(ends, theta.dtype), (-1, *(1,) * (len(sizes) - axis - 1)))
        full = nd.add(nd.fill(nd.create_uninitialized(tuple(sizes), dtype=theta.dtype), 0.0), column)
        columns.append(nd.reshape(full, (math.prod(sizes), 1)))
    columns.append(nd.fill(nd.create_uninitialized((math.prod(sizes), 1), dtype=theta.dtype), 1.0))
    places = f.matmul(Value(nd.concat(columns, 1)), f.permute(theta, (0, 2, 1)))
    return f.reshape(places, (theta.shape[0], *sizes, len(sizes)))


def _end(number: int, length: int, aligned: bool) -> float:
    if aligned:
        return -1.0 + 2.0 * number / (length - 1) if length > 1 else 0.0
    return (2.0 * number + 1.0) / length - 1.0


def grid_sample(call: Call) -> Value:
    """x ``[N, C, ...]`` at places ``[N, ..., axes]`` in -1..1, between whose elements is interpolated."""
    x, grid = call[0], call[1]
    mode = call.text("mode", "linear").removeprefix("bi").replace("bicubic", "cubic")
    padding, aligned = call.text("padding_mode", "zeros"), bool(call.whole("align_corners", 0))
    axes = x.ndim - 2
    at = []
    for axis in range(axes):
        column = f.stretch(grid, grid.ndim - 1, axes - 1 - axis, axes - axis)
        place = f.reshape(column, (x.shape[0], math.prod(grid.shape[1:-1])))
        size = x.shape[2 + axis]
        place = (place + 1.0) * ((size - 1) / 2.0) if aligned else ((place + 1.0) * float(size) - 1.0) * 0.5
        at.append(_within(place, size, padding, aligned) if mode != "cubic" else place)
    result = sampled(x, at, mode, padding, aligned)
    return f.reshape(result, (*x.shape[:2], *grid.shape[1:-1]))


def _within(place: Value, size: int, padding: str, aligned: bool) -> Value:
    """Return places that padding brings into the image: its border, or reflected there."""
    if padding == "border":
        return f.minimum(f.maximum(place, 0.0), float(size - 1))
    if padding == "reflection":
        return _reflected(place, size, aligned)
    return place


def _reflected(place: Value, size: int, aligned: bool) -> Value:
    low, high = (0.0, size - 1.0) if aligned else (-0.5, size - 0.5)
    if high <= low:
        return place * 0.0
    period = 2.0 * (high - low)
    turns = f.floor((place - low) * (1.0 / period))
    rest = (place - low) - turns * period
    folded = f.minimum(rest, period - rest) + low
    return f.minimum(f.maximum(folded, 0.0), float(size - 1)) if not aligned else folded


def _neighbours(place: Value, mode: str) -> list[tuple[Value, Value]]:
    """Return for a place along an axis the elements around it, as numbers without a derivative, and their weights."""
    if mode == "nearest":
        return [(f.rounded(place), f.constant_like(1.0, place, place.shape))]
    first = f.floor(place)
    ratio = place - first
    if mode == "linear":
        return [(first, 1.0 - ratio), (first + 1.0, ratio)]
    a = -0.75
    around = []
    for step in range(-1, 3):
        d = f.absolute(ratio - float(step))
        near = ((d * (a + 2.0) - (a + 3.0)) * d) * d + 1.0
        far = ((d * a - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
        around.append((first + float(step), far if step in (-1, 2) else near))
    return around


def sampled(x: Value, at: Sequence[Value], mode: str, padding: str, aligned: bool = True) -> Value:
    """Return x ``[N, C, ...]`` at places ``[N, P]`` along every axis, ``[N, C, P]``; outside are zeros."""
    result: Value | None = None
    for around in itertools.product(*(_neighbours(place, mode) for place in at)):
        weight: Value | None = None
        numbers, inside = [], None
        for (number, share), size in zip(around, x.shape[2:], strict=True):
            place = _within(number, size, padding, aligned).array if mode == "cubic" else number.array
            own = nd.multiply(
                nd.astype(nd.greater_equal(place, 0.0), x.dtype), nd.astype(nd.greater(size - 0.5, place), x.dtype)
            )
            inside = own if inside is None else nd.multiply(inside, own)
            numbers.append(nd.astype(nd.minimum(nd.maximum(place, 0.0), float(size - 1)), "int64"))
            weight = share if weight is None else weight * share
        if weight is None or inside is None:
            continue
        part = _at(x, numbers) * _between(weight * Value(inside))
        result = part if result is None else result + part
    return x if result is None else result


def _between(weight: Value) -> Value:
    """Return weights ``[N, P]`` so that they meet all channels."""
    return f.reshape(weight, (weight.shape[0], 1, weight.shape[1]))


def _at(x: Value, numbers: Sequence[Array]) -> Value:
    """Return the elements ``[N, C, P]`` with these numbers ``[N, P]`` along the axes of places."""
    n, c = x.shape[:2]
    steps = strides(x.shape)
    place = nd.reshape(nd.multiply(nd.arange(0, n, "int64"), steps[0]), (n, 1, 1))
    place = nd.add(place, nd.reshape(nd.multiply(nd.arange(0, c, "int64"), steps[1]), (1, c, 1)))
    for number, step in zip(numbers, steps[2:], strict=True):
        place = nd.add(place, nd.multiply(nd.reshape(number, (n, 1, number.shape[1])), step))
    return elements(x, place)


def roi_align(call: Call) -> Value:
    """The mean of x ``[N, C, H, W]`` at places in the bins of regions ``[R, 4]``, ``[R, C, height, width]``."""
    x, regions, bins = call[0], call[1], [call.whole("output_height", 1), call.whole("output_width", 1)]
    samples, scale = call.whole("sampling_ratio", 0), call.number("spatial_scale", 1.0)
    if samples < 1 or call.text("mode", "avg") != "avg":
        raise call.refuse("sampling_ratio = 0, which regions decide, or the mode 'max'. Use an average of samples")
    usual = "half_pixel" if call.opset >= 16 else "output_half_pixel"
    half = call.text("coordinate_transformation_mode", usual) == "half_pixel"
    count, channels = regions.shape[0], x.shape[1]
    own = f.reshape(rows(f.reshape(x, (x.shape[0], math.prod(x.shape[1:]))), indices(call, 2)), (count, *x.shape[1:]))
    at: list[Value] = []
    inside: Array | None = None
    for axis, (size, length) in enumerate(zip(bins, x.shape[2:], strict=True)):
        start = f.stretch(regions, 1, 1 - axis, 2 - axis) * scale - (0.5 if half else 0.0)  # x comes before y
        extent = f.stretch(regions, 1, 3 - axis, 4 - axis) * scale - (0.5 if half else 0.0) - start
        extent = extent if half else f.maximum(extent, 1.0)
        steps = nd.as_array([[(number + 0.5) / (size * samples) for number in range(size * samples)]], x.dtype)
        place = start + extent * Value(steps)
        within = nd.multiply(
            nd.astype(nd.greater_equal(place.array, -1.0), x.dtype),
            nd.astype(nd.greater_equal(float(length), place.array), x.dtype),
        )
        shape = (count, size * samples, 1) if axis == 0 else (count, 1, size * samples)
        within = nd.reshape(within, shape)
        inside = within if inside is None else nd.multiply(inside, within)
        at.append(f.reshape(f.minimum(f.maximum(place, 0.0), float(length - 1)), shape))
    whole = (count, bins[0] * samples, bins[1] * samples)
    flat = [f.reshape(f.expand(place, whole), (count, math.prod(whole[1:]))) for place in at]
    taken = f.reshape(sampled(own, flat, "linear", "zeros"), (count, channels, *whole[1:]))
    if inside is not None:
        taken = taken * Value(nd.reshape(inside, (count, 1, *whole[1:])))
    apart = f.reshape(taken, (count, channels, bins[0], samples, bins[1], samples))
    return f.average(apart, [3, 5])
