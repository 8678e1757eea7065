"""What Convolution1DLayer does beside the rows of tests/cases: masks, causality, its names in Java, refusals."""

import json
from pathlib import Path

import numpy as np
import pytest

import nd
from nn import (
    Convolution1D,
    Convolution1DLayer,
    ConvolutionLayer,
    ConvolutionMode,
    GlobalPoolingLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from tests.java_check import theirs
from tests.layers_at_work import forward
from tests.stand_ins import as_input

CASES = Path(__file__).parent.parent.parent / "cases"

RNG = np.random.default_rng(12)
T = 7
SERIES = InputType.recurrent(2, T)
X = RNG.normal(size=(3, 2, T))
MASK = np.array([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 1.0]])


def network(*layers, input_type=SERIES, **settings):
    output = OutputLayer(n_out=2, activation="softmax")
    conf = NeuralNetConfiguration(seed=4, dtype="float64", bias_init=0.2, **settings).list(
        *layers, output, input_type=input_type
    )
    return MultiLayerNetwork(conf).init()


def conv(**settings):
    return Convolution1DLayer(**{"n_out": 3, "kernel_size": 3, "activation": "tanh", **settings})


def largest_under(mask, before, kernel, stride, dilation, out):
    """A step counts where one under its window does."""
    made = np.zeros((len(mask), out))
    for n, position in np.ndindex(*made.shape):
        steps = [position * stride - before + cell * dilation for cell in range(kernel)]
        made[n, position] = max([mask[n, at] for at in steps if 0 <= at < mask.shape[1]], default=0.0)
    return made


MASKED = {  # settings -> padding before and output length, None where the mask stays
    "truncate": ({}, (0, 5)),
    "strided, padded": ({"stride": 2, "padding": 1}, (1, 4)),
    "same": ({"convolution_mode": "same"}, None),
    "same, strided": ({"convolution_mode": "same", "stride": 2}, (1, 4)),
    "causal": ({"convolution_mode": "causal"}, None),
    "causal, strided, dilated": ({"convolution_mode": "causal", "stride": 3, "dilation": 2}, (4, 3)),
    "more padding than kernel": ({"kernel_size": 1, "padding": 2}, (2, 11)),
}


@pytest.mark.parametrize("name", MASKED)
def test_a_mask_is_handed_on_and_changes_no_activations(backend, name):
    settings, expected = MASKED[name]
    layer = network(conv(**settings), conv(kernel_size=1)).get_layer(0)
    made = MASK
    if expected is not None:
        before, out = expected
        made = largest_under(
            MASK, before, *(getattr(layer.conf, k)[0] for k in ("kernel_size", "stride", "dilation")), out
        )
    np.testing.assert_array_equal(nd.to_host(layer.feed_forward_mask(as_input(backend, MASK))), made)
    x, mask = as_input(backend, X), as_input(backend, MASK)
    plain = nd.to_host(forward(layer, x, False)[0]).copy()
    np.testing.assert_array_equal(nd.to_host(forward(layer, x, False, mask)[0]), plain)


def test_masked_convolutions_are_javas():
    """Two of them and a loss, both masks, run and trained by Deeplearning4j 1.0.0-M2.1: a case of `make java-check`."""
    result = theirs.repeat(CASES / "java_masked_convolutions")
    assert set(result.distances) == set(theirs.TOLERANCES)
    assert max(result.distances.values()) < 1e-12


def test_masked_steps_change_nothing_that_is_trained(backend):
    """What stands in a step that no window of others may see makes no difference to the gradient."""
    net = network(conv(kernel_size=1), GlobalPoolingLayer(pooling_type="avg"))
    labels, gradients = np.eye(2)[[0, 1, 1]], []
    for noise in (0.0, 100.0):
        net.set_input(as_input(backend, X + noise * (1.0 - MASK)[:, None, :]))
        net.set_labels(as_input(backend, labels))
        net.set_masks(as_input(backend, MASK), None)
        net.compute_gradient_and_score()
        gradients.append(nd.to_host(nd.copy(net.flattened_gradients())))
    np.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-10, atol=1e-12)
    assert np.abs(gradients[0]).max() > 1e-3


@pytest.mark.parametrize("dilation", [1, 2])
def test_causal_outputs_do_not_see_what_comes_later(backend, dilation):
    layer = network(conv(convolution_mode=ConvolutionMode.CAUSAL, dilation=dilation), conv(kernel_size=T)).get_layer(0)
    before = nd.to_host(forward(layer, as_input(backend, X), False)[0]).copy()
    later = X.copy()
    later[:, :, 4:] += 1.0
    after = nd.to_host(forward(layer, as_input(backend, later), False)[0])
    np.testing.assert_array_equal(after[:, :, :4], before[:, :, :4])
    assert (after[:, :, 4:] != before[:, :, 4:]).any(axis=(0, 1)).all()


def test_series_of_any_length():
    net = network(conv(convolution_mode="same"), conv(kernel_size=2), input_type=InputType.recurrent(2))
    types = net.conf.layer_types()
    assert [repr(out) for _, out in types[:2]] == ["recurrent(3)", "recurrent(3)"]
    assert [net.feed_forward_to_layer(1, RNG.normal(size=(2, 2, steps)))[2].shape[2] for steps in (2, 9)] == [1, 8]


def test_rows_become_series():
    net = network(conv(kernel_size=1), input_type=InputType.feed_forward(2))
    assert [type(p).__name__ for p in net.conf.preprocessors.values()] == [
        "FeedForwardToRnnPreProcessor",
        "RnnToFeedForwardPreProcessor",
    ]


def test_java_names():
    assert Convolution1D is Convolution1DLayer
    assert Convolution1DLayer.Builder(3, 2, 1).nOut(4).build() == conv(n_out=4, stride=2, padding=1, activation=None)
    java = json.loads(network(conv(stride=2, padding=1, dilation=3, convolution_mode="causal")).conf.to_json())
    layer = java["confs"][0]["layer"]
    assert layer["@class"] == "org.deeplearning4j.nn.conf.layers.Convolution1DLayer"
    found = {key: layer[key] for key in ("kernelSize", "stride", "padding", "dilation", "convolutionMode")}
    assert found == {
        "kernelSize": [3, 1], "stride": [2, 1], "padding": [1, 0], "dilation": [3, 1], "convolutionMode": "Causal"
    }  # fmt: skip
    assert layer["rnnDataFormat"] == "NCW"
    assert java["confs"][0]["variables"] == ["W", "b"]
    expected = MultiLayerConfiguration.from_json(json.dumps(java)).layers
    layer["@class"] = "org.deeplearning4j.nn.conf.layers.Convolution1D"
    for key in ("dilation", "rnnDataFormat"):
        del layer[key]
    plain = MultiLayerConfiguration.from_json(json.dumps(java)).layers
    assert (plain[0].dilation, expected[0].dilation) == ((1,), (3,))
    layer["rnnDataFormat"] = "NWC"
    with pytest.raises(nd.ConfigurationError, match="its input must be NCW, as the layer takes it, got NWC"):
        MultiLayerConfiguration.from_json(json.dumps(java))  # the layer behind says another


def test_what_is_refused():
    with pytest.raises(nd.ConfigurationError, match=r"Convolution1DLayer: kernel_size must be given, got None\. Say"):
        Convolution1DLayer(n_out=2)
    with pytest.raises(nd.ShapeError, match=r"Convolution1DLayer: kernel_size must be one integer >= 1, got \(3, 1\)"):
        conv(kernel_size=(3, 1))
    with pytest.raises(
        nd.ConfigurationError, match=r"layer 0 \(Convolution1DLayer\): expected time series, got conv.*3d"
    ):
        network(conv(), input_type=InputType.convolutional3d(2, 2, 2, 1))
    with pytest.raises(
        nd.ShapeError, match=r"layer 0 \(Convolution1DLayer\): the kernel must fit .* over length 7 \+ 2"
    ):
        network(conv(kernel_size=8))
    with pytest.raises(nd.ShapeError, match=r"expected input \[N, 2, T\], got \[3, 7, 2\]\. Put its axes in order"):
        forward(network(conv()).get_layer(0), nd.create(X.transpose(0, 2, 1)), False)


@pytest.mark.parametrize("layer", [ConvolutionLayer(n_out=2), SubsamplingLayer("max")])
def test_causal_is_for_series_alone(layer):
    message = f"{type(layer).__name__}: convolution_mode must be 'same', 'strict' or 'truncate', got 'causal', which is"
    with pytest.raises(nd.ConfigurationError, match=message):
        network(layer, input_type=InputType.convolutional(6, 6, 1), convolution_mode="causal")
