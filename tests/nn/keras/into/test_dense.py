"""Dense of Keras, on rows, series, images and volumes."""

import numpy as np
import pytest

from nd import ConfigurationError
from nn import ComputationGraph, MultiLayerNetwork
from nn.keras.into.recognition import network_of
from tests.keras_models import call as called
from tests.keras_models import check, functional, layer, sequential

RNG = np.random.default_rng(5)
KERNEL, BIAS = RNG.normal(size=(5, 4)), RNG.normal(size=4)


def dense(units=4, kernel=KERNEL, bias=BIAS, **config):
    weights = {"kernel": kernel} if bias is None else {"kernel": kernel, "bias": bias}
    return layer("Dense", {"units": units, "use_bias": bias is not None, **config}, **weights)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("sizes", [(), (7,), (2, 3), (2, 3, 2)], ids=["rows", "series", "images", "volumes"])
@pytest.mark.parametrize("activation", ["tanh", "softmax"])
def test_it_goes_along_the_last_axis(sizes, activation):
    x = RNG.normal(size=(3, *sizes, 5))
    second = RNG.normal(size=(4, 2))
    model = sequential((*sizes, 5), dense(activation="tanh"), dense(2, second, None, activation=activation))
    z = np.tanh(x @ KERNEL + BIAS) @ second
    check(model, [x], softmax(z) if activation == "softmax" else np.tanh(z))
    assert isinstance(network_of(model), MultiLayerNetwork)


def test_in_a_graph_it_is_the_same():
    x = RNG.normal(size=(3, 7, 5))
    model = functional({"x": (7, 5)}, called(dense(activation="relu"), "x", name="d"))
    check(model, [x], np.maximum(x @ KERNEL + BIAS, 0))
    assert isinstance(network_of(model), ComputationGraph)


def test_series_of_open_length():
    model = sequential((None, 5), dense(), dense(3, KERNEL.T[:, :3], None))
    for steps in (2, 6):
        x = RNG.normal(size=(3, steps, 5))
        check(model, [x], (x @ KERNEL + BIAS) @ KERNEL.T[:, :3])


def test_behind_images_with_the_channels_first_it_goes_along_the_width():
    x = RNG.normal(size=(2, 3, 4, 5))
    kernel = RNG.normal(size=(1, 1, 3, 2))
    conv = layer("Conv2D", {"filters": 2, "kernel_size": 1, "data_format": "channels_first", "use_bias": False},
                 kernel=kernel)  # fmt: skip
    images = np.einsum("nchw,cd->ndhw", x, kernel[0, 0])
    check(sequential((3, 4, 5), conv, dense()), [x], images @ KERNEL + BIAS)


def test_without_weights_they_are_drawn_as_the_file_says():
    made = dense(kernel_initializer={"class_name": "Constant", "config": {"value": 0.5}}, bias_initializer="ones")
    x = RNG.normal(size=(3, 5))
    check(sequential((5,), made._replace(weights=None)), [x], np.repeat(x.sum(1, keepdims=True) / 2 + 1, 4, 1))


@pytest.mark.parametrize("axes", ["x", None])
def test_einsum_dense_with_a_factor_for_every_number(axes):
    x, factors = RNG.normal(size=(3, 5)), RNG.normal(size=5)
    weights = {"kernel": factors, "bias": factors[::-1]} if axes else {"kernel": factors}
    config = {"equation": "...x,x->...x", "output_shape": [5], "bias_axes": axes, "activation": "tanh"}
    expected = np.tanh(x * factors + (factors[::-1] if axes else 0.0))
    check(sequential((5,), layer("EinsumDense", config, **weights)), [x], expected)


def test_einsum_dense_of_another_equation_is_refused():
    made = layer("EinsumDense", {"equation": "ab,bc->ac", "output_shape": 4, "bias_axes": None}, kernel=KERNEL)
    with pytest.raises(ConfigurationError, match=r"EinsumDense.*equation='ab,bc->ac'"):
        network_of(sequential((5,), made))
