"""Windows over places: what lies in each, with derivatives; and their settings as ONNX has them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import nd
from nd.typing import Array

from .call import Call
from .shapes import padded
from .values import Value, zeros

Sizes = tuple[int, ...]


class Windows(NamedTuple):
    """Kernel, strides and dilations, one number for every axis of places."""

    kernel: Sizes
    strides: Sizes
    dilations: Sizes

    def spans(self) -> Sizes:
        """Return the lengths that a window covers."""
        return tuple(dilation * (size - 1) + 1 for size, dilation in zip(self.kernel, self.dilations, strict=True))

    def counts(self, sizes: Sequence[int]) -> Sizes:
        """Return how many windows fit."""
        return tuple(
            (size - span) // stride + 1 for size, span, stride in zip(sizes, self.spans(), self.strides, strict=True)
        )

    def lengths(self, counts: Sequence[int]) -> Sizes:
        """Return the lengths that so many windows cover."""
        return tuple(
            (count - 1) * stride + span for count, stride, span in zip(counts, self.strides, self.spans(), strict=True)
        )

    def keys(self, counts: Sequence[int]) -> Iterator[tuple[slice, ...]]:
        """Yield for every element of the kernel, the last axis fastest, where it stands in all windows."""
        for element in itertools.product(*map(range, self.kernel)):
            yield (
                slice(None),
                slice(None),
                *(
                    slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
                    for at, dilation, count, stride in zip(element, self.dilations, counts, self.strides, strict=True)
                ),
            )


def windows_of(call: Call, kernel: Sequence[int]) -> Windows:
    """Return the windows that the operator's attributes say."""
    ones = [1] * len(kernel)
    strides, dilations = call.wholes("strides") or ones, call.wholes("dilations") or ones
    return Windows(tuple(kernel), tuple(strides), tuple(dilations))


def pads_of(call: Call, sizes: Sequence[int], windows: Windows) -> list[tuple[int, int]]:
    """Return for every axis of places how many elements stand before and behind it."""
    auto, spans = call.text("auto_pad", "NOTSET"), windows.spans()
    if auto == "VALID":
        return [(0, 0)] * len(sizes)
    if auto == "NOTSET":
        given = call.wholes("pads") or [0] * (2 * len(sizes))
        return list(zip(given[: len(sizes)], given[len(sizes) :], strict=True))
    pads = []
    for size, stride, span in zip(sizes, windows.strides, spans, strict=True):
        total = max(0, (-(-size // stride) - 1) * stride + span - size)
        less, more = total // 2, total - total // 2
        pads.append((less, more) if auto == "SAME_UPPER" else (more, less))
    return pads


def surrounded(x: Value, pads: Sequence[tuple[int, int]], value: float = 0.0) -> Value:
    """Return x with more elements around its axes of places."""
    for axis, pad in enumerate(pads, 2):
        x = padded(x, axis, pad, value=value)
    return x


def patches(x: Value, windows: Windows) -> Value:
    """Return ``[N, C, kernel, *windows]``, what lies in every window, from ``[N, C, *places]``."""
    counts = windows.counts(x.shape[2:])
    shape = (*x.shape[:2], math.prod(windows.kernel), *counts)
    result = nd.create_uninitialized(shape, dtype=x.dtype)
    for number, key in enumerate(windows.keys(counts)):
        nd.assign(result[:, :, number, ...], x.array[key])
    within = x.shape
    return Value(result, [(x, lambda e: _overlaid(e, windows, within))])


def overlay(x: Value, windows: Windows, sizes: Sequence[int]) -> Value:
    """Return ``[N, C, *sizes]``, the sum of all windows' contents ``[N, C, kernel, *windows]`` where they lie."""
    counts, shape = x.shape[3:], x.shape

    def pull(e: Array) -> Array:
        back = nd.create_uninitialized(shape, dtype=nd.dtype_name(e))
        for number, key in enumerate(windows.keys(counts)):
            nd.assign(back[:, :, number, ...], e[key])
        return back

    return Value(_overlaid(x.array, windows, (*shape[:2], *sizes)), [(x, pull)])


def _overlaid(contents: Array, windows: Windows, shape: Sequence[int]) -> Array:
    result = zeros(tuple(shape), nd.dtype_name(contents))
    for number, key in enumerate(windows.keys(contents.shape[3:])):
        nd.addi(result[key], contents[:, :, number, ...])
    return result
