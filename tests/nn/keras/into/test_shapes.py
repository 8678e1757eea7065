"""Layers of Keras that give the same numbers in another shape or order."""

import numpy as np
import pytest

from nd import ConfigurationError
from nn import MultiLayerNetwork
from nn.keras.into.recognition import network_of
from tests.keras_models import check, layer, sequential

RNG = np.random.default_rng(9)


def conv(filters, channels, size=1, activation="linear", **config):
    kernel = RNG.normal(size=(size, size, channels, filters))
    given = {"filters": filters, "kernel_size": size, "use_bias": False, "activation": activation, **config}
    return layer("Conv2D", given, kernel=kernel)


def dense(n_in, units):
    return layer("Dense", {"units": units, "use_bias": False}, kernel=RNG.normal(size=(n_in, units)))


def kernel_of(made):
    return made.weights[0].read()


@pytest.mark.parametrize("shape", [(4,), (5, 2), (3, 2, 4), (2, 3, 2, 2)])
def test_flatten_keeps_the_order_of_keras_axes(shape):
    x = RNG.normal(size=(3, *shape))
    made = dense(int(np.prod(shape)), 2)
    check(sequential(shape, layer("Flatten")), [x], x.reshape(3, -1))
    check(sequential(shape, layer("Flatten"), made), [x], x.reshape(3, -1) @ kernel_of(made))


def test_flatten_behind_images_is_a_preprocessor_of_a_chain():
    x = RNG.normal(size=(3, 4, 5, 2))
    first, second = conv(3, 2), dense(60, 2)
    model = sequential((4, 5, 2), first, layer("Flatten"), second)
    check(model, [x], (x @ kernel_of(first)[0, 0]).reshape(3, -1) @ kernel_of(second))
    assert isinstance(network_of(model), MultiLayerNetwork)


@pytest.mark.parametrize("shape", [(4, 5), (2, 3, 4)])
def test_flatten_of_channels_first_puts_them_last_before(shape):
    x = RNG.normal(size=(3, *shape))
    expected = np.moveaxis(x, 1, -1).reshape(3, -1)
    check(sequential(shape, layer("Flatten", {"data_format": "channels_first"})), [x], expected)


@pytest.mark.parametrize(
    ("shape", "target"),
    [((12,), (3, 4)), ((12,), (2, 3, 2)), ((4, 6), (2, -1)), ((2, 3, 4), (24,)), ((2, 3, 4), (4, 3, 2)),
     ((2, 3, 4), (-1, 4)), ((24,), (2, 3, 2, 2)), ((2, 12), (2, 3, 2, 2))],
)  # fmt: skip
def test_reshape(shape, target):
    x = RNG.normal(size=(3, *shape))
    check(sequential(shape, layer("Reshape", {"target_shape": list(target)})), [x], x.reshape(3, *target))


def test_reshape_and_a_layer_that_says_the_format():
    x = RNG.normal(size=(3, 24))
    for between in ([], [layer("Activation", {"activation": "tanh"})]):
        made = conv(5, 2)
        images = np.tanh(x) if between else x
        model = sequential((24,), layer("Reshape", {"target_shape": [3, 4, 2]}), *between, made)
        check(model, [x], images.reshape(3, 3, 4, 2) @ kernel_of(made)[0, 0])


def test_reshape_of_images_that_a_layer_reads_channels_first():
    x = RNG.normal(size=(3, 4, 3, 2))
    first, second = conv(2, 2), conv(5, 4, data_format="channels_first")
    model = sequential((4, 3, 2), first, layer("Reshape", {"target_shape": [4, 2, 3]}), second)
    images = (x @ kernel_of(first)[0, 0]).reshape(3, 4, 2, 3)
    check(model, [x], np.einsum("nchw,cd->ndhw", images, kernel_of(second)[0, 0]))


@pytest.mark.parametrize("dims", [(2, 1), (1, 2), (3, 1, 2), (1, 3, 2), (2, 3, 1), (4, 1, 3, 2)])
def test_permute(dims):
    shape = (3, 4, 5, 2)[: len(dims)]
    x = RNG.normal(size=(2, *shape))
    expected = x.transpose(0, *dims)
    made = dense(expected.shape[-1], 3)
    check(sequential(shape, layer("Permute", {"dims": list(dims)})), [x], expected)
    check(sequential(shape, layer("Permute", {"dims": list(dims)}), made), [x], expected @ kernel_of(made))


def test_repeat_vector_gives_series():
    x = RNG.normal(size=(3, 4))
    made = dense(4, 2)
    expected = np.repeat(x[:, None], 5, 1)
    check(sequential((4,), layer("RepeatVector", {"n": 5})), [x], expected)
    model = sequential((4,), layer("RepeatVector", {"n": 5}), made)
    check(model, [x], expected @ kernel_of(made))
    assert isinstance(network_of(model), MultiLayerNetwork)


def test_images_of_open_size_without_a_layer_that_says_their_format():
    x = RNG.normal(size=(2, 3, 4, 5))
    check(sequential((None, None, 5), layer("Activation", {"activation": "tanh"})), [x], np.tanh(x))


@pytest.mark.parametrize(
    ("shape", "made", "why"),
    [
        ((None, 4), layer("Flatten"), r"\(Flatten\): an open size in \(None, 4\)"),
        ((12,), layer("Reshape", {"target_shape": [5, 2]}), r"target_shape=\[5, 2\] of \(12,\)"),
        ((3, 4), layer("Permute", {"dims": [1, 3]}), r"dims=\(1, 3\) of \(3, 4\)"),
        ((3, 4), layer("RepeatVector", {"n": 2}), r"an input of shape \(3, 4\)"),
    ],
)
def test_what_has_no_shape_is_refused(shape, made, why):
    with pytest.raises(ConfigurationError, match=why):
        network_of(sequential(shape, made))


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_pool_helper_of_deeplearning4js_models(data_format):
    x = RNG.normal(size=(2, 4, 5, 6))
    expected = x[:, 1:, 1:] if data_format == "channels_last" else x[:, :, 1:, 1:]
    check(sequential((4, 5, 6), layer("PoolHelper", {"data_format": data_format})), [x], expected)


def test_penalties_on_activations_change_no_output(caplog):
    x, made = RNG.normal(size=(2, 4)), dense(4, 4)
    check(sequential((4,), layer("ActivityRegularization", {"l1": 0.0, "l2": 0.1}), made), [x], x @ kernel_of(made))
    assert "penalties on activations are left out" in caplog.text
