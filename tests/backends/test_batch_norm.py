"""Batch normalisation piece by piece: float64 written another way, over random shapes and all memory orders."""

import math

import numpy as np
import pytest

import nd
import nd.arrays.batch_norm as arrays
from backends.cpu import batch_norm
from backends.cpu.batch_norm import layout_of
from backends.cpu.numpy_backend import NumpyBackend
from tests.stand_ins import make_backend

ORDERS = {
    "batch innermost": (1, 2, 3, 0),
    "rows first": (2, 1, 3, 0),
    "channels innermost": (0, 2, 3, 1),
    "c": (0, 1, 2, 3),
    "columns first": (3, 0, 1, 2),
}
SHAPES = ((16, 5, 6, 7), (1, 3, 1, 1), (3, 1, 4, 5), (2, 40, 1, 3), (9, 4, 11, 13), (64, 3, 40, 50), (7, 33, 23, 29))
BACKENDS = ("numpy", "strict")


def without_onednn(name="numpy"):
    """Return a backend whose own functions are tested, not those of a library."""
    backend = NumpyBackend() if name == "numpy" else make_backend(name)
    vars(backend)["onednn"] = None
    return backend


def lying(x, axes):
    """Return a copy that lies in memory in the order of those axes."""
    return np.ascontiguousarray(x.transpose(axes)).transpose(np.argsort(axes))


def across(vector, x):
    return np.asarray(vector, np.float64).reshape(1, -1, *(1,) * (x.ndim - 2))


def others(x):
    return tuple(axis for axis in range(x.ndim) if axis != 1)


def moments(x):
    """Mean and sum of squared deviations of every channel, by Python's exact sums."""
    channels = np.moveaxis(x, 1, 0).reshape(x.shape[1], -1).astype(np.float64)
    means = [math.fsum(row) / len(row) for row in channels]
    return np.array(means), np.array([math.fsum((row - m) ** 2) for row, m in zip(channels, means, strict=True)])


def close(found, expected, size, dtype):
    """Compare with rounding errors of numbers of that size."""
    eps = np.finfo(dtype).eps
    assert np.all(np.abs(np.asarray(found, np.float64) - expected) <= 64 * eps * size)


def check(x, rng, backend, rectify=False):
    """Compare all four functions with float64; return what `normalize_channels` gave."""
    n, kind, dtype = x.size // x.shape[1], nd.dtype_name(backend.from_host(x, x.dtype.name)), x.dtype
    own = x if backend.name == "numpy" else backend.from_host(x, kind)
    buffers = nd.Buffers(kind)
    vectors = [rng.normal(1.0, 0.3, (1, x.shape[1])).astype(dtype) for _ in range(4)]
    factor, shift, slope, last = (backend.from_host(vector, kind) for vector in vectors)
    exact_mean, exact_squares = moments(x)
    spread = np.sqrt(exact_squares / n) + np.finfo(dtype).eps * np.abs(exact_mean)

    own, out = arrays.for_channels(own, buffers), nd.zeros(2, x.shape[1], dtype=kind)
    centered = arrays.channel_moments(own, out, buffers)
    mean, squares = nd.to_host(nd.copy(out)).astype(np.float64)
    close(mean, exact_mean, np.abs(exact_mean) + spread, dtype)
    close(squares, exact_squares, n * spread**2, dtype)

    y = arrays.normalize_channels(own, centered, (out[:1, ...], factor, shift), buffers, rectify)
    away = x.astype(np.float64) - across(mean, x)
    expected = away * across(vectors[0], x) + across(vectors[1], x)
    close(nd.to_host(y), np.maximum(expected, 0.0) if rectify else expected, np.abs(away) + 1.0, dtype)

    given = lying(rng.normal(0.1, 1.0, x.shape).astype(dtype), rng.permutation(x.ndim))
    counted = given.astype(np.float64) * (nd.to_host(y) > 0 if rectify else 1.0)
    epsilon = arrays.for_channels(given if backend.name == "numpy" else backend.from_host(given, kind), buffers, own)
    sums = nd.zeros(2, x.shape[1], dtype=kind)
    centered = arrays.channel_error_sums(epsilon, own, centered, out[:1, ...], sums, buffers, y if rectify else None)
    for row, terms in zip(nd.to_host(sums), (counted, counted * away), strict=True):
        close(row, terms.sum(others(x)), np.abs(terms).sum(others(x)) + 1e-30, dtype)

    below = arrays.normalize_channels_back(epsilon, own, centered, (out[:1, ...], factor, slope, last), buffers)
    by_hand = counted * across(vectors[0], x) - away * across(vectors[2], x) - across(vectors[3], x)
    close(nd.to_host(below), by_hand, np.abs(counted) + np.abs(away) + 1.0, dtype)
    return y


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("mean", [0.0, 1000.0], ids=["small mean", "large mean"])
@pytest.mark.quick_rows(6)
def test_every_memory_order_gives_the_numbers_of_float64(order, mean, name, monkeypatch):
    """In one piece as in many, with the ReLU and without."""
    rng, backend = np.random.default_rng(7), without_onednn(name)
    for number, shape in enumerate(SHAPES if name == "numpy" else SHAPES[:4]):
        monkeypatch.setattr(batch_norm, "PIECE_BYTES", (1 << 12, 1 << 20)[number % 2])
        batch_norm._layout.cache_clear()
        x = lying(rng.normal(mean, 1.5, shape).astype(("float32", "float64")[number % 3 == 0]), ORDERS[order])
        with nd.use_backend(backend):
            y = check(x, rng, backend, rectify=number % 2 == 1)
        if name == "numpy" and 1 not in shape:
            assert y.strides == x.strides
    batch_norm._layout.cache_clear()


def test_random_shapes_of_any_number_of_axes(monkeypatch):
    rng, backend = np.random.default_rng(11), without_onednn()
    with nd.use_backend(backend):
        for _ in range(60):
            monkeypatch.setattr(batch_norm, "PIECE_BYTES", int(2 ** rng.integers(10, 20)))
            batch_norm._layout.cache_clear()
            axes = int(rng.integers(2, 6))
            shape = tuple(int(size) for size in rng.integers(1, (60, 30, 12, 8)[axes - 2], axes))
            x = lying(rng.normal(rng.choice((0.0, -30.0, 1e4)), 1.0, shape).astype("float32"), rng.permutation(axes))
            if rng.random() < 0.2:  # with gaps
                wide = np.zeros((*shape[:-1], 2 * shape[-1]), "float32")
                wide[..., ::2] = x
                x = wide[..., ::2]
            check(x, rng, backend, rectify=bool(rng.integers(0, 2)))
    batch_norm._layout.cache_clear()


def test_no_memory_order_is_copied():
    x = np.random.default_rng(1).normal(size=(16, 8, 6, 6)).astype("float32")
    with nd.use_backend(NumpyBackend(threads=1)):
        for axes in ORDERS.values():
            given = lying(x, axes)
            assert arrays.for_channels(given, nd.Buffers("float32")) is given
            assert layout_of(given) is not None
        gaps = x[:, :, ::2]
        assert layout_of(gaps) is None
        assert arrays.for_channels(gaps, nd.Buffers("float32")) is not gaps


@pytest.mark.parametrize("order", ORDERS)
def test_loops_are_long_and_a_piece_is_no_larger_than_it_may_be(order):
    """What makes it fast: NumPy's inner loop over the last axis."""
    x = lying(np.zeros((64, 16, 28, 28), "float32"), ORDERS[order])
    layout = layout_of(x)
    first, second, third = layout.shape
    assert third >= 28 if order == "columns first" else third >= 512
    seen = np.zeros(layout.table, int)
    for index in layout.pieces:
        seen[index] += 1
        assert layout.piece(layout.view(x), index).nbytes <= batch_norm.PIECE_BYTES
    np.testing.assert_array_equal(seen, 1)
    assert first * second * third == x.size


def test_moments_of_parts_are_put_together_without_cancellation():
    rng = np.random.default_rng(3)
    x = rng.normal(1000.0, 0.1, (24, 2)).astype("float32")
    parts = x[:7], x[7:8], x[8:]
    with nd.use_backend(NumpyBackend(threads=1)):
        each = [moments(part) for part in parts]
        means, squares = (nd.create(np.array([pair[row] for pair in each]), "float32") for row in (0, 1))
        mean, square, count = arrays.combined_moments(means, squares, nd.create([[7.0], [1.0], [16.0]], "float32"))
    expected_mean, expected_squares = moments(x)
    np.testing.assert_allclose(mean[0], expected_mean, rtol=2e-7)
    np.testing.assert_allclose(square[0], expected_squares, rtol=1e-2)  # of means that are rounded to 6e-5
    assert count.tolist() == [[24.0]]
