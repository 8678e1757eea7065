"""Random numbers of the shapes that a network takes."""

from __future__ import annotations

from collections.abc import Sequence

import nd
from nd.typing import Array

from ..networks.network import Network
from ..terms.input_type import InputType
from .models import type_of_input

SEED, SERIES = 12345, 20
"""Of random numbers, and the length of their series where nothing says it."""


def random_features(
    who: str, network: Network, number: int, examples: int, remedy: str, shape: Sequence[int | None] = ()
) -> Array:
    """Return features of an input, drawn from this thread's generator; where indices are taken, whole numbers.

    Parameters
    ----------
    who, remedy : str
        For messages.
    network : MultiLayerNetwork or ComputationGraph
    number : int
        Of the input.
    examples : int
    shape : sequence of int or None, optional
        Of one example, as another source says it: that counts where the network does not say it.

    Raises
    ------
    ConfigurationError
        The shape of the input is not known.
    """
    conf = network.conf
    readers = [node.conf for node in conf.nodes if any(source.node == -1 - number for source in node.inputs)]
    series = [reader.n_in for reader in readers if getattr(reader, "gives_steps", False)]
    kind = conf.network_input_types()[number] or type_of_input(conf, number)
    if kind is None and series and not shape:
        kind = InputType.recurrent(series[0])
    if kind is None and not shape:
        raise nd.ConfigurationError(
            f"{who}: the shape of the input {conf.input_names[number]!r} must be known for random numbers, got a model "
            f"that does not say it. {remedy}"
        )
    sizes = [SERIES if axis is None else axis for axis in (shape if kind is None else kind.shape)]
    tables = [reader for reader in readers if getattr(reader, "takes_indices", False)]
    if not tables:
        return nd.randn(examples, *sizes)
    steps = sizes if tables[0].takes == "series" else [1]
    picked = nd.rand(examples, *sizes[1:] if len(sizes) > 1 else steps)
    return nd.astype(nd.astype(nd.multiply(picked, tables[0].n_in), "int64"), network.dtype)
