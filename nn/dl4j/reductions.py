"""Sums, means, places and orders of elements, by ND4J's names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nd
from nd.arrays import standard
from nd.typing import Array


def _axes(dimensions: Sequence[object]) -> tuple[int, ...] | None:
    """Return the axes that are said, in a list or one by one; None for all of them."""
    given = dimensions[0] if len(dimensions) == 1 and isinstance(dimensions[0], (list, tuple)) else dimensions
    return tuple(given) or None


def _reduction(op: str, of_floats: bool = False) -> staticmethod[..., Array]:
    def reduce(x: Array, *dimensions: object) -> Array:
        """Reduce an array to a scalar array ``[]``, or over the given axes, which then are gone."""
        x = nd.as_array(x)
        dtype = nd.dtype_name(x)
        if dtype == "bool":
            raise nd.DTypeError(f"Nd4j.{op}: expected an array of numbers, got one of bool. Convert it with nd.astype.")
        if of_floats and not dtype.startswith("float"):
            dtype = nd.default_dtype()
        return nd.astype(nd.exec(op, nd.astype(x, dtype), _axes(dimensions)), dtype)  # NumPy's sums of int32 are int64

    return staticmethod(reduce)


def _place(op: str) -> staticmethod[..., Array]:
    def place(x: Array, *dimensions: Any) -> Array:
        """Return the place of the first such element, as int64: in c order of all, or of the axes that are said."""
        x, axes = nd.as_array(x), _axes(dimensions)
        if axes is not None and len(axes) > 1:
            inner = [axis % x.ndim for axis in axes]
            outer = [axis for axis in range(x.ndim) if axis not in inner]
            x = nd.reshape(nd.permute(x, (*outer, *inner)), (*(x.shape[axis] for axis in outer), -1))
            axes = (-1,)
        return nd.exec(op, x, None if axes is None else axes[0])

    return staticmethod(place)


def _ordered(x: Array, axis: int, ascending: bool, sort: str) -> Array:
    in_order = standard.function(sort)(x, axis=axis)
    return in_order if ascending else standard.flip(in_order, axis=axis)


class Reductions:
    """The part of `Nd4j` that reduces and sorts.

    Notes
    -----
    ``sum(x)`` is of all elements, ``sum(x, 1)`` over one axis. `std` and `var` are of a sample, divided by n - 1;
    means, deviations and norms of whole numbers are of the default type. `sort` and `reverse` write into the array.
    """

    argMax = _place("imax")
    argMin = _place("imin")
    max = _reduction("max")
    mean = _reduction("mean", of_floats=True)
    min = _reduction("min")
    norm1 = _reduction("norm1", of_floats=True)
    norm2 = _reduction("norm2", of_floats=True)
    normmax = _reduction("normmax", of_floats=True)
    prod = _reduction("prod")
    std = _reduction("std", of_floats=True)
    sum = _reduction("sum")
    var = _reduction("var", of_floats=True)

    @staticmethod
    def cumsum(x: Array, axis: int | None = None) -> Array:
        """Return the sums up to every element along an axis; without one of all elements in c order, ``[n]``."""
        x = nd.reshape(x, (math.prod(x.shape),)) if axis is None else x
        return standard.cumulative_sum(x, axis=axis or 0, dtype=x.dtype)

    @staticmethod
    def sort(x: Array, *axis_and_ascending: Any) -> Array:
        """Sort in place, ``sort(x, axis, ascending)``, or all elements in c order, ``sort(x, ascending)``; return x."""
        if len(axis_and_ascending) not in (1, 2):
            raise nd.ArgumentError(
                "Nd4j.sort: expected the array, perhaps an axis, and whether it ascends, got "
                f"{len(axis_and_ascending)} arguments behind the array."
            )
        *axis, ascending = axis_and_ascending
        flat = x if axis else nd.reshape(x, (math.prod(x.shape),))
        return nd.assign(x, nd.reshape(_ordered(flat, axis[0] if axis else 0, ascending, "sort"), x.shape))

    @staticmethod
    def sortWithIndices(x: Array, axis: int, ascending: bool) -> list[Array]:
        """Sort along an axis in place; return the former places of the elements, in the default type, and x."""
        places = nd.astype(_ordered(x, axis, ascending, "argsort"), nd.default_dtype())
        return [places, Reductions.sort(x, axis, ascending)]

    @staticmethod
    def sortRows(x: Array, column: int, ascending: bool) -> Array:
        """Return the rows ``[n, m]`` in the order of the numbers in a column."""
        return standard.take(x, _ordered(x[:, column], 0, ascending, "argsort"), axis=0)

    @staticmethod
    def sortColumns(x: Array, row: int, ascending: bool) -> Array:
        """Return the columns ``[n, m]`` in the order of the numbers in a row."""
        return standard.take(x, _ordered(x[row, :], 0, ascending, "argsort"), axis=1)

    @staticmethod
    def reverse(x: Array) -> Array:
        """Exchange the first element in c order with the last, and so on, in place; return x."""
        return nd.assign(x, nd.copy(standard.flip(x)))
