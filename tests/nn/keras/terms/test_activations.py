"""Activations of Keras against formulas in float64, and numeric slopes."""

import math

import numpy as np
import pytest

import nd
from nd import ChoiceError
from nd.activations import ELU, GELU, Cube, HardSigmoid, Identity, LeakyReLU, ReLU, ReLU6, Softmax, ThresholdedReLU
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.keras.terms.activations import activation_of, keras_of, name_of
from nn.keras.terms.functions import FUNCTIONS, KerasActivation

Z = np.random.default_rng(3).normal(size=(5, 4)) * 2
ERF = np.vectorize(math.erf)


def log_softmax(x):
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def sparse_plus(x):
    return np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4))


FORMULAS = {
    "elu": lambda x: np.where(x > 0, x, np.exp(x) - 1),
    "exponential": np.exp,
    "gelu": lambda x: x * (1 + ERF(x / 2**0.5)) / 2,
    "hard_shrink": lambda x: np.where(abs(x) > 0.5, x, 0),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hard_silu": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.2 * x),
    "linear": lambda x: x,
    "log_sigmoid": lambda x: -np.log(1 + np.exp(-x)),
    "log_softmax": log_softmax,
    "mish": lambda x: x * np.tanh(np.log(1 + np.exp(x))),
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "soft_shrink": lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0),
    "softmax": lambda x: np.exp(log_softmax(x)),
    "softplus": lambda x: np.log(1 + np.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "sparse_plus": sparse_plus,
    "sparse_sigmoid": lambda x: np.clip(x + 1, 0, 2) / 2,
    "squareplus": lambda x: (x + np.sqrt(x**2 + 4)) / 2,
    "swish": lambda x: x / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "tanh_shrink": lambda x: x - np.tanh(x),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_values_are_those_of_keras_3(name):
    function, z = activation_of(name, 3), nd.create(Z)
    np.testing.assert_allclose(nd.to_host(function.value(z)), FORMULAS[name](Z), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(nd.to_host(function.value(z, z)), FORMULAS[name](Z), rtol=1e-13, atol=1e-15)


def test_the_approximation_of_gelu():
    inner = (2 / math.pi) ** 0.5 * (Z + 0.044715 * Z**3)
    found = nd.to_host(KerasActivation("gelu_tanh").value(nd.create(Z)))
    np.testing.assert_allclose(found, Z * (1 + np.tanh(inner)) / 2, rtol=1e-13)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_numeric_derivatives(name):
    function, z, step = KerasActivation(name), nd.create(Z), 1e-6
    epsilon = np.random.default_rng(4).normal(size=Z.shape)
    found = nd.to_host(function.backprop(z, function.value(z), nd.create(epsilon)))
    expected = np.zeros_like(Z)
    for at in np.ndindex(Z.shape):
        shift = np.zeros_like(Z)
        shift[at] = step
        ahead, behind = (nd.to_host(function.value(nd.create(Z + sign * shift))) for sign in (1, -1))
        expected[at] = ((ahead - behind) * epsilon).sum() / (2 * step)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_the_version_decides():
    assert activation_of("hard_sigmoid", 2) == activation_of("hard_sigmoid", 1) == HardSigmoid()
    assert activation_of("hard_sigmoid", 3) == KerasActivation("hard_sigmoid")


@pytest.mark.parametrize(("given", "expected", "name"), [
    (None, Identity(), "linear"),
    ({"module": "builtins", "class_name": "function", "config": "silu"}, activation_of("swish", 3), "silu"),
    ({"class_name": "LeakyReLU", "config": {"alpha": 0.1}}, LeakyReLU(0.1), "LeakyReLU"),
    ({"class_name": "ELU", "config": {"alpha": 0.5}}, ELU(0.5), "ELU"),
    ({"class_name": "ReLU", "config": {"max_value": 6.0, "negative_slope": 0.0}}, ReLU6(), "ReLU"),
    ({"class_name": "ReLU", "config": {"max_value": 2, "threshold": 1}}, ReLU(2.0, 1.0), "ReLU"),
    ({"class_name": "Softmax", "config": {"axis": -1}}, Softmax(), "Softmax"),
    ({"class_name": "Softmax", "config": {"axis": 1}}, None, "Softmax"),
    ({"class_name": "ThresholdedReLU", "config": {"theta": 0.7}}, ThresholdedReLU(0.7), "ThresholdedReLU"),
    ({"class_name": "function", "config": None, "registered_name": "my>own"}, None, "my>own"),
    ("glu", None, "glu"),
    ("sparsemax", None, "sparsemax"),
    ({"class_name": "ELU", "config": {"alpha": "much"}}, None, "ELU"),
    (17, None, "17"),
])  # fmt: skip
def test_objects(given, expected, name):
    assert activation_of(given, 3) == expected
    assert name_of(given) == name


@pytest.mark.parametrize("name", FORMULAS)
def test_the_way_back(name):
    assert activation_of(keras_of(activation_of(name, 3)), 3) == activation_of(name, 3)


@pytest.mark.parametrize("function", [LeakyReLU(0.1), ELU(0.5), ReLU(max=2.0, threshold=1.0, negative_slope=0.5)])
def test_objects_on_the_way_back(function):
    assert activation_of(keras_of(function), 3) == function


def test_some_have_no_word_in_keras():
    for function in (HardSigmoid(), GELU(), Cube(), KerasActivation("gelu_tanh")):
        assert keras_of(function) is None


def test_an_unknown_function_is_refused():
    with pytest.raises(ChoiceError, match="KerasActivation: unknown function 'gleu'"):
        KerasActivation("gleu")


def test_networks_with_one_are_saved(tmp_path):
    conf = NeuralNetConfiguration(dtype="float64").list(
        DenseLayer(n_in=4, n_out=3, activation=KerasActivation("hard_sigmoid")),
        OutputLayer(n_out=2, activation=KerasActivation("exponential"), loss="mse"),
    )
    net = MultiLayerNetwork(conf).init()
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    assert again.conf.layers[0].activation == KerasActivation("hard_sigmoid")
    np.testing.assert_array_equal(nd.to_host(again.output(Z)), nd.to_host(net.output(Z)))
