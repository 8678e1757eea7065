"""How far two arrays are apart: absolutely, relative to the largest number, and in units in the last place."""

from __future__ import annotations

import math
from dataclasses import dataclass

import nd
from nd.typing import Array, HostArray

_BITS = {"float32": "int32", "float64": "int64"}
_SMALLEST = 2.0**-126  # of float32, but for subnormal numbers


@dataclass(frozen=True)
class Difference:
    """The largest difference between the numbers of two arrays.

    Attributes
    ----------
    numbers : int
    largest : float
        The largest absolute value of those expected.
    absolute : float
        The largest difference; infinite where one side alone has NaN, or other infinities.
    ulps : float
        The largest difference in units in the last place of the larger number of a pair. Numbers near 0 whose terms
        were large have many, however good they are.
    """

    numbers: int
    largest: float
    absolute: float
    ulps: float

    @property
    def relative(self) -> float:
        """The largest difference in units of the largest number expected."""
        return self.absolute / max(self.largest, _SMALLEST) if self.absolute else 0.0

    def joined(self, other: Difference) -> Difference:
        """Return the larger of each."""
        return Difference(
            self.numbers + other.numbers,
            max(self.largest, other.largest),
            max(self.absolute, other.absolute),
            max(self.ulps, other.ulps),
        )


def difference(expected: HostArray, got: HostArray) -> Difference:
    """Return how far two host arrays of the same shape are apart.

    Notes
    -----
    The unit in the last place of x is the distance from ``|x|`` to the next larger number of the arrays' type, of
    float32 where only one has it.
    """
    with nd.use_backend("numpy"):
        dtype = "float64" if str(expected.dtype) == str(got.dtype) == "float64" else "float32"
        first, second = (nd.reshape(nd.as_array(array, dtype), (1, -1)) for array in (expected, got))
        numbers = first.shape[1]
        if not numbers:
            return Difference(0, 0.0, 0.0, 0.0)
        regular = nd.multiply(_is_finite(first), _is_finite(second))
        largest = _largest(_regular(first, _is_finite(first)))
        if not _same_others(first, second, regular):
            return Difference(numbers, largest, math.inf, math.inf)
        first, second = _regular(first, regular), _regular(second, regular)
        apart = nd.absolute(nd.subtract(nd.astype(first, "float64"), nd.astype(second, "float64")))
        units = _unit_of(nd.maximum(nd.absolute(first), nd.absolute(second)), dtype)
        return Difference(numbers, largest, _largest(apart), _largest(nd.divide(apart, units)))


def has_numbers(array: HostArray) -> bool:
    """Tell whether an array has a finite number, or is empty: there is nothing to prove by NaN and infinities alone."""
    with nd.use_backend("numpy"):
        return not array.size or bool(nd.item(nd.max(_is_finite(nd.as_array(array, "float64")))) > 0.5)


def _unit_of(sizes: Array, dtype: str) -> Array:
    """Return the distances to the next larger numbers."""
    bits: HostArray = nd.to_host(sizes).view(_BITS[dtype])
    following: HostArray = nd.to_host(nd.add(bits, 1)).view(dtype)
    return nd.subtract(nd.astype(following, "float64"), nd.astype(sizes, "float64"))


def _is_finite(array: Array) -> Array:
    """Return 1 where numbers are finite, and 0."""
    number = nd.where(nd.equal(array, array), 1.0, 0.0)
    return nd.multiply(number, nd.where(nd.greater_equal(nd.absolute(array), math.inf), 0.0, 1.0))


def _regular(array: Array, regular: Array) -> Array:
    return nd.where(nd.greater(regular, 0.5), array, 0.0)


def _same_others(first: Array, second: Array, regular: Array) -> bool:
    """Tell whether both have the same infinities, and NaN, where numbers are not finite."""
    equal = nd.where(nd.equal(first, second), 1.0, 0.0)
    nans = nd.multiply(*(nd.where(nd.equal(array, array), 0.0, 1.0) for array in (first, second)))
    same = nd.maximum(nd.maximum(equal, nans), regular)
    return bool(nd.item(nd.max(nd.subtract(1.0, same))) < 0.5)


def _largest(array: Array) -> float:
    return float(nd.item(nd.max(nd.absolute(array))))
