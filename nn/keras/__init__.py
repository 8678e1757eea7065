"""Files of Keras 1, 2 and 3, read and written: `nn.load("m.h5")`, `nn.load("m.keras")`. Extra: ``[keras]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nd.files.reading import Source
from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from ..networks.network import Network
    from .into.registered import register_layer as register_layer
    from .model import KerasLayer as KerasLayer
    from .model import Weight as Weight
else:
    _NAMES = {"into.registered": "register_layer", "model": "KerasLayer Weight"}
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(["graph_of", *" ".join(_NAMES.values()).split()])


def graph_of(source: Source, configuration: Any = None) -> Network:
    """Return a model of Keras as a network that computes the same: a MultiLayerNetwork where it is a chain.

    Parameters and errors as `nn.keras.reading.read_keras`; a ConfigurationError says which layers have no counterpart.
    """
    from .into.recognition import network_of
    from .reading import read_keras

    return network_of(read_keras(source, configuration))
