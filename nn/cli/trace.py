"""``python -m nn trace``: one training step of a model, op by op."""

from __future__ import annotations

import argparse

import nd
from nd.dataset import DataSet, MultiDataSet
from nd.random import Random, drawing

from ..networks.network import Network
from .data import add_data_arguments, iterator_of
from .models import add_lenient, load_network
from .random_features import SEED, random_features

HELP = "Trace a training step of a model: every op with its layer, shapes and time, as a table, a page, or a file."
EXAMPLES = (
    "model.zip                                   on random numbers",
    "lenet.zip --data mnist --batch 64 --html trace.html",
    "model.zip --csv train.csv --label species --save before.npz",
    "model.zip --csv train.csv --label species --compare before.npz",
)
_REMEDY = "Give data: --csv FILE --label COLUMN."  # where random numbers cannot do


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_data_arguments(parser, labels=True, required=False, batch=64)
    parser.add_argument("--recorded", action="store_true", help="time the calls of the recording that fit replays")
    parser.add_argument("--html", metavar="FILE", help="write a page for browsers in the place of the table")
    parser.add_argument("--save", metavar="FILE", help="write the trace, .npz, for --compare")
    parser.add_argument("--compare", metavar="FILE", help="say where the numbers part from those of a saved trace")
    parser.add_argument(
        "--tolerance", type=float, default=0.0, metavar="T", help="of --compare, relative (default %(default)s)"
    )
    add_lenient(parser)


def run(arguments: argparse.Namespace) -> None:
    """Trace."""
    network = load_network(arguments)
    if arguments.csv or arguments.data:
        classes = network.classes_of[0]
        data: DataSet | MultiDataSet = next(iter(iterator_of(arguments, classes.columns or None, classes.names)))
    else:
        data = random_minibatch(network, arguments.batch)
    trace = network.trace(data, recorded=arguments.recorded)
    if arguments.save:
        trace.save(arguments.save)
    other = None
    if arguments.compare:
        from ..trace import load  # which few calls need

        other = load(arguments.compare)
        difference = trace.compare(other, arguments.tolerance)
        print("no difference" if difference is None else difference)
    if arguments.html:
        trace.to_html(arguments.html, other)
        print(f"{arguments.html}: {len(trace.ops)} ops, {1e3 * trace.seconds:.2f} ms")
    elif other is None:
        print(trace)


def random_minibatch(network: Network, examples: int) -> DataSet | MultiDataSet:
    """Return features of random numbers, the same for the same network, and the outputs of the next ones as labels.

    Raises
    ------
    ConfigurationError
        The shape of an input is not known.
    """
    inputs = range(len(network.conf.input_names))
    with drawing(Random(SEED)):
        features = [random_features("trace", network, number, examples, _REMEDY) for number in inputs]
    outputs = network.engine.predicted(features)
    labels = [nd.concat([output[1:, ...], output[:1, ...]]) for output in outputs]
    one = len(features) == len(labels) == 1
    return DataSet(features[0], labels[0]) if one else MultiDataSet(features, labels)
