"""Networks from files of every kind, and their outputs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nd import ConfigurationError
from nd.checks import check_choice

from ..conf.nodes import sources_of
from ..conf.stacking import input_type_of
from ..files.kinds import ARRAYS, ONNX, kind_of_file
from ..files.serializer import load, restore_normalizer
from ..layers.base import LayerConf
from ..networks.network import Network

if TYPE_CHECKING:
    from nd.dataset.normalizers.any_normalizer import AnyNormalizer

    from ..conf.nodes import NetworkConfiguration
    from ..terms.input_type import InputType


def add_lenient(parser: argparse.ArgumentParser) -> None:
    """Declare the option that `load_network` looks at."""
    parser.add_argument(
        "--lenient", action="store_true", help="go on where what is not supported does not change the outputs"
    )


def load_network(arguments: argparse.Namespace) -> Network:
    """Read a network of either kind from a model zip or a file of arrays; errors as theirs."""
    path, lenient = arguments.model, getattr(arguments, "lenient", False)
    return load(path, strict=not lenient)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Declare the option that `output_number` looks at."""
    parser.add_argument("--output", metavar="NAME", help="of a graph with several outputs, the one that is meant")


def output_number(arguments: argparse.Namespace, network: Network) -> int:
    """Return the number of the output that is meant.

    Raises
    ------
    ConfigurationError, ChoiceError
        The network has several inputs, which rows of data do not have; several outputs, and none is named; or none of
        that name.
    """
    who, inputs = arguments.command, network.conf.input_names
    if len(inputs) > 1:
        raise ConfigurationError(
            f"{who}: --csv and --data have one array of features, the model has the inputs {list(inputs)}. Use it from "
            "Python, with a MultiDataSet."
        )
    outputs = [network.conf.nodes[number].name for number in network.conf.output_nodes]
    if arguments.output is None and len(outputs) > 1:
        raise ConfigurationError(f"{who}: --output must say which of the outputs {outputs} is meant, got none.")
    return 0 if arguments.output is None else outputs.index(check_choice(who, "--output", arguments.output, outputs))


def has_no_zip(path: str) -> bool:
    """Tell whether a model's file is one of named arrays or of ONNX: those have a network alone."""
    return kind_of_file(path) in (*ARRAYS, ONNX)


def normalizer_in(path: str) -> AnyNormalizer | None:
    """Return the normalizer in a model's file, None where there is none."""
    return None if has_no_zip(path) else restore_normalizer(path)


def type_of_input(conf: NetworkConfiguration, number: int) -> InputType | None:
    """Return the type of an input that one of its readers says; None where none does."""
    readers = [(node.conf, node.preprocessor) for node in conf.nodes if -1 - number in sources_of(node)]
    types = (input_type_of(layer, before) for layer, before in readers if isinstance(layer, LayerConf))
    return next((kind for kind in types if kind is not None), None)
