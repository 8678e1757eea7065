"""Shared by curves and histograms: columns of numbers on the host, in JSON under Java's names."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Self

import numpy as np

from backends.errors import DataError, ShapeError, describe_shape
from nd.arguments import checked
from nd.classes import ExplainedType

from .json_fields import Fields, java_class
from .rows import real_numbers


def column(name: str, values: object, dtype: Any = np.float64) -> np.ndarray:
    """Return a read-only copy of numbers.

    Raises
    ------
    ShapeError
        They are no row.
    DTypeError
        They are no numbers.
    DataError
        They shall be integers and are not.
    """
    given = real_numbers("Curve", name, values)
    if given.ndim != 1:
        raise ShapeError(f"Curve: {name} must be a row, got {describe_shape(given.shape)}. Give one number a point.")
    with np.errstate(invalid="ignore"):  # a number that is no integer is refused below
        copy = given.astype(dtype)
    if dtype is np.int64 and not (copy == given).all():
        raise DataError(f"Curve: {name} must be integers of 64 bits, got {given[copy != given][0]}. Count examples.")
    copy.flags.writeable = False
    return copy


class Columns(metaclass=ExplainedType):
    """Points in columns of one length, compared by value, in JSON under Java's names."""

    COLUMNS: ClassVar[dict[str, str]] = {}  # attribute -> JSON name, the first tells the number of points
    DERIVED: ClassVar[frozenset[str]] = frozenset()  # JSON names of numbers that follow from the columns

    def num_points(self) -> int:
        """Return the number of points."""
        return len(getattr(self, next(iter(self.COLUMNS))))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.fields(), other.fields()
        return {name: mine[name] for name in mine.keys() - self.DERIVED} == {
            name: theirs[name] for name in theirs.keys() - self.DERIVED
        }

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.num_points()} points)"

    def to_json(self) -> str:
        """Return the JSON text that Java reads as an equal object."""
        return json.dumps(self.fields())

    def fields(self) -> dict[str, object]:
        """Return the JSON form, ready for ``json.dumps``."""
        raise NotImplementedError

    @classmethod
    @checked
    def from_json(cls, text: str | bytes) -> Self:
        """Return the columns in a JSON text; raise FormatError if it has none."""
        return cls.from_fields(Fields.parse(cls.__name__, "curves", text).value)

    @classmethod
    def from_fields(cls, value: object) -> Self:
        """Return the columns in a parsed JSON value; raise FormatError if it has none."""
        raise NotImplementedError

    def _class_field(self) -> dict[str, object]:
        """Return the first field."""
        return {"@class": java_class(type(self).__name__, "curves")}

    def check_lengths(self, least: int = 1) -> None:
        """Raise ShapeError unless all columns have one length, of at least so many points."""
        lengths = {name: len(getattr(self, name)) for name in self.COLUMNS}
        if len(set(lengths.values())) > 1 or self.num_points() < least:
            raise ShapeError(
                f"{type(self).__name__}: columns must be of one length, at least {least}, got {lengths}. Give every "
                "point in each."
            )

    def point(self, name: str, i: int | None) -> Any:
        """Return a number of a column, all of it for None; raise DataError if there is no such point."""
        if i is None:
            return getattr(self, name)
        if not 0 <= i < self.num_points():
            raise DataError(
                f"{type(self).__name__}: a point is 0 to {self.num_points() - 1}, got {i}. Check the index."
            )
        return float(getattr(self, name)[i])


def read_columns(fields: Fields, names: list[str]) -> list[list[float]]:
    """Return plain lists of numbers; raise FormatError where they are empty or of different lengths."""
    columns = [fields.numbers(name) for name in names]
    lengths = [len(column) for column in columns]
    fields.check(min(lengths) > 0 and len(set(lengths)) == 1, f"{', '.join(names)} must have one length", lengths)
    return columns


def area(x: np.ndarray, y: np.ndarray) -> float:
    """Return the area under a curve, by trapezoids; its points may go to the right or to the left."""
    return float((np.abs(np.diff(x)) * (y[1:] + y[:-1]) / 2).sum())
