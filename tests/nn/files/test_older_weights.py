"""Weights of one-dimensional convolutions in files of before 1.0.0-M1: turned when they are read."""

import json
import zipfile

import numpy as np
import pytest

from nn import (
    Convolution1DLayer,
    FrozenLayer,
    GlobalPoolingLayer,
    InputType,
    ModelFile,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Adam

X = np.random.default_rng(1).normal(size=(4, 3, 7))
Y = np.eye(2)[[0, 1, 1, 0]]


def network(wrapped=False):
    series = Convolution1DLayer(n_out=5, kernel_size=2)
    layers = (FrozenLayer(series) if wrapped else series, GlobalPoolingLayer("avg"), OutputLayer(n_out=2))
    conf = NeuralNetConfiguration(seed=4, dtype="float64", updater=Adam(0.1)).list(
        *layers, input_type=InputType.recurrent(3, 7)
    )
    net = MultiLayerNetwork(conf).init()
    net.fit(X, Y, epochs=3)
    return net


def older(vector, at, shape=(2, 3, 5)):
    """The vector as releases up to beta7 have it: [n_out, n_in, kernel] where [kernel, n_in, n_out] begins at `at`."""
    turned = vector.copy()
    n = int(np.prod(shape))
    turned[0, at : at + n] = vector[0, at : at + n].reshape(shape).transpose(2, 1, 0).ravel()
    return turned


def rewritten(path, net, wrapped, target):
    """Write what an older release would have: without the field that came with M1, and with turned weights."""
    turned = MultiLayerNetwork(net.conf).init(older(net.params(), 5))
    state, length = net.updater_state().copy(), net.num_params()
    if not wrapped:
        for start in (0, length):
            state = np.concatenate([state[:, :start], older(state[:, start:], 5)], 1)
    turned.set_updater_state(state)
    turned.save(path)
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            content = source.read(name)
            if name == "configuration.json":
                document = json.loads(content)
                for conf in document["confs"]:
                    for layer in (conf["layer"], conf["layer"].get("layer", {})):
                        layer.pop("timeDistributedFormat", None)
                content = json.dumps(document)
            archive.writestr(name, content)


@pytest.mark.parametrize("wrapped", [False, True])
def test_parameters_and_state_of_an_older_file_are_turned(tmp_path, wrapped):
    net = network(wrapped)
    rewritten(tmp_path / "new.zip", net, wrapped, tmp_path / "old.zip")
    read = MultiLayerNetwork.load(tmp_path / "old.zip")
    np.testing.assert_array_equal(read.params(), net.params())
    np.testing.assert_array_equal(read.updater_state(), net.updater_state())
    np.testing.assert_array_equal(read.output(X), net.output(X))
    for each in (read, net):
        each.fit(X, Y, epochs=2)
    read.save(tmp_path / "again.zip")
    np.testing.assert_allclose(MultiLayerNetwork.load(tmp_path / "again.zip").output(X), read.output(X), rtol=1e-12)


def test_a_model_file_shows_them_as_they_lie_in_the_file(tmp_path):
    net = network()
    rewritten(tmp_path / "new.zip", net, False, tmp_path / "old.zip")
    W = net.get_param("0_W")
    assert W.shape == (2, 3, 5)
    old = ModelFile.read(tmp_path / "old.zip").get_param("0_W")
    np.testing.assert_array_equal(old[..., 0], W.transpose(2, 1, 0))
    net.save(tmp_path / "now.zip")
    np.testing.assert_array_equal(ModelFile.read(tmp_path / "now.zip").get_param("0_W"), W)
