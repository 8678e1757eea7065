"""LocallyConnected1D and LocallyConnected2D of Keras 1 and 2: kernels and biases of every place's own."""

import numpy as np
import pytest

from nd import ConfigurationError
from nn.keras.into.recognition import network_of
from tests.keras_models import check, layer, sequential
from tests.keras_places import cells, softmax, turned

RNG = np.random.default_rng(38)
FORMATS = ["channels_last", "channels_first"]
WINDOWS = [((6,), (3,), 1), ((7,), (2,), 2), ((5, 5), (2, 2), 1), ((5, 4), (2, 3), (2, 1)), ((3, 5), (3, 2), 1)]


def connected(x, W, b, kernel, stride, data_format):
    """Keras 2: a window, read in the order of the file, times the matrix of its place, plus the bias of its place."""
    axes = len(kernel)
    under = cells(x, kernel, stride)
    out = under.shape[1 : 1 + axes]
    if data_format == "channels_first":
        under = np.moveaxis(under, -1, 1 + axes)
    return np.einsum("npk,pko->npo", under.reshape(len(x), -1, W.shape[1]), W).reshape(len(x), *out, -1) + b


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("activation", ["tanh", "softmax"])
@pytest.mark.parametrize(("sizes", "kernel", "stride"), WINDOWS)
@pytest.mark.quick_rows(every=4)
def test_every_place_has_its_own(sizes, kernel, stride, activation, data_format):
    axes = len(sizes)
    x = RNG.normal(size=(2, *sizes, 3))
    out = cells(x, kernel, stride).shape[1 : 1 + axes]
    W, b = RNG.normal(size=(np.prod(out), 3 * np.prod(kernel), 4)), RNG.normal(size=(*out, 4))
    config = {"filters": 4, "kernel_size": kernel, "strides": stride, "padding": "valid", "activation": activation,
              "data_format": data_format, "implementation": 1}  # fmt: skip
    made = layer(f"LocallyConnected{axes}D", config, kernel=W, bias=b)
    model = sequential(turned((*sizes, 3), data_format), made, version=2)
    function = {"tanh": np.tanh, "softmax": softmax}[activation]
    expected = function(turned(connected(x, W, b, kernel, stride, data_format), data_format))
    check(model, [turned(x, data_format)], expected)


def test_without_biases():
    x, W = RNG.normal(size=(2, 5, 5, 1)), RNG.normal(size=(16, 4, 2))
    config = {"filters": 2, "kernel_size": 2, "use_bias": False}
    model = sequential((5, 5, 1), layer("LocallyConnected2D", config, kernel=W), version=2)
    check(model, [x], connected(x, W, 0.0, (2, 2), 1, "channels_last"))


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"implementation": 2}, "implementation=2"),
        ({"padding": "same"}, "its windows are padded or dilated"),
    ],
)
def test_other_ways_to_keep_kernels_are_refused(config, why):
    made = layer("LocallyConnected1D", {"filters": 2, "kernel_size": 2, **config})._replace(weights=None)
    with pytest.raises(ConfigurationError, match=rf"\(LocallyConnected1D\): {why}"):
        network_of(sequential((5, 3), made, version=2))
