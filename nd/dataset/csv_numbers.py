"""Numbers in the cells of comma-separated files, and messages about cells that hold none."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from backends.errors import DataError, FormatError
from nd.dataset.class_labels import name_list
from nd.dataset.csv_rows import Row
from nd.state import default_dtype

_SHOWN = 32  # letters of a cell, in messages
_MISSING = {"", "?", "na", "n/a", "nan", "none", "null"}


class CsvNumbers:
    """Makes numbers of rows, in the default dtype of when this object is constructed.

    Parameters
    ----------
    subject : str
        For messages: who reads, and which file.
    columns, names, start, labels
        Cells of every row; the columns' names, of a file with a header; lines before the first row; columns of labels.

    Attributes
    ----------
    texts : mapping of int to mapping of str to float
        Columns that hold texts, and the numbers that these stand for.
    dtype : numpy.dtype
    """

    def __init__(
        self, subject: str, columns: int, names: Sequence[str] = (), start: int = 0, labels: Collection[int] = ()
    ) -> None:
        self._subject, self._columns, self._names = subject, columns, names
        self._start, self._labels = start, labels
        self.texts: Mapping[int, Mapping[str, float]] = {}
        self.dtype = np.dtype(default_dtype())

    def table(self, rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers [columns, rows] twice: in float64, and in the dtype.

        DataError, with line and column, where a cell is no finite number; FormatError for another number of cells.
        """
        with np.errstate(over="ignore"):  # infinite numbers are refused below
            exact = np.array([self._numbers(row) for row in rows], np.float64).reshape(-1, self._columns).T
            numbers = exact.astype(self.dtype)
        finite = np.isfinite(numbers).all(axis=0)
        if not finite.all():
            raise self._no_number(rows[int(np.argmin(finite))])
        return exact, numbers

    def check_classes(self, rows: Sequence[Row], column: int, numbers: np.ndarray, classes: int) -> None:
        """Raise DataError unless a column's numbers [rows], in float64, are class numbers: no rounding makes one."""
        wrong = (numbers < 0) | (numbers >= classes) | (numbers != np.floor(numbers))
        if wrong.any():
            raise self.fault(rows[int(np.argmax(wrong))], column, f"a class number from 0 to {classes - 1}")

    def is_number(self, cell: str) -> bool:
        """Tell whether a cell holds a number that is finite in the dtype."""
        try:
            with np.errstate(over="ignore"):
                return "_" not in cell and bool(np.isfinite(self.dtype.type(float(cell))))
        except ValueError:
            return False

    def fault(self, row: Row, column: int, expected: str) -> DataError:
        """Return the error that a cell is not what was expected, with what to do about it."""
        cell = row.cells[column]
        return DataError(
            f"{self._subject}: line {row.line}, {self.column_name(column)}: expected {expected}, got "
            f"{cell[:_SHOWN]!r}.{delimiter_hint(row.cells) or self._remedy(row, column)}"
        )

    def column_name(self, column: int) -> str:
        """Return a column's number, from 1, and its name where there is a header."""
        name = f" {self._names[column]!r}" if column < len(self._names) else ""
        return f"column {column + 1}{name}"

    def _numbers(self, row: Row) -> list[float]:
        if len(row.cells) != self._columns:
            raise FormatError(
                f"{self._subject}: line {row.line}: expected {self._columns} cells, as in the first row, got "
                f"{len(row.cells)}."
            )
        cells = row.cells if not self.texts else self._without_texts(row)
        try:
            if "_" not in "".join(map(str, cells)):  # Python takes 1_000 for 1000
                return [float(cell) for cell in cells]
        except ValueError as error:
            raise self._no_number(row) from error
        raise self._no_number(row)

    def _without_texts(self, row: Row) -> list[str | float]:
        """Return a row's cells with numbers in the place of texts."""
        cells: list[str | float] = list(row.cells)
        for column, numbers in self.texts.items():
            number = numbers.get(row.cells[column].strip())
            if number is None:
                raise self.fault(row, column, f"one of the classes {name_list(list(numbers))}")
            cells[column] = number
        return cells

    def _no_number(self, row: Row) -> DataError:
        column = next(
            number for number, cell in enumerate(row.cells) if number not in self.texts and not self.is_number(cell)
        )
        return self.fault(row, column, "a number")

    def _remedy(self, row: Row, column: int) -> str:
        cell = row.cells[column]
        if cell.strip().lower() in _MISSING:
            return " The value is missing: fill it in, or drop the row."
        first = row.line == self._start + 1 and not self._names
        if first and self._start and any(map(self.is_number, row.cells)):  # a header was skipped, this is none
            aside = "" if self._labels else f" A column that is no feature is left out by label_index={column}."
            return f" Correct the row.{aside}"
        if first:
            return f" If that line is a header, pass skip_lines={row.line}."
        if re.fullmatch(r"\s*[-+]?\d+,\d+\s*", cell):
            return " Write numbers with a decimal point."
        return " Correct the row, or remove it."


def split_columns(
    who: str, count: int, first: int | str | None, last: int | str | None, place: Callable[[str, Any], int]
) -> tuple[list[int], list[int]]:
    """Return the columns of features, and those of labels: from `first` to `last`, `first` alone, or none.

    They are the arguments ``label_index`` and ``label_index_to``, of which `place` returns the column that they name.
    DataError: the last is before the first, or all columns are labels.
    """
    labels: list[int] = []
    if first is not None:
        start, stop = place("label_index", first), place("label_index_to", first if last is None else last)
        if stop < start:
            raise DataError(f"{who}: label_index_to must not be before label_index, got {last!r} and {first!r}.")
        labels = list(range(start, stop + 1))
    features = [column for column in range(count) if column not in labels]
    if not features:
        raise DataError(f"{who}: expected a column of features, got {count} of labels alone.")
    return features, labels


def delimiter_hint(cells: Sequence[str]) -> str:
    """Return a hint about the delimiter, for a row of only one cell."""
    delimiter = next((mark for mark in ";\t|" if len(cells) == 1 and mark in cells[0]), None)
    return "" if delimiter is None else f" The cells seem to be separated otherwise: pass delimiter={delimiter!r}."
