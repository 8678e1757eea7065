"""Pools of Keras, over windows and over all places."""

import numpy as np
import pytest

import nn
from nd import ConfigurationError
from nn.keras.into.recognition import network_of
from tests.keras_models import call, check, functional, layer, sequential
from tests.keras_places import cells, turned

RNG = np.random.default_rng(36)
FORMATS = ["channels_last", "channels_first"]
SIZES = [(7,), (6, 5), (5, 4, 5)]
OF_WINDOWS = {"Max": np.nanmax, "Average": np.nanmean}


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("kind", ["Max", "Average"])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(("padding", "stride"), [("valid", None), ("same", 1), ("same", 3), ("valid", 2)])
@pytest.mark.quick_rows(every=4)
def test_padding_is_part_of_no_window(sizes, kind, padding, stride, data_format):
    axes = len(sizes)
    pool = (3, 2, 2)[:axes]
    x = RNG.normal(size=(2, *sizes, 3)) - 5.0  # a padding of zeros would be seen
    config = {"pool_size": list(pool), "strides": stride, "padding": padding, "data_format": data_format}
    under = cells(x, pool, pool if stride is None else stride, 1, padding, fill=np.nan)
    expected = OF_WINDOWS[kind](under, axis=tuple(range(1 + axes, 1 + 2 * axes)))
    model = sequential(turned((*sizes, 3), data_format), layer(f"{kind}Pooling{axes}D", config))
    check(model, [turned(x, data_format)], turned(expected, data_format))
    assert isinstance(network_of(model), nn.MultiLayerNetwork)


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("kind", ["Max", "Average"])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_over_all_places(sizes, keepdims, kind, data_format):
    axes = tuple(range(1, 1 + len(sizes)))
    x = RNG.normal(size=(2, *sizes, 3))
    made = layer(f"Global{kind}Pooling{len(sizes)}D", {"keepdims": keepdims, "data_format": data_format})
    expected = OF_WINDOWS[kind](x, axis=axes, keepdims=keepdims)
    expected = turned(expected, data_format) if keepdims else expected
    check(sequential(turned((*sizes, 3), data_format), made), [turned(x, data_format)], expected)


def test_over_images_of_an_open_size():
    for height, width in ((4, 5), (6, 3)):
        x = RNG.normal(size=(2, height, width, 3))
        check(sequential((None, None, 3), layer("GlobalAveragePooling2D")), [x], x.mean((1, 2)))


def test_windows_are_side_by_side_where_nothing_is_said():
    x = RNG.normal(size=(2, 5, 4, 3))
    model = functional({"x": (5, 4, 3)}, call(layer("MaxPooling2D"), "x", name="pool"))
    check(model, [x], x[:, :4].reshape(2, 2, 2, 2, 2, 3).max((2, 4)))


def test_windows_that_do_not_fit_are_refused():
    model = sequential((3, 3), layer("MaxPooling1D", {"pool_size": 4}))
    with pytest.raises(ConfigurationError, match=r"\(MaxPooling1D\): windows of 4 places over 3"):
        network_of(model)
