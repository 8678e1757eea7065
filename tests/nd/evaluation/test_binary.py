"""EvaluationBinary: against scikit-learn output by output, by hand, and where metrics are 0/0."""

import json
import math

import numpy as np
import pytest
from sklearn import metrics as sk

import nd
from nd.evaluation import EvaluationBinary, ROCBinary
from tests.cells import every_row

CLOSE = 1e-12
RNG = np.random.default_rng(5)
LABELS = (RNG.random((150, 3)) < [0.5, 0.2, 0.8]).astype(np.float32)
SCORES = (0.6 * RNG.random((150, 3)) + 0.4 * LABELS).astype(np.float32)


def evaluated(truth, predictions, mask=None, **settings):
    evaluation = EvaluationBinary(**settings)
    evaluation.eval(truth, predictions, mask)
    return evaluation


@pytest.mark.parametrize("threshold", [None, [0.4, 0.6, 0.55], [[0.1, 0.5, 0.9]]])
def test_metrics_of_every_output(threshold):
    evaluation = evaluated(LABELS, SCORES, decision_threshold=threshold)
    chosen = np.ravel([0.5] * 3 if threshold is None else threshold)
    for output in range(3):
        truth, guess = LABELS[:, output], SCORES[:, output] > np.float32(chosen[output])
        tn, fp, fn, tp = sk.confusion_matrix(truth, guess).ravel()
        assert evaluation.true_positives(output) == tp
        assert evaluation.false_positives(output) == fp
        assert evaluation.true_negatives(output) == tn
        assert evaluation.false_negatives(output) == fn
        assert evaluation.total_count(output) == 150
        expected = {
            "accuracy": sk.accuracy_score(truth, guess),
            "precision": sk.precision_score(truth, guess),
            "recall": sk.recall_score(truth, guess),
            "f1": sk.f1_score(truth, guess),
            "matthews_correlation": sk.matthews_corrcoef(truth, guess),
            "g_measure": math.sqrt(sk.precision_score(truth, guess) * sk.recall_score(truth, guess)),
            "false_positive_rate": fp / (fp + tn),
            "false_negative_rate": fn / (fn + tp),
            "false_alarm_rate": (fp / (fp + tn) + fn / (fn + tp)) / 2,
        }
        for name, value in expected.items():
            assert getattr(evaluation, name)(output) == pytest.approx(value, rel=CLOSE), name
        assert evaluation.f_beta(2.0, output) == pytest.approx(sk.fbeta_score(truth, guess, beta=2), rel=CLOSE)
    for name in ("accuracy", "precision", "recall", "f1", "matthews_correlation", "g_measure", "false_alarm_rate"):
        mean = np.mean([getattr(evaluation, name)(output) for output in range(3)])
        assert getattr(evaluation, f"average_{name}")() == pytest.approx(mean, rel=CLOSE)


def test_averages_are_the_means_of_the_outputs():
    evaluation = evaluated(LABELS, SCORES)
    for average, of_output in (
        (evaluation.average_accuracy, evaluation.accuracy),
        (evaluation.average_false_alarm_rate, evaluation.false_alarm_rate),
        (evaluation.average_g_measure, evaluation.g_measure),
        (evaluation.average_matthews_correlation, evaluation.matthews_correlation),
        (evaluation.average_recall, evaluation.recall),
    ):
        assert average() == pytest.approx(np.mean([of_output(output) for output in range(3)]), rel=CLOSE)


def test_labels_are_masked_one_by_one():
    mask = (RNG.random((150, 3)) < 0.5).astype(np.float32)
    evaluation = evaluated(np.where(mask, LABELS, np.nan), SCORES, mask, roc_binary_steps=0)
    for output in range(3):
        kept = mask[:, output] == 1
        alone = evaluated(LABELS[kept, output, None], SCORES[kept, output, None])
        assert evaluation._outcomes(output) == alone._outcomes(0)
    roc = ROCBinary()
    roc.eval(LABELS, SCORES, mask)
    assert evaluation.roc_binary.fields() == roc.fields()
    series = [array.reshape(30, 5, 3).swapaxes(1, 2) for array in (LABELS, SCORES, mask)]
    assert evaluated(*series).to_json() == evaluated(LABELS, SCORES, mask).to_json()
    by_row = evaluated(LABELS[:, :1], SCORES[:, :1], mask[:, :1])  # one output: a row is a label
    assert by_row._outcomes(0) == evaluation._outcomes(0)


def test_nothing_to_divide_by():
    evaluation = evaluated([[0, 1, 0]] * 2, [[0.1, 0.1, 0.9]] * 2, [[1, 1, 1]] * 2)
    assert math.isnan(evaluation.precision(0))  # never predicted, never there
    assert math.isnan(evaluation.recall(0))
    assert math.isnan(evaluation.f1(0))
    assert math.isnan(evaluation.matthews_correlation(0))
    assert math.isnan(evaluation.g_measure(0))
    assert (evaluation.accuracy(0), evaluation.false_positive_rate(0), evaluation.false_negative_rate(0)) == (1, 0, 0)
    assert math.isnan(evaluation.precision(1))  # never predicted
    assert (evaluation.recall(1), evaluation.f1(1), evaluation.false_negative_rate(1)) == (0, 0, 1)
    assert math.isnan(evaluation.recall(2))  # never there
    assert (evaluation.precision(2), evaluation.f1(2), evaluation.false_positive_rate(2)) == (0, 0, 1)
    assert math.isnan(evaluation.average_precision())
    assert math.isnan(evaluated([[0, 1]], [[0.1, 0.1]], [[0, 1]]).accuracy(0))


def test_a_threshold_is_not_reached_by_itself():
    assert evaluated([[1]], [[0.5]]).false_negatives(0) == 1
    scores = np.array([[0.7]], np.float32)  # less than the double 0.7, and compared as float32
    assert evaluated([[1]], scores, decision_threshold=[0.7]).false_negatives(0) == 1
    assert evaluated([[1]], scores.astype(float), decision_threshold=np.float32([0.69])).true_positives(0) == 1


TABLE = """\
Label               Accuracy    F1          Precision   Recall      Total   TP     TN     FP     FN     
0                   0.7500      0.6667      1.0000      0.5000      4       1      2      0      1      
1                   0.5000      0.0000      0.0000      NaN         4       0      2      2      0      """  # noqa: W291


def test_the_table():
    truth, guess = [[1, 0], [1, 0], [0, 0], [0, 0]], [[0.9, 0.8], [0.1, 0.9], [0.2, 0.1], [0.3, 0.2]]
    assert evaluated(truth, guess).stats() == TABLE
    named = evaluated(
        truth, guess, labels=["first of all the outputs", "b"], decision_threshold=[0.5, 0.85], roc_binary_steps=0
    )
    lines = named.stats(2).splitlines()
    assert lines[0] == "Label                        " + TABLE.splitlines()[0][20:] + "AUC         "
    assert lines[1].startswith(
        "first of all the outputs     0.75        0.67        1.00        0.50        4       1      2"
    )
    assert lines[1].endswith("0      1      0.50        ")
    assert lines[2].endswith("3      1      0      NaN         ")
    assert lines[3] == "Per-output decision thresholds: [0.5, 0.85]"
    assert EvaluationBinary().stats() == TABLE.splitlines()[0] + "\n-- No Data --\n"


def test_json_of_every_field():
    evaluation = evaluated(
        LABELS, SCORES, decision_threshold=[[0.25, 0.5, 1.0]], roc_binary_steps=4, labels=["a", "b", "c"]
    )
    fields = json.loads(evaluation.to_json())
    assert list(fields) == [
        "@class", "axis", "countTruePositive", "countFalsePositive", "countTrueNegative", "countFalseNegative",
        "rocBinary", "labels", "decisionThreshold",
    ]  # fmt: skip
    assert fields["@class"] == "org.nd4j.evaluation.classification.EvaluationBinary"
    assert fields["countFalseNegative"] == [evaluation.false_negatives(output) for output in range(3)]
    assert fields["decisionThreshold"] == {"dataType": "DOUBLE", "shape": [1, 3], "data": [0.25, 0.5, 1.0]}
    assert fields["rocBinary"]["@class"] == "org.nd4j.evaluation.classification.ROCBinary"
    assert list(fields["rocBinary"])[1] == "underlying"
    old = evaluation.to_json().replace("org.nd4j.evaluation.classification", "org.deeplearning4j.eval")
    old = json.loads(old) | {"decisionThreshold": [0.25, 0.5, 1.0]}
    assert EvaluationBinary.from_json(json.dumps(old)).stats() == evaluation.stats()


@every_row(
    ("change", "message"),
    [
        ({"countTruePositive": [1]}, r"must have one length, got \[1, 3\]"),
        ({"countTruePositive": None}, r"must have one length, got \[-1, 3\]"),
        ({"countTruePositive": [0.5, 1, 1]}, "countTruePositive must be a list of integers of 0 to"),
        ({"decisionThreshold": [0.5]}, "expected 1 outputs, got 3"),
        ({"decisionThreshold": [2.0, 0, 0]}, "decisionThreshold must be a row, got: .*is 0 to 1"),
        ({"decisionThreshold": 4}, "array_from_json: .*got int"),
        ({"labels": ["a"]}, "expected 3 outputs, got 1"),
        ({"labels": "abc"}, "labels must be a list of strings or null"),
        ({"rocBinary": {}}, "expected an object of class .*ROCBinary or .*, got None"),
    ],
)
def test_bad_json(change, message):
    fields = json.loads(evaluated(LABELS, SCORES).to_json()) | change
    with pytest.raises(nd.FormatError, match=message):
        EvaluationBinary.from_json(json.dumps(fields))


def test_what_does_not_fit():
    for use in (lambda: EvaluationBinary().accuracy(0), EvaluationBinary().average_f1):
        with pytest.raises(nd.DataError, match="EvaluationBinary: nothing has been evaluated, got 0 rows"):
            use()
    for output in (-1, 3):
        with pytest.raises(nd.DataError, match=f"EvaluationBinary: an output is 0 to 2, got {output}"):
            evaluated(LABELS, SCORES).recall(output)
    with pytest.raises(nd.ShapeError, match=r"decision_threshold must be \[n\] or \[1, n\], got \[2, 2\]"):
        EvaluationBinary(np.ones((2, 2)))
    with pytest.raises(nd.DataError, match=r"a decision threshold is 0 to 1, got \[-0\.5\]"):
        EvaluationBinary([-0.5])
    with pytest.raises(nd.ShapeError, match=r"EvaluationBinary\.eval: expected 2 outputs, got 3"):
        evaluated(LABELS, SCORES, decision_threshold=[0.5, 0.5])
    with pytest.raises(nd.ShapeError, match=r"EvaluationBinary\.set_label_names: expected 4 outputs, got 1"):
        EvaluationBinary(size=4, labels=["a"])
    with pytest.raises(nd.DataError, match="both or none must have a ROC, got roc_binary None"):
        EvaluationBinary().merge(EvaluationBinary(roc_binary_steps=0))
    assert (EvaluationBinary(size=4).num_labels(), EvaluationBinary().num_labels()) == (4, -1)
