"""CSVSequenceRecordReader: series in comma-separated files, one series a file."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from backends.errors import ConfigurationError, DataError
from nd.arguments import Natural, Path, checked
from nd.classes import ExplainedType
from nd.dataset.checks import check_count
from nd.dataset.csv_numbers import CsvNumbers
from nd.dataset.csv_rows import CsvRows, Row, check_delimiter
from nd.files.reading import regular_file

_NUMBER = re.compile(r"%(0\d+)?d")


class NumberedFileInputSplit(metaclass=ExplainedType):
    """Files whose names differ in a number.

    Parameters
    ----------
    base_string : str
        Their path with ``%d``, or for numbers that begin with zeros ``%03d``, in the place of the number.
    min_index, max_index : int
        First and last number.

    Raises
    ------
    ArgumentError
        A number is less than 0.
    ConfigurationError
        There is no place for the number in the path, or `max_index` is less than `min_index`.

    Notes
    -----
    Source: org.datavec.api.split.NumberedFileInputSplit.

    Examples
    --------
    >>> list(NumberedFileInputSplit("series_%02d.csv", 8, 10))
    ['series_08.csv', 'series_09.csv', 'series_10.csv']
    """

    @checked
    def __init__(self, base_string: str, min_index: Natural, max_index: Natural) -> None:
        who = type(self).__name__
        place = _NUMBER.search(base_string)
        if place is None:
            raise ConfigurationError(f"{who}: base_string must have %d for the number, got {base_string!r}.")
        if max_index < min_index:
            raise ConfigurationError(f"{who}: max_index must be at least {min_index}, min_index, got {max_index}.")
        self._parts = base_string[: place.start()], place[0], base_string[place.end() :]
        self.min_index, self.max_index = min_index, max_index

    def __len__(self) -> int:
        return self.max_index - self.min_index + 1

    def __iter__(self) -> Iterator[str]:
        before, place, after = self._parts
        for number in range(self.min_index, self.max_index + 1):
            yield f"{before}{place % number}{after}"


class SequenceRecord(NamedTuple):
    """The numbers of one series, and where they came from."""

    numbers: np.ndarray
    """[columns, T], float64."""
    rows: list[Row]
    cells: CsvNumbers

    def check_classes(self, column: int, classes: int) -> None:
        """Raise DataError, with file, line and column, unless a column has class numbers below `classes`."""
        self.cells.check_classes(self.rows, column, self.numbers[column], classes)


class CSVSequenceRecordReader(metaclass=ExplainedType):
    """Reads series: a file is a series, its rows are time steps.

    Parameters
    ----------
    skip_lines : int
        Lines to leave out at the beginning of every file, a header for instance.
    delimiter : str
        One character.

    Attributes
    ----------
    files : tuple of str
        Their paths.
    columns : int
        Cells of every row, as of the first one of the first file.

    Raises
    ------
    ArgumentError
        `skip_lines` is less than 0.
    DataError
        `delimiter` is not one character.

    Notes
    -----
    Source: org.datavec.api.records.reader.impl.csv.CSVSequenceRecordReader. Differs: empty lines are skipped, cells may
    be quoted, and one reader may serve several iterators, since it has no position.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for number in range(2):
    ...     with open(os.path.join(folder, f"{number}.csv"), "w") as file:
    ...         _ = file.write("x,y\\n" + "0.5,2.5\\n" * (number + 1))
    >>> files = NumberedFileInputSplit(os.path.join(folder, "%d.csv"), 0, 1)
    >>> reader = CSVSequenceRecordReader(skip_lines=1).initialize(files)
    >>> len(reader.files), reader.columns, reader.sequence_record(1).numbers.tolist()
    (2, 2, [[0.5, 0.5], [2.5, 2.5]])
    """

    @checked
    def __init__(self, skip_lines: Natural = 0, delimiter: str = ",") -> None:
        check_delimiter(type(self).__name__, delimiter)
        self.skip_lines, self.delimiter = skip_lines, delimiter
        self.files: tuple[str, ...] = ()
        self.columns = 0

    @checked
    def initialize(self, split: NumberedFileInputSplit | Sequence[Path]) -> CSVSequenceRecordReader:
        """Set the files to read, in the order of the examples, and return this reader.

        Raises
        ------
        ArgumentError
            They are no paths.
        DataError
            There is none, or the first one has no rows.
        FileNotFoundError, IsADirectoryError, FormatError
            One is not there, or is no file.
        """
        who = f"{type(self).__name__}.initialize"
        files = tuple(regular_file(who, path) for path in split)
        if not files:
            raise DataError(f"{who}: expected files, got none. Name the file of each series.")
        self.columns = len(self._rows(files[0], 1)[0].cells)
        self.files = files
        return self

    def check_initialized(self, who: str) -> None:
        """Raise ConfigurationError unless there are files to read."""
        if not self.files:
            raise ConfigurationError(f"{who}: expected a reader with files, got one without. Call initialize(files).")

    def sequence_record(self, number: int) -> SequenceRecord:
        """Return the series of one file.

        Raises
        ------
        ConfigurationError
            There are no files yet.
        DataError
            There is no file of that number; it has no rows, or a cell is no finite number.
        FormatError
            The file is no text in UTF-8, or a row has another number of cells than the first of the first file.
        """
        who = type(self).__name__
        self.check_initialized(who)
        check_count(f"{who}.sequence_record", "number", number, 0, len(self.files) - 1)
        rows = self._rows(self.files[number], sys.maxsize)
        cells = CsvNumbers(f"{who}: '{self.files[number]}'", self.columns, start=self.skip_lines)
        return SequenceRecord(cells.table(rows)[0], rows, cells)

    def _rows(self, path: str, count: int) -> list[Row]:
        source = CsvRows(type(self).__name__, path, self.delimiter)
        rows, _ = source.read(source.skip(self.skip_lines), count)
        if not rows:
            raise DataError(
                f"{type(self).__name__}: '{path}': expected rows, got none behind line {self.skip_lines}. Leave out "
                "series without time steps."
            )
        return rows
