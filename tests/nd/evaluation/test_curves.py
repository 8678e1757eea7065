"""Curves: questions answered as a search by hand answers them, and JSON."""

import json

import numpy as np
import pytest

import nd
from nd.evaluation import ROC, PrecisionRecallCurve, RocCurve
from tests.cells import every_row

THRESHOLD = [0.0, 0.2, 0.2, 0.5, 0.7, 1.0]
PRECISION = [0.4, 0.5, 0.6, 0.55, 0.8, 1.0]
RECALL = [1.0, 1.0, 1.0, 0.5, 0.25, 0.0]
TP, FP, FN = [4, 4, 4, 2, 1, 0], [6, 4, 3, 2, 0, 0], [0, 0, 0, 2, 3, 4]
CURVE = PrecisionRecallCurve(THRESHOLD, PRECISION, RECALL, TP, FP, FN, 10)


@pytest.mark.parametrize(("threshold", "i"), [(0.0, 0), (-3.0, 0), (0.1, 1), (0.2, 1), (0.21, 3), (0.5, 3), (1.0, 5)])
def test_the_point_of_a_threshold(threshold, i):
    assert CURVE.get_point_at_threshold(threshold) == (i, THRESHOLD[i], PRECISION[i], RECALL[i])
    confusion = CURVE.get_confusion_matrix_at_threshold(threshold)
    assert confusion == (CURVE.get_point_at_threshold(threshold), TP[i], FP[i], FN[i], 10 - TP[i] - FP[i] - FN[i])
    assert CURVE.get_confusion_matrix_at_point(i) == confusion


@pytest.mark.parametrize(("precision", "i"), [(0.0, 0), (0.5, 1), (0.55, 2), (0.61, 4), (1.0, 5), (1.5, 5)])
def test_the_lowest_threshold_of_a_precision(precision, i):
    assert CURVE.get_point_at_precision(precision).idx == i


@pytest.mark.parametrize(("recall", "i"), [(0.0, 5), (0.1, 4), (0.25, 4), (0.5, 3), (0.51, 2), (1.0, 2), (1.1, 0)])
def test_the_highest_threshold_of_a_recall(recall, i):
    assert CURVE.get_point_at_recall(recall).idx == i  # of three points of recall 1 that of the best precision


def test_counts_at_a_threshold_are_those_of_the_decisions():
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 2, (300, 1)), rng.random((300, 1)).round(2)
    roc = ROC(0, False)
    roc.eval(labels, scores)
    curve = roc.get_precision_recall_curve()
    for threshold in scores[:20, 0]:
        predicted = scores >= threshold
        expected = [(predicted == p) & (labels == right) for p, right in ((1, 1), (1, 0), (0, 1), (0, 0))]
        assert curve.get_confusion_matrix_at_threshold(threshold)[1:] == tuple(int(cell.sum()) for cell in expected)


def test_points_and_titles():
    curve = RocCurve([1, 0.5, 0], [0, 0.25, 1], [0, 0.5, 1])
    assert curve.num_points() == 3
    assert (curve.get_threshold(1), curve.get_false_positive_rate(1), curve.get_true_positive_rate(1)) == (
        0.5,
        0.25,
        0.5,
    )
    assert curve.calculate_auc() == 0.25 * 0.25 + 0.75 * 0.75
    assert curve.get_title() == "ROC (Area=0.6250)"
    assert (curve.x is curve.fpr, curve.y is curve.tpr) == (True, True)
    assert (CURVE.get_threshold(3), CURVE.get_precision(3), CURVE.get_recall(3)) == (0.5, 0.55, 0.5)
    area = 0.5 * (0.6 + 0.55) / 2 + 0.25 * (0.55 + 0.8) / 2 + 0.25 * 0.9
    assert CURVE.calculate_auprc() == pytest.approx(area)
    assert CURVE.get_title() == "Precision-Recall Curve (Area=0.6813)"  # 0.68125, which C rounds to 0.6812
    with pytest.raises(ValueError, match="read-only"):
        curve.tpr[0] = 1


def test_what_is_not_on_the_curve():
    with pytest.raises(nd.DataError, match=r"a threshold is at most 1\.0, got 1\.1"):
        CURVE.get_point_at_threshold(1.1)
    for use in (CURVE.get_confusion_matrix_at_point, CURVE.get_precision, RocCurve([1], [0], [1]).get_threshold):
        with pytest.raises(nd.DataError, match=r"Curve: a point is 0 to \d, got 6"):
            use(6)


@pytest.mark.parametrize("curve", [CURVE, RocCurve([1, 0.5, 0], [0, 0.25, 1], [0, float("nan"), 1])])
def test_json(curve):
    fields = json.loads(curve.to_json())
    assert fields["@class"] == f"org.nd4j.evaluation.curves.{type(curve).__name__}"
    again = type(curve).from_json(curve.to_json())
    assert again == curve
    assert json.loads(again.to_json()) == fields
    old = curve.to_json().replace("org.nd4j.evaluation.curves", "org.deeplearning4j.eval.curves")
    assert type(curve).from_json(old) == curve
    fields["threshold"][1] += 0.125
    assert type(curve).from_json(json.dumps(fields)) != curve
    assert curve != "curve"
    assert repr(curve) == f"{type(curve).__name__}({curve.num_points()} points)"


@every_row(
    ("change", "message"),
    [
        ({"threshold": [0.0]}, r"must have one length, got \[1, 6, 6, 6, 6, 6\]"),
        ({"threshold": None}, "threshold must be a list of numbers, got None"),
        ({"threshold": [True] * 6}, "threshold must be a list of numbers"),
        ({"recall": ["x"] * 6}, "recall must be a list of numbers"),
        ({"recall": [10**400] * 6}, "recall must be a list of numbers"),
        ({"tpCount": [0.5] * 6}, "tpCount must be a list of integers of 0 to"),
        ({"tpCount": 3}, "tpCount must be a list of integers, got 3"),
        ({"totalCount": -1}, "totalCount must be an integer of 0 to 2147483647, got -1"),
        ({"area": "much"}, "area must be a number or null, got 'much'"),
        ({"@class": "org.nd4j.evaluation.curves.RocCurve"}, "expected an object of class .*PrecisionRecallCurve"),
    ],
)
def test_bad_json(change, message):
    with pytest.raises(nd.FormatError, match=message):
        PrecisionRecallCurve.from_json(json.dumps(json.loads(CURVE.to_json()) | change))


def test_json_without_points():
    with pytest.raises(nd.FormatError, match=r"must have one length, got \[0, 0, 0\]"):
        RocCurve.from_json(RocCurve([1], [0], [0]).to_json().replace("[1.0]", "[]").replace("[0.0]", "[]"))


@every_row(
    ("make", "error", "message"),
    [
        (lambda: RocCurve([], [], []), nd.ShapeError, "columns must be of one length, at least 1, got {'threshold': 0"),
        (lambda: RocCurve([1.0], [0.5, 1.0], [0.5]), nd.ShapeError, "RocCurve: columns must be of one length"),
        (lambda: RocCurve([[1.0]], [1.0], [1.0]), nd.ShapeError, r"threshold must be a row, got \[1, 1\]"),
        (lambda: RocCurve([1.0], [[1.0], 2.0], [1.0]), nd.ShapeError, "fpr must have rows of equal length"),
        (lambda: RocCurve([1.0], [1.0], ["a"]), nd.DTypeError, "tpr must be real numbers, got <U1"),
        (lambda: RocCurve([1.0], {"a": 1}, [1.0]), nd.DTypeError, "fpr must be real numbers, got object"),
        (
            lambda: PrecisionRecallCurve([1], [1], [1], [1.5], [1], [1], 2),
            nd.DataError,
            "tp_count must be integers .*1.5",
        ),
        (lambda: PrecisionRecallCurve([1], [1], [1], [1], [np.inf], [1], 2), nd.DataError, "fp_count must be int.*inf"),
        (lambda: PrecisionRecallCurve([1], [1], [1], [1], [1], [1], -2), nd.ArgumentError, "total_count must be .*-2"),
    ],
)
def test_columns_that_are_none(make, error, message):
    with pytest.raises(error, match=message):
        make()
