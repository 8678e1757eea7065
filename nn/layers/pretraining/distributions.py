"""What a VariationalAutoencoder takes its data for: distributions of the reconstruction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import nd
from nd.activations import Activation, Sigmoid, get_activation
from nd.activations.base import back_through, value_of
from nd.arguments import Checked
from nd.losses import Loss, get_loss
from nd.part import Part, undefined
from nd.typing import Array

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
_TINY = 1e-30
"""Below every number that a probability of float32 can be, but 0."""


class ReconstructionDistribution(Part, Checked):
    """Distribution p(x|z) of the data, for parameters that the decoder computes.

    Everything takes them as they come out of its last product, `pre_output` ``[N, input_size(n)]``, and applies the
    activation itself. A distribution of your own is a subclass with these methods. Source: DL4J
    ``ReconstructionDistribution``.
    """

    has_loss_function: ClassVar[bool] = False
    """Whether it is a loss, and no distribution."""

    def distribution_input_size(self, data_size: int) -> int:
        """Return how many numbers the decoder has to compute for data of that size."""
        return data_size

    def example_neg_log_probability(self, x: Array, pre_output: Array) -> Array:
        """Return -log p(x) of every example, ``[N]``, for ``x [N, n]``."""
        undefined(self, "example_neg_log_probability(x, pre_output)", "-log p(x) of every example, [N]")

    def neg_log_probability(self, x: Array, pre_output: Array, average: bool = False) -> float:
        """Return -log p(x) summed over the examples, or their mean."""
        total = nd.item(nd.sum(self.example_neg_log_probability(x, pre_output)))
        return total / x.shape[0] if average else total

    def gradient(self, x: Array, pre_output: Array) -> Array:
        """Return the derivative of the summed -log p(x), a new array of the shape of `pre_output`."""
        undefined(self, "gradient(x, pre_output)", "the derivative of -log p(x)")

    def generate_at_mean(self, pre_output: Array) -> Array:
        """Return the mean ``[N, n]`` of the distribution."""
        undefined(self, "generate_at_mean(pre_output)", "the mean of the distribution")

    def generate_random(self, pre_output: Array) -> Array:
        """Draw ``[N, n]`` from the distribution, with `nd.random.get_random()`."""
        undefined(self, "generate_random(pre_output)", "a sample of the distribution")


def _uniform(shape: tuple[int, ...], dtype: str) -> Array:
    return nd.reshape(nd.random.get_random().uniform(math.prod(shape), dtype), shape)


@dataclass(frozen=True)
class _WithActivation(ReconstructionDistribution):
    """Shared by distributions with an activation."""

    activation: str | Activation = "identity"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "activation", get_activation(self.activation))

    def _activated(self, pre_output: Array) -> Array:
        return value_of(self.activation, pre_output)  # type: ignore[arg-type]

    def _back(self, pre_output: Array, a: Array, epsilon: Array) -> Array:
        return back_through(self.activation, pre_output, a, epsilon, epsilon)  # type: ignore[arg-type]


@dataclass(frozen=True)
class GaussianReconstructionDistribution(_WithActivation):
    """Independent normal numbers: the decoder computes n means and n logarithms of variances.

    Parameters
    ----------
    activation : str or Activation
        Applied to both.

    Notes
    -----
    -log p = Σ (log(2π) + l + (x - m)² e^-l) / 2. Source: DL4J ``GaussianReconstructionDistribution``.
    """

    pure = splits = True

    def distribution_input_size(self, data_size: int) -> int:
        return 2 * data_size

    def _moments(self, a: Array) -> tuple[Array, Array]:
        n = a.shape[1] // 2
        return a[:, :n], a[:, n:]

    def example_neg_log_probability(self, x: Array, pre_output: Array) -> Array:
        mean, log_variance = self._moments(self._activated(pre_output))
        squares = nd.multiply(nd.square(nd.subtract(x, mean)), nd.exp(-1.0 * log_variance))
        return 0.5 * nd.sum(nd.add(log_variance, squares), 1) + x.shape[1] * _HALF_LOG_2PI

    def gradient(self, x: Array, pre_output: Array) -> Array:
        a = self._activated(pre_output)
        mean, log_variance = self._moments(a)
        difference, precision = nd.subtract(mean, x), nd.exp(-1.0 * log_variance)
        of_mean = nd.multiply(difference, precision)
        of_variance = 0.5 - 0.5 * nd.multiply(of_mean, difference)
        return self._back(pre_output, a, nd.concat([of_mean, of_variance], 1))

    def generate_at_mean(self, pre_output: Array) -> Array:
        return nd.copy(self._moments(self._activated(pre_output))[0])

    def generate_random(self, pre_output: Array) -> Array:
        mean, log_variance = self._moments(self._activated(pre_output))
        drawn = nd.random.get_random().gaussian(math.prod(mean.shape), nd.dtype_name(mean))
        return nd.add(mean, nd.multiply(nd.reshape(drawn, tuple(mean.shape)), nd.exp(0.5 * log_variance)))


@dataclass(frozen=True)
class BernoulliReconstructionDistribution(_WithActivation):
    """Independent numbers 0 or 1: the decoder computes n probabilities.

    Parameters
    ----------
    activation : str or Activation
        With values in 0..1: sigmoid or hardsigmoid.

    Notes
    -----
    -log p = -Σ x log q + (1 - x) log(1 - q). Source: DL4J ``BernoulliReconstructionDistribution``. Differs: with
    sigmoid it is computed from what comes into it, and stays right where q rounds to 0 or 1; Java's logarithm and
    gradient are 0 there. With other activations they are 0 here too.
    """

    activation: str | Activation = "sigmoid"
    pure = splits = True

    def example_neg_log_probability(self, x: Array, pre_output: Array) -> Array:
        if type(self.activation) is Sigmoid:
            softplus = value_of(get_activation("softplus"), pre_output)
            return nd.sum(nd.subtract(softplus, nd.multiply(x, pre_output)), 1)
        q = self._activated(pre_output)
        terms = nd.add(nd.multiply(x, _log(q)), nd.multiply(nd.subtract(1.0, x), _log(nd.subtract(1.0, q))))
        return -1.0 * nd.sum(terms, 1)

    def gradient(self, x: Array, pre_output: Array) -> Array:
        q = self._activated(pre_output)
        if type(self.activation) is Sigmoid:
            return nd.subtract(q, x)
        spread = nd.multiply(q, nd.subtract(1.0, q))
        slope = nd.divide(nd.subtract(q, x), nd.maximum(spread, _TINY))
        return self._back(pre_output, q, nd.multiply(slope, _positive(spread)))

    def generate_at_mean(self, pre_output: Array) -> Array:
        return self._activated(pre_output)

    def generate_random(self, pre_output: Array) -> Array:
        q = self._activated(pre_output)
        return _positive(nd.subtract(q, _uniform(tuple(q.shape), nd.dtype_name(q))))


def _positive(x: Array) -> Array:
    """Return 1 where a number is positive, else 0."""
    return nd.astype(nd.greater(x, 0.0), nd.dtype_name(x))


def _log(q: Array) -> Array:
    """Return the logarithm of probabilities, 0 of those that are 0."""
    return nd.multiply(nd.log(nd.maximum(q, _TINY)), _positive(q))


@dataclass(frozen=True)
class ExponentialReconstructionDistribution(_WithActivation):
    """Independent numbers >= 0 of an exponential distribution: the decoder computes n logarithms g of rates.

    Parameters
    ----------
    activation : str or Activation

    Notes
    -----
    -log p = Σ x e^g - g. Source: DL4J ``ExponentialReconstructionDistribution``.
    """

    pure = splits = True

    def example_neg_log_probability(self, x: Array, pre_output: Array) -> Array:
        g = self._activated(pre_output)
        return nd.sum(nd.subtract(nd.multiply(x, nd.exp(g)), g), 1)

    def gradient(self, x: Array, pre_output: Array) -> Array:
        g = self._activated(pre_output)
        return self._back(pre_output, g, nd.subtract(nd.multiply(x, nd.exp(g)), 1.0))

    def generate_at_mean(self, pre_output: Array) -> Array:
        return nd.exp(-1.0 * self._activated(pre_output))

    def generate_random(self, pre_output: Array) -> Array:
        g = self._activated(pre_output)
        drawn = _uniform(tuple(g.shape), nd.dtype_name(g))
        return nd.multiply(-1.0 * nd.log(nd.maximum(drawn, _TINY)), nd.exp(-1.0 * g))


@dataclass(frozen=True)
class LossFunctionWrapper(_WithActivation):
    """A loss in the place of a distribution.

    Parameters
    ----------
    activation : str or Activation
    loss : str or Loss

    Notes
    -----
    Source: DL4J ``LossFunctionWrapper``.
    """

    loss: str | Loss = "mse"
    splits = True
    has_loss_function: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        vars(self).update(loss=get_loss(self.loss))

    @property
    def pure(self) -> bool:  # type: ignore[override]
        """Whether the loss and the activation are."""
        return self.loss.pure and self.activation.pure  # type: ignore[union-attr]

    def example_neg_log_probability(self, x: Array, pre_output: Array) -> Array:
        p, loss = self._activated(pre_output), self.loss
        return loss.score_array(x, pre_output, p, self.activation, None)  # type: ignore[union-attr, arg-type]

    def gradient(self, x: Array, pre_output: Array) -> Array:
        p, loss = self._activated(pre_output), self.loss
        out = nd.create_uninitialized(*p.shape, dtype=nd.dtype_name(p))
        return loss.gradient(x, pre_output, p, self.activation, None, out)  # type: ignore[union-attr, arg-type]

    def generate_at_mean(self, pre_output: Array) -> Array:
        return self._activated(pre_output)

    def generate_random(self, pre_output: Array) -> Array:
        return self._activated(pre_output)


class CompositeBuilder:
    """Java's Builder of a `CompositeReconstructionDistribution`."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, ReconstructionDistribution]] = []

    def add_distribution(self, distribution_size: int, distribution: ReconstructionDistribution) -> CompositeBuilder:
        """Add a distribution for the next numbers of the data; return the builder."""
        self._parts.append((distribution_size, distribution))
        return self

    def build(self) -> CompositeReconstructionDistribution:
        """Make the distribution."""
        sizes, parts = zip(*self._parts, strict=True) if self._parts else ((), ())
        return CompositeReconstructionDistribution(sizes, parts)


@dataclass(frozen=True)
class CompositeReconstructionDistribution(ReconstructionDistribution):
    """Several distributions, each for a stretch of the data.

    Parameters
    ----------
    distribution_sizes : sequence of int
        How many numbers of the data each is for.
    reconstruction_distributions : sequence of ReconstructionDistribution

    Raises
    ------
    ConfigurationError
        There are not as many of both.

    Notes
    -----
    Source: DL4J ``CompositeReconstructionDistribution``.
    """

    distribution_sizes: Sequence[int]
    reconstruction_distributions: Sequence[ReconstructionDistribution]
    splits = True
    Builder: ClassVar[type[CompositeBuilder]] = CompositeBuilder

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("distribution_sizes", "reconstruction_distributions"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        parts = self.reconstruction_distributions
        if not parts or len(parts) != len(self.distribution_sizes):
            raise nd.ConfigurationError(
                "CompositeReconstructionDistribution: there must be a distribution for every size, got "
                f"{len(self.distribution_sizes)} sizes and {len(parts)} distributions."
            )

    @property
    def pure(self) -> bool:  # type: ignore[override]
        """Whether all of them are."""
        return all(part.pure for part in self.reconstruction_distributions)

    @property
    def has_loss_function(self) -> bool:  # type: ignore[override]
        """Whether all of them are losses."""
        return all(part.has_loss_function for part in self.reconstruction_distributions)

    @property
    def total_size(self) -> int:
        """Numbers of the data."""
        return sum(self.distribution_sizes)

    def distribution_input_size(self, data_size: int) -> int:
        if data_size != self.total_size:
            raise nd.ConfigurationError(
                f"CompositeReconstructionDistribution: the sizes must add up to those of the data, {data_size}, got "
                f"{list(self.distribution_sizes)}."
            )
        return sum(part.distribution_input_size(size) for part, size in self._parts())

    def _parts(self) -> Sequence[tuple[ReconstructionDistribution, int]]:
        return tuple(zip(self.reconstruction_distributions, self.distribution_sizes, strict=True))

    def _stretches(self, pre_output: Array, x: Array | None = None) -> Sequence[tuple[Any, Array, Array | None]]:
        """Return every distribution with its stretches of the decoder's numbers, and of the data."""
        stretches, at, of_data = [], 0, 0
        for part, size in self._parts():
            stop = at + part.distribution_input_size(size)
            data = None if x is None else x[:, of_data : of_data + size]
            stretches.append((part, nd.copy(pre_output[:, at:stop]), None if data is None else nd.copy(data)))
            at, of_data = stop, of_data + size
        return stretches

    def example_neg_log_probability(self, x: Array, pre_output: Array) -> Array:
        first, *others = [
            part.example_neg_log_probability(data, numbers) for part, numbers, data in self._stretches(pre_output, x)
        ]
        return sum(others, first)

    def gradient(self, x: Array, pre_output: Array) -> Array:
        return nd.concat([part.gradient(data, numbers) for part, numbers, data in self._stretches(pre_output, x)], 1)

    def generate_at_mean(self, pre_output: Array) -> Array:
        return nd.concat([part.generate_at_mean(numbers) for part, numbers, _ in self._stretches(pre_output)], 1)

    def generate_random(self, pre_output: Array) -> Array:
        return nd.concat([part.generate_random(numbers) for part, numbers, _ in self._stretches(pre_output)], 1)
