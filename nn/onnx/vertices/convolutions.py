"""Convolutions over any number of axes: Conv, ConvTranspose, Col2Im."""

from __future__ import annotations

import itertools
import math

import nd

from . import functions as f
from .call import Call
from .grids import sampled
from .values import Value
from .windows import Windows, overlay, pads_of, patches, surrounded, windows_of


def conv(call: Call) -> Value:
    """The cross-correlation of x ``[N, C, ...]`` with W ``[M, C / groups, ...]``, plus a bias of channels."""
    x, weights, groups = call[0], call[1], call.whole("group", 1)
    if x.ndim != weights.ndim or x.ndim < 3 or x.shape[1] != weights.shape[1] * groups:
        raise call.misfit(f"an input that weights {list(weights.shape)} in {groups} group(s) fit", x.shape)
    windows = windows_of(call, weights.shape[2:])
    x = surrounded(x, pads_of(call, x.shape[2:], windows))
    columns = patches(x, windows)
    return with_bias(call, _weighed(columns, weights, groups, columns.shape[3:]), 2)


def _weighed(columns: Value, weights: Value, groups: int, places: tuple[int, ...]) -> Value:
    """Return the products of windows' contents ``[N, C, kernel, places]`` with weights, ``[N, M, *places]``."""
    count, inner = columns.shape[0], math.prod(weights.shape[1:])
    columns = f.reshape(columns, (count, groups, inner, math.prod(places)))
    matrix = f.reshape(weights, (1, groups, weights.shape[0] // groups, inner))
    return f.reshape(f.matmul(matrix, columns), (count, weights.shape[0], *places))


def with_bias(call: Call, y: Value, position: int) -> Value:
    """Return y plus a bias ``[C]`` of channels, if there is that input."""
    bias = call.get(position)
    return y if bias is None else y + f.reshape(bias, (bias.shape[0], *(1,) * (y.ndim - 2)))


def conv_transpose(call: Call) -> Value:
    """The transposed convolution of x ``[N, C, ...]`` with W ``[C, M / groups, ...]``, plus a bias of channels."""
    x, weights, groups = call[0], call[1], call.whole("group", 1)
    if x.ndim != weights.ndim or x.ndim < 3 or x.shape[1] != weights.shape[0]:
        raise call.misfit(f"an input that weights {list(weights.shape)} fit", x.shape)
    windows, places = windows_of(call, weights.shape[2:]), x.shape[2:]
    each, kernel = weights.shape[1], math.prod(windows.kernel)
    apart = f.reshape(x, (x.shape[0], groups, x.shape[1] // groups, math.prod(places)))
    matrix = f.reshape(weights, (1, groups, x.shape[1] // groups, each * kernel))
    columns = f.matmul(f.permute(matrix, (0, 1, 3, 2)), apart)
    columns = f.reshape(columns, (x.shape[0], groups * each, kernel, *places))
    whole = overlay(columns, windows, windows.lengths(places))
    pads, more = _cut(call, windows, places)
    cut = [(-before, extra - behind) for (before, behind), extra in zip(pads, more, strict=True)]
    return with_bias(call, surrounded(whole, cut), 2)


def _cut(call: Call, windows: Windows, places: tuple[int, ...]) -> tuple[list[tuple[int, int]], list[int]]:
    """Return what is cut off before and behind every axis, and how much longer it is at its end."""
    more = call.wholes("output_padding") or [0] * len(places)
    wanted, auto = call.wholes("output_shape"), call.text("auto_pad", "NOTSET")
    if wanted is None and auto in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [size * stride for size, stride in zip(places, windows.strides, strict=True)]
    if wanted is None:
        return pads_of(call, places, windows), more
    pads = []
    for length, extra, size in zip(windows.lengths(places), more, wanted[-len(places) :], strict=True):
        total = length + extra - size
        less, rest = total // 2, total - total // 2
        pads.append((less, rest) if auto == "SAME_UPPER" else (rest, less))
    return pads, more


def col2im(call: Call) -> Value:
    """Windows' contents ``[N, C kernel, windows]`` added where they lie."""
    x, sizes, kernel = call[0], call.ints(1) or [], call.ints(2) or []
    windows = windows_of(call, kernel)
    f.check_size(sizes)
    pads = pads_of(call, sizes, windows)
    around = [size + before + behind for size, (before, behind) in zip(sizes, pads, strict=True)]
    counts, inner = windows.counts(around), math.prod(kernel)
    whole = overlay(f.reshape(x, (x.shape[0], x.shape[1] // inner, inner, *counts)), windows, around)
    return surrounded(whole, [(-before, -behind) for before, behind in pads])


def deform_conv(call: Call) -> Value:
    """`conv` whose elements are taken from places moved by offsets, and weighed by a mask if there is one.

    Offsets are ``[N, offset groups kernel axes, *places]``, a mask is ``[N, offset groups kernel, *places]``.
    """
    x, weights, offsets, mask = call[0], call[1], call[2], call.get(4)
    windows, parts = windows_of(call, weights.shape[2:]), call.whole("offset_group", 1)
    axes, kernel, places = len(windows.kernel), math.prod(windows.kernel), offsets.shape[2:]
    pads, count = pads_of(call, x.shape[2:], windows), math.prod(places)
    starts = _starts(windows, [before for before, _ in pads], places)
    moved = f.reshape(offsets, (x.shape[0], parts, kernel, axes, count))
    each, columns = x.shape[1] // parts, []
    for part in range(parts):
        own = f.stretch(moved, 1, part, part + 1)
        at = [
            f.reshape(f.stretch(own, 3, axis, axis + 1), (x.shape[0], kernel * count))
            + Value(nd.as_array([starts[axis]], x.dtype))
            for axis in range(axes)
        ]
        taken = sampled(f.stretch(x, 1, part * each, (part + 1) * each), at, "linear", "zeros")
        taken = f.reshape(taken, (x.shape[0], each, kernel, count))
        if mask is not None:
            factors = f.stretch(f.reshape(mask, (x.shape[0], parts, kernel, count)), 1, part, part + 1)
            taken = taken * factors
        columns.append(taken)
    return with_bias(call, _weighed(f.concat(columns, 1), weights, call.whole("group", 1), places), 3)


def _starts(windows: Windows, pads: list[int], places: tuple[int, ...]) -> list[list[float]]:
    """Return along every axis where each element of the kernel stands in each window, the windows fastest."""
    starts: list[list[float]] = [[] for _ in places]
    for element in itertools.product(*map(range, windows.kernel)):
        for place in itertools.product(*map(range, places)):
            for axis, start in enumerate(starts):
                own = place[axis] * windows.strides[axis] + element[axis] * windows.dilations[axis]
                start.append(float(own - pads[axis]))
    return starts
