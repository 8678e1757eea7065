"""NumPy's 1x1 convolution on images in every memory order, against einsum in float64."""

import numpy as np
import pytest

from backends.cpu import pointwise
from backends.cpu.numpy_backend import NumpyBackend
from backends.cpu.row_convolution import rows_first
from backends.generic.window import Window
from tests.cells import every_row
from tests.sweeps import share

ORDERS = {"c": (0, 1, 2, 3), "batch": (1, 2, 3, 0), "rows": (2, 1, 3, 0)}


def in_order(x, order):
    axes = ORDERS[order]
    return np.ascontiguousarray(x.transpose(axes)).transpose(np.argsort(axes))


def problem(seed):
    rng = np.random.default_rng(seed)
    size, stride = rng.integers(1, 12, 2), rng.integers(1, 4, 2)
    window = Window(tuple(map(int, size)), (1, 1), tuple(map(int, stride)))
    n, channels, n_out = (int(each) for each in rng.integers(1, (20, 7, 6)))
    shapes = (n, channels, *window.size), (n_out, channels, 1, 1), (1, n_out), (n, n_out, *window.out)
    return window, [rng.normal(size=shape) for shape in shapes]


def check(seed, dtype, orders):
    backend = NumpyBackend(threads=1)
    window, arrays = problem(seed)
    x, W, b, delta = (np.asarray(each, dtype) for each in arrays)
    x, delta = (in_order(each, order) for each, order in zip((x, delta), orders, strict=True))
    buffers, gradients = backend.fresh_buffers(dtype), (np.full_like(W, np.nan), np.full_like(b, np.nan))
    z, saved = backend.conv2d(x, W, b, window, buffers)
    assert type(saved) is pointwise.PointwiseSaved
    epsilon = backend.conv2d_backward(delta, saved, W, window, gradients, buffers)
    every = (slice(None), slice(None), *(slice(None, None, step) for step in window.stride))
    found, sizes = (z, *gradients, epsilon), expected(*map(abs, arrays), every)
    for got, value, size in zip(found, expected(*arrays, every), sizes, strict=True):
        assert got.dtype == dtype
        assert (abs(got - value) <= (1e-14 if dtype == "float64" else 1e-6) * size).all()


def expected(x, W, b, delta, every):
    """Return z and the gradients of W, b and x."""
    below = np.zeros_like(x)
    below[every] = np.einsum("nohw,oc->nchw", delta, W[:, :, 0, 0])
    z = np.einsum("nchw,oc->nohw", x[every], W[:, :, 0, 0]) + b.reshape(1, -1, 1, 1)
    return z, np.einsum("nohw,nchw->oc", delta, x[every])[:, :, None, None], delta.sum((0, 2, 3))[None], below


@every_row("after", ORDERS)
@every_row("before", ORDERS)
def test_images_in_every_memory_order(before, after):
    for seed in range(5):
        check(seed, "float64", (before, after))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(share(300)))
def test_random_images_in_float32(seed):
    rng = np.random.default_rng(seed)
    check(seed, "float32", rng.choice(list(ORDERS), 2))


@pytest.mark.parametrize("order", ["batch", "rows"])
@pytest.mark.parametrize("cached", [1, 3000, 1 << 20])
def test_pieces_that_fit_the_cache_are_all_of_it(order, cached, monkeypatch):
    monkeypatch.setattr(pointwise, "CACHED_BYTES", cached)
    check(3, "float64", (order, order))


def test_without_bias_and_without_an_epsilon():
    backend, (window, (x, W, _, delta)) = NumpyBackend(threads=1), problem(2)
    buffers, gradient = backend.fresh_buffers("float64"), np.zeros_like(W)
    z, saved = backend.conv2d(x, W, None, window, buffers)
    assert backend.conv2d_backward(delta, saved, W, window, (gradient, None), buffers, False) is None
    every = x[:, :, :: window.stride[0], :: window.stride[1]]
    np.testing.assert_allclose(z, np.einsum("nchw,oc->nohw", every, W[:, :, 0, 0]), rtol=1e-10, atol=1e-12)
    expected = np.einsum("nohw,nchw->oc", delta, every)
    np.testing.assert_allclose(gradient[:, :, 0, 0], expected, rtol=1e-10, atol=1e-12)


def test_padded_cells_are_left_to_others():
    backend, window = NumpyBackend(threads=1), Window((3, 4), (1, 1), pad_before=(1, 0), pad_after=(0, 1))
    x, W = np.ones((2, 3, 3, 4)), np.ones((5, 3, 1, 1))
    z, saved = backend.conv2d(x, W, None, window, backend.fresh_buffers("float64"))
    assert type(saved) is not pointwise.PointwiseSaved
    np.testing.assert_array_equal(z[0, 0], [[0.0] * 5, *[[3.0] * 4 + [0.0]] * 3])


@pytest.mark.parametrize("order", ORDERS)
def test_results_lie_as_the_input_does(order):
    backend, window = NumpyBackend(threads=1), Window((5, 6), (1, 1), (2, 1))
    x, W = in_order(np.ones((4, 3, 5, 6)), order), np.ones((2, 3, 1, 1))
    buffers = backend.fresh_buffers("float64")
    z, saved = backend.conv2d(x, W, None, window, buffers)
    epsilon = backend.conv2d_backward(np.ones(z.shape), saved, W, window, (np.ones_like(W), None), buffers)
    assert rows_first(z) is rows_first(epsilon) is (order == "rows")
