"""Dropout of a layer's input, and other noise on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import nd
from nd.checks import describe_shape
from nd.part import undefined
from nd.typing import Array

from .noise import Noise, Probability, Retaining

Buffers = Callable[..., Array]


class IDropout(Noise):
    """Noise on a layer's input in training, and its counterpart for the gradient.

    Every class draws from `nd.random.get_random()`, one number for each element of its mask, in c order whatever the
    memory order. Nothing happens outside of training. Source: DL4J ``IDropout``.
    """

    of_elements: ClassVar[bool] = False
    """Whether every number of the input has a draw of its own and no other meaning than its value."""

    def apply_dropout(self, x: Array, numbers: tuple[Any, ...], buffers: Buffers) -> tuple[Array, Array | None]:
        """Return the layer's input in place of x, and the factors that `backprop` needs, if any.

        Parameters
        ----------
        x : array ``[N, ...]``
            Not changed.
        numbers : tuple of float, or of array ``[]``
            From `numbers`, for the current iteration and epoch.
        buffers : callable (name, shape) -> array
            The layer's memory.
        """
        undefined(self, "apply_dropout(x, numbers, buffers)", "the input of the layer and what backprop needs")

    def backprop(self, epsilon: Array, kept: Array) -> Array:
        """Turn dL/d(the layer's input) into dL/dx, in epsilon's memory; return it.

        `kept` is from `apply_dropout`; where that is None this is not asked, and epsilon goes on as it is.
        """
        return nd.muli(epsilon, kept)


@dataclass(frozen=True, init=False)
class Dropout(Retaining, IDropout):
    """Inverted dropout: an input stays with probability p and is then divided by p, else it is 0.

    Parameters
    ----------
    p : float or Schedule, optional
        Probability to **retain**, as in DL4J, the opposite of Keras's and PyTorch's; 1 keeps everything.
    rate : float, optional
        Probability to **drop**, in the place of p = 1 - rate.

    Raises
    ------
    ConfigurationError
        p is not in 0 < p <= 1, or rate not in 0 <= rate < 1; both are given, or neither.

    Examples
    --------
    >>> Dropout(rate=0.2)
    Dropout(p=0.8)

    Notes
    -----
    A subclass may override `mask`. Source: DL4J ``Dropout``; Srivastava et al. 2014.
    """

    pure = True
    of_elements: ClassVar[bool] = True
    p: Probability

    def mask(self, shape: tuple[int, ...], dtype: str) -> Array:
        """Draw the factors, 0 or 1 / p, in the c order of the input; with a schedule p is that of its beginning."""
        return self.mask_into(nd.create_uninitialized(*shape, dtype=dtype))

    def mask_into(self, out: Array, p: float | Array | None = None) -> Array:
        """Draw the factors into an array of the input's shape; return it. A subclass needs `mask` only."""
        if type(self).mask is not Dropout.mask:
            return nd.assign(out, self.mask(tuple(out.shape), nd.dtype_name(out)))
        return nd.random.get_random().dropout_factors(out, self.numbers(0, 0)[0] if p is None else p)

    def apply_dropout(self, x: Array, numbers: tuple[Any, ...], buffers: Buffers) -> tuple[Array, Array]:
        mask = self.mask_into(buffers("drop_mask", x.shape), *numbers)
        return nd.multiply(x, mask, nd.buffer_like(x, buffers, "dropped")), mask


@dataclass(frozen=True, init=False)
class AlphaDropout(Retaining, IDropout):
    """Dropout that keeps the mean and the variance of SELU's values: a dropped input becomes SELU's limit, not 0.

    Parameters
    ----------
    p : float or Schedule, optional
        Probability to **retain**.
    rate : float, optional
        Probability to **drop**, in the place of p = 1 - rate.

    Raises
    ------
    ConfigurationError
        p is not in 0 < p <= 1, or rate not in 0 <= rate < 1; both are given, or neither.

    Notes
    -----
    a (x d + α' (1 - d)) + b with d = 1 where u <= p, α' = -1.7580993408473766, a = 1 / √(p + α'² p (1 - p)) and
    b = -a (1 - p) α'; gradient ε a d. Source: DL4J ``AlphaDropout``; Klambauer et al. 2017.
    """

    pure = True
    of_elements: ClassVar[bool] = True
    p: Probability
    alpha: ClassVar[float] = 1.6732632423543772
    lambda_: ClassVar[float] = 1.0507009873554804
    limit: ClassVar[float] = -alpha * lambda_
    """α'."""

    def numbers(self, iteration: int, epoch: int) -> tuple[float, ...]:
        p = self.value_of("p", iteration, epoch)
        a = 1.0 / math.sqrt(p + self.limit**2 * p * (1.0 - p))
        return p, a, -a * (1.0 - p) * self.limit

    def apply_dropout(self, x: Array, numbers: tuple[Array | float, ...], buffers: Buffers) -> tuple[Array, Array]:
        p, a, b = numbers
        d, out = buffers("drop_mask", x.shape), buffers("dropped", x.shape)
        drawn = nd.random.get_random().bernoulli(math.prod(x.shape), nd.dtype_name(d), p)
        nd.assign(d, nd.reshape(drawn, x.shape))
        gone = nd.muli(nd.subtract(1.0, d, buffers("gone", x.shape)), self.limit)
        nd.addi(nd.multiply(x, d, out), gone)
        return nd.addi(nd.muli(out, a), b), nd.muli(d, a)


@dataclass(frozen=True)
class GaussianDropout(IDropout):
    """Multiplies every input by a number from N(1, rate / (1 - rate)).

    Parameters
    ----------
    rate : float or Schedule
        Probability to **drop**: the variance is that of `Dropout` with p = 1 - rate.

    Raises
    ------
    ConfigurationError
        rate is not in 0 <= rate < 1.

    Notes
    -----
    Source: DL4J ``GaussianDropout``; Srivastava et al. 2014, section 10.
    """

    pure = True
    of_elements: ClassVar[bool] = True
    rate: Probability

    def _check(self, field: str, value: float, when: str) -> None:
        if not 0.0 <= value < 1.0:
            raise nd.ConfigurationError(
                f"GaussianDropout: rate is the probability to drop, 0 <= rate < 1, got {value}{when}."
            )

    def numbers(self, iteration: int, epoch: int) -> tuple[float, ...]:
        rate = self.value_of("rate", iteration, epoch)
        return (math.sqrt(rate / (1.0 - rate)),)

    def apply_dropout(self, x: Array, numbers: tuple[Array | float, ...], buffers: Buffers) -> tuple[Array, Array]:
        noise = _gaussian(buffers("drop_mask", x.shape), 1.0, numbers[0])
        return nd.multiply(x, noise, nd.buffer_like(x, buffers, "dropped")), noise


@dataclass(frozen=True)
class GaussianNoise(IDropout):
    """Adds a number from N(0, stddev²) to every input.

    Parameters
    ----------
    stddev : float or Schedule
        Standard deviation, not the variance.

    Raises
    ------
    ConfigurationError
        stddev is negative or not finite.

    Notes
    -----
    Source: DL4J ``GaussianNoise``.
    """

    pure = True
    of_elements: ClassVar[bool] = True
    stddev: Probability

    def _check(self, field: str, value: float, when: str) -> None:
        if not 0.0 <= value < math.inf:
            raise nd.ConfigurationError(f"GaussianNoise: stddev must be finite and >= 0, got {value}{when}.")

    def numbers(self, iteration: int, epoch: int) -> tuple[float, ...]:
        return (self.value_of("stddev", iteration, epoch),)

    def apply_dropout(self, x: Array, numbers: tuple[Array | float, ...], buffers: Buffers) -> tuple[Array, None]:
        noise = _gaussian(buffers("dropped", x.shape), 0.0, numbers[0])
        return nd.addi(noise, x), None


@dataclass(frozen=True, init=False)
class SpatialDropout(Retaining, IDropout):
    """Dropout of all of a channel of an example, ``x [N, C, ...]`` of rank 3 or more.

    Parameters
    ----------
    p : float or Schedule, optional
        Probability to **retain** a channel, which is then divided by p.
    rate : float, optional
        Probability to **drop** a channel, in the place of p = 1 - rate.

    Raises
    ------
    ConfigurationError
        p is not in 0 < p <= 1, or rate not in 0 <= rate < 1; both are given, or neither.
    ShapeError
        An input is of rank 2 or less.

    Notes
    -----
    Draws a mask ``[N, C]``. Source: DL4J ``SpatialDropout``; Tompson et al. 2015.
    """

    pure = True
    retained: ClassVar[str] = "channels"
    p: Probability

    def apply_dropout(self, x: Array, numbers: tuple[Array | float, ...], buffers: Buffers) -> tuple[Array, Array]:
        if x.ndim < 3:
            raise nd.ShapeError(
                f"SpatialDropout: expected input [N, C, ...] of rank 3 or more, got {describe_shape(x.shape)}. "
                "Use Dropout for rows."
            )
        mask = nd.random.get_random().dropout_factors(buffers("drop_mask", tuple(x.shape[:2])), numbers[0])
        channels = mask[(slice(None), slice(None), *(None,) * (x.ndim - 2))]
        return nd.multiply(x, channels, nd.buffer_like(x, buffers, "dropped")), channels


DROPOUTS: dict[str, type[IDropout]] = {
    "alpha_dropout": AlphaDropout,
    "dropout": Dropout,
    "gaussian_dropout": GaussianDropout,
    "gaussian_noise": GaussianNoise,
    "spatial_dropout": SpatialDropout,
}
"""Name -> class, sorted."""


def _gaussian(out: Array, mean: float, std: Any) -> Array:
    drawn = nd.random.get_random().gaussian(math.prod(out.shape), nd.dtype_name(out), mean, std)
    return nd.assign(out, nd.reshape(drawn, out.shape))
