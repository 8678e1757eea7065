"""Functions that reduce axes to one number. Source: org.nd4j.linalg.api.ops.impl.reduce, indexaccum, summarystats."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from backends.base import Backend
from backends.errors import ShapeError
from nd.arguments import checked
from nd.arrays import standard

from .base import Array, Dimension, Op, normal_axes


class Reduction(Op):
    """A number for every position of the other axes, ``Op(x, dimension=None, keep_dims=False, z=None)``.

    Parameters
    ----------
    x : array
    dimension : int or tuple of int, optional
        Axes to reduce; all by default, then the result is a scalar array.
    keep_dims : bool
        Whether reduced axes stay, with length 1.
    z : array, optional
        See `Op`.

    Raises
    ------
    ShapeError
        `dimension` is not an axis of x, or z has not the shape of the result.
    """

    dtype: ClassVar[str] = ""
    axes: Any

    @checked
    def __init__(self, x: Array, dimension: Dimension = None, keep_dims: bool = False, z: Array | None = None) -> None:
        self.check_array("x", x)
        self.axes = normal_axes(self.who, dimension, x)
        self.keep_dims = keep_dims
        lengths = (1 if axis in self.axes else n for axis, n in enumerate(x.shape))
        self.shape = tuple(n for axis, n in enumerate(lengths) if keep_dims or axis not in self.axes)
        super().__init__(x, None, z, self.shape, self.dtype)

    @property
    def count(self) -> int:
        """Number of elements that go into one number."""
        return math.prod(self.x.shape[axis] for axis in self.axes)


class Sum(Reduction):
    """Σ x."""

    java_number = 0

    def _compute(self, backend: Backend) -> Array:
        if self.z is not None and isinstance(self.axes, int):  # of a network: one pass
            return backend.sum_into(self.x, self.axes, self.z)
        return backend.sum(self.x, self.axes, self.keep_dims)


class Mean(Reduction):
    """Σ x / n."""

    java_number = 0

    def _compute(self, backend: Backend) -> Array:
        return backend.mean(self.x, self.axes, self.keep_dims)


class Max(Reduction):
    """Largest element."""

    java_number = 1

    def _compute(self, backend: Backend) -> Array:
        return backend.max(self.x, self.axes, self.keep_dims)


class Min(Reduction):
    """Smallest element."""

    java_number = 2

    def _compute(self, backend: Backend) -> Array:
        return standard.min(self.x, axis=self.axes, keepdims=self.keep_dims)


class Prod(Reduction):
    """Product of the elements."""

    java_number = 3

    def _compute(self, backend: Backend) -> Array:
        return standard.prod(self.x, axis=self.axes, keepdims=self.keep_dims, dtype=self.x.dtype)


class Norm1(Reduction):
    """Σ |x|."""

    java_number = 2

    def _compute(self, backend: Backend) -> Array:
        return backend.sum(backend.absolute(self.x), self.axes, self.keep_dims)


class Norm2(Reduction):
    """√(Σ x²)."""

    java_number = 3

    def _compute(self, backend: Backend) -> Array:
        return backend.sqrt(backend.sum(backend.square(self.x), self.axes, self.keep_dims))


class NormMax(Reduction):
    """Largest |x|."""

    java_number = 4

    def _compute(self, backend: Backend) -> Array:
        return backend.max(backend.absolute(self.x), self.axes, self.keep_dims)


class CountNonZero(Reduction):
    """Number of elements that are not 0, as int64."""

    java_number = 0
    dtype = "int64"

    def _compute(self, backend: Backend) -> Array:
        return backend.sum(backend.astype(self.x != 0, "int64"), self.axes, self.keep_dims)


class Variance(Reduction):
    """Σ (x - mean)² / (n - 1), as ND4J's default; with ``bias_corrected=False`` / n. One element has variance 0."""

    java_number = 0

    @checked
    def __init__(
        self,
        x: Array,
        dimension: Dimension = None,
        keep_dims: bool = False,
        z: Array | None = None,
        bias_corrected: bool = True,
    ) -> None:
        super().__init__(x, dimension, keep_dims, z)
        self.bias_corrected = bias_corrected

    def _compute(self, backend: Backend) -> Array:
        centred = self.x - backend.mean(self.x, self.axes, True)
        divisor = max(self.count - 1, 1) if self.bias_corrected else self.count
        return backend.sum(backend.square(centred, centred), self.axes, self.keep_dims) / divisor


class StandardDeviation(Variance):
    """√Variance, with the same parameters."""

    java_number = 1

    def _compute(self, backend: Backend) -> Array:
        return backend.sqrt(super()._compute(backend))


class IndexReduction(Reduction):
    """The position, int64, of an element: along one axis, or in c order among all elements."""

    dtype = "int64"

    @checked
    def __init__(self, x: Array, dimension: int | None = None, keep_dims: bool = False, z: Array | None = None) -> None:
        super().__init__(x, dimension, keep_dims, z)
        if dimension is not None and len(self.axes) != 1:
            raise ShapeError(f"{self.who}: dimension must be one axis or None, got {dimension}. Reduce axis by axis.")
        self.flattens = dimension is None

    def _compute(self, backend: Backend) -> Array:
        x, axis = (backend.reshape(self.x, (-1,)), 0) if self.flattens else (self.x, self.axes[0])
        return backend.reshape(backend.astype(self._find(backend, x, axis), "int64"), self.shape)

    def _find(self, backend: Backend, x: Array, axis: int) -> Array:
        raise NotImplementedError


class IMax(IndexReduction):
    """Position of the first maximum."""

    def _find(self, backend: Backend, x: Array, axis: int) -> Array:
        return backend.argmax(x, axis)


class IMin(IndexReduction):
    """Position of the first minimum."""

    def _find(self, backend: Backend, x: Array, axis: int) -> Array:
        return standard.argmin(x, axis=axis)
