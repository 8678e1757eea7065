"""Local responses and products by elements: their configuration, and what they refuse."""

import json

import numpy as np
import pytest

import nd
from nn import (
    DenseLayer,
    ElementWiseMultiplicationLayer,
    InputType,
    LocalResponseNormalization,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from tests.layers_at_work import backprop, forward, memory_of_gradients


def test_local_responses_are_given_as_in_java():
    built = LocalResponseNormalization.Builder(1.0, 4.0, 1e-3, 0.5).build()
    assert built == LocalResponseNormalization(k=1.0, n=4, alpha=1e-3, beta=0.5)
    conf = NeuralNetConfiguration(seed=1).list(built, input_type=InputType.convolutional_flat(2, 3, 4))
    layer = json.loads(conf.to_json())["confs"][0]["layer"]
    assert layer["@class"] == "org.deeplearning4j.nn.conf.layers.LocalResponseNormalization"
    assert (layer["n"], layer["k"], layer["alpha"], layer["beta"]) == (4.0, 1.0, 1e-3, 0.5)
    assert conf.layer_types()[0][1] == InputType.convolutional(2, 3, 4)
    assert tuple(MultiLayerNetwork(conf).init().output(np.ones((2, 24))).shape) == (2, 4, 2, 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 0}, "n must be a number >= 1.*, got 0"),
        ({"n": 2.5}, r"n must be .*, got 2\.5"),
        ({"k": 0.0}, r"k must be a number > 0, got 0\.0"),
        ({"alpha": -1.0}, r"alpha must be a number >= 0, got -1\.0"),
    ],
)
def test_what_is_no_local_response_is_refused(settings, message):
    with pytest.raises(nd.ConfigurationError, match=f"LocalResponseNormalization: {message}"):
        LocalResponseNormalization(**settings)


def test_local_responses_need_images():
    with pytest.raises(nd.ConfigurationError, match=r"\(LocalResponseNormalization\): expected images, got feed"):
        NeuralNetConfiguration().list(LocalResponseNormalization(), input_type=InputType.feed_forward(3))
    conf = NeuralNetConfiguration().list(LocalResponseNormalization(), input_type=InputType.convolutional(2, 2, 3))
    layer = MultiLayerNetwork(conf).init().get_layer(0)
    with pytest.raises(nd.ShapeError, match=r"expected input \[N, C, H, W\], got \[2, 3\]"):
        forward(layer, np.ones((2, 3)), False)
    with pytest.raises(nd.DTypeError, match="expected an array, got list"):
        forward(layer, [1.0], False)


def test_products_by_elements_have_a_weight_and_a_bias_for_each():
    layers = DenseLayer(n_in=3, n_out=5), ElementWiseMultiplicationLayer(), OutputLayer(n_out=2)
    conf = NeuralNetConfiguration(seed=1).list(*layers)
    assert conf.layers[1].param_shapes() == {"W": (1, 5), "b": (1, 5)}
    first = json.loads(conf.to_json())["confs"][1]
    assert first["layer"]["@class"] == "org.deeplearning4j.nn.conf.layers.misc.ElementWiseMultiplicationLayer"
    assert (first["layer"]["nin"], first["layer"]["nout"], first["variables"]) == (5, 5, ["W", "b"])
    assert MultiLayerConfiguration.from_json(conf.to_json()).layers == conf.layers
    with pytest.raises(nd.ConfigurationError, match="n_in and n_out must be the same, got 3 and 4"):
        ElementWiseMultiplicationLayer(n_in=3, n_out=4)


def test_a_mask_takes_rows_out_of_products_by_elements(backend):
    conf = NeuralNetConfiguration(seed=1, dtype="float64").list(
        ElementWiseMultiplicationLayer(activation="sigmoid"), input_type=InputType.feed_forward(3)
    )
    layer = MultiLayerNetwork(conf).init().get_layer(0)
    x, mask = np.random.default_rng(1).normal(size=(4, 3)), np.array([[1.0], [0.0], [1.0], [0.0]])
    a, cache = forward(layer, nd.create(x), True, nd.create(mask))
    kept = nd.to_host(nd.copy(a))
    assert not kept[[1, 3]].any()
    gradients = memory_of_gradients(layer)
    backprop(layer, nd.ones(4, 3, dtype="float64"), cache, gradients)
    slopes = kept * (1.0 - kept) * mask
    np.testing.assert_allclose(nd.to_host(gradients["W"])[0], (slopes * x).sum(0), rtol=1e-12)
    np.testing.assert_allclose(nd.to_host(gradients["b"])[0], slopes.sum(0), rtol=1e-12)
