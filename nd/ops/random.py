"""Ops that draw random numbers, for `nd.execRandom`. Source: org.nd4j.linalg.api.ops.random.impl and libnd4j.

One draw for every element, in c order whatever the memory order, always in float32, so that the same seed gives the
same numbers in both dtypes, on every backend and in Java.
"""

from __future__ import annotations

import math

from backends.base import Backend
from backends.errors import ConfigurationError, ShapeError, describe_shape
from nd.arguments import checked
from nd.random import Random

from .base import Array, Op


class RandomOp(Op):
    """An op with a generator, `rng`, which `nd.execRandom` sets."""

    random = True
    rng: Random

    @property
    def count(self) -> int:
        """Number of draws."""
        return math.prod(self.x.shape)

    def _check_probability(self, p: float, lowest: str, meaning: str) -> None:
        if not (0.0 < p <= 1.0 or (p == 0.0 and lowest == "[0")):
            raise ConfigurationError(f"{self.who}: p, the probability {meaning}, must be in {lowest}, 1], got {p}.")


class Distribution(RandomOp):
    """Fills z with random numbers, ``Op(z, ...)``."""

    z: Array

    @checked
    def __init__(self, z: Array) -> None:
        super().__init__(z, z=z)

    def _compute(self, backend: Backend) -> Array:
        return backend.assign(self.z, backend.reshape(self._draw(backend.dtype_name(self.x)), self.x.shape))

    def _draw(self, dtype: str) -> Array:
        raise NotImplementedError


class BernoulliDistribution(Distribution):
    """1 with probability p (where p >= u, u uniform), else 0."""

    java_number = 7

    @checked
    def __init__(self, z: Array, p: float = 0.5) -> None:
        super().__init__(z)
        self._check_probability(p, "[0", "of a 1")
        self.p = p

    @property
    def extra_args(self) -> tuple[float, ...]:
        return (self.p,)

    def _draw(self, dtype: str) -> Array:
        return self.rng.bernoulli(self.count, dtype, self.p)


class BinomialDistribution(Distribution):
    """Number of successes among `trials` of probability p."""

    java_number = 8

    @checked
    def __init__(self, z: Array, trials: int = 1, p: float = 0.5) -> None:
        super().__init__(z)
        self._check_probability(p, "[0", "of a success")
        if trials < 0:
            raise ConfigurationError(f"{self.who}: trials must be >= 0, got {trials}.")
        self.trials, self.p = trials, p

    @property
    def extra_args(self) -> tuple[float, ...]:
        return self.trials, self.p

    def _draw(self, dtype: str) -> Array:
        return self.rng.binomial(self.count, dtype, self.trials, self.p)


class _Normal(Distribution):
    @checked
    def __init__(self, z: Array, mean: float = 0.0, std: float = 1.0) -> None:
        super().__init__(z)
        if not std >= 0.0:
            raise ConfigurationError(f"{self.who}: std must be >= 0, got {std}.")
        self.mean, self.std = mean, std

    @property
    def extra_args(self) -> tuple[float, ...]:
        return self.mean, self.std

    def _draw(self, dtype: str) -> Array:
        return self.rng.gaussian(self.count, dtype, self.mean, self.std)


class GaussianDistribution(_Normal):
    """Normal distribution."""

    java_number = 6


class LogNormalDistribution(_Normal):
    """e to the power of a normal distribution with this mean and std."""

    java_number = 10

    def _compute(self, backend: Backend) -> Array:
        z = super()._compute(backend)
        return backend.exp(z, z)


class TruncatedNormalDistribution(_Normal):
    """Normal distribution; numbers over 2 std from the mean are drawn once more, see `Random.truncated_normal`."""

    java_number = 11

    def _draw(self, dtype: str) -> Array:
        return self.rng.truncated_normal(self.count, dtype, self.mean, self.std)


class UniformDistribution(Distribution):
    """Uniform in low .. high."""

    java_number = 0

    @checked
    def __init__(self, z: Array, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__(z)
        if not low <= high:
            raise ConfigurationError(f"{self.who}: low must be <= high, got {low} and {high}. Exchange them.")
        self.low, self.high = low, high

    @property
    def extra_args(self) -> tuple[float, ...]:
        return self.low, self.high

    def _draw(self, dtype: str) -> Array:
        return self.rng.uniform(self.count, dtype, self.low, self.high)


class DropOut(RandomOp):
    """x with probability p (where u < p, u uniform), else 0, whatever x is: ``DropOut(x, p=0.5, z=None)``.

    Parameters
    ----------
    x : array
    p : float
        Probability to retain an element, in (0, 1].
    z : array, optional
        See `Op`.
    """

    java_number = 1

    @checked
    def __init__(self, x: Array, p: float = 0.5, z: Array | None = None) -> None:
        super().__init__(x, z=z)
        self._check_probability(p, "(0", "to retain an element")
        self.p = p

    @property
    def extra_args(self) -> tuple[float, ...]:
        return (self.p,)

    def _compute(self, backend: Backend) -> Array:
        kept = self._kept(backend)
        return kept if self.z is None else backend.assign(self.z, kept)

    def _kept(self, backend: Backend) -> Array:
        """Return x where it stays, else 0: a product would make NaN of infinity and -0 of a negative number."""
        p = self.p if isinstance(self.p, (int, float)) else backend.astype(self.p, "float32")  # an array: of a schedule
        stays = backend.greater(p, self.rng.uniform(self.count))
        return backend.where(backend.reshape(stays, self.x.shape), self.x, 0.0)


class DropOutInverted(DropOut):
    """x / p with probability p, else 0, so that the expectation is x. Parameters as for DropOut.

    Examples
    --------
    >>> import nd
    >>> nd.random.set_seed(1)
    >>> kept = nd.execRandom(nd.ops.DropOutInverted(nd.ones(4, 5), p=0.5))
    >>> sorted(set(kept.ravel().tolist()))
    [0.0, 2.0]
    """

    java_number = 2

    def _compute(self, backend: Backend) -> Array:
        return backend.divide(self._kept(backend), self.p, self.z)


class LegacyDropOutInverted(DropOutInverted):
    """ND4J 0.x's DropOutInverted for generators without native state: the same as DropOutInverted.

    Examples
    --------
    >>> import nd
    >>> op = LegacyDropOutInverted(nd.ones(2, 3), p=0.5)
    >>> op.op_num, op.extra_args
    (44, (0.5, 6))
    """

    java_number = 44

    @property
    def extra_args(self) -> tuple[float, ...]:
        return self.p, self.count


class ProbablisticMerge(RandomOp):
    """x with probability p (where p >= u, u uniform), else y: ``ProbablisticMerge(x, y, p=0.5, z=None)``.

    Parameters
    ----------
    x : array
    y : array of x's shape, or float
    p : float
        Probability of x, in [0, 1].
    z : array, optional
        See `Op`.

    Raises
    ------
    ShapeError
        y has another shape than x.
    """

    java_number = 3

    @checked
    def __init__(self, x: Array, y: Array | float, p: float = 0.5, z: Array | None = None) -> None:
        super().__init__(x, y, z)
        self._check_probability(p, "[0", "of x")
        if not isinstance(y, (int, float)):
            self.check_array("y", y)
            if tuple(y.shape) != tuple(x.shape):
                raise ShapeError(f"{self.who}: y must be {describe_shape(x.shape)}, got {describe_shape(y.shape)}.")
        self.p = p

    @property
    def extra_args(self) -> tuple[float, ...]:
        return (self.p,)

    def _compute(self, backend: Backend) -> Array:
        first, y = backend.greater_equal(self.p, self.rng.uniform(self.count)), self.y
        merged = backend.where(backend.reshape(first, self.x.shape), self.x, y)  # type: ignore[arg-type]
        return merged if self.z is None else backend.assign(self.z, merged)


class AlphaDropOut(DropOut):
    """Dropout that keeps the mean and the variance of SELU's values. Parameters as for DropOut.

    Notes
    -----
    a (x d + α' (1 - d)) + b with d = 1 where p >= u, α' = -1.7580993408473766, a = 1 / √(p + α'² p (1 - p)) and
    b = -a (1 - p) α'. Source: AlphaDropOut; Klambauer et al. 2017.
    """

    java_number = 12
    alpha = -1.7580993408473766

    def _compute(self, backend: Backend) -> Array:
        a = 1.0 / math.sqrt(self.p + self.alpha**2 * self.p * (1.0 - self.p))
        b = -a * (1.0 - self.p) * self.alpha
        drawn = self.rng.bernoulli(self.count, backend.dtype_name(self.x), self.p)
        t = backend.where(backend.greater(backend.reshape(drawn, self.x.shape), 0.0), self.x, self.alpha)
        return backend.add(backend.multiply(t, a, t), b, self.z)
