"""Files of Keras 1, 2 and 3, read and written: `nn.load("model.keras")`. Extra: ``[keras]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.files.reading import Source

if TYPE_CHECKING:
    from ..networks.network import Network


def keras_graph_of(source: Source, configuration: Source | None = None, isolated: bool = True) -> Network:
    """Return a model of Keras as a network that computes the same: a MultiLayerNetwork where it is a chain.

    Parameters and errors as `nn.keras.reading.read_keras`; a ConfigurationError says which layers have no counterpart.
    """
    from .into.recognition import network_of
    from .reading import read_keras

    return network_of(read_keras(source, configuration, isolated))


graph_of = keras_graph_of
"""The same, where the package already says what the file is."""
