"""Checks of the arguments of data sets and iterators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import nd
from backends.argument_checks import ARRAY_LIBRARIES
from backends.errors import BackendError, DataError, DTypeError, ShapeError, describe_shape, refuse_masked
from nd.arguments import converted
from nd.intake import host_array, is_sparse
from nd.rules import INTEGER

if TYPE_CHECKING:
    from ..typing import Array


_NUMERIC_KINDS = "biuf"
AnyArray = np.ndarray | Any
"""The arrays of data sets: NumPy's, or another library's, of which only the attributes that NumPy's have are used."""


def as_array(who: str, value: Any) -> AnyArray:
    """Return `value` as it is if it is a numeric array, a table or tensor as an array, or a list as a new float32 one.

    Raises
    ------
    ShapeError
        The value is a scalar, or a list whose rows have different lengths.
    DTypeError
        The elements are not numbers (objects, strings, dates, complex numbers), or it is a masked array.
    """
    array = numbers_of(who, value)
    if not array.shape:
        raise ShapeError(f"{who}: expected an array with examples along its first axis, got the scalar {value!r}.")
    is_list = array is not value and isinstance(value, (list, tuple, int, float))
    return array.astype(np.float32) if is_list else array


def numbers_of(who: str, value: Any) -> AnyArray:
    """Return the same for an array of any rank; a list in the dtype that holds its numbers. Same errors."""
    refuse_masked(who, value)
    array = value if _stays(value) else host_array(who, value)
    if not _stays(array):
        array = from_list(who, array)
    # dtypes that have no kind (array_api_strict) exist only for numbers
    if getattr(array.dtype, "kind", "f") not in _NUMERIC_KINDS:
        raise DTypeError(f"{who}: expected numbers, got elements of dtype {array.dtype}. Convert them first.")
    return array


def _stays(value: object) -> bool:
    """Tell whether a data set keeps an array where it is: NumPy's, the device's, or one that a file holds."""
    ours = type(value).__module__.partition(".")[0] in ARRAY_LIBRARIES and getattr(value, "shape", None) is not None
    if ours or isinstance(value, (np.ndarray, np.generic)) or hasattr(type(value), "__array_namespace__"):
        return True
    on_file = isinstance(getattr(value, "dtype", None), np.dtype) and not hasattr(value, "__dlpack__")
    return on_file and not hasattr(value, "to_numpy") and not is_sparse(value)


def from_list(who: str, value: object) -> np.ndarray:
    """Return nested lists, or a number, as an array; raise ShapeError where rows have different lengths."""
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ShapeError(f"{who}: expected rows of equal length, got a ragged list ({error}).") from error
    except TypeError as error:
        kind = type(value).__name__
        raise DTypeError(f"{who}: expected an array or a list of numbers, got {kind} ({error}).") from error


def check_count(who: str, name: str, value: object, low: int, high: int | None = None) -> int:
    """Return `value` as an int if it is a whole number from `low` to `high`.

    ArgumentError where it is not a whole number (a bool is none), DataError where it is out of range.
    """
    number: int = converted(who, name, INTEGER, value)
    if number < low or (high is not None and number > high):
        bounds = f"at least {low}" if high is None else f"{low} to {high}"
        raise DataError(f"{who}: {name} must be {bounds}, got {number}.")
    return number


def check_mergeable(who: str, part: Array | None, first: Array) -> None:
    """Raise errors unless two arrays of examples can be joined."""
    if type(part) is not type(first):
        kinds = (f"{type(array).__module__}.{type(array).__name__}" for array in (first, part))
        raise BackendError(f"{who}: expected {next(kinds)}, as in the first, got {next(kinds)}. Convert one of them.")
    if part.dtype != first.dtype:
        raise DTypeError(f"{who}: expected {first.dtype}, as in the first, got {part.dtype}. Convert one of them.")
    if part.shape[1:] != first.shape[1:]:
        expected = describe_shape(["N", *first.shape[1:]])
        raise ShapeError(f"{who}: expected {expected}, as in the first, got {describe_shape(part.shape)}.")


def aligned(who: str, mask: AnyArray, whole: Sequence[int]) -> AnyArray:
    """Return a mask in a shape that broadcasts with an array of shape `whole`, [N, columns, ...].

    Masks of its rank are so already, those of series [N, T] belong to [N, 1, T], those of images [N, H, W] to
    [N, 1, H, W], and [N], or [N, 1] of images, to all of an example. ShapeError where it fits none of these.
    """
    shape = tuple(mask.shape)
    if len(shape) == 1 or (len(shape) == 2 and len(whole) > 3 and shape[1] == 1):
        shape = (shape[0], *(1 for _ in whole[1:]))
    elif len(shape) == len(whole) - 1:
        shape = (shape[0], 1, *shape[1:])
    fits = len(shape) == len(whole) and shape[0] == whole[0]
    if not fits or any(axis not in (1, full) for axis, full in zip(shape, whole, strict=True)):
        raise ShapeError(
            f"{who}: expected a mask that fits {describe_shape(whole)}, got {describe_shape(mask.shape)}. Series "
            "[N, C, T] have masks [N, T]."
        )
    return mask.reshape(shape) if isinstance(mask, np.ndarray) else nd.reshape(mask, shape)
