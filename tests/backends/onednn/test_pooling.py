"""Pooling by oneDNN against loops in float64: maxima, of equal ones the first as in Java, and means."""

import numpy as np
import pytest

from backends.generic.window import Window
from backends.onednn import pooling
from backends.signatures import PoolingBack
from nd.arrays.convolution import make_rounded_up_window
from tests.backends.onednn.draws import FEW, MANY, Buffers, channels, laid, numbers, sweep, window_over
from tests.backends.onednn.oracles import close, maxima, means, padded, under
from tests.cells import every_row

MEANS = {"of all": pooling.MEAN_OF_ALL, "of real ones": pooling.MEAN_OF_REAL}


def drawn(rng):
    """Draw a geometry of which every window has a real cell, and the shape of x."""
    while True:
        window = window_over(rng, int(rng.integers(1, 4)))
        inside = padded(np.ones((1, 1, *window.size)), window)
        if np.all(sum(inside[:, :, *under(window, cell)] for cell in np.ndindex(*window.kernel)) > 0):
            return window, (int(rng.integers(1, 6)), channels(rng), *window.size)


def check_maxima(rng, *_):
    window, shape = drawn(rng)
    x = numbers(rng, shape)
    if rng.random() < 0.6:  # ties, also of whole windows
        x = rng.integers(-1, 2, shape) * (rng.random((*shape[:2], *(1 for _ in window.size))) < 0.7)
        x = x.astype(np.float32)
    check(rng, x, window, pooling.MAXIMUM, *maxima(x, window))


def check_means(rng, kind):
    window, shape = drawn(rng)
    while kind == "of real ones" and not pooling.averages(window):
        window, shape = drawn(rng)
    x = numbers(rng, shape)
    check(rng, x, window, MEANS[kind], *means(x, window, kind == "of real ones"))


def check(rng, x, window, algorithm, expected, back):
    buffers = Buffers()
    out, saved = pooling.forward(laid(rng, x), window, algorithm, buffers)
    size = (
        abs(expected) if algorithm == pooling.MAXIMUM else means(abs(x), window, algorithm == pooling.MEAN_OF_REAL)[0]
    )
    close(out, expected, size)
    epsilon = numbers(rng, out.shape)
    close(pooling.back(PoolingBack(laid(rng, epsilon), saved, window, buffers)), back(epsilon), back(abs(epsilon)))
    alone, nothing = pooling.forward(laid(rng, x), window, algorithm, Buffers(), keep=False)
    assert nothing is None
    np.testing.assert_array_equal(alone, out)


def test_maxima():
    sweep(check_maxima, FEW)


@pytest.mark.parametrize("kind", MEANS)
def test_means(kind):
    sweep(check_means, FEW, kind)


@pytest.mark.slow
def test_maxima_500_times():
    sweep(check_maxima, MANY)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MEANS)
def test_means_500_times(kind):
    sweep(check_means, MANY, kind)


@every_row("channels", [1, 3, 16, 20, 64])
@every_row("window", [Window((4, 6), (2, 3), (2, 3)), Window((5, 5), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1))])
def test_of_equal_cells_the_first_in_row_major_order_has_the_error(window, channels):
    """A blank region is nothing but ties."""
    x, buffers = np.full((2, channels, *window.size), -0.5, np.float32), Buffers()
    out, saved = pooling.forward(x, window, pooling.MAXIMUM, buffers)
    below = pooling.back(PoolingBack(np.ones(out.shape, np.float32), saved, window, buffers))
    expected = np.zeros(window.size)
    for place in np.ndindex(*window.out):
        first = [max(place[axis] * window.stride[axis] - window.pad_before[axis], 0) for axis in (0, 1)]
        expected[*first] += 1
    np.testing.assert_array_equal(below, np.broadcast_to(expected, x.shape))


def test_means_that_oneDNN_refuses_are_numpys(accelerated, ran):
    """It fears windows without a real cell; here all have one."""
    window = Window((5, 1), (2, 2), (1, 1), (1, 2), (0, 2), (0, 0))
    assert not pooling.averages(window)
    x, buffers = numbers(np.random.default_rng(1), (2, 3, 5, 1)), Buffers()
    out, saved = accelerated.avg_pool(x, window, False, buffers)
    expected, back = means(x, window, True)
    close(out, expected, means(abs(x), window, True)[0])
    below = accelerated.avg_pool_backward(np.ones(out.shape, np.float32), saved, window, buffers)
    close(below, back(np.ones(out.shape)), back(np.ones(out.shape)))
    assert ran == []
    volume = Window((5, 1, 2), (2, 2, 1), (1, 1, 1), (1, 2, 1), (0, 2, 0), (0, 0, 0))
    out, _ = accelerated.avg_pool3d(np.stack([x, x], -1), volume, buffers)
    close(out, np.stack([expected, expected], -1), 1.0)


@every_row("algorithm", ["avg_pool", "max_pool"])
@every_row(
    "geometry", [((6, 5), (3, 3), (2, 2), (0, 0)), ((7, 8), (2, 3), (2, 2), (0, 1)), ((3, 3), (4, 4), (3, 3), (0, 0))]
)
def test_windows_that_round_up(algorithm, geometry, accelerated, unaided, ran):
    """No mean counts what hangs over the padding."""
    window, rng = make_rounded_up_window("test", *geometry), np.random.default_rng(4)
    assert window.rounds_up
    x, epsilon = numbers(rng, (2, 16, *window.size)), numbers(rng, (2, 16, *window.out))
    settings = (True,) if algorithm == "avg_pool" else ()
    found = []
    for backend, dtype in ((accelerated, "float32"), (unaided, "float64")):
        buffers = backend.fresh_buffers(dtype)
        out, saved = getattr(backend, algorithm)(x.astype(dtype), window, *settings, buffers)
        given = epsilon.astype(dtype)
        below = getattr(backend, f"{algorithm}_backward")(given, saved, window, buffers)
        np.testing.assert_array_equal(given, epsilon)
        found.append((np.array(out), np.array(below)))
    for got, expected in zip(*found, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    assert {"pooling_forward", "pooling_backward"} <= set(ran)


def test_axes_of_one_element_may_have_any_stride():
    """Of one image turned round, or of its first row."""
    images = np.random.default_rng(2).normal(size=(1, 6, 8, 16)).astype(np.float32).transpose(0, 3, 1, 2)
    row = images[:, :, 2:1:-1]
    for x, window in ((images[::-1], Window((6, 8), (2, 2), (2, 2))), (row, Window((1, 8), (1, 2), (1, 2)))):
        assert min(x.strides) < 0
        out, saved = pooling.forward(x, window, pooling.MAXIMUM, Buffers())
        expected, back = maxima(x, window)
        np.testing.assert_array_equal(out, expected)
        epsilon = numbers(np.random.default_rng(3), out.shape)
        np.testing.assert_array_equal(
            pooling.back(PoolingBack(epsilon, saved, window, Buffers())), back(epsilon).astype(np.float32)
        )
