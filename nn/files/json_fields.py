"""Fields of a layer or vertex in Deeplearning4j's JSON, checked one by one where nothing else reads them."""

from __future__ import annotations

import json
from typing import Any

from nd import FormatError
from nd.files.reading import once_each

Json = dict[str, Any]
_MOST_LEVELS = 100


def parse(text: str) -> Any:
    """Return the document in a JSON text.

    Raises
    ------
    FormatError
        It is no JSON, has a field twice, or is one whose values lie inside one another more than 100 deep, as no
        configuration's do: a walk through it afterwards shall not run out of its stack.
    """
    try:
        document = json.loads(text, object_pairs_hook=once_each)
    except FormatError as error:
        raise FormatError(f"configuration: {error}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"configuration: expected JSON, got {type(error).__name__}: {error}.") from error
    level, depth = [document], 0
    while level:
        depth += 1
        if depth > _MOST_LEVELS:
            raise FormatError(
                f"configuration: expected at most {_MOST_LEVELS} levels of values inside values, got more."
            )
        containers = [value for value in level if isinstance(value, (dict, list))]
        level = [child for value in containers for child in (value.values() if isinstance(value, dict) else value)]
    return document


def class_of(fields: object) -> str:
    """Return the last part of an object's "@class"; raise FormatError if it has none."""
    java = fields.get("@class") if isinstance(fields, dict) else None
    if not isinstance(java, str):
        raise FormatError(f"configuration: expected an object with '@class', got {str(fields)[:200]}.")
    return java.rpartition(".")[2]


def size(fields: Json, key: str, default: int | None = None) -> int:
    """Return a size of a layer, however Lombok spelled it (``nIn``, ``nin``); raise FormatError if it is none."""
    number = value(fields, key, default)
    if type(number) is not int or number < 0:
        raise FormatError(f"configuration: {key} must be an integer >= 0, got {str(number)[:200]}.")
    return number


def value(fields: Json, key: str, default: Any = None) -> Any:
    """Return a field under its own name or with its first capitals lowered, as Jackson writes ``nOut``: ``nout``."""
    lowered = key[0] + key[1:2].lower() + key[2:]
    return fields.get(key, fields.get(lowered, default))


def sizes(fields: Json, key: str, count: int | None = None, default: Any = None) -> tuple[int, ...]:
    """Return a list of sizes, `count` of them where that is given; one integer stands for all of them."""
    numbers = value(fields, key, default)
    if type(numbers) is int and count is not None:
        numbers = [numbers] * count
    if not isinstance(numbers, list) or any(type(number) is not int or number < 0 for number in numbers):
        raise FormatError(f"configuration: {key} must be a list of integers >= 0, got {str(numbers)[:200]}.")
    if count is not None and len(numbers) < count:
        raise FormatError(f"configuration: {key} must have {count} sizes, got {numbers}.")
    return tuple(numbers[:count])


def flag(fields: Json, key: str, default: bool) -> bool:
    """Return a switch of a layer."""
    switch = fields.get(key, default)
    if switch is None:
        return default
    if not isinstance(switch, bool):
        raise FormatError(f"configuration: {key} must be true or false, got {str(switch)[:200]}.")
    return switch


def inner(fields: Json, *keys: str) -> Json:
    """Return the layer that a layer wraps."""
    layer = next((fields[key] for key in keys if isinstance(fields.get(key), dict)), None)
    if layer is None:
        raise FormatError(f"configuration: expected a layer as {keys[0]!r}, got none.")
    return layer
