"""ROCBinary and ROCMultiClass: column by column as ROC and scikit-learn have it, and the tables that Java prints."""

import math

import numpy as np
import pytest
from sklearn import metrics as sk

import nd
from nd.evaluation import ROC, ROCBinary, ROCMultiClass

CLOSE = 1e-12
RNG = np.random.default_rng(4)
CLASSES = np.eye(4)[RNG.integers(0, 4, 200)]
SCORES = (CLASSES + 2 * RNG.random((200, 4))).round(1)
SCORES /= SCORES.sum(axis=1, keepdims=True)
OUTPUTS = (RNG.random((200, 3)) < 0.5).astype(np.float32)
PROBABILITIES = (0.7 * RNG.random((200, 3)) + 0.3 * OUTPUTS).astype(np.float32)


def evaluated(kind, truth, predictions, mask=None, **settings):
    evaluation = kind(**settings)
    evaluation.eval(truth, predictions, mask)
    return evaluation


def test_classes_against_the_rest():
    evaluation = evaluated(ROCMultiClass, CLASSES, SCORES)
    expected = [sk.roc_auc_score(CLASSES[:, cls], SCORES[:, cls]) for cls in range(4)]
    assert [evaluation.calculate_auc(cls) for cls in range(4)] == pytest.approx(expected, rel=CLOSE)
    macro = sk.roc_auc_score(CLASSES.argmax(1), SCORES, multi_class="ovr", average="macro")
    assert evaluation.calculate_average_auc() == pytest.approx(macro, rel=CLOSE)
    for cls in range(4):
        precision, recall, _ = sk.precision_recall_curve(CLASSES[:, cls], SCORES[:, cls])
        assert evaluation.calculate_auc_pr(cls) == pytest.approx(sk.auc(recall, precision), rel=CLOSE)
        assert evaluation.get_count_actual_positive(cls) == CLASSES[:, cls].sum()
        assert evaluation.get_count_actual_negative(cls) == 200 - CLASSES[:, cls].sum()
    areas = [evaluation.calculate_auc_pr(cls) for cls in range(4)]
    assert evaluation.calculate_average_auc_pr() == pytest.approx(np.mean(areas), rel=CLOSE)
    assert evaluation.get_num_classes() == 4


@pytest.mark.parametrize("steps", [0, 25])
def test_outputs_are_masked_one_by_one(steps):
    mask = (RNG.random((200, 3)) < 0.6).astype(np.float32)
    broken = np.where(mask == 1, OUTPUTS, np.nan)  # what is masked need not be there
    evaluation = evaluated(ROCBinary, broken, PROBABILITIES, mask, threshold_steps=steps)
    for output in range(3):
        kept = mask[:, output] == 1
        alone = ROC(steps)
        alone.eval(OUTPUTS[kept, output][:, None], PROBABILITIES[kept, output][:, None])
        assert evaluation.get_roc(output).to_json() == alone.to_json()
        assert evaluation.get_roc_curve(output) == alone.get_roc_curve()
        assert evaluation.get_precision_recall_curve(output) == alone.get_precision_recall_curve()
    series = evaluated(ROCBinary, *(a.reshape(20, 10, 3).swapaxes(1, 2) for a in (OUTPUTS, PROBABILITIES)), None)
    assert series.num_labels() == 3
    assert series.calculate_average_auc() == evaluated(ROCBinary, OUTPUTS, PROBABILITIES).calculate_average_auc()


def test_an_output_without_labels_has_no_area():
    mask = np.ones((200, 3))
    mask[:, 1] = 0
    evaluation = evaluated(ROCBinary, OUTPUTS, PROBABILITIES, mask)
    assert math.isnan(evaluation.calculate_auc(1))
    assert math.isnan(evaluation.calculate_auc_pr(1))
    assert math.isnan(evaluation.calculate_average_auc())
    assert evaluation.calculate_auc(0) == pytest.approx(sk.roc_auc_score(OUTPUTS[:, 0], PROBABILITIES[:, 0]))
    assert evaluation.stats().splitlines()[2] == "1                   NaN         NaN         0         0         "


def test_classes_are_not_masked_one_by_one():
    with pytest.raises(nd.ShapeError, match=r"ROCMultiClass\.eval: expected a mask of shape \[200\].*not per output"):
        evaluated(ROCMultiClass, CLASSES, SCORES, np.ones((200, 4)))


def test_the_table_of_classes():
    labels, scores = [[1, 0], [0, 1], [0, 1]], [[0.9, 0.1], [0.2, 0.8], [0.95, 0.05]]
    assert evaluated(ROCMultiClass, labels, scores).stats() == (
        "Label               AUC         # Pos     # Neg     \n"
        "0                   0.5000      1         2         \n"
        "1                   0.5000      2         1         Average AUC: 0.5000      "
    )
    named = evaluated(ROCMultiClass, labels, scores, labels=["of a very long name", "b"], threshold_steps=4)
    assert named.stats(2) == (
        "Label                   AUC         # Pos     # Neg     \n"
        "of a very long name     0.75        1         2         \n"
        "b                       0.75        2         1         Average AUC: 0.75        \n"
        "[Note: Thresholded AUC/AUPRC calculation used with 4 steps); accuracy may reduced compared to exact mode]"
    )
    assert ROCMultiClass().stats() == "Label               AUC         # Pos     # Neg     \n-- No Data --\n"
    assert ROCBinary().stats() == "Label               AUC         AUPRC       # Pos     # Neg     \n-- No Data --\n"
    assert (ROCMultiClass().get_num_classes(), ROCBinary().num_labels()) == (-1, -1)


@pytest.mark.parametrize(("kind", "what"), [(ROCBinary, "an output"), (ROCMultiClass, "a class")])
def test_columns_that_are_not_there(kind, what):
    for use in (kind().calculate_average_auc, lambda: kind().get_roc_curve(0)):
        with pytest.raises(nd.DataError, match=rf"{kind.__name__}: nothing has been evaluated, got 0 examples"):
            use()
    evaluation = evaluated(kind, OUTPUTS, PROBABILITIES)
    for column in (-1, 3):
        with pytest.raises(nd.DataError, match=rf"{kind.__name__}: {what} is 0 to 2, got {column}"):
            evaluation.calculate_auc(column)
    with pytest.raises(nd.DataError, match=r"set_label_names: expected 3 labels, got \['a'\]"):
        evaluation.set_label_names(["a"])
    with pytest.raises(nd.ShapeError, match=r"eval: expected 2 columns, got 3"):
        evaluated(kind, OUTPUTS, PROBABILITIES, labels=["a", "b"])
    with pytest.raises(nd.DataError, match=r"both must have the same threshold_steps, got 0 and 9"):
        evaluation.merge(kind(9))
    with pytest.raises(nd.ConfigurationError, match=r"threshold_steps must be an integer of 0 to 1000000, got -2"):
        kind(-2)


def test_a_bad_minibatch_changes_nothing():
    evaluation = evaluated(ROCBinary, OUTPUTS, PROBABILITIES, threshold_steps=10)
    before = evaluation.to_json()
    wrong = OUTPUTS.copy()
    wrong[3, 2] = 0.5
    with pytest.raises(nd.DataError, match="labels must be 0 or 1"):
        evaluation.eval(wrong, PROBABILITIES)
    with pytest.raises(nd.DataError, match="probabilities from 0 to 1"):
        evaluation.eval(OUTPUTS, PROBABILITIES + 1)
    assert evaluation.to_json() == before


@pytest.mark.parametrize("kind", [ROCBinary, ROCMultiClass])
def test_a_name_that_is_not_there(kind):
    assert (kind().label(7), kind(labels=["a", "b"]).label(1)) == ("7", "b")
    with pytest.raises(nd.DataError, match=r"label: (an output|a class) is 0 to 1, got 2"):
        kind(labels=["a", "b"]).label(2)
    with pytest.raises(nd.ArgumentError, match="column must be an integer >= 0, got -1"):
        kind(labels=["a", "b"]).label(-1)
