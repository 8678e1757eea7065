"""What is converted: a file of any kind, told by its content, as a network and as what runs it for a proof."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nd import ConfigurationError, NdError

from ..files.kinds import CAFFEMODEL, HDF5, KERAS, ONNX, PROTOTXT, ZIP, kind_of_file
from ..networks.network import Network
from .models import check_configuration, load_network, normalizer_in
from .proof.sides import NetworkSide, Side

if TYPE_CHECKING:
    from nd.dataset.normalizers.any_normalizer import AnyNormalizer

_WEIGHTS = (CAFFEMODEL, HDF5, KERAS)  # names of blobs may be like those of Keras


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


def read_source(arguments: argparse.Namespace) -> ReadModel:
    """Read MODEL.

    Raises
    ------
    ConfigurationError
        An option is missing, or does not go with the kind of file; errors of the kind's reader.
    """
    path, kind = arguments.model, kind_of_file(arguments.model)
    _check_options(arguments, kind)
    if arguments.prototxt is not None:
        return _caffe(arguments)
    network = load_network(arguments)
    if kind == ONNX:
        from .proof.onnx_side import OnnxSide  # which other kinds do not need

        return ReadModel(network, lambda: OnnxSide(path))
    if kind == KERAS:
        from .proof.keras_side import side_of_keras

        return ReadModel(network, lambda: side_of_keras(path, network, arguments.configuration))
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
            f"convert: a file of HDF5 must hold a model of Keras, or be weights of Caffe with --prototxt FILE, got "
            f"{path!r}, neither."
        )
    if kind == CAFFEMODEL and arguments.prototxt is None:
        raise ConfigurationError(f"convert: weights of Caffe, {path!r}, need the net, got none. Add --prototxt FILE.")
    if arguments.prototxt is not None and kind not in _WEIGHTS:
        raise ConfigurationError(
            f"convert: --prototxt goes with weights of Caffe, got it with {path!r}, another kind of file. Leave it out."
        )
    if arguments.prototxt is not None and arguments.configuration is not None:
        raise ConfigurationError(
            "convert: --configuration is for weights of Keras and arrays, --prototxt for weights of Caffe, got both. "
            "Leave one out."
        )
    check_configuration(arguments, kind)


def _caffe(arguments: argparse.Namespace) -> ReadModel:
    """Read a net with its weights; its graph has the same outputs."""
    from ..caffe.net import Net  # which needs packages of its own
    from ..caffe.to_graph import convert_net
    from .proof.caffe_side import CaffeSide

    net = Net(arguments.prototxt, weights=arguments.model, phase="TEST")
    graph, notes = convert_net(net)
    return ReadModel(graph, lambda: CaffeSide(net, graph.conf.input_names), None, notes)


def _normalizer(path: str) -> AnyNormalizer | None:
    try:
        return normalizer_in(path)
    except NdError as error:
        warnings.warn(f"{path}: its normalizer is left out, {error}", stacklevel=1)
        return None
