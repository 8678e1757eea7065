"""Java's serialized objects, read: texts, numbers, lists and maps of them. Nothing in them is ever executed.

Source: Java Object Serialization Specification, chapter 6.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from nd import FormatError
from nd.arguments import shown

from .java_output import (
    ARRAY,
    CLASS,
    DATA,
    END,
    LONG_DATA,
    LONG_STRING,
    MAGIC,
    MOST_NESTED,
    NULL,
    NUMBERS,
    OBJECT,
    REFERENCE,
    STRING,
    WRITES_ITSELF,
)

MOST_VALUES = 1_000_000
"""Values, fields and parts of objects in a stream, since a byte can be an object: more were made to fill the memory."""

_FIRST_HANDLE = 0x7E0000
_INCOMPLETE = object()


class _Class(NamedTuple):
    """A description of a class; its fields are pairs of type and name, its bases begin at the top."""

    name: str
    flags: int
    fields: list[tuple[str, str]]
    bases: tuple[_Class, ...]

    @property
    def parts(self) -> tuple[_Class, ...]:
        """The bases, then this class: an object's contents are written for them in that order."""
        return (*self.bases, self)


_Contents = tuple[dict[str, Any], list[Any]]  # fields by name; contents the object wrote itself: bytes, and objects


def _pairs(contents: _Contents) -> dict[object, object]:
    values = contents[1][1:]
    return dict(zip(values[::2], values[1::2], strict=True))


def _list_or_map_of(contents: _Contents) -> object:
    """Return the list or map of Java's ``List.of`` or ``Map.of``."""
    kind = contents[0]["tag"] & 0xFF
    if kind not in (1, 3):
        raise FormatError("expected a list or a map, got a set of Java's.")
    return contents[1][1:] if kind == 1 else _pairs(contents)


_KNOWN: dict[str, Callable[[_Contents], object]] = {
    **{
        f"java.lang.{name}": lambda contents: contents[0]["value"]
        for name in ("Boolean", "Byte", "Character", "Double", "Float", "Integer", "Long", "Short")
    },
    "java.util.ArrayList": lambda contents: contents[1][1:],
    "java.util.Arrays$ArrayList": lambda contents: contents[0]["a"],
    "java.util.CollSer": _list_or_map_of,
    "java.util.Collections$SingletonList": lambda contents: [contents[0]["element"]],
    "java.util.Collections$UnmodifiableList": lambda contents: contents[0]["list"],
    "java.util.Collections$UnmodifiableRandomAccessList": lambda contents: contents[0]["list"],
    "java.util.HashMap": _pairs,
    "java.util.LinkedHashMap": _pairs,
    "java.util.LinkedList": lambda contents: contents[1][1:],
    "java.util.TreeMap": _pairs,
}


def from_java(content: bytes) -> Any:
    """Return a serialized object of Java's as ours: str, bool, int, float, bytes, list, dict or None.

    Raises
    ------
    FormatError
        The bytes are none, are damaged, or have an object of another class.
    """
    reader = _Reader(content)
    try:
        if reader.take(4) != MAGIC:
            raise FormatError(f"expected a serialized object of Java's, got {content[:4]!r}.")
        return reader.value(0)
    except (KeyError, TypeError, ValueError, struct.error) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"expected a serialized object of Java's, got {error!r}. Is it damaged?") from error


class _Reader:
    """Goes through a stream; `handles` are the classes, texts and objects that may be named again."""

    def __init__(self, content: bytes) -> None:
        self._content, self._place, self._count = content, 0, 0
        self.handles: list[Any] = []

    def take(self, count: int) -> bytes:
        """Return that many bytes."""
        first, self._place = self._place, self._place + max(count, 0)
        content = self._content[first : self._place]
        if len(content) != count:
            raise FormatError(f"expected {count} bytes more, got {len(content)}. Is it truncated?")
        return content

    def mark(self) -> int:
        """Return one byte as a number."""
        place = self._place
        if place >= len(self._content):
            raise FormatError("expected a byte more, got the end. Is it truncated?")
        self._place = place + 1
        return self._content[place]

    def count(self, more: int = 1) -> None:
        """Count values that are about to be read."""
        self._count += more
        if self._count > MOST_VALUES:
            raise FormatError(f"expected at most {MOST_VALUES:,} values, got more. Was it made to fill the memory?")

    def number(self, form: str) -> Any:
        """Return a number of that form of `struct`."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self, form: str = ">H") -> str:
        """Return a text whose length comes first."""
        encoded = self.take(self.number(form))
        if encoded.isascii():
            return encoded.decode("ascii")
        halves = encoded.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        return halves.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")

    def value(self, depth: int) -> Any:
        """Return the next text, object, array or null."""
        self.count()
        kind = self.mark()
        if kind == NULL:
            return None
        if depth > MOST_NESTED:
            raise FormatError(f"expected at most {MOST_NESTED} objects within each other, got more.")
        if kind == REFERENCE:
            value = self.again()
            if isinstance(value, _Class):
                raise FormatError(f"expected a reference to a value, got one to Java's class {value.name}.")
            return value
        if kind in (STRING, LONG_STRING):
            self.handles.append(self.text(">H" if kind == STRING else ">q"))
            return self.handles[-1]
        if kind not in (OBJECT, ARRAY):
            raise FormatError(f"expected a text, an object or an array, got the mark {kind:#x}.")
        described, place = self.description(depth), len(self.handles)
        self.handles.append(_INCOMPLETE)
        value = self.object(described, depth) if kind == OBJECT else self.array(described, depth)
        self.handles[place] = value
        return value

    def again(self) -> Any:
        """Return the value, read before, that a reference names."""
        handle = self.number(">i") - _FIRST_HANDLE
        if not 0 <= handle < len(self.handles):
            raise FormatError(f"expected a reference to one of {len(self.handles)} objects, got {handle}.")
        value = self.handles[handle]
        if value is _INCOMPLETE:
            raise FormatError("expected no object that holds itself, got one.")
        return value

    def description(self, depth: int) -> _Class:
        """Return the next description of a class."""
        described = self.description_or_none(depth)
        if described is None:
            raise FormatError("expected the class of an object, got null.")
        return described

    def description_or_none(self, depth: int) -> _Class | None:
        kind = self.mark()
        if kind == NULL:
            return None
        if kind == REFERENCE:
            described = self.again()
            if not isinstance(described, _Class):
                raise FormatError(f"expected a reference to the description of a class, got one to {shown(described)}.")
            return described
        if kind != CLASS or depth > MOST_NESTED:
            raise FormatError(f"expected the description of a class, got the mark {kind:#x}.")
        name, _, place = self.text(), self.take(8), len(self.handles)
        self.handles.append(_INCOMPLETE)
        flags, count = self.mark(), self.number(">H")
        fields = [self.field(depth) for _ in range(count)]
        self.annotation(depth)
        base = self.description_or_none(depth + 1)
        bases = () if base is None else base.parts
        if len(bases) > MOST_NESTED:  # a reference adds a base for six bytes, and every object goes through all of them
            raise FormatError(f"expected at most {MOST_NESTED} bases of Java's class {name}, got more.")
        self.handles[place] = _Class(name, flags, fields, bases)
        return self.handles[place]

    def field(self, depth: int) -> tuple[str, str]:
        """Return type and name."""
        self.count()
        kind, name = self.take(1).decode("ascii"), self.text()
        if kind in "L[":
            self.value(depth + 1)  # the name of its class
        return kind, name

    def annotation(self, depth: int) -> list[bytes]:
        """Return the contents before the next end mark: bytes, and values."""
        contents = []
        while (kind := self.mark()) != END:
            if kind in (DATA, LONG_DATA):
                self.count()
                contents.append(self.take(self.mark() if kind == DATA else self.number(">i")))
            else:
                self._place -= 1
                contents.append(self.value(depth + 1))
        return contents

    def object(self, described: _Class, depth: int) -> Any:
        """Return an object of a class that is known."""
        known = _KNOWN.get(described.name)
        if known is None:
            raise FormatError(f"expected a text, number, list or map, got an object of Java's class {described.name}.")
        fields: dict[str, object] = {}
        written = []
        self.count(len(described.bases))
        for part in described.parts:
            fields |= {name: self.field_value(kind, depth) for kind, name in part.fields}
            if part.flags & WRITES_ITSELF:
                written += self.annotation(depth)
        return known((fields, written))

    def array(self, described: _Class, depth: int) -> Any:
        """Return an array as a list, of bytes as bytes."""
        count, kind = self.number(">i"), described.name[1:2]
        if count < 0 or described.name[:1] != "[":
            raise FormatError(f"expected an array of 0 or more elements, got {count} of {described.name!r}.")
        if kind == "B":
            return self.take(count)
        if kind in ("L", "["):
            return [self.value(depth + 1) for _ in range(count)]
        self.count(count)
        form = f">{count}{'H' if kind == 'C' else NUMBERS[kind][1]}"
        numbers = struct.unpack(form, self.take(struct.calcsize(form)))
        return [chr(code) for code in numbers] if kind == "C" else list(numbers)

    def field_value(self, kind: str, depth: int) -> Any:
        """Return a field of that type."""
        if kind in ("L", "["):
            return self.value(depth + 1)
        self.count()
        return chr(self.number(">H")) if kind == "C" else self.number(NUMBERS[kind])
