"""Arithmetic of normalizers on arrays of NumPy and of the current backend, which keep their kind, dtype and order.

Every function returns a new array, or changes one that the caller has just created.
"""

from __future__ import annotations

import numpy as np

import nd
from backends.errors import ShapeError, describe_shape
from nd.dataset.checks import aligned, as_array
from nd.typing import Array

_FLOATS = ("float16", "float32", "float64")


def as_numbers(who: str, x: object) -> Array:
    """Return `x` as an array of floats: integers and booleans in the default dtype, lists in float32.

    ShapeError where there is no second axis, DTypeError for elements that are no numbers, BackendError for an array of
    another backend than NumPy and the current one.
    """
    x = as_array(who, x)
    if len(x.shape) < 2:
        raise ShapeError(f"{who}: expected [N, columns, ...], got {describe_shape(x.shape)}. Reshape to [N, 1].")
    if isinstance(x, np.ndarray):
        return x if x.dtype.kind == "f" else x.astype(nd.default_dtype())
    x = nd.as_array(x)
    return x if nd.dtype_name(x) in _FLOATS else nd.astype(x, nd.default_dtype())


def like(x: Array, values: np.ndarray | tuple[float, float, float]) -> Array:
    """Return a number for every column, as an array that broadcasts with `x` [N, columns, ...] and has its dtype."""
    shaped = np.asarray(values).reshape(1, -1, *(1 for _ in x.shape[2:]))
    if isinstance(x, np.ndarray):
        return shaped.astype(x.dtype)
    return nd.as_array(shaped, nd.dtype_name(x))


def rest(x: Array, values: np.ndarray) -> np.ndarray:
    """Return the remainders of `values` [columns] when they are rounded to the dtype of `x`."""
    name = str(x.dtype) if isinstance(x, np.ndarray) else nd.dtype_name(x)
    return values - values.astype(name).astype(np.float64)


def minus(x: Array, values: np.ndarray) -> Array:
    """Return ``x - values``, as exact as if `values` were not rounded to the dtype of `x`."""
    difference, left = x - like(x, values), rest(x, values)
    if left.any():
        difference -= like(x, left)  # the first difference is exact where x is near
    return difference


def add(x: Array, values: np.ndarray) -> None:
    """Add ``values`` [columns] to `x` in place; undoes `minus`."""
    left = rest(x, values)
    if left.any():
        x += like(x, left)
    x += like(x, values)


def stretch(x: Array, low: float, high: float) -> None:
    """Bring numbers from 0 to 1 into a range, in place; steps that change nothing are left out, as in Java."""
    if high - low != 1:
        x *= high - low
    if low != 0:
        x += low


def shrunk(x: Array, low: float, high: float) -> Array:
    """Return numbers of a range as numbers from 0 to 1; undoes `stretch`."""
    numbers = x - low
    if high - low != 1:
        numbers /= high - low
    return numbers


def zero_where_masked(who: str, x: Array, mask: Array | None) -> Array:
    """Return `x` with 0 where `mask` is 0; `x` itself is changed where that is possible."""
    if mask is None:
        return x
    mask = as_array(f"{who}: mask", mask)
    if isinstance(x, np.ndarray):
        np.copyto(x, 0, where=aligned(who, np.asarray(mask), x.shape) == 0)
        return x
    return nd.where(aligned(who, nd.as_array(mask, nd.dtype_name(x)), x.shape) != 0, x, 0.0)
