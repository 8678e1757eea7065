"""What a kind of file has no place for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..files.exchange import is_array_file
from ..layers.base import LayerConf
from .proof.sides import name_of_node

if TYPE_CHECKING:
    from ..networks.network import Network

_OF_TRAINING = {
    "drop_out": "dropout",
    "weight_noise": "weight noise",
    "regularization": "penalties",
    "constraints": "constraints",
}
"""Field of a layer that training alone uses -> what it is called."""
_NOISE = ("AlphaDropout", "DropoutLayer", "GaussianDropout", "GaussianNoise", "SpatialDropout")


def left_out(network: Network, path: str, is_onnx: bool, normalizer: object) -> list[str]:
    """Return what the network has, or its file, and a file of that kind has not, in words.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    path : str
        Of the file that is written.
    is_onnx : bool
        Whether that is one of ONNX.
    normalizer : normalizer of `nd.dataset` or None
    """
    lost = []
    if normalizer is not None and (is_onnx or is_array_file(path)):
        lost.append(f"the normalizer, {type(normalizer).__name__}")
    return lost + _training(network) if is_onnx else lost


def _training(network: Network) -> list[str]:
    """Return what only training needs: ONNX says how a network computes."""
    state = network.updater_state().shape[1]
    lost = [f"the updater's state, {state:,} numbers"] if state else []
    if network.iteration_count:
        lost.append(f"the counts of iterations and epochs, {network.iteration_count:,} and {network.epoch_count:,}")
    layers = [
        (name_of_node(node), node.conf.innermost) for node in network.conf.nodes if isinstance(node.conf, LayerConf)
    ]
    for field, what in _OF_TRAINING.items():
        names = [name for name, layer in layers if getattr(layer, field, None)]
        if field == "drop_out":
            names += [name for name, layer in layers if type(layer).__name__ in _NOISE and name not in names]
        if names:
            lost.append(f"{what} of {', '.join(names)}")
    if any(classes.names for classes in network.classes_of):
        lost.append("the names of the classes")
    return [*lost, "updaters and losses"]
