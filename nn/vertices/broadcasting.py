"""Shared by vertices that put several inputs together: shapes that broadcast, and masks of which any counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import nd
from nd.checks import describe_shape
from nd.typing import Array

from .runtime import VertexContext

Shape = tuple[int, ...]


def broadcast_shape(label: str, shapes: Sequence[Shape]) -> Shape:
    """Return the shape in which arrays of these shapes meet, an axis of length 1 being repeated.

    Raises
    ------
    ShapeError
        They have different numbers of axes, or two lengths above 1 of an axis differ.
    """
    if len(set(shapes)) == 1:
        return shapes[0]
    lengths = [set(axis) - {1} for axis in zip(*shapes, strict=False)]
    if len({len(shape) for shape in shapes}) > 1 or any(len(of_axis) > 1 for of_axis in lengths):
        raise nd.ShapeError(
            f"{label}: inputs must have one shape, but for axes of length 1, got "
            f"{', '.join(map(describe_shape, shapes))}. Reshape them, or choose other inputs."
        )
    return tuple(next(iter(of_axis), 1) for of_axis in lengths)


def summed_to(x: Array, shape: Shape) -> Array:
    """Return the sum of x over the axes along which an array of that shape was repeated; x itself if none was."""
    axes = tuple(axis for axis, length in enumerate(shape) if length != x.shape[axis])
    return nd.sum(x, axes, keepdims=True) if axes else x


def any_counts(label: str, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
    """Return a mask of what counts in any of the inputs; None, so that all counts, where one of them has no mask."""
    given = [mask for mask in masks if mask is not None]
    if len(given) < len(masks) or not given:
        return None
    if len(given) == 1:
        return given[0]
    shape = broadcast_shape(f"{label}: masks", [tuple(mask.shape) for mask in given])
    counts = nd.assign(ctx.buffer("mask", shape), given[0])
    return nd.greater(reduce(lambda most, mask: nd.maximum(most, mask, counts), given[1:], counts), 0.0, counts)
