"""Numbers as Java prints them; what is expected was worked out from the rules of java.util.Formatter."""

import math

import pytest

from nd.evaluation.java_text import fixed, scientific, shortest
from tests.cells import every_row


@every_row(
    ("value", "text"),
    [
        (0.88125, "0.8813"),  # half up of the shortest decimal; the double is a little less
        (0.00015, "0.0002"),
        (0.5, "0.5000"),
        (1.0, "1.0000"),
        (-2.00005, "-2.0001"),
        (123456.0, "123456.0000"),
        (1e-9, "0.0000"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
    ],
)
def test_fixed(value, text):
    assert fixed(value, 4) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00e+00"),
        (1.0, "1.00e+00"),
        (0.065381, "6.54e-02"),
        (9.999, "1.00e+01"),
        (-1.125e-7, "-1.13e-07"),
        (1.5e123, "1.50e+123"),
        (math.inf, "Infinity"),
    ],
)
def test_scientific(value, text):
    assert scientific(value, 2) == text


@every_row(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (100.0, "100.0"),
        (0.9838, "0.9838"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (-1.25e-10, "-1.25E-10"),
        (math.nan, "NaN"),
    ],
)
def test_shortest(value, text):
    assert shortest(value) == text


def test_more_digits_than_a_double_has():
    assert fixed(0.5, 100) == "0.5" + 99 * "0"
    assert fixed(1e300, 40) == "1" + 300 * "0" + "." + 40 * "0"
    assert scientific(0.125, 60) == "1.25" + 58 * "0" + "e-01"
