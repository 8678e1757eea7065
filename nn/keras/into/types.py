"""Types of values."""

from __future__ import annotations

from typing import Any

from ...terms.data_formats import channels_last
from ...terms.input_type import InputType
from .piece import Value


def type_of(value: Value) -> InputType | None:
    """Return the type of a value, None where its sizes are open or its axes the order of no format."""
    shape: Any = value.shape
    if not 0 < len(shape) < 5:
        return None
    if len(shape) == 1:
        return None if shape[0] is None else InputType.feed_forward(shape[0])
    if value.data_format is None:
        return None
    *places, channels = shape if channels_last(value.data_format) else (*shape[1:], shape[0])
    if channels is None or (None in places and len(shape) > 2):
        return None
    if len(shape) == 2:
        return InputType.recurrent(channels, places[0], value.data_format)
    make: Any = InputType.convolutional if len(shape) == 3 else InputType.convolutional3d
    return make(*places, channels, value.data_format)
