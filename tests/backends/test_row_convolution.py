"""NumPy's convolution with image rows outermost, and pooled as one, against sums over kernel cells in float64."""

import numpy as np
import pytest

from backends.base import Backend
from backends.cpu.convolution import algorithm_for, serves_rows
from backends.cpu.numpy_backend import NumpyBackend
from backends.cpu.row_convolution import RowConvolution, rows_first
from backends.cpu.toom_cook_rows import ToomCookRows
from backends.generic.window import Window
from tests.cells import every_row
from tests.stand_ins import TOLERANCE

PLAIN = {
    "few channels": (1, Window((9, 8), (5, 5))),
    "1x1": (6, Window((4, 5), (1, 1))),
    "two rows": (9, Window((6, 7), (2, 3))),
    "strided columns": (3, Window((8, 9), (3, 3), (1, 2))),
    "dilated columns": (3, Window((8, 9), (3, 2), (1, 1), (1, 3))),
    "padded": (4, Window((5, 6), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1))),
}
TOOM_COOK = {
    "5x5": (4, Window((12, 9), (5, 5))),
    "3x3 with a tile left over": (6, Window((10, 8), (3, 3))),
    "7x3": (6, Window((9, 8), (7, 3))),
    "padded on one side": (8, Window((7, 6), (3, 3), (1, 1), (1, 1), (1, 0), (0, 1))),
    "strided and dilated columns": (8, Window((9, 12), (4, 3), (1, 2), (1, 2))),
    "fewer outputs than a tile": (8, Window((6, 8), (5, 3))),
}
CASES = {**PLAIN, **TOOM_COOK}
POOL = (2, 2)


@pytest.fixture(scope="module")
def numpy_backend():
    return NumpyBackend(threads=1)


def numbers(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def cells(x, window):
    """Yield every kernel cell with the slice of the padded image under it."""
    (top, left), (bottom, right) = window.pad_before, window.pad_after
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    for row in range(window.kernel[0]):
        for column in range(window.kernel[1]):
            starts = (row * window.dilation[0], column * window.dilation[1])
            rows, columns = (
                slice(start, start + stride * (out - 1) + 1, stride)
                for start, stride, out in zip(starts, window.stride, window.out, strict=True)
            )
            yield row, column, padded, (slice(None), slice(None), rows, columns)


def forward(x, W, b, window):
    z = np.zeros((x.shape[0], W.shape[0], *window.out)) + b.reshape(1, -1, 1, 1)
    for row, column, padded, here in cells(x, window):
        z += np.einsum("nchw,oc->nohw", padded[here], W[:, :, row, column])
    return z


def backward(x, W, delta, window):
    W_gradient, image = np.zeros_like(W), None
    for row, column, padded, here in cells(x, window):
        image = np.zeros_like(padded) if image is None else image
        W_gradient[:, :, row, column] = np.einsum("nohw,nchw->oc", delta, padded[here])
        image[here] += np.einsum("nohw,oc->nchw", delta, W[:, :, row, column])
    (top, left), (height, width) = window.pad_before, window.size
    return W_gradient, delta.sum((0, 2, 3)), image[:, :, top : top + height, left : left + width]


def problem(name, n=24, n_out=5):
    channels, window = CASES[name]
    x, W = numbers(1, n, channels, *window.size), numbers(2, n_out, channels, *window.kernel)
    return x, W, numbers(3, 1, n_out), numbers(4, n, n_out, *window.out), window


def run(backend, x, W, b, delta, window, dtype, order="f"):
    x, W, b, delta = (np.array(each, dtype, order=order) for each in (x, W, b, delta))
    buffers = backend.fresh_buffers(dtype)
    gradients = (np.zeros_like(W, order="C"), np.zeros_like(b))
    z, saved = backend.conv2d(x, W, b, window, buffers)
    epsilon = backend.conv2d_backward(delta, saved, W, window, gradients, buffers)
    return z, gradients[0], gradients[1][0], epsilon


@every_row("name", CASES)
def test_which_algorithm_takes_them(name):
    x, W, _, _, window = problem(name)
    assert type(algorithm_for(window, W, x.shape[0])) is (ToomCookRows if name in TOOM_COOK else RowConvolution)


@pytest.mark.parametrize(
    "window", [Window((8, 8), (3, 3), (2, 1)), Window((8, 8), (3, 3), (1, 1), (2, 1)), Window((8, 8), (8, 8))]
)
def test_what_is_left_to_im2col(window, numpy_backend):
    x, W = numbers(1, 24, 3, *window.size), numbers(2, 5, 3, *window.kernel)
    assert not serves_rows(window, x.shape[0])
    z, _ = numpy_backend.conv2d(x, W, None, window, numpy_backend.fresh_buffers("float64"))
    np.testing.assert_allclose(z, forward(x, W, np.zeros(5), window), **TOLERANCE["float64"])


@every_row("order", ["c", "f"])
@every_row("name", sorted(CASES.keys() - {"1x1"}))  # that is `pointwise`'s unless it is pooled
def test_forward_and_gradients(name, order, numpy_backend):
    x, W, b, delta, window = problem(name)
    found = run(numpy_backend, x, W, b, delta, window, "float64", order)
    assert rows_first(found[0])
    for got, expected in zip(found, (forward(x, W, b, window), *backward(x, W, delta, window)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-11)


def test_without_bias_and_without_an_epsilon(numpy_backend):
    x, W, _, delta, window = problem("5x5")
    buffers, gradient = numpy_backend.fresh_buffers("float64"), np.zeros(W.shape)
    z, saved = numpy_backend.conv2d(x, W, None, window, buffers)
    assert numpy_backend.conv2d_backward(delta, saved, W, window, (gradient, None), buffers, False) is None
    np.testing.assert_allclose(z, forward(x, W, np.zeros(5), window), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(gradient, backward(x, W, delta, window)[0], rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("name", TOOM_COOK)
def test_float32_errors_stay_near_those_of_plain_sums(name, numpy_backend):
    """Of all elements together: the largest single error is another on every processor, as the BLAS sums."""
    x, W, b, delta, window = problem(name)
    exact = backward(x, W, delta, window)
    plain = Backend(np)  # im2col and one product
    for which, expected in ((1, exact[0]), (3, exact[2])):
        errors = [
            np.linalg.norm(run(backend, x, W, b, delta, window, "float32")[which] - expected) / np.linalg.norm(expected)
            for backend in (numpy_backend, plain)
        ]
        assert errors[0] < 3e-6
        assert errors[0] < 10 * errors[1] + 1e-7


@every_row("name", CASES)
def test_equal_inputs_give_equal_outputs_to_the_bit(name, numpy_backend):
    x, W, b, _, window = problem(name, n=32)  # BLAS sums the last columns in another way if they fill no register
    if window.has_padding:
        window = Window(window.size, window.kernel, window.stride, window.dilation)
    x[:] = x[:, :, :1, :1]  # every image and channel is blank
    z, _ = numpy_backend.conv2d(
        *(np.asfortranarray(each, np.float32) for each in (x, W, b)), window, numpy_backend.fresh_buffers("float32")
    )
    assert (z == z[:, :, :1, :1]).all()


# ---- with max pooling as one

POOLED = {
    "few channels": (1, Window((9, 8), (4, 5)), (3, 2)),
    "Toom-Cook": (8, Window((12, 10), (5, 5)), (4, 3)),
    "Toom-Cook, padded": (8, Window((6, 6), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)), (3, 3)),
    "odd tiles": (8, Window((8, 8), (3, 3)), (3, 3)),
    "im2col": (3, Window((8, 8), (3, 3), (1, 1), (2, 1)), (2, 3)),
}
RELU, TANH = (lambda z: np.maximum(z, 0, out=z)), (lambda z: np.tanh(z, out=z))


def pooled(backend, name, activate, keep=True, dtype="float64", digits=8):
    """Run the two layers; inputs of whole numbers make ties, and exact sums."""
    channels, window, out = POOLED[name]
    windows = (window, Window(window.out, POOL, POOL))
    assert windows[1].out == out
    x = np.asfortranarray(np.round(numbers(1, 24, channels, *window.size), digits).astype(dtype))
    W = np.round(numbers(2, 5, channels, *window.kernel), digits).astype(dtype)
    b, epsilon = np.round(numbers(3, 1, 5), digits).astype(dtype), numbers(4, 24, 5, *out).astype(dtype)
    buffers, gradients = (backend.fresh_buffers(dtype),) * 2, (np.zeros_like(W), np.zeros_like(b))
    inner = backend.empty_activation((24, 5, *window.out), dtype)
    found, saved = backend.conv2d_max_pool(x, W, b, activate, windows, buffers, keep)
    looked_at, _ = backend.conv2d_max_pool(x, W, b, activate, windows, buffers, keep, inner)
    of_windows = inner.reshape(24, 5, out[0], POOL[0], out[1], POOL[1]).max((3, 5))
    for each in (looked_at, of_windows):  # what is shown is what was pooled, to the bit
        np.testing.assert_array_equal(each, found)
    if not keep:
        assert saved is None
        return found
    below = backend.conv2d_max_pool_backward(epsilon, saved, W, windows, gradients, buffers)
    alone = tuple(np.zeros_like(each) for each in gradients)
    saved = backend.conv2d_max_pool(x, W, b, activate, windows, buffers)[1]
    assert backend.conv2d_max_pool_backward(epsilon, saved, W, windows, alone, buffers, False) is None
    for first, second in zip(gradients, alone, strict=True):
        np.testing.assert_allclose(second, first, rtol=1e-9, atol=1e-10)
    return found, *gradients, below


@every_row("activate", [None, RELU, TANH], ids=["identity", "relu", "tanh"])
@every_row("name", POOLED)
def test_pooled_as_one_is_pooled_one_after_the_other(name, activate, numpy_backend):
    found, expected = pooled(numpy_backend, name, activate), pooled(Backend(np), name, activate)
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", POOLED)
def test_ties_go_to_the_first_cell(name, numpy_backend):
    found, expected = (pooled(backend, name, None, digits=0) for backend in (numpy_backend, Backend(np)))
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", POOLED)
def test_without_a_way_back_nothing_is_kept(name, numpy_backend):
    np.testing.assert_allclose(
        pooled(numpy_backend, name, RELU, keep=False), pooled(Backend(np), name, RELU)[0], rtol=1e-9, atol=1e-10
    )
