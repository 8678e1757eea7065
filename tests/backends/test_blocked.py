"""NumPy's convolution by columns of some rows at once, along one to three axes, against sums in float64."""

import numpy as np
import pytest

from backends.cpu import blocked
from backends.cpu.numpy_backend import NumpyBackend
from backends.generic.window import Window
from tests.sweeps import share


def problem(seed, axes):
    """Return any windows over so many axes, and arrays for them."""
    rng = np.random.default_rng(seed)
    while True:
        fields = (rng.integers(low, high, axes) for low, high in ((1, 12), (1, 4), (1, 4), (1, 3), (0, 3), (0, 3)))
        window = Window(*(tuple(int(each) for each in sizes) for sizes in fields))
        if min(window.out) >= 1:
            break
    n, channels, n_out = (int(each) for each in rng.integers(1, (12, 5, 6)))
    shapes = (n, channels, *window.size), (n_out, channels, *window.kernel), (1, n_out), (n, n_out, *window.out)
    return window, [rng.normal(size=shape) for shape in shapes]


def expected(window, x, W, b, delta):
    """Return z and the gradients of W, b and x: one output position after the other."""
    padded = np.pad(x, [(0, 0), (0, 0), *zip(window.pad_before, window.pad_after, strict=True)])
    z, W_gradient, below = np.zeros_like(delta), np.zeros_like(W), np.zeros_like(padded)
    for at in np.ndindex(*window.out):
        places = tuple(
            slice(o * s, o * s + (k - 1) * d + 1, d)
            for o, s, k, d in zip(at, window.stride, window.kernel, window.dilation, strict=True)
        )
        cells, image, share = padded[:, :, *places], below[:, :, *places], delta[:, :, *at]
        z[:, :, *at] = cells.reshape(len(x), -1) @ W.reshape(len(W), -1).T
        W_gradient += np.einsum("nc...,no->oc...", cells, share)
        image += np.einsum("no,oc...->nc...", share, W)
    interior = (slice(before, before + size) for before, size in zip(window.pad_before, window.size, strict=True))
    b_gradient = delta.sum((0, *range(2, delta.ndim)))[None]
    return z + b.reshape(1, -1, *(1 for _ in window.size)), W_gradient, b_gradient, below[:, :, *interior]


def batch_innermost(x):
    return np.ascontiguousarray(x.transpose(*range(1, x.ndim), 0)).transpose(x.ndim - 1, *range(x.ndim - 1))


def check(seed, axes, dtype, tolerance):
    window, arrays = problem(seed, axes)
    x, W, b, delta = (np.asarray(each, dtype) for each in arrays)
    if seed % 2:
        x, delta, W = batch_innermost(x), batch_innermost(delta), np.asfortranarray(W)
    backend, gradients = NumpyBackend(threads=1), (np.full(W.shape, np.nan, dtype), np.full_like(b, np.nan))
    buffers = backend.fresh_buffers(dtype)
    z, saved = backend.conv3d(x, W, b, window, buffers)
    assert type(saved) is blocked.BlockedSaved
    epsilon = backend.conv3d_backward(delta, saved, W, window, gradients, buffers)
    found, sizes = (z, *gradients, epsilon), expected(window, *map(abs, arrays))
    for got, exact, size in zip(found, expected(window, *arrays), sizes, strict=True):
        assert got.dtype == dtype
        assert (abs(got - exact) <= tolerance * size).all()


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("cached", [1, 20_000, 1 << 20])
def test_any_windows_in_pieces_of_any_size(axes, cached, monkeypatch):
    monkeypatch.setattr(blocked, "CACHED_BYTES", cached)
    for seed in range(6):
        check(seed, axes, "float64", 1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(share(300)))
def test_many_random_windows_in_float32(seed, monkeypatch):
    monkeypatch.setattr(blocked, "CACHED_BYTES", 1 << 12)
    check(seed, 1 + seed % 3, "float32", 2e-6)


@pytest.mark.parametrize("window", [Window((9, 8), (3, 3), (2, 1)), Window((40, 1), (3, 1), (1, 1), (4, 1), (8, 0))])
def test_strided_and_dilated_rows_of_images_come_here(window, monkeypatch):
    monkeypatch.setattr(blocked, "CACHED_BYTES", 10_000)
    rng = np.random.default_rng(1)
    arrays = [
        rng.normal(size=shape)
        for shape in ((16, 3, *window.size), (4, 3, *window.kernel), (1, 4), (16, 4, *window.out))
    ]
    x, W, b, delta = arrays
    backend, gradients = NumpyBackend(threads=1), (np.zeros_like(W), np.zeros_like(b))
    buffers = backend.fresh_buffers("float64")
    z, saved = backend.conv2d(x, W, b, window, buffers, lambda part: np.maximum(part, 0.0, out=part))
    assert len(saved.algorithm.pieces(8)) > 1
    epsilon = backend.conv2d_backward(delta, saved, W, window, gradients, buffers)
    exact = expected(window, *arrays)
    for got, value in zip((z, *gradients, epsilon), (np.maximum(exact[0], 0.0), *exact[1:]), strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-10, atol=1e-12)


def test_without_bias_and_without_an_epsilon():
    window, (x, W, _, delta) = problem(4, 3)
    backend, gradient = NumpyBackend(threads=1), np.zeros_like(W)
    buffers = backend.fresh_buffers("float64")
    z, saved = backend.conv3d(x, W, None, window, buffers)
    assert backend.conv3d_backward(delta, saved, W, window, (gradient, None), buffers, False) is None
    exact = expected(window, x, W, np.zeros((1, len(W))), delta)
    np.testing.assert_allclose(z, exact[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(gradient, exact[1], rtol=1e-10, atol=1e-12)
