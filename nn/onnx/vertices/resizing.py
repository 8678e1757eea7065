"""Resize and Upsample: every axis multiplied by a matrix of the interpolation's weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import nd

from . import functions as f
from .call import Call
from .reductions import through
from .values import Value


class Interpolation(NamedTuple):
    """How one axis is resized."""

    mode: str
    """"nearest", "linear" or "cubic"."""
    before: int
    after: int
    scale: float
    coordinates: str
    """ONNX's coordinate_transformation_mode."""
    rounding: str
    """ONNX's nearest_mode."""
    cubic: float
    """ONNX's cubic_coeff_a."""
    exclude_outside: bool
    antialias: bool
    region: tuple[float, float]
    """Start and end, of tf_crop_and_resize."""


def _cropped(at: float, one: Interpolation) -> float:
    start, end = one.region
    if one.after == 1:
        return (start + end) * (one.before - 1) / 2
    return start * (one.before - 1) + at * (end - start) * (one.before - 1) / (one.before * one.scale - 1)


def _symmetric(at: float, one: Interpolation) -> float:
    adjustment = one.after / (one.before * one.scale)
    return one.before / 2 * (1 - adjustment) + (at + 0.5) / one.scale - 0.5


COORDINATES: dict[str, Callable[[float, Interpolation], float]] = {
    "align_corners": lambda at, one: (
        0.0 if one.before * one.scale == 1 else at * (one.before - 1) / (one.before * one.scale - 1)
    ),
    "asymmetric": lambda at, one: at / one.scale,
    "half_pixel": lambda at, one: (at + 0.5) / one.scale - 0.5,
    "half_pixel_symmetric": _symmetric,
    "pytorch_half_pixel": lambda at, one: -0.5 if one.after == 1 else (at + 0.5) / one.scale - 0.5,
    "tf_crop_and_resize": _cropped,
    "tf_half_pixel_for_nn": lambda at, one: (at + 0.5) / one.scale,
}
"""Mode -> place in the input that a place of the result comes from, sorted."""


def _cubic(distance: float, a: float) -> float:
    d = abs(distance)
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a if d < 2 else 0.0


def _nearest(ratio: float, rounding: str) -> list[float]:
    """Return which of two neighbours is taken."""
    if ratio == 1.0:  # it lies on the second one
        return [0.0, 1.0]
    upper = {
        "ceil": True, "floor": False, "round_prefer_ceil": ratio >= 0.5, "round_prefer_floor": ratio > 0.5,
    }[rounding]  # fmt: skip
    return [0.0, 1.0] if upper else [1.0, 0.0]


def _weights(ratio: float, one: Interpolation) -> list[float]:
    """Return the weights of the neighbours, as many before the place as behind it."""
    if one.mode == "nearest":
        return _nearest(ratio, one.rounding)
    reach, scale = (1 if one.mode == "linear" else 2), min(one.scale, 1.0) if one.antialias else 1.0
    start = math.floor(-reach / scale) + 1
    places = [(start + number - ratio) * scale for number in range(2 - 2 * start)]
    if one.mode == "linear":
        weights = [max(0.0, 1.0 - abs(place)) for place in places]
    else:
        weights = [_cubic(place, one.cubic) for place in places]
    total = sum(weights) if one.antialias else 1.0
    return [weight / total for weight in weights]


@lru_cache(maxsize=64)
def matrix(one: Interpolation) -> tuple[tuple[float, ...], ...]:
    """Return the weights ``[before, after]``, and where the result lies outside of the input nothing but zeros."""
    columns = []
    for number in range(one.after):
        column = [0.0] * one.before
        at = COORDINATES[one.coordinates](float(number), one)
        columns.append(column)
        if one.coordinates == "tf_crop_and_resize" and not 0 <= at <= one.before - 1:
            continue
        last = math.ceil(at)
        weights = _weights(1.0 - (last - at), one)
        first = last - len(weights) // 2
        inside = [0 <= first + step < one.before for step in range(len(weights))]
        if one.exclude_outside:
            total = sum(weight for weight, own in zip(weights, inside, strict=True) if own)
            weights = [weight / total if own else 0.0 for weight, own in zip(weights, inside, strict=True)]
        for step, weight in enumerate(weights):
            column[min(max(first + step, 0), one.before - 1)] += weight
    return tuple(zip(*columns, strict=True))


def resize(call: Call) -> Value:
    """x with other lengths, between whose elements is interpolated."""
    x = call[0]
    axes = call.wholes("axes")
    axes = list(range(x.ndim)) if axes is None else list(call.axes(axes, x.ndim))
    lengths, scales = _lengths(call, x, axes)
    region = call.host(1) or [] if call.op == "Resize" and call.opset >= 11 else []
    cropped = call.text("coordinate_transformation_mode", "") == "tf_crop_and_resize"
    region = region if cropped else []
    outside = []
    for axis, length in zip(axes, lengths, strict=True):
        f.check_size([x.shape[axis], max(length, 0), 1 << 9])  # weights are made one by one
    for number, axis in enumerate(axes):
        ends = (float(region[number]), float(region[number + len(axes)])) if region else (0.0, 1.0)
        one = _interpolation(call, x.shape[axis], lengths[number], scales[number], ends)
        if one.after == one.before and one.scale == 1.0 and not region:
            continue
        weights = matrix(one)
        x = through(x, axis, Value(nd.as_array([list(row) for row in weights], x.dtype)))
        if cropped:
            outside.append((axis, [float(not any(column)) for column in zip(*weights, strict=True)]))
    return _extrapolated(call, x, outside)


def _interpolation(call: Call, before: int, after: int, scale: float, region: tuple[float, float]) -> Interpolation:
    coordinates, mode = call.text("coordinate_transformation_mode", "half_pixel"), call.text("mode", "nearest")
    if coordinates not in COORDINATES:
        raise call.refuse(f"coordinate_transformation_mode {coordinates!r}")
    if call.op == "Upsample":
        coordinates = "asymmetric"
    rounding = call.text("nearest_mode", "floor" if call.op == "Upsample" else "round_prefer_floor")
    return Interpolation(
        mode, before, after, scale, coordinates, rounding, call.number("cubic_coeff_a", -0.75),
        bool(call.whole("exclude_outside", 0)), bool(call.whole("antialias", 0)), region,
    )  # fmt: skip


def _lengths(call: Call, x: Value, axes: list[int]) -> tuple[list[int], list[float]]:
    """Return the new lengths of axes, and by how much they are scaled."""
    position = 1 if call.op == "Upsample" or call.opset < 11 else 2
    scales, sizes = call.host(position) or call.numbers("scales"), call.ints(3)
    before = [x.shape[axis] for axis in axes]
    if not sizes:
        scales = [float(scale) for scale in scales or [1.0] * len(axes)]
        return [math.floor(size * scale) for size, scale in zip(before, scales, strict=True)], scales
    policy = call.text("keep_aspect_ratio_policy", "stretch")
    scales = [after / size for after, size in zip(sizes, before, strict=True)]
    if policy == "stretch":
        return sizes, scales
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [math.floor(scale * size + 0.5) for size in before], [scale] * len(axes)


def _extrapolated(call: Call, x: Value, outside: list[tuple[int, list[float]]]) -> Value:
    """Return x with another number at places that lie outside of the input along any axis."""
    value = call.number("extrapolation_value", 0.0)
    for axis, marks in outside:
        row = nd.reshape(nd.as_array(marks, x.dtype), (-1, *(1,) * (x.ndim - axis - 1)))
        x = f.where(nd.greater(row, 0.0), value, x)
    return x
