"""Typed errors, and the checks that raise them.

Every message reads: who: what must hold, got what. Remedy.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class NdError(Exception):
    """Root of every error that this library raises on purpose."""


class BackendError(NdError, RuntimeError):
    """A backend is missing, unusable, or mixed with another one."""


class NotRecorded(BackendError):
    """A computation cannot be recorded: it draws random numbers, or decides by a value."""


class ShapeError(NdError, ValueError):
    """An array has the wrong shape or rank."""


class DTypeError(NdError, TypeError):
    """An array or argument has the wrong type of elements."""


class ChoiceError(NdError, ValueError):
    """A name is not one of the allowed ones."""


class ConfigurationError(NdError, ValueError):
    """A network, layer or training configuration cannot work."""


class ArgumentError(ConfigurationError):
    """A field or an argument is of another type than it must be, or out of its range."""


class DataError(NdError, ValueError):
    """A data set is empty, missing, or does not fit its labels."""


class FormatError(NdError, ValueError):
    """A file is truncated, corrupt, unsafe, or not of the expected format."""


class NumericError(NdError, ArithmeticError):
    """A computed value is not finite."""


def describe_shape(shape: Sequence[object]) -> str:
    """Format a shape as the messages show it: ``[N, 784]``."""
    return "[" + ", ".join(str(axis) for axis in shape) + "]"


def check_shape(who: str, shape: Sequence[int], expected: Sequence[int | str], remedy: str = "") -> None:
    """Raise ShapeError unless `shape` matches `expected`, where a string (``"N"``) matches any length."""
    if len(shape) == len(expected) and all(
        isinstance(length, str) or length == got for length, got in zip(expected, shape, strict=True)
    ):
        return
    tail = f" {remedy}" if remedy else ""
    raise ShapeError(f"{who}: expected {describe_shape(expected)}, got {describe_shape(shape)}.{tail}")


def refuse_masked(who: str, data: object) -> None:
    """Raise DTypeError for a masked array of NumPy, or a list of such: the values under the mask would count."""
    if type(data).__name__ == "ndarray":
        return
    arrays = data if isinstance(data, (list, tuple)) else (data,)
    if any(hasattr(array, "mask") and hasattr(array, "fill_value") for array in arrays):
        raise DTypeError(
            f"{who}: expected plain numbers, got a masked array. Fill it, x.filled(0), and say what counts in a mask "
            "of its own: DataSet(x, y, features_mask, labels_mask)."
        )


def check_rank(who: str, shape: Sequence[int], rank: int, remedy: str = "") -> None:
    """Raise ShapeError unless `shape` has `rank` axes."""
    if len(shape) != rank:
        tail = f" {remedy}" if remedy else ""
        raise ShapeError(f"{who}: expected an array of rank {rank}, got shape {describe_shape(shape)}.{tail}")


def check_choice(who: str, kind: str, value: object, allowed: Iterable[str]) -> str:
    """Return `value` if it is one of `allowed`, else raise ChoiceError that lists them and the nearest."""
    names = sorted(str(name) for name in allowed)
    if isinstance(value, str) and value in names:
        return value
    near = difflib.get_close_matches(str(value).lower(), names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ChoiceError(f"{who}: unknown {kind} {value!r}, expected one of {', '.join(names)}.{hint}")
