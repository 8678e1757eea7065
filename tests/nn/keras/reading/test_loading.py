"""`nn.load` of Keras' files: what they are is told by their content."""

import io
import json
import subprocess

import numpy as np
import pytest

import nd
import nn
from nn import ComputationGraph, MultiLayerNetwork
from nn.keras.reading import read_keras

from .files import archive, chain, functional, given, layer, legacy, numbers

DENSE = layer("Dense", "d", units=2, activation="linear", use_bias=True)
X = numbers(3, 2, start=1.0)


@pytest.fixture
def files(tmp_path):
    """The same layer in every kind of file, under names that say nothing."""
    config = chain(given(2), DENSE)
    kernel, bias = numbers(2, 2, start=3.0), numbers(2, start=0.5)
    archive(tmp_path / "a", config, {"layers/dense/vars/0": kernel, "layers/dense/vars/1": bias})
    legacy(tmp_path / "b", config, {"d": {"d/kernel": kernel, "d/bias": bias}}, "3.15.1")
    legacy(tmp_path / "w", None, {"d": {"d/kernel": kernel, "d/bias": bias}}, "3.15.1")
    (tmp_path / "c").write_text(json.dumps(config))
    return tmp_path


def test_one_layer_from_every_kind_of_file(files):
    expected = X.astype("float64") @ numbers(2, 2, start=3.0) + numbers(2, start=0.5)
    networks = [nn.load(files / "a"), nn.load(str(files / "b")), nn.load(files / "w", configuration=files / "c")]
    networks += [nn.load(io.BytesIO((files / name).read_bytes())) for name in "ab"]
    networks.append(MultiLayerNetwork.load(files / "a"))
    for network in networks:
        np.testing.assert_allclose(network.output(X), expected, rtol=1e-6)
    assert nn.load(files / "c").num_params() == 6


def test_what_does_not_go_together(files):
    with pytest.raises(nd.FormatError, match=r"a file of weights alone\. Give the model's configuration, too"):
        nn.load(files / "w")
    nn.load(files / "a").save(files / "net.zip")
    with pytest.raises(
        nd.ConfigurationError, match=r"a configuration goes with weights of Keras, got it with .*net\.zip"
    ):
        nn.load(files / "net.zip", configuration=files / "c")
    with pytest.raises(nd.FormatError, match="expected a ComputationGraph, got a MultiLayerNetwork"):
        ComputationGraph.load(files / "a")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        nn.load(files / "w", configuration=files / "nowhere")


def test_settings_that_do_not_fit_together_are_a_damage(files):
    config = functional([{**given(2), "name": "x", "inbound_nodes": []}], ["x", 0, 0], ["x", 0, 0])
    damaged = layer("Reshape", "r", target_shape={"a": 1})
    config["config"]["layers"].append({**damaged, "name": "r", "inbound_nodes": [[["x", 0, 0, {}]]]})
    (files / "c").write_text(json.dumps(config))
    with pytest.raises(nd.NdError, match=r"/c: "):
        nn.load(files / "c")


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_crash_of_libhdf5_is_an_error(name, files, monkeypatch):
    """`nn.load` has a child process read the file; what crashes it changes with libhdf5's version."""
    run = subprocess.run

    def crash(command, **named):
        return run([command[0], "-c", "import os; os.kill(os.getpid(), 11)"], **named)

    monkeypatch.setattr("nn.files.hdf5_tree.subprocess.run", crash)
    with pytest.raises(nd.FormatError, match=r"libhdf5 must read the file, got a crash \(signal 11\)"):
        nn.load(files / name)
    assert len(read_keras(files / name, isolated=False).calls) == 1
