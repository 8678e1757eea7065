"""Operators along axes: sums and their kin, Softmax, running sums."""

from __future__ import annotations

from collections.abc import Callable

import nd

from . import functions as f
from .call import Call
from .values import Value

Reduce = Callable[[Value, list[int], bool], Value]


def _product(x: Value, axes: list[int], keepdims: bool) -> Value:
    """Return the product, by halves: a zero among the factors does not spoil the derivatives."""
    for axis in axes:
        while x.shape[axis] > 1:
            half = x.shape[axis] // 2
            rest = f.stretch(x, axis, 2 * half, x.shape[axis])
            x = f.stretch(x, axis, 0, half) * f.stretch(x, axis, half, 2 * half)
            x = f.concat([x, rest], axis) if rest.shape[axis] else x
        if not x.shape[axis]:
            x = f.constant_like(1.0, x, [1 if axis == place else size for place, size in enumerate(x.shape)])
    return x if keepdims else f.reshape(x, [size for axis, size in enumerate(x.shape) if axis not in axes])


def _log_of_exponentials(x: Value, axes: list[int], keepdims: bool) -> Value:
    """Return the logarithm of the sum of e^x; the largest x is taken out first, unless it is infinite."""
    largest = f.largest(x, axes, True).array
    top = Value(nd.where(nd.equal(nd.absolute(largest), float("inf")), 0.0, largest))
    result = f.log(f.total(f.exp(x - top), axes, True)) + top
    return result if keepdims else f.reshape(result, [n for axis, n in enumerate(result.shape) if axis not in axes])


def _smallest(x: Value, axes: list[int], keepdims: bool) -> Value:
    return -f.largest(-x, axes, keepdims)


REDUCTIONS: dict[str, Reduce] = {
    "l1": lambda x, axes, keep: f.total(f.absolute(x), axes, keep),
    "l2": lambda x, axes, keep: root(f.total(f.square(x), axes, keep)),
    "log_sum": lambda x, axes, keep: f.log(f.total(x, axes, keep)),
    "log_sum_exp": _log_of_exponentials,
    "max": f.largest,
    "mean": f.average,
    "min": _smallest,
    "prod": _product,
    "sum": f.total,
    "sum_square": lambda x, axes, keep: f.total(f.square(x), axes, keep),
}
"""Name -> function of a value, axes and whether they stay, with length 1; sorted."""


def root(x: Value) -> Value:
    """Return the square root, with the derivative 0 at 0."""
    y = nd.sqrt(x.array)
    return Value(
        y, [(x, lambda e: nd.multiply(e, nd.where(nd.greater(y, 0.0), nd.divide(0.5, nd.maximum(y, 1e-30)), 0.0)))]
    )


def reduction(name: str) -> Callable[[Call], Value]:
    """Return a reduction along axes that are an input, or in older opsets an attribute."""
    reduce = REDUCTIONS[name]

    def call_it(call: Call) -> Value:
        x, axes = call[0], call.ints(1, "axes")
        if not axes and (axes is not None or call.has(1)) and call.whole("noop_with_empty_axes", 0):
            axes = []
        elif not axes:
            axes = [] if call.whole("noop_with_empty_axes", 0) else list(range(x.ndim))
        return reduce(x, list(call.axes(axes, x.ndim)), bool(call.whole("keepdims", 1)))

    return call_it


# ---- softmax


def normal_axes(call: Call, x: Value) -> list[int]:
    """Return the axes over which Softmax sums: one, before opset 13 that and all behind it."""
    axis = call.axis(call.whole("axis", -1 if call.opset >= 13 else 1), x.ndim)
    return [axis] if call.opset >= 13 else list(range(axis, x.ndim))


def softmax(call: Call) -> Value:
    """e^x over its sum along an axis."""
    return f.softmax(call[0], normal_axes(call, call[0]))


def log_softmax(call: Call) -> Value:
    """The logarithm of that."""
    return f.log_softmax(call[0], normal_axes(call, call[0]))


# ---- running sums


def cum_sum(call: Call) -> Value:
    """At every place the sum up to it along an axis: from the end with reverse, without itself with exclusive."""
    x = call[0]
    axis = call.axis(int(call.real(1) or 0), x.ndim)
    size = x.shape[axis]
    reverse, exclusive = call.whole("reverse", 0), call.whole("exclusive", 0)
    row, column = nd.reshape(nd.arange(0, size, "int64"), (size, 1)), nd.reshape(nd.arange(0, size, "int64"), (1, size))
    into, come = (column, row) if not reverse else (row, column)
    counts = nd.greater(into, come) if exclusive else nd.greater_equal(into, come)
    return through(x, axis, Value(nd.astype(counts, x.dtype)))


def through(x: Value, axis: int, matrix: Value) -> Value:
    """Return x with the numbers along an axis multiplied by a matrix ``[before, behind]``."""
    last = [other for other in range(x.ndim) if other != axis]
    turned = f.matmul(f.permute(x, (*last, axis)), matrix)
    order = [*last, axis]
    return f.permute(turned, [order.index(place) for place in range(x.ndim)])


def cum_prod(call: Call) -> Value:
    """At every place the product up to it along an axis."""
    x = call[0]
    axis = call.axis(int(call.real(1) or 0), x.ndim)
    size = x.shape[axis]
    reverse = bool(call.whole("reverse", 0))
    parts: list[Value] = []
    one = f.constant_like(1.0, x, [1 if axis == place else length for place, length in enumerate(x.shape)])
    running = one
    for number in reversed(range(size)) if reverse else range(size):
        after = running * f.stretch(x, axis, number, number + 1)
        parts.append(running if call.whole("exclusive", 0) else after)
        running = after
    return f.concat(parts[::-1] if reverse else parts, axis)
