"""Typed errors, and the checks that raise them.

Every message reads: who: what must hold, got what. Remedy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from .suggestions import suggestion

if TYPE_CHECKING:
    from .typing import HostArray


LONGEST = 2_000
"""Characters of a message, at most: whatever a caller gives, a screen shows what is wrong with it."""


class NdError(Exception):
    """Root of every error that this library raises on purpose.

    A message of more than 2,000 characters loses its middle: it begins with what must hold, and ends with the remedy.
    """

    of_function = False
    """Whether a function of the facade tells what is wrong with its arguments, which may be those of its caller."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(shortened(each) if isinstance(each, str) else each for each in arguments))


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


class UnknownKeyError(ChoiceError, KeyError):
    """A mapping has no such key."""

    __str__ = Exception.__str__  # KeyError's would put quotes around the message


class ConfigurationError(NdError, ValueError):
    """A network, layer or training configuration cannot work."""


class ArgumentError(ConfigurationError):
    """A field or an argument is of another type than it must be, or out of its range."""


class CallError(ArgumentError, TypeError):
    """A call has an argument too many, too few, or one that is not there."""


class UnknownNameError(NdError, AttributeError):
    """A module or an object has no attribute of that name; what is meant is looked up when the error is shown.

    Parameters
    ----------
    text : str
    place : str
        The kind of name, see `suggestion`.
    name : str
    names : iterable of str, or object
        The names that there are, or the object that has them.
    """

    def __init__(self, text: str, place: str = "", name: str = "", names: object = ()) -> None:
        super().__init__(text)
        self._wrong = (place, name, names)

    def __str__(self) -> str:
        place, name, names = self._wrong
        text = super().__str__()
        allowed = names if isinstance(names, list) else dir(names)
        if not isinstance(names, list):
            owner = names if isinstance(names, type) else type(names)
            place = f"{place} of {' '.join(base.__name__ for base in owner.__mro__)}"
        hint = suggestion(place, name, [one for one in allowed if one[:1] != "_"]) if name[:1] not in ("", "_") else ""
        return f"{text}.{hint}" if hint else text

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self),)  # without the object, which may be large, or not be pickled


class UnknownImportError(NdError, ImportError):
    """A module has no name that is imported from it."""


class DataError(NdError, ValueError):
    """A data set is empty, missing, or does not fit its labels."""


class FormatError(NdError, ValueError):
    """A file is truncated, corrupt, unsafe, or not of the expected format."""


class SizeError(NdError, MemoryError):
    """More memory is asked for than there is."""


class NumericError(NdError, ArithmeticError):
    """A computed value is not finite."""


def shortened(text: str) -> str:
    """Return a message without its middle where it is longer than `LONGEST` characters."""
    if len(text) <= LONGEST:
        return text
    mark = f" [... {len(text) - LONGEST:,} characters and more ...] "
    kept = LONGEST - len(mark)
    return text[: kept - kept // 3] + mark + text[-(kept // 3) :]


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


def check_finite(who: str, x: HostArray) -> None:
    """Raise DataError where features on the host are not finite; a device's are not looked at."""
    if type(x).__module__.partition(".")[0] != "numpy" or x.dtype.kind != "f" or not x.size:
        return
    if not (math.isfinite(x.min()) and math.isfinite(x.max())):
        raise DataError(f"{who}: features must be finite, got NaN or infinity in them. Clean the data.")


def check_mask(who: str, mask: Any) -> None:
    """Raise DataError where a mask on the host has a number that is negative or not finite.

    0 leaves out, 1 counts, any other number is a weight. A device's arrays are not looked at, which would wait for it.
    """
    if type(mask).__module__.partition(".")[0] != "numpy" or mask.dtype.kind not in "if" or not mask.size:
        return
    least, most = mask.min(), mask.max()
    if not (least >= 0 and most < math.inf):  # both are NaN where one number is
        raise DataError(
            f"{who}: masks must be finite and >= 0, got values from {least} to {most}. Give 0 for what does not count, "
            "1 for what does, or a weight."
        )


def check_rank(who: str, shape: Sequence[int], rank: int, remedy: str = "") -> None:
    """Raise ShapeError unless `shape` has `rank` axes."""
    if len(shape) != rank:
        tail = f" {remedy}" if remedy else ""
        raise ShapeError(f"{who}: expected an array of rank {rank}, got shape {describe_shape(shape)}.{tail}")


def check_choice(who: str, kind: str, value: object, allowed: Iterable[str]) -> str:
    """Return `value` if it is one of `allowed`, else raise ChoiceError that lists them and the nearest."""
    if isinstance(allowed, (Mapping, Set)) and isinstance(value, str) and value in allowed:
        return value  # a look-up, as a graph asks once for every vertex
    names = sorted(str(name) for name in allowed)
    if isinstance(value, str) and value in names:
        return value
    hint = suggestion(f"{kind} of {who}", value, names)
    raise ChoiceError(f"{who}: unknown {kind} {value!r}, expected one of {', '.join(names)}.{hint}")


def unknown_dtype(name: object, allowed: Sequence[str]) -> DTypeError:
    """Return the error for a dtype, or the name of one, that is not one of `allowed`."""
    hint = suggestion("dtype", getattr(name, "__name__", name), allowed)
    return DTypeError(f"dtype: expected one of {', '.join(allowed)}, got {name!r}.{hint}")
