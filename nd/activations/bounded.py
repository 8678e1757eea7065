"""Activations whose values stay between two limits."""

from __future__ import annotations

from dataclasses import dataclass

from nd.state import state

from .base import Activation, Array, pick, sigmoid


@dataclass(frozen=True, kw_only=True)
class HardSigmoid(Activation):
    """0.2 x + 0.5, held in 0 .. 1; the slope is 0.2 on -2.5 .. 2.5, ends included. Source: ActivationHardSigmoid."""

    pure = splits = True
    java_class = "ActivationHardSigmoid"

    def _value(self, z: Array, out: Array | None) -> Array:
        backend = state.backend
        t = backend.multiply(z, 0.2, out)
        backend.add(t, 0.5, t)
        return backend.minimum(backend.maximum(t, 0.0, t), 1.0, t)

    def slope(self, z: Array, a: Array) -> Array:
        return pick(state.backend.absolute(z) <= 2.5, z, 0.2, 0.0)


@dataclass(frozen=True, kw_only=True)
class HardTanh(Activation):
    """x, held in -1 .. 1; the slope is 1 on -1 .. 1, ends included. Source: ActivationHardTanH."""

    pure = splits = True
    java_class = "ActivationHardTanH"

    def _value(self, z: Array, out: Array | None) -> Array:
        backend = state.backend
        t = backend.maximum(z, -1.0, out)
        return backend.minimum(t, 1.0, t)

    def slope(self, z: Array, a: Array) -> Array:
        return pick(state.backend.absolute(z) <= 1.0, z, 1.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class RationalTanh(Activation):
    """1.7159 sgn(y) (1 - 1 / (1 + |y| + y² + 1.41645 y⁴)) with y = 2 x / 3. Source: ActivationRationalTanh."""

    pure = splits = True
    java_class = "ActivationRationalTanh"

    def _terms(self, z: Array) -> tuple[Array, Array]:
        """Return |y|, held where the function has saturated, and the denominator less 1."""
        backend = state.backend
        y = backend.absolute(z)
        backend.minimum(backend.multiply(y, 2.0 / 3.0, y), 1e4, y)
        square = backend.square(y)
        return y, y + square + 1.41645 * backend.square(square)

    def _value(self, z: Array, out: Array | None) -> Array:
        backend = state.backend
        q = self._terms(z)[1]
        backend.divide(q, q + 1.0, q)
        backend.multiply(q, 1.7159, q)
        return backend.multiply(backend.sign(z), q, out)

    def slope(self, z: Array, a: Array) -> Array:
        y, q = self._terms(z)
        rise = 1.0 + 2.0 * y + (4.0 * 1.41645) * y * y * y
        return (1.7159 * 2.0 / 3.0) * rise / state.backend.square(q + 1.0)


@dataclass(frozen=True, kw_only=True)
class RectifiedTanh(Activation):
    """max(0, tanh x). Source: ActivationRectifiedTanh."""

    pure = splits = True
    java_class = "ActivationRectifiedTanh"
    _from_value = True

    def _value(self, z: Array, out: Array | None) -> Array:
        backend = state.backend
        t = backend.tanh(z, out)
        return backend.maximum(t, 0.0, t)

    def slope(self, z: Array, a: Array) -> Array:
        return pick(state.backend.greater(a, 0.0), a, 1.0, 0.0) - state.backend.square(a)


@dataclass(frozen=True, kw_only=True)
class Sigmoid(Activation):
    """1 / (1 + e⁻ˣ). Source: ActivationSigmoid."""

    pure = splits = True
    java_class = "ActivationSigmoid"
    _from_value = True

    def _value(self, z: Array, out: Array | None) -> Array:
        return sigmoid(z, out)

    def slope(self, z: Array, a: Array) -> Array:
        backend = state.backend
        t = backend.subtract(1.0, a)
        return backend.multiply(t, a, t)


@dataclass(frozen=True, kw_only=True)
class Softmax(Activation):
    """eˣ / Σ eˣ along the last axis, as in Java also of images and series. Source: ActivationSoftmax."""

    pure = splits = True
    java_class = "ActivationSoftmax"
    over_rows = True
    _from_value = True

    def _value(self, z: Array, out: Array | None) -> Array:
        return state.backend.softmax(z, z.ndim - 1, out)

    def value_of_sum(self, z: Array, b: Array, out: Array) -> Array:
        """Return the softmax of z + b, as `Activation.value_of_sum`."""
        return state.backend.softmax(z, z.ndim - 1, out, b)

    def backprop(self, z: Array, a: Array, epsilon: Array, out: Array | None = None) -> Array:
        """Return a (epsilon - Σ epsilon a): the full Jacobian."""
        backend = state.backend
        t = backend.multiply(epsilon, a)
        backend.subtract(epsilon, backend.sum(t, z.ndim - 1, True), t)
        return backend.multiply(t, a, out)


@dataclass(frozen=True, kw_only=True)
class SoftSign(Activation):
    """x / (1 + |x|). Source: ActivationSoftSign."""

    pure = splits = True
    java_class = "ActivationSoftSign"

    def _value(self, z: Array, out: Array | None) -> Array:
        backend = state.backend
        t = backend.absolute(z)
        return backend.divide(z, backend.add(t, 1.0, t), out)

    def slope(self, z: Array, a: Array) -> Array:
        backend = state.backend
        return backend.square(1.0 / (backend.absolute(z) + 1.0))


@dataclass(frozen=True, kw_only=True)
class Tanh(Activation):
    """tanh x. Source: ActivationTanH."""

    pure = splits = True
    java_class = "ActivationTanH"
    _from_value = True

    def _value(self, z: Array, out: Array | None) -> Array:
        return state.backend.tanh(z, out)

    def slope(self, z: Array, a: Array) -> Array:
        backend = state.backend
        t = backend.square(a)
        return backend.subtract(1.0, t, t)
