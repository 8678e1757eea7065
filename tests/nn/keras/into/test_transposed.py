"""Transposed convolutions of Keras."""

import numpy as np
import pytest

import nn
from nn.keras.into.recognition import network_of
from tests.keras_models import check, layer, sequential
from tests.keras_places import softmax, spread, turned

RNG = np.random.default_rng(35)
FORMATS = ["channels_last", "channels_first"]
WINDOWS = [
    ((5,), (3,), {}),
    ((5,), (2,), {"stride": 3}),
    ((5,), (4,), {"padding": "same", "stride": 3}),
    ((5,), (2,), {"padding": "same", "stride": 3}),
    ((5,), (4,), {"padding": "same", "stride": 3, "more": 2}),
    ((3, 4), (3, 2), {"stride": (2, 1)}),
    ((3, 4), (3, 1), {"stride": (2, 3), "more": (1, 2)}),
    ((3, 4), (3, 2), {"padding": "same", "dilation": (2, 3)}),
    ((3, 4), (5, 2), {"padding": "same", "stride": (2, 3), "more": (1, 0)}),
    ((2, 3, 2), (3, 2, 1), {"padding": "same", "stride": (2, 1, 3)}),
    ((2, 3, 2), (3, 2, 4), {"padding": "same", "stride": (2, 1, 3), "more": (1, 0, 2)}),
    ((2, 3, 2), (1, 2, 3), {"stride": (2, 2, 1)}),
]


def made_of(kernel, how, **config):
    told = {"stride": "strides", "dilation": "dilation_rate", "padding": "padding", "more": "output_padding"}
    config |= {"kernel_size": kernel, "filters": 2, **{told[key]: value for key, value in how.items()}}
    W, b = RNG.normal(size=(*kernel, 2, 3)), RNG.normal(size=2)
    return layer(f"Conv{len(kernel)}DTranspose", config, kernel=W, bias=b), W, b


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize(("sizes", "kernel", "how"), WINDOWS)
@pytest.mark.quick_rows(every=4)
def test_every_place_is_spread_over_a_window(sizes, kernel, how, data_format):
    x = RNG.normal(size=(2, *sizes, 3))
    made, W, b = made_of(kernel, how, activation="tanh", data_format=data_format, groups=1)
    model = sequential(turned((*sizes, 3), data_format), made)
    check(model, [turned(x, data_format)], turned(np.tanh(spread(x, W, **how) + b), data_format))


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("at", [4, 8, 10])
def test_a_softmax_goes_along_the_last_axis_of_what_is_left(at, data_format):
    sizes, kernel, how = WINDOWS[at]
    x = RNG.normal(size=(2, *sizes, 3))
    made, W, b = made_of(kernel, how, activation="softmax", data_format=data_format)
    model = sequential(turned((*sizes, 3), data_format), made)
    check(model, [turned(x, data_format)], softmax(turned(spread(x, W, **how) + b, data_format)))


def test_usual_ones_over_images_are_one_layer():
    made, _, _ = made_of((3, 3), {"padding": "same", "stride": 2})
    first, *_ = network_of(sequential((4, 4, 3), made)).conf.layers
    assert isinstance(first, nn.Deconvolution2D)
    assert first.convolution_mode == "same"


@pytest.mark.parametrize("how", [{"stride": 2}, {"padding": "same", "stride": 3}, {"stride": 3, "more": 2}])
def test_series_of_open_length(how):
    made, W, b = made_of((2,), how)
    for length in (3, 5):
        x = RNG.normal(size=(2, length, 3))
        check(sequential((None, 3), made), [x], spread(x, W, **how) + b)


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize(("how", "more"), [({}, (1, 2)), ({"padding": "same"}, (1, 0)), ({"padding": "same"}, (0, 2))])
def test_keras_1_says_the_shape_of_the_output(how, more, data_format):
    x = RNG.normal(size=(2, 3, 4, 3))
    made, W, b = made_of((3, 4), {**how, "stride": (2, 3)}, data_format=data_format)
    expected = spread(x, W, (2, 3), more=more, **how) + b
    made.config["output_shape"] = [None, *turned(expected.shape[1:], data_format)]
    model = sequential(turned((3, 4, 3), data_format), made, version=2)
    check(model, [turned(x, data_format)], turned(expected, data_format))
