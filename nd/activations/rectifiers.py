"""Piecewise linear activations with a kink at zero or at a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from backends.errors import ConfigurationError
from nd.random import get_random
from nd.state import state

from .base import Activation, Array, pick


@dataclass(frozen=True, kw_only=True)
class LeakyReLU(Activation):
    """x for x >= 0, else alpha x. Source: ActivationLReLU."""

    java_class = "ActivationLReLU"
    alpha: float = 0.01

    @property
    def overwrites(self) -> bool:
        """With a positive alpha z and a have the same sign."""
        return self.alpha > 0.0

    def _value(self, z: Array, out: Array | None) -> Array:
        here = state.backend
        t = here.minimum(z, 0.0)
        here.multiply(t, self.alpha, t)
        return here.add(here.maximum(z, 0.0, out), t, out)

    def _slope(self, z: Array, a: Array) -> Array:
        return pick(state.backend.greater_equal(z, 0.0), z, 1.0, self.alpha)


@dataclass(frozen=True, kw_only=True)
class ReLU(Activation):
    """max(0, x); at most `max`, from `threshold` on, with `negative_slope` below it.

    Parameters
    ----------
    max : float, optional
        Upper limit; there the slope is 0.
    threshold : float, optional
        f(x) = max(threshold, x), 0 by default; at the threshold the slope is 0 (1 with a negative slope).
    negative_slope : float, optional
        f(x) = threshold + negative_slope (x - threshold) below the threshold.

    Notes
    -----
    Source: ActivationReLU. Differs: Java ignores the threshold when there is a negative slope.
    """

    java_class = "ActivationReLU"
    max: float | None = None
    threshold: float | None = None
    negative_slope: float | None = None

    @cached_property
    def _plain(self) -> bool:
        return self.max is None and not self.threshold and not self.negative_slope

    @property
    def overwrites(self) -> bool:
        """Only the plain function can be undone from its value."""
        return self._plain

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        """Return the activation of z, as `Activation.value`."""
        here = state.backend
        if self._plain:
            return here.relu(z, out)
        threshold = self.threshold or 0.0
        below = (here.minimum(z, threshold) - threshold) * (self.negative_slope or 0.0)
        t = here.add(here.maximum(z, threshold, out), below, out)
        return t if self.max is None else here.minimum(t, self.max, t)

    def backprop(self, z: Array, a: Array, epsilon: Array, out: Array | None = None) -> Array:
        """Return dL/dz, as `Activation.backprop`."""
        here = state.backend
        if not self._plain:
            return here.multiply(epsilon, self._slope(z, a), out)
        if out is None or out is epsilon:
            return here.multiply(epsilon, here.xp.astype(here.greater(a, 0.0), a.dtype), out)
        return here.multiply(here.greater(a, 0.0, out), epsilon, out)

    def _slope(self, z: Array, a: Array) -> Array:
        here = state.backend
        compare = here.greater_equal if self.negative_slope else here.greater
        t = pick(compare(z, self.threshold or 0.0), z, 1.0, self.negative_slope or 0.0)
        return t if self.max is None else here.multiply(t, pick(z < self.max, z, 1.0, 0.0), t)


@dataclass(frozen=True, kw_only=True)
class ReLU6(Activation):
    """x, held in 0 .. 6; the slope is 1 inside, ends excluded. Source: ActivationReLU6."""

    java_class = "ActivationReLU6"
    _from_value = True

    def _value(self, z: Array, out: Array | None) -> Array:
        here = state.backend
        t = here.maximum(z, 0.0, out)
        return here.minimum(t, 6.0, t)

    def _slope(self, z: Array, a: Array) -> Array:
        return pick((a > 0.0) & (a < 6.0), a, 1.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class RReLU(Activation):
    """x for x >= 0, else s x: in training s is drawn from l .. u for every element, else s = (l + u) / 2.

    Notes
    -----
    Draws come from the global generator, one for each element, in c order. Source: ActivationRReLU; Xu et al. 2015.
    Differs: Java computes max(x, (l + u) / 2) outside of training, and takes the slope for 1 everywhere.
    """

    java_class = "ActivationRReLU"
    draws = True
    l: float = 1.0 / 8.0  # noqa: E741
    u: float = 1.0 / 3.0

    def __post_init__(self) -> None:
        if not self.l <= self.u:
            raise ConfigurationError(f"RReLU: l must be <= u, got l={self.l} and u={self.u}. Exchange them.")

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        """Return the activation of z, as `Activation.value`; in training it draws."""
        here = state.backend
        slope: Any = (self.l + self.u) / 2.0
        if training:
            draw = get_random().uniform(math.prod(z.shape), here.dtype_name(z), self.l, self.u)
            slope = here.reshape(draw, z.shape)
        t = here.multiply(here.minimum(z, 0.0), slope)
        return here.add(here.maximum(z, 0.0, out), t, out)

    def _slope(self, z: Array, a: Array) -> Array:
        zero = pick(state.backend.equal(z, 0.0), z, 1.0, 0.0)
        return (a + zero) / (z + zero)  # a / z, and 1 at z = 0


@dataclass(frozen=True, kw_only=True)
class ThresholdedReLU(Activation):
    """x for x > theta, else 0. Source: ActivationThresholdedReLU."""

    java_class = "ActivationThresholdedReLU"
    theta: float = 1.0

    def _value(self, z: Array, out: Array | None) -> Array:
        return state.backend.multiply(z, self._slope(z, z), out)

    def _slope(self, z: Array, a: Array) -> Array:
        return pick(state.backend.greater(z, self.theta), z, 1.0, 0.0)
