"""Activations whose values stay between two limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import nd

from .base import Activation, Array, pick, sigmoid, softmax


@dataclass(frozen=True, kw_only=True)
class HardSigmoid(Activation):
    """0.2 x + 0.5, held in 0 .. 1; the slope is 0.2 on -2.5 .. 2.5, ends included. Source: ActivationHardSigmoid."""

    pure = splits = True
    java_class = "ActivationHardSigmoid"

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = nd.multiply(z, 0.2, out)
        nd.add(t, 0.5, t)
        return nd.minimum(nd.maximum(t, 0.0, t), 1.0, t)

    def slope(self, z: Array, a: Array) -> Array:
        return pick(nd.absolute(z) <= 2.5, z, 0.2, 0.0)


@dataclass(frozen=True, kw_only=True)
class HardTanh(Activation):
    """x, held in -1 .. 1; the slope is 1 on -1 .. 1, ends included. Source: ActivationHardTanH."""

    pure = splits = True
    java_class = "ActivationHardTanH"

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = nd.maximum(z, -1.0, out)
        return nd.minimum(t, 1.0, t)

    def slope(self, z: Array, a: Array) -> Array:
        return pick(nd.absolute(z) <= 1.0, z, 1.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class RationalTanh(Activation):
    """1.7159 sgn(y) (1 - 1 / (1 + |y| + y² + 1.41645 y⁴)) with y = 2 x / 3. Source: ActivationRationalTanh."""

    pure = splits = True
    java_class = "ActivationRationalTanh"

    def _terms(self, z: Array) -> tuple[Array, Array]:
        """Return |y|, held where the function has saturated, and the denominator less 1."""
        y = nd.absolute(z)
        nd.minimum(nd.multiply(y, 2.0 / 3.0, y), 1e4, y)
        square = nd.square(y)
        return y, y + square + 1.41645 * nd.square(square)

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        q = self._terms(z)[1]
        nd.divide(q, q + 1.0, q)
        nd.multiply(q, 1.7159, q)
        return nd.multiply(nd.sign(z), q, out)

    def slope(self, z: Array, a: Array) -> Array:
        y, q = self._terms(z)
        rise = 1.0 + 2.0 * y + (4.0 * 1.41645) * y * y * y
        return (1.7159 * 2.0 / 3.0) * rise / nd.square(q + 1.0)


@dataclass(frozen=True, kw_only=True)
class RectifiedTanh(Activation):
    """max(0, tanh x). Source: ActivationRectifiedTanh."""

    pure = splits = True
    java_class = "ActivationRectifiedTanh"
    overwrites = True

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = nd.tanh(z, out)
        return nd.maximum(t, 0.0, t)

    def slope(self, z: Array, a: Array) -> Array:
        return pick(nd.greater(a, 0.0), a, 1.0, 0.0) - nd.square(a)


@dataclass(frozen=True, kw_only=True)
class Sigmoid(Activation):
    """1 / (1 + e⁻ˣ). Source: ActivationSigmoid."""

    pure = splits = True
    java_class = "ActivationSigmoid"
    overwrites = True

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        return sigmoid(z, out)

    def slope(self, z: Array, a: Array) -> Array:
        t = nd.subtract(1.0, a)
        return nd.multiply(t, a, t)


@dataclass(frozen=True, kw_only=True)
class Softmax(Activation):
    """eˣ / Σ eˣ along the last axis, as in Java also of images and series. Source: ActivationSoftmax."""

    pure = splits = True
    java_class = "ActivationSoftmax"
    over_rows = True
    overwrites = True

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        return softmax(z, out)

    def value_of_sum(self, z: Array, b: Array, out: Array) -> Array:
        """Return the softmax of z + b, as `Activation.value_of_sum`."""
        return softmax(z, out, b)

    def backprop(self, z: Array, a: Array, epsilon: Array | None = None, out: Array | None = None) -> Any:
        """Return a (epsilon - Σ epsilon a): the full Jacobian."""
        if epsilon is None:
            return self._backprop_pair(z, a)
        t = nd.multiply(epsilon, a)
        nd.subtract(epsilon, nd.sum(t, z.ndim - 1, True), t)
        return nd.multiply(t, a, out)


@dataclass(frozen=True, kw_only=True)
class SoftSign(Activation):
    """x / (1 + |x|). Source: ActivationSoftSign."""

    pure = splits = True
    java_class = "ActivationSoftSign"

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = nd.absolute(z)
        return nd.divide(z, nd.add(t, 1.0, t), out)

    def slope(self, z: Array, a: Array) -> Array:
        return nd.square(1.0 / (nd.absolute(z) + 1.0))


@dataclass(frozen=True, kw_only=True)
class Tanh(Activation):
    """tanh x. Source: ActivationTanH."""

    pure = splits = True
    java_class = "ActivationTanH"
    overwrites = True

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        return nd.tanh(z, out)

    def slope(self, z: Array, a: Array) -> Array:
        t = nd.square(a)
        return nd.subtract(1.0, t, t)
