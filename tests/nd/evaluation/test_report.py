"""The printed report, whole, against output of real Java."""

import numpy as np
import pytest

from backends.errors import DataError
from nd.evaluation import Evaluation

# Printed by Java 1.0.0-beta for eval_100b/evaluation.json, from the readme beside that file.
JAVA_IRIS = """

========================Evaluation Metrics========================
 # of classes:    3
 Accuracy:        0.7800
 Precision:       0.8000
 Recall:          0.7800
 F1 Score:        0.7753
Precision, recall & F1: macro-averaged (equally weighted avg. of 3 classes)


=========================Confusion Matrix=========================
  0  1  2
----------
 45  5  0 | 0 = 0
  0 26 24 | 1 = 1
  0  4 46 | 2 = 2

Confusion matrix format: Actual (rowClass) predicted as (columnClass) N times
=================================================================="""

# Printed by Java for a network that never predicts class 1.
JAVA_NEVER = """

========================Evaluation Metrics========================
 # of classes:    2
 Accuracy:        0.6154
 Precision:       0.0000
 Recall:          0.0000
 F1 Score:        0.0000
Precision, recall & F1: reported for positive class (class 1 - "1") only

Warning: 1 class was never predicted by the model and was excluded from average precision
Classes excluded from average precision: [1]

=========================Confusion Matrix=========================
   0   1
---------
 192   0 | 0 = 0
 120   0 | 1 = 1

Confusion matrix format: Actual (rowClass) predicted as (columnClass) N times
=================================================================="""

THREE_OF_FIVE = """

========================Evaluation Metrics========================
 # of classes:    5
 Accuracy:        0.5000
 Top 2 Accuracy:  1.0000
 Precision:       0.5000\t(3 classes excluded from average)
 Recall:          0.5000\t(3 classes excluded from average)
 F1 Score:        0.5000\t(3 classes excluded from average)
Precision, recall & F1: macro-averaged (equally weighted avg. of 5 classes)

Warning: 3 classes were never predicted by the model and were excluded from average precision
Classes excluded from average precision: [2, 3, 4]
Warning: 3 classes were never predicted by the model and were excluded from average recall
Classes excluded from average recall: [2, 3, 4]

=========================Confusion Matrix=========================
 0 1 2 3 4
-----------
 1 1 0 0 0 | 0 = cat
 1 1 0 0 0 | 1 = dog
 0 0 0 0 0 | 2 = c
 0 0 0 0 0 | 3 = d
 0 0 0 0 0 | 4 = e

Confusion matrix format: Actual (rowClass) predicted as (columnClass) N times
=================================================================="""


def from_counts(counts, **options):
    evaluation = Evaluation(**options)
    n_classes = len(counts)
    actual, predicted = np.repeat(np.argwhere(np.ones_like(counts)), np.ravel(counts), axis=0).T
    evaluation.eval(np.eye(n_classes)[actual], np.eye(n_classes)[predicted])
    return evaluation


def test_three_classes_as_java():
    assert from_counts([[45, 5, 0], [0, 26, 24], [0, 4, 46]]).stats() == JAVA_IRIS


def test_two_classes_as_java():
    evaluation = from_counts([[192, 0], [120, 0]])
    assert evaluation.stats() == str(evaluation) == JAVA_NEVER
    assert "Warning" not in evaluation.stats(suppress_warnings=True)


def test_names_top_n_and_excluded_classes():
    evaluation = Evaluation(["cat", "dog", "c", "d", "e"], top_n=2)
    labels, predictions = np.eye(5)[[0, 0, 1, 1]], 0.1 * np.eye(5)[[1, 0, 0, 1]]
    evaluation.eval(labels, predictions + np.eye(5)[[0, 1, 1, 0]])
    assert evaluation.stats() == THREE_OF_FIVE
    assert evaluation.confusion_matrix() in THREE_OF_FIVE


def test_threshold_and_cost_lines():
    one = Evaluation(binary_decision_threshold=0.25)
    one.eval([[1]], [[0.3]])
    assert "only\nBinary decision threshold: 0.25\n\n" in one.stats()
    two = Evaluation(cost_array=[1.0, 0.1])
    two.eval([[1, 0]], [[0.3, 0.7]])
    assert "only\nCost array: [1.0, 0.1]\n\n" in two.stats()


def test_many_classes():
    evaluation = from_counts(np.diag([1, 1] + [0] * 19))
    text = evaluation.stats()
    assert "Confusion Matrix===" not in text
    assert "Confusion matrix not generated due to space requirements for 21 classes.\n" in text
    assert "19 classes were never predicted" in text
    assert "Classes excluded" not in text  # more than 16
    assert "=Confusion Matrix=" in evaluation.stats(False, True)
    assert "onfusion" not in evaluation.stats(False, False)


def test_confusion_to_string():
    evaluation = from_counts([[3, 1], [0, 12]], labels=["negative", "positive"])
    assert evaluation.confusion_to_string() == (
        "   Predicted:            0      1\n"
        "   Actual:\n"
        "0  negative      |       3      1\n"
        "1  positive      |       0     12\n"
    )


def test_without_data():
    assert Evaluation(3).stats() == "Evaluation: No data available (no evaluation has been performed)"
    for text in (Evaluation().confusion_matrix, Evaluation(3).confusion_to_string):
        with pytest.raises(DataError, match="nothing has been evaluated"):
            text()
