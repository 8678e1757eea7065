"""Where the parameters of a layer lie in the flat vector."""

import numpy as np
import pytest

import nd
from nn import (
    ConvolutionLayer,
    DenseLayer,
    InputType,
    LossLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from tests.stand_ins import as_input

RAMP_LAYERS = {
    # layer, then: name -> (first number of the ramp, shape, strides in elements)
    "dense": (DenseLayer(n_in=3, n_out=4), {"W": (0, (3, 4), (1, 3)), "b": (12, (1, 4), (4, 1))}),
    "dense-no-bias": (DenseLayer(n_in=3, n_out=4, has_bias=False), {"W": (0, (3, 4), (1, 3))}),
    "output": (OutputLayer(n_in=2, n_out=5), {"W": (0, (2, 5), (1, 2)), "b": (10, (1, 5), (5, 1))}),
    "convolution": (
        ConvolutionLayer(n_in=2, n_out=3, kernel_size=(4, 5)),
        {"b": (0, (1, 3), (3, 1)), "W": (3, (3, 2, 4, 5), (40, 20, 5, 1))},
    ),
    "convolution-no-bias": (
        ConvolutionLayer(n_in=2, n_out=3, kernel_size=(4, 5), has_bias=False),
        {"W": (0, (3, 2, 4, 5), (40, 20, 5, 1))},
    ),
}
"""Every parameter is then view[i, j, ...] == first + i * strides[0] + j * strides[1] + ..."""


def network_of(*layers, **settings):
    return MultiLayerNetwork(NeuralNetConfiguration(seed=1, **settings).list(*layers)).init()


def ramp(first, shape, strides):
    return first + sum(i * stride for i, stride in zip(np.indices(shape), strides, strict=True))


@pytest.mark.parametrize("name", RAMP_LAYERS)
def test_a_ramp_shows_the_order_of_every_view(name, backend, dtype):
    layer, expected = RAMP_LAYERS[name]
    net = network_of(layer, dtype=dtype)
    n = net.num_params()
    for vector, views in (
        (net.params(), net.param_table()),
        (net.flattened_gradients(), net.gradient().gradient_for_variable()),
    ):
        assert tuple(vector.shape) == (1, n)
        nd.assign(vector, nd.create(np.arange(n, dtype=dtype).reshape(1, n)))
        assert list(views) == [f"0_{key}" for key in expected]  # the order in the vector
        for key, (first, shape, strides) in expected.items():
            assert nd.dtype_name(views[f"0_{key}"]) == dtype
            np.testing.assert_array_equal(nd.to_host(views[f"0_{key}"]), ramp(first, shape, strides))


@pytest.mark.parametrize("name", RAMP_LAYERS)
def test_writing_a_view_writes_the_vector(name, backend):
    layer, expected = RAMP_LAYERS[name]
    net = network_of(layer)
    for key, (first, shape, strides) in expected.items():
        nd.fill(net.params(), 0.0)
        view = net.param_table()[f"0_{key}"]
        last = tuple(axis - 1 for axis in shape)
        view[last] = 5.0
        (at,) = np.flatnonzero(nd.to_host(net.params()))
        assert at == first + sum(i * stride for i, stride in zip(last, strides, strict=True))


def test_layers_follow_one_another_in_the_vector(backend):
    conf = NeuralNetConfiguration(seed=1).list(
        ConvolutionLayer(n_out=2, kernel_size=3),
        SubsamplingLayer("max", kernel_size=(2, 2)),
        DenseLayer(n_out=3),
        OutputLayer(n_out=2, activation="softmax"),
        input_type=InputType.convolutional(6, 6, 1),
    )
    net = MultiLayerNetwork(conf).init()
    starts = {"0_b": 0, "0_W": 2, "2_W": 20, "2_b": 44, "3_W": 47, "3_b": 53}
    assert list(net.param_table()) == list(starts)
    assert net.num_params() == 55
    nd.assign(net.params(), nd.create(np.arange(55.0).reshape(1, 55)))
    assert {key: float(nd.to_host(view).flat[0]) for key, view in net.param_table().items()} == starts


def test_gradients_have_the_layout_of_the_parameters(backend):
    """One example, identity activation and squared error: gW = x^T delta and gb = delta, element by element."""
    net = network_of(OutputLayer(n_in=3, n_out=2, loss="l2", activation="identity"), dtype="float64")
    nd.fill(net.params(), 0.0)
    x, y = np.array([[1.0, 10.0, 100.0]]), np.array([[-0.5, -1.5]])
    net.set_input(as_input(backend, x))
    net.set_labels(as_input(backend, y))
    net.compute_gradient_and_score()
    delta = 2.0 * (0.0 - y)  # [1, 3]
    expected = [1.0, 10.0, 100.0, 3.0, 30.0, 300.0, 1.0, 3.0]  # W by columns, then b
    np.testing.assert_array_equal(delta, [[1.0, 3.0]])
    np.testing.assert_array_equal(nd.to_host(net.flattened_gradients()), [expected])


def test_layers_without_parameters_have_none(backend):
    conf = NeuralNetConfiguration(seed=1).list(
        SubsamplingLayer("avg", kernel_size=(2, 2)),
        LossLayer(loss="mse", activation="identity"),
        input_type=InputType.convolutional(4, 4, 2),
    )
    net = MultiLayerNetwork(conf).init()
    assert net.num_params() == 0
    assert net.param_table() == {}
    assert tuple(net.params().shape) == tuple(net.flattened_gradients().shape) == (1, 0)
    net.fit(np.ones((3, 2, 4, 4)), np.zeros((3, 8)))
    assert net.score() == 1.0
