"""Histograms and reliability diagrams."""

import json

import numpy as np
import pytest

import nd
from nd.evaluation import Histogram, ReliabilityDiagram


def test_bins():
    histogram = Histogram("of five", 0.0, 1.0, [1, 0, 2, 3, 4])
    edges = np.histogram_bin_edges([], 5, (0, 1))
    np.testing.assert_allclose(histogram.get_bin_lower_bounds(), edges[:-1], rtol=1e-15)
    np.testing.assert_allclose(histogram.get_bin_upper_bounds(), edges[1:], rtol=1e-15)
    np.testing.assert_allclose(histogram.get_bin_mid_values(), [0.1, 0.3, 0.5, 0.7, 0.9], rtol=1e-15)
    assert histogram.get_bin_upper_bounds()[-1] == 1
    assert (histogram.num_points(), histogram.get_title()) == (5, "of five")
    wide = Histogram(None, -2.0, 2.0, [1, 1])
    assert wide.get_bin_lower_bounds().tolist() == [-2.0, 0.0]
    assert (wide.get_bin_upper_bounds().tolist(), wide.get_title()) == ([0.0, 2.0], "Histogram")


def test_json():
    for thing in (Histogram("t", 0.0, 1.0, [1, 2]), ReliabilityDiagram(None, [0.25, 0.75], [0.5, 1.0])):
        assert type(thing).from_json(thing.to_json()) == thing
    assert json.loads(Histogram("t", 0.0, 1.0, [1, 2]).to_json()) == {
        "@class": "org.nd4j.evaluation.curves.Histogram", "title": "t", "lower": 0.0, "upper": 1.0, "binCounts": [1, 2],
    }  # fmt: skip
    fields = json.loads(ReliabilityDiagram("t", [0.25], [0.5]).to_json())
    assert (fields["meanPredictedValueX"], fields["fractionPositivesY"]) == ([0.25], [0.5])
    assert Histogram("t", 0.0, 1.0, [1, 2]) != Histogram("t", 0.0, 2.0, [1, 2])
    assert ReliabilityDiagram(None, [0.25], [0.5]).get_title() == "Reliability Diagram"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"title": 3}, "title must be a string or null, got 3"),
        ({"lower": None}, "lower must be a number, got None"),
        ({"binCounts": []}, "binCounts must have at least one count"),
        ({"binCounts": [-1]}, "binCounts must be a list of integers of 0 to"),
    ],
)
def test_bad_json(change, message):
    with pytest.raises(nd.FormatError, match=message):
        Histogram.from_json(json.dumps(json.loads(Histogram("t", 0.0, 1.0, [1]).to_json()) | change))


def test_counts_are_integers_in_a_row():
    for counts, error, message in (
        ([], nd.ShapeError, "columns must be of one length, at least 1"),
        ([[1], [2]], nd.ShapeError, r"bin_counts must be a row, got \[2, 1\]"),
        ([0.5], nd.DataError, r"bin_counts must be integers of 64 bits, got 0\.5"),
        (["a"], nd.DTypeError, "bin_counts must be real numbers, got <U1"),
    ):
        with pytest.raises(error, match=message):
            Histogram("a", 0.0, 1.0, counts)
    assert Histogram("a", 0.0, 1.0, np.array([3.0, 1.0])).bin_counts.tolist() == [3, 1]
    assert ReliabilityDiagram("all bins empty", [], []).num_points() == 0


def test_bounds_of_a_text_are_finite():
    fields = json.loads(Histogram("a", 0.0, 1.0, [1]).to_json())
    with pytest.raises(nd.FormatError, match=r"Histogram.from_json: lower and upper must be finite, got \[0\.0, inf\]"):
        Histogram.from_json(json.dumps(fields | {"upper": "Infinity"}))
