"""Networks from files of every kind."""

from __future__ import annotations

import argparse
import pathlib
from typing import Any

from ..files.exchange import read_array_file
from ..files.serializer import load, restore_normalizer
from ..networks.network import Network

ARRAY_FILES = (".npz", ".safetensors")


def is_array_file(path: str) -> bool:
    """Tell whether a file of that name holds named arrays, and is no model zip."""
    return pathlib.Path(path).suffix.lower() in ARRAY_FILES


def add_lenient(parser: argparse.ArgumentParser) -> None:
    """Declare the option that `load_network` looks at."""
    parser.add_argument(
        "--lenient", action="store_true", help="go on where what is not supported does not change the outputs"
    )


def load_network(arguments: argparse.Namespace) -> Network:
    """Read the network from a model zip or a file of arrays; errors as theirs."""
    path, lenient = arguments.model, getattr(arguments, "lenient", False)
    return read_array_file(path) if is_array_file(path) else load(path, strict=not lenient)


def normalizer_in(path: str) -> Any:
    """Return the normalizer in a model's file, None where there is none."""
    return None if is_array_file(path) else restore_normalizer(path)
