"""Distributions that weights can be drawn from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import nd
from nd.arguments import Checked, Fraction, Natural, NonNegative
from nd.part import Part, undefined
from nd.random import Random
from nd.typing import Array


@dataclass(frozen=True)
class Distribution(Part, Checked):
    """Draws the elements of a weight array."""

    def draw(self, rng: Random, shape: Sequence[int], dtype: str) -> Array:
        """Return ``[n]`` numbers for a weight of that shape, in the order of its memory."""
        undefined(self, "draw(rng, shape, dtype)", "the numbers of a weight")


@dataclass(frozen=True)
class NormalDistribution(Distribution):
    """N(mean, std^2)."""

    pure = True
    mean: float = 0.0
    std: NonNegative = 1.0

    def draw(self, rng: Random, shape: Sequence[int], dtype: str) -> Array:
        return rng.gaussian(math.prod(shape), dtype, self.mean, self.std)


@dataclass(frozen=True)
class GaussianDistribution(NormalDistribution):
    """The same as NormalDistribution, under DL4J's older name."""

    pure = True


@dataclass(frozen=True)
class TruncatedNormalDistribution(Distribution):
    """N(mean, std^2) within two standard deviations; see `nd.random.Random.truncated_normal`."""

    pure = True
    mean: float = 0.0
    std: NonNegative = 1.0

    def draw(self, rng: Random, shape: Sequence[int], dtype: str) -> Array:
        return rng.truncated_normal(math.prod(shape), dtype, self.mean, self.std)


@dataclass(frozen=True)
class LogNormalDistribution(Distribution):
    """exp of N(mean, std^2)."""

    pure = True
    mean: float = 0.0
    std: NonNegative = 1.0

    def draw(self, rng: Random, shape: Sequence[int], dtype: str) -> Array:
        return nd.exp(rng.gaussian(math.prod(shape), dtype, self.mean, self.std))


@dataclass(frozen=True)
class UniformDistribution(Distribution):
    """Uniform in lower .. upper."""

    pure = True
    lower: float = 0.0
    upper: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.lower < self.upper:
            raise nd.ConfigurationError(f"UniformDistribution: lower must be < upper, got {self.lower}, {self.upper}.")

    def draw(self, rng: Random, shape: Sequence[int], dtype: str) -> Array:
        return rng.uniform(math.prod(shape), dtype, self.lower, self.upper)


@dataclass(frozen=True)
class BinomialDistribution(Distribution):
    """Successes among a number of trials."""

    pure = True
    number_of_trials: Natural = 1
    probability_of_success: Fraction = 0.5

    def draw(self, rng: Random, shape: Sequence[int], dtype: str) -> Array:
        return rng.binomial(math.prod(shape), dtype, self.number_of_trials, self.probability_of_success)


@dataclass(frozen=True)
class ConstantDistribution(Distribution):
    """Always the same value."""

    pure = True
    value: float = 0.0

    def draw(self, rng: Random, shape: Sequence[int], dtype: str) -> Array:
        return nd.full(math.prod(shape), value=self.value, dtype=dtype)


@dataclass(frozen=True)
class OrthogonalDistribution(Distribution):
    """Gain times an orthogonal matrix: rows or columns are orthonormal.

    Notes
    -----
    The orthogonal factor of the SVD of an N(0, 1) matrix ``[prod(shape[:-1]), shape[-1]]``. Source: Saxe et al. 2013;
    DL4J ``OrthogonalDistribution``. The sign of singular vectors is the LAPACK's choice.
    """

    pure = True
    gain: float = 1.0

    def draw(self, rng: Random, shape: Sequence[int], dtype: str) -> Array:
        rows, columns = math.prod(shape[:-1]), shape[-1]
        u, _, vh = nd.svd(nd.reshape(rng.gaussian(rows * columns, dtype), (rows, columns)))
        factor = u if tuple(u.shape) == (rows, columns) else vh
        return nd.reshape(factor, (rows * columns,)) * self.gain


DISTRIBUTIONS: dict[str, type[Distribution]] = {
    "binomial": BinomialDistribution,
    "constant": ConstantDistribution,
    "gaussian": GaussianDistribution,
    "log_normal": LogNormalDistribution,
    "normal": NormalDistribution,
    "orthogonal": OrthogonalDistribution,
    "truncated_normal": TruncatedNormalDistribution,
    "uniform": UniformDistribution,
}
"""Name -> class, sorted."""
