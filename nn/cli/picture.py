"""``python -m nn picture``: a drawing of a network."""

from __future__ import annotations

import argparse

from .models import add_lenient, load_network

HELP = "Draw a model: layers and vertices, their types, shapes and parameters, and what comes into each of them."
EXAMPLES = (
    "model.zip model.svg                 a picture for browsers",
    "model.zip model.dot                 for Graphviz: dot -Tpdf model.dot -o model.pdf",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("out", metavar="OUT", help="ends in .svg, .dot or .gv")
    add_lenient(parser)


def run(arguments: argparse.Namespace) -> None:
    """Draw."""
    network = load_network(arguments)
    network.picture(arguments.out)
    print(f"{arguments.out}: {len(network.conf.nodes)} layers and vertices")
