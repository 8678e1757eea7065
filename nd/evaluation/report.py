"""The text that Deeplearning4j prints about an Evaluation, character for character."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .confusion import ConfusionMatrix

if TYPE_CHECKING:
    from .classification import Evaluation

PRINT_MAX_CLASSES = 20
NO_DATA = "Evaluation: No data available (no evaluation has been performed)"


def stats_text(evaluation: Evaluation, suppress_warnings: bool, include_confusion: bool | None) -> str:
    """Return the report; `include_confusion` None means up to 20 classes."""
    confusion = evaluation.confusion
    if confusion is None or evaluation.num_row_counter == 0:
        return NO_DATA
    n_classes = confusion.n_classes
    text = "\n\n========================Evaluation Metrics========================"
    text += _metric_lines(evaluation, n_classes) + _averaging_line(evaluation, n_classes)
    if evaluation.binary_decision_threshold is not None:
        text += f"\nBinary decision threshold: {evaluation.binary_decision_threshold}"
    if evaluation.cost_array is not None:
        text += f"\nCost array: [{', '.join(str(cost) for cost in evaluation.cost_array.ravel())}]"
    text += "\n\n"
    if not suppress_warnings:
        text += _warnings(evaluation)
    if include_confusion or (include_confusion is None and n_classes <= PRINT_MAX_CLASSES):
        text += "\n=========================Confusion Matrix=========================\n"
        text += confusion_table(confusion, evaluation.labels_list)
    elif include_confusion is None:
        text += (
            f"\n\nNote: Confusion matrix not generated due to space requirements for {n_classes} classes.\n"
            "Use stats(False, True) to generate anyway"
        )
    return text + "\n=================================================================="


def confusion_table(confusion: ConfusionMatrix, labels: Sequence[str]) -> str:
    """Return the counts as a table, one row per actual class."""
    n_classes = confusion.n_classes
    largest = max(1, int(confusion.counts.max()), n_classes)
    # Java's width: at an exact power of ten the widest number touches its neighbour.
    width = max(1, math.ceil(math.log10(largest))) + 1
    lines = ["".join(f"{cls:{width}d}" for cls in range(n_classes)), "-" * (width * n_classes + 1)]
    for actual, row in enumerate(confusion.counts.tolist()):
        cells = "".join(f"{count:{width}d}" for count in row)
        lines.append(f"{cells} | {actual} = {class_label(labels, actual)}")
    lines += ["", "Confusion matrix format: Actual (rowClass) predicted as (columnClass) N times"]
    return "\n".join(lines)


def confusion_listing(confusion: ConfusionMatrix, labels: Sequence[str]) -> str:
    """Return the counts with a label in front of every row, as confusionToString does."""
    width = max(max(map(len, labels), default=0) + 5, 10)
    header = f"   {'Predicted:':<{width}}   " + "".join(f"{cls:7d}" for cls in confusion.classes)
    lines = [header, "   Actual:"]
    for actual, row in enumerate(confusion.counts.tolist()):
        cells = "".join(f"{count:7d}" for count in row)
        lines.append(f"{actual:<3d}{class_label(labels, actual):<{width}} | {cells}")
    return "\n".join(lines) + "\n"


def class_label(labels: Sequence[str], cls: int) -> str:
    """Return the label of a class, its number where there is none."""
    return labels[cls] if cls < len(labels) else str(cls)


def _metric_lines(evaluation: Evaluation, n_classes: int) -> str:
    text = f"\n # of classes:    {n_classes}\n Accuracy:        {_number(evaluation.accuracy())}"
    if evaluation.top_n > 1:
        text += f"\n Top {evaluation.top_n} Accuracy:  {_number(evaluation.top_n_accuracy())}"
    lines = (
        ("Precision:", evaluation.precision(), evaluation.average_precision_num_classes_excluded()),
        ("Recall:", evaluation.recall(), evaluation.average_recall_num_classes_excluded()),
        ("F1 Score:", evaluation.f1(), evaluation.average_f1_num_classes_excluded()),
    )
    for name, value, excluded in lines:
        text += f"\n {name:<16} {_number(value)}"
        if n_classes > 2 and excluded:
            text += f"\t({excluded} class{'es' if excluded > 1 else ''} excluded from average)"
    return text


def _averaging_line(evaluation: Evaluation, n_classes: int) -> str:
    positive = evaluation.binary_positive_class
    if n_classes > 2 or positive is None:
        return f"\nPrecision, recall & F1: macro-averaged (equally weighted avg. of {n_classes} classes)"
    if n_classes < 2:
        return ""
    label = class_label(evaluation.labels_list, positive)
    return f'\nPrecision, recall & F1: reported for positive class (class {positive} - "{label}") only'


def _warnings(evaluation: Evaluation) -> str:
    text = ""
    hits = evaluation.true_positives()
    for metric, misses in (("precision", evaluation.false_positives()), ("recall", evaluation.false_negatives())):
        classes = [cls for cls in hits if hits[cls] == 0 and misses[cls] == 0]
        if not classes:
            continue
        was, plural = ("was", "") if len(classes) == 1 else ("were", "es")
        text += (
            f"Warning: {len(classes)} class{plural} {was} never predicted by the model and {was} excluded "
            f"from average {metric}"
        )
        if len(classes) <= evaluation.max_warning_classes_to_print:
            text += f"\nClasses excluded from average {metric}: {classes}\n"
    return text


def _number(value: float) -> str:
    return "NaN" if math.isnan(value) else f"{value:.4f}"
