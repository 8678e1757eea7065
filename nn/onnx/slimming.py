"""ONNX files without the bytes of their large tensors, which stay where they are until they are asked for.

A message of protobuf is read as one piece, and each access to its bytes copies them. So what is large is left out
before the message is read: a tensor then says where in its own file its numbers are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from nd import FormatError
from nd.files.varints import MOST_GROUPS, read_varint, varint

IN_PLACE = "\0"
"""Begins the location of external data that are in the model's own file; the place in bytes follows."""

MOST_FIELDS = 1 << 19
"""Parts of a message that are looked at: of a graph a node is one."""

_LARGE = 1 << 16  # bytes
_GRAPH, _INITIALIZER, _RAW, _EXTERNAL, _LOCATION = 7, 5, 9, 13, 14
_PATH = (_GRAPH, _INITIALIZER, _RAW)
"""Fields of ModelProto, GraphProto and TensorProto on the way to the bytes of a tensor."""
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class _Field(NamedTuple):
    """A field of a message: where it begins, where its content begins, and where it ends."""

    number: int
    kind: int
    start: int
    content: int
    end: int


def slim_content(name: str, file: BinaryIO, most: int) -> bytes:
    """Return the message of an ONNX file without the bytes of large tensors.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    file : binary file object
        Which can go back.
    most : int
        The most bytes that are returned.

    Raises
    ------
    FormatError
        It is no message, is truncated, or has more bytes beside those of tensors.
    """
    size = file.seek(0, os.SEEK_END)
    slimming = _Slimming(name, file, most)
    return bytes(slimming.message(0, size, 0))


class _Slimming:
    """A walk through a file's message."""

    def __init__(self, name: str, file: BinaryIO, most: int) -> None:
        self._name, self._file, self._left, self._fields_left = name, file, most, MOST_FIELDS

    def message(self, start: int, end: int, depth: int) -> bytearray:
        """Return the message between two places, slim."""
        content, copied = bytearray(), start
        for field in self._fields(start, end):
            if field.kind != _BYTES or field.number != _PATH[depth] or field.end - field.content < _LARGE:
                continue
            content += self._copied(copied, field.start)
            copied = field.end
            if depth < len(_PATH) - 1:
                inner = self.message(field.content, field.end, depth + 1)
                content += _tagged(field.number, inner)
            else:
                content += _external(field.content, field.end - field.content)
        return content + self._copied(copied, end)

    def _copied(self, start: int, end: int) -> bytes:
        self._left -= end - start
        if self._left < 0:
            raise FormatError(
                f"{self._name}: an ONNX file must have fewer bytes beside those of its tensors, got {end - start:,} "
                "more. Was it made to fill the memory?"
            )
        self._file.seek(start)
        content = self._file.read(end - start)
        if len(content) != end - start:
            raise self._bad("ends early")
        return content

    def _fields(self, start: int, end: int) -> Iterator[_Field]:
        place = start
        while place < end:
            tag, content = self._number(place, end)
            kind, following = tag & 7, content
            if kind == _VARINT:
                following = self._number(content, end)[1]
            elif kind == _BYTES:
                length, content = self._number(content, end)
                following = content + length
            elif kind in (_FIXED32, _FIXED64):
                following = content + (4 if kind == _FIXED32 else 8)
            else:
                raise self._bad("has a field of another type than protobuf's")
            if following > end:
                raise self._bad("ends early")
            self._fields_left -= 1
            if self._fields_left < 0:
                raise FormatError(f"{self._name}: an ONNX file must have at most {MOST_FIELDS:,} parts, got more.")
            yield _Field(tag >> 3, kind, place, content, following)
            place = following

    def _number(self, place: int, end: int) -> tuple[int, int]:
        """Return a number of protobuf, and where it ends."""
        self._file.seek(place)
        found = read_varint(self._file.read(min(MOST_GROUPS, end - place)))
        if found is None:
            raise self._bad("ends early")
        value, length = found
        return value, place + length

    def _bad(self, what: str) -> FormatError:
        return FormatError(f"{self._name}: expected an ONNX model, got a message that {what}. Is it truncated?")


def _tagged(number: int, content: bytes | bytearray) -> bytes:
    return varint(number << 3 | _BYTES) + varint(len(content)) + bytes(content)


def _external(place: int, length: int) -> bytes:
    """Return fields of a TensorProto that say that its bytes are in the model's own file."""
    entries = {"location": f"{IN_PLACE}{place}", "length": str(length)}
    told = (_tagged(1, name.encode()) + _tagged(2, value.encode()) for name, value in entries.items())
    return b"".join(_tagged(_EXTERNAL, entry) for entry in told) + varint(_LOCATION << 3 | _VARINT) + b"\x01"
