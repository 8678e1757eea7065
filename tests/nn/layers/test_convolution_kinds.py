"""Networks of all kinds of convolution: recorded and split as they are layer by layer, and without large arrays."""

import numpy as np
import pytest

import nd
from backends.cpu import numpy_backend
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nn import (
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    Deconvolution3D,
    DepthwiseConvolution2D,
    InputType,
    LocallyConnected1D,
    LocallyConnected2D,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SeparableConvolution2D,
)
from optimize import Sgd
from tests.nn.step.test_memory_of_a_step import LARGE, largest_allocation
from tests.step_plans import recorded

RNG = np.random.default_rng(14)
SERIES, IMAGES, VOLUMES = (
    InputType.recurrent(3, 12),
    InputType.convolutional(6, 7, 3),
    InputType.convolutional3d(4, 4, 5, 2),
)
STEPS = 3
NETWORKS = {
    "series": (
        SERIES,
        Convolution1DLayer(n_out=5, kernel_size=3, convolution_mode="causal"),
        LocallyConnected1D(n_out=4, stride=2),
        Convolution1DLayer(n_out=4, kernel_size=3, convolution_mode="same"),
        Convolution1DLayer(n_out=4, kernel_size=6),
    ),
    "images": (
        IMAGES,
        ConvolutionLayer(n_out=4, kernel_size=3),
        DepthwiseConvolution2D(kernel_size=3, depth_multiplier=2, convolution_mode="same"),
        SeparableConvolution2D(n_out=5, kernel_size=2),
        Deconvolution2D(n_out=4, kernel_size=3, stride=2),
        LocallyConnected2D(n_out=3, kernel_size=3, stride=2),
        ConvolutionLayer(n_out=3, kernel_size=(2, 1)),
    ),
    "volumes": (
        VOLUMES,
        Convolution3D(n_out=4, kernel_size=2, convolution_mode="same", stride=(1, 2, 1)),
        Deconvolution3D(n_out=3, kernel_size=(2, 3, 2), stride=2, padding=(0, 1, 0)),
        Convolution3D(n_out=2, kernel_size=3, stride=2),
    ),
}
every_network = pytest.mark.parametrize("name", NETWORKS)


def configuration(name, dtype="float64", **settings):
    input_type, *layers = NETWORKS[name]
    base = NeuralNetConfiguration(seed=5, dtype=dtype, updater=Sgd(0.1), activation="tanh", **settings)
    return base.list(*layers, OutputLayer(n_out=3, activation="softmax"), input_type=input_type)


def batch(name, n, dtype="float64", mask=False):
    x = RNG.normal(size=(n, *NETWORKS[name][0].shape)).astype(dtype)
    shape = (n, *x.shape[2:]) if x.ndim == 3 else (n, *(1 for _ in x.shape[1:]))
    counts = (RNG.random(shape) < 0.8).astype(dtype)
    return DataSet(x, np.eye(3, dtype=dtype)[RNG.integers(0, 3, n)], counts if mask else None)


def trained(name, data, replayed):
    net = MultiLayerNetwork(configuration(name)).init()
    for _ in range(STEPS):
        if replayed:
            net.fit_batch(data)
            continue
        net.set_input(data.features)
        net.set_labels(data.labels)
        net.set_masks(data.features_mask, None)
        net.compute_gradient_and_score()
        gradient = nd.multiply(net.flattened_gradients(), 0.1 / data.features.shape[0])
        net.set_params(nd.subtract(net.params(), gradient))
    return net


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize(("workers", "n"), [(1, 5), (1, 64), (2, 9)])
@every_network
@pytest.mark.quick_rows(every=3)
def test_recorded_in_parts_or_not_the_numbers_are_the_same(name, workers, n, mask, monkeypatch):
    monkeypatch.setattr(numpy_backend, "LEAST_MULTIPLICATIONS", 0 if workers > 1 else 1 << 60)
    monkeypatch.setattr(numpy_backend, "MULTIPLICATIONS_PER_PARAMETER", 0)
    monkeypatch.setattr(numpy_backend, "LEAST_EXAMPLES", 2)
    data = batch(name, n, mask=mask)
    with nd.use_backend(NumpyBackend(threads=workers)):
        found = trained(name, data, replayed=True)
        assert recorded(found.engine.gradients) == [1] * workers
        with monkeypatch.context() as patch:
            patch.setattr("nn.step.shared_nodes.is_pure", lambda conf: False)
            patch.setattr("nn.step.shared_nodes.SharedNodes.splits", lambda *_, **__: False)
            expected = trained(name, data, replayed=False)
            assert recorded(expected.engine.gradients) == [0]
        np.testing.assert_allclose(found.params(), expected.params(), rtol=1e-11, atol=1e-13)
        assert found.score() < MultiLayerNetwork(configuration(name)).init().score(data)
        np.testing.assert_allclose(found.output(data.features), expected.feed_forward(data.features)[-1], rtol=1e-10)


@every_network
def test_a_step_allocates_nothing_large(name):
    with nd.use_backend(NumpyBackend(threads=1)):
        net = MultiLayerNetwork(configuration(name, "float32", l2=1e-3)).init()
        batches = [batch(name, 512, "float32"), batch(name, 512, "float32"), batch(name, 512, "float32", mask=True)]
        assert batches[0].features.nbytes > LARGE
        for data in batches:
            net.fit_batch(data)
        for data in batches:
            assert largest_allocation(lambda data=data: net.fit_batch(data)) < LARGE
