"""Dropout and noise of Keras, which nobody sees outside of training."""

import numpy as np
import pytest

import nd
from nd import ConfigurationError
from nn import DropoutLayer
from nn.keras.into.recognition import network_of
from nn.terms.dropout import AlphaDropout, Dropout, GaussianDropout, GaussianNoise, SpatialDropout
from tests.keras_models import call, check, functional, layer, sequential

RNG = np.random.default_rng(11)
CASES = [
    ("Dropout", {"rate": 0.2, "noise_shape": None, "seed": 3}, Dropout(rate=0.2)),
    ("Dropout", {"rate": 0.2, "noise_shape": [None, 1, 3]}, SpatialDropout(rate=0.2)),
    ("AlphaDropout", {"rate": 0.3}, AlphaDropout(rate=0.3)),
    ("GaussianDropout", {"rate": 0.3}, GaussianDropout(0.3)),
    ("GaussianNoise", {"stddev": 0.3}, GaussianNoise(0.3)),
    ("SpatialDropout1D", {"rate": 0.4}, SpatialDropout(rate=0.4)),
]


@pytest.mark.parametrize(("kind", "config", "noise"), CASES)
def test_noise_is_deeplearning4js(kind, config, noise):
    model = sequential((5, 3), layer(kind, config))
    x = RNG.normal(size=(2, 5, 3))
    check(model, [x], x)
    first = network_of(model).conf.layers[0]
    assert isinstance(first, DropoutLayer)
    assert first.drop_out == noise


@pytest.mark.parametrize("kind", ["Dropout", "AlphaDropout", "GaussianDropout", "GaussianNoise", "SpatialDropout1D"])
def test_none_of_it_is_no_layer(kind):
    dense = layer("Dense", {"units": 2, "use_bias": False}, kernel=RNG.normal(size=(3, 2)))
    net = network_of(sequential((5, 3), layer(kind, {"rate": 0.0, "stddev": 0.0}), dense))
    assert len(net.conf.layers) == 1


def test_channels_that_are_dropped_are_whole():
    conv = layer("Conv2D", {"filters": 3, "kernel_size": 1, "use_bias": False}, kernel=RNG.normal(size=(1, 1, 3, 3)))
    net = network_of(sequential((6, 6, 3), layer("SpatialDropout2D", {"rate": 0.5}), conv))
    found = nd.to_host(net.feed_forward(RNG.normal(size=(8, 6, 6, 3)), train=True)[1])
    zeros = (found == 0).mean((1, 2))
    assert set(np.unique(zeros)) == {0.0, 1.0}


def test_masks_of_other_shapes_are_refused():
    with pytest.raises(ConfigurationError, match=r"Dropout\): noise_shape=\[None, 5, 1\]"):
        network_of(sequential((5, 3), layer("Dropout", {"rate": 0.5, "noise_shape": [None, 5, 1]})))


def test_behind_a_vertex_that_says_no_format_the_axes_stay():
    x, y = RNG.normal(size=(2, 3, 5, 4))
    model = functional(
        {"x": (5, 4), "y": (5, 4)},
        call(layer("Permute", {"dims": [2, 1]}), "x", name="turned"),
        call(layer("SpatialDropout1D", {"rate": 0.4}), "turned", name="dropped"),
        call(layer("Permute", {"dims": [2, 1]}), "y", name="other"),
        call(layer("Concatenate", {"axis": 2}), "dropped", "other", name="both"),
        call(layer("Softmax", {"axis": -1}), "both", name="out"),
    )
    e = np.exp(np.concatenate([x, y], 1).transpose(0, 2, 1))
    check(model, [x, y], e / e.sum(-1, keepdims=True))
