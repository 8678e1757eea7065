"""Evaluation as JSON, against files of real Java."""

import json

import numpy as np
import pytest

from backends.errors import FormatError
from nd.evaluation import Evaluation
from tests.cells import every_row

# Accuracies counted by hand from the files' own true positives.
JAVA_FILES = [("LenetMnist", 284 / 320, 10), ("MLPMoon", 778 / 1000, 2)]


@pytest.mark.parametrize(("case", "accuracy", "n_classes"), JAVA_FILES)
def test_round_trip_of_java_files(reference, case, accuracy, n_classes):
    text = (reference / case / "evaluation" / "0.Evaluation.json").read_text()
    evaluation = Evaluation.from_json(text)
    assert json.loads(evaluation.to_json()) == json.loads(text)
    assert list(json.loads(evaluation.to_json())) == list(json.loads(text))  # Java's order of fields
    assert evaluation.accuracy() == accuracy
    assert evaluation.num_classes() == n_classes


def test_metrics_of_a_java_file(reference):
    evaluation = Evaluation.from_json((reference / "MLPMoon/evaluation/0.Evaluation.json").read_bytes())
    assert evaluation.confusion.counts.tolist() == [[393, 104], [118, 385]]
    assert evaluation.precision() == 385 / 489
    assert evaluation.recall() == 385 / 503


def test_the_old_package_is_read(reference):
    text = (reference / "regression/eval_100b/evaluation.json").read_text()
    assert '"org.deeplearning4j.eval.Evaluation"' in text
    evaluation = Evaluation.from_json(text)
    assert evaluation.accuracy() == 0.78
    fields = json.loads(evaluation.to_json())
    old = json.loads(text)
    assert fields.pop("@class") == "org.nd4j.evaluation.classification.Evaluation"
    assert (fields.pop("axis"), fields.pop("maxWarningClassesToPrint")) == (1, 16)
    del old["@class"]
    assert fields == old


def test_a_fresh_count_equals_the_java_file(reference):
    text = (reference / "MLPMoon/evaluation/0.Evaluation.json").read_text()
    actual = np.repeat([0, 0, 1, 1], [393, 104, 118, 385])
    predicted = np.repeat([0, 1, 0, 1], [393, 104, 118, 385])
    evaluation = Evaluation()
    evaluation.eval(np.eye(2)[actual], np.eye(2)[predicted])
    assert json.loads(evaluation.to_json()) == json.loads(text)


def test_every_field_survives():
    evaluation = Evaluation(["a", "b", "c"], top_n=2, axis=2, cost_array=[[1, 2, 0.5]])
    evaluation.eval(np.eye(3)[[[0, 1, 2]]], np.eye(3)[[[0, 0, 2]]])
    evaluation.binary_decision_threshold = 0.25
    evaluation.max_warning_classes_to_print = 3
    fields = json.loads(evaluation.to_json())
    assert fields["costArray"] == {"dataType": "FLOAT", "shape": [1, 3], "data": [1.0, 2.0, 0.5]}
    assert fields["confusion"]["matrix"] == {"0": [[0], [1]], "1": [[0], [1]], "2": [[2], [1]]}
    assert fields["falseNegatives"] == {"map": {"1": 1.0}, "totalCount": 1.0, "dirty": False, "empty": False}
    assert (fields["axis"], fields["topN"], fields["topNCorrectCount"], fields["topNTotalCount"]) == (2, 2, 3, 3)
    assert fields["binaryPositiveClass"] == 1
    again = Evaluation.from_json(json.dumps(fields))
    assert json.loads(again.to_json()) == fields
    assert again.stats() == evaluation.stats()
    again.binary_decision_threshold = None  # three classes cannot be evaluated with one
    again.eval(np.eye(3)[[[1]]], np.eye(3)[[[1]]])
    assert again.num_row_counter == 4


def test_without_data():
    fields = json.loads(Evaluation().to_json())
    assert fields["confusion"] is None
    assert fields["truePositives"] == {"map": {}, "totalCount": 0.0, "dirty": False, "empty": True}
    assert Evaluation.from_json(json.dumps(fields)).num_row_counter == 0
    assert json.loads(Evaluation(3).to_json())["binaryPositiveClass"] is None
    assert json.loads(Evaluation(3).to_json())["confusion"] == {"classes": [0, 1, 2], "matrix": {}}


def test_null_fields():
    evaluation = Evaluation(3)
    evaluation.eval(np.eye(3), np.eye(3)[[0, 1, 1]])
    fields = json.loads(evaluation.to_json()) | {"labelsList": None}
    again = Evaluation.from_json(json.dumps(fields))
    assert again.binary_positive_class is None
    assert again.labels_list == []
    assert again.stats() == evaluation.stats()


def test_a_file_with_one_class():
    row = {"classes": [0], "matrix": {"0": [[0], [4]]}}
    none, four = {"map": {}}, {"map": {"0": 4.0}}
    fields = dict(zip(("falsePositives", "trueNegatives", "falseNegatives"), (none,) * 3, strict=True))
    fields |= {"@class": "org.deeplearning4j.eval.Evaluation", "truePositives": four, "confusion": row}
    text = Evaluation.from_json(json.dumps(fields | {"numRowCounter": 4})).stats()
    assert " F1 Score:        1.0000\n\n\n=========" in text  # Java says nothing about averages here


@every_row(
    ("change", "message"),
    [
        ({"@class": "org.nd4j.evaluation.classification.ROC"}, "got 'org.nd4j.evaluation.classification.ROC'"),
        ({"axis": "1"}, "axis must be an integer of 0 to 2147483647, got '1'"),
        ({"topN": None}, "topN must be an integer .*got None"),
        ({"numRowCounter": True}, "numRowCounter must be an integer"),
        ({"numRowCounter": 4}, "must be the total of the confusion matrix, 3, got 4"),
        ({"binaryDecisionThreshold": "x"}, "must be a number or null, got 'x'"),
        ({"costArray": [-1.0, 2.0]}, "costArray must be a row of costs, got: .*-1.0"),
        ({"costArray": 3}, "array_from_json: .*got int"),
        ({"labelsList": ["a", 1]}, "labelsList must be a list of strings or null"),
        ({"labelsList": ["a", "b", "c"]}, "expected 2 labels, got 3"),
        ({"truePositives": {"map": {"0": 2.0}}}, "truePositives must agree with the confusion matrix"),
        ({"falsePositives": None}, "falsePositives must agree .*got None"),
        ({"confusion": []}, "confusion must have a list of classes and a matrix, got"),
        ({"confusion": {"classes": [1, 2], "matrix": {}}}, r"the classes must be the numbers 0, 1, 2.*got 2: \[1, 2\]"),
        ({"confusion": {"classes": list(range(20000)), "matrix": {}}}, "at most 16384, got 20000"),
        ({"confusion": {"classes": [0, 1], "matrix": {"2": [[0], [1]]}}}, "a class below 2 with two lists"),
        ({"confusion": {"classes": [0, 1], "matrix": {"9" * 5000: [[0], [1]]}}}, "a class below 2 with two lists"),
        ({"confusion": {"classes": [0, 1], "matrix": {"0": [[0], []]}}}, "two lists of the same length"),
        ({"confusion": {"classes": [0, 1], "matrix": {"0": [[2], [1]]}}}, "got class 2 with count 1"),
        ({"confusion": {"classes": [0, 1], "matrix": {"0": [[0], [-1]]}}}, "got class 0 with count -1"),
        ({"confusion": {"classes": [0, 1], "matrix": {"0": [[0], [0.5]]}}}, "got class 0 with count 0.5"),
        ({"confusion": {"classes": [0, 1], "matrix": {"0": [[0], [10**30]]}}}, "got class 0 with count 10"),
    ],
)
def test_bad_fields(change, message):
    evaluation = Evaluation()
    evaluation.eval(np.eye(2)[[0, 0, 1]], np.eye(2)[[0, 1, 1]])
    with pytest.raises(FormatError, match=message):
        Evaluation.from_json(json.dumps(json.loads(evaluation.to_json()) | change))


@pytest.mark.parametrize(("text", "message"), [("{", "must be JSON, got"), ("[1]", "got 'list'"), ("{}", "got None")])
def test_not_an_evaluation(text, message):
    with pytest.raises(FormatError, match=message):
        Evaluation.from_json(text)
