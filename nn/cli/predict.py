"""``python -m nn predict``: a model's outputs for rows of data, as CSV."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import nd
from nd import ConfigurationError
from nd.dataset import DataSetIterator
from nd.files.writing import FileKind, replacing

from ..networks.network import Network
from .data import add_data_arguments, iterator_of
from .models import add_lenient, add_output, load_network, output_number

HELP = "Write a model's outputs for every example to a CSV file."
EXAMPLES = (
    "model.zip --csv new.csv --out predictions.csv",
    "lenet.zip --data mnist --classes | head",
    "model.npz --csv labelled.csv --label -1      where the last column is no feature",
    "graph.zip --csv new.csv --output age         of a graph with several outputs",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_data_arguments(parser, labels=False)
    parser.add_argument("--out", metavar="FILE", help="written whole or not at all; without it, the terminal")
    parser.add_argument("--classes", action="store_true", help="write the most probable class and its probability")
    add_output(parser)
    add_lenient(parser)


def run(arguments: argparse.Namespace) -> None:
    """Predict."""
    network = load_network(arguments)
    output = output_number(arguments, network)
    names = network.classes_of[output].names
    data = iterator_of(arguments, None)
    with _destination(arguments.out) as out:
        writer = csv.writer(out, lineterminator="\n")
        for number, rows in enumerate(_predicted(network, output, data)):
            if number == 0:
                columns = [f"output_{column}" for column in range(len(rows[0]))]
                writer.writerow(["class", "probability"] if arguments.classes else columns)
            writer.writerows([_best(row, names) for row in rows] if arguments.classes else rows)


def _predicted(network: Network, output: int, data: DataSetIterator) -> Iterator[list[list[float]]]:
    """Yield an output of every minibatch, one row an example; in the labels' unit where that was normalized."""
    normalizer: Any = data.pre_processor
    reverts = normalizer is not None and normalizer.is_fit_label()
    for batch in data:
        outputs = nd.to_host(network.engine.outputs_of(batch)[output])
        outputs = normalizer.revert_labels(outputs) if reverts else outputs
        yield outputs.reshape(outputs.shape[0], -1).tolist()


def _best(row: list[float], names: Sequence[str] | None) -> tuple[int | str, float]:
    """Return the most probable class, by its name where there is one, and its probability."""
    best = max(row)
    number = row.index(best)
    return names[number] if names and len(names) == len(row) else number, best


@contextmanager
def _destination(path: str | None) -> Iterator[TextIO]:
    if path is None:
        if sys.stdout is None:
            raise ConfigurationError("predict: --out must be given where the output is closed, got neither.")
        yield sys.stdout
        return
    with replacing("predict", path, FileKind("a table as text", (".csv", ".txt"))) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()
