"""Datum: one example of a database, with its label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nd
from nd import FormatError, ShapeError
from nd.arguments import checked
from nd.checks import describe_shape
from nd.typing import Array

from ..schema import Message, check_kind, new
from .pictures import picture_bytes

_AXES = 3  # channels, height, width
_WHITE = 255


@checked
def datum_to_array(datum: Message, color: bool | None = None, who: str = "datum_to_array") -> Array:
    """Return the picture of a Datum ``[C, H, W]``, float32, on the current backend; bytes are 0 to 255.

    Parameters
    ----------
    datum : Datum
        With bytes, with numbers, or with the file of a picture, which is decoded; colours are blue, green, red then.
    color : bool, optional
        Decode in colours, or in shades of grey; None takes what the file has.
    who : str
        For messages.

    Raises
    ------
    FormatError
        There are not as many numbers as the shape says, or the file of the picture is damaged.
    """
    check_kind(who, datum, "Datum")
    numbers, shape = datum_numbers(datum, color, who)
    return nd.reshape(nd.create(memoryview(numbers) if isinstance(numbers, bytes) else numbers, "float32"), shape)


def datum_numbers(datum: Message, color: bool | None, who: str) -> tuple[bytes | Sequence[float], tuple[int, ...]]:
    """Return the pixels of a Datum as they are in it, bytes or numbers, and its shape ``[C, H, W]``."""
    if datum.encoded:
        return picture_bytes(datum.data, color, who=who)
    shape = (datum.channels, datum.height, datum.width)
    numbers = datum.data or datum.float_data
    if min(shape) < 0 or len(numbers) != math.prod(shape):
        raise FormatError(
            f"{who}: the shape {describe_shape(shape)} needs {math.prod(shape):,} numbers, got {len(numbers):,}."
        )
    return numbers, shape


@checked
def array_to_datum(array: Any, label: int | None = None) -> Message:
    """Return a Datum of a picture ``[C, H, W]``: bytes, where its numbers are whole ones of 0 to 255, else numbers.

    Raises
    ------
    ShapeError
        It has not three axes.
    """
    array = nd.as_array(array)
    shape = tuple(array.shape)
    if len(shape) != _AXES:
        raise ShapeError(f"array_to_datum: expected a picture [C, H, W], got {describe_shape(shape)}.")
    channels, height, width = shape
    datum = new("Datum", channels=channels, height=height, width=width, label=label)
    numbers = nd.to_host(array).ravel().tolist()
    if all(0 <= number <= _WHITE and number == int(number) for number in numbers):
        datum.data = bytes(map(int, numbers))
    else:
        datum.float_data.extend(numbers)
    return datum
