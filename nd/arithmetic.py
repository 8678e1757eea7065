"""Elementwise arithmetic and reductions.

`out` receives the result when given. The names that end in i work in place, as in ND4J.
"""

from __future__ import annotations

from typing import Any

from backends.errors import DTypeError

from .create import as_array
from .explained import explained, settled
from .state import state

Array = Any
Axis = int | tuple[int, ...] | None


@explained
def add(x: Any, y: Any, out: Array | None = None) -> Array:
    """x + y."""
    return state.backend.add(x, y, out)


@explained
def subtract(x: Any, y: Any, out: Array | None = None) -> Array:
    """x - y."""
    return state.backend.subtract(x, y, out)


@explained
def multiply(x: Any, y: Any, out: Array | None = None) -> Array:
    """x * y."""
    return state.backend.multiply(x, y, out)


@explained
def divide(x: Any, y: Any, out: Array | None = None) -> Array:
    """x / y."""
    return state.backend.divide(x, y, out)


@explained
def addi(x: Array, y: Any) -> Array:
    """x += y; returns x."""
    return state.backend.add(x, y, x)


@explained
def subi(x: Array, y: Any) -> Array:
    """x -= y; returns x."""
    return state.backend.subtract(x, y, x)


@explained
def muli(x: Array, y: Any) -> Array:
    """x *= y; returns x."""
    return state.backend.multiply(x, y, x)


@explained
def divi(x: Array, y: Any) -> Array:
    """x /= y; returns x."""
    return state.backend.divide(x, y, x)


@explained
def maximum(x: Any, y: Any, out: Array | None = None) -> Array:
    """Larger of x and y."""
    return state.backend.maximum(x, y, out)


@explained
def minimum(x: Any, y: Any, out: Array | None = None) -> Array:
    """Smaller of x and y."""
    return state.backend.minimum(x, y, out)


@explained
def power(x: Any, y: Any, out: Array | None = None) -> Array:
    """x ** y."""
    return state.backend.power(x, y, out)


@explained
def exp(x: Array, out: Array | None = None) -> Array:
    """e ** x."""
    return state.backend.exp(x, out)


@explained
def log(x: Array, out: Array | None = None) -> Array:
    """Natural logarithm."""
    return state.backend.log(x, out)


@explained
def sqrt(x: Array, out: Array | None = None) -> Array:
    """Square root."""
    return state.backend.sqrt(x, out)


@explained
def square(x: Array, out: Array | None = None) -> Array:
    """x * x."""
    return state.backend.square(x, out)


@explained
def absolute(x: Array, out: Array | None = None) -> Array:
    """|x|."""
    return state.backend.absolute(x, out)


@explained
def sign(x: Array, out: Array | None = None) -> Array:
    """-1, 0 or 1; sign(0) = 0."""
    return state.backend.sign(x, out)


@explained
def tanh(x: Array, out: Array | None = None) -> Array:
    """Hyperbolic tangent."""
    return state.backend.tanh(x, out)


@explained
def greater(x: Any, y: Any, out: Array | None = None) -> Array:
    """x > y, as bool, or as 0 and 1 in the dtype of `out`."""
    return state.backend.greater(x, y, out)


@explained
def greater_equal(x: Any, y: Any, out: Array | None = None) -> Array:
    """x >= y, as bool, or as 0 and 1 in the dtype of `out`."""
    return state.backend.greater_equal(x, y, out)


@explained
def equal(x: Any, y: Any, out: Array | None = None) -> Array:
    """x == y, as bool, or as 0 and 1 in the dtype of `out`."""
    return state.backend.equal(x, y, out)


@explained
def where(condition: Array, x: Array | float, y: Array | float) -> Array:
    """Elements of x where the condition holds, else of y."""
    if not hasattr(condition, "dtype"):
        condition = as_array(condition, "bool")
    if not (hasattr(x, "dtype") or isinstance(x, (int, float))):
        x = as_array(x)  # NumPy makes arrays of text or objects
    if not (hasattr(y, "dtype") or isinstance(y, (int, float))):
        y = as_array(y)
    return state.backend.where(condition, x, y)


@explained
def sum(x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    """Sum over `axis`, or over everything."""
    if not hasattr(x, "dtype"):
        x = as_array(x)  # NumPy would return None for None
    if type(keepdims) is not bool:
        (keepdims,) = settled(sum, keepdims=keepdims)
    return state.backend.sum(x, axis, keepdims)


@explained
def mean(x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    """Arithmetic mean over `axis`, or over everything."""
    if type(keepdims) is not bool:
        (keepdims,) = settled(mean, keepdims=keepdims)
    return state.backend.mean(x, axis, keepdims)


@explained
def max(x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    """Largest element over `axis`, or over everything."""
    if not hasattr(x, "dtype"):
        x = as_array(x)  # NumPy would return None for None
    if type(keepdims) is not bool:
        (keepdims,) = settled(max, keepdims=keepdims)
    return state.backend.max(x, axis, keepdims)


@explained
def argmax(x: Array, axis: int = 1) -> Array:
    """Index of the first maximum along `axis`."""
    if type(axis) is not int:
        (axis,) = settled(argmax, axis=axis)
    return state.backend.argmax(x, axis)


@explained
def sum_into(x: Array, axis: int, out: Array) -> Array:
    """Sum over one axis into `out`."""
    if out is None:
        raise DTypeError("sum_into: out must be an array, got None. Make it with nd.zeros.")
    return state.backend.sum_into(x, axis, out)


@explained
def all_finite(x: Array) -> bool:
    """Tell whether no element is NaN or infinite."""
    return state.backend.all_finite(x)
