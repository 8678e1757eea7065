"""java.util.Random, as far as Java's data iterators draw from it."""

from __future__ import annotations

import math
import operator
import time
from typing import Any

import numpy as np

from backends.errors import DataError
from nd.classes import ExplainedType

_MULTIPLIER = 0x5DEECE66D
_INCREMENT = 0xB
_MASK = (1 << 48) - 1
_INT_MAX = (1 << 31) - 1


class JavaRandom(metaclass=ExplainedType):
    """Draw the numbers that ``new java.util.Random(seed)`` draws.

    Parameters
    ----------
    seed : int, optional
        Any Java long; without it the current time.

    Notes
    -----
    ``s = (s * 0x5DEECE66D + 0xB) mod 2**48``, and the upper 31 bits of `s` make one draw.

    Source: java.util.Random and java.util.Collections of the Java API specification.

    Examples
    --------
    >>> random = JavaRandom(42)
    >>> [random.next_int(10) for _ in range(5)]
    [0, 3, 8, 4, 0]
    """

    def __init__(self, seed: int | None = None) -> None:
        self.set_seed(time.time_ns() if seed is None else seed)

    def set_seed(self, seed: int) -> None:
        """Start anew, as a new generator of that seed. DataError: the seed is no whole number."""
        if not hasattr(seed, "__index__"):
            raise DataError(f"JavaRandom.set_seed: seed must be a whole number, got {seed!r}.")
        self._state = (operator.index(seed) ^ _MULTIPLIER) & _MASK
        self._other_gaussian: float | None = None

    def get_state(self) -> int:
        """Return the 48 bits that decide all later draws."""
        return self._state

    def set_state(self, state: int) -> None:
        """Go on where the generator stood that had this state.

        DataError: it is no state: a whole number below 2**48.
        """
        if not isinstance(state, int) or isinstance(state, bool) or not 0 <= state <= _MASK:
            raise DataError(f"JavaRandom.set_state: state must be a whole number below 2**48, got {state!r}.")
        self._state = state

    def next_int(self, bound: int | None = None) -> int:
        """Return a uniform integer in 0 to `bound` - 1; without a bound one of 32 bits, negative ones too.

        DataError: `bound` is not 1 to 2147483647.
        """
        if bound is None:
            return self._signed_32_bits()
        if not 0 < bound <= _INT_MAX:
            raise DataError(f"JavaRandom.next_int: bound must be 1 to {_INT_MAX}, got {bound}.")
        bits = self._bits(31)
        if bound & (bound - 1) == 0:
            return (bound * bits) >> 31
        value = bits % bound
        # Java asks whether this sum overflows an int: the last, incomplete run of `bound` numbers is refused
        while bits - value + bound - 1 > _INT_MAX:
            bits = self._bits(31)
            value = bits % bound
        return value

    def next_double(self) -> float:
        """Return a uniform number in 0 to 1 of 53 bits."""
        return ((self._bits(26) << 27) + self._bits(27)) / (1 << 53)

    def next_float(self) -> float:
        """Return a uniform number in 0 to 1 of 24 bits."""
        return self._bits(24) / (1 << 24)

    def next_boolean(self) -> bool:
        """Return True or False."""
        return self._bits(1) != 0

    def next_long(self) -> int:
        """Return a whole number of 64 bits, negative ones too."""
        high, low = (self._signed_32_bits() for _ in range(2))
        return ((high << 32) + low + (1 << 63)) % (1 << 64) - (1 << 63)

    def next_gaussian(self) -> float:
        """Return a standard normal number; every second one is the other of a pair."""
        if self._other_gaussian is not None:
            other, self._other_gaussian = self._other_gaussian, None
            return other
        square = 0.0
        while square >= 1.0 or square == 0.0:
            first, second = 2.0 * self.next_double() - 1.0, 2.0 * self.next_double() - 1.0
            square = first * first + second * second
        factor = math.sqrt(-2.0 * math.log(square) / square)
        self._other_gaussian = second * factor
        return first * factor

    def permutation(self, n: int) -> np.ndarray:
        """Return the order [n] in which ``Collections.shuffle`` leaves the numbers 0 to `n` - 1.

        Examples
        --------
        >>> JavaRandom(3).permutation(10).tolist()
        [6, 5, 1, 3, 8, 7, 9, 0, 2, 4]
        """
        order = list(range(n))
        draw = self.next_int
        for i in range(n - 1, 0, -1):
            j = draw(i + 1)
            order[i], order[j] = order[j], order[i]
        return np.array(order, dtype=np.int64)

    def swapped_pairs(self, n: int) -> np.ndarray:
        """Return the order [n] in which ND4J's ``DataSet.shuffle`` leaves n rows: a row is swapped with one other.

        The rows at odd places are shuffled, and swapped with those at even places. Where n is odd, the last row takes
        the partner of another even place, drawn, which stays.

        Examples
        --------
        >>> JavaRandom(42).swapped_pairs(9).tolist()
        [0, 4, 3, 2, 1, 6, 5, 8, 7]

        Notes
        -----
        Source: ND4J ``ArrayUtil.buildInterleavedVector``; checked with runs of Java 1.0.0-M2.1.
        """
        partners = dict(zip(range(0, n - 1, 2), 2 * self.permutation(n // 2) + 1, strict=True))
        if n % 2 and n > 1:
            partners[n - 1] = partners.pop(2 * self.next_int(n // 2))
        order = np.arange(n)
        for even, odd in partners.items():
            order[even], order[odd] = odd, even
        return order

    def shuffle(self, values: list[Any] | np.ndarray) -> None:
        """Shuffle a list, or an array along its first axis, in place as ``Collections.shuffle`` does."""
        order = self.permutation(len(values))
        if isinstance(values, np.ndarray):
            values[...] = values[order]
        else:
            values[:] = [values[i] for i in order]

    def _bits(self, count: int) -> int:
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> (48 - count)

    def _signed_32_bits(self) -> int:
        bits = self._bits(32)
        return bits - (1 << 32) if bits >= 1 << 31 else bits
