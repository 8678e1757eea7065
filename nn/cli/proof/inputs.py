"""The inputs of a proof: random numbers, or the arrays of a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import nd
from nd import ConfigurationError
from nd.checks import describe_shape
from nd.files.archives import reading_arrays
from nd.random import Random, drawing
from nd.typing import HostArray

from ..random_features import SEED, random_features

if TYPE_CHECKING:
    from ...networks.network import Network
    from .sides import Side

_REMEDY = "Give inputs: --proof-inputs FILE.npz."
Run = list[HostArray]
"""Arrays of all inputs."""


def random_runs(network: Network, sides: Sequence[Side], examples: int) -> list[Run]:
    """Return inputs of random numbers, the same for the same network: so many examples, and one.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
        Which tells the shapes.
    sides : sequence of Side
        Of which one may take one number of examples alone, and a file may know shapes, too.
    examples : int

    Raises
    ------
    ConfigurationError
        A shape is not known.
    """
    only = next((side.examples for side in sides if side.examples is not None), None)
    inputs = range(len(network.conf.input_names))
    with nd.use_backend("numpy"), drawing(Random(SEED)):
        shapes = [next(filter(None, (side.shape(number)[1:] for side in sides)), []) for number in inputs]
        xs = [
            nd.to_host(random_features("convert", network, number, only or examples, _REMEDY, shapes[number]))
            for number in inputs
        ]
    return [xs] if only or examples == 1 else [xs, [x[:1] for x in xs]]


def runs_of_file(path: str, names: Sequence[str]) -> list[Run]:
    """Return the arrays of an .npz or .safetensors: under the inputs' names, as x0, x1, ..., or as many as inputs.

    Raises
    ------
    FileNotFoundError, FormatError
        As `nd.files.archives.reading_arrays`.
    ConfigurationError
        There are other arrays than inputs, or not as many examples of each.
    """
    numbered = [f"x{number}" for number in range(len(names))]
    with reading_arrays(path) as file:
        chosen = next((few for few in (names, numbered) if set(few) <= set(file.names)), file.names)
        if len(chosen) != len(names):
            raise ConfigurationError(
                f"convert: --proof-inputs must hold the inputs {list(names)}, got the arrays {list(file.names)}. Name "
                "them as the inputs."
            )
        most = max(os.path.getsize(path) * 64, 1 << 20)  # bytes: numbers hardly pack better
        xs = [file.read_any(name, most) for name in chosen]
    counts = {x.shape[0] if x.ndim else 0 for x in xs}
    if len(counts) > 1 or 0 in counts:
        shapes = ", ".join(describe_shape(x.shape) for x in xs)
        raise ConfigurationError(
            f"convert: --proof-inputs must have as many examples for every input, at least one, got {shapes}."
        )
    return [xs]
