"""Elementwise arithmetic and reductions.

`out` receives the result when given. The names that end in i work in place, as in ND4J.
"""

from __future__ import annotations

from typing import Any

from .state import state

Array = Any
Axis = int | tuple[int, ...] | None


def add(x: Any, y: Any, out: Array | None = None) -> Array:
    """x + y."""
    return state.backend.add(x, y, out)


def subtract(x: Any, y: Any, out: Array | None = None) -> Array:
    """x - y."""
    return state.backend.subtract(x, y, out)


def multiply(x: Any, y: Any, out: Array | None = None) -> Array:
    """x * y."""
    return state.backend.multiply(x, y, out)


def divide(x: Any, y: Any, out: Array | None = None) -> Array:
    """x / y."""
    return state.backend.divide(x, y, out)


def addi(x: Array, y: Any) -> Array:
    """x += y; returns x."""
    return state.backend.add(x, y, x)


def subi(x: Array, y: Any) -> Array:
    """x -= y; returns x."""
    return state.backend.subtract(x, y, x)


def muli(x: Array, y: Any) -> Array:
    """x *= y; returns x."""
    return state.backend.multiply(x, y, x)


def divi(x: Array, y: Any) -> Array:
    """x /= y; returns x."""
    return state.backend.divide(x, y, x)


def maximum(x: Any, y: Any, out: Array | None = None) -> Array:
    """Larger of x and y."""
    return state.backend.maximum(x, y, out)


def minimum(x: Any, y: Any, out: Array | None = None) -> Array:
    """Smaller of x and y."""
    return state.backend.minimum(x, y, out)


def power(x: Any, y: Any, out: Array | None = None) -> Array:
    """x ** y."""
    return state.backend.power(x, y, out)


def exp(x: Array, out: Array | None = None) -> Array:
    """e ** x."""
    return state.backend.exp(x, out)


def log(x: Array, out: Array | None = None) -> Array:
    """Natural logarithm."""
    return state.backend.log(x, out)


def sqrt(x: Array, out: Array | None = None) -> Array:
    """Square root."""
    return state.backend.sqrt(x, out)


def square(x: Array, out: Array | None = None) -> Array:
    """x * x."""
    return state.backend.square(x, out)


def absolute(x: Array, out: Array | None = None) -> Array:
    """|x|."""
    return state.backend.absolute(x, out)


def sign(x: Array, out: Array | None = None) -> Array:
    """-1, 0 or 1; sign(0) = 0."""
    return state.backend.sign(x, out)


def tanh(x: Array, out: Array | None = None) -> Array:
    """Hyperbolic tangent."""
    return state.backend.tanh(x, out)


def greater(x: Any, y: Any, out: Array | None = None) -> Array:
    """x > y, as bool, or as 0 and 1 in the dtype of `out`."""
    return state.backend.greater(x, y, out)


def greater_equal(x: Any, y: Any, out: Array | None = None) -> Array:
    """x >= y, as bool, or as 0 and 1 in the dtype of `out`."""
    return state.backend.greater_equal(x, y, out)


def equal(x: Any, y: Any, out: Array | None = None) -> Array:
    """x == y, as bool, or as 0 and 1 in the dtype of `out`."""
    return state.backend.equal(x, y, out)


def where(condition: Array, x: Any, y: Any) -> Array:
    """Elements of x where the condition holds, else of y."""
    return state.backend.where(condition, x, y)


def sum(x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    """Sum over `axis`, or over everything."""
    return state.backend.sum(x, axis, keepdims)


def mean(x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    """Arithmetic mean over `axis`, or over everything."""
    return state.backend.mean(x, axis, keepdims)


def max(x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    """Largest element over `axis`, or over everything."""
    return state.backend.max(x, axis, keepdims)


def argmax(x: Array, axis: int = 1) -> Array:
    """Index of the first maximum along `axis`."""
    return state.backend.argmax(x, axis)


def sum_into(x: Array, axis: int, out: Array) -> Array:
    """Sum over one axis into `out`."""
    return state.backend.sum_into(x, axis, out)


def all_finite(x: Array) -> bool:
    """Tell whether no element is NaN or infinite."""
    return state.backend.all_finite(x)
