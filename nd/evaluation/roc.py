"""ROC of a binary classifier: areas and curves, exact or at fixed thresholds."""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from typing import Any, ClassVar, Self

from backends.errors import DataError, ShapeError, describe_shape
from nd.arguments import checked

from .base import IEvaluation
from .curves import PrecisionRecallCurve, RocCurve
from .java_text import shortest
from .json_fields import JAVA_LONG, Fields, java_class, number_to_json
from .roc_points import ExactPairs, ThresholdCounts
from .rows import as_binary, as_probabilities, paired_rows
from .settings import MOST_CELLS, Steps, check_mergeable

_COUNTS = ("threshold", "countTruePositive", "countFalsePositive")
NO_DATA = "ROC: No data available (no data has been performed)"


class AnyRoc(IEvaluation):
    """Shared by `ROC` and by evaluations of a ROC for every column: settings, and text of their fields."""

    NAME: ClassVar[str]  # of the class, in JSON

    @checked
    def __init__(self, threshold_steps: Steps = 0, roc_remove_redundant_pts: bool = True, *, axis: int = 1) -> None:
        self.threshold_steps = threshold_steps
        self.roc_remove_redundant_pts = roc_remove_redundant_pts
        self.axis = axis
        self.reset()

    def to_json(self) -> str:
        return json.dumps(self.fields())

    @abstractmethod
    def fields(self) -> dict[str, object]:
        """Return the JSON form, ready for ``json.dumps``."""

    @classmethod
    @checked
    def from_json(cls, text: str | bytes) -> Self:
        return cls.from_fields(Fields.parse(cls.NAME, "classification", text))

    @classmethod
    @abstractmethod
    def from_fields(cls, fields: Fields) -> Self:
        """Return the evaluation that the fields hold; raise FormatError if they do not."""


class ROC(AnyRoc):
    """Receiver operating characteristic of a binary classifier.

    Parameters
    ----------
    threshold_steps : int
        0 keeps every probability and is exact. Otherwise only counts at that many steps from 0 to 1 are kept, and
        the areas are approximate.
    roc_remove_redundant_pts : bool
        Leave points out of the exact curves that lie on a horizontal or vertical line between their neighbours.
    axis : int
        Axis of the one or two classes in the arrays.

    Raises
    ------
    ConfigurationError
        The number of steps is not 0 to 1000000.

    Notes
    -----
    Areas are by trapezoids, ``NaN`` where all examples are of one class. Exact, it holds 5 bytes for every float32
    probability; one read from JSON has curves and areas but no probabilities, so nothing can be added to it.
    Source: org.nd4j.evaluation.classification.ROC.
    Differs: examples of the same probability are one point of the exact curves, in Java an example is one and the area
    depends on their order; precision is tp / (tp + fp), in Java up to 2e-16 more or less; labels other than 0 and 1
    raise, Java cuts their sum off; thresholds of exact curves end at the probabilities where those leave 0 to 1.

    Examples
    --------
    >>> roc = ROC()
    >>> roc.eval([[0], [0], [1], [1]], [[0.1], [0.4], [0.35], [0.8]])
    >>> roc.calculate_auc()
    0.75
    >>> roc.get_precision_recall_curve().get_point_at_recall(1.0).threshold
    0.35
    """

    NAME: ClassVar = "ROC"

    @property
    def is_exact(self) -> bool:
        """Whether every probability is kept."""
        return self.threshold_steps == 0

    @property
    def example_count(self) -> int:
        """The number of examples, without the masked ones."""
        return self.count_actual_positive + self.count_actual_negative

    # ---- counting

    def eval(self, labels: object, predictions: object, mask: object = None) -> None:
        """Count one minibatch.

        Parameters
        ----------
        labels : array, shape [N, 1] or [N, 2], also [N, 1, T] and so on
            0 or 1; of two columns the second tells.
        predictions : array, same shape
            The probability of class 1, in the second of two columns. Exact, any score will do.
        mask : array, optional, shape [N] or [N, 1]; [N, T]; [N, H, W]
            Rows with 0 are left out.

        Raises
        ------
        ShapeError
            Shapes that do not fit each other, or more than two columns.
        DTypeError
            Elements that are not real numbers.
        DataError
            Labels other than 0 and 1; with thresholds, predictions outside 0 to 1; or it came out of JSON.
        NumericError
            NaN in the predictions.
        """
        truth, guess = paired_rows(labels, predictions, mask, self.axis, "ROC.eval")
        if truth.shape[1] > 2:
            raise ShapeError(
                f"ROC.eval: expected one or two columns, got {describe_shape(truth.shape)}. "
                "Use ROCMultiClass for more classes, ROCBinary for independent outputs."
            )
        scores = guess[:, -1] if self.is_exact else as_probabilities("ROC.eval", guess[:, -1])
        self.add(as_binary("ROC.eval", truth[:, -1]), scores)

    def add(self, positive: Any, scores: Any) -> None:
        """Count checked rows on the host: whether the label is 1 ``[rows]``, and its probability ``[rows]``."""
        self._check_growing("ROC.eval")
        self._counts.add(scores, positive)
        positives = int(positive.sum())
        self.count_actual_positive += positives
        self.count_actual_negative += len(positive) - positives
        self._forget_curves()

    @checked
    def merge(self, other: ROC) -> None:
        """Add the examples of another one; raise DataError if the thresholds differ, or one came out of JSON."""
        check_mergeable(self, other, ("threshold_steps",))
        self._check_growing("ROC.merge")
        other._check_growing("ROC.merge")
        self._counts.merge(other._counts)
        self.count_actual_positive += other.count_actual_positive
        self.count_actual_negative += other.count_actual_negative
        self._forget_curves()

    def reset(self) -> None:
        self._counts: Any = ExactPairs() if self.is_exact else ThresholdCounts(self.threshold_steps)
        self.count_actual_positive = self.count_actual_negative = 0
        self._forget_curves()

    def _forget_curves(self) -> None:
        self._roc_curve: RocCurve | None = None
        self._pr_curve: PrecisionRecallCurve | None = None

    def _check_growing(self, who: str) -> None:
        if self.is_exact and self.example_count != self._counts.count:
            raise DataError(
                f"{who}: an exact ROC out of JSON has no probabilities to add to, got {self.example_count} examples. "
                "Keep the evaluation itself, or use threshold_steps."
            )

    # ---- curves and areas

    def get_roc_curve(self) -> RocCurve:
        """Return the rates at every threshold. Raises DataError before the first `eval`, as all of these."""
        self._check_data("get_roc_curve")
        if self._roc_curve is None:
            self._roc_curve = self._counts.roc_curve(*self._sizes())
        return self._roc_curve

    def get_precision_recall_curve(self) -> PrecisionRecallCurve:
        """Return precision and recall at every threshold."""
        self._check_data("get_precision_recall_curve")
        if self._pr_curve is None:
            self._pr_curve = self._counts.pr_curve(*self._sizes())
        return self._pr_curve

    def calculate_auc(self) -> float:
        """Return the area under the ROC curve, NaN where all examples are of one class."""
        return self.get_roc_curve().calculate_auc()

    def calculate_auc_pr(self) -> float:
        """Return the area under the precision/recall curve; without positive examples NaN, with thresholds 0."""
        return self.get_precision_recall_curve().calculate_auprc()

    def _sizes(self) -> tuple[int, int, bool]:
        return self.count_actual_positive, self.count_actual_negative, self.roc_remove_redundant_pts

    def _check_data(self, method: str) -> None:
        if self.example_count == 0:
            raise DataError(f"ROC.{method}: nothing has been evaluated, got 0 examples. Call eval first.")

    METRICS: ClassVar = {"auprc": calculate_auc_pr, "auroc": calculate_auc}

    # ---- text

    def stats(self) -> str:
        if self.example_count == 0:
            return NO_DATA
        return (
            f"AUC (Area under ROC Curve):                {shortest(self.calculate_auc())}\n"
            f"AUPRC (Area under Precision/Recall Curve): {shortest(self.calculate_auc_pr())}"
        ) + threshold_note(self.threshold_steps)

    def fields(self) -> dict[str, object]:
        """Return the JSON form, ready for ``json.dumps``. Source: ROCSerializer."""
        fields: dict[str, object] = {
            "@class": java_class(self.NAME, "classification"),
            "thresholdSteps": self.threshold_steps,
            "countActualPositive": self.count_actual_positive,
            "countActualNegative": self.count_actual_negative,
            "counts": {} if isinstance(self._counts, ExactPairs) else _counts_to_json(self._counts),
        }
        if self.example_count:
            fields["auc"] = number_to_json(self.calculate_auc())
            fields["auprc"] = number_to_json(self.calculate_auc_pr())
        if self.example_count and self.is_exact:
            fields["rocCurve"] = self.get_roc_curve().fields()
            fields["prCurve"] = self.get_precision_recall_curve().fields()
        return fields | {
            "isExact": self.is_exact,
            "exampleCount": self.example_count,
            "rocRemoveRedundantPts": self.roc_remove_redundant_pts,
        }

    @classmethod
    @checked
    def from_fields(cls, fields: Fields) -> Self:
        steps, thresholds = fields.integer("thresholdSteps", 0, largest=MOST_CELLS), fields.value.get("counts")
        if steps and (not isinstance(thresholds, dict) or len(thresholds) != steps + 1):  # before so many are allocated
            raise fields.wrong(f"counts must be an object of {steps + 1} thresholds", thresholds)
        roc = cls(steps, fields.flag("rocRemoveRedundantPts", True))
        roc.count_actual_positive = fields.integer("countActualPositive", 0, largest=JAVA_LONG)
        roc.count_actual_negative = fields.integer("countActualNegative", 0, largest=JAVA_LONG)
        total, exact = fields.integer("exampleCount", 0), fields.flag("isExact", roc.is_exact)
        fields.check(total == roc.example_count, "exampleCount must be the sum of both counts", total)
        fields.check(exact == roc.is_exact, "isExact must be true if thresholdSteps is 0, else false", exact)
        if not roc.is_exact:
            _read_counts(roc._counts, thresholds, fields)
        elif total:
            roc._roc_curve = RocCurve.from_fields(fields.value.get("rocCurve"))
            roc._pr_curve = PrecisionRecallCurve.from_fields(fields.value.get("prCurve"))
        return roc


def threshold_note(steps: int) -> str:
    """Return the line about thresholds, in Java's words, nothing for exact ones."""
    note = (
        f"\n[Note: Thresholded AUC/AUPRC calculation used with {steps} steps); "
        "accuracy may reduced compared to exact mode]"
    )
    return note if steps else ""


def _counts_to_json(counts: ThresholdCounts) -> dict[str, object]:
    points = zip(counts.threshold.tolist(), counts.tp.tolist(), counts.fp.tolist(), strict=True)
    return {
        shortest(threshold): {"threshold": threshold, "countTruePositive": tp, "countFalsePositive": fp}
        for threshold, tp, fp in points
    }


def _read_counts(counts: ThresholdCounts, thresholds: Any, fields: Fields) -> None:
    expected = counts.threshold.tolist()
    for i, row in enumerate(thresholds.values()):
        threshold, tp, fp = (row.get(name) for name in _COUNTS) if isinstance(row, dict) else (None, None, None)
        valid = type(threshold) is float and math.isclose(threshold, expected[i], abs_tol=1e-12)
        if not valid or any(type(count) is not int or not 0 <= count <= JAVA_LONG for count in (tp, fp)):
            raise fields.wrong(f"counts must have two counts for the threshold {expected[i]}", row)
        counts.tp[i], counts.fp[i] = int(tp or 0), int(fp or 0)
