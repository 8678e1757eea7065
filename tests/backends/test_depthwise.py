"""NumPy's depthwise convolution by band matrices, against sums over kernel cells in float64."""

import numpy as np
import pytest

from backends.base import Backend
from backends.cpu import banded
from backends.cpu.depthwise import DepthwiseSaved
from backends.cpu.numpy_backend import NumpyBackend
from backends.cpu.row_convolution import rows_first
from backends.generic.window import Window
from tests.cells import every_row
from tests.sweeps import share

NAMES = ("x", "W", "b", "delta")


@pytest.fixture(autouse=True)
def unaided(numpy_backend, monkeypatch):
    """NumPy's own functions are tested, not those of a library."""
    monkeypatch.setitem(vars(numpy_backend), "onednn", None)


def random_window(rng):
    """Return a window with anything but dilated rows."""
    while True:
        size, kernel = rng.integers(1, 26, 2), rng.integers(1, 6, 2)
        stride, dilation = rng.integers(1, 4, 2), (1, rng.integers(1, 3))
        before, after = rng.integers(0, 4, 2), rng.integers(0, 4, 2)
        fields = (tuple(int(each) for each in sizes) for sizes in (size, kernel, stride, dilation, before, after))
        window = Window(*fields)
        if min(window.out) >= 1:
            return window


def problem(seed):
    rng = np.random.default_rng(seed)
    window, n, channels, multiplier = random_window(rng), *(int(each) for each in rng.integers(1, (20, 7, 4)))
    shapes = (
        (n, channels, *window.size), (*window.kernel, channels, multiplier), (1, channels * multiplier),
        (n, channels * multiplier, *window.out),
    )  # fmt: skip
    return window, [rng.normal(size=shape) for shape in shapes]


def expected(window, x, W, b, delta):
    """Return z and the gradients of W, b and x: one output position after the other."""
    (n, channels), multiplier = x.shape[:2], W.shape[3]
    pads = [(0, 0), (0, 0), *zip(window.pad_before, window.pad_after, strict=True)]
    padded = np.pad(x, pads)
    below, z, W_gradient = np.zeros_like(padded), np.zeros_like(delta), np.zeros_like(W)
    share, sums = (each.reshape(n, channels, multiplier, *window.out) for each in (delta, z))
    for row, column in np.ndindex(*window.out):
        places = [
            slice(o * s, o * s + (k - 1) * d + 1, d)
            for o, s, k, d in zip((row, column), window.stride, window.kernel, window.dilation, strict=True)
        ]
        cells, image = padded[:, :, *places], below[:, :, *places]
        sums[..., row, column] = np.einsum("ncij,ijcm->ncm", cells, W)
        W_gradient += np.einsum("ncij,ncm->ijcm", cells, share[..., row, column])
        image += np.einsum("ncm,ijcm->ncij", share[..., row, column], W)
    interior = (slice(before, before + length) for before, length in zip(window.pad_before, window.size, strict=True))
    return z + b.reshape(1, -1, 1, 1), W_gradient, delta.sum((0, 2, 3))[None], below[:, :, *interior]


def in_order(x, order):
    """Return [N, C, H, W] in a memory order: c, batch innermost, rows outermost, or every other element."""
    if order == "strided":
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    axes = {"c": (0, 1, 2, 3), "batch": (1, 2, 3, 0), "rows": (2, 1, 3, 0)}[order]
    return np.ascontiguousarray(x.transpose(axes)).transpose(np.argsort(axes))


def run(backend, window, x, W, b, delta):
    buffers = backend.fresh_buffers(str(x.dtype))
    gradients = np.full_like(W, np.nan), np.full_like(b, np.nan)
    z, saved = backend.depthwise(x, W, b, window, buffers)
    epsilon = backend.depthwise_backward(delta, saved, W, window, gradients, buffers)
    return (z, *gradients, epsilon), saved


@pytest.fixture(scope="module")
def numpy_backend():
    return NumpyBackend(threads=1)


def check(numpy_backend, seed, dtype, tolerance):
    window, arrays = problem(seed)
    order = ("c", "batch", "rows", "strided")[seed % 4]
    x, W, b, delta = (np.asarray(each, dtype) for each in arrays)
    found, saved = run(numpy_backend, window, in_order(x, order), W, b, in_order(delta, order))
    assert isinstance(saved, DepthwiseSaved)
    for got, exact, size in zip(found, expected(window, *arrays), expected(window, *map(abs, arrays)), strict=True):
        assert got.dtype == dtype
        assert (abs(got - exact) <= tolerance * (size + 1e-30)).all(), (window, order)


@every_row("seed", range(12))
def test_random_windows_in_every_memory_order(numpy_backend, seed):
    check(numpy_backend, seed, "float64", 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 100 + share(500)))
def test_many_random_windows_in_float32(numpy_backend, seed):
    check(numpy_backend, seed, "float32", 1e-6)


@pytest.mark.parametrize("order", ["batch", "rows"])
def test_results_lie_as_the_input_does(numpy_backend, order):
    window, rng = Window((6, 9), (3, 3), pad_before=(1, 1), pad_after=(1, 1)), np.random.default_rng(3)
    x, delta = (in_order(rng.normal(size=(4, 2, 6, 9)), order) for _ in range(2))
    (z, _, _, epsilon), _ = run(numpy_backend, window, x, rng.normal(size=(3, 3, 2, 1)), np.zeros((1, 2)), delta)
    assert rows_first(z) is rows_first(epsilon) is (order == "rows")


def test_without_bias_and_without_an_epsilon(numpy_backend):
    window, (x, W, b, delta) = problem(5)
    buffers, gradient = numpy_backend.fresh_buffers("float64"), np.zeros_like(W)
    z, saved = numpy_backend.depthwise(x, W, None, window, buffers)
    assert numpy_backend.depthwise_backward(delta, saved, W, window, (gradient, None), buffers, False) is None
    exact = expected(window, x, W, 0.0 * b, delta)
    np.testing.assert_allclose(z, exact[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(gradient, exact[1], rtol=1e-10, atol=1e-12)


def test_dilated_rows_are_left_to_the_sums_over_kernel_cells(numpy_backend):
    window, rng = Window((9, 7), (3, 2), (1, 1), (2, 1)), np.random.default_rng(1)
    arrays = [rng.normal(size=shape) for shape in ((3, 2, 9, 7), (3, 2, 2, 2), (1, 4), (3, 4, *window.out))]
    found, saved = run(numpy_backend, window, *arrays)
    assert not isinstance(saved, DepthwiseSaved)
    for got, exact in zip(found, expected(window, *arrays), strict=True):
        np.testing.assert_allclose(got, exact, rtol=1e-10, atol=1e-12)


def test_float32_errors_are_those_of_sums_over_kernel_cells(numpy_backend):
    window, rng = Window((14, 15), (3, 3), pad_before=(1, 1), pad_after=(1, 1)), np.random.default_rng(2)
    shapes = ((32, 4, 14, 15), (3, 3, 4, 1), (1, 4), (32, 4, 14, 15))
    arrays = [np.asarray(rng.normal(3.0, size=shape), np.float32) for shape in shapes]
    exact = expected(window, *(each.astype(np.float64) for each in arrays))
    plain = run(Backend(np), window, *arrays)[0]
    for got, other, value in zip(run(numpy_backend, window, *arrays)[0], plain, exact, strict=True):
        errors = [np.linalg.norm(each - value) / np.linalg.norm(value) for each in (got, other)]
        assert errors[0] < 2.0 * errors[1] + 1e-8 < 1e-6


@pytest.mark.parametrize("n", [7, 32])
def test_equal_inputs_give_equal_outputs_to_the_bit(numpy_backend, n):
    """So that max pooling hands the gradient to the first of equals, as Java does."""
    window, rng = Window((20, 21), (3, 3)), np.random.default_rng(4)
    x = np.broadcast_to(rng.normal(size=(n, 3, 1, 1)).astype(np.float32), (n, 3, 20, 21))
    W, buffers = rng.normal(size=(3, 3, 3, 2)).astype(np.float32), numpy_backend.fresh_buffers("float32")
    z, _ = numpy_backend.depthwise(x, W, None, window, buffers)
    assert (z == z[:, :, :1, :1]).all()


@pytest.mark.parametrize(("outputs", "starts"), [(28, range(0, 28, 4)), (14, [0, 4, 8, 10]), (3, [0]), (4, [0])])
def test_tiles_cover_the_outputs(outputs, starts):
    tiles = banded.tiles_over(outputs)
    assert {each.width for each in tiles} == {min(outputs, 4)}
    assert [each.start + number * each.width for each in tiles for number in range(each.number)] == list(starts)
