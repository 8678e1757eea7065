"""Refusal of results that functions of a user's own part return: another kind of value, dtype or shape than it must."""

from __future__ import annotations

from typing import Any, NoReturn

from backends.errors import DTypeError, ShapeError, describe_shape

from .arguments import shown
from .state import state
from .typing import Array


def into(who: str, result: Any, out: Array) -> Array:
    """Return `out` with a result in it that lies elsewhere.

    Raises
    ------
    DTypeError, ShapeError
        The result is no array of the dtype and the shape of `out`.
    """
    if not state.backend.fits(result, out):
        refuse_returned(who, result, out)
    return state.backend.assign(out, result)


def refuse_returned(who: str, result: Any, like: Array, shape: str = "") -> NoReturn:
    """Raise the error of a result that is no array as another one; `shape` says it where others are allowed too."""
    backend = state.backend
    dtype, shape = backend.dtype_name(like), shape or describe_shape(like.shape)
    if not backend.is_array(result):
        alike = isinstance(result, (int, float))
        remedy = "Return a number for every place, also where all are the same." if alike else "Return the result."
        raise DTypeError(f"{who} must return an array {shape} of {dtype}, got {shown(result)}. {remedy}")
    given = backend.dtype_name(result)
    if given != dtype:
        raise DTypeError(f"{who} must return {dtype}, got {given}. Convert it with nd.astype, or make it so at first.")
    raise ShapeError(f"{who} must return {shape}, got {describe_shape(result.shape)}. Return a number for every place.")


def undefined(part: object, method: str, meaning: str, remedy: str = "Write it in the class.") -> NoReturn:
    """Raise the NotImplementedError of a part that leaves a method out, written as ``slope(z, a)``."""
    label = getattr(part, "label", "")
    who = f"{label}: {type(part).__name__}" if label else type(part).__name__
    raise NotImplementedError(f"{who}: {method} must be defined, {meaning}. {remedy}")
