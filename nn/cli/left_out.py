"""What a kind of file has no place for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.files.reading import ending_of

from ..files.exchange import is_array_file
from ..files.serializer import KERAS_ENDING, ONNX_ENDING
from ..layers.base import LayerConf

if TYPE_CHECKING:
    from ..networks.network import Network

_OF_TRAINING = {
    "drop_out": "dropout",
    "weight_noise": "weight noise",
    "regularization": "penalties",
    "constraints": "constraints",
}
"""Field of a layer that training alone uses -> what it is called."""
_NETWORKS_ALONE = (KERAS_ENDING, ONNX_ENDING)
"""Endings of files that hold a network, and nothing of its data and its training so far."""
_NOISE = ("AlphaDropout", "DropoutLayer", "GaussianDropout", "GaussianNoise", "SpatialDropout")


def left_out(network: Network, path: str, normalizer: object) -> list[str]:
    """Return what the network has, or its file, and a file of that kind has not, in words.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    path : str
        Of the file that is written: its ending says the kind.
    normalizer : normalizer of `nd.dataset` or None
    """
    ending, lost = ending_of(path), []
    if normalizer is not None and (ending in _NETWORKS_ALONE or is_array_file(path)):
        lost.append(f"the normalizer, {type(normalizer).__name__}")
    if ending in _NETWORKS_ALONE:
        lost += _progress(network)
    if ending == ONNX_ENDING:
        lost += [*_training(network), "updaters and losses"]
    if ending in _NETWORKS_ALONE and any(classes.names for classes in network.classes_of):
        lost.append("the names of the classes")
    return lost


def _progress(network: Network) -> list[str]:
    """Return how far training has come."""
    state = network.updater_state().shape[1]
    lost = [f"the updater's state, {state:,} numbers"] if state else []
    if network.iteration_count:
        lost.append(f"the counts of iterations and epochs, {network.iteration_count:,} and {network.epoch_count:,}")
    return lost


def _training(network: Network) -> list[str]:
    """Return what only training needs: ONNX says how a network computes."""
    lost = []
    layers = [(node.own_name, node.conf.innermost) for node in network.conf.nodes if isinstance(node.conf, LayerConf)]
    for field, what in _OF_TRAINING.items():
        names = [name for name, layer in layers if getattr(layer, field, None)]
        if field == "drop_out":
            names += [name for name, layer in layers if type(layer).__name__ in _NOISE and name not in names]
        if names:
            lost.append(f"{what} of {', '.join(names)}")
    return lost
