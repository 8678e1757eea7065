"""java.util.Random, as far as Java's data iterators draw from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.errors import DataError

_MULTIPLIER = 0x5DEECE66D
_INCREMENT = 0xB
_MASK = (1 << 48) - 1
_INT_MAX = (1 << 31) - 1


class JavaRandom:
    """Draw the numbers that ``new java.util.Random(seed)`` draws.

    Parameters
    ----------
    seed : int
        Any Java long.

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

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def get_state(self) -> int:
        """Return the 48 bits that decide all later draws."""
        return self._state

    def set_state(self, state: int) -> None:
        """Go on where the generator stood that had this state.

        Raises
        ------
        DataError
            It is no state: a whole number below 2**48.
        """
        if not isinstance(state, int) or isinstance(state, bool) or not 0 <= state <= _MASK:
            raise DataError(f"JavaRandom.set_state: state must be a whole number below 2**48, got {state!r}.")
        self._state = state

    def next_int(self, bound: int) -> int:
        """Return a uniform integer in 0 to `bound` - 1.

        Raises
        ------
        DataError
            `bound` is not 1 to 2147483647.
        """
        if not 0 < bound <= _INT_MAX:
            raise DataError(f"JavaRandom.next_int: bound must be 1 to {_INT_MAX}, got {bound}.")
        bits = self._next_31_bits()
        if bound & (bound - 1) == 0:
            return (bound * bits) >> 31
        value = bits % bound
        # Java asks whether this sum overflows an int: the last, incomplete run of `bound` numbers is refused
        while bits - value + bound - 1 > _INT_MAX:
            bits = self._next_31_bits()
            value = bits % bound
        return value

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

    def shuffle(self, values: list[Any] | np.ndarray) -> None:
        """Shuffle a list, or an array along its first axis, in place as ``Collections.shuffle`` does."""
        order = self.permutation(len(values))
        if isinstance(values, np.ndarray):
            values[...] = values[order]
        else:
            values[:] = [values[i] for i in order]

    def _next_31_bits(self) -> int:
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> 17
