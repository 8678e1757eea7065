"""The data that a command runs a model on: options, and iterators from them."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from nd import ConfigurationError
from nd.dataset import (
    CsvDataSetIterator,
    DataSetIterator,
    DigitsDataSetIterator,
    IrisDataSetIterator,
    MnistDataSetIterator,
)

from .models import normalizer_in

BUNDLED: dict[str, Callable[[int], DataSetIterator]] = {
    "digits": lambda batch: DigitsDataSetIterator(batch, train=False),
    "iris": IrisDataSetIterator,
    "mnist": lambda batch: MnistDataSetIterator(batch, train=False),
}
"""Name -> iterator of so many examples; test sets where there are two."""


def add_data_arguments(parser: argparse.ArgumentParser, labels: bool) -> None:
    """Declare where the data come from; with `labels`, also where theirs are."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--csv", metavar="FILE", help="rows of numbers; read row by row, so it may be large")
    source.add_argument("--data", choices=sorted(BUNDLED), help="a data set by name (of mnist and digits the test set)")
    parser.add_argument("--batch", type=int, default=256, metavar="N", help="examples at once (default %(default)s)")
    rows = parser.add_argument_group("rows of a CSV file")
    rows.add_argument("--skip-lines", type=int, default=0, metavar="N", help="lines to leave out at the beginning")
    rows.add_argument("--delimiter", default=",", metavar="C", help="between cells (default: a comma)")
    rows.add_argument(
        "--label",
        type=_column,
        metavar="COLUMN",
        help=("the label's column" if labels else "a column of numbers to leave out")
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


def iterator_of(arguments: argparse.Namespace, classes: int | None) -> DataSetIterator:
    """Return the data, through the normalizer in the model's file.

    `classes` is the number of classes for labels that are class numbers, None for labels that are numbers.
    """
    found = _rows(arguments, classes) if arguments.csv else BUNDLED[arguments.data](arguments.batch)
    normalizer = None if arguments.no_normalizer else normalizer_in(arguments.model)
    if normalizer is not None:
        found.set_pre_processor(normalizer)
    return found


def _rows(arguments: argparse.Namespace, classes: int | None) -> DataSetIterator:
    if arguments.label is None and arguments.label_to is not None:
        raise ConfigurationError("--label-to: needs --label, the first label column, got none.")
    labels = {} if arguments.label is None else {"label_index": arguments.label, "num_classes": classes}
    if labels and classes is None:
        labels |= {"regression": True, "label_index_to": arguments.label_to}
    return CsvDataSetIterator(
        arguments.csv, arguments.batch, delimiter=arguments.delimiter, skip_lines=arguments.skip_lines, **labels
    )


def _column(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text
