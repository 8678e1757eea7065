"""Batch normalisation for NumPy: several passes over a piece of an array while it is in the cache, one over memory.

An array ``[N, C, ...]``, in whatever order it lies, is seen as rows or columns that belong to one channel each:

- batch innermost, rows first, or in c order: ``[A, C, B]``, of which the last axis is one run in memory;
- channels innermost: ``[P, r, k * C]``, of which the last axis is k places side by side, so that NumPy's loops are
  long; each of its columns belongs to a channel.

Sums over rows or columns are products with a vector of ones, which BLAS computes faster than anything else adds up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from backends.typing import Array, NumpyArray

from ..errors import ShapeError
from ..signatures import ErrorSums, Moments, Normalization, NormalizationBack
from .caches import l2_cache_bytes

if TYPE_CHECKING:
    from .numpy_backend import NumpyBackend

Buffers = Callable[..., NumpyArray]
Index = tuple[slice, slice]

PIECE_BYTES = min(max(l2_cache_bytes(), 1 << 19), 1 << 21)
"""Of an array. Smaller pieces would stay in the cache more surely, but two workers then fight for the interpreter's
lock: with a cache of 1 MB a step of 64 takes 10.0 ms by pieces of 128 KB, 8.9 by 256, 8.2 by 1024, and 8.3 by 4096."""
LONGEST = 4096
"""Elements of a row: the ones that it is multiplied by stay in the first-level cache."""
SHORT = 512
"""Elements of a row below which a number of its channel is repeated for each, so that NumPy's loops go over many rows:
rows of 49, 224 and 448 take 0.68, 0.78 and 0.74 of the time then, rows of 896 1.1."""


LEAST_LENGTH = 64  # of rows that are cut from longer ones, whose number of elements may divide badly
PIECES = 64


class Layout(NamedTuple):
    """An array of one shape and memory order as a table of rows, or columns, of one channel each.

    Attributes
    ----------
    axes : tuple of int
        Of the array, as they lie in memory.
    shape : tuple of int
        ``[A, C, B]`` or ``[P, r, k * C]``.
    swapped : bool
        Whether the first two axes of that lie in memory in the other order.
    columns : bool
        Whether columns belong to channels.
    pieces : tuple of pair of slice
        Ranges of the table that fit the cache.
    """

    axes: tuple[int, ...]
    shape: tuple[int, int, int]
    swapped: bool
    columns: bool
    pieces: tuple[Index, ...]

    @property
    def table(self) -> tuple[int, int]:
        """Shape of what has one number for every row, or column."""
        first, second, third = self.shape
        return (first, third) if self.columns else (first, second)

    @property
    def length(self) -> int:
        """Elements of a row, or column."""
        return self.shape[1] if self.columns else self.shape[2]

    def view(self, x: np.ndarray) -> np.ndarray:
        """Return an array of this order as one of that shape."""
        first, second, third = self.shape
        x = x.transpose(self.axes)
        return x.reshape(second, first, third).transpose(1, 0, 2) if self.swapped else x.reshape(self.shape)

    def piece(self, x: np.ndarray, index: Index) -> np.ndarray:
        """Return a range of such a view."""
        return x[index[0]] if self.columns else x[index]

    def across(self, table: np.ndarray, index: Index) -> np.ndarray:
        """Return numbers of rows or columns as they broadcast to such a range; a table of one row holds for all."""
        if table.ndim == 3:
            return table[:, index[1]]
        part = table[:, index[1]] if len(table) == 1 else table[index]
        return part[:, None, :] if self.columns else part[:, :, None]

    def sum(self, x: np.ndarray, ones: np.ndarray, out: np.ndarray) -> None:
        """Add up every row or column of a range."""
        if self.columns:
            np.matmul(ones, x, out=out)
        else:
            np.matmul(x, ones, out=out)

    def sum_products(self, x: np.ndarray, y: np.ndarray, ones: np.ndarray, out: np.ndarray) -> None:
        """Add up ``x * y`` over every row or column of a range; y is used up."""
        if self.columns:
            np.matmul(ones, np.multiply(x, y, out=y), out=out)
        else:
            np.vecdot(x, y, out=out)

    def spread(self, vector: np.ndarray, buffers: Buffers, name: str) -> np.ndarray:
        """Return numbers of channels ``[1, C]`` as a table of one row, for short rows ``[1, C, B]``."""
        width = self.table[1]
        if not self.columns and 1 < self.length < SHORT:
            repeated = buffers(name, (self.length, 1, width), vector.dtype.name).transpose(1, 2, 0)
            np.copyto(repeated, vector[:, :, None])
            return repeated
        if width == vector.shape[1]:
            return vector
        spread = buffers(name, (width,), vector.dtype.name)
        np.copyto(spread.reshape(-1, vector.shape[1]), vector)
        return spread.reshape(1, -1)

    def by_channels(self, table: np.ndarray, channels: int) -> np.ndarray:
        """Return a table as ``[rows of a channel, C]``."""
        return table.reshape(-1, channels)


def layout_of(x: np.ndarray) -> Layout | None:
    """Return how an array lies in memory; None where there are gaps, or elements twice."""
    axes = sorted(range(x.ndim), key=lambda axis: (x.shape[axis] != 1, -x.strides[axis]))  # those of one element first
    if not x.transpose(axes).flags.c_contiguous or _cuts_badly(tuple(axes), x.shape):
        return None
    return _layout(tuple(axes), x.shape, x.itemsize)


@lru_cache(maxsize=1024)
def _cuts_badly(axes: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Tell whether many places, channels innermost, cannot be laid side by side: their number divides badly."""
    places = math.prod(shape) // shape[1]
    if axes[-1] != 1 or places <= LONGEST:
        return False
    beside = _divisor(places, LONGEST // shape[1])
    rows = places // beside
    return beside * shape[1] < LEAST_LENGTH or (rows > LONGEST and _divisor(rows, PIECES) < 2)


@lru_cache(maxsize=1024)
def _layout(axes: tuple[int, ...], shape: tuple[int, ...], itemsize: int) -> Layout:
    channels, place, most = shape[1], axes.index(1), PIECE_BYTES // itemsize
    outer = math.prod(shape[axis] for axis in axes[:place])
    inner = math.prod(shape[axis] for axis in axes[place + 1 :])
    if inner == 1 and outer > 1:
        beside = _divisor(outer, LONGEST // channels)
        rows, width = outer // beside, beside * channels
        high = _divisor(rows, most // width)
        pieces = tuple((slice(at, at + 1), slice(None)) for at in range(rows // high))
        return Layout(axes, (rows // high, high, width), False, True, pieces)
    length = _divisor(inner, LONGEST) if outer == 1 else inner
    length = inner if length < LEAST_LENGTH else length
    if outer == 1 and length < inner:
        outer, swapped = inner // length, True
    else:
        swapped = False
    down, along = outer, channels
    if swapped:  # the rows of a channel lie side by side
        along = max(most // (outer * length), 1)
        down = outer if outer * length <= most else max(most // length, 1)
    else:
        down = max(most // (channels * length), 1)
        along = channels if channels * length <= most else max(most // length, 1)
    pieces = tuple(
        (slice(a, min(a + down, outer)), slice(c, min(c + along, channels)))
        for c in range(0, channels, along)
        for a in range(0, outer, down)
    )
    return Layout(axes, (outer, channels, length), swapped, False, pieces)


def _divisor(number: int, most: int) -> int:
    """Return the largest divisor up to `most`, at least 1."""
    return next(divisor for divisor in range(max(min(number, most), 1), 0, -1) if number % divisor == 0)


def _like(x: np.ndarray, axes: tuple[int, ...], buffers: Buffers, name: str) -> np.ndarray:
    """Return memory of x's shape in the order of those axes; `buffers` give the first axis the innermost place."""
    *outer, last = (x.shape[axis] for axis in axes)
    lying = buffers(name, (last, *outer), x.dtype.name).transpose(*range(1, x.ndim), 0)
    return lying.transpose(np.argsort(axes))


# ---- the primitives. Nothing keeps x less the mean


def for_channels(backend: NumpyBackend, x: NumpyArray, buffers: Buffers, like: NumpyArray | None = None) -> Array:
    """Return x, or its copy, in an order without gaps; that of `like`, which has been returned."""
    if like is None:
        return x if layout_of(x) is not None else backend.to_activation_order(x, buffers)
    layout = layout_of(like)
    if layout is None or x.transpose(layout.axes).flags.c_contiguous:
        return x
    ordered = _like(x, layout.axes, buffers, "ordered")
    np.copyto(ordered, x)
    return ordered


def moments(backend: NumpyBackend, given: Moments[NumpyArray]) -> None:
    """Write mean and sum of squared deviations."""
    x, out, buffers = given
    layout = _known(x)
    view, ones = layout.view(x), _filled(layout.length, 1.0, buffers, "ones", x)
    means, left, squares = (_table(layout, buffers, name, x) for name in ("means", "left", "squares"))
    for index in layout.pieces:
        piece, mean = layout.piece(view, index), means[index]
        layout.sum(piece, ones, mean)
        np.divide(mean, layout.length, out=mean)
        away = _scratch(piece, buffers)
        np.subtract(piece, layout.across(means, index), out=away)
        layout.sum(away, ones, left[index])
        layout.sum_products(away, away, ones, squares[index])
    _combine(layout, (means, left, squares), out)


def normalized(backend: NumpyBackend, given: Normalization[NumpyArray]) -> Array:
    """Normalise piece by piece."""
    x, _, (mean, factor, shift), buffers, rectify = given
    layout = layout_of(x)
    if layout is None:
        x = np.asanyarray(backend.to_activation_order(x, buffers))
        layout = _known(x)
    out = _like(x, layout.axes, buffers, "a")
    view, into = layout.view(x), layout.view(out)
    mean, factor = layout.spread(mean, buffers, "spread_mean"), layout.spread(factor, buffers, "spread_factor")
    zeros = _filled(layout.shape[2], 0.0, buffers, "zeros", x)  # a third of the time that one zero takes
    if not isinstance(shift, float):
        shift = layout.spread(shift, buffers, "spread_shift")
    for index in layout.pieces:
        piece = layout.piece(into, index)
        np.subtract(layout.piece(view, index), layout.across(mean, index), out=piece)
        np.multiply(piece, layout.across(factor, index), out=piece)
        np.add(piece, shift if isinstance(shift, float) else layout.across(shift, index), out=piece)
        if rectify:
            np.maximum(piece, zeros, out=piece)
    return out


def error_sums(backend: NumpyBackend, given: ErrorSums[NumpyArray]) -> None:
    """Write the sums of epsilon, and of epsilon times x less the mean."""
    epsilon, x, _, mean, out, buffers, rectified = given
    layout = _known(x)
    view, errors, ones = layout.view(x), layout.view(epsilon), _filled(layout.length, 1.0, buffers, "ones", x)
    totals, products = (_table(layout, buffers, name, x) for name in ("totals", "products"))
    mean = layout.spread(mean, buffers, "spread_mean")
    for index in layout.pieces:
        piece, error = layout.piece(view, index), layout.piece(errors, index)
        if rectified is not None:
            above = _scratch(piece, buffers, "above", "bool")
            np.greater(layout.piece(layout.view(rectified), index), 0.0, out=above)
            np.multiply(error, above, out=error)
        away = _scratch(piece, buffers)
        np.subtract(piece, layout.across(mean, index), out=away)
        layout.sum(error, ones, totals[index])
        layout.sum_products(error, away, ones, products[index])
    for table, row in ((totals, out[0]), (products, out[1])):
        np.add.reduce(layout.by_channels(table, x.shape[1]), axis=0, out=row)


def back(backend: NumpyBackend, given: NormalizationBack[NumpyArray]) -> Array:
    """Write the errors of x into the memory of epsilon."""
    epsilon, x, _, vectors, buffers = given
    layout = _known(x)
    view, errors = layout.view(x), layout.view(epsilon)
    names = ("spread_mean", "spread_factor", "spread_slope", "spread_shift")
    spread = [layout.spread(vector, buffers, name) for vector, name in zip(vectors, names, strict=True)]
    for index in layout.pieces:
        piece, error = layout.piece(view, index), layout.piece(errors, index)
        mean, factor, slope, shift = (layout.across(vector, index) for vector in spread)
        away = _scratch(piece, buffers)
        np.subtract(piece, mean, out=away)
        np.multiply(away, slope, out=away)
        np.multiply(error, factor, out=error)
        np.subtract(error, away, out=error)
        np.subtract(error, shift, out=error)
    return epsilon


def _known(x: np.ndarray) -> Layout:
    """Return the order of what `for_channels` has returned."""
    layout = layout_of(x)
    if layout is None:
        raise ShapeError(f"batch normalisation: x must lie in memory without gaps, got strides {x.strides}. Copy it.")
    return layout


def _filled(length: int, value: float, buffers: Buffers, name: str, x: np.ndarray) -> np.ndarray:
    vector = buffers(name, (length,), x.dtype.name)
    vector.fill(value)
    return vector


def _table(layout: Layout, buffers: Buffers, name: str, x: np.ndarray) -> np.ndarray:
    """Return memory for one number of every row or column."""
    first, second = layout.table
    return buffers(name, (second, first), x.dtype.name).T


def _scratch(piece: np.ndarray, buffers: Buffers, name: str = "piece", dtype: str = "") -> np.ndarray:
    """Return memory for numbers of a piece; the first is the largest that comes."""
    first, second, third = piece.shape
    return buffers(name, (third, first, second), dtype or piece.dtype.name).transpose(1, 2, 0)


def _combine(layout: Layout, tables: tuple[np.ndarray, np.ndarray, np.ndarray], out: np.ndarray) -> None:
    """Write mean and sum of squared deviations of all rows of a channel, which have equally many elements each.

    Of every row there are a mean, the sum and the squares of what it leaves: the sum is not 0 by what the mean was
    rounded. Source: Chan, Golub and LeVeque 1979.
    """
    means, left, squares = (layout.by_channels(table, out.shape[1]) for table in tables)
    away = np.divide(left, layout.length)
    np.multiply(left, away, out=left)
    np.subtract(squares, left, out=squares)
    if len(means) == 1:
        np.add(means, away, out=out[:1])
        np.copyto(out[1:], squares)
        return
    np.add(away, np.subtract(means, means[:1]), out=away)  # from the first mean: small numbers, which lose no digits
    shift = np.divide(np.add.reduce(away, axis=0, keepdims=True), len(means))
    np.add(means[:1], shift, out=out[:1])
    np.subtract(away, shift, out=away)
    np.multiply(away, away, out=away)
    np.multiply(away, layout.length, out=away)
    np.add(away, squares, out=away)
    np.add.reduce(away, axis=0, out=out[1])
