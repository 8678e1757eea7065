"""Messages as bytes: caffemodel, solverstate, binaryproto."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from nd import ConfigurationError, FormatError
from nd.extras import optional

from ..files.findings import ModelFileWarning
from .own_fields import is_own
from .schema import Message, check_message, kind_of, message_class, submessages
from .schema.counting import check_bytes
from .text import MOST_LISTED, check_complete


class UnknownField(NamedTuple):
    """A field of a binary message that Caffe does not have; the message keeps it, and writes it again."""

    path: str
    """Of the message that it stands in: ``layer[3] 'norm'``, empty for the outermost."""
    message: str
    """``"LayerParameter"``."""
    number: int
    """The field's number, which is all that the file says of its name."""

    def __str__(self) -> str:
        return f"{self.number} of {self.path or self.message}"


def parse_binary(content: bytes, kind: str, who: str = "bytes") -> Message:
    """Return the message that bytes are, nothing upgraded.

    Fields that Caffe does not have, as forks of it do, are kept in the message; a warning names them by number.

    Parameters
    ----------
    content : bytes
    kind : str
        ``"NetParameter"``, ``"SolverState"``, ``"BlobProto"``, or another message of Caffe's.
    who : str
        For messages: the name of the file.

    Raises
    ------
    FormatError
        The bytes are none of such a message.
    """
    library = optional("nn.caffe", "google.protobuf.message", "protobuf", "caffe")
    message = message_class(kind)()
    check_bytes(content, message.DESCRIPTOR, who)
    try:
        message.MergeFromString(content)
        _check_kind(message, who)
        _check_texts(message, who)
    except (library.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise FormatError(
            f"{who}: expected the bytes of a {kind}, got {error}. Is the file truncated, or another kind?"
        ) from error
    check_complete(message, who)
    unknown = unknown_fields(message)
    if unknown:
        more = f" and {len(unknown) - MOST_LISTED} more" if len(unknown) > MOST_LISTED else ""
        listed = ", ".join(map(str, unknown[:MOST_LISTED]))
        warnings.warn(
            f"{who}: fields that Caffe does not have are kept, by their numbers: {listed}{more}.",
            ModelFileWarning,
            stacklevel=3,
        )
    return message


def to_bytes(message: Message, who: str = "to_bytes") -> bytes:
    """Return a message as bytes, the same for equal messages.

    Raises
    ------
    ConfigurationError
        A field is not there that its message must have, or the message is longer than the 2 GiB of the format.
    """
    library = optional("nn.caffe", "google.protobuf.message", "protobuf", "caffe")
    try:
        return message.SerializeToString(deterministic=True)
    except (library.EncodeError, ValueError) as error:
        raise ConfigurationError(
            f"{who}: the message must be complete, and shorter than 2 GiB, got {error}."
        ) from error


def unknown_fields(message: Message) -> list[UnknownField]:
    """Return the fields of a message, and of all within, that neither Caffe has nor this library adds."""
    check_message("unknown_fields", message)
    library = optional("nn.caffe", "google.protobuf.unknown_fields", "protobuf", "caffe")
    return [
        UnknownField(path, inner.DESCRIPTOR.name, field.field_number)
        for path, inner in submessages(message)
        for field in library.UnknownFieldSet(inner)
        if not is_own(kind_of(inner), field)
    ]


def _check_kind(message: Message, who: str) -> None:
    """Raise FormatError where a field of the outermost message is of another type: bytes of another kind of message."""
    library = optional("nn.caffe", "google.protobuf.unknown_fields", "protobuf", "caffe")
    known = message.DESCRIPTOR.fields_by_number
    for field in library.UnknownFieldSet(message):
        declared = known.get(field.field_number)
        if declared is not None and field.wire_type != _wire_type(declared):
            raise FormatError(
                f"{who}: expected the bytes of a {message.DESCRIPTOR.name}, got something else than its "
                f"{declared.name!r} in field {field.field_number}. Is it another kind of file?"
            )


def _wire_type(field: Any) -> int:
    """Return the number that the format has for how the values of a field are written."""
    if field.type in (field.TYPE_STRING, field.TYPE_BYTES, field.TYPE_MESSAGE):
        return 2
    return {field.TYPE_DOUBLE: 1, field.TYPE_FLOAT: 5}.get(field.type, 0)


def _check_texts(message: Message, who: str) -> None:
    """Look at all texts: of one that is no UTF-8 the library hands out bytes, or raises when it is first asked for."""
    place = message.DESCRIPTOR.name
    try:
        for path, inner in submessages(message):
            place = path or place
            if any(isinstance(text, bytes) for text in _texts_of(inner)):
                raise FormatError(f"{who}: texts must be UTF-8, got other bytes in {place}.")
    except UnicodeDecodeError as error:
        raise FormatError(f"{who}: texts must be UTF-8, got other bytes in or behind {place}: {error}.") from error


def _texts_of(message: Message) -> Iterator[object]:
    """Yield what is in a message's own fields for texts."""
    for field, value in message.ListFields():
        if field.type == field.TYPE_STRING:
            yield from (value,) if isinstance(value, (bytes, str)) else value
