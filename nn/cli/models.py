"""Networks from files of every kind, and their outputs: the one place where the commands read a model."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nd import ConfigurationError
from nd.checks import check_choice
from nd.files.reading import opening, read_at_most

from ..conf.nodes import sources_of
from ..conf.stacking import input_type_of
from ..files.exchange import read_array_file
from ..files.kinds import ARRAYS, KERAS, ONNX, kind_of_file
from ..files.serializer import load, restore_normalizer
from ..layers.base import LayerConf
from ..networks.network import Network

if TYPE_CHECKING:
    from nd.dataset.normalizers.any_normalizer import AnyNormalizer

    from ..conf.nodes import NetworkConfiguration
    from ..terms.input_type import InputType

_MOST_JSON = 64 << 20  # bytes
_CONFIGURED = (*ARRAYS, KERAS)


def add_model(parser: argparse.ArgumentParser) -> None:
    """Declare the model and its configuration, which every command reads."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="a model zip of Deeplearning4j, .npz, .safetensors, .onnx, or of Keras .keras and .h5",
    )
    parser.add_argument(
        "--configuration",
        metavar="FILE",
        help="of weights of Keras, their model's JSON; of .npz and .safetensors without it, Deeplearning4j's",
    )


def add_lenient(parser: argparse.ArgumentParser) -> None:
    """Declare the option that `load_network` looks at."""
    parser.add_argument(
        "--lenient", action="store_true", help="go on where what is not supported does not change the outputs"
    )


def load_network(arguments: argparse.Namespace) -> Network:
    """Read a network of either kind from a file of any kind but Caffe's.

    Raises
    ------
    ConfigurationError
        --configuration does not go with the kind of file, or is no text; errors of the kind's reader.
    """
    path, strict = arguments.model, not getattr(arguments, "lenient", False)
    if arguments.configuration is None:
        return load(path, strict=strict)
    kind = kind_of_file(path)
    if kind in ARRAYS:
        return read_array_file(path, True, strict, f".{kind}", _text(arguments))
    check_configuration(arguments, kind)
    return load(path, strict=strict, configuration=arguments.configuration)


def check_configuration(arguments: argparse.Namespace, kind: str) -> None:
    """Raise ConfigurationError where --configuration is given for a file that has it inside."""
    if arguments.configuration is not None and kind not in _CONFIGURED:
        raise ConfigurationError(
            f"{arguments.command}: --configuration goes with .npz, .safetensors and weights of Keras, got it with "
            f"{arguments.model!r}. Leave it out."
        )


def _text(arguments: argparse.Namespace) -> str:
    """Return the configuration of a file of arrays."""
    with opening(arguments.command, arguments.configuration) as file:
        content = read_at_most(file, _MOST_JSON)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{arguments.command}: --configuration must be a text of JSON, got {arguments.configuration!r}: {error}. "
            "Give what net.conf.to_json() returns."
        ) from error


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
    """Tell whether a model's file is one of named arrays, of ONNX or Keras: those have a network alone."""
    return kind_of_file(path) in (*_CONFIGURED, ONNX)


def normalizer_in(path: str) -> AnyNormalizer | None:
    """Return the normalizer in a model's file, None where there is none."""
    return None if has_no_zip(path) else restore_normalizer(path)


def type_of_input(conf: NetworkConfiguration, number: int) -> InputType | None:
    """Return the type of an input that one of its readers says; None where none does."""
    readers = [(node.conf, node.preprocessor) for node in conf.nodes if -1 - number in sources_of(node)]
    types = (input_type_of(layer, before) for layer, before in readers if isinstance(layer, LayerConf))
    return next((kind for kind in types if kind is not None), None)
