"""Layers on each other: own preprocessors beside an input type, and stacks that are none."""

from dataclasses import dataclass

import numpy as np
import pytest

import nd
from nn import (
    CnnToFeedForwardPreProcessor,
    ConvolutionLayer,
    DenseLayer,
    FeedForwardToCnnPreProcessor,
    InputPreProcessor,
    InputType,
    LossLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OCNNOutputLayer,
    OutputLayer,
)

IMAGES_OF_ROWS = FeedForwardToCnnPreProcessor(4, 4, 2)


@pytest.mark.parametrize("first", ["input_pre_processor", "set_input_type"])
def test_own_preprocessors_take_part_in_the_sizes(first):
    """n_in 2 and 45, and rows put behind the convolution: as DL4J 1.0.0-M1.1 builds it, in either order."""
    layers = ConvolutionLayer(n_out=5, kernel_size=2), OutputLayer(n_out=3, activation="softmax")
    builder = NeuralNetConfiguration.Builder().seed(1).list().layer(layers[0]).layer(layers[1])
    calls = [
        lambda: builder.inputPreProcessor(0, IMAGES_OF_ROWS),
        lambda: builder.setInputType(InputType.feed_forward(32)),
    ]
    for call in calls if first == "input_pre_processor" else reversed(calls):
        call()
    conf = builder.build()
    assert [layer.n_in for layer in conf.layers] == [2, 45]
    assert conf.preprocessors == {0: IMAGES_OF_ROWS, 1: CnnToFeedForwardPreProcessor(3, 3, 5)}
    keywords = {"input_type": InputType.feed_forward(32), "preprocessors": {0: IMAGES_OF_ROWS}}
    assert conf == NeuralNetConfiguration(seed=1).list(*layers, **keywords)
    net = MultiLayerNetwork(conf).init()
    net.fit(np.ones((2, 32)), np.eye(3)[[0, 1]])
    assert net.output(np.ones((2, 32))).shape == (2, 3)


@dataclass(frozen=True)
class EverySecond(InputPreProcessor):
    """Rows of half the length."""

    def pre_process(self, x, examples, buffers):
        return nd.copy(x[:, ::2])

    def backprop(self, epsilon, examples, buffers):
        wide = nd.zeros(epsilon.shape[0], 2 * epsilon.shape[1], dtype=nd.dtype_name(epsilon))
        nd.assign(wide[:, ::2], epsilon)
        return wide

    def output_type(self, input_type):
        return InputType.feed_forward(input_type.size // 2)


def test_a_preprocessor_of_ones_own_in_the_middle():
    layers = DenseLayer(n_out=6), OutputLayer(n_out=3, activation="softmax")
    conf = NeuralNetConfiguration(seed=1).list(
        *layers, input_type=InputType.feed_forward(5), preprocessors={1: EverySecond()}
    )
    assert [layer.n_in for layer in conf.layers] == [5, 3]
    net = MultiLayerNetwork(conf).init()
    net.fit(np.ones((2, 5)), np.eye(3)[[0, 1]])
    assert np.isfinite(net.score())


@pytest.mark.parametrize(
    ("preprocessors", "message"),
    [
        ({2: IMAGES_OF_ROWS}, r"list: preprocessors must be of layers 0\.\.1, got 2"),
        ({"0": IMAGES_OF_ROWS}, r"list: preprocessors must be of layers 0\.\.1, got '0'"),
        ({0: "rows"}, "list: preprocessors must be instances of InputPreProcessor, got 'rows' for layer 0"),
    ],
)
def test_preprocessors_that_cannot_be(preprocessors, message):
    layers = DenseLayer(n_out=6), OutputLayer(n_out=3)
    with pytest.raises(nd.ConfigurationError, match=message):
        NeuralNetConfiguration().list(*layers, input_type=InputType.feed_forward(5), preprocessors=preprocessors)


@pytest.mark.parametrize(
    "below",
    [
        OutputLayer(n_in=4, n_out=3, activation="softmax"),
        LossLayer(activation="softmax"),
        OCNNOutputLayer(n_in=4, hidden_size=3),
    ],
)
def test_only_the_last_layer_has_a_loss(below):
    """Java builds it, and fit ends in a NullPointerException: the layer has no labels."""
    name = type(below).__name__
    with pytest.raises(
        nd.ConfigurationError,
        match=rf"list: layer 0 \({name}\) must be the last layer, as it has a loss, got 1 behind it\. Use a layer",
    ):
        NeuralNetConfiguration().list(below, OutputLayer(n_in=3, n_out=3, activation="softmax"))


@pytest.mark.parametrize("names", [("same", "same"), ("layer1", None)])
def test_layers_have_names_of_their_own(names):
    layers = DenseLayer(n_in=2, n_out=3, name=names[0]), OutputLayer(n_out=3, name=names[1])
    with pytest.raises(
        nd.ConfigurationError,
        match=rf"must have its own name, got '{names[0]}' for layer 0 '{names[0]}' \(DenseLayer\) and layer 1 .*Output",
    ):
        NeuralNetConfiguration().list(*layers)
