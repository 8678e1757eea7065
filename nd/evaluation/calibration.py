"""Evaluation of how far probabilities of a classifier mean what they say.

Counting is host work, a few integers per bin, so this module uses NumPy whatever the backend.
"""

from __future__ import annotations

import json
from typing import ClassVar, Self

import numpy as np

from backends.errors import DataError, ShapeError
from nd.arguments import checked
from nd.serde import array_to_json

from .base import IEvaluation
from .histograms import Histogram, ReliabilityDiagram
from .json_fields import Fields, java_class, matrix_to_json
from .rows import as_binary, as_probabilities, paired_rows
from .settings import MOST_CELLS, Cells, check_mergeable

# Attribute -> JSON name, in Java's order. [bins, C] but for those that end in "overall" or "each_class": [1, ...]
_ARRAYS = {
    "bin_pos_count": "rDiagBinPosCount",
    "bin_total_count": "rDiagBinTotalCount",
    "bin_sum_predictions": "rDiagBinSumPredictions",
    "label_counts_each_class": "labelCountsEachClass",
    "prediction_counts_each_class": "predictionCountsEachClass",
    "residual_plot_overall": "residualPlotOverall",
    "residual_plot_by_label_class": "residualPlotByLabelClass",
    "prob_histogram_overall": "probHistogramOverall",
    "prob_histogram_by_label_class": "probHistogramByLabelClass",
}
_INTEGERS = frozenset(list(_ARRAYS)[:2] + list(_ARRAYS)[3:5])  # int64; the rest float64, as in Java


class EvaluationCalibration(IEvaluation):
    """Reliability diagrams, residual plots and histograms of probabilities, class by class.

    Parameters
    ----------
    reliability_diag_num_bins : int
        Bins of the reliability diagrams, of equal width from 0 to 1.
    histogram_num_bins : int
        Bins of residual plots and histograms.
    exclude_empty_bins : bool
        Leave bins without predictions out of the reliability diagrams.
    axis : int
        Axis of the classes in the arrays.

    Raises
    ------
    ConfigurationError
        The number of bins is not 1 to 1000000.

    Notes
    -----
    Bin j holds probabilities from j * (1 / bins) to less than the start of the next one, compared in the type of the
    predictions; the last one also holds 1. Source: org.nd4j.evaluation.classification.EvaluationCalibration.
    Differs: `merge` and `reset` are of everything, Java's of the reliability diagrams only (and a merge into an empty
    one counts twice); labels other than 0 and 1, and predictions outside 0 to 1, raise.

    Examples
    --------
    >>> evaluation = EvaluationCalibration(reliability_diag_num_bins=2, histogram_num_bins=4)
    >>> evaluation.eval([[1, 0], [0, 1], [0, 1]], [[0.875, 0.125], [0.375, 0.625], [0.75, 0.25]])
    >>> diagram = evaluation.get_reliability_diagram(1)
    >>> diagram.mean_predicted_value_x.tolist(), diagram.fraction_positives_y.tolist()
    ([0.1875, 0.625], [0.5, 1.0])
    >>> evaluation.get_residual_plot_all_classes().bin_counts.tolist()
    [2, 2, 0, 2]
    """

    @checked
    def __init__(
        self,
        reliability_diag_num_bins: Cells = 10,
        histogram_num_bins: Cells = 50,
        exclude_empty_bins: bool = True,
        *,
        axis: int = 1,
    ) -> None:
        self.reliability_diag_num_bins = reliability_diag_num_bins
        self.histogram_num_bins = histogram_num_bins
        self.exclude_empty_bins = exclude_empty_bins
        self.axis = axis
        self._arrays: dict[str, np.ndarray] | None = None

    def _shapes(self, classes: int) -> dict[str, tuple[int, int]]:
        bins, fine = self.reliability_diag_num_bins, self.histogram_num_bins
        of_bins, of_classes, row, fine_by_class = (bins, classes), (1, classes), (1, fine), (fine, classes)
        shapes = [of_bins] * 3 + [of_classes] * 2 + [row, fine_by_class] * 2
        return dict(zip(_ARRAYS, shapes, strict=True))

    # ---- counting

    def eval(self, labels: object, predictions: object, mask: object = None) -> None:
        """Count one minibatch.

        Parameters
        ----------
        labels : array, shape [N, C] or [N, C, T] (also [N, C, H, W], [N, C, D, H, W])
            0 or 1.
        predictions : array, same shape
            Probabilities of the classes.
        mask : array, optional, shape [N] or [N, 1]; [N, T]; [N, H, W]
            Rows with 0 are left out.

        Raises
        ------
        ShapeError
            Shapes that do not fit each other, or another number of classes than before.
        DTypeError
            Elements that are not real numbers.
        DataError
            Labels other than 0 and 1, or predictions outside 0 to 1.
        NumericError
            NaN in the predictions.
        """
        who = "EvaluationCalibration.eval"
        truth, guess = paired_rows(labels, predictions, mask, self.axis, who)
        if len(truth) == 0:
            return
        positive, guess = as_binary(who, truth), as_probabilities(who, guess)
        arrays, classes = self._arrays_for(who, truth.shape[1]), truth.shape[1]
        bins, total = _binned(guess, self.reliability_diag_num_bins), np.ones_like(positive)
        arrays["bin_pos_count"] += _counted(bins, positive, self.reliability_diag_num_bins)
        arrays["bin_total_count"] += _counted(bins, total, self.reliability_diag_num_bins)
        arrays["bin_sum_predictions"] += _counted(bins, guess, self.reliability_diag_num_bins)
        arrays["label_counts_each_class"] += positive.sum(axis=0)
        arrays["prediction_counts_each_class"] += np.bincount(guess.argmax(axis=1), minlength=classes)
        residuals = np.abs(positive.astype(guess.dtype) - guess)
        for name, values in (("residual_plot", residuals), ("prob_histogram", guess)):
            cells = _binned(values, self.histogram_num_bins)
            arrays[f"{name}_overall"] += np.bincount(cells.ravel(), minlength=self.histogram_num_bins)
            arrays[f"{name}_by_label_class"] += _counted(cells, positive, self.histogram_num_bins)

    def _arrays_for(self, who: str, classes: int) -> dict[str, np.ndarray]:
        if self._arrays is None:
            shapes = self._shapes(classes).items()
            self._arrays = {
                name: np.zeros(shape, np.int64 if name in _INTEGERS else np.float64) for name, shape in shapes
            }
        if classes != self.num_classes():
            raise ShapeError(
                f"{who}: expected {self.num_classes()} classes, got {classes}. "
                "Use one EvaluationCalibration per output of the network."
            )
        return self._arrays

    @checked
    def merge(self, other: EvaluationCalibration) -> None:
        check_mergeable(self, other, ())
        mine = (self.reliability_diag_num_bins, self.histogram_num_bins)
        theirs = (other.reliability_diag_num_bins, other.histogram_num_bins)
        if mine != theirs:
            raise DataError(
                f"EvaluationCalibration.merge: both must have the same bins, got {mine} and {theirs}. "
                "Create both alike."
            )
        if other._arrays is None:
            return
        arrays = self._arrays_for("EvaluationCalibration.merge", other.num_classes())
        for name, counts in other._arrays.items():
            arrays[name] += counts

    def reset(self) -> None:
        self._arrays = None

    # ---- results

    def num_classes(self) -> int:
        """Return the number of classes, -1 while it is unknown."""
        return -1 if self._arrays is None else self._arrays["bin_total_count"].shape[1]

    @checked
    def get_reliability_diagram(self, cls: int) -> ReliabilityDiagram:
        """Return the frequency of class `cls` over its predicted probability.

        Raises
        ------
        DataError
            Nothing was evaluated, or there is no such class; as all of these.
        """
        total, positive, predicted = self._column(cls, "bin_total_count", "bin_pos_count", "bin_sum_predictions")
        shown = total > 0 if self.exclude_empty_bins else slice(None)
        with np.errstate(invalid="ignore"):  # an empty bin has no mean
            means, fractions = predicted[shown] / total[shown], positive[shown] / total[shown]
        return ReliabilityDiagram(f"Reliability Diagram: Class {cls}", means, fractions)

    def get_label_counts_each_class(self) -> np.ndarray:
        """Return the number of occurrences of the classes, shape [C]."""
        return self._data()["label_counts_each_class"][0].copy()

    def get_prediction_counts_each_class(self) -> np.ndarray:
        """Return the number of times that the classes were the most probable one, shape [C]."""
        return self._data()["prediction_counts_each_class"][0].copy()

    def get_residual_plot_all_classes(self) -> Histogram:
        """Return the histogram of abs(label - probability) of every class and example."""
        counts = self._data()["residual_plot_overall"][0]
        return Histogram("Residual Plot - All Predictions and Classes", 0.0, 1.0, counts)

    @checked
    def get_residual_plot(self, cls: int) -> Histogram:
        """Return the histogram of abs(label - probability) of class `cls`, of the examples of that class."""
        (counts,) = self._column(cls, "residual_plot_by_label_class")
        return Histogram(f"Residual Plot - Predictions for Label Class {cls}", 0.0, 1.0, counts)

    def get_probability_histogram_all_classes(self) -> Histogram:
        """Return the histogram of the probabilities of every class and example."""
        counts = self._data()["prob_histogram_overall"][0]
        return Histogram("Network Probabilities Histogram - All Predictions and Classes", 0.0, 1.0, counts)

    @checked
    def get_probability_histogram(self, cls: int) -> Histogram:
        """Return the histogram of the probability of class `cls`, of the examples of that class."""
        (counts,) = self._column(cls, "prob_histogram_by_label_class")
        title = f"Network Probabilities Histogram - P(class {cls}) - Data Labelled Class {cls} Only"
        return Histogram(title, 0.0, 1.0, counts)

    @checked
    def expected_calibration_error(self, cls: int) -> float:
        """Return the mean distance of the reliability diagram of class `cls` from the diagonal.

        Notes
        -----
        ``sum over bins of |positives - sum of predictions| / examples``. Source: Naeini et al. (2015), Obtaining
        Well Calibrated Probabilities Using Bayesian Binning, for one class against the rest. Not in Deeplearning4j.
        """
        total, positive, predicted = self._column(cls, "bin_total_count", "bin_pos_count", "bin_sum_predictions")
        return float(np.abs(positive - predicted).sum() / total.sum())

    def average_expected_calibration_error(self) -> float:
        """Return the mean of `expected_calibration_error` over the classes."""
        classes = max(1, self.num_classes())
        return sum(map(self.expected_calibration_error, range(classes))) / classes

    METRICS: ClassVar = {"ece": average_expected_calibration_error}
    MINIMIZED: ClassVar = frozenset({"ece"})

    def _data(self) -> dict[str, np.ndarray]:
        if self._arrays is None:
            raise DataError("EvaluationCalibration: nothing has been evaluated, got 0 rows. Call eval first.")
        return self._arrays

    def _column(self, cls: int, *names: str) -> list[np.ndarray]:
        arrays = self._data()
        if not 0 <= cls < self.num_classes():
            raise DataError(
                f"EvaluationCalibration: a class is 0 to {self.num_classes() - 1}, got {cls}. Check the index."
            )
        return [arrays[name][:, cls] for name in names]

    # ---- text

    def stats(self) -> str:
        return f"EvaluationCalibration(nBins={self.reliability_diag_num_bins})"

    def to_json(self) -> str:
        fields = {
            "@class": java_class("EvaluationCalibration", "classification"),
            "reliabilityDiagNumBins": self.reliability_diag_num_bins,
            "histogramNumBins": self.histogram_num_bins,
            "excludeEmptyBins": self.exclude_empty_bins,
            "axis": self.axis,
        }
        for name, java in _ARRAYS.items():
            array = None if self._arrays is None else self._arrays[name]
            as_row = name.endswith(("overall", "each_class"))
            fields[java] = None if array is None else array_to_json(array) if as_row else matrix_to_json(array)
        return json.dumps(fields)

    @classmethod
    @checked
    def from_json(cls, text: str | bytes) -> Self:
        fields = Fields.parse("EvaluationCalibration", "classification", text)
        bins = (
            fields.integer("reliabilityDiagNumBins", 10, largest=MOST_CELLS),
            fields.integer("histogramNumBins", 50, largest=MOST_CELLS),
        )
        fields.check(min(bins) > 0, "reliabilityDiagNumBins and histogramNumBins must be at least 1", bins)
        evaluation = cls(*bins, fields.flag("excludeEmptyBins", True), axis=fields.integer("axis", 1))
        first = fields.array("rDiagBinTotalCount")
        if first is None:
            return evaluation
        fields.check(first.ndim == 2 and first.size > 0, "rDiagBinTotalCount must be a matrix", list(first.shape))
        arrays, shapes = {}, evaluation._shapes(first.shape[1])
        for name, java in _ARRAYS.items():  # nothing is as large as the bins say before the counts are so
            counts = fields.array(java, shapes[name])
            fields.check(counts is not None and (counts >= 0).all(), f"{java} must be an array of counts", counts)
            arrays[name] = counts.astype(np.int64 if name in _INTEGERS else np.float64)
        evaluation._arrays = arrays
        return evaluation


def _binned(values: np.ndarray, bins: int) -> np.ndarray:
    edges = (np.arange(bins) * (1.0 / bins)).astype(values.dtype)
    return np.searchsorted(edges, values, side="right") - 1


def _counted(cells: np.ndarray, weights: np.ndarray, bins: int) -> np.ndarray:
    """Sum weights ``[rows, C]`` over the rows of a bin: ``[bins, C]``."""
    classes = cells.shape[1]
    flat = np.bincount((cells * classes + np.arange(classes)).ravel(), weights.ravel(), minlength=bins * classes)
    sums = flat.reshape(bins, classes)
    return sums.astype(np.int64) if weights.dtype.kind == "b" else sums
