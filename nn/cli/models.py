"""Networks from files of every kind."""

from __future__ import annotations

import pathlib
from typing import Any

from ..exchange import read_array_file
from ..multilayer import MultiLayerNetwork
from ..serializer import restore_normalizer

ARRAY_FILES = (".npz", ".safetensors")


def is_array_file(path: str) -> bool:
    """Tell whether a file of that name holds named arrays, and is no model zip."""
    return pathlib.Path(path).suffix.lower() in ARRAY_FILES


def load_network(path: str, strict: bool = True) -> MultiLayerNetwork:
    """Read a network from a model zip or a file of arrays; errors as theirs."""
    return read_array_file(path) if is_array_file(path) else MultiLayerNetwork.load(path, strict=strict)


def normalizer_in(path: str) -> Any:
    """Return the normalizer in a model's file, None where there is none."""
    return None if is_array_file(path) else restore_normalizer(path)
