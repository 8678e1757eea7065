"""The mechanism that checks fields and arguments against their annotations."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import numpy as np
import pytest

import nd
from backends.typing import CupyArray, NumpyArray
from nd.arguments import (
    EVEN_INFINITE,
    Checked,
    Count,
    Fraction,
    Long,
    Natural,
    NonNegative,
    Path,
    Positive,
    Retained,
    checked,
    rule_of,
    rule_of_text,
)
from nd.typing import Array


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Thing:
    pass


THING = Thing()

ACCEPTED: list[tuple[Any, Any, Any]] = [
    (int, 3, 3), (int, np.int64(3), 3), (int, np.uint8(3), 3), (int, -(2**70), -(2**70)),
    (float, 3, 3.0), (float, 0.5, 0.5), (float, np.float32(0.5), 0.5), (float, np.int32(2), 2.0),
    (bool, True, True), (bool, np.bool_(False), False),
    (str, "a", "a"), (str | None, None, None), (int | None, np.int8(1), 1),
    (Count, 1, 1), (Natural, 0, 0), (Long, 2**63 - 1, 2**63 - 1), (Positive, 1, 1.0), (NonNegative, 0, 0.0),
    (Fraction, 1, 1.0), (Retained, 1.0, 1.0), (Annotated[float, EVEN_INFINITE], float("inf"), float("inf")),
    (Literal["a", 1], "a", "a"), (Colour, "RED", Colour.RED), (Colour, Colour.BLUE, Colour.BLUE),
    (tuple[int, int], [1, np.int64(2)], (1, 2)), (tuple[float, ...], np.array([1.0, 2.0]), (1.0, 2.0)),
    (Sequence[int], (1, 2), (1, 2)), (int | Sequence[int], 5, 5), (list[str], ["a"], ["a"]),
    (Mapping[int, float], {np.int64(0): 1}, {0: 1.0}), (Thing, THING, THING), (Any, object, object),
    (Path, "a", "a"), (Path, pathlib.PurePosixPath("a"), pathlib.PurePosixPath("a")), (Callable[[int], int], abs, abs),
]  # fmt: skip

REFUSED: list[tuple[Any, Any, str]] = [
    (int, True, "an integer"), (int, np.bool_(True), "an integer"), (int, 3.0, "an integer"), (int, "3", "an integer"),
    (int, None, "an integer"), (int, np.array([3]), "an integer"), (int, np.float64(3), "an integer"),
    (float, True, "a number"), (float, np.bool_(True), "a number"), (float, "0.1", "a number"),
    (float, float("nan"), "a number"), (float, np.float32("nan"), "a number"), (float, float("inf"), "a number"),
    (float, 1j, "a number"), (float, 10**400, "a number"), (float, [0.1], "a number"), (float, None, "a number"),
    (Annotated[float, EVEN_INFINITE], float("nan"), "a number"),
    (bool, 1, "True or False"), (bool, 0, "True or False"), (bool, "false", "True or False"),
    (bool, None, "True or False"), (str, b"a", "text"), (str, 1, "text"), (str | None, 1, "text or None"),
    (int | None, "a", "an integer or None"), (Count, 0, "an integer >= 1"), (Natural, -1, "an integer >= 0"),
    (Long, 2**63, "an integer of 64 bits"), (Positive, 0.0, "a number > 0"), (NonNegative, -1e-9, "a number >= 0"),
    (Fraction, 1.5, "a number in 0..1"), (Retained, 0, "a number with 0 < it <= 1"),
    (Literal["a", 1], "b", "'a' or 1"), (Literal["a", 1], [], "'a' or 1"), (Colour, "green", "one of blue, red"),
    (tuple[int, int], [1], "a tuple of 2, each an integer"), (tuple[int, ...], "12", "a sequence of an integer"),
    (Sequence[int], [1, "2"], "a sequence of an integer"), (Sequence[int], 5, "a sequence of an integer"),
    (Mapping[int, float], {"0": 1}, "a mapping from an integer to a number"), (Mapping, [1], "a mapping"),
    (Mapping[int, float], [1], "a mapping from an integer to a number"),
    (Mapping[str, Any], 1, "a mapping from text to anything"),
    (Thing, Thing, "a Thing"), (Thing, 1, "a Thing"),
    *((Path, given, "text or a path that a file can have") for given in (1, b"a")),
    (Callable[[int], int], 3, "a function"), (Iterable[int], "abc", "an iterable"), (Iterable[int], 3, "an iterable"),
]  # fmt: skip


def check(annotation: Any, value: Any) -> Any:
    @checked
    def take(given: Any) -> Any:
        return given

    take.__wrapped__.__annotations__["given"] = annotation
    return take(value)


def test_what_is_accepted_arrives_as_pythons_own():
    for annotation, value, expected in ACCEPTED:
        found = check(annotation, value)
        assert found == expected, annotation
        assert type(found) is type(expected), annotation


def test_what_is_refused_is_said_with_what_must_hold():
    for annotation, value, expected in REFUSED:
        with pytest.raises(nd.ArgumentError, match=rf"^take: given must be {re.escape(expected)}, got "):
            check(annotation, value)


def test_the_order_of_what_is_allowed_is_that_of_the_annotation():
    assert [rule_of(each).text for each in (int | str, str | int)] == ["an integer or text", "text or an integer"]


def test_open_annotations_have_no_rule():
    for annotation in (Any, object, type[int], int | Any):
        assert rule_of(annotation) is None


def test_what_only_type_checkers_can_read_has_no_rule():
    for text in ("NoSuchName | None", "*Ts", "list[NoSuchName]"):
        assert rule_of_text(text, __name__) is None


def test_an_annotation_of_arrays_says_what_any_says():
    """Of arrays the function itself looks at what it is given: lists and numbers may do as well."""
    for annotation in (Array, Array | None, float | Array, NumpyArray, CupyArray | None):
        assert rule_of(annotation) is None
    for annotation, same in ((tuple[Array, ...], tuple[Any, ...]), (Mapping[str, Array | None], Mapping[str, Any])):
        assert rule_of(annotation).text == rule_of(same).text


def test_arguments_that_are_arrays_are_handed_on_as_they_are():
    @checked
    def take(x: Array, mask: Array | None = None, rate: float | Array = 0.1, n: Count = 1) -> Any:
        return x, mask, rate, n

    for given in ([1.0, 2.0], "text", np.ones(2), None):
        assert all(each is given for each in take(given, given, given)[:3])
    with pytest.raises(nd.ArgumentError, match=r"^take: n must be "):
        take(1.0, n=np.ones(2))


@dataclass(frozen=True)
class Settings(Checked):
    n: Count | None = None
    on: bool = True
    rate: Positive = 0.1
    other: Unknown = 3  # type: ignore[name-defined]  # noqa: F821


@dataclass(frozen=True)
class More(Settings):
    name: str = "x"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "name", self.name.upper())


def test_fields_are_checked_and_converted_also_those_that_are_inherited():
    made = More(n=np.int64(3), on=np.bool_(False), rate=1, other="what only type checkers know")
    assert made == More(3, False, 1.0, "what only type checkers know", "x")
    assert [type(value) for value in vars(made).values()] == [int, bool, float, str, str]
    for wrong, message in {
        "n": "More: n must be an integer >= 1 or None, got 0. Give it such a value, or leave it out.",
        "on": "More: on must be True or False, got 0. Leave it out for the default, True.",
        "rate": "More: rate must be a number > 0, got 0. Leave it out for the default, 0.1.",
        "name": "More: name must be text, got 0. Leave it out for the default, 'x'.",
    }.items():
        with pytest.raises(nd.ArgumentError, match=rf"^{re.escape(message)}$"):
            More(**{wrong: 0})


@checked
def function(a: int, *rest: int, b: float = 0.5, **more: Any) -> Any:
    return a, rest, b, more


class Maker:
    @checked
    def __init__(self, size: Count, other: Any = None) -> None:
        self.size = size

    @classmethod
    @checked
    def of(cls, size: Natural) -> Maker:
        return cls(size + 1)


class Special(Maker):
    pass


def test_arguments_of_every_kind_are_checked():
    assert function(np.int8(1), np.int8(2), 3, b=1, c="free") == (1, (2, 3), 1.0, {"c": "free"})
    assert Maker.of(0).size == 1
    with pytest.raises(nd.ArgumentError, match=r"^function: rest must be an integer, got 2\.0\. Give it such a"):
        function(1, 1, 2.0)
    with pytest.raises(nd.ArgumentError, match=r"^function: b must be a number, got '1'\. Write it without quot"):
        function(1, b="1")
    with pytest.raises(nd.ArgumentError, match=r"^Special: size must be an integer >= 1, got True"):
        Special(True)
    with pytest.raises(nd.ArgumentError, match=r"^of: size must be an integer >= 0, got -1"):
        Special.of(-1)
    with pytest.raises(TypeError, match=r"^Maker: size must be given, got none"):
        Maker()


def test_large_values_are_shown_small():
    with pytest.raises(nd.ArgumentError, match=r"got an array of shape \[100, 200\]\. Give"):
        Maker(np.zeros((100, 200)))
    with pytest.raises(nd.ArgumentError, match=r"^.{0,250}$"):
        Maker("x" * 10_000)
    with pytest.raises(nd.ArgumentError, match="got the class int"):
        Maker(int)
