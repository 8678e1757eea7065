"""Mean files: the mean of all pictures of a data set, as a BlobProto."""

from __future__ import annotations

from typing import Any

import nd
from nd import FormatError, ShapeError
from nd.arguments import checked
from nd.checks import describe_shape
from nd.files.reading import Source, name_of
from nd.files.writing import Target
from nd.typing import Array

from ..blobs import array_to_blobproto, blobproto_to_array
from ..files import message_in, write_message

_AXES = 3  # channels, height, width


@checked
def read_mean(source: Source) -> Array:
    """Return the mean picture ``[C, H, W]`` of a .binaryproto, on the current backend.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is damaged, another kind of file, or of several pictures.
    """
    who = name_of(source)
    mean = blobproto_to_array(message_in("read_mean", source, "BlobProto"), who=who)
    shape = tuple(mean.shape)
    if len(shape) not in (_AXES, _AXES + 1) or (len(shape) > _AXES and shape[0] != 1):
        raise FormatError(f"{who}: expected one picture [1, C, H, W], got {describe_shape(shape)}.")
    return nd.reshape(mean, shape[-_AXES:])


@checked
def write_mean(mean: Any, target: Target) -> None:
    """Write a mean picture ``[C, H, W]`` to a .binaryproto, whole or not at all.

    Raises
    ------
    ShapeError
        It has not three axes.
    OSError
        The file cannot be written.
    """
    array = nd.as_array(mean)
    if len(array.shape) != _AXES:
        raise ShapeError(f"write_mean: expected a picture [C, H, W], got {describe_shape(array.shape)}.")
    blob = array_to_blobproto(array)
    blob.ClearField("shape")
    blob.num = 1
    blob.channels, blob.height, blob.width = array.shape  # as older programs read it, too
    write_message(blob, target, as_text=False)
