"""The place of numbers in data that are not finite: worked out when a step or a prediction has failed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nd
from nd.state import computing
from nd.typing import Array


def place_of_nan(name: str, arrays: Sequence[object], dtype: str) -> str:
    """Return where the first number is that is not finite, and how many there are; nothing where all are finite.

    Parameters
    ----------
    name : str
        Of the arrays in messages: "features".
    arrays : sequence of array ``[N, ...]``
        From the host or the current backend.
    dtype : str
        In which they are computed with.
    """
    for number, given in enumerate(arrays):
        x = nd.as_array(given, dtype)
        if x.shape and not nd.all_finite(x):
            which = f"{name} {number}" if len(arrays) > 1 else name
            return f"{_first(x)} of {which} {nd.checks.describe_shape(x.shape)}{_more(x)}"
    return ""


def located(error: nd.NumericError, data: Sequence[Any], dtype: str) -> nd.NumericError:
    """Return the error of a step, with the place in one of the data sets that is to blame, if it is these."""
    for one in data:
        parts = one.multi
        for name, arrays in (("features", parts.features), ("labels", parts.labels)):
            try:
                place = place_of_nan(name, arrays, dtype)
            except nd.NdError:  # labels that are texts
                continue
            if place:
                return nd.NumericError(f"{error} There is {place}.")
    return error


def _first(x: Array) -> str:
    """Return the value and the place of the first number that is not finite."""
    row = _first_row(x)
    numbers = nd.to_host(nd.reshape(x[row : row + 1, ...], (-1,))).tolist()
    at = next(place for place, value in enumerate(numbers) if value - value != 0)
    sizes, places = tuple(x.shape[1:]), []
    for size in reversed(sizes):
        places.append(at % size)
        at //= size
    value = numbers[next(place for place, one in enumerate(numbers) if one - one != 0)]
    word = "NaN" if value != value else "infinity"
    column = ""
    if len(sizes) == 1:
        column = f", column {places[0]}"
    elif places:
        column = f", place [{', '.join(map(str, reversed(places)))}]"
    return f"{word} in row {row}{column}"


def _first_row(x: Array) -> int:
    """Return the first row that is not finite, by halves."""
    start, stop = 0, x.shape[0]
    while stop - start > 1:
        middle = (start + stop) // 2
        start, stop = (start, middle) if not nd.all_finite(x[start:middle, ...]) else (middle, stop)
    return start


def _more(x: Array) -> str:
    with computing(nd.backend()):
        finite = nd.equal(nd.subtract(x, x), nd.zeros(x.shape, dtype=nd.dtype_name(x)))
    count = math.prod(x.shape) - int(nd.to_host(finite).sum())
    return "" if count == 1 else f", the first of {count}"
