"""Convolutions by groups of channels on every backend, plain and transposed, against loops over cells in float64."""

import numpy as np
import pytest

from backends.cpu.channel_groups import GroupsSaved
from backends.cpu.numpy_backend import NumpyBackend
from backends.generic.window import Window
from tests.backends.onednn.oracles import bias_gradient, convolved, kernel_gradient, spread
from tests.cells import wide_values
from tests.stand_ins import TOLERANCE, as_input

WINDOWS = {
    "plain": Window((5, 6), (3, 2)),
    "strided, dilated, padded": Window((8, 7), (3, 2), (2, 1), (2, 3), (2, 1), (1, 2)),
    "series": Window((9, 1), (3, 1), (2, 1), (1, 1), (1, 0), (0, 0)),
    "volumes": Window((3, 4, 5), (2, 2, 3), (1, 2, 1), (1, 1, 1), (1, 0, 1), (0, 0, 1)),
    "long rows": Window((6, 30), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
}
GROUPS = {"two of three": (2, 4, 3), "three of one": (3, 2, 1), "many": (17, 2, 2)}  # groups, n, C of each


@pytest.fixture(params=list(WINDOWS))
def window(request):
    return WINDOWS[request.param]


@pytest.fixture
def without_onednn():
    backend = NumpyBackend(threads=1)
    backend.onednn = None
    return backend


def numbers(shape, dtype, seed):
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)


def close(backend, got, expected, size, dtype):
    """Hold a result against its oracle, relative to the size of the sums that it is."""
    got = backend.to_host(got)
    assert got.dtype == np.dtype(dtype)
    assert got.shape == expected.shape
    assert np.all(np.abs(got - expected) <= TOLERANCE[dtype]["rtol"] * size + TOLERANCE[dtype]["atol"])


def held(backend, found, oracle, hosts, dtype):
    """Hold results against an oracle's, and against those of absolute values."""
    for got, expected, size in zip(found, oracle(*hosts), oracle(*map(np.abs, hosts)), strict=True):
        close(backend, got, expected, size, dtype)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("with_bias", wide_values([True, False], 1))
@pytest.mark.quick_rows(every=3)
def test_convolution_and_its_gradients(any_backend, dtype, order, window, groups, with_bias):
    count, n_out, channels = GROUPS[groups]
    shapes = (
        (3, count * channels, *window.size), (count, n_out, channels, *window.kernel), (1, count * n_out),
        (3, count * n_out, *window.out),
    )  # fmt: skip
    hosts = [numbers(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    x, W, b, delta = (as_input(any_backend, host, order) for host in hosts)
    gradients = any_backend.full(W.shape, 9.0, dtype), any_backend.full(b.shape, 9.0, dtype) if with_bias else None
    buffers = any_backend.fresh_buffers(dtype)
    z, saved = any_backend.grouped(x, W, b if with_bias else None, window, buffers)
    below = any_backend.grouped_backward(delta, saved, W, window, gradients, buffers)

    def oracle(x, W, b, delta):
        found = (convolved(x, W, b if with_bias else None, window), kernel_gradient(x, delta, count, window))
        return (*found, spread(delta, W, window), *((bias_gradient(delta),) if with_bias else ()))

    held(any_backend, (z, gradients[0], below, *gradients[1 : 1 + with_bias]), oracle, hosts, dtype)
    for array, host in zip((x, W, b, delta), hosts, strict=True):
        np.testing.assert_array_equal(any_backend.to_host(array), host)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.quick_rows(every=3)
def test_transposed_convolution_and_its_gradients(any_backend, dtype, order, window, groups):
    count, channels, n_out = GROUPS[groups]
    shapes = (
        (3, count * channels, *window.out), (count, channels, n_out, *window.kernel), (1, count * n_out),
        (3, count * n_out, *window.size),
    )  # fmt: skip
    hosts = [numbers(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    x, W, b, delta = (as_input(any_backend, host, order) for host in hosts)
    gradients = any_backend.full(W.shape, 9.0, dtype), any_backend.full(b.shape, 9.0, dtype)
    buffers = any_backend.fresh_buffers(dtype)
    z, saved = any_backend.grouped_deconv(x, W, b, window, buffers)
    below = any_backend.grouped_deconv_backward(delta, saved, window, gradients, buffers)

    def oracle(x, W, b, delta):
        shift = b.reshape(1, -1, *(1,) * len(window.size)).astype("float64")
        found = spread(x, W, window) + shift, kernel_gradient(delta, x, count, window)
        return (*found, convolved(delta, W, None, window), bias_gradient(delta))

    held(any_backend, (z, gradients[0], below, gradients[1]), oracle, hosts, dtype)
    for array, host in zip((x, W, b, delta), hosts, strict=True):
        np.testing.assert_array_equal(any_backend.to_host(array), host)


@pytest.mark.parametrize("groups", GROUPS)
def test_no_epsilon_that_nobody_needs_and_activated_outputs(any_backend, dtype, groups):
    (count, n_out, channels), window = GROUPS[groups], WINDOWS["plain"]
    x, W = numbers((2, count * channels, 5, 6), dtype, 1), numbers((count, n_out, channels, 3, 2), dtype, 2)
    here, buffers = as_input(any_backend, W), any_backend.fresh_buffers(dtype)

    def activate(z):
        return any_backend.maximum(z, 0.0, z)

    z, saved = any_backend.grouped(as_input(any_backend, x), here, None, window, buffers, activate)
    expected, size = np.maximum(convolved(x, W, None, window), 0.0), convolved(abs(x), abs(W), None, window)
    close(any_backend, z, expected, size, dtype)
    gradient = any_backend.full(W.shape, 9.0, dtype)
    assert any_backend.grouped_backward(z, saved, here, window, (gradient, None), buffers, need_epsilon=False) is None
    delta = any_backend.to_host(z)
    size = kernel_gradient(abs(x), abs(delta), count, window)
    close(any_backend, gradient, kernel_gradient(x, delta, count, window), size, dtype)


def test_numpys_one_group_is_its_convolution_to_the_bit(dtype, without_onednn):
    window, buffers = WINDOWS["long rows"], without_onednn.fresh_buffers(dtype)
    x, W = (numbers(shape, dtype, 3) for shape in ((4, 2, 6, 30), (3, 2, 3, 3)))
    z, _ = without_onednn.conv2d(x, W, None, window, buffers)
    grouped, _ = without_onednn.grouped(x, W[None], None, window, without_onednn.fresh_buffers(dtype))
    np.testing.assert_array_equal(grouped, z)


def test_numpy_convolves_images_group_after_group(without_onednn):
    window, buffers = WINDOWS["plain"], without_onednn.fresh_buffers("float64")
    x, W = numbers((2, 4, 5, 6), "float64", 1), numbers((2, 3, 2, 3, 2), "float64", 2)
    _, saved = without_onednn.grouped(x, W, None, window, buffers)
    assert isinstance(saved, GroupsSaved)
    assert len(saved.groups) == 2
