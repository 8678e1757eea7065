"""Files of Keras as networks."""

from __future__ import annotations

from nd import FormatError, NdError
from nd.arguments import checked
from nd.files.reading import Source, raised_by_others

from ..networks.network import Network
from .into.recognition import network_of
from .reading import read_keras

_DAMAGE = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, StopIteration, TypeError, ValueError,
)  # fmt: skip
"""The errors of following settings that do not fit together."""


@checked
def keras_graph_of(source: Source, configuration: Source | None = None, isolated: bool = True) -> Network:
    """Return a model of Keras as a network that computes the same: a MultiLayerNetwork where it is a chain.

    Parameters and errors as `nn.keras.reading.read_keras`; a ConfigurationError says which layers have no counterpart.
    """
    model = read_keras(source, configuration, isolated)
    try:
        return network_of(model)
    except _DAMAGE as error:
        if isinstance(error, NdError) or raised_by_others(error):
            raise
        raise FormatError(
            f"{model.file}: settings and weights of layers must fit together, got {type(error).__name__}: {error}. Is "
            "the file damaged?"
        ) from error


graph_of = keras_graph_of
"""The same, where the package already says what the file is."""
