"""Local response normalisation by oneDNN against loops in float64."""

import numpy as np
import pytest

from backends.onednn import lrn
from backends.signatures import Lrn
from tests.backends.onednn.draws import FEW, MANY, Buffers, laid, numbers, sweep
from tests.backends.onednn.oracles import close


def around(x, n):
    """Return the sums of x over the channels within n // 2."""
    reach, sums = n // 2, np.zeros(x.shape)
    for channel in range(x.shape[1]):
        near = slice(max(channel - reach, 0), channel + reach + 1)
        sums[:, channel] = x[:, near].sum(axis=1)
    return sums


def check(rng):
    shape = (int(rng.integers(1, 6)), int(rng.integers(5, 70)), *(int(n) for n in rng.integers(1, 9, 2)))
    n, k, alpha = int(rng.integers(1, 9)), float(rng.uniform(0.5, 3)), float(rng.uniform(1e-4, 1))
    x, epsilon, buffers = numbers(rng, shape), numbers(rng, shape), Buffers()
    found = lrn.forward(Lrn(laid(rng, x), n, k, alpha, 0.75, buffers))
    if found is None:
        return
    a, saved = found
    exact = x.astype(np.float64)
    scale = k + alpha * around(exact**2, n)
    close(a, exact * scale**-0.75, abs(exact) * scale**-0.75)
    direct, across = epsilon * scale**-0.75, around(epsilon * exact * scale**-1.75, n)
    size = abs(direct) + 1.5 * alpha * abs(exact) * around(abs(epsilon * exact) * scale**-1.75, n)
    close(lrn.backward(laid(rng, epsilon), saved, buffers), direct - 1.5 * alpha * exact * across, size)


def test_against_float64():
    sweep(check, FEW)


@pytest.mark.slow
def test_against_float64_500_times():
    sweep(check, MANY)


@pytest.mark.parametrize("settings", [(1, 2.0, 1e-4, 0.75), (7, 2.0, 1e-4, 0.75), (5, 2.0, 1e-4, 0.5)])
def test_what_is_slow_or_wrong_there_is_left_to_numpy(settings):
    assert lrn.forward(Lrn(np.ones((2, 16, 4, 4), np.float32), *settings, Buffers())) is None
