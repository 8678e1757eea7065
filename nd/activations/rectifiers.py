"""Piecewise linear activations with a kink at zero or at a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import nd
from backends.errors import ConfigurationError
from nd.random import get_random

from .base import Activation, Array, pick, relu, relu_back


@dataclass(frozen=True, kw_only=True)
class LeakyReLU(Activation):
    """x for x >= 0, else alpha x. Source: ActivationLReLU."""

    pure = splits = True
    java_class = "ActivationLReLU"
    alpha: float = field(default=0.01, kw_only=False)

    @property
    def overwrites(self) -> bool:
        """With a positive alpha z and a have the same sign."""
        return self.alpha > 0.0

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = nd.minimum(z, 0.0)
        nd.multiply(t, self.alpha, t)
        return nd.add(nd.maximum(z, 0.0, out), t, out)

    def slope(self, z: Array, a: Array) -> Array:
        return pick(nd.greater_equal(z, 0.0), z, 1.0, self.alpha)


@dataclass(frozen=True, kw_only=True)
class ReLU(Activation):
    """max(0, x); at most `max`, from `threshold` on, with `negative_slope` below it.

    Parameters
    ----------
    max : float, optional
        Upper limit; there the slope is 0.
    threshold : float, optional
        f(x) = x from the threshold on, 0 by default; one that is given jumps there, and the slope is 1.
    negative_slope : float, optional
        f(x) = negative_slope (x - threshold) below the threshold, 0 without it.

    Notes
    -----
    Source: ActivationReLU.
    """

    pure = splits = True
    java_class = "ActivationReLU"
    max: float | None = field(default=None, kw_only=False)
    threshold: float | None = field(default=None, kw_only=False)
    negative_slope: float | None = field(default=None, kw_only=False)

    @cached_property
    def _plain(self) -> bool:
        return self.max is None and not self.threshold and not self.negative_slope

    @property
    def overwrites(self) -> bool:
        """Whether `backprop` reads `a` alone: only the plain function can be undone from its value."""
        return self._plain

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        if self._plain:
            return relu(z, out)
        threshold = self.threshold or 0.0
        below = (nd.minimum(z, threshold) - threshold) * (self.negative_slope or 0.0)
        from_there = pick(nd.greater_equal(z, threshold), z, 1.0, 0.0)
        t = nd.add(nd.multiply(from_there, z), below, out)
        return t if self.max is None else nd.minimum(t, self.max, t)

    def backprop(self, z: Array, a: Array, epsilon: Array | None = None, out: Array | None = None) -> Any:
        """Return dL/dz, as `Activation.backprop`."""
        if epsilon is None:
            return self._backprop_pair(z, a)
        if not self._plain:
            return nd.multiply(epsilon, self.slope(z, a), out)
        return relu_back(a, epsilon, out)

    def slope(self, z: Array, a: Array) -> Array:
        compare = nd.greater_equal if self.negative_slope or self.threshold else nd.greater
        t = pick(compare(z, self.threshold or 0.0), z, 1.0, self.negative_slope or 0.0)
        return t if self.max is None else nd.multiply(t, pick(z < self.max, z, 1.0, 0.0), t)


@dataclass(frozen=True, kw_only=True)
class ReLU6(Activation):
    """x, held in 0 .. 6; the slope is 1 inside, ends excluded. Source: ActivationReLU6."""

    pure = splits = True
    java_class = "ActivationReLU6"
    overwrites = True

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = nd.maximum(z, 0.0, out)
        return nd.minimum(t, 6.0, t)

    def slope(self, z: Array, a: Array) -> Array:
        return pick((a > 0.0) & (a < 6.0), a, 1.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class RReLU(Activation):
    """In training x for x >= 0, else s x, s drawn from l .. u for every element; else x above (l + u) / 2, else that.

    Notes
    -----
    Draws come from `nd.random.get_random()`, one per element, in c order. Source: ActivationRReLU, whose networks
    answer with max(x, (l + u) / 2); Xu et al. 2015 multiply by the mean slope there. Differs: Java takes the slope for
    1 everywhere.
    """

    pure = splits = True
    java_class = "ActivationRReLU"
    draws = True
    l: float = field(default=1.0 / 8.0, kw_only=False)  # noqa: E741
    u: float = field(default=1.0 / 3.0, kw_only=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.l <= self.u:
            raise ConfigurationError(f"RReLU: l must be <= u, got l={self.l} and u={self.u}. Exchange them.")

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        """Return the activation of z, as `Activation.value`; in training it draws."""
        if not training:
            return nd.maximum(z, (self.l + self.u) / 2.0, out)
        draw = get_random().uniform(math.prod(z.shape), nd.dtype_name(z), self.l, self.u)
        t = nd.multiply(nd.minimum(z, 0.0), nd.reshape(draw, z.shape))
        return nd.add(nd.maximum(z, 0.0, out), t, out)

    def slope(self, z: Array, a: Array) -> Array:
        zero = pick(nd.equal(z, 0.0), z, 1.0, 0.0)
        t = (a + zero) / (z + zero)  # a / z, and 1 at z = 0
        answered = nd.where(nd.equal(a, (self.l + self.u) / 2.0), 0.0, t)
        return nd.where(nd.greater(a, z), answered, t)


@dataclass(frozen=True, kw_only=True)
class ThresholdedReLU(Activation):
    """x for x > theta, else 0. Source: ActivationThresholdedReLU."""

    pure = splits = True
    java_class = "ActivationThresholdedReLU"
    theta: float = field(default=1.0, kw_only=False)

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        return nd.multiply(z, self.slope(z, z), out)

    def slope(self, z: Array, a: Array) -> Array:
        return pick(nd.greater(z, self.theta), z, 1.0, 0.0)
