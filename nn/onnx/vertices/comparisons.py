"""Operators whose results are truths, 0 and 1, and those that read them: Greater, And, Where."""

from __future__ import annotations

from collections.abc import Callable

import nd
from nd.arrays import standard
from nd.typing import Array

from . import functions as f
from .call import Call
from .values import Value

REAL, WHOLE, TRUTHS = (1, 11), (2, 3, 4, 5, 6, 7, 12, 13), 9
"""Numbers of TensorProto's types."""
_UNEQUAL = standard.function("not_equal")


def compared(call: Call, compare: Callable[..., Array]) -> Value:
    """Return a comparison of two inputs."""
    return f.truth(compare(call[0].array, call[1].array), call.dtype)


def equal(call: Call) -> Value:
    """x == y."""
    return compared(call, nd.equal)


def greater(call: Call) -> Value:
    """x > y."""
    return compared(call, nd.greater)


def greater_or_equal(call: Call) -> Value:
    """x >= y."""
    return compared(call, nd.greater_equal)


def less(call: Call) -> Value:
    """x < y."""
    return compared(call, lambda x, y: nd.greater(y, x))


def less_or_equal(call: Call) -> Value:
    """x <= y."""
    return compared(call, lambda x, y: nd.greater_equal(y, x))


def _true(call: Call, position: int) -> Array:
    return nd.astype(_UNEQUAL(call[position].array, 0.0), call.dtype)


def both(call: Call) -> Value:
    """x and y."""
    return Value(nd.multiply(_true(call, 0), _true(call, 1)))


def either(call: Call) -> Value:
    """x or y."""
    return Value(nd.maximum(_true(call, 0), _true(call, 1)))


def one_of_both(call: Call) -> Value:
    """x or y, but not both."""
    return f.truth(_UNEQUAL(_true(call, 0), _true(call, 1)), call.dtype)


def opposite(call: Call) -> Value:
    """1 where x is 0, else 0."""
    return f.truth(nd.equal(call[0].array, 0.0), call.dtype)


def where(call: Call) -> Value:
    """x where the condition is true, else y."""
    return f.where(_UNEQUAL(call[0].array, 0.0), call[1], call[2])


def is_nan(call: Call) -> Value:
    """1 where x is no number."""
    return f.truth(standard.function("isnan")(call[0].array), call.dtype)


def is_inf(call: Call) -> Value:
    """1 where x is infinite, with the signs that are asked for."""
    x = call[0].array
    top = nd.equal(nd.multiply(x, float(call.whole("detect_positive", 1) != 0)), float("inf"))
    low = nd.equal(nd.multiply(x, float(call.whole("detect_negative", 1) != 0)), -float("inf"))
    return Value(nd.maximum(nd.astype(top, call.dtype), nd.astype(low, call.dtype)))


def cast(call: Call) -> Value:
    """x as whole numbers or truths, where that is asked for; real numbers stay as they are."""
    to = call.whole("to", 1)
    if to in REAL:
        return call[0]
    if to == TRUTHS:
        return f.truth(_UNEQUAL(call[0].array, 0.0), call.dtype)
    if to in WHOLE:
        return f.trunc(call[0])
    raise call.refuse(f"to = {to}: no kind of number that a network computes with")
