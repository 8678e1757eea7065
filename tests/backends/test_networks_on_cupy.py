"""Whole networks on every backend, through the kernels of CupyBackend, say: the numbers are NumPy's."""

import numpy as np
import pytest

import nd
from backends.cuda.cupy_backend import CupyBackend
from nd.dataset import DataSet
from nn import (
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from optimize import Adam, CollectScoresListener, Nesterovs
from tests.cells import wide_values
from tests.stand_ins import make_backend
from tests.test_java_reference import lenet

STEPS, CLOSE = 5, 1e-5
RNG = np.random.default_rng(3)
BATCHES = [
    DataSet(RNG.random((n, 144), np.float32), np.eye(3, dtype=np.float32)[RNG.integers(0, 3, n)])
    for n in (8, 8, 8, 8, 5)
]


def network(pooling, updater):
    return NeuralNetConfiguration(seed=9, l2=1e-3, updater=updater).list(
        ConvolutionLayer(n_out=4, kernel_size=3, activation="relu", convolution_mode="same"),
        SubsamplingLayer(pooling, kernel_size=2, stride=2, pnorm=2),
        ConvolutionLayer(n_out=5, kernel_size=3, stride=2, padding=1, activation="identity"),
        DenseLayer(n_out=7, activation="tanh", drop_out=0.8),
        OutputLayer(n_out=3, loss="mcxent", activation="softmax"),
        input_type=InputType.convolutional_flat(12, 12, 1),
    )


def train(backend, conf, path):
    """Train, save half-way, load, go on; return scores, parameters and predictions on the host."""
    with nd.use_backend(backend):
        net, scores = MultiLayerNetwork(conf).init(), CollectScoresListener()
        net.set_listeners(scores)
        net.fit(BATCHES[:3])
        net.save(path)
        again = MultiLayerNetwork.load(path)
        again.set_listeners(scores)
        again.fit(BATCHES[3:])
        accuracy = again.evaluate(BATCHES).accuracy()
        return scores.scores, nd.to_host(again.params()), nd.to_host(again.output(BATCHES[0].features)), accuracy


@pytest.mark.parametrize("pooling", wide_values(["max", "avg", "pnorm"], 1))
@pytest.mark.parametrize("updater", [Nesterovs(learning_rate=0.05), Adam(0.01)], ids=["nesterovs", "adam"])
@pytest.mark.quick_rows(1)
def test_training_gives_numpys_numbers(pooling, updater, any_backend, tmp_path):
    conf = network(pooling, updater)
    theirs = train(any_backend, conf, tmp_path / "theirs.zip")
    ours = train(make_backend("numpy"), conf, tmp_path / "ours.zip")
    assert len(theirs[0]) == STEPS
    for found, expected in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(found, expected, rtol=CLOSE, atol=CLOSE)


def test_an_eager_step_of_lenet_is_20_launches(cupy, launches, monkeypatch):
    """Kernels of ours and of CuPy, products included; copies are none."""
    monkeypatch.setenv("ND_CUDA_GRAPH", "0")
    batch = DataSet(RNG.random((8, 784), np.float32), np.eye(10, dtype=np.float32)[[3, 1, 4, 1, 5, 9, 2, 6]])
    with nd.use_backend(CupyBackend()):
        net = MultiLayerNetwork(lenet()).init()
        net.fit_batch(batch)
        launches.clear()
        net.fit_batch(batch)
        found = launches.all()
    assert len(found) == 20, found
