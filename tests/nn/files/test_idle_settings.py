"""Settings that Java writes of layers without parameters: the network's defaults, sizes, axes."""

import json

import pytest

from nn import (
    BinomialDistribution,
    ConvolutionLayer,
    DenseLayer,
    DropoutLayer,
    FrozenLayer,
    GlobalPoolingLayer,
    InputType,
    L2NormalizeVertex,
    LossLayer,
    MultiLayerConfiguration,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
    RepeatVector,
    RnnOutputLayer,
    UniformDistribution,
)
from nn.files.idle_settings import IDLE_CLASSES
from nn.terms.java_form import IDLE
from optimize import Adam, ExponentialSchedule, MaxNormConstraint
from tests.java_check.noise import DROPOUTS, WEIGHT_NOISES


def layers_of(conf):
    return [each["layer"] for each in json.loads(conf.to_json())["confs"]]


@pytest.mark.parametrize("layer", [DropoutLayer(0.5), RepeatVector(3)], ids=["dropout", "repeat"])
def test_a_layer_without_parameters_has_the_networks_defaults(layer):
    """As `BaseLayer` of Java's gets them, a dense layer beside it too."""
    settings = NeuralNetConfiguration(
        seed=1, updater=Adam(0.25), weight_init=NormalDistribution(0.0, 0.5), activation="tanh", l2=0.5, bias_init=2.0
    )
    last = RnnOutputLayer(n_out=2) if isinstance(layer, RepeatVector) else OutputLayer(n_out=2)
    conf = settings.list(DenseLayer(n_in=4, n_out=4), layer, last, input_type=InputType.feed_forward(4))
    dense, idle, _ = layers_of(conf)
    assert idle["@class"] in IDLE_CLASSES
    compared = IDLE.keys() - {"nin", "nout", "timeDistributedFormat"}
    assert {key: idle[key] for key in compared} == {key: dense[key] for key in compared}
    assert idle["weightInitFn"]["distribution"]["type"].endswith(".NormalDistribution")
    again = MultiLayerConfiguration.from_json(conf.to_json())
    assert again.to_json() == conf.to_json()
    assert again == conf


KINDS = {
    "drop_out": [0.5, *(noise for name, noise in DROPOUTS.items() if name != "spatial")],  # which needs places
    "weight_noise": [*WEIGHT_NOISES.values()],
    "weight_init": ["xavier", UniformDistribution(-1.0, 1.0), BinomialDistribution(2, 0.5)],
    "constrain_weights": [[MaxNormConstraint(1.0)]],
    "updater": [Adam(ExponentialSchedule("iteration", 0.1, 0.9))],
    "gradient_normalization": ["clip_l2_per_layer"],
    "activation": ["leakyrelu"],
}


@pytest.mark.parametrize("layer", [DropoutLayer(0.5), RepeatVector(3)], ids=["dropout", "repeat"])
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in KINDS.items() for value in values])
def test_settings_of_every_kind_are_read_as_they_are_written(layer, name, value):
    """Also where such a layer keeps what it does not use."""
    last = RnnOutputLayer(n_out=2) if isinstance(layer, RepeatVector) else OutputLayer(n_out=2)
    base = NeuralNetConfiguration(seed=1, **{name: value})
    conf = base.list(DenseLayer(n_in=4, n_out=4), layer, last, input_type=InputType.feed_forward(4))
    again = MultiLayerConfiguration.from_json(conf.to_json())
    assert again.to_json() == conf.to_json()
    assert again == conf


def test_a_frozen_one_has_them_too():
    conf = NeuralNetConfiguration(seed=1, updater=Adam(0.25)).list(
        FrozenLayer(layer=DropoutLayer(0.5)), OutputLayer(n_in=4, n_out=2)
    )
    assert layers_of(conf)[0]["layer"]["iupdater"]["learningRate"] == 0.25


def test_sizes_and_axes_follow_from_the_input():
    conf = NeuralNetConfiguration(seed=1).list(
        ConvolutionLayer(n_out=3, kernel_size=2),
        GlobalPoolingLayer("avg"),
        LossLayer(activation="softmax"),
        input_type=InputType.convolutional(4, 4, 1),
    )
    _, pool, loss = layers_of(conf)
    assert pool["poolingDimensions"] == [2, 3]
    assert loss["nin"] == 3
    assert MultiLayerConfiguration.from_json(conf.to_json()) == conf


def test_a_vertex_without_axes_says_so():
    for axes, written in (((), []), (None, None), ((1,), [1])):
        conf = NeuralNetConfiguration(seed=1).graph(
            {"in": InputType.feed_forward(4)},
            {"norm": (L2NormalizeVertex(axes), "in"), "out": (OutputLayer(n_out=2), "norm")},
            ["out"],
        )
        assert json.loads(conf.to_json())["vertices"]["norm"]["dimension"] == written
    assert hash(L2NormalizeVertex(())) == hash(L2NormalizeVertex())
    assert L2NormalizeVertex() != L2NormalizeVertex((1,))
