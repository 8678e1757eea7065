"""NDArrayIndex: parts of arrays by ND4J's names, as Python's brackets take them."""

from __future__ import annotations

from collections.abc import Sequence

from nd import DataError
from nd.arguments import Natural, checked


class NDArrayIndex:
    """What stands between the brackets of an array: ``a[NDArrayIndex.point(0), NDArrayIndex.all()]``.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.arange(12).reshape(3, 4)
    >>> a[NDArrayIndex.point(1), NDArrayIndex.interval(0, 2)].tolist()
    [4, 5]
    """

    @staticmethod
    def all() -> slice:
        """Return the whole axis."""
        return slice(None)

    @staticmethod
    @checked
    def point(place: int) -> int:
        """Return one place of an axis, which then is gone."""
        return place

    @staticmethod
    @checked
    def interval(first: Natural, *rest: int | bool) -> slice:
        """Return ``(first, end)`` or ``(first, step, end)`` of an axis, the end left out unless a True follows.

        Raises
        ------
        DataError
            There are more or fewer numbers.
        """
        inclusive = bool(rest) and rest[-1] is True
        numbers = [number for number in rest if not isinstance(number, bool)]
        if len(numbers) not in (1, 2):
            raise DataError(f"interval: expected (first, end) or (first, step, end), got {[first, *rest]}.")
        return slice(first, numbers[-1] + inclusive, numbers[0] if len(numbers) == 2 else None)

    @staticmethod
    @checked
    def indices(*places: int | Sequence[int]) -> list[int]:
        """Return several places of an axis."""
        return [one for several in places for one in ([several] if isinstance(several, int) else several)]

    @staticmethod
    def newAxis() -> None:
        """Return a new axis of length 1."""
