"""Reductions and sorting of Nd4j against what Java 1.0.0-M2.1 computes."""

import pytest

import nd
from nn.dl4j import (
    Nd4j,
)
from tests.cases.java_arrays import array, holds, m, s, t
from tests.cells import every_row


@every_row(
    ("name", "axes", "expected"),
    [
        ("sum", [], 21), ("sum", [0], [8, 5, 8]), ("sum", [1], [6, 15]), ("sum", [-1], [6, 15]), ("mean", [], 3.5),
        ("mean", [1], [2, 5]), ("max", [], 6), ("max", [1], [3, 6]), ("min", [0], [3, 1, 2]), ("prod", [], 720),
        ("prod", [1], [6, 120]), ("std", [], 1.8708286933869707),
        ("std", [0], [1.4142135623730951, 2.1213203435596424, 2.8284271247461903]), ("var", [], 3.5),
        ("var", [1], [1, 1]),
        ("norm1", [], 21), ("norm1", [0], [8, 5, 8]), ("norm2", [], 9.539392014169456),
        ("norm2", [1], [3.7416573867739413, 8.774964387392123]), ("normmax", [], 6), ("normmax", [0], [5, 4, 6]),
        ("argMax", [], 5), ("argMax", [1], [0, 2]), ("argMax", [0], [1, 1, 1]), ("argMax", [0, 1], 5),
        ("argMax", [-1], [0, 2]), ("argMin", [], 1), ("argMin", [1], [1, 1]), ("argMin", [0, 1], 1),
        ("cumsum", [], [3, 4, 6, 11, 15, 21]), ("cumsum", [0], [[3, 1, 2], [8, 5, 8]]),
        ("cumsum", [1], [[3, 4, 6], [5, 9, 15]]), ("cumsum", [-1], [[3, 4, 6], [5, 9, 15]]),
    ],
)  # fmt: skip
def test_reductions(name, axes, expected, backend):
    found = getattr(Nd4j, name)(m(), *axes)
    assert nd.dtype_name(found) == ("int64" if name.startswith("arg") else "float64")
    holds(found, expected)


def test_places_over_several_axes(backend):
    holds(Nd4j.argMax(t(), 1, 2), [5, 5])
    holds(Nd4j.argMax(t(), 0, 2), [3, 3, 3])
    holds(Nd4j.argMax(array([1, 3, 3, 2])), 1)
    holds(Nd4j.argMin(array([2, 1, 1, 2])), 1)


def test_reductions_of_whole_numbers(backend):
    whole = Nd4j.createFromArray(1, 2, 4)
    found = {
        name: getattr(Nd4j, name)(whole) for name in ("sum", "prod", "max", "mean", "std", "var", "norm1", "norm2")
    }
    assert {name: (nd.dtype_name(each), nd.item(each)) for name, each in found.items()} == {
        "sum": ("int32", 7), "prod": ("int32", 8), "max": ("int32", 4),
        "mean": ("float32", pytest.approx(2.3333333)), "std": ("float32", pytest.approx(1.5275252)),
        "var": ("float32", pytest.approx(2.3333333)), "norm1": ("float32", 7),
        "norm2": ("float32", pytest.approx(4.582576)),
    }  # fmt: skip
    holds(Nd4j.cumsum(whole), [1, 3, 7])
    holds(Nd4j.std(array([4])), 0)
    with pytest.raises(nd.DTypeError, match=r"Nd4j.sum: expected an array of numbers, got one of bool"):
        Nd4j.sum(Nd4j.createFromArray(True, False))


@pytest.mark.parametrize(
    ("make", "arguments", "expected"),
    [
        (s, [True], [1, 2, 3]), (s, [False], [3, 2, 1]), (m, [1, False], [[3, 2, 1], [6, 5, 4]]),
        (m, [0, False], [[5, 4, 6], [3, 1, 2]]), (m, [True], [[1, 2, 3], [4, 5, 6]]),
    ],
)  # fmt: skip
def test_sorting_in_place(make, arguments, expected, backend):
    given = make()
    assert Nd4j.sort(given, *arguments) is given
    holds(given, expected)


def test_sorting_with_places(backend):
    given = m()
    places, ordered = Nd4j.sortWithIndices(given, 1, True)
    assert ordered is given
    assert nd.dtype_name(places) == "float32"
    holds(places, [[1, 2, 0], [1, 0, 2]])
    holds(given, [[1, 2, 3], [4, 5, 6]])
    holds(Nd4j.sortWithIndices(m(), 0, False)[0], [[1, 1, 1], [0, 0, 0]])
    rows = array([[3, 1], [1, 2], [2, 0]])
    holds(Nd4j.sortRows(rows, 0, True), [[1, 2], [2, 0], [3, 1]])
    holds(Nd4j.sortRows(rows, 0, False), [[3, 1], [2, 0], [1, 2]])
    holds(Nd4j.sortColumns(m(), 0, True), [[1, 2, 3], [4, 6, 5]])
    holds(Nd4j.sortColumns(m(), 1, False), [[2, 3, 1], [6, 5, 4]])
    assert Nd4j.reverse(given) is given
    holds(given, [[6, 5, 4], [3, 2, 1]])


def test_too_few_arguments():
    with pytest.raises(nd.ArgumentError, match=r"Nd4j\.sort: .* got 0 arguments behind the array"):
        Nd4j.sort(nd.ones(3))
    with pytest.raises(nd.ArgumentError, match=r"Nd4j: expected one or more arrays or numbers, got none"):
        Nd4j.hstack()
