"""Numbers as messages of protobuf have them: in groups of seven bits, the lowest first."""

from __future__ import annotations

MOST_GROUPS = 10
"""Of a number of 64 bits."""


def varint(number: int) -> bytes:
    """Return a number >= 0 in groups of seven bits, each but the last one with its highest bit set.

    Examples
    --------
    >>> varint(300)
    b'\\xac\\x02'
    """
    groups = []
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def read_varint(content: bytes) -> tuple[int, int] | None:
    """Return the number that bytes begin with, and how many it takes; None where they begin with none.

    Examples
    --------
    >>> read_varint(b"\\xac\\x02 and more")
    (300, 2)
    """
    number = 0
    for place, byte in enumerate(content[:MOST_GROUPS]):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return number, place + 1
    return None
