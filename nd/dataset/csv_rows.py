"""Rows of comma-separated files, read from any place on."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from backends.errors import DataError, FormatError
from nd.files.reading import checked_path, opening

_LONGEST_LINE = 1 << 24  # bytes
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Mark(NamedTuple):
    """Place between two rows: the bytes before it, and the lines before it."""

    offset: int = 0
    line: int = 0


class Row(NamedTuple):
    """The cells of a row, and the number of the line that it begins in, from 1."""

    line: int
    cells: list[str]


class CsvRows:
    """Rows of a file in UTF-8, whose quoted cells may hold delimiters and line ends. Empty lines are no rows.

    The file is open only while it is read. DataError unless the delimiter is one character.
    """

    def __init__(self, who: str, path: str | os.PathLike[str], delimiter: str) -> None:
        self._path, self._delimiter = checked_path(who, path), delimiter
        self._who = f"{who}: '{self._path}'"
        check_delimiter(who, delimiter)

    def size(self) -> int:
        """Return the file's length in bytes."""
        return os.stat(self._path).st_size

    def skip(self, lines: int) -> Mark:
        """Return the place behind the first `lines` lines; raise DataError if there are fewer."""
        with opening(self._who, self._path) as stream:
            source = _Lines(self._who, stream, Mark())
            for _ in range(lines):
                if next(source, None) is None:
                    raise DataError(f"{self._who}: skip_lines must be at most {source.mark.line}, got {lines}.")
            return source.mark

    def read(self, mark: Mark, count: int) -> tuple[list[Row], Mark]:
        """Return the next `count` rows behind `mark`, fewer at the end, and the place behind them.

        FormatError where the file is not text in UTF-8, or its quotes do not fit; OSError where it cannot be read.
        """
        rows: list[Row] = []
        with opening(self._who, self._path) as stream:
            stream.seek(mark.offset)
            source = _Lines(self._who, stream, mark)
            reader = csv.reader(source, delimiter=self._delimiter, strict=True)
            while len(rows) < count:
                line = source.mark.line + 1
                try:
                    cells = next(reader, None)
                except csv.Error as error:
                    raise FormatError(f"{self._who}: line {line}: expected cells, got: {error}.") from error
                if cells is None:
                    break
                mark = source.mark
                if len(cells) > 1 or (cells and cells[0].strip()):
                    rows.append(Row(line, cells))
        return rows, mark


def check_delimiter(who: str, delimiter: str) -> None:
    """Raise DataError unless it is one character that may stand between cells."""
    try:
        csv.reader([], delimiter=delimiter)
    except (TypeError, ValueError) as error:
        raise DataError(f"{who}: delimiter must be one character, got {delimiter!r} ({error}).") from error


class _Lines(Iterator[str]):
    """Lines of a binary stream; the csv module takes no more of them than the row needs that is asked for."""

    def __init__(self, who: str, stream: BinaryIO, mark: Mark) -> None:
        self._who, self._stream, self.mark = who, stream, mark

    def __next__(self) -> str:
        raw = self._stream.readline(_LONGEST_LINE + 1)
        if not raw:
            raise StopIteration
        number = self.mark.line + 1
        if len(raw) > _LONGEST_LINE:
            raise FormatError(f"{self._who}: line {number}: expected at most {_LONGEST_LINE} bytes, got more.")
        text = raw.removeprefix(_BYTE_ORDER_MARK) if self.mark.offset == 0 else raw
        self.mark = Mark(self.mark.offset + len(raw), number)
        try:
            return text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(f"{self._who}: line {number}: expected text in UTF-8, got {error.reason}.") from error
