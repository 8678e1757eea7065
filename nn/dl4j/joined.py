"""Arrays that are joined, repeated, widened or given another shape, by ND4J's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nd
from nd.arrays import standard
from nd.typing import Array


def _several(arrays: Sequence[object]) -> Sequence[Any]:
    """Return the arrays, or counts, that are given one by one or in a list; ArgumentError where there are none."""
    several = arrays[0] if len(arrays) == 1 and isinstance(arrays[0], (list, tuple)) else arrays
    if not len(several):
        raise nd.ArgumentError("Nd4j: expected one or more arrays or numbers, got none.")
    return several


class JoinedArrays:
    """The part of `Nd4j` that puts arrays together. Several arrays may be given one by one or in a list."""

    @staticmethod
    def hstack(*arrays: object) -> Array:
        """Join arrays along their last axis of two, vectors end to end."""
        several = _several(arrays)
        return nd.concat(several, 0 if several[0].ndim == 1 else 1)

    @staticmethod
    def vstack(*arrays: object) -> Array:
        """Put rows below each other; scalars make a vector ``[n]``."""
        return nd.concat([nd.reshape(x, (1, *x.shape)) if x.ndim < 2 else x for x in _several(arrays)], 0)

    @staticmethod
    def concat(axis: int, *arrays: object) -> Array:
        """Join arrays along an axis."""
        return nd.concat(_several(arrays), axis)

    @staticmethod
    def stack(axis: int, *arrays: object) -> Array:
        """Join arrays of one shape along a new axis, which may be counted from the end: -1 is the last."""
        several = _several(arrays)
        place = axis + several[0].ndim + 1 if axis < 0 else axis
        return nd.concat([JoinedArrays.expandDims(array, place) for array in several], place)

    @staticmethod
    def pile(*arrays: object) -> Array:
        """Join arrays of one shape along a new first axis."""
        return JoinedArrays.stack(0, *arrays)

    @staticmethod
    def repeat(x: Array, count: int) -> Array:
        """Return an array `count` times, ``[count, ...]``."""
        return JoinedArrays.stack(0, [x] * count)

    @staticmethod
    def tile(x: Array, *counts: object) -> Array:
        """Repeat an array along its axes, one count an axis: ``tile(x, 2, 1)`` puts a matrix twice below itself."""
        counts = tuple(_several(counts))
        if len(counts) != x.ndim:
            raise nd.ShapeError(f"Nd4j.tile: expected a count for each axis of {list(x.shape)}, got {list(counts)}.")
        return standard.tile(x, counts)

    @staticmethod
    def pad(x: Array, *widths: object) -> Array:
        """Put zeros around an array: ``pad(x, 1, 2)`` one before and behind the first axis, two at the second;
        ``pad(x, [[1, 0], [0, 2]])`` says both ends of every axis."""
        ends = [width if isinstance(width, (list, tuple)) else (width, width) for width in _several(widths)]
        if len(ends) != x.ndim:
            raise nd.ShapeError(f"Nd4j.pad: expected widths for each axis of {list(x.shape)}, got {list(widths)}.")
        lengths = [n + before + behind for n, (before, behind) in zip(x.shape, ends, strict=True)]
        padded = nd.zeros(*lengths, dtype=nd.dtype_name(x))
        inside = tuple(slice(before, before + n) for n, (before, _) in zip(x.shape, ends, strict=True))
        nd.assign(padded[inside], x)
        return padded

    @staticmethod
    def append(x: Array, count: int, value: float, axis: int) -> Array:
        """Return an array with `count` elements of one value behind an axis."""
        return nd.concat([x, _block(x, count, value, axis)], axis)

    @staticmethod
    def prepend(x: Array, count: int, value: float, axis: int) -> Array:
        """Return an array with `count` elements of one value before an axis."""
        return nd.concat([_block(x, count, value, axis), x], axis)

    @staticmethod
    def toFlattened(*arrays: object) -> Array:
        """Return all elements one after the other, ``[n]``, in c order; after ``"f"`` or ``'f'`` in f order."""
        order, rest = (arrays[0], arrays[1:]) if isinstance(arrays[0], str) else ("c", arrays)
        return nd.to_flattened(order, _several(rest))

    @staticmethod
    def pullRows(x: Array, dimension: int, *places: object) -> Array:
        """Return rows of a matrix by their numbers, ``pullRows(x, 1, 2, 0)``; with dimension 0 columns."""
        return standard.take(x, nd.create(list(_several(places)), "int64"), axis=1 - dimension)

    @staticmethod
    def expandDims(x: Array, axis: int) -> Array:
        """Put an axis of length 1 in front of an axis; -1 is the last one, not behind it."""
        place = axis + x.ndim if axis < 0 else axis
        if not 0 <= place <= x.ndim:
            raise nd.ShapeError(f"Nd4j.expandDims: expected an axis in -{x.ndim} .. {x.ndim}, got {axis}.")
        return nd.reshape(x, (*x.shape[:place], 1, *x.shape[place:]))

    @staticmethod
    def squeeze(x: Array, axis: int) -> Array:
        """Take an axis of length 1 away."""
        if not -x.ndim <= axis < x.ndim or x.shape[axis] != 1:
            raise nd.ShapeError(f"Nd4j.squeeze: axis {axis} must have length 1, got {list(x.shape)}.")
        place = axis % x.ndim
        return nd.reshape(x, (*x.shape[:place], *x.shape[place + 1 :]))


def _block(x: Array, count: int, value: float, axis: int) -> Array:
    """Return an array that fits x at an axis, of one value."""
    lengths = list(x.shape)
    lengths[axis] = count
    return nd.full(*lengths, value=value, dtype=nd.dtype_name(x))
