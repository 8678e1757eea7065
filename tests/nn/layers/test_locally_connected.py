"""Locally connected layers: defaults of their own, DL4J's other JSON, the right way round, refusals."""

import json

import numpy as np
import pytest

import nd
from nd.activations import LeakyReLU
from nn import (
    DropConnect,
    InputType,
    LocallyConnected1D,
    LocallyConnected2D,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
)
from optimize import Adam
from tests.layers_at_work import forward

IMAGES, SERIES = InputType.convolutional(5, 5, 2), InputType.recurrent(2, 7)
WINDOW = {"kernel_size": (2, 3), "stride": (2, 1), "padding": (1, 0), "convolution_mode": "truncate"}


def configuration(layer, input_type=IMAGES, **settings):
    output = OutputLayer(n_out=2, activation="softmax")
    layers = (layer, output) if input_type == IMAGES else (layer,)
    return NeuralNetConfiguration(seed=4, dtype="float64", **settings).list(*layers, input_type=input_type)


def test_defaults_are_their_own():
    defaults = {"activation": "relu", "weight_init": "ones", "bias_init": 3.0, "convolution_mode": "strict"}
    layer = configuration(LocallyConnected2D(n_out=3), weight_noise=DropConnect(0.5), **defaults).layers[0]
    assert (type(layer.activation).__name__, layer.weight_init, layer.convolution_mode) == ("Tanh", "xavier", "same")
    assert (layer.kernel_size, layer.stride, layer.weight_noise, layer.bias_init) == ((2, 2), (1, 1), None, 0.0)
    assert layer.input_size == (5, 5)
    assert LocallyConnected1D(n_in=4, n_out=8, input_size=10).param_shapes() == {"W": (10, 8, 8), "b": (1, 8)}


def test_a_square_output_is_turned_round_as_javas(backend):
    """Row a and column b show the window of row b and column a, with the weights of row a and column b."""
    net = MultiLayerNetwork(configuration(LocallyConnected2D(n_out=1, kernel_size=1, activation="identity"))).init()
    layer = net.get_layer(0)
    weights = np.zeros((25, 2, 1))
    weights[:, 0, 0] = np.arange(25)
    nd.assign(layer.params["W"], nd.create(weights, dtype="float64"))
    image = np.zeros((1, 2, 5, 5))
    image[0, 0, 1, 3] = 2.0
    found = nd.to_host(forward(layer, nd.create(image, dtype="float64"), False)[0])[0, 0]
    expected = np.zeros((5, 5))
    expected[3, 1] = 2.0 * (3 * 5 + 1)
    np.testing.assert_array_equal(found, expected)


def test_java_form_of_images():
    layer = LocallyConnected2D(n_out=3, activation="relu", weight_init="relu", l2=0.1, **WINDOW)
    java = json.loads(configuration(layer, updater=Adam(0.01)).to_json())["confs"][0]
    assert java["variables"] == ["W", "b"]
    found = java["layer"]
    expected = {
        "@class": "org.deeplearning4j.nn.conf.layers.LocallyConnected2D", "activation": "RELU", "cm": "Truncate",
        "dilation": [1, 1], "featureDim": 12, "format": "NCHW", "hasBias": True, "inputSize": [5, 5], "kernel": [2, 3],
        "nin": 2, "nout": 3, "outputSize": [3, 3], "padding": [1, 0], "paddingBr": [1, 0], "paramWeightInit": None,
        "stride": [2, 1], "weightInit": "RELU",
    }  # fmt: skip
    assert {key: found[key] for key in expected} == expected
    assert found["updater"]["@class"] == "org.nd4j.linalg.learning.config.Adam"
    assert found["regularization"][0]["@class"].endswith("L2Regularization")
    assert not {"activationFn", "iupdater", "weightInitFn", "biasInit", "kernelSize", "convolutionMode"} & set(found)


def test_java_form_of_series():
    layer = LocallyConnected1D(n_out=3, kernel_size=3, stride=2, convolution_mode="same")
    found = json.loads(configuration(layer, SERIES).to_json())["confs"][0]["layer"]
    expected = {
        "activation": "TANH", "cm": "Same", "dilation": 1, "featureDim": 6, "inputSize": 7, "kernel": 3,
        "outputSize": 4, "padding": 1, "paddingR": 1, "stride": 2, "weightInit": "XAVIER",
    }  # fmt: skip
    assert {key: found[key] for key in expected} == expected


def test_java_files_are_read():
    conf = configuration(LocallyConnected2D(n_out=3, **WINDOW))
    java = json.loads(conf.to_json())
    for key in ("dilation", "featureDim", "format", "outputSize", "paddingBr", "paramWeightInit"):
        del java["confs"][0]["layer"][key]
    assert MultiLayerConfiguration.from_json(json.dumps(java)).layers == conf.layers
    java["confs"][0]["layer"]["format"] = "NHWC"
    with pytest.raises(nd.ConfigurationError, match="input must be NCHW, as the layer takes it, got NHWC"):
        MultiLayerConfiguration.from_json(json.dumps(java))  # what makes rows says another


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight_init": NormalDistribution()}, "weight_init must be the name of a formula, as in DL4J, got Normal"),
        ({"weight_init": None}, "weight_init must be the name of a formula, as in DL4J, got None"),
        ({"activation": None}, r"activation must be one of the library's, .* got None\. Use 'tanh'"),
        ({"weight_init": "identity"}, "weight_init must be the name of a formula, as in DL4J, got 'identity'"),
        ({"bias_init": 1.0}, r"biases start at 0 and there is no weight noise, as in DL4J, got bias_init 1\.0"),
        ({"weight_noise": DropConnect(0.5)}, "biases start at 0 and there is no weight noise, .* DropConnect"),
        ({"convolution_mode": "causal"}, "convolution_mode must be 'same', 'strict' or 'truncate', got 'causal'"),
    ],
)
def test_what_java_has_no_place_for_is_refused(settings, message):
    with pytest.raises(nd.ConfigurationError, match=f"LocallyConnected1D: {message}"):
        LocallyConnected1D(n_out=2, **settings)


def test_sizes_have_to_be_known_and_stay():
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 .*: input_size is missing\. Give it, or pass input_type"):
        NeuralNetConfiguration(seed=1).list(LocallyConnected2D(n_in=1, n_out=2))
    with pytest.raises(
        nd.ConfigurationError, match=r"the number of time steps must be known, got recurrent\(2\)\. Use"
    ):
        configuration(LocallyConnected1D(n_out=2), InputType.recurrent(2))
    with pytest.raises(
        nd.ConfigurationError, match=r"input_size must be \[5, 5\], the size of what comes in, got \[4, 5"
    ):
        configuration(LocallyConnected2D(n_out=2, input_size=(4, 5)))
    with pytest.raises(nd.ShapeError, match=r"LocallyConnected2D: input_size must be one or two integers >= 1, got"):
        LocallyConnected2D(n_out=2, input_size=(1, 2, 3))
    layer = MultiLayerNetwork(configuration(LocallyConnected2D(n_out=2))).init().get_layer(0)
    with pytest.raises(
        nd.ShapeError, match=r"expected input of the size \[5, 5\], for which there are weights, got \[5, 6"
    ):
        forward(layer, nd.zeros(1, 2, 5, 6, dtype="float64"), False)
    with pytest.raises(nd.ConfigurationError, match=r"^LocallyConnected2D: activation must be .* by name, .* Leaky"):
        LocallyConnected2D(n_out=2, activation=LeakyReLU(alpha=0.3))
