"""The data that a command runs a model on: options, and iterators from them."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence

from nd import ConfigurationError
from nd.dataset import (
    CsvDataSetIterator,
    DataSetIterator,
    DigitsDataSetIterator,
    IrisDataSetIterator,
    MnistDataSetIterator,
)
from nd.dataset.class_labels import numbers_as_names
from nd.dataset.csv_rows import CsvRows, Row

from .models import normalizer_in

BUNDLED: dict[str, Callable[[int], DataSetIterator]] = {
    "digits": lambda batch: DigitsDataSetIterator(batch, train=False),
    "iris": IrisDataSetIterator,
    "mnist": lambda batch: MnistDataSetIterator(batch, train=False),
}
"""Name -> iterator of so many examples; test sets where there are two."""


def add_data_arguments(parser: argparse.ArgumentParser, labels: bool, required: bool = True, batch: int = 256) -> None:
    """Declare the options for the data's source; with `labels`, also those for the labels' columns."""
    source = parser.add_mutually_exclusive_group(required=required)
    source.add_argument(
        "--csv",
        metavar="FILE",
        help="rows of numbers, behind a header or not; labels may be text; read row by row, so it may be large",
    )
    source.add_argument("--data", choices=sorted(BUNDLED), help="a data set by name (of mnist and digits the test set)")
    parser.add_argument("--batch", type=int, default=batch, metavar="N", help="examples at once (default %(default)s)")
    rows = parser.add_argument_group("rows of a CSV file")
    rows.add_argument("--skip-lines", type=int, default=0, metavar="N", help="lines to leave out at the beginning")
    rows.add_argument(
        "--delimiter", type=_delimiter, default=",", metavar="C", help="between cells (default: a comma; ';' in quotes)"
    )
    rows.add_argument(
        "--label",
        type=_column,
        metavar="COLUMN",
        help=("the label's column" if labels else "a column to leave out")
        + ": its name in the first line, or its number from 0; negative ones count from the end",
    )
    rows.add_argument(
        "--label-to",
        type=_column,
        metavar="COLUMN",
        help="the last of several label columns, which are one-hot, or numbers",
    )
    parser.add_argument(
        "--no-normalizer", action="store_true", help="take the data as they are, even if a normalizer is in the model"
    )


def iterator_of(
    arguments: argparse.Namespace, classes: int | None, names: Sequence[str] | None = None
) -> DataSetIterator:
    """Return the data, through the normalizer in the model's file.

    `classes` is the number of classes for labels that are class numbers, None for labels that are numbers; `names` are
    those of the classes, for labels that are text, where the model knows them.
    """
    data = _rows(arguments, classes, names) if arguments.csv else BUNDLED[arguments.data](arguments.batch)
    normalizer = None if arguments.no_normalizer else normalizer_in(arguments.model)
    if normalizer is not None:
        data.set_pre_processor(normalizer)
    return data


def _rows(arguments: argparse.Namespace, classes: int | None, names: Sequence[str] | None) -> DataSetIterator:
    if arguments.label is None and arguments.label_to is not None:
        raise ConfigurationError("--label-to: needs --label, the first label column, got none.")
    label, skip = arguments.label, arguments.skip_lines
    header, first = _first_rows(arguments)
    if header is not None and not isinstance(label, str) and not isinstance(arguments.label_to, str):
        print(f"{arguments.csv}: line {header.line} is taken as a header", file=sys.stderr)
        skip = header.line
    labels = {} if label is None else {"label_index": label, "num_classes": classes}
    named = bool(classes and names and numbers_as_names(names))  # by numbers, which are then names in the file too
    if label is not None and arguments.label_to is None and (named or _is_text(label, header, first)):
        labels = {"label_index": label, "classes": names}
    elif labels and classes is None:
        labels |= {"regression": True, "label_index_to": arguments.label_to}
    return CsvDataSetIterator(arguments.csv, arguments.batch, delimiter=arguments.delimiter, skip_lines=skip, **labels)


def _first_rows(arguments: argparse.Namespace) -> tuple[Row | None, Row | None]:
    """Return the header, None where the first row has numbers or the second has none, and the first row of data."""
    source = CsvRows("CsvDataSetIterator", arguments.csv, arguments.delimiter)
    rows, _ = source.read(source.skip(max(arguments.skip_lines, 0)), 2)
    if isinstance(arguments.label, str) or isinstance(arguments.label_to, str):  # which asks for one
        return (rows[0] if rows else None), (rows[1] if len(rows) > 1 else None)
    if len(rows) > 1 and not any(map(_is_number, rows[0].cells)) and any(map(_is_number, rows[1].cells)):
        return rows[0], rows[1]
    return None, rows[0] if rows else None


def _is_text(label: int | str, header: Row | None, first: Row | None) -> bool:
    """Tell whether the first label is text; faults of the column are left to the iterator."""
    if first is None:
        return False
    names = [] if header is None else [name.strip() for name in header.cells]
    column = names.index(label) if isinstance(label, str) and label in names else label
    fits = isinstance(column, int) and -len(first.cells) <= column < len(first.cells)
    return fits and not _is_number(first.cells[column])  # type: ignore[index]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


_SPELLED = (
    (r"pass skip_lines=(\d+)", r"add --skip-lines \1"),
    (r"pass delimiter=('[^']*')", r"add --delimiter \1"),
    (r" Give the texts of all with classes=\[\.\.\.\]\.", ""),
    ("label_index_to", "--label-to"),
    (r"label_index=(\d+)", r"--label \1"),
    ("label_index", "--label"),
    ("skip_lines", "--skip-lines"),
    ("CsvDataSetIterator: batch", "--batch"),
    ("CsvDataSetIterator: delimiter", "--delimiter"),
    ("CsvDataSetIterator: ", ""),
)
"""Words of the CSV reader's errors, for Python -> those of the command line, in this order."""


def in_words_of_the_command_line(message: str) -> str:
    """Return a message with options as one types them in a shell."""
    if message.startswith("CsvDataSetIterator"):
        for python, shell in _SPELLED:
            message = re.sub(python, shell, message)
    return message


def _delimiter(text: str) -> str:
    """A tab as one types it."""
    return "\t" if text == "\\t" else text


def _column(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text
