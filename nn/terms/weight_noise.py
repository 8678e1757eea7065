"""Noise on the weights: arrays that forward and backward use in training in their place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.part import undefined
from nd.typing import Array

from .distributions import Distribution
from .noise import Dropped, Noise, Probability, Retaining


class IWeightNoise(Noise):
    """Noise that stands in for a parameter in one training step; the parameter itself stays.

    It is drawn anew in every forward pass in training, after the dropout of the layer's input, one parameter after
    the other and element after element, as they lie in the vector. The gradient of the stand-in is taken for the
    parameter's. Source: DL4J ``IWeightNoise``. Differs: biases are never noised outside of training.
    """

    apply_to_biases: bool = False

    def get_parameter(self, param: Array, numbers: tuple[Array | float, ...], out: Array) -> Array:
        """Write the stand-in for a parameter into `out`, of its shape; return it.

        `numbers` are from the method of that name, for the current iteration and epoch: floats, or arrays ``[]``.
        """
        undefined(self, "get_parameter(param, numbers, out)", "the stand-in for a parameter")

    def get_in_order(self, param: Array, numbers: tuple[Array | float, ...], out: Array, order: str) -> Array:
        """Do as `get_parameter`; `order`, "c" or "f", is that in which the parameter lies in the network's vector."""
        return self.get_parameter(param, numbers, out)


class _DrawnInOrder(IWeightNoise):
    def get_parameter(self, param: Array, numbers: tuple[Array | float, ...], out: Array) -> Array:
        return self.get_in_order(param, numbers, out, "c")


@dataclass(frozen=True, init=False)
class DropConnect(Retaining, _DrawnInOrder):
    """A weight stays with probability p, else it is 0; weights that stay are not scaled.

    Parameters
    ----------
    p : float or Schedule, optional
        Probability to **retain** a weight.
    apply_to_biases : bool
        Biases too.
    rate : float, optional
        Probability to **drop** a weight, in the place of p = 1 - rate.

    Raises
    ------
    ConfigurationError
        p is not in 0 < p <= 1, or rate not in 0 <= rate < 1; both are given, or neither.

    Notes
    -----
    Source: DL4J ``DropConnect``; Wan et al. 2013.
    """

    pure = True
    retained: ClassVar[str] = "weights"
    p: Probability
    apply_to_biases: bool = False

    def __init__(
        self, p: Probability | None = None, apply_to_biases: bool = False, *, rate: Dropped | None = None
    ) -> None:
        object.__setattr__(self, "apply_to_biases", apply_to_biases)
        super().__init__(p, rate=rate)

    def get_in_order(self, param: Array, numbers: tuple[Array | float, ...], out: Array, order: str) -> Array:
        kept = nd.random.get_random().retained(math.prod(param.shape), nd.dtype_name(param), numbers[0])
        return nd.multiply(param, nd.reshape_view(kept, tuple(param.shape), order), out)


@dataclass(frozen=True)
class WeightNoise(_DrawnInOrder):
    """Adds random numbers to the weights, or multiplies by them.

    Parameters
    ----------
    distribution : Distribution
        Of mean 0 where it is added, of mean 1 where it multiplies.
    additive : bool
        Add; otherwise multiply.
    apply_to_biases : bool
        Biases too.

    Raises
    ------
    ConfigurationError
        `distribution` is none.

    Notes
    -----
    w + noise, or w * noise. Source: DL4J ``WeightNoise``.
    """

    pure = True
    distribution: Distribution
    additive: bool = True
    apply_to_biases: bool = False

    def get_in_order(self, param: Array, numbers: tuple[Array | float, ...], out: Array, order: str) -> Array:
        drawn = self.distribution.draw(nd.random.get_random(), param.shape, nd.dtype_name(param))
        noise = nd.reshape_view(drawn, tuple(param.shape), order)
        return nd.add(param, noise, out) if self.additive else nd.multiply(param, noise, out)


WEIGHT_NOISES: dict[str, type[IWeightNoise]] = {"drop_connect": DropConnect, "weight_noise": WeightNoise}
"""Name -> class, sorted."""
