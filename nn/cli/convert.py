"""``python -m nn convert``: from one kind of file to another, and a proof that both compute the same."""

from __future__ import annotations

import argparse
import json
import math
import warnings
from contextlib import closing
from typing import TYPE_CHECKING

from nd import ConfigurationError, NumericError
from nd.files.reading import ending_of
from nd.files.writing import FileKind, check_ending, replacing

from ..files.archive import MODEL_ZIP
from ..files.exchange import ENDINGS, is_array_file
from ..files.serializer import KERAS_ENDING, ONNX_ENDING, load
from .left_out import left_out
from .models import add_lenient
from .proof.inputs import random_runs, runs_of_file
from .proof.proving import Proof, prove
from .proof.report import as_json, as_text
from .proof.sides import NetworkSide, Side
from .sources import ReadModel, add_source_arguments, read_source

if TYPE_CHECKING:
    from ..networks.network import Network

HELP = "Write a model as another kind of file: the ending of OUT says which, the content of MODEL what it is."
EXAMPLES = (
    "old-0.7.zip new.zip                 a model of any release, as the newest writes it",
    "model.zip model.safetensors         named parameters for other programs",
    "model.npz model.zip                 and back, for Java",
    "model.zip model.onnx --proof 16     and show that it computes the same",
    "lenet.caffemodel lenet.onnx --prototxt lenet.prototxt --proof 16 --json proof.json",
    "model.onnx model.zip --proof-inputs inputs.npz --tolerance 1e-4",
    "old.h5 new.keras --proof 16         a model of Keras 1, 2 or 3, as Keras 3 reads it",
    "weights.h5 model.zip --configuration config.json",
)
_JSON = FileKind("JSON", (".json",))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "out", metavar="OUT", help="ends in .zip (or .bin, as some do in Java), .npz, .safetensors, .onnx or .keras"
    )
    parser.add_argument("--no-updater", action="store_true", help="leave the updater's state out")
    parser.add_argument("--opset", type=int, metavar="N", help="of ONNX's operators (default 18)")
    add_source_arguments(parser)
    add_lenient(parser)
    proof = parser.add_argument_group("a proof: OUT is read again, and both files run on the same inputs")
    inputs = proof.add_mutually_exclusive_group()
    inputs.add_argument("--proof", type=_count, metavar="N", help="on N examples of random numbers, and on one")
    inputs.add_argument(
        "--proof-inputs", metavar="FILE", help="on the arrays of an .npz, named as the inputs, or x0, x1"
    )
    proof.add_argument(
        "--tolerance",
        type=_tolerance,
        default=1e-5,
        metavar="X",
        help="largest difference, relative to a layer's largest number (default %(default)s)",
    )
    proof.add_argument(
        "--java",
        metavar="CLASSPATH",
        help="of a zip: Deeplearning4j itself reads it, from these jars, in Java 11 or newer",
    )
    proof.add_argument("--json", metavar="FILE", help="write the proof, for programs")


def run(arguments: argparse.Namespace) -> None:
    """Convert."""
    endings = (*MODEL_ZIP.endings, *ENDINGS, ONNX_ENDING, KERAS_ENDING)
    if ending_of(arguments.out) not in endings:
        known = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise ConfigurationError(f"convert: OUT must end in {known}, got {arguments.out!r}.")
    proves = arguments.proof is not None or arguments.proof_inputs is not None
    if arguments.json is not None:
        if not proves:
            raise ConfigurationError("convert: --json is for a proof, got none. Add --proof N.")
        check_ending("convert", arguments.json, _JSON)
    if arguments.java is not None and not (proves and ending_of(arguments.out) in MODEL_ZIP.endings):
        raise ConfigurationError("convert: --java is for a proof of a model zip, got another OUT or no --proof N.")
    source = read_source(arguments)
    with closing(source.side() if proves else Side()) as first:
        lost = _write(arguments, source)
        print(f"{arguments.out}: {source.network.num_params():,} parameters")
        if proves:
            _tell(arguments, _proof(arguments, source.network, first), lost)


def _write(arguments: argparse.Namespace, source: ReadModel) -> list[str]:
    """Write OUT; warn of what it has no place for, and return that."""
    out, network, normalizer = arguments.out, source.network, source.normalizer
    ending = ending_of(out)
    if arguments.opset is not None and ending != ONNX_ENDING:
        raise ConfigurationError(f"convert: --opset is for .onnx, got it with {out!r}. Leave it out.")
    lost = left_out(network, out, normalizer)
    of_training: list[str] = []
    if ending == ONNX_ENDING:
        from ..onnx.writing import write_onnx  # which needs a package of its own

        write_onnx(network, out, **({} if arguments.opset is None else {"opset": arguments.opset}))
    else:
        kept = None if is_array_file(out) or ending == KERAS_ENDING else normalizer
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            network.save(out, save_updater=not arguments.no_updater, normalizer=kept)
        for warning in told:
            warnings.warn(warning.message, warning.category, stacklevel=2)
        of_training += [str(warning.message) for warning in told if ending == KERAS_ENDING]
    for note in source.notes:
        warnings.warn(f"{arguments.model}: {note}", stacklevel=2)
    if lost:
        warnings.warn(f"{out}: has no place for {'; '.join(lost)}", stacklevel=2)
    return [*source.notes, *lost, *of_training]


def _proof(arguments: argparse.Namespace, network: Network, first: Side) -> Proof:
    names = list(network.conf.input_names)
    outputs = [network.conf.nodes[number].own_name for number in network.conf.output_nodes]
    with closing(_side_of(arguments, network)) as second:
        if arguments.proof_inputs is not None:
            runs = runs_of_file(arguments.proof_inputs, names)
        else:
            runs = random_runs(network, (first, second), arguments.proof)
        return prove(first, second, outputs, runs, arguments.tolerance)


def _side_of(arguments: argparse.Namespace, network: Network) -> Side:
    """Return what runs the file that was written: its own kind's reader."""
    path = arguments.out
    if ending_of(path) == ONNX_ENDING:
        from .proof.onnx_side import OnnxSide

        return OnnxSide(path)
    if ending_of(path) == KERAS_ENDING:
        from .proof.keras_side import installed_backend, side_of_written

        return side_of_written(path, installed_backend(), network.dtype)
    if arguments.java is not None:
        from .proof.java_side import JavaSide

        return JavaSide(path, network, arguments.java)
    return NetworkSide(load(path))


def _tell(arguments: argparse.Namespace, proof: Proof, lost: list[str]) -> None:
    """Print the table and write the JSON; raise NumericError where the files differ."""
    print(as_text(proof))
    if arguments.json is not None:
        document = as_json(proof, arguments.model, arguments.out, lost)
        with replacing("convert", arguments.json, _JSON) as file:
            file.write(json.dumps(document, indent=2).encode() + b"\n")
    if proof.beyond:
        names = ", ".join(row.name for row in proof.beyond)
        raise NumericError(
            f"convert: {arguments.out} must compute what {arguments.model} computes, within {proof.tolerance:g} of "
            f"every layer's largest number, got more in {names}. It is written, and not to be relied on."
        )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text)):
        raise argparse.ArgumentTypeError(f"expected a number of examples, 1 or more, got {text}")
    return int(text)


def _tolerance(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number, 0 or more, got {text}")
    return number
