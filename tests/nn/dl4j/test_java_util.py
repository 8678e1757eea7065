"""Random, Collections and Arrays of ported programs against what Java 17 answers."""

import math

import numpy as np
import pytest

import nd
from nn.dl4j import (
    Arrays,
    Collections,
    Random,
)
from tests.cases.java_arrays import NAN


def test_java_util_random():
    """What ``new java.util.Random(9)`` draws."""
    random = Random(9)
    assert [
        random.nextInt(), random.nextLong(), random.nextInt(7), random.nextBoolean(), random.nextFloat(),
        random.nextDouble(), random.nextGaussian(),
    ] == [
        -1158947317, 4662063269386987033, 0, True, pytest.approx(0.85371387, abs=1e-8), 0.5909573732875627,
        0.6707825964789998,
    ]  # fmt: skip
    random.setSeed(9)
    assert [random.nextInt(), random.nextInt(), random.nextInt(1 << 30)] == [-1158947317, 1085471192, 822954374]
    random.nextGaussian()
    random.setSeed(9)
    assert random.nextGaussian() == 0.7743029489485066
    with pytest.raises(nd.DataError, match=r"set_seed: seed must be a whole number, got 0.5"):
        random.setSeed(0.5)


def test_java_util_collections():
    values = [2, 4, 3, 1, 5]
    Collections.shuffle(values, Random(1))
    assert values == [3, 1, 4, 5, 2]
    assert (Collections.addAll(values, 7, 8), Collections.addAll(values), values) == (
        True,
        False,
        [3, 1, 4, 5, 2, 7, 8],
    )
    Collections.sort(values, Collections.reverseOrder())
    assert values == [8, 7, 5, 4, 3, 2, 1]
    Collections.reverse(values)
    assert values == [1, 2, 3, 4, 5, 7, 8]
    Collections.swap(values, 0, 6)
    assert (values[0], values[6]) == (8, 1)
    Collections.sort(values)
    assert values == [1, 2, 3, 4, 5, 7, 8]
    assert (Collections.max(values), Collections.min(values), Collections.nCopies(3, 0)) == (8, 1, [0, 0, 0])
    assert (Collections.singletonList(3), Collections.emptyList()) == ([3], [])


def test_java_util_arrays():
    numbers = [1.0, 0.1, 100.0, 1e7, 1.5e-5, 123456789.125, 0.001, 9999999.0, -0.0, math.nan, math.inf, 1 / 3]
    assert Arrays.toString(numbers) == (
        "[1.0, 0.1, 100.0, 1.0E7, 1.5E-5, 1.23456789125E8, 0.001, 9999999.0, -0.0, NaN, Infinity, 0.3333333333333333]"
    )
    assert Arrays.toString(nd.create([1.0, 0.1, 1e10], "float32")) == "[1.0, 0.1, 1.0E10]"
    assert Arrays.toString([None, "a", 1, [1, 2], True]) == "[null, a, 1, [1, 2], true]"
    assert (Arrays.toString([]), Arrays.toString(None)) == ("[]", "null")
    assert Arrays.asList(1, 2.5, "a") == Arrays.asList([1, 2.5, "a"]) == [1, 2.5, "a"]
    values = [5, 3, 9, 1]
    Arrays.sort(values, 1, 4)
    assert values == [5, 1, 3, 9]
    Arrays.fill(values, 1, 3, 7)
    assert values == [5, 7, 7, 9]
    Arrays.sort(values)
    Arrays.fill(values, 0)
    assert values == [0, 0, 0, 0]
    vector = np.zeros(3)
    Arrays.fill(vector, 2.0)
    assert vector.tolist() == [2.0, 2.0, 2.0]
    assert (Arrays.copyOf([1, 2], 4), Arrays.copyOf([1.0, 2.0], 1)) == ([1, 2, 0, 0], [1.0])
    assert (Arrays.copyOf([True], 2), Arrays.copyOf(["a"], 2)) == ([True, False], ["a", None])
    assert Arrays.copyOfRange([1, 2, 3], 1, 5) == [2, 3, 0, 0]
    assert [Arrays.equals(*pair) for pair in (([1, NAN], [1, NAN]), ([1], [1, 2]), (None, None), ([1], None))] == [
        True, False, True, False,
    ]  # fmt: skip
    with pytest.raises(nd.ArgumentError, match=r"Arrays.fill: a range must lie in 0 .. 4, got 1 .. 5"):
        Arrays.fill(values, 1, 5, 7)
    with pytest.raises(nd.ArgumentError, match=r"copyOfRange: 2 elements have no range 3 .. 4"):
        Arrays.copyOfRange([1, 2], 3, 4)


# ---- what Java's Comparable says, and arrays of NumPy


def test_not_a_number_comes_last():
    for values in ([2.0, NAN, 1.0, 3.0, NAN, 0.5], np.array([2.0, NAN, 1.0, 3.0, NAN, 0.5], "float32")):
        Arrays.sort(values)
        assert [str(float(each)) for each in values] == ["0.5", "1.0", "2.0", "3.0", "nan", "nan"]
    values = [NAN, 2.0, 1.0]
    Collections.sort(values)
    assert values[:2] == [1.0, 2.0]
    Collections.sort(values, Collections.reverseOrder())
    assert values[1:] == [2.0, 1.0]
    assert math.isnan(Collections.max([1.0, NAN, 2.0]))
    assert Collections.min([NAN, 2.0, 1.0]) == 1.0


def test_comparators():
    values = [3, 1, 2, 5]
    Arrays.sort(values, Collections.reverseOrder())
    assert values == [5, 3, 2, 1]
    Arrays.sort(values, None)
    assert values == [1, 2, 3, 5]
    Arrays.sort(values, Collections.reverseOrder())
    Arrays.sort(values, 1, 4, lambda first, second: first - second)
    assert values == [5, 1, 2, 3]
    assert (Collections.max(values, Collections.reverseOrder()), Collections.min(values, None)) == (1, 1)
    by_length = lambda first, second: len(first) - len(second)  # noqa: E731
    words = ["bb", "a", "cc"]
    assert (Collections.max(words, by_length), Collections.min(words, by_length)) == ("bb", "a")
    for call in (Collections.max, Collections.min):
        with pytest.raises(nd.ArgumentError, match=f"Collections.{call.__name__}: expected a list with elements"):
            call([])


@pytest.mark.parametrize(("dtype", "blank"), [("float64", 0.0), ("float32", 0.0), ("int64", 0), ("bool", False)])
def test_copies_of_arrays_are_filled_with_zeros(dtype, blank):
    array = np.array([1, 1], dtype)
    for values in (array, list(array)):
        copied = Arrays.copyOf(values, 4)
        assert (copied, copied[2:]) == ([1, 1, 0, 0], [blank] * 2)
        assert [type(each) for each in copied] == [type(array[0])] * 4
    assert Arrays.copyOf(np.ones((1, 2)), 2)[1] is None  # as Java's double[][]


def test_arrays_of_booleans_as_text():
    assert Arrays.toString(np.array([True, False])) == "[true, false]"
    assert Arrays.toString([np.True_, None]) == "[true, null]"


@pytest.mark.parametrize(
    "call",
    [
        lambda matrix: Arrays.toString(matrix), lambda matrix: Arrays.toString(list(matrix)),
        lambda matrix: Arrays.equals(matrix, matrix), lambda matrix: Arrays.equals([1.0], matrix),
        lambda matrix: Arrays.sort(matrix), lambda matrix: Arrays.fill(matrix, 1.0),
    ],
)  # fmt: skip
def test_matrices_are_refused(call):
    with pytest.raises(nd.ShapeError, match=r"Arrays\.\w+: expected a list .*vector \[n\], got .*rows one by one"):
        call(np.ones((2, 3)))


def test_ranges_with_one_end():
    for call in (lambda: Arrays.sort([1, 2], 1), lambda: Arrays.fill([1, 2], 1, 5)):
        with pytest.raises(nd.ArgumentError, match=r"must have a first and an end, got \[1\]"):
            call()
    with pytest.raises(nd.ArgumentError, match="fill: expected a value"):
        Arrays.fill([1, 2])
