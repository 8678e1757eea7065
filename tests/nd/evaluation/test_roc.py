"""ROC: against scikit-learn, by hand, and where there is nothing to divide by."""

import json
import math

import numpy as np
import pytest
from sklearn import metrics as sk

import nd
from nd.evaluation import ROC

CLOSE = 1e-12


def sample(seed, rows=500, digits=None, dtype=np.float64):
    rng = np.random.default_rng(seed)
    labels = (rng.random(rows) < 0.3).astype(dtype)
    scores = (0.6 * rng.random(rows) + 0.4 * labels * rng.random(rows)).astype(dtype)
    return labels[:, None], (scores if digits is None else scores.round(digits))[:, None]


def roc_of(labels, scores, *arguments):
    roc = ROC(*arguments)
    roc.eval(labels, scores)
    return roc


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("digits", [None, 2, 1, 0])  # fewer digits, more ties
def test_areas_and_curves_of_scikit_learn(digits, dtype):
    labels, scores = sample(1, digits=digits, dtype=dtype)
    roc, whole = roc_of(labels, scores), roc_of(labels, scores, 0, False)
    assert roc.calculate_auc() == pytest.approx(sk.roc_auc_score(labels, scores), rel=CLOSE)
    assert whole.calculate_auc() == pytest.approx(sk.roc_auc_score(labels, scores), rel=CLOSE)
    precision, recall, thresholds = sk.precision_recall_curve(labels, scores)
    assert roc.calculate_auc_pr() == pytest.approx(sk.auc(recall, precision), rel=CLOSE)
    curve = whole.get_precision_recall_curve()  # with (recall 1, threshold 0) before what scikit-learn has
    np.testing.assert_allclose(curve.precision[1:], precision, rtol=CLOSE)
    np.testing.assert_allclose(curve.recall[1:], recall, rtol=CLOSE)
    np.testing.assert_array_equal(curve.threshold[1:-1], thresholds)
    fpr, tpr, thresholds = sk.roc_curve(labels, scores, drop_intermediate=False)
    curve = whole.get_roc_curve()
    np.testing.assert_allclose(curve.fpr[:-1], fpr, rtol=CLOSE)
    np.testing.assert_allclose(curve.tpr[:-1], tpr, rtol=CLOSE)
    np.testing.assert_array_equal(curve.threshold[1:-1], thresholds[1:])
    assert (curve.threshold[0], curve.threshold[-1], curve.fpr[-1], curve.tpr[-1]) == (1, 0, 1, 1)


def test_the_order_of_equal_probabilities_does_not_matter():
    assert roc_of([[1], [1], [0], [0]], [[0.5]] * 4).calculate_auc() == 0.5  # Java: 1, in the other order 0
    labels, scores = sample(2, digits=1)
    areas = (roc_of(labels, scores).calculate_auc(), roc_of(labels, scores).calculate_auc_pr())
    order = np.argsort(labels[:, 0])
    again = roc_of(labels[order], scores[order])
    assert (again.calculate_auc(), again.calculate_auc_pr()) == areas


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("steps", [1, 7, 10, 100])
def test_thresholds_count_what_reaches_them(steps, dtype):
    labels, scores = sample(3, digits=2, dtype=dtype)
    roc = roc_of(labels, scores, steps)
    curve = roc.get_precision_recall_curve()
    for i in range(steps):
        reached = scores >= dtype(i * (1.0 / steps))
        assert curve.tp_count[i] == (reached & (labels == 1)).sum()
        assert curve.fp_count[i] == (reached & (labels == 0)).sum()
        assert curve.fn_count[i] == (~reached & (labels == 1)).sum()
        assert roc.get_roc_curve().tpr[i] == (reached & (labels == 1)).sum() / (labels == 1).sum()
    assert (curve.tp_count[-1], curve.fp_count[-1], curve.precision[-1], curve.recall[-1]) == (0, 0, 1, 0)
    assert (roc.get_roc_curve().fpr[0], roc.get_roc_curve().fpr[-1]) == (1, 0)


def test_a_threshold_of_float32_is_compared_as_float32():
    scores = np.array([[0.7], [0.2]], np.float32)  # less than the double 0.7, as are 7 steps of a tenth
    assert roc_of([[1], [0]], scores, 10).get_precision_recall_curve().tp_count[7] == 1
    assert roc_of([[1], [0]], scores.astype(np.float64), 10).get_precision_recall_curve().tp_count[7] == 0


def test_a_probability_of_1_does_not_reach_the_threshold_1():
    curve = roc_of([[1], [0]], [[1.0], [0.0]], 2).get_precision_recall_curve()
    assert curve.tp_count.tolist() == [1, 1, 0]
    assert curve.fp_count.tolist() == [1, 0, 0]


def test_many_steps_come_near_the_exact_area():
    labels, scores = sample(4, rows=2000)
    exact, near = roc_of(labels, scores), roc_of(labels, scores, 500)
    assert near.calculate_auc() == pytest.approx(exact.calculate_auc(), abs=2e-3)
    assert near.calculate_auc_pr() == pytest.approx(exact.calculate_auc_pr(), abs=5e-3)


def test_by_hand():
    roc = roc_of([[0], [1], [1], [0]], [[0.2], [0.4], [0.6], [0.5]])
    assert roc.calculate_auc() == 0.75
    curve = roc.get_roc_curve()
    assert curve.threshold.tolist() == [1.0, 0.6, 0.5, 0.4, 0.0]
    assert curve.fpr.tolist() == [0, 0, 0.5, 0.5, 1]
    assert curve.tpr.tolist() == [0, 0.5, 0.5, 1, 1]
    curve = roc.get_precision_recall_curve()
    assert curve.threshold.tolist() == [0.0, 0.4, 0.5, 0.6, 1.0]
    assert curve.precision.tolist() == [0.5, 2 / 3, 0.5, 1, 1]
    assert roc.calculate_auc_pr() == pytest.approx(0.5 * (2 / 3 + 0.5) / 2 + 0.5)


def test_two_columns_are_the_second_one():
    labels, scores = sample(5)
    two = roc_of(np.hstack([1 - labels, labels]), np.hstack([1 - scores, scores]))
    assert two.to_json() == roc_of(labels, scores).to_json()
    with pytest.raises(nd.ShapeError, match=r"ROC\.eval: expected one or two columns, got \[2, 3\]. Use ROCMultiClass"):
        ROC().eval(np.eye(3)[:2], np.eye(3)[:2])


@pytest.mark.parametrize(("label", "pr"), [(1, 1.0), (0, math.nan)])
def test_one_class_has_no_exact_area(label, pr):
    roc = roc_of([[label]] * 3, [[0.1], [0.5], [0.7]])
    assert math.isnan(roc.calculate_auc())
    assert roc.calculate_auc_pr() == pytest.approx(pr, nan_ok=True)
    assert "ROC Curve):                NaN\n" in roc.stats()
    again = ROC.from_json(roc.to_json())
    assert math.isnan(again.calculate_auc())
    assert json.loads(again.to_json()) == json.loads(roc.to_json())
    assert json.loads(roc.to_json())["auc"] == "NaN"


def test_one_class_with_thresholds():
    positive, negative = roc_of([[1]] * 3, [[0.1], [0.5], [0.7]], 10), roc_of([[0]] * 3, [[0.1], [0.5], [0.7]], 10)
    assert math.isnan(positive.calculate_auc())
    assert math.isnan(negative.calculate_auc())
    assert negative.get_precision_recall_curve().recall.tolist() == [1.0] * 11
    assert negative.calculate_auc_pr() == 0.0
    assert positive.calculate_auc_pr() == 1.0


def test_scores_that_are_no_probabilities_rank():
    labels, scores = sample(6)
    odd = 20 * scores - 7
    assert roc_of(labels, odd).calculate_auc() == roc_of(labels, scores).calculate_auc()
    thresholds = roc_of(labels, odd).get_roc_curve().threshold
    assert (np.diff(thresholds) <= 0).all()
    assert (thresholds[0], thresholds[-1]) == (odd.max(), odd.min())


def test_what_it_holds_is_small():
    labels, scores = sample(7, rows=1000, dtype=np.float32)
    exact, stepped = ROC(), ROC(100)
    for _ in range(50):
        exact.eval(labels, scores)
        stepped.eval(labels, scores)
    held = exact._counts._scores.nbytes + exact._counts._positive.nbytes
    assert held <= 2 * 5 * 50_000  # it grows by doubling
    assert stepped._counts.tp.nbytes == 8 * 101
    assert exact.example_count == stepped.example_count == 50_000
    assert exact.calculate_auc() == pytest.approx(roc_of(labels, scores).calculate_auc(), rel=CLOSE)
    assert stepped.calculate_auc() == roc_of(labels, scores, 100).calculate_auc()


def test_float64_after_float32_is_kept_whole():
    first, then = np.float32([[0.1]]), np.float64([[0.1]])
    roc = roc_of([[1]], first, 0, False)
    roc.eval([[0]], then)
    assert roc.get_roc_curve().threshold.tolist() == [1.0, float(first[0, 0]), 0.1, 0.0]


def test_stats_and_errors():
    assert ROC().stats() == "ROC: No data available (no data has been performed)"
    assert roc_of([[0], [1]], [[0.25], [0.75]]).stats() == (
        "AUC (Area under ROC Curve):                1.0\nAUPRC (Area under Precision/Recall Curve): 1.0"
    )
    assert roc_of([[0], [1]], [[0.25], [0.75]], 4).stats().splitlines()[2] == (
        "[Note: Thresholded AUC/AUPRC calculation used with 4 steps); accuracy may reduced compared to exact mode]"
    )
    for use in (ROC().calculate_auc, ROC().calculate_auc_pr, ROC().get_roc_curve, ROC(5).get_precision_recall_curve):
        with pytest.raises(nd.DataError, match=r"ROC\.get_.*: nothing has been evaluated, got 0 examples"):
            use()
    with pytest.raises(nd.ConfigurationError, match=r"threshold_steps must be an integer of 0 to 1000000, got -1"):
        ROC(-1)
    with pytest.raises(nd.DataError, match=r"both must have the same threshold_steps, got 0 and 5"):
        ROC().merge(ROC(5))


def test_counts_of_thresholds_in_json():
    fields = json.loads(roc_of([[0], [1], [1]], [[0.3], [0.6], [0.1]], 2).to_json())
    assert fields["counts"] == {
        "0.0": {"threshold": 0.0, "countTruePositive": 2, "countFalsePositive": 1},
        "0.5": {"threshold": 0.5, "countTruePositive": 1, "countFalsePositive": 0},
        "1.0": {"threshold": 1.0, "countTruePositive": 0, "countFalsePositive": 0},
    }
    assert "rocCurve" not in fields
    assert fields["isExact"] is False
    assert next(iter(json.loads(ROC(10_000).to_json())["counts"])) == "0.0"
    assert list(json.loads(ROC(10_000).to_json())["counts"])[1] == "1.0E-4"  # as Java spells it
