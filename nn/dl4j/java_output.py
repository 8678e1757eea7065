"""Java's serialized objects, written: texts, numbers, lists and maps of them.

Source: Java Object Serialization Specification, chapter 6.
"""

from __future__ import annotations

import struct
from typing import Any

from nd import DTypeError

MAGIC = b"\xac\xed\x00\x05"
NULL, REFERENCE, CLASS, OBJECT, STRING, ARRAY, DATA, END = 0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x77, 0x78
LONG_DATA, LONG_STRING = 0x7A, 0x7C
WRITES_ITSELF, SERIALIZABLE = 1, 2
MOST_NESTED = 100
NUMBERS = {"B": ">b", "D": ">d", "F": ">f", "I": ">i", "J": ">q", "S": ">h", "Z": ">?"}
"""Java's types of one letter, in the form of `struct`."""

_NUMBER = ("java.lang.Number", 0x86AC951D0B94E08B, SERIALIZABLE, (), None)
_HASH_MAP = (
    "java.util.HashMap",
    0x0507DAC1C31660D1,
    SERIALIZABLE | WRITES_ITSELF,
    (("F", "loadFactor"), ("I", "threshold")),
    None,
)
_CLASSES: dict[str, tuple[Any, ...]] = {  # name, version, flags, fields, base
    "Boolean": ("java.lang.Boolean", 0xCD207280D59CFAEE, SERIALIZABLE, (("Z", "value"),), None),
    "Double": ("java.lang.Double", 0x80B3C24A296BFB04, SERIALIZABLE, (("D", "value"),), _NUMBER),
    "Integer": ("java.lang.Integer", 0x12E2A0A4F7818738, SERIALIZABLE, (("I", "value"),), _NUMBER),
    "Long": ("java.lang.Long", 0x3B8BE490CC8F23DF, SERIALIZABLE, (("J", "value"),), _NUMBER),
    "bytes": ("[B", 0xACF317F8060854E0, SERIALIZABLE, (), None),
    "list": ("java.util.ArrayList", 0x7881D21D99C7619D, SERIALIZABLE | WRITES_ITSELF, (("I", "size"),), None),
    "map": ("java.util.LinkedHashMap", 0x34C04E5C106CC0FB, SERIALIZABLE, (("Z", "accessOrder"),), _HASH_MAP),
}


def to_java(value: object) -> bytes:
    """Return the bytes that Java's ``ObjectOutputStream`` writes, or another form of it that Java reads as the same.

    Parameters
    ----------
    value : str, bool, int, float, bytes, list, tuple, dict or None
        Becomes a String, Boolean, Integer (Long where it needs more than 32 bits), Double, byte[], ArrayList,
        LinkedHashMap or null.

    Raises
    ------
    DTypeError
        It, or something in it, is anything else.
    """
    return MAGIC + _written(value, 0)


def _written(value: object, depth: int) -> bytes:
    if depth > MOST_NESTED:
        raise DTypeError(f"to_java: expected at most {MOST_NESTED} lists within each other, got more.")
    if value is None:
        return bytes([NULL])
    if isinstance(value, str):
        encoded = _modified_utf8(value)
        if len(encoded) < 1 << 16:
            return bytes([STRING]) + struct.pack(">H", len(encoded)) + encoded
        return bytes([LONG_STRING]) + struct.pack(">q", len(encoded)) + encoded
    if isinstance(value, (bytes, bytearray)):
        return bytes([ARRAY]) + _class(_CLASSES["bytes"]) + struct.pack(">i", len(value)) + bytes(value)
    if isinstance(value, (list, tuple)):
        items = b"".join(_written(element, depth + 1) for element in value)
        size = struct.pack(">i", len(value))
        return bytes([OBJECT]) + _class(_CLASSES["list"]) + size + bytes([DATA, 4]) + size + items + bytes([END])
    if isinstance(value, dict):
        items = b"".join(_written(item, depth + 1) for pair in value.items() for item in pair)
        places = 1 << max(4, (2 * len(value)).bit_length())
        fields = struct.pack(">fi", 0.75, places * 3 // 4)
        sizes = bytes([DATA, 8]) + struct.pack(">ii", places, len(value))
        return bytes([OBJECT]) + _class(_CLASSES["map"]) + fields + sizes + items + bytes([END]) + b"\x00"
    return _number(value)


def _number(value: object) -> bytes:
    if isinstance(value, bool):
        name = "Boolean"
    elif isinstance(value, float):
        name = "Double"
    elif isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        name = "Integer" if -(1 << 31) <= value < 1 << 31 else "Long"
    else:
        raise DTypeError(
            f"to_java: expected a str, bool, int of 64 bits, float, bytes, or a list or dict of them, got {value!r} "
            f"({type(value).__name__}). Java has no class for it: turn it into one of these."
        )
    described = _CLASSES[name]
    return bytes([OBJECT]) + _class(described) + struct.pack(NUMBERS[described[3][0][0]], value)


def _class(described: tuple[Any, ...] | None) -> bytes:
    if described is None:
        return bytes([NULL])
    name, version, flags, fields, base = described
    listed = b"".join(kind.encode() + _utf(field) for kind, field in fields)
    head = bytes([CLASS]) + _utf(name) + struct.pack(">QBH", version, flags, len(fields))
    return head + listed + bytes([END]) + _class(base)


def _utf(text: str) -> bytes:
    encoded = _modified_utf8(text)
    return struct.pack(">H", len(encoded)) + encoded


def _modified_utf8(text: str) -> bytes:
    """Encode as Java: both halves of a character beyond 16 bits by themselves, and no byte 0."""
    units = text.encode("utf-16-be", "surrogatepass")
    halves = "".join(chr(unit) for (unit,) in struct.iter_unpack(">H", units))
    return halves.encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")
