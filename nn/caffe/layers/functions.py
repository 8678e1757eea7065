"""Functions of elements that Caffe computes in another way than Deeplearning4j: their values and derivatives."""

from __future__ import annotations

import math
from dataclasses import dataclass

import nd
from nd.activations import ELU, Activation, SoftPlus
from nd.activations.base import pick, sigmoid
from nd.typing import Array


@dataclass(frozen=True, kw_only=True)
class Leaky(Activation):
    """x for x > 0, else slope x; the derivative at 0 is the slope below."""

    pure = splits = True
    below: float

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = nd.multiply(z, self.below)
        return (nd.maximum if self.below <= 1.0 else nd.minimum)(z, t, out)

    def slope(self, z: Array, a: Array) -> Array:
        return pick(nd.greater(z, 0.0), z, 1.0, self.below)


@dataclass(frozen=True, kw_only=True)
class SteepELU(ELU):
    """x for x > 0, else alpha (eˣ - 1); the derivative at 0 is alpha."""

    pure = splits = True

    def slope(self, z: Array, a: Array) -> Array:
        positive = nd.greater(z, 0.0)
        t = nd.multiply(nd.add(a, self.alpha), pick(positive, a, 0.0, 1.0))
        return nd.add(t, pick(positive, a, 1.0, 0.0), t)


@dataclass(frozen=True, kw_only=True)
class BinomialLogLikelihood(SoftPlus):
    """ln(1 + eˣ); its derivative from x, because a small value has too few digits for it."""

    pure = splits = True

    def slope(self, z: Array, a: Array) -> Array:
        return sigmoid(z)


@dataclass(frozen=True, kw_only=True)
class Absolute(Activation):
    """|x|, with the derivative 0 at 0."""

    pure = splits = True

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        return nd.absolute(z, out)

    def slope(self, z: Array, a: Array) -> Array:
        return nd.sign(z)


@dataclass(frozen=True, kw_only=True)
class Clipped(Activation):
    """x, held in low .. high; the derivative is 1 there, ends included."""

    pure = splits = True
    low: float
    high: float

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = nd.maximum(z, self.low, out)
        return nd.minimum(t, self.high, t)

    def slope(self, z: Array, a: Array) -> Array:
        return pick(nd.equal(z, a), z, 1.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Gated(Activation):
    """x σ(beta x)."""

    pure = splits = True
    beta: float

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        return nd.multiply(z, self._gate(z), out)

    def slope(self, z: Array, a: Array) -> Array:
        gate, t = self._gate(z), nd.multiply(a, self.beta)
        return nd.add(t, nd.multiply(gate, nd.subtract(1.0, t)), t)  # beta a + σ (1 - beta a)

    def _gate(self, z: Array) -> Array:
        t = nd.multiply(z, self.beta)
        return sigmoid(t, t)


@dataclass(frozen=True, kw_only=True)
class Scaled(Activation):
    """A function of shift + scale x."""

    scale: float
    shift: float

    def inner(self, z: Array, out: Array | None = None) -> Array:
        """Return shift + scale z, a new array or `out`."""
        t = nd.multiply(z, self.scale, out)
        return nd.add(t, self.shift, t) if self.shift else t


@dataclass(frozen=True, kw_only=True)
class Power(Scaled):
    """(shift + scale x)^exponent; a constant, with the derivative 0, where exponent or scale is 0."""

    pure = splits = True
    exponent: float

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = self.inner(z, out)
        return t if self.exponent == 1.0 else self._raised(t, self.exponent, t)

    def slope(self, z: Array, a: Array) -> Array:
        factor = self.exponent * self.scale
        if factor == 0.0 or self.exponent == 1.0:
            return nd.add(nd.multiply(z, 0.0), factor)
        t = self.inner(z)
        return nd.multiply(self._raised(t, self.exponent - 1.0, t), factor, t)

    def _raised(self, t: Array, exponent: float, out: Array) -> Array:
        if exponent == 1.0:
            return t
        return nd.square(t, out) if exponent == 2.0 else nd.power(t, exponent, out)


@dataclass(frozen=True, kw_only=True)
class Exponential(Activation):
    """e^(offset + factor x)."""

    pure = splits = True
    factor: float
    offset: float

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = nd.multiply(z, self.factor, out)
        return nd.exp(nd.add(t, self.offset, t) if self.offset else t, t)

    def slope(self, z: Array, a: Array) -> Array:
        return nd.multiply(a, self.factor)


@dataclass(frozen=True, kw_only=True)
class Logarithm(Scaled):
    """ln(shift + scale x) / ln(base)."""

    pure = splits = True
    base: float

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = nd.log(self.inner(z, out), out)
        return t if self.base == math.e else nd.divide(t, math.log(self.base), t)

    def slope(self, z: Array, a: Array) -> Array:
        t = self.inner(z)
        return nd.divide(self.scale / math.log(self.base), t, t)


@dataclass(frozen=True, kw_only=True)
class Step(Activation):
    """1 for x > threshold, else 0."""

    pure = splits = True
    threshold: float

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        return nd.greater(z, self.threshold, nd.multiply(z, 1.0) if out is None else out)
