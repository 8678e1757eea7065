"""What files of this library have beside Caffe's fields: Caffe skips it, as it does every field that it does not know.

In bytes it is a field of SolverState under a number that Caffe does not have, in HDF5 a text beside Caffe's.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from nd import FormatError
from nd.extras import optional
from nd.files.varints import varint

from .schema import Message, kind_of

HDF5_NAME = "ndwright/extra"
_NUMBER, _LENGTH = 20171, 2  # of the field; the kind of one that says its length


def is_own(kind: str, field: Any) -> bool:
    """Tell whether an unknown field of that kind of message is this library's."""
    return kind == "SolverState" and field.field_number == _NUMBER and field.wire_type == _LENGTH


def add_extra(state: Message, extra: bytes) -> None:
    """Put bytes beside the fields of a SolverState; none where there are none."""
    if extra:
        state.MergeFromString(varint(_NUMBER << 3 | _LENGTH) + varint(len(extra)) + extra)


def extra_of(state: Message) -> bytes:
    """Return the bytes beside the fields of a SolverState."""
    library = optional("nn.caffe", "google.protobuf.unknown_fields", "protobuf", "caffe")
    found = [bytes(field.data) for field in library.UnknownFieldSet(state) if is_own(kind_of(state), field)]
    return found[-1] if found else b""  # the last one counts, as of every field


def extra_as_texts(extra: bytes) -> dict[str, str]:
    """Return the texts of a file of HDF5 that bytes become; none where there are none."""
    return {HDF5_NAME: base64.b64encode(extra).decode()} if extra else {}


def extra_in_texts(texts: dict[str, str], who: str) -> bytes:
    """Return the bytes that the texts of a file of HDF5 hold.

    Raises
    ------
    FormatError
        The text is no such one.
    """
    try:
        return base64.b64decode(texts.get(HDF5_NAME, ""), validate=True)
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"{who}: {HDF5_NAME!r} must be bytes in base 64, got {error}. Is it damaged?") from error
