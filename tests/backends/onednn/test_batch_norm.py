"""Batch normalisation by oneDNN against float64, also of channels whose mean is far from 0."""

import numpy as np
import pytest

from backends.onednn import batch_norm
from backends.signatures import ErrorSums, Moments, NormalizationBack
from tests.backends.onednn.draws import FEW, MANY, Buffers, channels, laid, numbers, sweep
from tests.backends.onednn.oracles import close

INNERMOST = "channels innermost"


def over_channels(vector, ndim):
    return np.asarray(vector, np.float64).reshape(1, -1, *(1,) * (ndim - 2))


def all_but_channels(x):
    return (0, *range(2, x.ndim))


def drawn(rng):
    """Return x with channels of any mean and deviation."""
    places = [int(n) for n in rng.integers(1, 9, rng.integers(1, 4))]
    shape = (int(rng.integers(2, 9)), channels(rng), *places)
    deviation = 10.0 ** rng.uniform(-2, 1, shape[1])
    mean = deviation * rng.choice([0.0, 1.0, 30.0]) * rng.normal(size=shape[1])
    values = numbers(rng, shape) * over_channels(deviation, len(shape)) + over_channels(mean, len(shape))
    return values.astype(np.float32)


def vectors(rng, x, count):
    """Return the means that x has in float32, and other vectors ``[1, C]``."""
    mean = x.mean(axis=all_but_channels(x), dtype=np.float64).astype(np.float32)[None]
    return mean, *(numbers(rng, mean.shape) for _ in range(count))


def check_moments(rng):
    x, buffers = drawn(rng), Buffers()
    out = np.full((2, x.shape[1]), np.nan, np.float32)
    batch_norm.moments(Moments(laid(rng, x, INNERMOST), out, buffers))
    exact, axes = x.astype(np.float64), all_but_channels(x)
    mean, size = exact.mean(axis=axes), abs(exact).mean(axis=axes)
    close(out[0], mean, size)
    squares = ((exact - over_channels(mean, x.ndim)) ** 2).sum(axis=axes)
    close(out[1], squares, squares + x.size / x.shape[1] * (1e-5 * size) ** 2)


def check_affine_and_error_sums(rng):
    x, buffers, rectify = drawn(rng), Buffers(), bool(rng.random() < 0.5)
    mean, factor, shift = vectors(rng, x, 2)
    if rng.random() < 0.3:
        shift = 0.25
    given, out = laid(rng, x, INNERMOST), laid(rng, np.zeros(x.shape, np.float32), INNERMOST)
    out.flags.writeable = True
    away = x - over_channels(mean, x.ndim)
    factors, shifts = over_channels(factor, x.ndim), over_channels(np.broadcast_to(shift, mean.shape), x.ndim)
    z, size = away * factors + shifts, abs(away * factors) + abs(shifts)
    assert batch_norm.affine(given, (mean, factor, shift), out, buffers, rectify) is out
    close(out, np.maximum(z, 0.0) if rectify else z, size)

    values = numbers(rng, x.shape)
    epsilon = laid(rng, values, INNERMOST)
    epsilon.flags.writeable = True
    sums = np.full((2, x.shape[1]), np.nan, np.float32)
    passed = np.where(out > 0, values, 0.0) if rectify else values.astype(np.float64)
    batch_norm.error_sums(ErrorSums(epsilon, given, None, mean, sums, buffers, out if rectify else None))
    np.testing.assert_array_equal(epsilon, passed)
    for row, sizes in ((0, passed), (1, passed * away)):
        close(sums[row], sizes.sum(axis=all_but_channels(x)), abs(sizes).sum(axis=all_but_channels(x)))


def check_back(rng):
    x, values, buffers = drawn(rng), None, Buffers()
    values, (mean, factor, slope, shift) = numbers(rng, x.shape), vectors(rng, x, 3)
    epsilon = laid(rng, values, INNERMOST)
    epsilon.flags.writeable = True
    terms = (
        values * over_channels(factor, x.ndim),
        -(x - over_channels(mean, x.ndim)) * over_channels(slope, x.ndim),
        -over_channels(shift, x.ndim),
    )
    got = batch_norm.back(
        NormalizationBack(epsilon, laid(rng, x, INNERMOST), None, (mean, factor, slope, shift), buffers)
    )
    assert got is epsilon
    close(got, sum(terms), sum(map(abs, terms)))


CHECKS = {"affine": check_affine_and_error_sums, "back": check_back, "moments": check_moments}


@pytest.mark.parametrize("name", CHECKS)
def test_against_float64(name):
    sweep(CHECKS[name], FEW)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_against_float64_500_times(name):
    sweep(CHECKS[name], MANY)


def test_the_variance_of_equal_numbers_is_zero():
    x = laid(np.random.default_rng(1), np.full((4, 16, 5, 5), 1234.5, np.float32), INNERMOST)
    out = np.full((2, 16), np.nan, np.float32)
    batch_norm.moments(Moments(x, out, Buffers()))
    np.testing.assert_array_equal(out, [[1234.5] * 16, [0.0] * 16])


@pytest.mark.parametrize("shape", [(8, 11, 8, 8, 5), (64, 16, 28, 28), (4, 3, 5)])
def test_means_of_a_thousand_deviations(shape):
    """Numbers of that size are rounded to 6e-5 of the deviation, before anything is computed."""
    rng = np.random.default_rng(4)
    x, out = numbers(rng, shape, 1000.0), np.full((2, shape[1]), np.nan, np.float32)
    batch_norm.moments(Moments(laid(rng, x, INNERMOST), out, Buffers()))
    np.testing.assert_allclose(out[0], x.mean(axis=all_but_channels(x), dtype=np.float64), rtol=5e-7)
    squares = x.var(axis=all_but_channels(x), dtype=np.float64) * (x.size / shape[1])
    np.testing.assert_allclose(out[1], squares, rtol=6e-5)
