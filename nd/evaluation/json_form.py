"""Evaluation as Deeplearning4j's JSON: its objects are compared by it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from backends.errors import FormatError
from nd.serde import array_to_json

from .confusion import MAX_CLASSES, ConfusionMatrix
from .json_fields import JAVA_INT, Fields, java_class
from .rows import checked_cost
from .settings import is_probability

if TYPE_CHECKING:
    from .classification import Evaluation

_WHO = "Evaluation.from_json"
_REMEDY = "Give the text that toJson() of Java, or to_json(), wrote for an Evaluation."


def write(evaluation: Evaluation) -> str:
    """Return the JSON text of an evaluation."""
    cost = evaluation.cost_array
    return json.dumps(
        {
            "@class": java_class("Evaluation", "classification"),
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
    """Set a fresh evaluation to the counts of the JSON text."""
    fields = Fields.parse("Evaluation", "classification", text)
    evaluation.axis = fields.integer("axis", 1)
    evaluation.binary_positive_class = fields.integer("binaryPositiveClass", 1, nullable=True)
    evaluation.top_n = fields.integer("topN", 1)
    evaluation.top_n_counts = (fields.integer("topNCorrectCount", 0), fields.integer("topNTotalCount", 0))
    evaluation.max_warning_classes_to_print = fields.integer("maxWarningClassesToPrint", 16)
    evaluation.binary_decision_threshold = fields.number("binaryDecisionThreshold", nullable=True)
    fields.check(evaluation.top_n >= 1, "topN must be at least 1", evaluation.top_n)
    threshold = evaluation.binary_decision_threshold
    fields.check(threshold is None or is_probability(threshold), "binaryDecisionThreshold must be 0 to 1", threshold)
    evaluation.cost_array = fields.row("costArray", "a row of costs", checked_cost)
    confusion, labels = _read_confusion(fields), fields.texts("labelsList") or []
    if labels and confusion is not None and len(labels) != confusion.n_classes:
        raise FormatError(f"{fields.who}: expected {confusion.n_classes} labels, got {len(labels)}. {fields.remedy}")
    evaluation.confusion, evaluation.labels_list = confusion, labels
    _check_counters(evaluation, fields)


def _counter(counts: dict[int, int]) -> dict[str, object]:
    occurring = {str(cls): float(count) for cls, count in counts.items() if count}
    return {"map": occurring, "totalCount": sum(occurring.values(), 0.0), "dirty": False, "empty": not occurring}


def _confusion(confusion: ConfusionMatrix) -> dict[str, object]:
    matrix = {}
    for actual, counts in enumerate(confusion.counts.tolist()):
        predicted = [cls for cls, count in enumerate(counts) if count]
        # Java sizes both lists by the row's total, not by its number of entries.
        padding = [0] * (sum(counts) - len(predicted))
        if predicted:
            matrix[str(actual)] = [predicted + padding, [counts[cls] for cls in predicted] + padding]
    return {"classes": confusion.classes, "matrix": matrix}


def _read_confusion(fields: Fields) -> ConfusionMatrix | None:
    value = fields.value.get("confusion")
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
        if not valid or type(count) is not int or not 0 <= count <= JAVA_INT:
            raise FormatError(
                f"{_WHO}: row {actual} of the confusion matrix must hold classes below {confusion.n_classes} and "
                f"counts, got class {predicted!r} with count {count!r}. {_REMEDY}"
            )
        if count:
            confusion.add(actual, predicted, count)


def _check_counters(evaluation: Evaluation, fields: Fields) -> None:
    """Refuse counters that do not follow from the confusion matrix: they are not kept."""
    expected = {
        "truePositives": evaluation.true_positives(),
        "falsePositives": evaluation.false_positives(),
        "trueNegatives": evaluation.true_negatives(),
        "falseNegatives": evaluation.false_negatives(),
    }
    for name, counts in expected.items():
        counter = fields.value.get(name)
        stored = counter.get("map") if isinstance(counter, dict) else None
        present = {str(cls): count for cls, count in counts.items() if count}
        if not isinstance(stored, dict) or {cls: count for cls, count in stored.items() if count} != present:
            raise FormatError(
                f"{_WHO}: {name} must agree with the confusion matrix, expected {present!r:.80}, got {stored!r:.80}. "
                f"{_REMEDY}"
            )
    rows = fields.integer("numRowCounter", 0)
    if rows != evaluation.num_row_counter:
        raise FormatError(
            f"{_WHO}: numRowCounter must be the total of the confusion matrix, {evaluation.num_row_counter}, "
            f"got {rows}. {_REMEDY}"
        )
