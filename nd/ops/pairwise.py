"""Elementwise functions of two arrays of one shape, or of an array and a number.

Source: org.nd4j.linalg.api.ops.impl.transforms.pairwise. MaxPairwise and MinPairwise have libnd4j's names, because
Max and Min are the reductions.
"""

from __future__ import annotations

from backends.base import Backend
from backends.errors import ShapeError, describe_shape
from nd.arguments import checked
from nd.arrays import standard

from .base import Array, Op


class Pairwise(Op):
    """A function of x and y, ``Op(x, y, z=None)``; y has the shape and dtype of x, or is a number.

    Raises
    ------
    ShapeError
        x and y differ in shape.
    DTypeError
        x and y differ in dtype, or y is neither an array nor a number.
    """

    @checked
    def __init__(self, x: Array, y: Array | float, z: Array | None = None) -> None:
        super().__init__(x, y, z)
        if isinstance(y, (int, float)):
            return
        self.check_array("y", y)
        if tuple(y.shape) != tuple(x.shape):
            raise ShapeError(
                f"{self.who}: y must be {describe_shape(x.shape)} as x, got {describe_shape(y.shape)}. "
                "For a vector along an axis use the Broadcast ops."
            )
        self.check_same_dtype(x, y)


class Add(Pairwise):
    """x + y."""

    def _compute(self, backend: Backend) -> Array:
        return backend.add(self.x, self.y, self.z)


class Copy(Pairwise):
    """y; x only says how large it is."""

    java_number = 1

    def _compute(self, backend: Backend) -> Array:
        target = backend.empty(self.x.shape, backend.dtype_name(self.x)) if self.z is None else self.z
        return backend.assign(target, self.y)


class Div(Pairwise):
    """x / y."""

    def _compute(self, backend: Backend) -> Array:
        return backend.divide(self.x, self.y, self.z)


class MaxPairwise(Pairwise):
    """Larger of x and y."""

    def _compute(self, backend: Backend) -> Array:
        return backend.maximum(self.x, self.y, self.z)


class MinPairwise(Pairwise):
    """Smaller of x and y."""

    def _compute(self, backend: Backend) -> Array:
        return backend.minimum(self.x, self.y, self.z)


class Mul(Pairwise):
    """x * y."""

    def _compute(self, backend: Backend) -> Array:
        return backend.multiply(self.x, self.y, self.z)


class PowPairwise(Pairwise):
    """x ** y."""

    java_number = 4

    def _compute(self, backend: Backend) -> Array:
        return backend.power(self.x, self.y, self.z)


class RDiv(Pairwise):
    """y / x."""

    def _compute(self, backend: Backend) -> Array:
        return backend.divide(self.y, self.x, self.z)


class RSub(Pairwise):
    """y - x."""

    def _compute(self, backend: Backend) -> Array:
        return backend.subtract(self.y, self.x, self.z)


class Sub(Pairwise):
    """x - y."""

    def _compute(self, backend: Backend) -> Array:
        return backend.subtract(self.x, self.y, self.z)


class Comparison(Pairwise):
    """1 where a relation of x and y holds, else 0, in the dtype of x."""

    boolean = False
    """Whether the result is of bool, as a network asks for it."""

    def _compute(self, backend: Backend) -> Array:
        if self.boolean:
            return self._holds(backend)
        return standard.astype(self._holds(backend), self.x.dtype)

    def _holds(self, backend: Backend) -> Array:
        raise NotImplementedError


class Eq(Comparison):
    """x == y."""

    def _holds(self, backend: Backend) -> Array:
        return backend.equal(self.x, self.y)


class Gt(Comparison):
    """x > y."""

    def _holds(self, backend: Backend) -> Array:
        return backend.greater(self.x, self.y)


class Gte(Comparison):
    """x >= y."""

    def _holds(self, backend: Backend) -> Array:
        return backend.greater_equal(self.x, self.y)


class Lt(Comparison):
    """x < y."""

    def _holds(self, backend: Backend) -> Array:
        return backend.greater(self.y, self.x)


class Lte(Comparison):
    """x <= y."""

    def _holds(self, backend: Backend) -> Array:
        return backend.greater_equal(self.y, self.x)


class Neq(Comparison):
    """x != y."""

    def _holds(self, backend: Backend) -> Array:
        return self.x != self.y
