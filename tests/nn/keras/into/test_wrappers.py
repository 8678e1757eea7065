"""TimeDistributed of Keras: another layer at every step."""

import numpy as np
import pytest

from nd import ConfigurationError
from nn import MultiLayerNetwork
from nn.keras.into.recognition import network_of
from nn.keras.model import KerasLayer
from tests.keras_models import check, layer, sequential

RNG = np.random.default_rng(23)


def at_steps(made):
    config = {"layer": {"class_name": made.class_name, "config": made.config}}
    return KerasLayer("TimeDistributed", "steps", config, made.weights)


@pytest.mark.parametrize("sizes", [(2,), (3, 2)])
def test_a_dense_layer(sizes):
    kernel, bias, x = RNG.normal(size=(2, 4)), RNG.normal(size=4), RNG.normal(size=(3, 5, *sizes))
    made = layer("Dense", {"units": 4, "activation": "tanh"}, kernel=kernel, bias=bias)
    model = sequential((5, *sizes), at_steps(made))
    check(model, [x], np.tanh(x @ kernel + bias))
    assert isinstance(network_of(model), MultiLayerNetwork)


def test_activations():
    x = RNG.normal(size=(3, 5, 2))
    e = np.exp(x)
    check(
        sequential((5, 2), at_steps(layer("Activation", {"activation": "softmax"}))), [x], e / e.sum(-1, keepdims=True)
    )
    check(sequential((5, 2), at_steps(layer("LeakyReLU", {"negative_slope": 0.1}))), [x], np.where(x > 0, x, 0.1 * x))


def test_other_shapes_of_steps():
    x = RNG.normal(size=(3, 4, 3, 2))
    check(sequential((4, 3, 2), at_steps(layer("Flatten"))), [x], x.reshape(3, 4, 6))
    check(sequential((4, 3, 2), at_steps(layer("Reshape", {"target_shape": [-1, 3]}))), [x], x.reshape(3, 4, 2, 3))


@pytest.mark.parametrize(("made", "why"), [
    (layer("Conv2D", {"filters": 1, "kernel_size": 1}), "the layer Conv2D, which Deeplearning4j has at no step"),
    (layer("Softmax", {"axis": 1}), "axis=1 of a step"),
    (layer("Reshape", {"target_shape": [4]}), r"target_shape=\[4\] of \[3, 2\]"),
    (layer("Dense", {"units": 1, "lora_rank": 2}, kernel=np.ones((2, 1)), bias=np.ones(1)), "lora_rank"),
])  # fmt: skip
def test_what_nothing_says_is_refused(made, why):
    with pytest.raises(ConfigurationError, match=why):
        network_of(sequential((4, 3, 2), at_steps(made)))


def test_it_needs_a_layer():
    with pytest.raises(ConfigurationError, match="it must be around a layer"):
        network_of(sequential((4, 2), KerasLayer("TimeDistributed", "steps", {}, ())))
