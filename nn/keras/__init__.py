"""Files of Keras 1, 2 and 3, read and written: `nn.load("model.keras")`, `net.save("m.keras")`. Extra: ``[keras]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .into.registered import register_layer as register_layer
    from .loading import graph_of as graph_of
    from .loading import keras_graph_of as keras_graph_of
    from .model import KerasLayer as KerasLayer
    from .model import Weight as Weight
    from .out.writing import write_keras as write_keras
else:
    _NAMES = {
        "into.registered": "register_layer",
        "loading": "graph_of keras_graph_of",
        "model": "KerasLayer Weight",
        "out.writing": "write_keras",
    }
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(" ".join(_NAMES.values()).split())
