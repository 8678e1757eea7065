"""Java's serialized objects, read: texts, numbers, lists and maps of them. Nothing in them is ever executed.

Source: Java Object Serialization Specification, chapter 6.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from nd import FormatError

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

_FIRST_HANDLE = 0x7E0000
_INCOMPLETE = object()


class _Class(NamedTuple):
    """A description of a class; its fields are pairs of type and name."""

    name: str
    flags: int
    fields: list[tuple[str, str]]
    base: _Class | None

    def chain(self) -> Iterator[_Class]:
        """Yield the bases from the top, then this."""
        if self.base is not None:
            yield from self.base.chain()
        yield self


_Contents = tuple[dict[str, Any], list[Any]]  # fields by name; what the object wrote itself: bytes, and objects


def _pairs(contents: _Contents) -> dict[Any, Any]:
    values = contents[1][1:]
    return dict(zip(values[::2], values[1::2], strict=True))


def _list_or_map_of(contents: _Contents) -> Any:
    """Return what Java's ``List.of`` or ``Map.of`` made."""
    kind = contents[0]["tag"] & 0xFF
    if kind not in (1, 3):
        raise FormatError("expected a list or a map, got a set of Java's.")
    return contents[1][1:] if kind == 1 else _pairs(contents)


_KNOWN: dict[str, Callable[[_Contents], Any]] = {
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
    """Return what a serialized object of Java's is here: str, bool, int, float, bytes, list, dict or None.

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
        self._stream = io.BytesIO(content)
        self.handles: list[Any] = []

    def take(self, count: int) -> bytes:
        """Return that many bytes."""
        found = self._stream.read(max(count, 0))
        if len(found) != count:
            raise FormatError(f"expected {count} bytes more, got {len(found)}. Is it truncated?")
        return found

    def number(self, form: str) -> Any:
        """Return a number of that form of `struct`."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self, form: str = ">H") -> str:
        """Return a text whose length comes first."""
        halves = self.take(self.number(form)).replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        return halves.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")

    def value(self, depth: int) -> Any:
        """Return the next text, object, array or null."""
        if depth > MOST_NESTED:
            raise FormatError(f"expected at most {MOST_NESTED} objects within each other, got more.")
        kind = self.number(">B")
        if kind == NULL:
            return None
        if kind == REFERENCE:
            return self.again()
        if kind in (STRING, LONG_STRING):
            self.handles.append(self.text(">H" if kind == STRING else ">q"))
            return self.handles[-1]
        if kind not in (OBJECT, ARRAY):
            raise FormatError(f"expected a text, an object or an array, got the mark {kind:#x}.")
        described, place = self.description(depth), len(self.handles)
        self.handles.append(_INCOMPLETE)
        found = self.object(described, depth) if kind == OBJECT else self.array(described, depth)
        self.handles[place] = found
        return found

    def again(self) -> Any:
        """Return what was read before."""
        handle = self.number(">i") - _FIRST_HANDLE
        if not 0 <= handle < len(self.handles):
            raise FormatError(f"expected a reference to one of {len(self.handles)} objects, got {handle}.")
        found = self.handles[handle]
        if found is _INCOMPLETE:
            raise FormatError("expected no object that holds itself, got one.")
        return found

    def description(self, depth: int) -> _Class:
        """Return the next description of a class."""
        found = self.description_or_none(depth)
        if found is None:
            raise FormatError("expected the class of an object, got null.")
        return found

    def description_or_none(self, depth: int) -> _Class | None:
        kind = self.number(">B")
        if kind in (NULL, REFERENCE):
            return None if kind == NULL else self.again()
        if kind != CLASS or depth > MOST_NESTED:
            raise FormatError(f"expected the description of a class, got the mark {kind:#x}.")
        name, _, place = self.text(), self.take(8), len(self.handles)
        self.handles.append(_INCOMPLETE)
        flags, count = self.number(">B"), self.number(">H")
        fields = [self.field(depth) for _ in range(count)]
        self.annotation(depth)
        self.handles[place] = _Class(name, flags, fields, self.description_or_none(depth + 1))
        return self.handles[place]

    def field(self, depth: int) -> tuple[str, str]:
        """Return type and name."""
        kind, name = self.take(1).decode("ascii"), self.text()
        if kind in "L[":
            self.value(depth + 1)  # the name of its class
        return kind, name

    def annotation(self, depth: int) -> list[Any]:
        """Return what stands before the next end mark: bytes, and values."""
        found: list[Any] = []
        while (kind := self.number(">B")) != END:
            if kind in (DATA, LONG_DATA):
                found.append(self.take(self.number(">B" if kind == DATA else ">i")))
            else:
                self._stream.seek(-1, io.SEEK_CUR)
                found.append(self.value(depth + 1))
        return found

    def object(self, described: _Class, depth: int) -> Any:
        """Return an object of a class that is known."""
        known = _KNOWN.get(described.name)
        if known is None:
            raise FormatError(f"expected a text, number, list or map, got an object of Java's class {described.name}.")
        fields: dict[str, Any] = {}
        written: list[Any] = []
        for part in described.chain():
            fields |= {name: self.element(kind, depth) for kind, name in part.fields}
            written += self.annotation(depth) if part.flags & WRITES_ITSELF else []
        return known((fields, written))

    def array(self, described: _Class, depth: int) -> Any:
        """Return an array as a list, of bytes as bytes."""
        count, kind = self.number(">i"), described.name[1:2]
        if kind == "B":
            return self.take(count)
        return [self.element(kind, depth) for _ in range(count)]

    def element(self, kind: str, depth: int) -> Any:
        """Return a field or an element of that type."""
        if kind in ("L", "["):
            return self.value(depth + 1)
        return chr(self.number(">H")) if kind == "C" else self.number(NUMBERS[kind])
