"""Padding "same" of models that Theano computed: windows begin elsewhere than TensorFlow's."""

import numpy as np
import pytest

from nd import ConfigurationError
from nn.keras.into.recognition import network_of
from tests.keras_models import check, layer, sequential
from tests.keras_places import cells, spread

RNG = np.random.default_rng(39)
OF_WINDOWS = {"Max": np.nanmax, "Average": np.nanmean}


def by_theano(shape, made):
    return sequential(shape, made, version=2)._replace(backend="theano")


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize(("sizes", "kernel", "dilation"), [((7,), (4,), 1), ((8, 7), (3, 2), 1), ((8, 7), (2, 3), 2)])
def test_a_convolution_begins_half_a_window_before_the_first_place(sizes, kernel, dilation, stride):
    axes = len(sizes)
    x, W = RNG.normal(size=(2, *sizes, 3)), RNG.normal(size=(*kernel, 3, 4))
    half = tuple((dilation * (k - 1) + 1) // 2 for k in kernel)
    under = cells(x, kernel, stride, dilation, half)
    config = {"filters": 4, "kernel_size": kernel, "strides": stride, "dilation_rate": dilation, "padding": "same",
              "use_bias": False}  # fmt: skip
    expected = np.tensordot(under, W, (range(-axes - 1, 0), range(axes + 1)))
    check(by_theano((*sizes, 3), layer(f"Conv{axes}D", config, kernel=W)), [x], expected)


@pytest.mark.parametrize(("sizes", "kernel"), [((7,), (4,)), ((6, 7), (3, 2))])
def test_so_does_one_of_every_channel_for_itself(sizes, kernel):
    axes = len(sizes)
    x, W = RNG.normal(size=(2, *sizes, 3)), RNG.normal(size=(*kernel, 3, 1))
    under = cells(x, kernel, 2, 1, tuple(k // 2 for k in kernel))
    config = {"kernel_size": kernel, "strides": 2, "padding": "same", "use_bias": False}
    expected = (under * W[..., 0]).sum(tuple(range(1 + axes, 1 + 2 * axes)))
    check(by_theano((*sizes, 3), layer(f"DepthwiseConv{axes}D", config, kernel=W)), [x], expected)


@pytest.mark.parametrize("kind", ["Max", "Average"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("pool", [(1,), (2,), (3,), (2, 3), (4, 5), (2, 3, 2)])
@pytest.mark.quick_rows(every=4)
def test_pools_begin_further_before(pool, stride, kind):
    axes = len(pool)
    x = RNG.normal(size=(2, *(7, 6, 5)[:axes], 3)) - 5.0
    before = tuple({1: 0, 2: 1, 3: 1, 4: 3, 5: 3}[cells] for cells in pool)
    under = cells(x, pool, stride, 1, before, np.nan)
    expected = OF_WINDOWS[kind](under, axis=tuple(range(1 + axes, 1 + 2 * axes)))
    config = {"pool_size": pool, "strides": stride, "padding": "same"}
    check(by_theano(x.shape[1:], layer(f"{kind}Pooling{axes}D", config)), [x], expected)


@pytest.mark.parametrize("kernel", [3, 5])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_transposed_ones_lose_half_a_window_at_their_beginning(kernel, stride):
    x, W = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(kernel, 2, 3))
    whole = np.pad(spread(x, W, stride), [(0, 0), (0, stride), (0, 0)])
    expected = whole[:, kernel // 2 :][:, : 4 * stride]
    config = {"filters": 2, "kernel_size": kernel, "strides": stride, "padding": "same", "use_bias": False}
    check(by_theano((4, 3), layer("Conv1DTranspose", config, kernel=W)), [x], expected)


def test_an_even_kernel_of_a_transposed_one_is_refused():
    made = layer("Conv2DTranspose", {"filters": 2, "kernel_size": 2, "padding": "same"})._replace(weights=None)
    with pytest.raises(ConfigurationError, match="its kernel is even, and padded by Theano"):
        network_of(by_theano((4, 4, 3), made))


def test_files_of_keras_1_with_the_channels_first_are_theanos():
    x = RNG.normal(size=(2, 3, 6, 6))
    made = layer("MaxPooling2D", {"strides": [3, 3], "padding": "same", "data_format": "channels_first"})
    under = cells(np.moveaxis(x, 1, -1), (2, 2), 3, 1, (1, 1), np.nan)
    check(sequential((3, 6, 6), made, version=1), [x], np.moveaxis(np.nanmax(under, axis=(3, 4)), -1, 1))
