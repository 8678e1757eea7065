"""What is converted: a file of any kind, told by its content, as a network and as what runs it for a proof."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nd import ConfigurationError, NdError
from nd.files.reading import opening, read_at_most

from ..files.exchange import read_array_file
from ..files.kinds import ARRAYS, CAFFEMODEL, HDF5, ONNX, PROTOTXT, ZIP, kind_of_file
from ..networks.network import Network
from .models import load_network, normalizer_in
from .proof.sides import NetworkSide, Side

if TYPE_CHECKING:
    from nd.dataset.normalizers.any_normalizer import AnyNormalizer

_MOST_JSON = 64 << 20  # bytes
_WEIGHTS = (CAFFEMODEL, HDF5)


@dataclass(frozen=True)
class ReadModel:
    """A model that has been read.

    Attributes
    ----------
    network : MultiLayerNetwork or ComputationGraph
    side : callable
        Returns what runs the file itself, before another one takes its place.
    normalizer : normalizer of `nd.dataset` or None
    notes : tuple of str
        What the network does not have as the file has it.
    """

    network: Network
    side: Callable[[], Side]
    normalizer: AnyNormalizer | None = None
    notes: tuple[str, ...] = ()


def add_source_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say more about MODEL."""
    parser.add_argument("--prototxt", metavar="FILE", help="of weights of Caffe, the net; that for deployment")
    parser.add_argument(
        "--configuration", metavar="FILE", help="of .npz and .safetensors without it, Deeplearning4j's JSON"
    )


def read_source(arguments: argparse.Namespace) -> ReadModel:
    """Read MODEL.

    Raises
    ------
    ConfigurationError
        An option is missing, or does not go with the kind of file; errors of the kind's reader.
    """
    path, kind = arguments.model, kind_of_file(arguments.model)
    _check_options(arguments, kind)
    if kind in _WEIGHTS:
        return _caffe(arguments)
    if arguments.configuration is not None:
        network: Network = _arrays(arguments, kind)
    else:
        network = load_network(arguments)
    if kind == ONNX:
        from .proof.onnx_side import OnnxSide  # which other kinds do not need

        return ReadModel(network, lambda: OnnxSide(path))
    return ReadModel(network, lambda: NetworkSide(network), _normalizer(path) if kind == ZIP else None)


def _check_options(arguments: argparse.Namespace, kind: str) -> None:
    path = arguments.model
    if kind == PROTOTXT:
        raise ConfigurationError(
            f"convert: MODEL must be the weights of a net of Caffe, got its text {path!r}. Give the .caffemodel, and "
            "the text by --prototxt."
        )
    if kind == HDF5 and arguments.prototxt is None:
        raise ConfigurationError(
            f"convert: models of Keras are not read, got a file of HDF5, {path!r}. Weights of Caffe need --prototxt "
            "FILE."
        )
    if kind == CAFFEMODEL and arguments.prototxt is None:
        raise ConfigurationError(f"convert: weights of Caffe, {path!r}, need the net, got none. Add --prototxt FILE.")
    if arguments.prototxt is not None and kind not in _WEIGHTS:
        raise ConfigurationError(
            f"convert: --prototxt goes with weights of Caffe, got it with {path!r}, another kind of file. Leave it out."
        )
    if arguments.configuration is not None and kind not in ARRAYS:
        raise ConfigurationError(
            f"convert: --configuration goes with .npz and .safetensors, got it with {path!r}. Leave it out."
        )


def _caffe(arguments: argparse.Namespace) -> ReadModel:
    """Read a net with its weights; its graph has the same outputs."""
    from ..caffe.net import Net  # which needs packages of its own
    from ..caffe.to_graph import convert_net
    from .proof.caffe_side import CaffeSide

    net = Net(arguments.prototxt, weights=arguments.model, phase="TEST")
    graph, notes = convert_net(net)
    return ReadModel(graph, lambda: CaffeSide(net, graph.conf.input_names), None, notes)


def _arrays(arguments: argparse.Namespace, kind: str) -> Network:
    with opening("convert", arguments.configuration) as file:
        content = read_at_most(file, _MOST_JSON)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"convert: --configuration must be a text of JSON, got {arguments.configuration!r}: {error}. Give what "
            "net.conf.to_json() returns."
        ) from error
    strict: Any = not arguments.lenient
    return read_array_file(arguments.model, True, strict, f".{kind}", text)


def _normalizer(path: str) -> AnyNormalizer | None:
    try:
        return normalizer_in(path)
    except NdError as error:
        warnings.warn(f"{path}: its normalizer is left out, {error}", stacklevel=1)
        return None
