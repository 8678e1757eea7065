"""Elements and rows of values by their numbers, with derivatives, and the numbers of places in an array."""

from __future__ import annotations

import math
from collections.abc import Sequence

import nd
from nd.typing import Array

from .call import Call
from .functions import permute, reshape
from .values import Value, zeros


def indices(call: Call, position: int) -> Array:
    """Return an input of whole numbers as int64."""
    given = call.constants.get(position)
    return nd.astype(call[position].array, "int64") if given is None else given.array("int64")


def counted(numbers: Array, size: int) -> Array:
    """Return places, some of them counted from the end, as places from the start."""
    return nd.add(numbers, nd.multiply(nd.astype(nd.greater(0, numbers), "int64"), size))


def whole_numbers(values: Sequence[int]) -> Array:
    """Return whole numbers as a vector of int64."""
    return nd.as_array(list(values), "int64")


def rows(x: Value, numbers: Array) -> Value:
    """Return rows ``[n, columns]`` of a matrix by their numbers ``[n]``; gradients of equal rows are added."""
    shape = x.shape

    def pull(e: Array) -> Array:
        return nd.scatter_add(zeros(shape, nd.dtype_name(e)), numbers, contiguous(e))

    if not math.prod(numbers.shape):
        return Value(zeros((0, shape[1]), x.dtype), [(x, lambda e: zeros(shape, nd.dtype_name(e)))])
    return Value(nd.pull_rows(x.array, numbers), [(x, pull)])


def contiguous(x: Array) -> Array:
    """Return an array in memory of its own, in c order."""
    return nd.assign(nd.create_uninitialized(tuple(x.shape), dtype=nd.dtype_name(x)), x)


def elements(x: Value, places: Array) -> Value:
    """Return the elements of x, counted in c order, whose places are given; in the shape of the places."""
    column = reshape(x, (math.prod(x.shape), 1))
    shape = tuple(places.shape)
    return reshape(rows(column, nd.reshape(places, (math.prod(shape),))), shape)


def along(x: Value, axis: int, numbers: Array) -> Value:
    """Return what has these numbers ``[n]`` along an axis, in their order."""
    others = [other for other in range(x.ndim) if other != axis]
    front = permute(x, (axis, *others))
    table = reshape(front, (x.shape[axis], math.prod(x.shape[other] for other in others)))
    picked = reshape(rows(table, numbers), (numbers.shape[0], *(x.shape[other] for other in others)))
    order = [axis, *others]
    return permute(picked, [order.index(place) for place in range(x.ndim)])


def strides(shape: Sequence[int]) -> list[int]:
    """Return how far apart neighbours along each axis are, in c order."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def position_along(axis: int, shape: Sequence[int]) -> Array:
    """Return 0, 1, ... along one axis, with length 1 along the others."""
    numbers = nd.arange(0, shape[axis], "int64")
    return nd.reshape(numbers, tuple(size if axis == place else 1 for place, size in enumerate(shape)))


def places(shape: Sequence[int], within: Sequence[int], given: dict[int, Array]) -> Array:
    """Return places in an array of shape `within`, for every element of one of `shape` with as many axes.

    Along an axis in `given` the position is that, along others it is that of the element itself.
    """
    result: Array | None = None
    for axis, stride in enumerate(strides(within)):
        position = given[axis] if axis in given else position_along(axis, shape)
        step = nd.multiply(position, stride)
        result = step if result is None else nd.add(result, step)
    full = nd.fill(nd.create_uninitialized(tuple(shape), dtype="int64"), 0)
    return full if result is None else nd.add(full, result)


def spread(x: Value, numbers: Array, count: int) -> Value:
    """Return ``[count, columns]`` with rows of x ``[n, columns]`` added at these numbers ``[n]``."""
    table = zeros((count, x.shape[1]), x.dtype)
    return Value(nd.scatter_add(table, numbers, contiguous(x.array)), [(x, lambda e: nd.pull_rows(e, numbers))])
