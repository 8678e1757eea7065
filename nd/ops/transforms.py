"""Elementwise functions of one array. Source: org.nd4j.linalg.api.ops.impl.transforms."""

from __future__ import annotations

from backends.base import Backend
from nd.arguments import checked
from nd.arrays import standard

from .base import Array, Op, normal_axes


class Transform(Op):
    """A function of x, ``Op(x, z=None)``. Parameters of the function are keywords."""

    @checked
    def __init__(self, x: Array, z: Array | None = None) -> None:
        super().__init__(x, z=z)


class Abs(Transform):
    """|x|."""

    java_number = 0

    def _compute(self, backend: Backend) -> Array:
        return backend.absolute(self.x, self.z)


class Ceil(Transform):
    """The least integer >= x."""

    java_number = 17

    def _compute(self, backend: Backend) -> Array:
        return standard.ceil(self.x)


class Cos(Transform):
    """Cosine."""

    java_number = 22

    def _compute(self, backend: Backend) -> Array:
        return backend.cos(self.x, self.z)


class Exp(Transform):
    """eˣ."""

    java_number = 23

    def _compute(self, backend: Backend) -> Array:
        return backend.exp(self.x, self.z)


class Expm1(Transform):
    """eˣ - 1, exact near 0."""

    java_number = 51

    def _compute(self, backend: Backend) -> Array:
        return standard.expm1(self.x)


class Floor(Transform):
    """The greatest integer <= x."""

    java_number = 18

    def _compute(self, backend: Backend) -> Array:
        return standard.floor(self.x)


class IsMax(Transform):
    """1 at the first maximum along `dimension` (None: of all elements, in c order), 0 elsewhere.

    ``IsMax(x, 1)`` is ``IsMax(x, dimension=1)``, as in Java.
    """

    @checked
    def __init__(self, x: Array, z: Array | int | None = None, dimension: int | None = None) -> None:
        if isinstance(z, int):
            z, dimension = None, z
        super().__init__(x, z)
        self.axis = None if dimension is None else normal_axes(self.who, dimension, x)[0]

    def _compute(self, backend: Backend) -> Array:
        x = backend.reshape(self.x, (-1,)) if self.axis is None else self.x
        axis = self.axis or 0
        size = x.shape[axis]
        along = tuple(size if i == axis else 1 for i in range(x.ndim))
        index = backend.reshape(backend.argmax(x, axis), tuple(1 if i == axis else n for i, n in enumerate(x.shape)))
        hit = backend.equal(backend.reshape(backend.arange(0, size, "int64"), along), index)
        return backend.reshape(backend.astype(hit, backend.dtype_name(x)), self.x.shape)


class Log(Transform):
    """Natural logarithm."""

    java_number = 24

    def _compute(self, backend: Backend) -> Array:
        return backend.log(self.x, self.z)


class Log1p(Transform):
    """ln(1 + x), exact near 0."""

    java_number = 44

    def _compute(self, backend: Backend) -> Array:
        return standard.log1p(self.x)


class LogSoftMax(Transform):
    """x - ln Σ eˣ along axis 1, for a vector along its only axis."""

    def _compute(self, backend: Backend) -> Array:
        axis = 1 if self.x.ndim > 1 else 0
        shifted = self.x - backend.max(self.x, axis, True)
        return backend.subtract(shifted, backend.log(backend.sum(backend.exp(shifted), axis, True)), shifted)


class Negative(Transform):
    """-x."""

    java_number = 3

    def _compute(self, backend: Backend) -> Array:
        return backend.multiply(self.x, -1, self.z)


class OneMinus(Transform):
    """1 - x."""

    java_number = 7

    def _compute(self, backend: Backend) -> Array:
        return backend.subtract(1, self.x, self.z)


class Pow(Transform):
    """x ** exponent, the exponent a number."""

    java_number = 31

    @checked
    def __init__(self, x: Array, z: Array | None = None, *, exponent: float = 2.0) -> None:
        super().__init__(x, z)
        self.exponent = exponent

    def _compute(self, backend: Backend) -> Array:
        return backend.power(self.x, self.exponent, self.z)


class Reciprocal(Transform):
    """1 / x."""

    java_number = 11

    def _compute(self, backend: Backend) -> Array:
        return backend.divide(1.0, self.x, self.z)


class Round(Transform):
    """The nearest integer; a half goes away from 0, as in C and Java, not to the even neighbour."""

    java_number = 4

    def _compute(self, backend: Backend) -> Array:
        integer = standard.trunc(self.x)
        half = standard.astype(backend.absolute(self.x - integer) >= 0.5, self.x.dtype)
        return integer + half * backend.sign(self.x)


class Sign(Transform):
    """-1, 0 or 1; sign(0) = 0."""

    java_number = 1

    def _compute(self, backend: Backend) -> Array:
        return backend.sign(self.x, self.z)


class Sin(Transform):
    """Sine."""

    java_number = 27

    def _compute(self, backend: Backend) -> Array:
        return backend.sin(self.x, self.z)


class Sqrt(Transform):
    """Square root."""

    java_number = 1

    def _compute(self, backend: Backend) -> Array:
        return backend.sqrt(self.x, self.z)


class Square(Transform):
    """x²."""

    java_number = 12

    def _compute(self, backend: Backend) -> Array:
        return backend.square(self.x, self.z)


class Step(Transform):
    """1 where x > cutoff, else 0."""

    java_number = 41

    @checked
    def __init__(self, x: Array, z: Array | None = None, *, cutoff: float = 0.0) -> None:
        super().__init__(x, z)
        self.cutoff = cutoff

    def _compute(self, backend: Backend) -> Array:
        return standard.astype(backend.greater(self.x, self.cutoff), self.x.dtype)


class TimesOneMinus(Transform):
    """x (1 - x), the derivative of the sigmoid in terms of its value."""

    java_number = 5

    def _compute(self, backend: Backend) -> Array:
        return backend.multiply(self.x, 1 - self.x, self.z)
