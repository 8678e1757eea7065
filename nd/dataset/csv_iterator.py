"""CsvDataSetIterator: examples in a comma-separated file, one minibatch of which is in memory."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from backends.errors import ConfigurationError, DataError, DTypeError, FormatError
from nd.dataset.checks import check_count
from nd.dataset.csv_rows import CsvRows, Mark, Row
from nd.dataset.dataset import DataSet, one_hot
from nd.dataset.iterator import DataSetIterator, State, check_same, restored_count
from nd.state import default_dtype

_WHO = "CsvDataSetIterator"


class CsvDataSetIterator(DataSetIterator):
    """Iterate over the rows of a comma-separated file, which may be larger than memory.

    Parameters
    ----------
    path : path
        Text in UTF-8 whose cells are numbers; they may be quoted. Empty lines are skipped.
    batch : int
        Rows in a minibatch; the last one has what is left.
    label_index : int or str, optional
        The column of the label, from 0; a negative one counts from the end. A name is looked up in the first line
        behind `skip_lines`, which then is no row. Without it there are no labels.
    num_classes : int, optional
        The label is a class number below that, and becomes one-hot.
    regression : bool
        The label is a number, and stays one.
    label_index_to : int or str, optional
        Where `regression` has several label columns: the last of them (inclusive); `label_index` is the first.
    delimiter : str
        One character.
    skip_lines : int
        Lines to leave out at the beginning, a header for instance.

    Raises
    ------
    ConfigurationError
        The label's settings contradict each other.
    DataError
        There are no rows, no such column, or a number is out of range.
    FormatError
        The file is no text in UTF-8, its quotes do not fit, or its header has not as many names as a row has cells.
    OSError
        The file cannot be read.

    Notes
    -----
    Features [N, columns that are no label] and labels [N, classes or label columns] in the default dtype, with the
    batch innermost in memory (Fortran order). NaN and infinite numbers are refused, as text is.

    Source: org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator over a CSVRecordReader. Differs: Java's
    label index -1 means none; quotes are the csv module's, so a quoted cell may hold a line end.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "moon.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("label,x,y\\n1,0.5,2.5\\n0,1.5,3.5\\n")
    >>> data_set = CsvDataSetIterator(path, 10, "label", 2).next()
    >>> data_set.features.tolist(), data_set.labels.tolist()
    ([[0.5, 2.5], [1.5, 3.5]], [[0.0, 1.0], [1.0, 0.0]])
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        batch: int,
        label_index: int | str | None = None,
        num_classes: int | None = None,
        *,
        regression: bool = False,
        label_index_to: int | str | None = None,
        delimiter: str = ",",
        skip_lines: int = 0,
    ) -> None:
        self._where = f"{_WHO}: '{os.fspath(path)}'"
        _check_label(label_index, num_classes, regression, label_index_to)
        self._batch = check_count(_WHO, "batch", batch, 1)
        self._classes = None if num_classes is None else check_count(_WHO, "num_classes", num_classes, 1)
        self._dtype = np.dtype(default_dtype())
        self._source = CsvRows(_WHO, path, delimiter)
        self._start = self._source.skip(check_count(_WHO, "skip_lines", skip_lines, 0))
        self._names: list[str] = []
        header: list[Row] = []
        if isinstance(label_index, str) or isinstance(label_index_to, str):
            header, self._start = self._source.read(self._start, 1)
            self._names = [name.strip() for row in header for name in row.cells]
        first, _ = self._source.read(self._start, 1)
        if not first:
            raise DataError(f"{self._where}: expected rows, got none behind line {self._start.line}.")
        self._columns = len(first[0].cells)
        if header and len(self._names) != self._columns:
            raise FormatError(
                f"{self._where}: line {header[0].line}: expected as many names as the first row has cells, "
                f"{self._columns}, got {len(self._names)}."
            )
        self._labels = self._label_columns(label_index, label_index_to)
        self._features = [column for column in range(self._columns) if column not in self._labels]
        if not self._features:
            raise DataError(f"{self._where}: expected a column of features, got {self._columns} of labels alone.")
        self._count = 0  # rows handed out
        self._mark = self._start
        self._ahead: tuple[list[Row], Mark] | None = None

    def has_next(self) -> bool:
        """Tell whether a row is left, reading a minibatch ahead.

        Raises
        ------
        FormatError
            What is there is no text in UTF-8, or its quotes do not fit.
        """
        return bool(self._rows_ahead()[0])

    def next(self, num: int | None = None) -> DataSet:
        """Return the next rows, `num` of them if given.

        Raises
        ------
        DataError
            No rows are left, `num` is less than 1, or a cell is no number, or no class number; the message has the
            line and the column.
        FormatError
            A row has another number of cells than the first one.
        """
        self._check_has_next()
        if num is None:
            rows, mark = self._rows_ahead()
        else:
            rows, mark = self._source.read(self._mark, check_count(f"{_WHO}.next", "num", num, 1))
        found = self._data_set(rows)
        self._count += len(rows)
        self._mark, self._ahead = mark, None
        return self._pre_processed(found)

    def reset(self) -> None:
        """Go back to the first row."""
        self._mark, self._ahead, self._count = self._start, None, 0

    def state(self) -> State:
        return {"count": self._count, "line": self._mark.line, "offset": self._mark.offset, "size": self._source.size()}

    def restore(self, state: State) -> None:
        size = self._source.size()
        check_same(self, state, size=size)
        offset, line, count = (restored_count(self, state, name, size) for name in ("offset", "line", "count"))
        self._mark, self._ahead, self._count = Mark(offset, line), None, count

    def batch(self) -> int:
        """Return the number of rows in a minibatch."""
        return self._batch

    def total_outcomes(self) -> int:
        """Return the number of classes, or of label columns.

        Raises
        ------
        DataError
            There are no labels.
        """
        return (self._classes or len(self._labels)) if self._labels else super().total_outcomes()

    def input_columns(self) -> int:
        """Return the number of columns that are no label."""
        return len(self._features)

    def _rows_ahead(self) -> tuple[list[Row], Mark]:
        if self._ahead is None:
            self._ahead = self._source.read(self._mark, self._batch)
        return self._ahead

    # ---- columns

    def _label_columns(self, first: int | str | None, last: int | str | None) -> list[int]:
        if first is None:
            return []
        start = self._column("label_index", first)
        stop = start if last is None else self._column("label_index_to", last)
        if stop < start:
            raise DataError(
                f"{self._where}: label_index_to must not be before label_index, got {last!r} and {first!r}."
            )
        return list(range(start, stop + 1))

    def _column(self, what: str, index: int | str) -> int:
        if isinstance(index, str):
            if self._names.count(index) != 1:
                raise DataError(
                    f"{self._where}: {what} must be a name that line {self._start.line} has once, one of "
                    f"{self._names}, got {index!r}."
                )
            return self._names.index(index)
        check_count(_WHO, what, index, -self._columns, self._columns - 1)
        return index % self._columns

    def _column_name(self, column: int) -> str:
        name = f" {self._names[column]!r}" if column < len(self._names) else ""
        return f"column {column + 1}{name}"

    # ---- numbers

    def _data_set(self, rows: list[Row]) -> DataSet:
        with np.errstate(over="ignore"):  # what becomes infinite is found below
            exact = np.array([self._numbers(row) for row in rows], np.float64).T  # [columns, N]
            numbers = exact.astype(self._dtype)
        finite = np.isfinite(numbers).all(axis=0)
        if not finite.all():
            raise self._no_number(rows[int(np.argmin(finite))])
        features = numbers[self._features].T
        if not self._labels:
            return DataSet(features)
        if self._classes is None:
            return DataSet(features, numbers[self._labels].T)
        found = exact[self._labels[0]]  # no rounding makes a class number
        wrong = (found < 0) | (found >= self._classes) | (found != np.floor(found))
        if wrong.any():
            row = rows[int(np.argmax(wrong))]
            raise self._fault(row, self._labels[0], f"a class number from 0 to {self._classes - 1}")
        return DataSet(features, one_hot(found, self._classes).astype(self._dtype, copy=False))

    def _numbers(self, row: Row) -> list[float]:
        if len(row.cells) != self._columns:
            raise FormatError(
                f"{self._where}: line {row.line}: expected {self._columns} cells, as in the first row, got "
                f"{len(row.cells)}."
            )
        try:
            if "_" not in "".join(row.cells):  # Python takes 1_000 for 1000
                return [float(cell) for cell in row.cells]
        except ValueError as error:
            raise self._no_number(row) from error
        raise self._no_number(row)

    def _no_number(self, row: Row) -> DataError:
        column = next(number for number, cell in enumerate(row.cells) if not self._is_number(cell))
        return self._fault(row, column, "a number")

    def _is_number(self, cell: str) -> bool:
        try:
            with np.errstate(over="ignore"):
                return "_" not in cell and bool(np.isfinite(self._dtype.type(float(cell))))
        except ValueError:
            return False

    def _fault(self, row: Row, column: int, expected: str) -> DataError:
        remedy = "If that line is a header, pass skip_lines=1." if row.line == 1 else "Correct the row, or remove it."
        return DataError(
            f"{self._where}: line {row.line}, {self._column_name(column)}: expected {expected}, got "
            f"{row.cells[column][:32]!r}. {remedy}"
        )


def _check_label(label_index: Any, num_classes: Any, regression: Any, label_index_to: Any) -> None:
    if not isinstance(regression, bool):
        raise DTypeError(f"{_WHO}: regression must be True or False, got {regression!r}.")
    if label_index is None and (num_classes is not None or regression or label_index_to is not None):
        raise ConfigurationError(
            f"{_WHO}: num_classes, regression and label_index_to need label_index, got none. Say which column it is."
        )
    if regression and num_classes is not None:
        raise ConfigurationError(f"{_WHO}: regression must go without num_classes, got {num_classes!r}. Drop one.")
    if label_index is not None and not regression and num_classes is None:
        raise ConfigurationError(
            f"{_WHO}: a label needs num_classes or regression=True, got neither. Say how many classes there are."
        )
    if label_index_to is not None and not regression:
        raise ConfigurationError(f"{_WHO}: label_index_to needs regression=True, got {label_index_to!r} without.")
