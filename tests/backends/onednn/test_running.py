"""Copies into other memory orders, and ReLU on its way back."""

import numpy as np
import pytest

from backends.onednn import running
from tests.backends.onednn.draws import FEW, MANY, Buffers, empty_laid, laid, numbers, sweep


def awkward(rng, shape):
    """Return a view of random numbers that may go backwards, stand still or skip."""
    x = numbers(rng, [2 * n for n in shape])
    x = x[tuple(slice(None, None, -2) if rng.random() < 0.3 else slice(0, n) for n in shape)]
    x = x.transpose(np.argsort(rng.permutation(len(shape)))) if len(set(shape)) == 1 else x
    if rng.random() < 0.3:
        axis = int(rng.integers(len(shape)))
        x = np.broadcast_to(x[(slice(None),) * axis + (slice(0, 1),)], shape)
    return x


def check_reordered(rng):
    shape = tuple(int(n) for n in rng.integers(1, 9, rng.integers(1, 6)))
    x = awkward(rng, shape) if rng.random() < 0.5 else laid(rng, numbers(rng, shape))
    out = empty_laid(rng, shape)
    assert running.reordered(x, out) is out
    np.testing.assert_array_equal(out, x)


def test_reordered():
    sweep(check_reordered, FEW * 5)


@pytest.mark.slow
def test_reordered_500_times():
    sweep(check_reordered, MANY)


def test_windows_that_overlap_are_copied():
    """As a user cuts a series into examples."""
    series = np.arange(40, dtype=np.float32)
    x = np.lib.stride_tricks.sliding_window_view(series, 8).reshape(33, 8)[:, None]
    x = np.lib.stride_tricks.as_strided(series, (33, 1, 8), (4, 4, 4))
    np.testing.assert_array_equal(running.reordered(x, np.empty((33, 1, 8), np.float32)), x)
    np.testing.assert_array_equal(running.with_channels_innermost(x, Buffers(), "x"), x)


def test_fields_of_records_are_copied():
    """Their steps are no multiple of an element."""
    records = np.zeros((6, 5), [("first", "u1"), ("x", "<f4")])
    records["x"] = np.arange(30).reshape(6, 5)
    out = running.reordered(records["x"], np.empty((6, 5), np.float32))
    np.testing.assert_array_equal(out, np.arange(30).reshape(6, 5))


@pytest.mark.parametrize("order", ["as it is", "batch innermost", "channels innermost", "permuted"])
def test_relu_back(order, accelerated, ran):
    z, epsilon = (numbers(np.random.default_rng(seed), (8, 6, 5, 7)) for seed in (1, 2))
    z[:, :, 2] = 0.0  # where the derivative is 0
    laid_alike = [laid(np.random.default_rng(9), each, order) for each in (np.maximum(z, 0.0), epsilon)]
    expected, below = np.where(z > 0, epsilon, 0.0), empty_laid(np.random.default_rng(9), z.shape, order)
    assert accelerated.relu_back(*laid_alike, below) is below
    np.testing.assert_array_equal(below, expected)
    own = laid_alike[1].copy(order="K")
    assert accelerated.relu_back(laid_alike[0], own) is own
    np.testing.assert_array_equal(own, expected)
    assert ran == ["eltwise_backward"] * 2


def test_relu_back_of_other_arrays_is_numpys(accelerated, ran):
    a, epsilon = np.ones((20, 10, 10), np.float32), numbers(np.random.default_rng(1), (20, 10, 10))
    cases = (
        (a, np.asfortranarray(epsilon)),
        (a[:, :, ::2], epsilon[:, :, ::2].copy()),
        (np.repeat(a, 2, 2)[:, :, ::2], np.repeat(epsilon, 2, 2)[:, :, ::2]),
        (a[:2], epsilon[:2].copy()),
        (a.astype(np.float64), epsilon.astype(np.float64)),
        (a[:0], epsilon[:0].copy()),
    )
    for activations, errors in cases:
        expected = errors.copy()
        np.testing.assert_array_equal(accelerated.relu_back(activations, errors, np.empty_like(errors)), expected)
    assert ran == []


def test_what_lies_channels_innermost():
    x = np.zeros((2, 3, 4, 5), np.float32)
    assert not running.is_channels_innermost(x)
    assert running.is_channels_innermost(x.transpose(0, 3, 1, 2))
    assert running.is_channels_innermost(running.channels_innermost(Buffers(), "z", (2, 3, 4, 5)))
    assert running.with_channels_innermost(x.transpose(0, 3, 1, 2), None, "x").base is x
