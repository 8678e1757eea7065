"""Convolutions whose outputs need not be equal for equal windows: by Toom-Cook forward too, activated tile by tile."""

import numpy as np
import pytest

from backends.cpu import toom_cook_rows
from backends.cpu.convolution import algorithm_for
from backends.cpu.numpy_backend import NumpyBackend
from backends.cpu.row_convolution import Saved
from backends.cpu.toom_cook_rows import ToomCookRows
from tests.backends.test_row_convolution import CASES, PLAIN, TOOM_COOK, backward, forward, problem
from tests.cells import every_row


def relu(z):
    np.maximum(z, 0.0, out=z)


@pytest.fixture(autouse=True)
def small_products(monkeypatch):
    """Products of these sizes are worth it."""
    monkeypatch.setattr(toom_cook_rows, "LEAST_PRODUCT", 1)


@every_row("exact", [True, False])
@every_row("name", CASES)
def test_activated_outputs_and_the_way_back(name, exact):
    backend, (x, W, b, delta, window) = NumpyBackend(threads=1), problem(name)
    buffers, gradients = backend.fresh_buffers("float64"), (np.zeros_like(W), np.zeros_like(b))
    z, saved = backend.conv2d(x, W, b, window, buffers, relu, exact)
    np.testing.assert_allclose(z, np.maximum(forward(x, W, b, window), 0.0), rtol=1e-10, atol=1e-11)
    epsilon = backend.conv2d_backward(delta, saved, W, window, gradients, buffers)
    W_gradient, b_gradient, below = backward(x, W, delta, window)
    for got, expected in ((gradients[0], W_gradient), (gradients[1][0], b_gradient), (epsilon, below)):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("name", TOOM_COOK)
def test_fewer_multiplications_where_outputs_may_differ(name, monkeypatch):
    x, W, b, _, window = problem(name)
    turned, turn = [], ToomCookRows.turned_kernel
    monkeypatch.setattr(ToomCookRows, "turned_kernel", lambda self, *rest: turned.append(self) or turn(self, *rest))
    backend = NumpyBackend(threads=1)
    for exact in (True, False):
        _, saved = backend.conv2d(x, W, b, window, backend.fresh_buffers("float64"), None, exact)
        assert len(turned) == (not exact)
    assert type(saved) is Saved


@pytest.mark.parametrize("name", TOOM_COOK)
def test_float32_errors_of_the_forward_pass(name):
    x, W, b, _, window = problem(name)
    exact, size = forward(x, W, b, window), forward(abs(x), abs(W), abs(b), window)
    backend = NumpyBackend(threads=1)
    x, W, b = (np.asarray(each, np.float32) for each in (x, W, b))
    z, _ = backend.conv2d(x, W, b, window, backend.fresh_buffers("float32"), None, False)
    assert z.dtype == "float32"
    assert (abs(z - exact) / size).max() < 3e-6
    assert np.linalg.norm(z - exact) < 3e-6 * np.linalg.norm(exact)


def test_small_products_are_plain_sums(monkeypatch):
    monkeypatch.setattr(toom_cook_rows, "LEAST_PRODUCT", 1 << 30)
    monkeypatch.setattr(ToomCookRows, "turned_kernel", None)
    backend, (x, W, b, _, window) = NumpyBackend(threads=1), problem("5x5")
    z, _ = backend.conv2d(x, W, b, window, backend.fresh_buffers("float64"), None, False)
    np.testing.assert_allclose(z, forward(x, W, b, window), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("name", PLAIN)
def test_the_others_are_exact_anyway(name):
    x, W, _, _, window = problem(name)
    assert type(algorithm_for(window, W, x.shape[0])) is not ToomCookRows
