"""ND4J's random generator: the same seed gives the same numbers on NumPy, on CuPy and in Java.

It is counter based: element i of a draw depends on the state and on i alone, and every draw then moves the state
on by the number of its elements. Source: libnd4j ``graph/RandomGenerator.h`` of 1.0.0-beta6/7.
"""

from __future__ import annotations

import math
import time
from typing import Any

from backends.random_bits import advanced

from .state import state

Array = Any
_MASK64 = 0xFFFFFFFFFFFFFFFF


class Random:
    """A stream of random numbers.

    Parameters
    ----------
    seed : int, optional
        Signed 64-bit. As in ND4J, 0 (and no seed) takes the current time and cannot be repeated.
    """

    def __init__(self, seed: int = 0) -> None:
        self.set_seed(seed)

    def set_seed(self, seed: int) -> None:
        """Start the stream of that seed again."""
        self.seed = seed
        self.root = (seed or time.time_ns() // 1_000_000) & _MASK64
        self.node = (seed ^ 0xFFFFFFFFDEADBEEF) & _MASK64 if seed else 1298567341

    def get_state(self) -> tuple[int, int]:
        """Return the state, for `set_state`."""
        return self.root, self.node

    def set_state(self, saved: tuple[int, int]) -> None:
        """Continue where `get_state` was called."""
        self.root, self.node = saved

    def uniform(self, n: int, dtype: str = "float32", low: float = 0.0, high: float = 1.0) -> Array:
        """Draw ``[n]`` numbers uniform in low .. high."""
        u = state.backend.random_uniform(self.root, self.node, n, dtype)
        self._rewind(n)
        return u if (low, high) == (0.0, 1.0) else low + u * (high - low)

    def gaussian(self, n: int, dtype: str = "float32", mean: float = 0.0, std: float = 1.0) -> Array:
        """Draw ``[n]`` normally distributed numbers, by Box and Muller on the pairs (e, e + ceil(n / 2))."""
        z = self._box_muller(n, dtype)[0] * std + mean
        self._rewind(n)
        return z

    def truncated_normal(self, n: int, dtype: str = "float32", mean: float = 0.0, std: float = 1.0) -> Array:
        """Draw ``[n]`` normal numbers within two standard deviations of the mean.

        Notes
        -----
        As libnd4j: an outlier is drawn again from positions e and e + ceil(n / 2); for the first half that is the
        same number, and what is still outside becomes the mean.
        """
        here = state.backend
        z, half = self._box_muller(n, dtype)
        r = self._open_interval(half + n)
        radius, angle = here.sqrt(-2.0 * _rounded(here.log, r[:n])), (2.0 * math.pi) * r[half:]
        again = here.astype(radius * _rounded(here.cos, angle), dtype)
        z = here.where(here.absolute(z) > 2.0, again, z)
        z = here.where(here.absolute(z) > 2.0, 0.0, z)
        self._rewind(n)
        return z * std + mean

    def bernoulli(self, n: int, dtype: str = "float32", p: float | Array = 0.5) -> Array:
        """Draw ``[n]`` numbers that are 1 with probability p (a float, or an array ``[]``; where u <= p), else 0."""
        return state.backend.astype(self.uniform(n) <= _threshold(p), dtype)

    def retained(self, n: int, dtype: str = "float32", p: float | Array = 0.5) -> Array:
        """Draw ``[n]`` numbers that are 1 with probability p (a float, or an array ``[]``; where u < p), else 0."""
        here = state.backend
        return here.astype(here.greater(_threshold(p), self.uniform(n)), dtype)

    def dropout_factors(self, out: Array, p: float | Array) -> Array:
        """Write 1 / p where an element stays, with probability p, else 0; draws one number each, in c order.

        A p that is an array ``[]`` is read when the numbers are drawn, also where that has been recorded.
        """
        here = state.backend
        n = math.prod(out.shape)
        if not isinstance(p, (int, float)):
            here.assign(out, here.reshape(self.retained(n, here.dtype_name(out), p), out.shape))
            return here.divide(out, p, out)
        here.dropout_factors(self.root, self.node, p, out)
        self._rewind(n)
        return out

    def binomial(self, n: int, dtype: str = "float32", trials: int = 1, p: float = 0.5) -> Array:
        """Draw ``[n]`` counts of successes among `trials`."""
        here = state.backend
        u = here.random_uniform(self.root, self.node, n * trials + 1, "float32")
        count = here.full((n,), 0.0, dtype)
        for trial in range(1, trials + 1):
            positions = u[trial::trial][:n]  # element i reads position (i + 1) * trial
            here.add(count, here.astype(positions < p, dtype), count)
        self._rewind(n)
        return count

    def _box_muller(self, n: int, dtype: str) -> tuple[Array, int]:
        here = state.backend
        half = -(-n // 2)
        r = self._open_interval(2 * half)
        radius = here.sqrt(-2.0 * _rounded(here.log, r[:half]))
        angle = (2.0 * math.pi) * r[half:]
        z = here.concat([radius * _rounded(here.cos, angle), radius * _rounded(here.sin, angle)], 0)[:n]
        return here.astype(z, dtype), half

    def _open_interval(self, n: int) -> Array:
        """Uniform numbers in 1e-5 .. 1, so that the logarithm is finite."""
        return 1e-5 + state.backend.random_uniform(self.root, self.node, n, "float32") * (1.0 - 1e-5)

    def _rewind(self, n: int) -> None:
        """Move the state on by a draw of n elements."""
        self.node = advanced(self.node, n)
        state.backend.random_moved(n)


def _rounded(function: Any, x: Array) -> Array:
    """Evaluate in float64 and round once: the last bit is then that of Java's libm, and the same on every backend."""
    here = state.backend
    return here.astype(function(here.astype(x, "float64")), "float32")


def _threshold(p: float | Array) -> float | Array:
    """Return what uniform numbers are compared with: in their precision, as a float is."""
    return p if isinstance(p, (int, float)) else state.backend.astype(p, "float32")


_default = Random()


def get_random() -> Random:
    """Return the global generator, which `MultiLayerNetwork.init` seeds and dropout draws from."""
    return _default


def set_seed(seed: int) -> None:
    """Seed the global generator."""
    _default.set_seed(seed)


def rand(*shape: int, dtype: str | None = None) -> Array:
    """Draw an array of numbers uniform in 0..1 from the global generator, filled in c order."""
    return _shaped(_default.uniform, shape, dtype)


def randn(*shape: int, dtype: str | None = None) -> Array:
    """Draw an array of standard normal numbers from the global generator, filled in c order."""
    return _shaped(_default.gaussian, shape, dtype)


def _shaped(draw: Any, shape: tuple[int, ...], dtype: str | None) -> Array:
    axes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return state.backend.reshape(draw(math.prod(axes), dtype or state.dtype), axes)
