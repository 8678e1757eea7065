"""The fields of evaluations in Deeplearning4j's JSON, checked one by one."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

from backends.errors import DataError, FormatError, ShapeError
from nd.files.reading import once_each
from nd.serde import array_from_json, to_bytes

from .java_text import non_finite

JAVA_INT = 2**31 - 1
JAVA_LONG = 2**63 - 1

_NEW_PACKAGE = "org.nd4j.evaluation"
_OLD_PACKAGE = "org.deeplearning4j.eval"
_NON_FINITE = {"-Infinity": -math.inf, "Infinity": math.inf, "NaN": math.nan}


def java_class(name: str, folder: str) -> str:
    """Return the full name of a class, as it is written."""
    return f"{_NEW_PACKAGE}.{folder}.{name}"


def number_to_json(value: float) -> float | str:
    """Return a number as Jackson writes it: one that is not finite is a string."""
    return float(value) if math.isfinite(value) else non_finite(value)


def numbers_to_json(values: Any) -> list[object]:
    """Return an array of numbers, written one by one as by `number_to_json`."""
    return [number_to_json(value) for value in values.tolist()]


def matrix_to_json(array: object) -> dict[str, str]:
    """Return an array in the base64 spelling, in lines of 76 characters. Source: NDArraySerializer."""
    return {"array": base64.encodebytes(to_bytes(array)).decode("ascii").replace("\n", "\r\n")}


def parsed_json(name: str, text: str | bytes) -> Any:
    """Return the parsed JSON text of a class of that name; raise FormatError where it is none."""
    try:
        return json.loads(text, object_pairs_hook=once_each)
    except FormatError as error:
        raise FormatError(f"{name}.from_json: {error}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"{name}.from_json: the text must be JSON, got: {error}. "
            f"Give the text that toJson() of Java, or to_json(), wrote for {_article(name)} {name}."
        ) from error


class Fields:
    """The fields of one JSON object; every reader raises FormatError with what it expected and got.

    Parameters
    ----------
    name, folder : str
        The class that it must be of: "ROC", "classification". It may be in the package of before 1.0.0-beta3.
    value : object
        The object, as the JSON parser returned it.

    Raises
    ------
    FormatError
        It is no object, or of another class.
    """

    def __init__(self, name: str, folder: str, value: Any) -> None:
        self.who = f"{name}.from_json"
        self.remedy = f"Give the text that toJson() of Java, or to_json(), wrote for {_article(name)} {name}."
        expected = java_class(name, folder)
        old = f"{_OLD_PACKAGE}.curves.{name}" if folder == "curves" else f"{_OLD_PACKAGE}.{name}"
        got = value.get("@class") if isinstance(value, dict) else type(value).__name__
        if got not in (expected, old):
            raise self.wrong(f"expected an object of class {expected} or {old}", got)
        self.value: dict[str, Any] = value

    @classmethod
    def parse(cls, name: str, folder: str, text: str | bytes) -> Fields:
        """Return the fields of a JSON text."""
        return cls(name, folder, parsed_json(name, text))

    def wrong(self, must: str, got: object) -> FormatError:
        """Return the error that something else must hold."""
        return FormatError(f"{self.who}: {must}, got {got!r:.80}. {self.remedy}")

    def integer(self, name: str, default: int, nullable: bool = False, largest: int = JAVA_INT) -> Any:
        """Return an integer of 0 to `largest`, or None where it may be null."""
        value = self.value.get(name, default)
        if value is None and nullable:
            return None
        if type(value) is not int or not 0 <= value <= largest:
            raise self.wrong(f"{name} must be an integer of 0 to {largest}", value)
        return value

    def flag(self, name: str, default: bool) -> bool:
        """Return a boolean."""
        value = self.value.get(name, default)
        if type(value) is not bool:
            raise self.wrong(f"{name} must be true or false", value)
        return value

    def number(self, name: str, nullable: bool = False) -> float | None:
        """Return a number, or None where it may be null or missing; "NaN" is a number."""
        value = self.value.get(name)
        number = _as_float(value)
        if number is None and not (value is None and nullable):
            raise self.wrong(f"{name} must be a number{' or null' if nullable else ''}", value)
        return number

    def numbers(self, name: str) -> list[float]:
        """Return a plain list of numbers; "NaN" is one."""
        values = self.value.get(name)
        numbers = [_as_float(value) for value in values] if isinstance(values, list) else [None]
        if None in numbers:
            raise self.wrong(f"{name} must be a list of numbers", values)
        return numbers  # type: ignore[return-value]

    def integers(self, name: str, nullable: bool = False) -> list[int] | None:
        """Return a plain list of counts, or None where it may be null."""
        values = self.value.get(name)
        if values is None and nullable:
            return None
        if not isinstance(values, list):
            raise self.wrong(f"{name} must be a list of integers", values)
        for value in values:
            if type(value) is not int or not 0 <= value <= JAVA_LONG:
                raise self.wrong(f"{name} must be a list of integers of 0 to {JAVA_LONG}", value)
        return values

    def text(self, name: str) -> str | None:
        """Return a string, or None for null or nothing."""
        value = self.value.get(name)
        if value is not None and not isinstance(value, str):
            raise self.wrong(f"{name} must be a string or null", value)
        return value

    def texts(self, name: str) -> list[str] | None:
        """Return a list of strings, or None for null or nothing."""
        values = self.value.get(name)
        if values is None:
            return None
        if not isinstance(values, list) or any(not isinstance(value, str) for value in values):
            raise self.wrong(f"{name} must be a list of strings or null", values)
        return values

    def array(self, name: str, shape: Sequence[int] | None = None) -> Any:
        """Return an array in any spelling, of `shape` where it is given, or None for null or nothing."""
        value = self.value.get(name)
        if value is None:
            return None
        array = array_from_json(value)
        if shape is None:
            return array
        if array.size != math.prod(shape) or (1 not in shape and len(shape) > 1 and array.shape != tuple(shape)):
            raise self.wrong(f"{name} must have the shape {list(shape)}", list(array.shape))
        return array.reshape(shape)

    def row(self, name: str, kind: str, check: Callable[[Any], Any]) -> Any:
        """Return an array in any spelling, as `check` gives it back, or None for null or nothing."""
        value = self.value.get(name)
        try:
            return None if value is None else check(array_from_json(value))
        except (DataError, ShapeError) as error:
            raise FormatError(f"{self.who}: {name} must be {kind}, got: {error} {self.remedy}") from error

    def check(self, holds: bool, must: str, got: object) -> None:
        """Raise FormatError unless something holds."""
        if not holds:
            raise self.wrong(must, got)


def _as_float(value: object) -> float | None:
    if isinstance(value, str):
        return _NON_FINITE.get(value)
    if type(value) is int and abs(value) <= JAVA_LONG:
        return float(value)
    return value if type(value) is float else None


def _article(name: str) -> str:
    return "an" if name[0] in "AEIO" else "a"
