"""Runs a model in Keras itself: the program of a process of its own, which `keras_side` starts and asks.

It reads a question in each line of its input and answers each by a line: objects of JSON. Arrays lie in a folder. Of
this library it imports what reads and writes them.
"""

from __future__ import annotations

import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from typing import Any, TextIO

from nd.extras import optional
from nd.files.npy import read_npy, write_npy

_CONFIGURATION = "config.json"
_MODULES, _CODE = ("builtins", "keras"), ("Lambda", "__lambda__")
_GRAPH, _DEPTHS, _USES = "_functional", "_nodes_by_depth", "_inbound_nodes"
"""Attributes of Keras' models and layers that tell which call is which: nothing public does."""
_MAGIC = b"PK"  # of archives
_MOST_JSON = 64 << 20  # bytes
_MOST_TEXT = 500  # characters of an error
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def main() -> None:
    """Answer until the input ends. What Keras prints goes to the errors: the output has answers alone."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        served = Served(*sys.argv[1:])
        _answer(answers, served.description)
        for line in sys.stdin:
            question = json.loads(line)
            _answer(answers, served.run(question["xs"], question["wanted"]))
    except Exception as error:  # of any kind: Keras and its backends have their own
        text = " ".join(_COLOURS.sub("", f"{type(error).__name__}: {error}").split())
        _answer(answers, {"error": text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]} ..."})


def _answer(answers: TextIO, document: dict[str, object]) -> None:
    answers.write(json.dumps(document) + "\n")
    answers.flush()


class Served:
    """A model, and the folder of its arrays.

    Parameters
    ----------
    folder : str
        Has the model as ``model.keras`` or ``model.h5``; or its weights, with ``configuration.json`` beside them.
    name : str
        Of that file.
    """

    def __init__(self, folder: str, name: str) -> None:
        import keras

        self._keras, self._folder = keras, folder
        self._model = _loaded(keras, os.path.join(folder, name))
        self._calls = list(_calls(keras, self._model))
        self.description = {
            "version": keras.__version__,
            "backend": keras.config.backend(),
            "names": [name for name, _ in self._calls],
            "inputs": [{"name": one.name, "shape": list(one.shape)} for one in self._model.inputs],
        }

    def run(self, xs: list[str], wanted: list[str]) -> dict[str, object]:
        """Run the model on arrays of the folder; write the outputs and the values of layers that are wanted."""
        tree, to_host = self._keras.tree, self._keras.ops.convert_to_numpy
        arrays = [read_npy(os.path.join(self._folder, x)) for x in xs]
        inputs = [x.astype(str(one.dtype)) for x, one in zip(arrays, self._model.inputs, strict=True)]
        with _Listening(self._keras) as heard:
            outputs = self._model(inputs if len(inputs) > 1 else inputs[0], training=False)
        files = []
        for number, output in enumerate(tree.flatten(outputs)):
            files.append(f"output_{number}.npy")
            write_npy(os.path.join(self._folder, files[-1]), to_host(output))
        named = {}
        for number, ((name, layer), (called, value)) in enumerate(zip(self._calls, heard.values, strict=True)):
            if layer is not called:
                raise RuntimeError(f"{name} must be called, got {called.name}")
            if name in wanted and not isinstance(value, (dict, list, tuple)):
                named[name] = f"layer_{number}.npy"
                write_npy(os.path.join(self._folder, named[name]), to_host(value))
        return {"outputs": files, "named": named}


class _Listening:
    """Hears what layers of the models give, in a block; not what layers within layers give."""

    def __init__(self, keras: Any) -> None:
        self._keras = keras
        self._inside: list[Any] = []
        self.values: list[tuple[Any, Any]] = []

    def __enter__(self) -> _Listening:
        kind = self._keras.layers.Layer
        self._call = call = kind.__call__

        def heard(layer: Any, *inputs: Any, **more: Any) -> Any:
            is_model = isinstance(layer, self._keras.Model)
            of_models = all(isinstance(one, self._keras.Model) for one in self._inside)
            self._inside.append(layer)
            try:
                value = call(layer, *inputs, **more)
            finally:
                self._inside.pop()
            if of_models and not is_model:
                self.values.append((layer, value))
            return value

        kind.__call__ = heard
        return self

    def __exit__(self, *error: object) -> None:
        self._keras.layers.Layer.__call__ = self._call


def _calls(keras: Any, model: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield name and layer of all calls in the order in which Keras makes them: ``"dense"``, ``"encoder/dense#2"``."""
    graph = getattr(model, _GRAPH, None) or model  # of a Sequential
    depths = getattr(graph, _DEPTHS)
    nodes = [node for depth in sorted(depths, reverse=True) for node in depths[depth] if not node.is_input]
    for node in nodes:
        layer = node.operation
        uses = [one for one in getattr(layer, _USES) if any(one is other for other in nodes)]
        number = next(place for place, one in enumerate(uses, 1) if one is node)
        name = before + layer.name + (f"#{number}" if number > 1 else "")
        if isinstance(layer, keras.Model):
            yield from _calls(keras, layer, f"{name}/")
        elif isinstance(layer, keras.layers.Layer):
            yield name, layer


def _loaded(keras: Any, path: str) -> Any:
    if int(keras.__version__.partition(".")[0]) < 3:
        raise RuntimeError(f"Keras 3 reads files of Keras, this is {keras.__version__}")
    beside = os.path.join(os.path.dirname(path), "configuration.json")
    if not os.path.exists(beside):
        check_classes(json.loads(_configuration(path)))
        return keras.saving.load_model(path, compile=False, safe_mode=True)
    with open(beside, encoding="utf-8") as file:
        text = file.read()
    check_classes(json.loads(text))
    model = keras.models.model_from_json(text)
    model.load_weights(_renamed(path))
    return model


def _renamed(path: str) -> str:
    """Give a file of weights a name by which Keras tells its newer form from the older one; return its path."""
    if path.endswith(".keras"):
        return path
    with _hdf5().File(path, "r") as content:
        is_older = "layer_names" in content.attrs or "model_weights" in content
    if is_older:
        return path
    renamed = f"{path.removesuffix('.h5')}.weights.h5"
    os.rename(path, renamed)
    return renamed


def _hdf5() -> Any:
    return optional("convert", "h5py", "h5py", "keras")


def _configuration(path: str) -> str:
    """Return the text of a model's configuration."""
    with open(path, "rb") as file:
        is_archive = file.read(len(_MAGIC)) == _MAGIC
    if is_archive:
        with zipfile.ZipFile(path) as archive, archive.open(_CONFIGURATION) as entry:
            return entry.read(_MOST_JSON).decode()
    with _hdf5().File(path, "r") as content:
        text = content.attrs["model_config"]
        return text if isinstance(text, str) else text.decode()


def check_classes(document: Any) -> None:
    """Raise RuntimeError for what Keras would import, or unmarshal, for a class that is not its own.

    Parameters
    ----------
    document : object
        A model's configuration, as JSON has it.
    """
    if isinstance(document, dict):
        module, name = document.get("module"), document.get("class_name")
        if module is not None and str(module).partition(".")[0] not in _MODULES:
            raise RuntimeError(f"classes must be Keras' own, got one of the module {module!r}")
        if name in _CODE:
            raise RuntimeError(f"classes must be Keras' own layers, got {name}")
    parts = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    for part in parts:
        check_classes(part)


if __name__ == "__main__":
    main()
