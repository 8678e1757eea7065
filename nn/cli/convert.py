"""``python -m nn convert``: from one kind of file to another."""

from __future__ import annotations

import argparse
import warnings

from nd import ConfigurationError, NdError
from nd.files.reading import ending_of

from ..files.archive import MODEL_ZIP
from ..files.exchange import ENDINGS, is_array_file
from .models import add_lenient, load_network, normalizer_in

HELP = "Write a model as another kind of file: the ending of OUT says which."
EXAMPLES = (
    "old-0.7.zip new.zip                 a model of any release, as the newest writes it",
    "model.zip model.safetensors         named parameters for other programs",
    "model.npz model.zip                 and back, for Java",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("out", metavar="OUT", help="ends in .zip (or .bin, as some do in Java), .npz or .safetensors")
    parser.add_argument("--no-updater", action="store_true", help="leave the updater's state out")
    add_lenient(parser)


def run(arguments: argparse.Namespace) -> None:
    """Convert."""
    if ending_of(arguments.out) not in (*MODEL_ZIP.endings, *ENDINGS):
        raise ConfigurationError(f"convert: OUT must end in .zip, .bin, .npz or .safetensors, got {arguments.out!r}.")
    network = load_network(arguments)
    normalizer = None
    try:
        normalizer = normalizer_in(arguments.model)
    except NdError as error:
        warnings.warn(f"{arguments.model}: its normalizer is left out, {error}", stacklevel=1)
    if is_array_file(arguments.out) and normalizer is not None:
        warnings.warn(f"{arguments.out}: has no place for the normalizer of {arguments.model}", stacklevel=2)
        normalizer = None
    network.save(arguments.out, save_updater=not arguments.no_updater, normalizer=normalizer)
    print(f"{arguments.out}: {network.num_params():,} parameters")
