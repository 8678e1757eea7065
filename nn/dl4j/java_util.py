"""java.util's Collections and Arrays for ported programs; lists are Python's, and stand for Java's arrays too."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key
from typing import Any, TypeVar

import nd
from nd.arguments import shown
from nd.dataset.java_random import JavaRandom as Random
from nd.evaluation.java_text import shortest
from nd.typing import HostArray

Element = TypeVar("Element")
Comparator = Callable[[Any, Any], int]


def _place(value: object) -> tuple[bool, object]:
    """Return the key of Java's ``compareTo``: NaN is the largest number."""
    return value != value, value


def _key(comparator: Comparator | None) -> Callable[[Any], Any]:
    return _place if comparator is None else cmp_to_key(comparator)


class Collections:
    """java.util.Collections: of lists, in place where Java's are."""

    @staticmethod
    def shuffle(values: list[Any], random: Random | None = None) -> None:
        """Shuffle a list in place; without a generator by one that starts from the time."""
        (random or Random()).shuffle(values)

    @staticmethod
    def sort(values: list[Any], comparator: Comparator | None = None) -> None:
        """Sort a list in place, by a function of two elements that returns a negative number, 0 or a positive one."""
        values.sort(key=_key(comparator))

    @staticmethod
    def reverseOrder() -> Comparator:
        """Return the comparator by which the largest element comes first."""
        return lambda first, second: (_place(second) > _place(first)) - (_place(second) < _place(first))

    @staticmethod
    def reverse(values: list[Any]) -> None:
        """Reverse a list in place."""
        values.reverse()

    @staticmethod
    def swap(values: list[Any], first: int, second: int) -> None:
        """Exchange two elements of a list."""
        values[first], values[second] = values[second], values[first]

    @staticmethod
    def addAll(values: list[Element], *more: Element) -> bool:
        """Append elements to a list; tell whether there were any."""
        values.extend(more)
        return bool(more)

    @staticmethod
    def emptyList() -> list[Any]:
        """Return a list without elements."""
        return []

    @staticmethod
    def singletonList(value: Element) -> list[Element]:
        """Return a list of one element."""
        return [value]

    @staticmethod
    def nCopies(count: int, value: Element) -> list[Element]:
        """Return a list that holds one value `count` times."""
        return [value] * count

    @staticmethod
    def max(values: Iterable[Element], comparator: Comparator | None = None) -> Element:
        """Return the largest element, the first of several; by a comparator as `sort` takes where one is given."""
        return max(_some("Collections.max", values), key=_key(comparator))

    @staticmethod
    def min(values: Iterable[Element], comparator: Comparator | None = None) -> Element:
        """Return the smallest element, as `max`."""
        return min(_some("Collections.min", values), key=_key(comparator))


class Arrays:
    """java.util.Arrays, of lists; copies are lists too."""

    @staticmethod
    def asList(*values: object) -> list[Any]:
        """Return the elements of an array, or the arguments, as a list."""
        return list(values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values)

    @staticmethod
    def toString(values: Sequence[object] | None) -> str:
        """Return ``"[1.0, 2.5]"``, numbers as Java prints them."""
        if values is None:
            return "null"
        return "[" + ", ".join(_text(element) for element in _elements("Arrays.toString", values)) + "]"

    @staticmethod
    def fill(values: Any, *ends_and_value: Any) -> None:
        """Set all elements, ``fill(values, value)``, or some, ``fill(values, first, end, value)``."""
        if not ends_and_value:
            raise nd.ArgumentError("Arrays.fill: expected a value behind the array, got none.")
        *ends, value = ends_and_value
        first, end = _range("Arrays.fill", values, ends)
        values[first:end] = [value] * (end - first)

    @staticmethod
    def sort(values: Any, *ends_and_comparator: Any) -> None:
        """Sort in place: all elements, or ``sort(values, first, end)``; a comparator, as `Collections.sort` takes, may
        stand at the end. NaN comes last."""
        *ends, last = (*ends_and_comparator, None)
        if ends and (ends[-1] is None or callable(ends[-1])):
            last = ends.pop()
        first, end = _range("Arrays.sort", values, ends)
        values[first:end] = sorted(values[first:end], key=_key(last))

    @staticmethod
    def equals(first: Sequence[object] | None, second: Sequence[object] | None) -> bool:
        """Tell whether two arrays have the same elements; NaN equals NaN, as in Java."""
        if first is None or second is None:
            return first is second
        left, right = (_elements("Arrays.equals", values) for values in (first, second))
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(bool(a == b or (a != a and b != b)) for a, b in pairs)

    @staticmethod
    def copyOf(values: Sequence[object], length: int) -> list[Any]:
        """Return the first elements; those that there are not are 0, False or None, as the first one's type has it."""
        return Arrays.copyOfRange(values, 0, length)

    @staticmethod
    def copyOfRange(values: Sequence[object], first: int, end: int) -> list[Any]:
        """Return the elements from `first` up to, not including, `end`, which may lie behind the last; see `copyOf`."""
        if not 0 <= first <= min(end, len(values)):
            raise nd.ArgumentError(f"Arrays.copyOfRange: {len(values)} elements have no range {first} .. {end}.")
        elements = nd.to_host(values) if nd.is_array(values) else values
        copied = list(elements[first:end])
        like = elements[0] if len(elements) else 0
        is_number = isinstance(like, (bool, numbers.Number)) or str(getattr(like, "dtype", "")) == "bool"
        return copied + [type(like)() if is_number else None] * (end - first - len(copied))


def _text(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (list, tuple)):
        return Arrays.toString(value)
    dtype = str(getattr(value, "dtype", ""))
    if dtype == "bool":
        return "true" if value else "false"
    return shortest(float(str(value))) if isinstance(value, float) or dtype.startswith("float") else str(value)


def _some(who: str, values: Iterable[Element]) -> list[Element]:
    """Return the elements as a list; raise ArgumentError where there are none."""
    elements = list(values)
    if not elements:
        raise nd.ArgumentError(f"{who}: expected a list with elements, got an empty one.")
    return elements


def _elements(who: str, values: Sequence[object]) -> Sequence[object] | HostArray:
    """Return a list, or a vector ``[n]`` on the host; raise ShapeError where an element is an array itself."""
    elements = nd.to_host(values) if nd.is_array(values) else values
    if not _is_vector(elements) or any(getattr(element, "shape", ()) for element in elements):
        raise nd.ShapeError(
            f"{who}: expected a list of numbers or a vector [n], got {shown(values)}. Take the rows one by one."
        )
    return elements


def _is_vector(values: object) -> bool:
    """Tell whether it is a list, or an array of one axis."""
    return len(getattr(values, "shape", (0,))) == 1


def _range(who: str, values: Any, ends: Sequence[int]) -> tuple[int, int]:
    """Return the start and end of a range of a list: of all of it by default."""
    if not _is_vector(values):
        raise nd.ShapeError(f"{who}: expected a list or a vector [n], got {shown(values)}. Take its rows one by one.")
    if len(ends) not in (0, 2):
        raise nd.ArgumentError(f"{who}: a range must have a first and an end, got {list(ends)}. Leave it out for all.")
    first, end = ends or (0, len(values))
    if not 0 <= first <= end <= len(values):
        raise nd.ArgumentError(f"{who}: a range must lie in 0 .. {len(values)}, got {first} .. {end}.")
    return first, end
