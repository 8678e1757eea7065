"""Unbounded activations without a kink: powers, exponential units, self-gated units."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import nd
from nd.arrays import standard
from nd.arrays.creation import is_array_like

from .base import Activation, Array, exp_limit, pick, sigmoid


@dataclass(frozen=True, kw_only=True)
class Cube(Activation):
    """x³. Source: ActivationCube."""

    pure = splits = True
    java_class = "ActivationCube"

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        return nd.multiply(nd.square(z), z, out)

    def slope(self, z: Array, a: Array) -> Array:
        t = nd.square(z)
        return nd.multiply(t, 3.0, t)


@dataclass(frozen=True, kw_only=True)
class ELU(Activation):
    """x for x >= 0, else alpha (eˣ - 1).

    Notes
    -----
    Source: ActivationELU; Clevert et al. 2015. Differs: Java's derivative leaves alpha out.
    """

    pure = splits = True
    java_class = "ActivationELU"
    alpha: float = field(default=1.0, kw_only=False)

    @property
    def overwrites(self) -> bool:
        """With a positive alpha z and a have the same sign."""
        return self.alpha > 0.0

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = standard.expm1(nd.minimum(z, 0.0))
        nd.multiply(t, self.alpha, t)
        return nd.add(nd.maximum(z, 0.0, out), t, out)

    def slope(self, z: Array, a: Array) -> Array:
        nonnegative = nd.greater_equal(z, 0.0)
        t = pick(nonnegative, a, 0.0, 1.0)
        nd.multiply(t, a, t)
        return nd.add(t, pick(nonnegative, a, 1.0, self.alpha), t)


@dataclass(frozen=True, kw_only=True)
class _SelfGated(Activation):
    """x σ(g(x))."""

    def _gate(self, x: Array) -> tuple[Array, Array | float]:
        """Return g(x), a new array, and its derivative."""
        raise NotImplementedError

    def _bounded(self, z: Array) -> Array:
        """Return x held above the number where σ reaches its smallest."""
        return nd.maximum(z, -exp_limit(z))

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        x = self._bounded(z)
        gate = self._gate(x)[0]
        return nd.multiply(x, sigmoid(gate, gate), out)

    def slope(self, z: Array, a: Array) -> Array:
        x = self._bounded(z)
        gate, steepness = self._gate(x)
        s = sigmoid(gate, gate)
        t = nd.subtract(1.0, s)
        nd.multiply(t, steepness, t)
        nd.multiply(t, x, t)
        nd.add(t, 1.0, t)
        return nd.multiply(t, s, t)  # σ (1 + x (1 - σ) g')


_GELU_BOUND = 50.0
"""σ of the precise gate is 0 or 1 beyond, in any precision that counts."""


@dataclass(frozen=True, kw_only=True)
class GELU(_SelfGated):
    """x σ(1.702 x); with `precise` 0.5 x (1 + tanh(√(2/π) (x + (0.044715 x)³))).

    Notes
    -----
    Source: ActivationGELU, which cubes 0.044715 too; Hendrycks and Gimpel 2016 do not.
    """

    pure = splits = True
    java_class = "ActivationGELU"
    precise: bool = field(default=False, kw_only=False)

    def _gate(self, x: Array) -> tuple[Array, Array | float]:
        if not self.precise:
            return nd.multiply(x, 1.702), 1.702
        scale = 2.0 * math.sqrt(2.0 / math.pi)  # 0.5 (1 + tanh u) = σ(2 u)
        x = nd.minimum(x, _GELU_BOUND)
        t = nd.square(x)
        nd.multiply(t, 0.044715**3 * scale, t)
        return (t + scale) * x, 3.0 * t + scale

    def _bounded(self, z: Array) -> Array:
        return nd.maximum(z, -_GELU_BOUND) if self.precise else super()._bounded(z)


@dataclass(frozen=True, kw_only=True)
class Identity(Activation):
    """x; without `out` the result is z itself. Source: ActivationIdentity."""

    pure = splits = True
    java_class = "ActivationIdentity"
    overwrites = True

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        if not is_array_like(z):
            z = nd.as_array(z)  # no function looks at it here, which would refuse it
        return z if out is None or out is z else nd.assign(out, z)

    def backprop(self, z: Array, a: Array, epsilon: Array | None = None, out: Array | None = None) -> Any:
        """Return epsilon itself, or `out` with its elements."""
        if epsilon is None:
            return self._backprop_pair(z, a)
        return epsilon if out is None or out is epsilon else nd.assign(out, epsilon)


@dataclass(frozen=True, kw_only=True)
class Mish(Activation):
    """x tanh(ln(1 + eˣ)). Source: ActivationMish; Misra 2019."""

    pure = splits = True
    java_class = "ActivationMish"

    def _terms(self, z: Array) -> tuple[Array, Array, Array]:
        """Return e = eˣ, n = e (e + 2), with tanh(ln(1 + eˣ)) = n / (n + 2), and x; from 20 on the tanh is 1."""
        x = nd.minimum(z, 20.0)
        e = nd.exp(x)
        return e, e * (e + 2.0), x

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        n = self._terms(z)[1]
        return nd.multiply(z, nd.divide(n, n + 2.0, n), out)

    def slope(self, z: Array, a: Array) -> Array:
        e, n, x = self._terms(z)
        t = 1.0 / (n + 2.0)
        return n * t + x * (4.0 * e * (e + 1.0) * t * t)


@dataclass(frozen=True, kw_only=True)
class SELU(Activation):
    """λ x for x > 0, else λ α (eˣ - 1); λ = 1.0507009873554805, α = 1.6732632423543772. Source: ActivationSELU."""

    pure = splits = True
    java_class = "ActivationSELU"
    overwrites = True
    scale: ClassVar[float] = 1.0507009873554805
    alpha: ClassVar[float] = 1.6732632423543772

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = standard.expm1(nd.minimum(z, 0.0))
        nd.multiply(t, self.scale * self.alpha, t)
        return nd.add(nd.multiply(nd.maximum(z, 0.0, out), self.scale, out), t, out)

    def slope(self, z: Array, a: Array) -> Array:
        return nd.minimum(a, 0.0) + pick(nd.greater(a, 0.0), a, self.scale, self.scale * self.alpha)


@dataclass(frozen=True, kw_only=True)
class SoftPlus(Activation):
    """ln(1 + eˣ). Source: ActivationSoftPlus. Differs: large x do not overflow."""

    pure = splits = True
    java_class = "ActivationSoftPlus"
    overwrites = True

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        t = nd.absolute(z)
        nd.exp(nd.multiply(t, -1.0, t), t)
        return nd.add(nd.maximum(z, 0.0, out), standard.log1p(t), out)

    def slope(self, z: Array, a: Array) -> Array:
        return -standard.expm1(-a)


@dataclass(frozen=True, kw_only=True)
class Swish(_SelfGated):
    """x σ(x). Source: ActivationSwish; Ramachandran et al. 2017."""

    pure = splits = True
    java_class = "ActivationSwish"

    def _gate(self, x: Array) -> tuple[Array, Array | float]:
        return nd.multiply(x, 1.0), 1.0
