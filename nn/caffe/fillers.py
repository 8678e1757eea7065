"""Initial values of Caffe's parameters."""

from __future__ import annotations

import nd
from nd import ConfigurationError
from nd.random import Random
from nd.typing import Array

from .schema import Message


def fill_blob(blob: Array, filler: Message | None, rng: Random, who: str) -> None:
    """Write initial values into a blob as a FillerParameter says; without one zeros.

    Raises
    ------
    ConfigurationError
        The type is unknown.
    """
    kind = "constant" if filler is None else filler.type
    if kind != "constant":
        raise ConfigurationError(f"{who}: the type of a filler must be constant, got {kind!r}.")
    nd.fill(blob, 0.0 if filler is None else filler.value)
