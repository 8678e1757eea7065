"""A file of Keras, run by Keras 3 in a process of its own; by this library where Keras cannot."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nd import ConfigurationError, FormatError
from nd.files.npy import read_npy, write_npy
from nd.typing import HostArray

from ...files.serializer import load
from .sides import NetworkSide, Results, Side

if TYPE_CHECKING:
    from ...networks.network import Network

_BACKENDS = ("jax", "torch", "tensorflow")
MOST_SECONDS = 600.0
"""For an answer of Keras."""
_PROGRAM = Path(__file__).with_name("keras_child.py")
_JSON, _ZIP = b"{", b"PK"
NOT_INSTALLED = " (Keras is not installed)"


def installed_backend() -> str | None:
    """Return what Keras would compute with; None where it is not installed, or has nothing to compute with."""
    if importlib.util.find_spec("keras") is None:
        return None
    chosen = os.environ.get("KERAS_BACKEND")
    return chosen or next((name for name in _BACKENDS if importlib.util.find_spec(name) is not None), None)


def side_of_keras(path: str, network: Network, configuration: str | None = None) -> Side:
    """Return what runs a file of Keras that was read: Keras, where it is installed and can; else the network itself.

    Parameters
    ----------
    path : path
    network : MultiLayerNetwork or ComputationGraph
        What was read from it.
    configuration : path, optional
        Of weights, their model's JSON.

    Warns
    -----
    UserWarning
        Keras is there and does not load the file, or does not run it.
    """
    side = NetworkSide(network)
    backend = installed_backend()
    with open(path, "rb") as file:
        if file.read(1) == _JSON:
            return side  # the weights have just been drawn
    if backend is None:
        side.reader += NOT_INSTALLED
        return side
    try:
        return _OrNetwork(KerasSide(path, backend, network.dtype, configuration), side)
    except FormatError as error:
        return _instead(side, error)


def _instead(side: NetworkSide, error: FormatError) -> NetworkSide:
    """Return what runs in the place of a file that Keras fails at, after a warning."""
    warnings.warn(f"{error}. In its place the network that was read from it runs in the proof", stacklevel=3)
    side.reader += " (Keras does not run the file)"
    return side


class _OrNetwork(Side):
    """A model of Keras as long as Keras runs it, then the network that was read from it."""

    def __init__(self, keras: Side, network: NetworkSide) -> None:
        self._keras, self._runs, self._network = keras, keras, network
        self.reader, self.names, self.examples = keras.reader, keras.names, keras.examples

    def run(self, xs: Sequence[HostArray], wanted: Collection[str]) -> Results:
        try:
            return self._runs.run(xs, wanted)
        except FormatError as error:
            self._runs = _instead(self._network, error)
            self.reader = self._runs.reader
            return self._runs.run(xs, wanted)

    def shape(self, number: int) -> list[int | None]:
        return self._runs.shape(number)

    def close(self) -> None:
        self._keras.close()


def side_of_written(path: str, backend: str | None, dtype: str) -> Side:
    """Return what runs a file of Keras that was written: Keras, or this library where Keras is not installed."""
    if backend is not None:
        return KerasSide(path, backend, dtype)
    side = NetworkSide(load(path))
    side.reader += NOT_INSTALLED
    return side


class KerasSide(Side):
    """A model of Keras.

    Parameters
    ----------
    path : path
        Of a file that this library's reader has read: it refuses harmful ones.
    backend : str
        Of Keras: ``"jax"``, ...
    dtype : str
        Of the model's parameters.
    configuration : path, optional
        Of weights, their model's JSON.

    Raises
    ------
    FormatError
        Keras does not load it.

    Notes
    -----
    Nothing of Keras is imported into this process, and the user's settings of Keras do not count. Keras loads the file
    at once: it may be the one that is written.
    """

    def __init__(self, path: str, backend: str, dtype: str = "float32", configuration: str | None = None) -> None:
        self._path, self.reader = os.fspath(path), f"Keras on {backend}"
        self._folder = tempfile.mkdtemp()
        self._child: subprocess.Popen[str] | None = None
        try:
            name = _placed(self._path, self._folder, configuration)
            self._child = _started(self._folder, name, backend, dtype)
            told = self._answer()
        except BaseException:
            self.close()
            raise
        self.reader = f"Keras {told['version']} on {told['backend']}"
        self.names = frozenset(told["names"])
        self._inputs = told["inputs"]
        self.examples = next((one["shape"][0] for one in self._inputs if one["shape"][0] is not None), None)

    def run(self, xs: Sequence[HostArray], wanted: Collection[str]) -> Results:
        if len(xs) != len(self._inputs):
            raise ConfigurationError(
                f"convert: a proof must have an array for every input of {self._path}, "
                f"{[one['name'] for one in self._inputs]}, got {len(xs)}: nothing reads the others."
            )
        self._running()
        names = [f"{number}.npy" for number in range(len(xs))]
        for name, x in zip(names, xs, strict=True):
            write_npy(os.path.join(self._folder, name), x)
        answer = self._answer({"xs": names, "wanted": sorted(wanted)})
        return Results(
            [self._array(name) for name in answer["outputs"]],
            {layer: self._array(name) for layer, name in answer["named"].items()},
        )

    def close(self) -> None:
        if self._child is not None:
            _end(self._child)
            self._child = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def shape(self, number: int) -> list[int | None]:
        shape: list[int | None] = self._inputs[number]["shape"]
        return shape

    def _array(self, name: str) -> HostArray:
        return read_npy(os.path.join(self._folder, name))

    def _running(self) -> subprocess.Popen[str]:
        if self._child is None:
            raise FormatError(f"{self._path}: {self.reader} must run the model, got its end before")
        return self._child

    def _answer(self, question: dict[str, object] | None = None) -> Any:
        """Return what the other process says, after a question or at its start."""
        child = self._running()
        clock = threading.Timer(MOST_SECONDS, child.kill)
        clock.start()
        try:
            if question is not None and child.stdin is not None:
                child.stdin.write(json.dumps(question) + "\n")
                child.stdin.flush()
            line = "" if child.stdout is None else child.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            clock.cancel()
        if not line:
            raise FormatError(f"{self._path}: {self.reader} must run the model, got its end, status {child.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise FormatError(f"{self._path}: {self.reader} must run the model, got {answer['error']}")
        return answer


def _placed(path: str, folder: str, configuration: str | None) -> str:
    """Copy what Keras is to read into the folder, with an ending that it understands; return the model's name."""
    if configuration is not None:
        shutil.copyfile(configuration, os.path.join(folder, "configuration.json"))
    with open(path, "rb") as file:
        name = "model.keras" if file.read(len(_ZIP)) == _ZIP else "model.h5"
    shutil.copyfile(path, os.path.join(folder, name))
    return name


def _started(folder: str, name: str, backend: str, dtype: str) -> subprocess.Popen[str]:
    root = str(Path(__file__).parents[3])
    settings = {
        "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")])),
        "KERAS_BACKEND": backend,
        "KERAS_HOME": folder,  # else it would write one, and obey it
        "JAX_PLATFORMS": "cpu",  # whose products are exact
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "ND_BACKEND": "numpy",
    }
    settings |= {"JAX_ENABLE_X64": "1"} if dtype == "float64" else {}
    return subprocess.Popen(
        [sys.executable, "-P", str(_PROGRAM), folder, name],  # -P: the files beside it are no modules of others
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **settings},
        text=True,
        encoding="utf-8",
    )


def _end(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            stream.close()
