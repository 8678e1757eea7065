"""Evaluation against hand computation: counting, metrics, averages."""

import math

import numpy as np
import pytest

from backends.errors import ChoiceError, ConfigurationError, DataError, DTypeError, NumericError, ShapeError
from nd.evaluation import Evaluation
from tests.stand_ins import as_input

ACTUAL = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2]
PREDICTED = [0, 0, 0, 1, 2, 1, 1, 0, 2, 1]
COUNTS = [[3, 1, 1], [1, 2, 0], [0, 1, 1]]


def one_hot(classes, n_classes=3):
    return np.eye(n_classes, dtype=np.float32)[np.asarray(classes)]


def evaluated(actual=ACTUAL, predicted=PREDICTED, n_classes=3, **options):
    evaluation = Evaluation(**options)
    evaluation.eval(one_hot(actual, n_classes), one_hot(predicted, n_classes))
    return evaluation


# ---- counting


def test_counts_of_every_backend_and_order(backend, dtype, order):
    evaluation = Evaluation()
    labels, predictions = one_hot(ACTUAL), 0.1 + 0.7 * one_hot(PREDICTED)
    evaluation.eval(as_input(backend, labels, order, dtype), as_input(backend, predictions, order, dtype))
    assert evaluation.confusion.counts.tolist() == COUNTS
    assert evaluation.true_positives() == {0: 3, 1: 2, 2: 1}
    assert evaluation.false_positives() == {0: 1, 1: 2, 2: 1}
    assert evaluation.false_negatives() == {0: 2, 1: 1, 2: 1}
    assert evaluation.true_negatives() == {0: 4, 1: 5, 2: 7}
    assert evaluation.positive() == {0: 5, 1: 3, 2: 2}
    assert evaluation.negative() == {0: 5, 1: 7, 2: 8}
    assert [evaluation.class_count(cls) for cls in range(3)] == [5, 3, 2]
    assert evaluation.num_row_counter == evaluation.get_num_row_counter() == 10
    assert (evaluation.num_classes(), evaluation.labels_list) == (3, ["0", "1", "2"])


def test_minibatches_add_up():
    evaluation = Evaluation(["a", "b", "c"])
    for start in range(0, 10, 4):
        evaluation.eval(one_hot(ACTUAL[start : start + 4]), one_hot(PREDICTED[start : start + 4]))
    assert evaluation.confusion.counts.tolist() == COUNTS
    assert evaluation.get_class_label(1) == "b"
    evaluation.reset()
    assert evaluation.num_row_counter == 0
    assert evaluation.labels_list == ["a", "b", "c"]
    evaluation.eval(one_hot(ACTUAL), one_hot(PREDICTED))
    assert evaluation.confusion.counts.tolist() == COUNTS


def test_ties_go_to_the_first_class():
    evaluation = Evaluation()
    evaluation.eval([[0.5, 0.5, 0.0], [0, 0, 0]], [[0.2, 0.4, 0.4], [0.3, 0.3, 0.3]])
    assert evaluation.confusion.counts.tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    "labels", [[[0], [0], [1], [1]], [[0.0], [0.0], [1.0], [1.0]], [[False], [False], [True], [True]]]
)
def test_a_single_column_is_binary(labels):
    evaluation = Evaluation()
    evaluation.eval(np.array(labels), np.array([[0.2], [0.5], [0.51], [0.4]]))
    assert evaluation.confusion.counts.tolist() == [[2, 0], [1, 1]]
    assert evaluation.num_classes() == 2
    evaluation.eval(one_hot([1], 2), one_hot([0], 2))
    assert evaluation.confusion.counts.tolist() == [[2, 0], [2, 1]]


@pytest.mark.parametrize("columns", [1, 2])
def test_binary_decision_threshold(columns):
    p = np.array([0.2, 0.3, 0.31, 0.9])
    evaluation = Evaluation(binary_decision_threshold=0.3)
    labels = np.array([0, 1, 1, 1])
    evaluation.eval(*((labels[:, None], p[:, None]) if columns == 1 else (one_hot(labels, 2), np.stack([1 - p, p], 1))))
    assert evaluation.confusion.counts.tolist() == [[1, 0], [1, 2]]


def test_cost_array():
    evaluation = Evaluation(cost_array=[[1.0, 3.0, 0.0]])
    evaluation.eval(one_hot([0, 1, 2]), np.array([[0.8, 0.2, 0.0], [0.6, 0.4, 0.0], [0.1, 0.0, 0.9]]))
    assert evaluation.confusion.counts.tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]


def test_time_series_with_mask():
    actual = np.array([[0, 1, 2], [2, 1, 0]])
    predicted = np.array([[0, 2, 2], [1, 1, 0]])
    labels, predictions = (one_hot(classes).transpose(0, 2, 1) for classes in (actual, predicted))  # [N, C, T]
    evaluation = Evaluation()
    evaluation.eval(labels, predictions)
    assert evaluation.confusion.counts.tolist() == [[2, 0, 0], [0, 1, 1], [0, 1, 1]]
    evaluation.reset()
    evaluation.eval(labels, predictions, mask=np.array([[1, 1, 0], [1, 0, 0]]))
    assert evaluation.confusion.counts.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    evaluation.eval(labels, predictions, mask=np.zeros((2, 3)))
    assert evaluation.num_row_counter == 3


@pytest.mark.parametrize(
    "mask", [[1, 0, 1, 1], [[1], [0], [1], [1]], [[2.0], [0.0], [0.5], [1.0]], [True, False, True, True]]
)
def test_mask_per_example(mask):
    evaluation = Evaluation()
    evaluation.eval(one_hot([0, 1, 2, 2]), one_hot([0, 0, 2, 1]), np.array(mask))
    assert evaluation.confusion.counts.tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 1]]


def test_masked_rows_may_be_nan():
    evaluation = Evaluation()
    evaluation.eval(one_hot([0, 1]), np.array([[0.9, 0.1, 0.0], [np.nan] * 3]), np.array([1, 0]))
    assert evaluation.num_row_counter == 1


@pytest.mark.parametrize("mask_shape", [(2, 2, 3), (2, 1, 2, 3)])
def test_segmentation(mask_shape):
    classes = np.random.default_rng(3).integers(0, 4, (2, 2, 2, 3))  # labels and predictions, [N, H, W]
    mask = np.random.default_rng(4).integers(0, 2, (2, 2, 3))
    labels, predictions = one_hot(classes, 4)
    expected = np.zeros((4, 4), int)
    for a, p, kept in zip(*classes.reshape(2, -1), mask.ravel(), strict=True):
        expected[a, p] += kept
    channels_first = Evaluation()
    channels_first.eval(labels.transpose(0, 3, 1, 2), predictions.transpose(0, 3, 1, 2), mask.reshape(mask_shape))
    np.testing.assert_array_equal(channels_first.confusion.counts, expected)
    channels_last = Evaluation(axis=3)
    channels_last.eval(labels, predictions, mask)
    assert channels_last.confusion == channels_first.confusion


def test_top_n():
    evaluation = Evaluation(top_n=2)
    evaluation.eval(
        one_hot([0, 0, 0, 1], 4),
        [[0.1, 0.2, 0.3, 0.4], [0.3, 0.2, 0.1, 0.4], [0.4, 0.3, 0.2, 0.1], [0.4, 0.3, 0.3, 0.0]],
    )
    assert evaluation.accuracy() == 0.25
    assert evaluation.top_n_accuracy() == 0.75
    assert evaluation.top_n_counts == (3, 4)
    assert evaluated().top_n_accuracy() == evaluated().accuracy()
    binary = Evaluation(top_n=2)
    binary.eval([[1]], [[0.7]])
    assert binary.top_n_accuracy() == 0  # a single column has no top N


def test_merge():
    first, second = evaluated(ACTUAL[:3], PREDICTED[:3]), evaluated(ACTUAL[3:], PREDICTED[3:])
    first.merge(second)
    assert first.confusion.counts.tolist() == COUNTS
    assert second.num_row_counter == 7
    fresh = Evaluation()
    fresh.merge(Evaluation(["x", "y", "z"]))
    fresh.merge(first)
    assert fresh.confusion.counts.tolist() == COUNTS
    assert fresh.labels_list == ["x", "y", "z"]
    fresh.merge(first)
    assert first.confusion.counts.tolist() == COUNTS
    with pytest.raises(ShapeError, match=r"Evaluation.merge: expected 3 classes, got 2"):
        first.merge(evaluated([0], [1], 2))
    with pytest.raises(DataError, match="same top_n, got 1 and 3"):
        first.merge(Evaluation(top_n=3))


# ---- metrics


def test_metrics_by_hand():
    evaluation = evaluated()
    assert evaluation.accuracy() == 6 / 10
    assert [evaluation.precision(cls) for cls in range(3)] == [3 / 4, 2 / 4, 1 / 2]
    assert [evaluation.recall(cls) for cls in range(3)] == [3 / 5, 2 / 3, 1 / 2]
    f1 = [2 * 3 / (2 * 3 + 3), 2 * 2 / (2 * 2 + 3), 1 / 2]
    assert [evaluation.f1(cls) for cls in range(3)] == pytest.approx(f1)
    assert evaluation.precision() == pytest.approx((3 / 4 + 1 / 2 + 1 / 2) / 3)
    assert evaluation.recall() == pytest.approx((3 / 5 + 2 / 3 + 1 / 2) / 3)
    assert evaluation.f1() == pytest.approx(sum(f1) / 3)
    assert evaluation.f_beta(2.0, cls=0) == pytest.approx(5 * 0.75 * 0.6 / (4 * 0.75 + 0.6))
    for micro in (evaluation.precision, evaluation.recall, evaluation.f1, evaluation.g_measure):
        assert micro(averaging="micro") == pytest.approx(0.6)
    g = [math.sqrt(0.75 * 0.6), math.sqrt(0.5 * 2 / 3), 0.5]
    assert evaluation.g_measure(0) == pytest.approx(g[0])
    assert evaluation.g_measure() == pytest.approx(sum(g) / 3)
    assert evaluation.false_positive_rate() == pytest.approx((1 / 5 + 2 / 7 + 1 / 8) / 3)
    assert evaluation.false_positive_rate(averaging="micro") == pytest.approx(4 / 20)
    assert evaluation.false_negative_rate() == pytest.approx((2 / 5 + 1 / 3 + 1 / 2) / 3)
    assert evaluation.false_alarm_rate() == pytest.approx(
        (evaluation.false_positive_rate() + evaluation.false_negative_rate()) / 2
    )
    matthews = [(3 * 4 - 1 * 2) / math.sqrt(4 * 5 * 5 * 6), (2 * 5 - 2) / math.sqrt(4 * 3 * 7 * 6), (7 - 1) / 16]
    assert [evaluation.matthews_correlation(cls) for cls in range(3)] == pytest.approx(matthews)
    assert evaluation.matthews_correlation() == pytest.approx(sum(matthews) / 3)
    assert evaluation.matthews_correlation(averaging="micro") == pytest.approx((6 * 16 - 16) / (10 * 20))


def test_two_classes_report_the_positive_one():
    evaluation = evaluated([0] * 6 + [1] * 4, [0, 0, 0, 0, 1, 1, 1, 1, 1, 0], 2)
    assert evaluation.precision() == 3 / 5
    assert evaluation.recall() == 3 / 4
    assert evaluation.f1() == pytest.approx(2 * 3 / (2 * 3 + 2 + 1))
    assert evaluation.false_positive_rate() == pytest.approx(2 / 6)
    assert evaluation.false_negative_rate() == 1 / 4
    assert evaluation.precision(averaging="macro") == pytest.approx((3 / 5 + 4 / 5) / 2)
    assert evaluation.f1(averaging="macro") == evaluation.f1(1)  # as Java: every average of two classes
    assert evaluation.f1(0) == pytest.approx(2 * 4 / (2 * 4 + 1 + 2))


def test_macro_averages_leave_out_undefined_classes():
    evaluation = evaluated([0, 0, 1, 1], [0, 1, 1, 3], 4)
    # Class 2 has neither precision nor recall, class 3 has no recall.
    assert [evaluation.precision(cls) for cls in range(4)] == [1, 0.5, 0, 0]
    assert evaluation.precision() == pytest.approx((1 + 0.5 + 0) / 3)
    assert evaluation.recall() == pytest.approx((0.5 + 0.5) / 2)
    assert evaluation.f1() == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert evaluation.average_precision_num_classes_excluded() == 1
    assert evaluation.average_recall_num_classes_excluded() == 2
    assert evaluation.average_f1_num_classes_excluded() == 2
    assert evaluation.g_measure() == pytest.approx((math.sqrt(0.5) + 0.5) / 4)
    assert math.isnan(evaluation.matthews_correlation(2))


def test_one_error_is_no_f1():
    evaluation = evaluated([0, 1], [1, 0], 2)
    assert (evaluation.precision(), evaluation.recall(), evaluation.f1()) == (0, 0, 0)


def test_no_class_has_an_f1():
    evaluation = evaluated([0, 0], [1, 1])
    assert math.isnan(evaluation.f1())
    assert " F1 Score:        NaN\t(3 classes excluded from average)" in evaluation.stats()


# ---- errors


def test_shape_errors():
    evaluation = Evaluation()
    with pytest.raises(ShapeError, match=r"same shape, got \[2\] and \[2, 3\].*one-hot"):
        evaluation.eval(np.array([0, 1]), one_hot([0, 1]))
    with pytest.raises(ShapeError, match=r"expected labels \[N, C\].*axis 1, got \[3\]"):
        evaluation.eval(np.ones(3), np.ones(3))
    with pytest.raises(ShapeError, match=r"got \[3, 0\]"):
        evaluation.eval(np.ones((3, 0)), np.ones((3, 0)))
    with pytest.raises(ShapeError, match=r"expected a mask of shape \[2, 4\] for labels \[2, 3, 4\], got \[2, 3, 4\]"):
        evaluation.eval(np.ones((2, 3, 4)), np.ones((2, 3, 4)), np.ones((2, 3, 4)))
    with pytest.raises(ShapeError, match="threshold needs 1 or 2 columns, got 3"):
        Evaluation(binary_decision_threshold=0.3).eval(one_hot([0]), one_hot([0]))
    with pytest.raises(ShapeError, match="must have 3 values, got 2"):
        Evaluation(cost_array=[1, 2]).eval(one_hot([0]), one_hot([0]))
    with pytest.raises(ShapeError, match=r"the cost array must be \[n\] or \[1, n\], got \[2, 2\]"):
        Evaluation(cost_array=np.ones((2, 2)))
    assert evaluation.num_row_counter == 0


def test_class_count_must_not_change():
    evaluation = evaluated()
    with pytest.raises(ShapeError, match=r"Evaluation.eval: expected 3 classes, got 4"):
        evaluation.eval(one_hot([0], 4), one_hot([0], 4))
    with pytest.raises(ShapeError, match="expected 3 classes, got 2"):
        evaluation.eval([[1]], [[0.7]])
    assert evaluation.num_row_counter == 10
    named = Evaluation(["a", "b"])
    with pytest.raises(ShapeError, match="expected 2 classes, got 3"):
        named.eval(one_hot([0]), one_hot([0]))


def test_value_errors():
    nan = one_hot([0, 1])
    nan[1, 2] = np.nan
    with pytest.raises(NumericError, match=r"predictions must not be NaN, got 1 NaN in 2 rows.*diverged"):
        Evaluation().eval(one_hot([0, 1]), nan)
    with pytest.raises(DataError, match="labels must not be NaN, got 1 NaN"):
        Evaluation().eval(nan, one_hot([0, 1]))
    with pytest.raises(DataError, match="one column must be 0 or 1, got values from 0 to 7"):
        Evaluation().eval([[0], [7]], [[0.5], [0.5]])
    with pytest.raises(DTypeError, match="labels must be real numbers, got <U1"):
        Evaluation().eval(np.array([["a"]]), np.ones((1, 1)))
    with pytest.raises(DataError, match=r"costs must not be negative, got -1\.0"):
        Evaluation(cost_array=[1, -1])
    for threshold in (-0.1, 1.5, np.nan, "a", True):
        with pytest.raises(ConfigurationError, match=r"threshold must be a number in 0..1 or None, got"):
            Evaluation(binary_decision_threshold=threshold)
    with pytest.raises(ConfigurationError, match="top_n must be an integer >= 1, got 0"):
        Evaluation(top_n=0)
    with pytest.raises(ConfigurationError, match=r"top_n must be an integer >= 1, got 1\.5"):
        Evaluation(top_n=1.5)
    for labels in ([], ["only"]):
        with pytest.raises(DataError, match="at least two labels"):
            Evaluation(labels)
    for labels in (0, -3, 10**30):
        with pytest.raises(
            ConfigurationError, match=f"labels must be .* an integer of 1 to 1000000 or None, got {labels}"
        ):
            Evaluation(labels)


@pytest.mark.parametrize("metric", ["accuracy", "precision", "recall", "f1", "g_measure", "matthews_correlation"])
def test_metrics_need_data(metric):
    for evaluation in (Evaluation(), Evaluation(3)):
        with pytest.raises(DataError, match="nothing has been evaluated, got 0 rows"):
            getattr(evaluation, metric)()


def test_metric_arguments():
    evaluation = evaluated()
    with pytest.raises(DataError, match=r"Evaluation.precision: a class is 0 to 2, got 3"):
        evaluation.precision(3)
    with pytest.raises(ChoiceError, match="unknown averaging 'weighted', expected one of macro, micro"):
        evaluation.recall(averaging="weighted")
    with pytest.raises(ChoiceError, match="unknown averaging 'weighted'"):
        evaluated([0], [1], 2).f1(averaging="weighted")


def test_the_positive_class_is_chosen():
    labels, predictions = np.eye(2)[[0, 0, 0, 1]], np.eye(2)[[0, 0, 1, 1]]
    for settings in ({}, {"labels": 2}, {"labels": ["a", "b"]}):
        evaluation = Evaluation(binary_positive_class=0, **settings)
        evaluation.eval(labels, predictions)
        assert (evaluation.precision(), evaluation.recall()) == (1.0, 2 / 3)
        assert "reported for positive class (class 0" in evaluation.stats()
        assert Evaluation.from_json(evaluation.to_json()).recall() == 2 / 3
    both = Evaluation(binary_positive_class=None)
    both.eval(labels, predictions)
    assert both.recall() == (2 / 3 + 1) / 2
    with pytest.raises(DataError, match="the positive class is 0, 1 or None, got 2"):
        Evaluation(binary_positive_class=2)


def test_lists_of_rows_of_different_lengths():
    for labels, guess, name in (([[1], [0, 1]], [[1], [0]], "labels"), ([[1], [0]], [[1], [0, 1]], "predictions")):
        with pytest.raises(ShapeError, match=rf"Evaluation\.eval: {name} must have rows of equal length"):
            Evaluation().eval(labels, guess)
    with pytest.raises(ShapeError, match="the cost array must have rows of equal length"):
        Evaluation(cost_array=[1.0, [2.0]])
    with pytest.raises(ConfigurationError, match="cls must be an integer >= 0, got -1"):
        Evaluation(["a", "b"]).get_class_label(-1)
