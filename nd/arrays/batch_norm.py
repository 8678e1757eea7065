"""Batch normalisation: every channel to another mean and deviation, and errors back through that.

`centered` in these functions is x less the mean, as `channel_moments` has returned it, or None: a backend that reads x
itself in its place keeps none.
"""

from __future__ import annotations

from collections.abc import Callable

from nd.typing import Array

from ..execution.workers import Elementwise
from ..state import state
from .arithmetic import addi, divi, maximum, muli, multiply, square, subi, subtract, where
from .arithmetic import sum as total
from .creation import assign

Buffers = Callable[..., Array]


def for_channels(x: Array, buffers: Buffers, like: Array | None = None) -> Array:
    """Return ``x [N, C, ...]``, or its copy in `buffers`, in a memory order that these functions take.

    With `like`, which this function has returned, in the order of that: functions of two arrays take one order.
    """
    return state.backend.for_channels(x, buffers, like)


def channel_moments(x: Array, out: Array, buffers: Buffers) -> Array | None:
    """Write the mean of every channel of ``x [N, C, ...]``, and the sum of the squares of x less it, to ``out [2, C]``.

    Returns
    -------
    array or None
        `centered` for the other functions, in memory of `buffers`.

    Notes
    -----
    The squares are those of x less the mean: a large mean costs no digits.
    """
    return state.backend.channel_moments(x, out, buffers)


def combined_moments(means: Array, squares: Array, counts: Array) -> tuple[Array, Array, Array]:
    """Return the moments of the union of several parts, in the way of `channel_moments`, and the number of elements.

    Parameters
    ----------
    means, squares : array ``[parts, C]``
        Of every part.
    counts : array ``[parts, 1]``
        Elements of a channel in every part.

    Returns
    -------
    tuple of array ``[1, C]``, ``[1, C]`` and ``[1, 1]``

    Notes
    -----
    Source: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
    """
    count, first = total(counts, 0, keepdims=True), means[:1, :]
    away = subtract(means, first)  # small numbers, which lose no digits
    shift = divi(total(multiply(away, counts), 0, keepdims=True), count)
    spread = muli(square(subi(away, shift)), counts)
    return first + shift, addi(total(spread, 0, keepdims=True), total(squares, 0, keepdims=True)), count


def normalize_channels(
    x: Array,
    centered: Array | None,
    vectors: tuple[Array, Array, Array | float],
    buffers: Buffers,
    rectify: bool = False,
) -> Array:
    """Return ``(x - mean) * factor + shift`` in the memory "a", for the vectors mean, factor, shift ``[1, C]``.

    With `rectify` numbers below 0 become 0.
    """
    backend = state.backend
    if not backend.compiles:
        return backend.normalize_channels(x, centered, vectors, buffers, rectify)
    out = buffers("a", tuple(x.shape))
    mean, factor, shift = (_across(x, vector) for vector in vectors)
    if centered is None:
        _normalise(x, mean, factor, shift, out)
    else:
        _scale(centered, factor, shift, out)
    if rectify:
        _rectify(out)
    return out


def channel_error_sums(
    epsilon: Array,
    x: Array,
    centered: Array | None,
    mean: Array,
    out: Array,
    buffers: Buffers,
    rectified: Array | None = None,
) -> Array | None:
    """Write the sums of epsilon over every channel, and of ``epsilon * (x - mean)``, to ``out [2, C]``.

    With `rectified`, the result of `normalize_channels`, epsilon first becomes 0 where that is not above 0.

    Returns
    -------
    array or None
        `centered` for `normalize_channels_back`.
    """
    backend = state.backend
    if rectified is not None and backend.compiles:
        _cut(epsilon, rectified)
        rectified = None
    return backend.channel_error_sums(epsilon, x, centered, mean, out, buffers, rectified)


def normalize_channels_back(
    epsilon: Array,
    x: Array,
    centered: Array | None,
    vectors: tuple[Array, Array, Array, Array],
    buffers: Buffers,
) -> Array:
    """Return ``epsilon * factor - (x - mean) * slope - shift``, for the vectors mean, factor, slope, shift ``[1, C]``.

    It may lie in the memory of epsilon; `centered` is used up.
    """
    backend = state.backend
    if centered is None or not backend.compiles:
        return backend.normalize_channels_back(epsilon, x, centered, vectors, buffers)
    _back(epsilon, centered, *(_across(epsilon, vector) for vector in vectors[1:]))
    return epsilon


# ---- formulas, each in one launch where the backend compiles them


@Elementwise
def _scale(x: Array, factor: Array, shift: Array | float, out: Array) -> None:
    multiply(x, factor, out)
    addi(out, shift)


@Elementwise
def _normalise(x: Array, mean: Array, factor: Array, shift: Array | float, out: Array) -> None:
    subtract(x, mean, out)
    muli(out, factor)
    addi(out, shift)


@Elementwise
def _rectify(out: Array) -> None:
    maximum(out, 0.0, out)


@Elementwise
def _cut(epsilon: Array, rectified: Array) -> None:
    assign(epsilon, where(rectified > 0.0, epsilon, 0.0))


@Elementwise
def _back(epsilon: Array, centered: Array, factor: Array, slope: Array, shift: Array) -> None:
    muli(epsilon, factor)
    subi(epsilon, multiply(centered, slope, centered))
    subi(epsilon, shift)


def _across(x: Array, of_channels: Array | float) -> Array | float:
    """View ``[1, C]`` so that it broadcasts to ``[N, C, ...]``."""
    if isinstance(of_channels, float):
        return of_channels
    return state.backend.reshape_view(of_channels, (1, x.shape[1], *(1,) * (x.ndim - 2)))
