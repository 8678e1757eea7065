"""The JSON spellings of ND4J arrays, against files of real Java and values written by hand."""

import base64
import json

import numpy as np
import pytest

from backends.errors import FormatError
from nd import serde
from tests.cells import every_row
from tests.stand_ins import as_input


def test_reads_the_arrays_inside_an_evaluation(reference):
    fields = json.loads((reference / "MLPMoon/evaluation/2.EvaluationCalibration.json").read_text())
    np.testing.assert_array_equal(serde.array_from_json(fields["labelCountsEachClass"]), [[497, 503]])
    counts = serde.array_from_json(fields["rDiagBinTotalCount"])  # base64, [bins, classes]
    assert counts.dtype == np.int64
    np.testing.assert_array_equal(counts.sum(axis=0), [1000, 1000])
    overall = serde.array_from_json(fields["residualPlotOverall"])
    assert overall.dtype == np.float64
    assert overall.sum() == 2000
    assert serde.array_to_json(overall) == fields["residualPlotOverall"]


def test_json_text_form():
    expected = {"dataType": "FLOAT", "shape": [2, 2], "data": [0.1, "NaN", "Infinity", "-Infinity"]}
    array = np.array([[0.1, np.nan], [np.inf, -np.inf]], np.float32)
    assert serde.array_to_json(np.asfortranarray(array)) == expected
    np.testing.assert_array_equal(serde.array_from_json(expected), array)
    assert serde.array_to_json(np.array([True, False])) == {"dataType": "BOOL", "shape": [2], "data": [1, 0]}


def test_json_of_every_backend(backend, order):
    host = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = {"dataType": "FLOAT", "shape": [2, 3], "data": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]}
    assert serde.array_to_json(as_input(backend, host, order)) == expected


def test_json_base64_with_line_breaks():
    text = base64.encodebytes(serde.to_bytes(np.arange(40))).decode().replace("\n", "\r\n")
    assert "\r\n" in text
    for spelling in ({"array": text}, text):
        np.testing.assert_array_equal(serde.array_from_json(spelling), np.arange(40))


def test_json_nested_lists():
    array = serde.array_from_json([[1, 2.5], [3, "NaN"]])
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, [[1, 2.5], [3, np.nan]])


@every_row(
    ("obj", "message"),
    [
        (None, "got NoneType"),
        (3, "got int"),
        ({}, "dataType must be one of .*got None"),
        ({"array": None}, "got NoneType"),
        ({"dataType": "UTF8", "shape": [1], "data": ["a"]}, "got 'UTF8'"),
        ({"dataType": "INT", "shape": [-1], "data": []}, r"shape must be a list of lengths, got \[-1\]"),
        ({"dataType": "INT", "shape": "2", "data": []}, "shape must be a list of lengths, got '2'"),
        ({"dataType": "INT", "shape": [2], "data": [1]}, r"data must have the numbers of shape \[2\], got 1 numbers"),
        ({"dataType": "INT", "shape": [2], "data": "x"}, "got str"),
        ({"dataType": "INT", "shape": [1], "data": [1.5]}, "must be a INT number, got 1.5"),
        ({"dataType": "INT", "shape": [1], "data": [None]}, "must be a INT number, got None"),
        ({"dataType": "UBYTE", "shape": [1], "data": [-1]}, "must fit into UBYTE"),
        ({"dataType": "FLOAT", "shape": [1], "data": [1e300]}, "must fit into FLOAT"),
        ({"dataType": "FLOAT", "shape": [0, 1 << 62, 1 << 62], "data": []}, "must fit into memory"),
        ([[1, 2], [3]], r"must be a DOUBLE number, got \[1, 2\]"),
        ([1, None], "must be a DOUBLE number, got None"),
        ("%%%", "must be base64, got '%%%'"),
        ("\u00e9", "must be base64"),
        ("AAAA", "expected 1 bytes|must be one of"),
    ],
)
def test_bad_json(obj, message):
    with pytest.raises(FormatError, match=message):
        serde.array_from_json(obj)
