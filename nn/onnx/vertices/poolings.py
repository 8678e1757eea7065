"""Pooling over any number of axes: the largest, the mean or the length of what lies in windows."""

from __future__ import annotations

import math

import nd

from . import functions as f
from .call import Call
from .picking import indices, spread
from .reductions import root
from .values import Value
from .windows import Windows, pads_of, patches, surrounded, windows_of

Pads = list[tuple[int, int]]


def _settings(call: Call, x: Value) -> tuple[Windows, Pads, Pads]:
    """Return the windows, the pads, and those with what the last windows need more where sizes are rounded up."""
    windows = windows_of(call, call.wholes("kernel_shape") or x.shape[2:])
    pads = pads_of(call, x.shape[2:], windows)
    if not call.whole("ceil_mode", 0):
        return windows, pads, pads
    longer = []
    for size, (before, behind), stride, span in zip(x.shape[2:], pads, windows.strides, windows.spans(), strict=True):
        count = -(-(size + before + behind - span) // stride) + 1
        if (count - 1) * stride >= size + before:  # it would begin behind the last element
            count -= 1
        longer.append((before, behind + max(0, (count - 1) * stride + span - size - before - behind)))
    return windows, pads, longer


def average_pool(call: Call) -> Value:
    """The mean of every window; elements around x count if the operator says so."""
    x = call[0]
    windows, pads, longer = _settings(call, x)
    sums = f.total(patches(surrounded(x, longer), windows), [2])
    ones = f.constant_like(1.0, x, (1, 1, *x.shape[2:]))
    if call.whole("count_include_pad", 0):
        ones = surrounded(ones, pads, 1.0)
        longer = [(0, more[1] - less[1]) for more, less in zip(longer, pads, strict=True)]
    return sums / f.total(patches(surrounded(ones, longer), windows), [2])


def max_pool(call: Call) -> list[Value]:
    """The largest of every window, and where it stands in x."""
    x = call[0]
    windows, _, longer = _settings(call, x)
    contents = patches(surrounded(x, longer, -math.inf), windows)
    largest = f.largest(contents, [2])
    return [largest, _where_largest(call, x, contents, windows, longer)] if call.outputs > 1 else [largest]


def _where_largest(call: Call, x: Value, contents: Value, windows: Windows, longer: Pads) -> Value:
    """Return the number of every window's largest element in x, in c order; or with the axes of places reversed."""
    n, c, *sizes = x.shape
    count = math.prod(sizes)
    numbers = nd.arange(0, count, "int64")
    if call.whole("storage_order", 0):
        back = tuple(reversed(range(len(sizes))))
        numbers = nd.permute(nd.reshape(numbers, tuple(reversed(sizes))), back)
    own = patches(surrounded(Value(nd.reshape(numbers, (1, 1, *sizes))), longer, -1.0), windows)
    kernel = contents.shape[2]
    best = nd.reshape(nd.argmax(contents.array, 2), (n, c, 1, *contents.shape[3:]))
    hit = nd.equal(nd.reshape(nd.arange(0, kernel, "int64"), (kernel, *(1,) * len(sizes))), best)
    picked = nd.sum(nd.multiply(nd.astype(hit, "int64"), own.array), 2)
    offset = nd.multiply(nd.arange(0, n * c, "int64"), count)
    return Value(nd.astype(nd.add(picked, nd.reshape(offset, (n, c, *(1,) * len(sizes)))), x.dtype))


def lp_pool(call: Call) -> Value:
    """The length of every window's contents: the p-th root of the sum of p-th powers."""
    x = call[0]
    windows, _, longer = _settings(call, x)
    return _length(patches(surrounded(x, longer), windows), call.whole("p", 2), [2], False)


def _length(x: Value, p: int, axes: list[int], keepdims: bool) -> Value:
    if p == 1:
        return f.total(f.absolute(x), axes, keepdims)
    if p == 2:
        return root(f.total(f.square(x), axes, keepdims))
    powers = f.power(f.absolute(x), Value(nd.as_array(float(p), x.dtype)))
    return f.power(f.total(powers, axes, keepdims), Value(nd.as_array(1.0 / p, x.dtype)))


def global_average_pool(call: Call) -> Value:
    """The mean of every channel."""
    return f.average(call[0], range(2, call[0].ndim), True)


def global_max_pool(call: Call) -> Value:
    """The largest of every channel."""
    return f.largest(call[0], range(2, call[0].ndim), True)


def global_lp_pool(call: Call) -> Value:
    """The length of every channel."""
    return _length(call[0], call.whole("p", 2), list(range(2, call[0].ndim)), True)


def max_unpool(call: Call) -> Value:
    """Zeros, but x where the largest of windows stood."""
    x, shape = call[0], call.ints(2)
    windows = windows_of(call, call.wholes("kernel_shape") or [])
    pads = pads_of(call, x.shape[2:], windows)
    sizes = [length - sum(pad) for length, pad in zip(windows.lengths(x.shape[2:]), pads, strict=True)]
    inferred, count = [*x.shape[:2], *sizes], math.prod(x.shape)
    put = spread(f.reshape(x, (count, 1)), nd.reshape(indices(call, 1), (count,)), math.prod(inferred))
    result = f.reshape(put, inferred)
    wanted = inferred if shape is None else shape
    return surrounded(result, [(0, size - own) for size, own in zip(wanted[2:], sizes, strict=True)])
