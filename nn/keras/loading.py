"""Files of Keras as networks."""

from __future__ import annotations

from nd.arguments import checked
from nd.files.reading import Source

from ..networks.network import Network
from .into.recognition import network_of
from .reading import read_keras


@checked
def keras_graph_of(source: Source, configuration: Source | None = None, isolated: bool = True) -> Network:
    """Return a model of Keras as a network that computes the same: a MultiLayerNetwork where it is a chain.

    Parameters and errors as `nn.keras.reading.read_keras`; a ConfigurationError says which layers have no counterpart.
    """
    return network_of(read_keras(source, configuration, isolated))


graph_of = keras_graph_of
"""The same, where the package already says what the file is."""
