"""PyTorch's arrays as a backend: networks train to NumPy's numbers, and tensors are data like any other.

For ``make backends-check``; everything that runs on several backends runs on this one there too.
"""

import numpy as np
import pytest

import nd
from backends import get_backend
from backends.errors import BackendError
from nd.dataset import DataSet
from nn import (
    LSTM,
    ActivationLayer,
    BatchNormalization,
    Bidirectional,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    DepthwiseConvolution2D,
    ElementWiseVertex,
    EmbeddingLayer,
    GlobalPoolingLayer,
    GravesLSTM,
    InputType,
    LearnedSelfAttentionLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SimpleRnn,
    SubsamplingLayer,
)
from optimize import Adam
from tests.cells import every_row

TORCH = "array_api:torch"
RNG = np.random.default_rng(11)
IMAGES, SERIES = InputType.convolutional(8, 8, 2), InputType.recurrent(4, 6)
CLASSES = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 10)]


def chain(*layers, input_type):
    conf = NeuralNetConfiguration(seed=5, updater=Adam(0.003), l2=1e-4).list(*layers, input_type=input_type)
    return MultiLayerNetwork(conf).init()


def softmax(**more):
    return OutputLayer(n_out=3, activation="softmax", **more)


def residual():
    nodes = {
        "a": (DenseLayer(n_out=5, activation="tanh"), "in"),
        "sum": (ElementWiseVertex("add"), "a", "in"),
        "out": (softmax(), "sum"),
    }
    conf = NeuralNetConfiguration(seed=5, updater=Adam(0.003)).graph(
        inputs={"in": InputType.feed_forward(5)}, nodes=nodes, outputs="out"
    )
    return ComputationGraph(conf).init()


def images():
    return RNG.random((10, 2, 8, 8), np.float32), CLASSES


def series():
    return RNG.normal(size=(10, 4, 6)).astype(np.float32), CLASSES


def steps():
    return series()[0], np.repeat(CLASSES[:, :, None], 6, 2)


def rows(n=5):
    return RNG.normal(size=(10, n)).astype(np.float32), CLASSES


def last(layer):
    return layer, GlobalPoolingLayer("max"), softmax()


KINDS = {
    "dense": (
        lambda: chain(DenseLayer(n_out=6, activation="relu"), softmax(), input_type=InputType.feed_forward(5)), rows
    ),
    "dropped": (
        lambda: chain(DenseLayer(n_out=6, drop_out=0.8), softmax(), input_type=InputType.feed_forward(5)), rows
    ),
    "convolution": (
        lambda: chain(
            ConvolutionLayer(n_out=4, kernel_size=3, activation="relu"),
            SubsamplingLayer("max", kernel_size=2, stride=2), softmax(), input_type=IMAGES,
        ), images,
    ),
    "batch norm": (
        lambda: chain(
            ConvolutionLayer(n_out=4, kernel_size=3, activation="identity", has_bias=False),
            BatchNormalization(), ActivationLayer("relu"), softmax(), input_type=IMAGES,
        ), images,
    ),
    "depthwise": (
        lambda: chain(DepthwiseConvolution2D(depth_multiplier=2, kernel_size=3), softmax(), input_type=IMAGES), images
    ),
    "embedding": (
        lambda: chain(EmbeddingLayer(n_in=7, n_out=4), softmax(), input_type=None),
        lambda: (RNG.integers(0, 7, (10, 1)).astype(np.float32), CLASSES),
    ),
    "lstm": (lambda: chain(LSTM(n_out=5), RnnOutputLayer(n_out=3, activation="softmax"), input_type=SERIES), steps),
    "graves lstm": (lambda: chain(*last(GravesLSTM(n_out=5)), input_type=SERIES), series),
    "bidirectional": (lambda: chain(*last(Bidirectional(SimpleRnn(n_out=4))), input_type=SERIES), series),
    "attention": (
        lambda: chain(
            *last(LearnedSelfAttentionLayer(n_out=4, n_heads=2, n_queries=3, project_input=True)), input_type=SERIES
        ), series,
    ),
    "residual graph": (residual, rows),
}  # fmt: skip
"""Kind -> what makes a network, and its data."""


@pytest.fixture
def torch():
    """PyTorch: a test that asks for it runs with --backend=array_api:torch only."""
    import torch

    return torch


@pytest.mark.parametrize("kind", KINDS)
def test_twenty_steps_of_adam_give_numpys_numbers(torch, kind):
    make, data = KINDS[kind]
    x, y = data()
    trained = {}
    for name in ("numpy", TORCH):
        with nd.use_backend(name):
            net = make()
            net.fit(x, y, epochs=20)
            trained[name] = nd.to_host(net.params())
    np.testing.assert_allclose(trained[TORCH], trained["numpy"], atol=1e-5)


def test_tensors_are_data_on_every_backend(torch):
    x, y = rows()
    for name in ("numpy", TORCH):
        with nd.use_backend(name):
            net, other = KINDS["dense"][0](), KINDS["dense"][0]()
            net.fit(torch.from_numpy(x), torch.from_numpy(y), epochs=2)
            other.fit(DataSet(x, y), epochs=2)
            np.testing.assert_array_equal(nd.to_host(net.params()), nd.to_host(other.params()))
            outputs = net.output(torch.from_numpy(x)), net.output(x)
            np.testing.assert_array_equal(*map(nd.to_host, outputs))


def test_data_sets_of_tensors(torch):
    x, y = rows()
    for name in ("numpy", TORCH):
        with nd.use_backend(name):
            data, plain = DataSet(torch.from_numpy(x), torch.from_numpy(y)), DataSet(x, y)
            for each in (data, plain):
                each.shuffle(3)
                each.sort_by_label()
            np.testing.assert_array_equal(nd.to_host(data.copy().features), plain.features)
            np.testing.assert_array_equal(nd.to_host(data.get(2).labels), plain.get(2).labels)


def test_tensors_of_a_device_are_data_too(torch, monkeypatch):
    """Of one that says what CUDA's say: its memory is not the host's."""
    x, y = rows()
    there = torch.from_numpy(x), torch.from_numpy(y)
    with nd.use_backend(TORCH):
        net, other = KINDS["dense"][0](), KINDS["dense"][0]()
        other.fit(x, y, batch_size=5, epochs=2)
        expected = nd.to_host(other.params())
    monkeypatch.setattr(torch.Tensor, "__dlpack_device__", lambda self: (2, 0))
    with nd.use_backend(TORCH):
        net.fit(*there, batch_size=5, epochs=2)
        np.testing.assert_array_equal(nd.to_host(net.params()), expected)
    with nd.use_backend("numpy"):
        assert net.output(there[0]).shape == (10, 3)
        net.fit(*there)
        assert 0.0 <= net.evaluate(*there).accuracy() <= 1.0


def test_tensors_that_are_read_in_other_ways(torch):
    with nd.use_backend(TORCH):
        z = torch.tensor([1.0 + 2.0j, 3.0 - 1.0j])
        assert nd.to_host(z.conj().imag).tolist() == [-2.0, 1.0]
        assert nd.to_host(torch.ones(2, dtype=torch.bfloat16)).tolist() == [1.0, 1.0]
        with pytest.raises(nd.DTypeError, match=r"got dtype torch.complex64"):
            nd.as_array(z, "float32")


def test_nothing_is_differentiated_by_the_library(torch):
    backend = get_backend(TORCH)
    leaf = torch.ones(2, 2, requires_grad=True)
    assert not backend.is_array(leaf)
    with nd.use_backend(backend):
        own = nd.create(leaf)
        assert not own.requires_grad
        nd.addi(own, 1.0)
        net = KINDS["dense"][0]()
        net.fit(*rows())
        assert not net.params().requires_grad
        with pytest.raises(BackendError, match=r"add: .* got an array of 'torch' with requires_grad"):
            nd.add(own, leaf)


def test_memory_that_overlaps(torch):
    backend, x = get_backend(TORCH), torch.zeros(4, 6)
    assert backend.may_share_memory(x, x[1:, ::2])
    assert not backend.may_share_memory(x[:2], x[2:])
    assert not backend.may_share_memory(x, torch.zeros(4, 6))


@every_row("name", ["meta", "cuda:7", "no_such"])
def test_a_device_that_is_not_there(torch, monkeypatch, name):
    monkeypatch.setenv("ND_DEVICE", name)
    with pytest.raises(BackendError, match=r"array_api:torch: "):
        get_backend(TORCH)
