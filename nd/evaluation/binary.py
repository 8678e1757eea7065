"""Evaluation of independent binary outputs.

Counting is host work, four integers per output, so this module uses NumPy whatever the backend.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import ClassVar, Self

import numpy as np

from backends.errors import DataError, FormatError, ShapeError
from nd.arguments import checked
from nd.serde import array_to_json

from . import metrics
from .base import IEvaluation
from .java_text import fixed, shortest
from .json_fields import Fields, java_class
from .metrics import Outcomes
from .roc_binary import ROCBinary
from .rows import as_binary, output_rows, real_row
from .settings import Cells, Digits, Steps, check_mergeable

_COUNTS = ("countTruePositive", "countFalsePositive", "countTrueNegative", "countFalseNegative")


class EvaluationBinary(IEvaluation):
    """Count right and wrong decisions of independent outputs between 0 and 1.

    Parameters
    ----------
    decision_threshold : array, optional, shape [n] or [1, n]
        An output is taken for 1 above its threshold, 0 to 1. Default 0.5.
    size : int, optional
        The number of outputs. Default: taken from the first minibatch.
    roc_binary_steps : int, optional
        Also keep a `ROCBinary` of so many threshold steps, 0 for an exact one.
    labels : sequence of str, optional
        Names of the outputs, for the report.
    axis : int
        Axis of the outputs in the arrays.

    Raises
    ------
    ConfigurationError
        `size` is not 1 to 1000000, or `roc_binary_steps` not 0 to 1000000.
    DataError
        A threshold outside 0 to 1.
    ShapeError
        The thresholds are no row, or thresholds, labels and size differ in number.

    Notes
    -----
    A metric is NaN where it is 0/0, but for the false positive and false negative rates, which are 0 then. Averages are
    means over the outputs, NaN if one of them is.
    Source: org.nd4j.evaluation.classification.EvaluationBinary. Differs: labels other than 0 and 1 raise, Java cuts
    sums of products of them off; `reset` forgets all of the counts and the ROC, Java's the true positives.

    Examples
    --------
    >>> evaluation = EvaluationBinary()
    >>> evaluation.eval([[1, 0], [1, 1], [0, 1]], [[0.9, 0.2], [0.4, 0.7], [0.3, 0.1]])
    >>> evaluation.recall(0), evaluation.average_accuracy()
    (0.5, 0.6666666666666666)
    """

    @checked
    def __init__(
        self,
        decision_threshold: object = None,
        size: Cells | None = None,
        roc_binary_steps: Steps | None = None,
        *,
        labels: Sequence[str] | None = None,
        axis: int = 1,
    ) -> None:
        self.decision_threshold = None if decision_threshold is None else _checked_threshold(decision_threshold)
        self.roc_binary = None if roc_binary_steps is None else ROCBinary(roc_binary_steps, axis=axis)
        self.axis = axis
        self.labels: list[str] | None = None
        self._counts: np.ndarray | None = None  # [4, n]: true and false positives, true and false negatives
        if size is not None:
            self._add("EvaluationBinary", np.zeros((4, size), np.int64))
        self.set_label_names(labels)

    @checked
    def set_label_names(self, labels: Sequence[str] | None) -> None:
        """Name the outputs, for the report; raise ShapeError where they are not as many as there are."""
        names = None if labels is None else list(labels)
        if names is not None:
            self._check_size("EvaluationBinary.set_label_names", len(names))
        self.labels = names

    # ---- counting

    def eval(self, labels: object, predictions: object, mask: object = None) -> None:
        """Count one minibatch.

        Parameters
        ----------
        labels : array, shape [N, n] or [N, n, T] (also [N, n, H, W], [N, n, D, H, W])
            0 or 1.
        predictions : array, same shape
            Probabilities of 1.
        mask : array, optional, shape [N] or [N, 1]; [N, T]; [N, H, W]; or that of the labels
            Rows, or single labels, with 0 are left out.

        Raises
        ------
        ShapeError
            Shapes that do not fit each other, or another number of outputs than before.
        DTypeError
            Elements that are not real numbers.
        DataError
            Labels other than 0 and 1.
        NumericError
            NaN in the predictions.
        """
        who = "EvaluationBinary.eval"
        truth, guess, kept = output_rows(who, labels, predictions, mask, self.axis)
        if len(truth) == 0:
            return
        self._check_size(who, truth.shape[1])
        # Compared as Java does, in the type of the predictions.
        threshold = 0.5 if self.decision_threshold is None else self.decision_threshold.ravel()
        threshold = np.asarray(threshold, guess.dtype if guess.dtype.kind == "f" else np.float64)
        actual, predicted = as_binary(who, truth), guess > threshold
        cells = (actual & predicted, ~actual & predicted, ~actual & ~predicted, actual & ~predicted)
        counted = np.stack([(cell if kept is None else cell & kept).sum(axis=0) for cell in cells])
        if self.roc_binary is not None:
            self.roc_binary.add(truth, guess, kept)
        self._add(who, counted)

    def _check_size(self, who: str, size: int) -> None:
        known = self.num_labels()
        if known == -1 and self.labels is not None:
            known = len(self.labels)
        if known == -1 and self.decision_threshold is not None:
            known = self.decision_threshold.size
        if known not in (-1, size):
            raise ShapeError(
                f"{who}: expected {known} outputs, got {size}. "
                "Use one evaluation per output layer, with as many labels and thresholds as outputs."
            )

    def _add(self, who: str, counts: np.ndarray) -> None:
        self._check_size(who, counts.shape[1])
        self._counts = counts if self._counts is None else self._counts + counts

    @checked
    def merge(self, other: EvaluationBinary) -> None:
        """Add the counts of another one.

        Raises
        ------
        DTypeError
            It is of another class.
        DataError
            The decision thresholds differ, or one has a ROC.
        ShapeError
            It has other outputs.
        """
        check_mergeable(self, other, ("decision_threshold",))
        if (self.roc_binary is None) != (other.roc_binary is None):
            raise DataError(
                "EvaluationBinary.merge: both or none must have a ROC, "
                f"got roc_binary {self.roc_binary!r:.20} and {other.roc_binary!r:.20}. Create both alike."
            )
        if other._counts is None:
            return
        self._check_size("EvaluationBinary.merge", other.num_labels())
        if self.roc_binary is not None and other.roc_binary is not None:
            self.roc_binary.merge(other.roc_binary)
        self._add("EvaluationBinary.merge", other._counts)

    def reset(self) -> None:
        self._counts = None
        if self.roc_binary is not None:
            self.roc_binary.reset()

    # ---- counts

    def num_labels(self) -> int:
        """Return the number of outputs, -1 while it is unknown."""
        return -1 if self._counts is None else self._counts.shape[1]

    @checked
    def true_positives(self, output: int) -> int:
        """Return how often 1 was predicted and right. Raises DataError if there is no such output, as all of these."""
        return self._outcomes(output).tp

    @checked
    def false_positives(self, output: int) -> int:
        """Return how often 1 was predicted and wrong."""
        return self._outcomes(output).fp

    @checked
    def true_negatives(self, output: int) -> int:
        """Return how often 0 was predicted and right."""
        return self._outcomes(output).tn

    @checked
    def false_negatives(self, output: int) -> int:
        """Return how often 0 was predicted and wrong."""
        return self._outcomes(output).fn

    @checked
    def total_count(self, output: int) -> int:
        """Return the number of labels, without the masked ones."""
        return sum(self._outcomes(output))

    def _outcomes(self, output: int) -> Outcomes:
        if self._counts is None:
            raise DataError("EvaluationBinary: nothing has been evaluated, got 0 rows. Call eval first.")
        if not 0 <= output < self.num_labels():
            raise DataError(
                f"EvaluationBinary: an output is 0 to {self.num_labels() - 1}, got {output}. Check the index."
            )
        tp, fp, tn, fn = self._counts[:, output].tolist()
        return Outcomes(tp, fp, fn, tn)

    # ---- metrics

    @checked
    def accuracy(self, output: int) -> float:
        """Return the share of right predictions."""
        o = self._outcomes(output)
        return (o.tp + o.tn) / sum(o) if sum(o) else math.nan

    @checked
    def precision(self, output: int) -> float:
        """Return tp / (tp + fp)."""
        return _or_nan(metrics.precision(self._outcomes(output)))

    @checked
    def recall(self, output: int) -> float:
        """Return tp / (tp + fn)."""
        return _or_nan(metrics.recall(self._outcomes(output)))

    @checked
    def f1(self, output: int) -> float:
        """Return the harmonic mean of precision and recall."""
        return self.f_beta(1.0, output)

    @checked
    def f_beta(self, beta: float, output: int) -> float:
        """Return (1 + beta^2) * precision * recall / (beta^2 * precision + recall), 0 where one of both is 0."""
        o = self._outcomes(output)
        return 0.0 if o.tp == 0 and o.fp + o.fn else _or_nan(metrics.f_beta(o, beta))

    @checked
    def g_measure(self, output: int) -> float:
        """Return sqrt(precision * recall)."""
        return math.sqrt(self.precision(output) * self.recall(output))

    @checked
    def matthews_correlation(self, output: int) -> float:
        """Return the Matthews correlation."""
        return metrics.matthews_correlation(self._outcomes(output))

    @checked
    def false_positive_rate(self, output: int) -> float:
        """Return fp / (fp + tn), 0 for 0/0."""
        return metrics.false_positive_rate(self._outcomes(output))

    @checked
    def false_negative_rate(self, output: int) -> float:
        """Return fn / (fn + tp), 0 for 0/0."""
        return metrics.false_negative_rate(self._outcomes(output))

    @checked
    def false_alarm_rate(self, output: int) -> float:
        """Return the mean of false positive and false negative rate."""
        return (self.false_positive_rate(output) + self.false_negative_rate(output)) / 2.0

    def _average(self, metric: Callable[[int], float]) -> float:
        outputs = max(1, self.num_labels())
        return sum(map(metric, range(outputs))) / outputs

    def average_accuracy(self) -> float:
        """Return the mean accuracy over the outputs."""
        return self._average(self.accuracy)

    def average_precision(self) -> float:
        """Return the mean precision over the outputs."""
        return self._average(self.precision)

    def average_recall(self) -> float:
        """Return the mean recall over the outputs."""
        return self._average(self.recall)

    def average_f1(self) -> float:
        """Return the mean F1 over the outputs."""
        return self._average(self.f1)

    def average_g_measure(self) -> float:
        """Return the mean G-measure over the outputs."""
        return self._average(self.g_measure)

    def average_matthews_correlation(self) -> float:
        """Return the mean Matthews correlation over the outputs."""
        return self._average(self.matthews_correlation)

    def average_false_alarm_rate(self) -> float:
        """Return the mean false alarm rate over the outputs."""
        return self._average(self.false_alarm_rate)

    METRICS: ClassVar = {
        "accuracy": average_accuracy,
        "f1": average_f1,
        "far": average_false_alarm_rate,
        "gmeasure": average_g_measure,
        "mcc": average_matthews_correlation,
        "precision": average_precision,
        "recall": average_recall,
    }
    MINIMIZED: ClassVar = frozenset({"far"})

    # ---- text

    @checked
    def stats(self, print_precision: Digits = 4) -> str:
        """Return the table that Java prints."""
        width = max([15, *map(len, self.labels or [])]) + 5
        text = f"{'Label':<{width}}{'Accuracy':<12}{'F1':<12}{'Precision':<12}{'Recall':<12}"
        text += f"{'Total':<8}{'TP':<7}{'TN':<7}{'FP':<7}{'FN':<7}"
        text += "" if self.roc_binary is None else f"{'AUC':<12}"
        if self._counts is None:
            return text + "\n-- No Data --\n"
        for output in range(self.num_labels()):
            o = self._outcomes(output)
            numbers = [metric(output) for metric in (self.accuracy, self.f1, self.precision, self.recall)]
            areas = [] if self.roc_binary is None else [self.roc_binary.calculate_auc(output)]
            text += f"\n{str(output) if self.labels is None else self.labels[output]:<{width}}"
            text += "".join(f"{fixed(number, print_precision):<12}" for number in numbers)
            text += f"{sum(o):<8}{o.tp:<7}{o.tn:<7}{o.fp:<7}{o.fn:<7}"
            text += "".join(f"{fixed(area, print_precision):<12}" for area in areas)
        if self.decision_threshold is not None:
            texts = [shortest(float(str(value))) for value in self.decision_threshold.ravel().astype(np.float32)]
            text += f"\nPer-output decision thresholds: [{', '.join(texts)}]"
        return text

    def to_json(self) -> str:
        counts = [None] * 4 if self._counts is None else self._counts.tolist()
        threshold = self.decision_threshold
        start = {"@class": java_class("EvaluationBinary", "classification"), "axis": self.axis}
        end = {
            "rocBinary": None if self.roc_binary is None else self.roc_binary.fields(),
            "labels": self.labels,
            "decisionThreshold": None if threshold is None else array_to_json(threshold),
        }
        return json.dumps(start | dict(zip(_COUNTS, counts, strict=True)) | end)

    @classmethod
    @checked
    def from_json(cls, text: str | bytes) -> Self:
        fields = Fields.parse("EvaluationBinary", "classification", text)
        threshold = fields.row("decisionThreshold", "a row", _checked_threshold)
        evaluation = cls(threshold, axis=fields.integer("axis", 1))
        columns = [fields.integers(name, nullable=True) for name in _COUNTS]
        sizes = {-1 if column is None else len(column) for column in columns}
        fields.check(len(sizes) == 1, f"{', '.join(_COUNTS)} must have one length", sorted(sizes))
        roc = fields.value.get("rocBinary")
        try:
            if sizes != {-1}:
                evaluation._add(fields.who, np.array(columns, np.int64))
            evaluation.set_label_names(fields.texts("labels"))
        except ShapeError as error:
            raise FormatError(f"{error} {fields.remedy}") from error
        if roc is not None:
            evaluation.roc_binary = ROCBinary.from_fields(Fields("ROCBinary", "classification", roc))
        return evaluation


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _checked_threshold(decision_threshold: object) -> np.ndarray:
    threshold = real_row("EvaluationBinary", "decision_threshold", decision_threshold)
    threshold = threshold if threshold.dtype.kind == "f" else threshold.astype(np.float64)
    if not ((threshold >= 0) & (threshold <= 1)).all():
        raise DataError(
            f"EvaluationBinary: a decision threshold is 0 to 1, got {threshold.tolist()}. Give each as one."
        )
    return threshold
