"""Transposed convolutions and volumes: a worked example, sizes, Java's form, refusals."""

import json

import numpy as np
import pytest

import nd
from nn import (
    Convolution3D,
    Deconvolution2D,
    Deconvolution3D,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from tests.layers_at_work import forward

IMAGES, VOLUMES = InputType.convolutional(2, 2, 1), InputType.convolutional3d(3, 4, 5, 2)


def configuration(layer, input_type, **settings):
    output = OutputLayer(n_out=2, activation="softmax")
    return NeuralNetConfiguration(seed=4, dtype="float64", **settings).list(layer, output, input_type=input_type)


def test_a_worked_example(backend):
    """Every cell spreads the kernel; where they overlap they add up."""
    layer = Deconvolution2D(n_out=1, kernel_size=3, stride=2, activation="identity")
    runtime = MultiLayerNetwork(configuration(layer, IMAGES)).init().get_layer(0)
    nd.assign(runtime.params["W"], nd.create(np.arange(1.0, 10.0).reshape(1, 1, 3, 3), dtype="float64"))
    found = runtime.pre_output(nd.create([[[[1.0, 2.0], [0.0, -1.0]]]], dtype="float64"))
    expected = [[1, 2, 5, 4, 6], [4, 5, 14, 10, 12], [7, 8, 22, 14, 15], [0, 0, -4, -5, -6], [0, 0, -7, -8, -9]]
    np.testing.assert_array_equal(nd.to_host(found)[0, 0], expected)


@pytest.mark.parametrize("layer_class", [Convolution3D, Deconvolution3D])
def test_java_form_of_volumes(layer_class):
    layer = layer_class(n_out=3, kernel_size=(2, 1, 3), stride=(1, 2, 1), padding=(0, 1, 1), dilation=(2, 1, 1))
    conf = configuration(layer, VOLUMES)
    java = json.loads(conf.to_json())
    found = java["confs"][0]["layer"]
    expected = {
        "@class": f"org.deeplearning4j.nn.conf.layers.{layer_class.__name__}", "convolutionMode": "Truncate",
        "dataFormat": "NCDHW", "dilation": [2, 1, 1], "hasBias": True, "kernelSize": [2, 1, 3], "nin": 2, "nout": 3,
        "padding": [0, 1, 1], "stride": [1, 2, 1],
    }  # fmt: skip
    assert {key: found[key] for key in expected} == expected
    del found["dilation"]
    assert MultiLayerConfiguration.from_json(json.dumps(java)).layers[0].dilation == (1, 1, 1)
    found["mode"] = "Truncate"  # which Java never reads
    MultiLayerConfiguration.from_json(json.dumps(java))
    found["dataFormat"] = "NDHWC"
    with pytest.raises(nd.ConfigurationError, match="input must be NCDHW, as the layer takes it, got NDHWC"):
        MultiLayerConfiguration.from_json(json.dumps(java))  # what makes rows says another


def test_rows_become_images_and_volumes_become_rows():
    images = configuration(Deconvolution2D(n_out=1, kernel_size=2), InputType.convolutional_flat(3, 3, 1))
    assert type(images.preprocessors[0]).__name__ == "FeedForwardToCnnPreProcessor"
    volumes = configuration(Convolution3D(n_out=3), VOLUMES)
    assert volumes.preprocessors[1].features == 3 * 2 * 3 * 4
    assert volumes.layers[1].n_in == 72


def test_weights_start_as_java_starts_them():
    """Fans are those of a convolution: the strides divide what goes out."""
    for layer in (Deconvolution2D(n_in=4, n_out=3, kernel_size=(3, 2), stride=(2, 1)),
                  Deconvolution3D(n_in=4, n_out=3, kernel_size=(3, 2, 1), stride=(2, 1, 1)),
                  Convolution3D(n_in=4, n_out=3, kernel_size=(3, 2, 1), stride=(2, 1, 1))):  # fmt: skip
        W = layer.param_specs()[1]
        assert (W.fan_in, W.fan_out) == (4 * 6, 3 * 6 / 2)


def test_what_is_refused():
    with pytest.raises(
        nd.ShapeError, match=r"the output must be at least 1, got height 1 \* \(2 - 1\) \+ 2 - 2 \* 2 = -1"
    ):
        configuration(Deconvolution2D(n_out=1, kernel_size=2, padding=2), IMAGES)
    with pytest.raises(
        nd.ConfigurationError, match=r"layer 0 \(Convolution3D\): expected volumes, got convolutional\(2x"
    ):
        configuration(Convolution3D(n_out=1), IMAGES)
    with pytest.raises(
        nd.ConfigurationError, match=r"weight_init must be another than 'identity', which is for weights"
    ):
        configuration(Deconvolution3D(n_out=2), VOLUMES, weight_init="identity")
    with pytest.raises(nd.ShapeError, match=r"Convolution3D: stride must be one or three integers >= 1, got \(1, 2\)"):
        Convolution3D(n_out=1, stride=(1, 2))
    with pytest.raises(nd.ShapeError, match=r"the kernel must fit into the padded input, got kernel 4 .* over depth 3"):
        configuration(Convolution3D(n_out=1, kernel_size=4), VOLUMES)
    layer = MultiLayerNetwork(configuration(Convolution3D(n_out=1), VOLUMES)).init().get_layer(0)
    with pytest.raises(
        nd.ShapeError, match=r"expected input \[N, 2, D, H, W\], got \[1, 2, 4, 5\]\. Set the input type"
    ):
        forward(layer, nd.zeros(1, 2, 4, 5, dtype="float64"), False)
