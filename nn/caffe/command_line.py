"""``python -m nn.caffe``: ``convert``, ``convert-mnist``, and Caffe's own commands, ``train`` and others."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Literal

from nd import ConfigurationError
from nd.command_line import run_command
from nd.files.reading import ending_of

from ..files.hdf5 import ENDINGS
from .blobs import array_to_blobproto
from .data.mnist_databases import write_mnist_databases
from .files import HDF5_SIGNATURE, read_net, read_solver, write_message
from .schema import Message, new
from .snapshots import read_state, read_weights, write_state, write_weights
from .solving.commands import add_commands

_STATE = ".solverstate"
_DROP = "unknown='drop'"  # what an error advises programs to write
_EXAMPLES = """examples:
  python -m nn.caffe convert old.prototxt new.prototxt            a net of any schema, in the newest one
  python -m nn.caffe convert old_solver.prototxt new.prototxt --solver
  python -m nn.caffe convert x.caffemodel x.caffemodel.h5         weights as HDF5
  python -m nn.caffe convert x.solverstate.h5 x.solverstate       and back
  python -m nn.caffe convert-mnist                                the databases in examples/mnist
  python -m nn.caffe train --solver lenet_solver.prototxt         and so on, as Caffe's own command line
  python -m nn.caffe test --model net.prototxt --weights x.caffemodel --iterations 100
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code: 0, 1 for an error, 2 for wrong usage, 130 for Ctrl-C.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.
    """
    return run_command(_parser(), arguments, lambda message: message.replace(_DROP, "--drop-unknown"))


def convert(arguments: argparse.Namespace) -> str:
    """Write a file of Caffe's as one of the newest schema, or of another kind; return what is to be said."""
    source, target = arguments.source, arguments.target
    unknown: Literal["drop", "refuse"] = "drop" if arguments.drop_unknown else "refuse"
    if arguments.solver:
        write_message(read_solver(source, unknown), target)
    elif _STATE in source or _STATE in target:
        if not (_STATE in source and _STATE in target):
            raise ConfigurationError(f"convert: the state of a solver stays one, got {source!r} and {target!r}.")
        write_state(read_state(source, isolated=True), target)
    else:
        net = _net_of_weights(source) if _is_hdf5(source) else read_net(source, unknown)
        write_weights(net, target) if ending_of(target) in ENDINGS else write_message(net, target)
    return f"{target}: written"


def convert_mnist(arguments: argparse.Namespace) -> str:
    """Write MNIST into databases; return what is to be said."""
    counts = write_mnist_databases(arguments.folder)
    return "\n".join(f"{arguments.folder}/{name}: {count:,} examples" for name, count in counts.items())


def _net_of_weights(source: str) -> Message:
    """Return a net of the layers in a file of HDF5: their names and parameters, no more."""
    net = new("NetParameter")
    for layer in read_weights(source, isolated=True):
        if sorted(layer.blobs) != list(range(len(layer.blobs))):
            raise ConfigurationError(
                f"{source}: layer {layer.name!r} shares parameters with another one, and has {sorted(layer.blobs)} "
                "alone. Such weights can be loaded into their net, but not be written without it."
            )
        added = net.layer.add(name=layer.name)
        added.blobs.extend(array_to_blobproto(blob.data, blob.diff) for _, blob in sorted(layer.blobs.items()))
    return net


def _is_hdf5(source: str) -> bool:
    with open(source, "rb") as file:
        return file.read(len(HDF5_SIGNATURE)) == HDF5_SIGNATURE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m nn.caffe",
        description="Train, test and time Caffe's nets, and convert its files.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    add_commands(commands)
    command = commands.add_parser("convert", help="A net, solver, weights or a solver's state as another kind of file.")
    command.add_argument("source", metavar="IN", help="files of HDF5 are read in a process of their own")
    command.add_argument("target", metavar="OUT", help="its ending tells the kind: .prototxt, .caffemodel, .h5, ...")
    command.add_argument("--solver", action="store_true", help="IN is a solver, not a net")
    command.add_argument(
        "--drop-unknown", action="store_true", help="leave out fields of a text that Caffe does not have"
    )
    command.set_defaults(run=convert)
    command = commands.add_parser("convert-mnist", help="MNIST as the databases that Caffe's LeNet reads.")
    command.add_argument("--folder", default="examples/mnist", help="where the databases go, by default %(default)s")
    command.set_defaults(run=convert_mnist)
    return parser
