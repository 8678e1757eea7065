"""Normalised gradients, penalties before and after the updater, schedules: on CuPy as on NumPy."""

import numpy as np
import pytest

import nd
from backends.cuda.cupy_backend import CupyBackend
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize.gradient_normalization import GRADIENT_NORMALIZATIONS
from tests.nn.step.test_training_step import BATCHES, CLOSE, network, on_host, train
from tests.stand_ins import make_backend


@pytest.fixture(params=["eager", "captured"])
def device(request, cupy, monkeypatch):
    """Which makes graphs of steps, or not."""
    monkeypatch.setenv("ND_CUDA_GRAPH", str(int(request.param == "captured")))
    return CupyBackend()


def trained(backend, make):
    with nd.use_backend(backend):
        net = make()
        return train(net, BATCHES), on_host(net)


def assert_same(found, expected, dtype):
    np.testing.assert_allclose(found[0], expected[0], **CLOSE[dtype])
    for key, value in expected[1].items():
        np.testing.assert_allclose(found[1][key], value, **CLOSE[dtype], err_msg=key)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_everything_at_once(device, dtype):
    found, expected = (trained(backend, lambda: network(dtype)) for backend in (device, make_backend("numpy")))
    assert_same(found, expected, dtype)


@pytest.mark.parametrize("name", GRADIENT_NORMALIZATIONS)
def test_every_normalization(device, name):
    def make():
        settings = {"gradient_normalization": name, "gradient_normalization_threshold": 0.05}
        conf = NeuralNetConfiguration(seed=1, weight_decay=0.1, updater="adam", **settings)
        return MultiLayerNetwork(conf.list(DenseLayer(n_in=3, n_out=4), OutputLayer(n_out=2))).init()

    found, expected = (trained(backend, make) for backend in (device, make_backend("numpy")))
    assert_same(found, expected, "float32")


def test_steps_ask_the_device_for_nothing(device, monkeypatch):
    with nd.use_backend(device):
        net = network("float32")
        data = [nd.dataset.DataSet(x, y) for x, y in BATCHES]
        net.fit_batch(data[0])

        def refuse(*_):
            raise RuntimeError("the device was asked")

        for name in ("item", "to_host"):
            monkeypatch.setattr(device, name, refuse)
        for each in data[1:]:
            net.fit_batch(each)
    assert net.iteration_count == len(BATCHES)
