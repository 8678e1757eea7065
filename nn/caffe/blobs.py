"""Arrays in messages: BlobProto."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, Literal

import nd
from nd import FormatError
from nd.arguments import checked
from nd.checks import describe_shape
from nd.files.varints import varint
from nd.typing import Array

from .schema import Message, check_kind, new

LEGACY_AXES = ("num", "channels", "height", "width")
"""Fields of old files, which have four axes always."""
MOST_AXES = 32
MOST_ELEMENTS = 2**31 - 1
_TAGS = {"data": b"\x2a", "diff": b"\x32", "double_data": b"\x42", "double_diff": b"\x4a"}
"""Field -> the byte that begins it in a file: 8 * its number + 2, as it is packed."""


def is_legacy(blob: Message) -> bool:
    """Tell whether a BlobProto has its shape in the four fields of old files."""
    return any(blob.HasField(axis) for axis in LEGACY_AXES)


def blob_shape(blob: Message, who: str = "blob_shape") -> tuple[int, ...]:
    """Return the shape of a BlobProto; one that says none is a scalar.

    Raises
    ------
    FormatError
        It has more than 32 axes, a negative length, or more than 2**31 - 1 elements.
    """
    shape = tuple(getattr(blob, axis) for axis in LEGACY_AXES) if is_legacy(blob) else tuple(blob.shape.dim)
    if len(shape) > MOST_AXES or any(length < 0 for length in shape) or math.prod(shape) > MOST_ELEMENTS:
        raise FormatError(
            f"{who}: a shape must have at most {MOST_AXES} axes, no negative length and at most {MOST_ELEMENTS:,} "
            f"elements, got {describe_shape(shape)}."
        )
    return shape


@checked
def shape_equals(blob: Message, shape: Sequence[int]) -> bool:
    """Tell whether a BlobProto fits an array: shapes are equal; of an old file's, after 1s in front of the array's.

    So [1, 1, 3, 2] of an old file fits an array [3, 2]. Source: BVLC Caffe, Blob::ShapeEquals.
    """
    check_kind("shape_equals", blob, "BlobProto")
    if is_legacy(blob):
        padded = (*[1] * (len(LEGACY_AXES) - len(shape)), *shape)
        return len(shape) <= len(LEGACY_AXES) and blob_shape(blob) == padded
    return tuple(blob.shape.dim) == tuple(shape)


@checked
def blobproto_to_array(
    blob: Message, field: Literal["data", "diff"] = "data", who: str = "blobproto_to_array"
) -> Array:
    """Return the numbers of a BlobProto as an array of its shape, on the current backend.

    Parameters
    ----------
    blob : BlobProto
    field : {"data", "diff"}
        The values, or their gradient. Either may be there in double precision, the array is float64 then.
    who : str
        For messages.

    Raises
    ------
    FormatError
        There are not as many numbers as the shape says.
    """
    check_kind(who, blob, "BlobProto")
    shape = blob_shape(blob, who)
    doubles = getattr(blob, f"double_{field}")
    numbers, dtype = (doubles, "float64") if len(doubles) else (getattr(blob, field), "float32")
    if len(numbers) != math.prod(shape):
        raise FormatError(
            f"{who}: the shape {describe_shape(shape)} needs {math.prod(shape):,} numbers, got {len(numbers):,} in "
            f"{field}."
        )
    return nd.reshape(nd.create(numbers, dtype), shape)


def has_diff(blob: Message) -> bool:
    """Tell whether a BlobProto has a gradient too."""
    return bool(len(blob.diff) or len(blob.double_diff))


def array_to_blobproto(data: Any, diff: Any = None) -> Message:
    """Return a BlobProto of an array, and of its gradient; of float64 in double precision, otherwise in single.

    Raises
    ------
    ShapeError
        Array and gradient differ in shape.
    """
    data, diff = nd.as_array(data), None if diff is None else nd.as_array(diff)
    shape = tuple(data.shape)
    blob = new("BlobProto")
    blob.shape.dim.extend(shape)
    _put(blob, "data", data)
    if diff is not None:
        nd.checks.check_shape("array_to_blobproto", tuple(diff.shape), shape)
        _put(blob, "diff", diff)
    return blob


def _put(blob: Message, field: str, array: Array) -> None:
    """Set a field by its bytes, a copy of memory, where a list would be one object a number."""
    double = nd.dtype_name(array) == "float64"
    host = nd.to_host(nd.astype(array, "float64" if double else "float32"))
    content = (host if sys.byteorder == "little" else host.byteswap()).tobytes()
    blob.MergeFromString(_TAGS[f"double_{field}" if double else field] + varint(len(content)) + content)
