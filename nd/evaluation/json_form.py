"""Evaluation as Deeplearning4j's JSON: its objects are compared by it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from backends.errors import DataError, FormatError, ShapeError
from nd.serde import array_from_json, array_to_json

from .confusion import MAX_CLASSES, ConfusionMatrix
from .rows import checked_cost

if TYPE_CHECKING:
    from .classification import Evaluation

CLASS = "org.nd4j.evaluation.classification.Evaluation"
OLD_CLASS = "org.deeplearning4j.eval.Evaluation"

_WHO = "Evaluation.from_json"
_REMEDY = "Give the text that toJson() of Java, or to_json(), wrote for an Evaluation."
_JAVA_INT = 2**31 - 1


def write(evaluation: Evaluation) -> str:
    """Return the JSON text of an evaluation."""
    cost = evaluation.cost_array
    return json.dumps(
        {
            "@class": CLASS,
            "axis": evaluation.axis,
            "binaryPositiveClass": evaluation.binary_positive_class,
            "topN": evaluation.top_n,
            "topNCorrectCount": evaluation.top_n_counts[0],
            "topNTotalCount": evaluation.top_n_counts[1],
            "truePositives": _counter(evaluation.true_positives()),
            "falsePositives": _counter(evaluation.false_positives()),
            "trueNegatives": _counter(evaluation.true_negatives()),
            "falseNegatives": _counter(evaluation.false_negatives()),
            "confusion": None if evaluation.confusion is None else _confusion(evaluation.confusion),
            "numRowCounter": evaluation.num_row_counter,
            "labelsList": evaluation.labels_list,
            "binaryDecisionThreshold": evaluation.binary_decision_threshold,
            "costArray": None if cost is None else array_to_json(cost),
            "maxWarningClassesToPrint": evaluation.max_warning_classes_to_print,
        }
    )


def read_into(evaluation: Evaluation, text: str | bytes) -> None:
    """Set a fresh evaluation to what the JSON text says."""
    fields = _object(text)
    evaluation.axis = _integer(fields, "axis", 1)
    evaluation.binary_positive_class = _integer(fields, "binaryPositiveClass", 1, nullable=True)
    evaluation.top_n = _integer(fields, "topN", 1)
    evaluation.top_n_counts = (_integer(fields, "topNCorrectCount", 0), _integer(fields, "topNTotalCount", 0))
    evaluation.max_warning_classes_to_print = _integer(fields, "maxWarningClassesToPrint", 16)
    evaluation.binary_decision_threshold = _threshold(fields)
    evaluation.cost_array = _cost(fields)
    evaluation.confusion = _read_confusion(fields.get("confusion"))
    evaluation.labels_list = _labels(fields, evaluation.confusion)
    _check_counters(evaluation, fields)


def _counter(counts: dict[int, int]) -> dict[str, Any]:
    found = {str(cls): float(count) for cls, count in counts.items() if count}
    return {"map": found, "totalCount": sum(found.values(), 0.0), "dirty": False, "empty": not found}


def _confusion(confusion: ConfusionMatrix) -> dict[str, Any]:
    matrix = {}
    for actual, counts in enumerate(confusion.counts.tolist()):
        predicted = [cls for cls, count in enumerate(counts) if count]
        # Java sizes both lists by the row's total, not by its number of entries.
        padding = [0] * (sum(counts) - len(predicted))
        if predicted:
            matrix[str(actual)] = [predicted + padding, [counts[cls] for cls in predicted] + padding]
    return {"classes": confusion.classes, "matrix": matrix}


def _object(text: str | bytes) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{_WHO}: the text must be JSON, got: {error}. {_REMEDY}") from error
    found = fields.get("@class") if isinstance(fields, dict) else type(fields).__name__
    if found not in (CLASS, OLD_CLASS):
        raise FormatError(f"{_WHO}: expected an object of class {CLASS} or {OLD_CLASS}, got {found!r}. {_REMEDY}")
    return dict(fields)


def _integer(fields: dict[str, Any], name: str, default: int, nullable: bool = False) -> Any:
    value = fields.get(name, default)
    if value is None and nullable:
        return None
    if type(value) is not int or not 0 <= value <= _JAVA_INT:
        raise FormatError(f"{_WHO}: {name} must be an integer of 0 to {_JAVA_INT}, got {value!r}. {_REMEDY}")
    return value


def _threshold(fields: dict[str, Any]) -> float | None:
    value = fields.get("binaryDecisionThreshold")
    if value is not None and type(value) not in (int, float):
        raise FormatError(f"{_WHO}: binaryDecisionThreshold must be a number or null, got {value!r}. {_REMEDY}")
    return None if value is None else float(value)


def _cost(fields: dict[str, Any]) -> Any:
    value = fields.get("costArray")
    try:
        return None if value is None else checked_cost(array_from_json(value))
    except (DataError, ShapeError) as error:
        raise FormatError(f"{_WHO}: costArray must be a row of costs, got: {error} {_REMEDY}") from error


def _labels(fields: dict[str, Any], confusion: ConfusionMatrix | None) -> list[str]:
    labels = fields.get("labelsList")
    if labels is None:
        return []
    if not isinstance(labels, list) or any(not isinstance(label, str) for label in labels):
        raise FormatError(f"{_WHO}: labelsList must be a list of strings or null, got {labels!r}. {_REMEDY}")
    if labels and confusion is not None and len(labels) != confusion.n_classes:
        raise FormatError(f"{_WHO}: expected {confusion.n_classes} labels, got {len(labels)}. {_REMEDY}")
    return labels


def _read_confusion(value: Any) -> ConfusionMatrix | None:
    if value is None:
        return None
    classes = value.get("classes") if isinstance(value, dict) else None
    matrix = value.get("matrix") if isinstance(value, dict) else None
    if not isinstance(classes, list) or not isinstance(matrix, dict):
        raise FormatError(f"{_WHO}: confusion must have a list of classes and a matrix, got {value!r:.80}. {_REMEDY}")
    if not 1 <= len(classes) <= MAX_CLASSES or classes != list(range(len(classes))):
        raise FormatError(
            f"{_WHO}: the classes must be the numbers 0, 1, 2, ..., at most {MAX_CLASSES}, "
            f"got {len(classes)}: {classes[:8]}. {_REMEDY}"
        )
    confusion = ConfusionMatrix(len(classes))
    known = {str(cls): cls for cls in classes}
    for name, row in matrix.items():
        _read_row(confusion, known.get(name), row)
    return confusion


def _read_row(confusion: ConfusionMatrix, actual: int | None, row: Any) -> None:
    lists = isinstance(row, list) and len(row) == 2 and all(isinstance(part, list) for part in row)
    if actual is None or not lists or len(row[0]) != len(row[1]):
        raise FormatError(
            f"{_WHO}: a row of the confusion matrix must be a class below {confusion.n_classes} with two lists of the "
            f"same length, got class {actual} with {row!r:.80}. {_REMEDY}"
        )
    for predicted, count in zip(*row, strict=True):
        valid = type(predicted) is int and 0 <= predicted < confusion.n_classes
        if not valid or type(count) is not int or not 0 <= count <= _JAVA_INT:
            raise FormatError(
                f"{_WHO}: row {actual} of the confusion matrix must hold classes below {confusion.n_classes} and "
                f"counts, got class {predicted!r} with count {count!r}. {_REMEDY}"
            )
        if count:
            confusion.add(actual, predicted, count)


def _check_counters(evaluation: Evaluation, fields: dict[str, Any]) -> None:
    """The counters follow from the confusion matrix and are not kept: refuse a file where they do not."""
    expected = {
        "truePositives": evaluation.true_positives(),
        "falsePositives": evaluation.false_positives(),
        "trueNegatives": evaluation.true_negatives(),
        "falseNegatives": evaluation.false_negatives(),
    }
    for name, counts in expected.items():
        counter = fields.get(name)
        found = counter.get("map") if isinstance(counter, dict) else None
        present = {str(cls): count for cls, count in counts.items() if count}
        if not isinstance(found, dict) or {cls: count for cls, count in found.items() if count} != present:
            raise FormatError(
                f"{_WHO}: {name} must agree with the confusion matrix, expected {present!r:.80}, got {found!r:.80}. "
                f"{_REMEDY}"
            )
    rows = _integer(fields, "numRowCounter", 0)
    if rows != evaluation.num_row_counter:
        raise FormatError(
            f"{_WHO}: numRowCounter must be the total of the confusion matrix, {evaluation.num_row_counter}, "
            f"got {rows}. {_REMEDY}"
        )
