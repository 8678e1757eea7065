"""A model zip, run by Deeplearning4j itself: Java must be installed, and its jars be told."""

from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import nd
from nd import ConfigurationError, FormatError
from nd.files.npy import read_npy, write_npy
from nd.typing import HostArray

from .sides import NetworkSide, Results, Side

if TYPE_CHECKING:
    from ...networks.network import Network

_PROGRAM = pathlib.Path(__file__).with_name("Outputs.java")
_MOST_SECONDS = 600


class JavaSide(Side):
    """A model zip in Java.

    Parameters
    ----------
    path : path
        Of the zip.
    network : MultiLayerNetwork or ComputationGraph
        What it was written from: it tells the names of the layers.
    class_path : str
        Deeplearning4j's jars and a backend's of ND4J, as ``java -cp`` takes them.

    Notes
    -----
    Java 11 or newer compiles the program, which is part of this package, as it starts it.
    """

    def __init__(self, path: str, network: Network, class_path: str) -> None:
        self._path, self._network, self._class_path = path, network, class_path
        self._kind = "graph" if hasattr(network.conf, "vertices") else "chain"
        side = NetworkSide(network)
        self.names = side.names
        self._name_of = dict(zip((node.name for node in network.conf.nodes), side.all_names, strict=True))
        self.reader = "Deeplearning4j in Java"

    def run(self, xs: Sequence[HostArray], wanted: Collection[str]) -> Results:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for number, x in enumerate(xs):
                write_npy(folder / f"{number}.npy", nd.to_host(nd.as_array(x, self._network.dtype)))
            self._start(folder, len(xs))
            outputs = [
                read_npy(folder / f"output_{number}.npy") for number in range(len(self._network.conf.output_nodes))
            ]
            named = {}
            for number, key in enumerate((folder / "names.txt").read_text("utf-8").splitlines()):
                layer = self._name_of.get(key, "")
                if layer and layer in wanted:
                    named[layer] = read_npy(folder / f"named_{number}.npy")
        return Results(outputs, named)

    def _start(self, folder: pathlib.Path, inputs: int) -> None:
        command = ["java", "-cp", self._class_path, str(_PROGRAM), os.path.abspath(self._path), self._kind, str(folder)]
        try:
            done = subprocess.run(
                [*command, str(inputs)], capture_output=True, text=True, timeout=_MOST_SECONDS, check=False
            )
        except FileNotFoundError as error:
            raise ConfigurationError(
                "convert: --java needs Java 11 or newer on the PATH, got none. Install it."
            ) from error
        except subprocess.TimeoutExpired as error:
            raise FormatError(f"{self._path}: Java must run it within {_MOST_SECONDS} s, got no end.") from error
        if done.returncode or not (folder / "names.txt").exists():
            said = [line for line in done.stderr.splitlines() if "rror" in line or "xception" in line] or ["nothing"]
            raise FormatError(f"{self._path}: Deeplearning4j must run it, got: {said[0].strip()}.")
