"""Keras in a proof: a process of its own, what it may be given, and what happens where it is absent or fails."""

import json
import os
import pathlib
import sys
import zipfile

import h5py
import numpy as np
import pytest

import nd
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.cli.proof import keras_side
from nn.cli.proof.keras_child import check_classes
from nn.cli.proof.keras_side import KerasSide, installed_backend, side_of_keras
from tests.source_files import ROOT

X = np.random.default_rng(2).normal(size=(4, 3)).astype(np.float32)
FAKE = """
import os, sys, numpy
__version__ = "3.{minor}"
print("keras is talkative")

class Tensor:
    def __init__(self, name):
        self.name, self.shape, self.dtype = name, (None, 3), "float32"

class Layer:
    name = "double"
    def __call__(self, x, training=None):
        return self.call(x)
    def call(self, x):
        return 2 * x

class Node:
    is_input = False
    def __init__(self, layer):
        self.operation = layer
        layer._inbound_nodes = [*getattr(layer, "_inbound_nodes", []), self]

class Model(Layer):
    name = "model"
    def __init__(self):
        self.inputs, self.layer = [Tensor("x")], Layer()
        self._nodes_by_depth = {{0: [Node(self.layer)], 1: [Node(self.layer)]}}
    def call(self, x):
        return self.layer(self.layer(x))

def load_model(path, compile, safe_mode):
    assert safe_mode and not compile
    {on_load}
    return Model()

class config:
    backend = staticmethod(lambda: os.environ["KERAS_BACKEND"])
class layers: pass
layers.Layer = Layer
class saving: pass
saving.load_model = staticmethod(load_model)
class ops:
    convert_to_numpy = staticmethod(numpy.asarray)
class tree:
    flatten = staticmethod(lambda x: [x])
"""
"""As much of Keras as a proof calls: a model of one layer, which is used twice."""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Returns a function that installs a package `keras` for other processes; that of these tests never imports it."""

    def install(on_load="pass", minor="99"):
        folder = tmp_path / "packages"
        folder.mkdir(exist_ok=True)
        (folder / "keras.py").write_text(FAKE.format(on_load=on_load, minor=minor))
        monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{ROOT}")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.setenv("KERAS_BACKEND", "jax")

    yield install
    assert "keras" not in sys.modules


def file_of(tmp_path, document, ending="keras"):
    path = tmp_path / f"model.{ending}"
    if ending == "keras":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("config.json", json.dumps(document))
    elif ending == "json":
        path.write_text(json.dumps(document))
    else:
        with h5py.File(path, "w") as file:
            file.attrs["model_config"] = json.dumps(document)
    return str(path)


def network():
    layers = DenseLayer(n_in=3, n_out=3, name="double"), OutputLayer(n_in=3, n_out=2, activation="softmax")
    return MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(*layers)).init()


def test_layers_are_told_by_name_and_use(fake, tmp_path):
    fake()
    side = KerasSide(file_of(tmp_path, {"module": "keras"}), "jax")
    assert (side.reader, side.examples, side.shape(0)) == ("Keras 3.99 on jax", None, [None, 3])
    assert side.names == {"double", "double#2"}
    for xs in (X, X[:1]):
        results = side.run([xs], ["double", "other"])
        np.testing.assert_array_equal(results.outputs[0], 4 * xs)
        np.testing.assert_array_equal(results.named.pop("double"), 4 * xs)  # the second call is of its first use
        assert not results.named
    with pytest.raises(nd.ConfigurationError, match=r"every input of .*model\.keras, \['x'\], got 2: nothing reads"):
        side.run([X, X], [])
    child, folder = side._child, pathlib.Path(side._folder)
    assert child.poll() is None
    side.close()
    assert child.poll() is not None
    assert not folder.exists()
    with pytest.raises(nd.FormatError, match="got its end before"):
        side.run([X], [])


def test_a_file_that_keras_does_not_load(fake, tmp_path):
    fake("raise ValueError('of another version')")
    net = network()
    with pytest.warns(UserWarning, match="got ValueError: of another version. In its place the network that was read"):
        side = side_of_keras(file_of(tmp_path, {}), net)
    assert side.reader == "MultiLayerNetwork on numpy (Keras does not run the file)"
    np.testing.assert_array_equal(side.run([X], []).outputs[0], nd.to_host(net.output(X)))


def test_a_file_that_keras_loads_and_does_not_run(fake, tmp_path):
    fake("Layer.call = lambda self, x: x.reshape(7)")
    net = network()
    side = side_of_keras(file_of(tmp_path, {}), net)
    assert (side.reader, side.shape(0)) == ("Keras 3.99 on jax", [None, 3])
    with pytest.warns(UserWarning, match="got ValueError: cannot reshape .* In its place the network"):
        results = side.run([X], [])
    np.testing.assert_array_equal(results.outputs[0], nd.to_host(net.output(X)))
    assert side.reader == "MultiLayerNetwork on numpy (Keras does not run the file)"
    side.close()


def test_a_process_that_crashes(fake, tmp_path):
    fake("os.kill(os.getpid(), 11)")
    with pytest.raises(nd.FormatError, match=r"Keras on jax must run the model, got its end, status -11$"):
        KerasSide(file_of(tmp_path, {}), "jax")


def test_keras_must_answer_in_time(fake, tmp_path, monkeypatch):
    monkeypatch.setattr(keras_side, "MOST_SECONDS", 0.1)
    fake("import time; time.sleep(60)")
    with pytest.raises(nd.FormatError, match=r"must run the model, got its end, status -9"):
        KerasSide(file_of(tmp_path, {}), "jax")


def test_a_harmful_file_is_not_given_to_keras(fake, tmp_path):
    fake(f"open({str(tmp_path / 'loaded')!r}, 'w')")
    with pytest.raises(nd.FormatError, match=r"got one of the module 'os\.path'"):
        KerasSide(file_of(tmp_path, {"config": [{"module": "os.path", "class_name": "Dense"}]}, "h5"), "jax")
    assert not (tmp_path / "loaded").exists()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"config": {"layers": [{"module": "kerasnt.layers", "class_name": "Dense"}]}}, "the module 'kerasnt.layers'"),
        ({"config": [{"module": ["keras"]}]}, r"got one of the module \['keras'\]"),
        ({"config": {"layers": [{"module": "keras.layers", "class_name": "Lambda"}]}}, "got Lambda"),
        ({"config": {"activation": {"class_name": "__lambda__"}}}, "got __lambda__"),
    ],
)
def test_classes_that_are_not_keras_own(document, message):
    with pytest.raises(RuntimeError, match=message):
        check_classes(document)
    check_classes({"module": "keras", "config": [{"module": None}, {"module": "builtins"}, {"class_name": "Dense"}]})


def test_what_it_computes_with(fake, monkeypatch):
    fake()
    assert installed_backend() == "jax"
    monkeypatch.delenv("KERAS_BACKEND")
    there = {"keras", "tensorflow"}
    monkeypatch.setattr(keras_side.importlib.util, "find_spec", lambda name: name if name in there else None)
    assert installed_backend() == "tensorflow"
    there.add("torch")
    assert installed_backend() == "torch"
    there.remove("keras")
    assert installed_backend() is None


def test_without_keras_the_network_computes(tmp_path, monkeypatch):
    monkeypatch.setattr(keras_side, "installed_backend", lambda: None)
    readers = [side_of_keras(file_of(tmp_path, {}, ending), network()).reader for ending in ("keras", "h5", "json")]
    assert readers == [*["MultiLayerNetwork on numpy (Keras is not installed)"] * 2, "MultiLayerNetwork on numpy"]
