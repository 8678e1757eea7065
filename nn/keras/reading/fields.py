"""Values of Keras' JSON, each checked to be of the type that its reader takes it for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from nd import FormatError
from nd.arguments import shown

_SHOWN = 100  # letters


def wrong(what: str, expected: str, value: object) -> NoReturn:
    """Raise FormatError: a value is no `expected`."""
    raise FormatError(f"{what} must be {expected}, got {str(value)[:_SHOWN]}.")


def mapping(value: Any, what: str) -> dict[str, Any]:
    """Return a JSON object, or raise FormatError."""
    return value if isinstance(value, dict) else wrong(what, "an object", value)


def sequence(value: Any, what: str) -> list[Any]:
    """Return a JSON array, or raise FormatError."""
    return value if isinstance(value, list) else wrong(what, "an array", value)


def text(value: Any, what: str) -> str:
    """Return a text, or raise FormatError."""
    return value if isinstance(value, str) else wrong(what, "a text", value)


def index(value: Any, what: str) -> int:
    """Return a whole number that is not negative, or raise FormatError."""
    return value if type(value) is int and value >= 0 else wrong(what, "a whole number >= 0", value)


def field(fields: Mapping[str, Any], name: str, what: str) -> Any:
    """Return a field that must be there, or raise FormatError."""
    if name not in fields:
        raise FormatError(f"{what} must have {name!r}, got {shown(list(fields))}.")
    return fields[name]
