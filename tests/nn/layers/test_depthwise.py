"""Depthwise and separable convolutions: which parameters are weights, how many channels come out, refusals."""

import json

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import (
    ConvolutionLayer,
    DepthwiseConvolution2D,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SeparableConvolution2D,
)
from nn.layers.base import BaseLayerConf

RNG = np.random.default_rng(15)
IMAGES = InputType.convolutional(5, 5, 3)
X, Y = RNG.normal(size=(4, 3, 5, 5)), np.eye(2)[[0, 1, 1, 0]]
LAYERS = {
    "depthwise": DepthwiseConvolution2D(kernel_size=3, depth_multiplier=2, activation="tanh"),
    "separable": SeparableConvolution2D(kernel_size=3, depth_multiplier=2, n_out=4, activation="tanh"),
}
every_layer = pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)


def configuration(*layers, input_type=IMAGES, **settings):
    output = OutputLayer(n_out=2, activation="softmax", l2=0.0, l2_bias=0.0)
    return NeuralNetConfiguration(seed=4, dtype="float64", bias_init=0.3, **settings).list(
        *layers, output, input_type=input_type
    )


@every_layer
def test_penalties_on_weights_are_on_all_weights_and_on_no_bias(layer):
    """In Java they are on the first elements of the vector, which are the biases."""
    nets = [
        MultiLayerNetwork(configuration(layer, **settings)).init() for settings in ({}, {"l2": 2.0}, {"l2_bias": 2.0})
    ]
    plain, weights, biases = (net.score(DataSet(X, Y)) for net in nets)
    params = nets[0].get_layer(0).params
    squares = {name: float((nd.to_host(view) ** 2).sum()) for name, view in params.items()}
    assert weights - plain == pytest.approx(sum(squares.values()) - squares["b"], rel=1e-10)
    assert biases - plain == pytest.approx(squares["b"], rel=1e-10)


@every_layer
def test_both_are_written_with_weights_first(layer):
    java = json.loads(configuration(layer).to_json())["confs"][0]
    assert java["variables"] == [*(name for name in layer.param_shapes() if name != "b"), "b"]
    assert java["layer"]["depthMultiplier"] == 2
    assert java["layer"]["cnn2dDataFormat"] == "NCHW"
    assert java["layer"]["@class"] == f"org.deeplearning4j.nn.conf.layers.{type(layer).__name__}"


def test_the_number_of_channels_follows():
    conf = configuration(LAYERS["depthwise"], ConvolutionLayer(n_out=2, kernel_size=2))
    assert [(layer.n_in, layer.n_out) for layer in conf.layers[:2]] == [(3, 6), (6, 2)]
    chained = NeuralNetConfiguration(seed=1).list(
        ConvolutionLayer(n_in=1, n_out=4), DepthwiseConvolution2D(depth_multiplier=3), ConvolutionLayer(n_out=2)
    )
    assert [layer.n_in for layer in chained.layers] == [1, 4, 12]
    assert MultiLayerConfiguration.from_json(chained.to_json()).layers == chained.layers


def test_fans_are_those_of_one_channels_kernel():
    conf = configuration(DepthwiseConvolution2D(kernel_size=(3, 2), stride=2, depth_multiplier=5))
    W = conf.layers[0].param_specs()[1]
    assert (W.fan_in, W.fan_out) == (3 * 6, 5 * 6 / 4)
    _, W, pW = configuration(LAYERS["separable"]).layers[0].param_specs()
    assert [(spec.fan_in, spec.fan_out) for spec in (W, pW)] == [(27, 18.0), (6, 6)]


def test_what_is_refused():
    with pytest.raises(nd.ConfigurationError, match=r"n_out must be n_in \* depth_multiplier = 3 \* 2, got 5\. Leave"):
        DepthwiseConvolution2D(n_in=3, n_out=5, depth_multiplier=2)
    with pytest.raises(nd.ConfigurationError, match="depth_multiplier must be an integer >= 1, got 0"):
        SeparableConvolution2D(n_out=2, depth_multiplier=0)
    for layer in LAYERS.values():
        assert isinstance(layer, BaseLayerConf)
        with pytest.raises(nd.ConfigurationError, match=r"layer 0 .*weight_init must be another than 'identity'"):
            configuration(layer, weight_init="identity")
    java = json.loads(configuration(LAYERS["separable"]).to_json())
    java["confs"][0]["layer"]["cnn2dDataFormat"] = "NHWC"
    with pytest.raises(nd.ConfigurationError, match="input must be NCHW, as the layer takes it, got NHWC"):
        MultiLayerConfiguration.from_json(json.dumps(java))  # what makes rows says another
