"""Ops that copy, convert, fill, choose and join. Source: org.nd4j.linalg.api.ops.impl, classes of these names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backends.base import Backend
from backends.errors import ShapeError, describe_shape
from nd.arguments import checked
from nd.state import backend as current_backend

from .base import Array, Op, dtype_name, normal_axes
from .transforms import Transform


class Assign(Transform):
    """A copy of x, ``Assign(x, z=None)``."""

    java_number = 0

    def _compute(self, backend: Backend) -> Array:
        return backend.copy(self.x) if self.z is None else backend.assign(self.z, self.x)


class Cast(Op):
    """x in another dtype, ``Cast(x, dtype, z=None)``; without z x itself where it has that dtype.

    Parameters
    ----------
    x : array
    dtype : str
        ``"float32"``, ``"float64"``, ``"int64"``, ``"bool"`` or another one of the backend's.
    z : array, optional
        See `Op`.
    """

    @checked
    def __init__(self, x: Array, dtype: str, z: Array | None = None) -> None:
        current_backend().dtype(dtype)
        super().__init__(x, None, z, dtype=dtype)
        self.dtype = dtype

    def _compute(self, backend: Backend) -> Array:
        return backend.astype(self.x, self.dtype)


class Concat(Op):
    """Arrays one behind the other, ``Concat(arrays, dimension=0, z=None)``; x and y are the first two of them.

    Raises
    ------
    ShapeError
        There are none, or they differ along another axis.
    DTypeError
        They differ in dtype.
    """

    @checked
    def __init__(self, arrays: Sequence[Array], dimension: int = 0, z: Array | None = None) -> None:
        if not arrays:
            raise ShapeError("Concat: expected arrays, got none. Give one at least.")
        first, axis = arrays[0], 0
        for array in arrays:
            self.check_array("an array", array)
            axis = normal_axes(self.who, dimension, first)[0]
            others = [tuple(n for place, n in enumerate(one.shape) if place != axis) for one in (first, array)]
            if others[0] != others[1] or len(array.shape) != len(first.shape):
                raise ShapeError(
                    f"Concat: arrays must differ along dimension {dimension} only, got {describe_shape(first.shape)} "
                    f"and {describe_shape(array.shape)}."
                )
            self.check_same_dtype(first, array)
        length = sum(array.shape[axis] for array in arrays)
        shape = (*first.shape[:axis], length, *first.shape[axis + 1 :])
        super().__init__(first, arrays[1] if len(arrays) > 1 else None, z, shape)
        self.arrays, self.axis = list(arrays), axis

    @property
    def inputs(self) -> tuple[Any, ...]:
        return tuple(self.arrays)

    def _compute(self, backend: Backend) -> Array:
        return backend.concat(self.arrays, self.axis)


class ScalarSet(Transform):
    """A number in every place of z, or of an array of the shape of x: ``ScalarSet(x, z=None, value=0.0)``."""

    java_number = 14

    @checked
    def __init__(self, x: Array, z: Array | None = None, *, value: float = 0.0) -> None:
        super().__init__(x, z)
        self.value = value

    @property
    def extra_args(self) -> tuple[float, ...]:
        return (self.value,)

    def _compute(self, backend: Backend) -> Array:
        target = backend.empty(self.x.shape, backend.dtype_name(self.x)) if self.z is None else self.z
        return backend.fill(target, self.value)


class Select(Op):
    """Elements of x where the condition is not 0, else of y: ``Select(x, y, condition, z=None)``.

    Raises
    ------
    ShapeError
        They differ in shape.
    DTypeError
        x and y differ in dtype.
    """

    y: Array

    @checked
    def __init__(self, x: Array, y: Array, condition: Array, z: Array | None = None) -> None:
        super().__init__(x, y, z)
        current_backend().look_at(self.who, condition)
        for name, array in (("y", y), ("condition", condition)):
            self.check_array(name, array)
            if tuple(array.shape) != tuple(x.shape):
                raise ShapeError(
                    f"Select: {name} must be {describe_shape(x.shape)} as x, got {describe_shape(array.shape)}."
                )
        self.check_same_dtype(x, y)
        self.condition = condition

    @property
    def inputs(self) -> tuple[Any, ...]:
        return self.x, self.y, self.condition

    def _compute(self, backend: Backend) -> Array:
        condition = self.condition
        if dtype_name(condition) != "bool":
            condition = condition != 0
        return backend.where(condition, self.x, self.y)
