"""java.util's Collections and Arrays for ported programs; lists are Python's, and stand for Java's arrays too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import Any

import nd
from nd.dataset.java_random import JavaRandom as Random
from nd.evaluation.java_text import shortest

Comparator = Callable[[Any, Any], int]


class Collections:
    """java.util.Collections: of lists, in place where Java's are."""

    @staticmethod
    def shuffle(values: list[Any], random: Random | None = None) -> None:
        """Shuffle a list in place; without a generator by one that starts from the time."""
        (random or Random()).shuffle(values)

    @staticmethod
    def sort(values: list[Any], comparator: Comparator | None = None) -> None:
        """Sort a list in place, by a function of two elements that returns a negative number, 0 or a positive one."""
        values.sort(key=None if comparator is None else cmp_to_key(comparator))

    @staticmethod
    def reverseOrder() -> Comparator:
        """Return the comparator by which the largest element comes first."""
        return lambda first, second: (second > first) - (second < first)

    @staticmethod
    def reverse(values: list[Any]) -> None:
        """Reverse a list in place."""
        values.reverse()

    @staticmethod
    def swap(values: list[Any], first: int, second: int) -> None:
        """Exchange two elements of a list."""
        values[first], values[second] = values[second], values[first]

    @staticmethod
    def addAll(values: list[Any], *more: Any) -> bool:
        """Append elements to a list; tell whether there were any."""
        values.extend(more)
        return bool(more)

    @staticmethod
    def emptyList() -> list[Any]:
        """Return a list without elements."""
        return []

    @staticmethod
    def singletonList(value: Any) -> list[Any]:
        """Return a list of one element."""
        return [value]

    @staticmethod
    def nCopies(count: int, value: Any) -> list[Any]:
        """Return a list that holds one value `count` times."""
        return [value] * count

    max = staticmethod(max)
    min = staticmethod(min)


class Arrays:
    """java.util.Arrays, of lists; what is copied is a list too."""

    @staticmethod
    def asList(*values: Any) -> list[Any]:
        """Return the elements of an array, or the arguments, as a list."""
        return list(values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values)

    @staticmethod
    def toString(values: Sequence[Any] | None) -> str:
        """Return ``"[1.0, 2.5]"``, numbers as Java prints them."""
        if values is None:
            return "null"
        elements = nd.to_host(values) if nd.is_array(values) else values
        return "[" + ", ".join(_text(each) for each in elements) + "]"

    @staticmethod
    def fill(values: Any, *ends_and_value: Any) -> None:
        """Set all elements, ``fill(values, value)``, or some, ``fill(values, first, end, value)``."""
        *ends, value = ends_and_value
        first, end = _range("Arrays.fill", values, ends)
        values[first:end] = [value] * (end - first)

    @staticmethod
    def sort(values: Any, *ends: int) -> None:
        """Sort in place: all elements, or ``sort(values, first, end)``."""
        first, end = _range("Arrays.sort", values, ends)
        values[first:end] = sorted(values[first:end])

    @staticmethod
    def equals(first: Sequence[Any] | None, second: Sequence[Any] | None) -> bool:
        """Tell whether two arrays have the same elements; NaN is NaN here, as in Java."""
        if first is None or second is None:
            return first is second
        pairs = zip(first, second, strict=False)
        return len(first) == len(second) and all(bool(a == b or (a != a and b != b)) for a, b in pairs)

    @staticmethod
    def copyOf(values: Sequence[Any], length: int) -> list[Any]:
        """Return the first elements; those that there are not are 0, False or None, as the first one's type has it."""
        return Arrays.copyOfRange(values, 0, length)

    @staticmethod
    def copyOfRange(values: Sequence[Any], first: int, end: int) -> list[Any]:
        """Return the elements from `first` up to, not including, `end`, which may lie behind the last; see `copyOf`."""
        if not 0 <= first <= min(end, len(values)):
            raise nd.ArgumentError(f"Arrays.copyOfRange: {len(values)} elements have no range {first} .. {end}.")
        copied = list(values[first:end])
        kind = type(values[0]) if len(values) else int
        blank = kind() if kind in (bool, int, float) else None
        return copied + [blank] * (end - first - len(copied))


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (list, tuple)):
        return Arrays.toString(value)
    of_floats = isinstance(value, float) or str(getattr(value, "dtype", "")).startswith("float")
    return shortest(float(str(value))) if of_floats else str(value)


def _range(who: str, values: Any, ends: Sequence[int]) -> tuple[int, int]:
    """Return where a range of a list begins and ends: the whole list where nothing is said."""
    first, end = ends or (0, len(values))
    if not 0 <= first <= end <= len(values):
        raise nd.ArgumentError(f"{who}: a range must lie in 0 .. {len(values)}, got {first} .. {end}.")
    return first, end
