"""Convolutions of Keras, of all channels, in groups, and of every channel for itself."""

import numpy as np
import pytest

import nn
from nd import ConfigurationError
from nn.keras.into.recognition import network_of
from tests.keras_models import check, layer, sequential
from tests.keras_places import convolved, depthwise, softmax, turned

RNG = np.random.default_rng(34)
FORMATS = ["channels_last", "channels_first"]
WINDOWS = [
    ((9,), 3, {}),
    ((9,), 4, {"padding": "same", "stride": 2}),
    ((8,), 3, {"padding": "causal", "dilation": 2}),
    ((8,), 2, {"padding": "causal", "stride": 3}),
    ((7, 6), (3, 2), {"stride": (2, 1)}),
    ((7, 6), (2, 4), {"padding": "same", "dilation": (3, 1)}),
    ((5, 8), (1, 4), {"padding": "same", "stride": (2, 3)}),
    ((4, 5, 4), (2, 3, 2), {"padding": "same", "stride": (1, 2, 3)}),
    ((4, 5, 6), 2, {"dilation": (1, 2, 3)}),
]


def sized(kernel, axes):
    return (kernel,) * axes if isinstance(kernel, int) else kernel


def settings(kernel, how, **config):
    told = {"stride": "strides", "dilation": "dilation_rate", "padding": "padding"}
    return {"kernel_size": kernel, **{told[key]: value for key, value in how.items()}, **config}


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize(("sizes", "kernel", "how"), WINDOWS)
def test_windows_lie_where_tensorflow_puts_them(sizes, kernel, how, data_format):
    x, W, b = RNG.normal(size=(2, *sizes, 3)), RNG.normal(size=(*sized(kernel, len(sizes)), 3, 4)), RNG.normal(size=4)
    config = settings(kernel, how, filters=4, activation="tanh", data_format=data_format)
    model = sequential(turned((*sizes, 3), data_format), layer(f"Conv{len(sizes)}D", config, kernel=W, bias=b))
    check(model, [turned(x, data_format)], turned(np.tanh(convolved(x, W, **how) + b), data_format))
    assert isinstance(network_of(model), nn.MultiLayerNetwork)


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("sizes", [(5,), (4, 5), (2, 3, 4)])
def test_a_softmax_goes_along_the_last_axis(sizes, groups, data_format):
    x, W = RNG.normal(size=(2, *sizes, 4)), RNG.normal(size=(*(2,) * len(sizes), 4 // groups, 6))
    config = settings(2, {}, filters=6, activation="softmax", data_format=data_format, use_bias=False, groups=groups)
    model = sequential(turned((*sizes, 4), data_format), layer(f"Conv{len(sizes)}D", config, kernel=W))
    check(model, [turned(x, data_format)], softmax(turned(convolved(x, W, groups=groups), data_format)))


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize(("sizes", "kernel", "how"), WINDOWS[1::3])
@pytest.mark.quick_rows(every=3)
def test_groups_of_channels_do_not_meet(sizes, kernel, how, groups, data_format):
    x, b = RNG.normal(size=(2, *sizes, 4)), RNG.normal(size=8)
    W = RNG.normal(size=(*sized(kernel, len(sizes)), 4 // groups, 8))
    config = settings(kernel, how, filters=8, groups=groups, activation="relu", data_format=data_format)
    model = sequential(turned((*sizes, 4), data_format), layer(f"Conv{len(sizes)}D", config, kernel=W, bias=b))
    check(
        model, [turned(x, data_format)], turned(np.maximum(convolved(x, W, groups=groups, **how) + b, 0), data_format)
    )


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("activation", ["tanh", "softmax"])
@pytest.mark.parametrize(("sizes", "kernel", "how"), WINDOWS[:7])
@pytest.mark.quick_rows(every=4)
def test_every_channel_for_itself(sizes, kernel, how, activation, data_format):
    x, b = RNG.normal(size=(2, *sizes, 3)), RNG.normal(size=6)
    W = RNG.normal(size=(*sized(kernel, len(sizes)), 3, 2))
    config = settings(kernel, how, depth_multiplier=2, activation=activation, data_format=data_format)
    model = sequential(turned((*sizes, 3), data_format), layer(f"DepthwiseConv{len(sizes)}D", config, kernel=W, bias=b))
    function = {"tanh": np.tanh, "softmax": softmax}[activation]
    check(model, [turned(x, data_format)], function(turned(depthwise(x, W, **how) + b, data_format)))


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize(("sizes", "kernel", "how"), WINDOWS[:7])
def test_every_channel_for_itself_and_then_across(sizes, kernel, how, data_format):
    x, W = RNG.normal(size=(2, *sizes, 3)), RNG.normal(size=(*sized(kernel, len(sizes)), 3, 2))
    across, b = RNG.normal(size=(*(1,) * len(sizes), 6, 4)), RNG.normal(size=4)
    config = settings(kernel, how, filters=4, depth_multiplier=2, data_format=data_format)
    made = layer(f"SeparableConv{len(sizes)}D", config, depthwise_kernel=W, pointwise_kernel=across, bias=b)
    model = sequential(turned((*sizes, 3), data_format), made)
    check(model, [turned(x, data_format)], turned(convolved(depthwise(x, W, **how), across) + b, data_format))


def test_one_behind_another_of_the_other_format_takes_other_axes_for_the_channels():
    x, W = RNG.normal(size=(2, 4, 5, 3)), RNG.normal(size=(1, 1, 3, 4))
    V = RNG.normal(size=(2, 2, 4, 2))
    model = sequential(
        (4, 5, 3),
        layer("Conv2D", settings(1, {}, filters=4, use_bias=False, data_format="channels_last"), kernel=W),
        layer("Conv2D", settings(2, {}, filters=2, use_bias=False, data_format="channels_first"), kernel=V),
    )
    between = np.moveaxis(x @ W[0, 0], 1, -1)  # whose rows are the channels
    check(model, [x], np.moveaxis(convolved(between, V), -1, 1))


@pytest.mark.parametrize(
    ("name", "axes", "config", "formula"),
    [
        ("Conv1D", 1, {"filters": 2}, convolved),
        ("Conv2D", 2, {"filters": 2}, convolved),
        ("DepthwiseConv1D", 1, {"depth_multiplier": 2}, depthwise),
    ],
)
def test_open_sizes(name, axes, config, formula):
    W = RNG.normal(size=(*(3,) * axes, 2, 2))
    made = layer(name, settings(3, {"padding": "same"}, use_bias=False, **config), kernel=W)
    for length in (4, 7):
        x = RNG.normal(size=(2, *(length,) * axes, 2))
        check(sequential((*(None,) * axes, 2), made), [x], formula(x, W, padding="same"))


def test_penalties_and_limits_have_our_axes():
    penalty = {"class_name": "L1L2", "config": {"l1": 0.01, "l2": 0.02}}
    limit = {"class_name": "MaxNorm", "config": {"max_value": 0.5, "axis": [0, 1, 2]}}
    config = settings(3, {}, filters=4, kernel_regularizer=penalty, kernel_constraint=limit)
    made = layer("Conv2D", config, kernel=RNG.normal(size=(3, 3, 2, 4)), bias=np.zeros(4))
    (conv, *_) = network_of(sequential((6, 6, 2), made)).conf.layers
    assert (conv.l1, conv.l2) == (0.01, 0.04)  # ours is half of the square
    assert [held.dimensions for held in conv.constraints] == [(1, 2, 3)]  # of [out, in, kernel_h, kernel_w]


@pytest.mark.parametrize(
    ("name", "shape", "config", "why"),
    [
        ("Conv2D", (4, 4, 3), settings(5, {}, filters=2), "windows of 5 places over 4"),
        ("Conv2D", (4, 4, 3), settings(2, {"padding": "full"}, filters=2), "padding='full'"),
        ("Conv2D", (4, 3), settings(2, {}, filters=2), "its input must have 4 axes, got 3"),
        ("Conv2D", (4, 4, 3), settings((2, 2, 2), {}, filters=2), "kernel_size must have 2 numbers"),
        ("Conv2D", (4, 4, 3), settings(2, {}, filters=2, groups=2), "groups=2"),
        ("Conv1D", (4, None), settings(2, {}, filters=2), "number of channels is open"),
        ("Conv2D", (4, 4, 3), settings(2, {}, filters=2, warp=3), "warp=3"),
    ],
)
def test_what_no_layer_says_is_named(name, shape, config, why):
    made = layer(name, config, name="conv")._replace(weights=None)
    with pytest.raises(ConfigurationError, match=rf"'conv_0' \({name}\): .*{why}".replace("(5", r"\(5")):
        network_of(sequential(shape, made))
