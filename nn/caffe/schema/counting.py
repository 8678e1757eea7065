"""How many messages a file asks for, before they are made: three bytes can ask for a layer of half a kilobyte."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from nd import FormatError

MOST_MESSAGES = 250_000
"""In a file; a net of a thousand layers has some ten thousand."""
_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
"""Kinds of fields: the lowest three bits of what begins them."""
_GROUPS = (3, 4)  # begin and end; what is between them are fields


def check_bytes(content: bytes, descriptor: Any, who: str) -> None:
    """Raise FormatError where a binary message has too many others within it.

    What is no message at all is left to the protobuf library, which refuses it.
    """
    pending, count = [(0, len(content), descriptor)], 0
    while pending:
        at, end, inside = pending.pop()
        for number, start, length in _with_lengths(content, at, end):
            field = inside.fields_by_number.get(number)
            if field is None or field.message_type is None:
                continue
            count += 1
            _check(count, who)
            if _has_lists(field.message_type):
                pending.append((start, min(start + length, end), field.message_type))


def check_brackets(text: str, who: str) -> None:
    """Raise FormatError where a text has too many messages within it."""
    _check(text.count("{") + text.count("<"), who)


def _check(count: int, who: str) -> None:
    if count > MOST_MESSAGES:
        raise FormatError(f"{who}: expected at most {MOST_MESSAGES:,} messages in one another, got more.")


@functools.cache
def _has_lists(descriptor: Any) -> bool:
    """Tell whether a message may have any number of messages within it; a field that is no list has one at most."""
    fields = [field for field in descriptor.fields if field.message_type is not None]
    return any(_is_list(field) or _has_lists(field.message_type) for field in fields)


def _is_list(field: Any) -> bool:
    """Tell whether a field may be there several times; the library has another word for it since release 6.31."""
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def _with_lengths(content: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and length of the fields that say their length, up to where the bytes are no message."""
    while at < end:
        key, at = _varint(content, at)
        kind = key & 7
        length, at = _varint(content, at) if kind == _LENGTH else (_size(content, at, kind), at)
        if length < 0:
            return
        if kind == _LENGTH:
            yield key >> 3, at, length
        at += length


def _size(content: bytes, at: int, kind: int) -> int:
    """Return the bytes of a field that does not say its length, -1 for none that there is."""
    if kind == _VARINT:
        return _varint(content, at)[1] - at
    return {_EIGHT_BYTES: 8, _FOUR_BYTES: 4, **dict.fromkeys(_GROUPS, 0)}.get(kind, -1)


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Return a number in groups of seven bits, and where it ends; behind the end of the bytes there are zeros."""
    number = shift = 0
    while at < len(content):
        byte = content[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80 or shift > 63:
            break
    return number, at
