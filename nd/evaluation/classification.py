"""Evaluation of classifiers: accuracy, precision, recall, F1 and the confusion matrix they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from backends.errors import DataError, ShapeError, check_choice
from nd.arguments import Count, Fraction, Natural, checked

from . import json_form, metrics, report
from .base import IEvaluation
from .confusion import ConfusionMatrix
from .metrics import Metric, Outcomes
from .rows import checked_cost, decide, paired_rows, top_n_hits
from .settings import Cells, check_mergeable


class Evaluation(IEvaluation):
    """Count right and wrong predictions, minibatch by minibatch.

    Parameters
    ----------
    labels : list of str or int, optional
        Names of the classes, or their number. Default: taken from the first minibatch.
    top_n : int
        A prediction also counts for `top_n_accuracy` when fewer than `top_n` classes got a higher probability.
    axis : int
        Axis of the classes in the arrays.
    binary_decision_threshold : float, optional
        With one or two columns: class 1 is predicted where its probability is above this.
    cost_array : array, optional, shape [1, C] or [C]
        The predicted class is argmax(cost_array * predictions).
    binary_positive_class : {1, 0, None}
        Of two classes the one that the metrics are of; with None they are means over both.

    Raises
    ------
    ConfigurationError
        A threshold that is no number from 0 to 1, or `top_n` less than 1.
    DataError
        A negative cost, fewer than two labels, or another positive class.
    ShapeError
        The cost array is not a row vector.

    Notes
    -----
    With two classes `precision`, `recall`, `f1` and the rates are those of class 1; otherwise the mean over the
    classes, without those where the metric is 0/0. Source: org.nd4j.evaluation.classification.Evaluation.
    Differs: a single label column between 0 and 1 is rounded, Java truncates products of it; the counters are always
    those of the confusion matrix; class counts must agree between minibatches.

    Examples
    --------
    >>> evaluation = Evaluation()
    >>> evaluation.eval([[1, 0], [0, 1], [0, 1]], [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    >>> evaluation.true_positives()
    {0: 1, 1: 1}
    >>> evaluation.recall()
    0.5
    """

    @checked
    def __init__(
        self,
        labels: Sequence[str] | Mapping[int, str] | Cells | None = None,
        top_n: Count = 1,
        *,
        axis: int = 1,
        binary_decision_threshold: Fraction | None = None,
        cost_array: object = None,
        binary_positive_class: int | None = 1,
    ) -> None:
        if binary_positive_class not in (0, 1, None):
            raise DataError(f"Evaluation: the positive class is 0, 1 or None, got {binary_positive_class}.")
        self.top_n = top_n
        self.axis = axis
        self.binary_decision_threshold = binary_decision_threshold
        self.cost_array = None if cost_array is None else checked_cost(cost_array)
        self.max_warning_classes_to_print = 16
        self.binary_positive_class = binary_positive_class
        self.labels_list: list[str] = []
        self._labels_of_data = False  # nobody gave them
        self.confusion: ConfusionMatrix | None = None
        self.top_n_counts = (0, 0)  # correct, total
        if labels is not None:
            self._set_labels(labels)

    def _set_labels(self, labels: Sequence[str] | Mapping[int, str] | int) -> None:
        if isinstance(labels, Mapping):  # in the order of their numbers, as in Java's constructor of a map
            if set(labels) != set(range(len(labels))):
                keys = f"0..{len(labels) - 1}"
                raise DataError(f"Evaluation: labels must have the keys {keys}, got {list(labels)}. Name each.")
            labels = [labels[number] for number in range(len(labels))]
        if isinstance(labels, int):
            self.binary_positive_class = self.binary_positive_class if labels == 2 else None
            labels = [str(cls) for cls in range(2 if labels == 1 else labels)]
        if len(labels) < 2:
            raise DataError(f"Evaluation: expected at least two labels, got {list(labels)}. Name both binary classes.")
        self.labels_list = list(labels)
        self.confusion = ConfusionMatrix(len(self.labels_list))

    # ---- counting

    def eval(self, labels: object, predictions: object, mask: object = None) -> None:
        """Count one minibatch.

        Parameters
        ----------
        labels : array, shape [N, C] or [N, C, T] (also [N, C, H, W], [N, C, D, H, W])
            One-hot or probabilities; the first of the largest is the actual class. C = 1 is a binary classifier.
        predictions : array, same shape
            The first of the largest is the predicted class; with C = 1, class 1 above 0.5.
        mask : array, optional, shape [N] or [N, 1]; [N, T]; [N, H, W] or [N, 1, H, W]
            Rows with 0 are left out. [N, 1] and [N, 1, 1, 1] stand for whole examples.

        Raises
        ------
        ShapeError
            Shapes that do not fit each other, or another number of classes than before.
        DTypeError
            Elements that are not real numbers.
        DataError
            NaN in the labels, or a single column with labels outside 0 to 1.
        NumericError
            NaN in the predictions: argmax would take it for the winner.
        """
        truth, guess = paired_rows(labels, predictions, mask, self.axis)
        if len(truth) == 0:
            return
        cost = None if self.cost_array is None else self.cost_array.ravel()
        actual, predicted = decide(truth, guess, self.binary_decision_threshold, cost)
        columns = guess.shape[1]
        self._confusion_for("Evaluation.eval", 2 if columns == 1 else columns).add_batch(actual, predicted)
        if self.top_n > 1 and columns > 1:
            correct, total = self.top_n_counts
            self.top_n_counts = (correct + top_n_hits(actual, guess, self.top_n), total + len(guess))

    @checked
    def merge(self, other: Evaluation) -> None:
        """Add the counts of another evaluation of the same task.

        Raises
        ------
        DTypeError
            The other one is of another class.
        DataError
            The settings that decide about rows differ: their counts do not add up.
        ShapeError
            The numbers of classes differ.
        """
        check_mergeable(self, other, ("top_n", "binary_decision_threshold", "cost_array"))
        if not self.labels_list:
            self.labels_list, self._labels_of_data = list(other.labels_list), other._labels_of_data
        if other.confusion is not None:
            self._confusion_for("Evaluation.merge", other.confusion.n_classes).merge(other.confusion)
        correct, total = self.top_n_counts
        self.top_n_counts = (correct + other.top_n_counts[0], total + other.top_n_counts[1])

    def _confusion_for(self, who: str, n_classes: int) -> ConfusionMatrix:
        expected = self.num_classes() or n_classes
        if n_classes != expected:
            raise ShapeError(
                f"{who}: expected {expected} classes, got {n_classes}. "
                "Use one Evaluation per output of the network, with its own labels."
            )
        if self.confusion is None:
            self.confusion = ConfusionMatrix(n_classes)
            if not self.labels_list:
                self.labels_list, self._labels_of_data = [str(cls) for cls in range(n_classes)], True
        return self.confusion

    def reset(self) -> None:
        self.confusion = None
        self.top_n_counts = (0, 0)
        if self._labels_of_data:
            self.labels_list, self._labels_of_data = [], False

    # ---- metrics

    def accuracy(self) -> float:
        """Return the share of right predictions. Raises DataError before the first `eval`, as every metric."""
        confusion = self._data("accuracy")
        return confusion.correct() / confusion.total()

    def top_n_accuracy(self) -> float:
        """Return the share of rows whose actual class is among the `top_n` most probable."""
        if self.top_n <= 1:
            return self.accuracy()
        correct, total = self.top_n_counts
        return correct / total if total else 0.0

    @checked
    def precision(self, cls: int | str | None = None, averaging: str | None = None) -> float:
        """Return tp / (tp + fp).

        Parameters
        ----------
        cls : int, optional
            The class; 0/0 is 0. Or an average, as Java's programs call it.
        averaging : {"macro", "micro"}, optional
            An average over all classes. Default with neither: class 1 of two, else "macro".

        Raises
        ------
        DataError
            Nothing was evaluated, or there is no such class.
        ChoiceError
            Any other `averaging`.
        """
        return self._score("precision", metrics.precision, cls, averaging)

    @checked
    def recall(self, cls: int | str | None = None, averaging: str | None = None) -> float:
        """Return tp / (tp + fn). Arguments and errors as `precision`."""
        return self._score("recall", metrics.recall, cls, averaging)

    @checked
    def f1(self, cls: int | str | None = None, averaging: str | None = None) -> float:
        """Return the harmonic mean of precision and recall. Arguments and errors as `precision`."""
        return self.f_beta(1.0, cls, averaging)

    @checked
    def f_beta(self, beta: float, cls: int | str | None = None, averaging: str | None = None) -> float:
        """Return (1 + beta^2) * precision * recall / (beta^2 * precision + recall).

        Arguments and errors as `precision`, and one difference: with two classes every average is the value of
        class 1, as in Java.
        """
        if isinstance(cls, str):
            cls, averaging = None, cls
        if cls is None and self._data("f_beta").n_classes == 2:
            check_choice("Evaluation.f_beta", "averaging", averaging or "macro", metrics.AVERAGES)
            cls = 1 if averaging is not None or self.binary_positive_class is None else self.binary_positive_class
        return self._score("f_beta", partial(metrics.f_beta, beta=beta), cls, averaging)

    @checked
    def g_measure(self, cls: int | str | None = None, averaging: str | None = None) -> float:
        """Return sqrt(precision * recall). Arguments and errors as `precision`, default "macro"."""
        return self._score("g_measure", metrics.g_measure, cls, averaging or "macro")

    @checked
    def matthews_correlation(self, cls: int | str | None = None, averaging: str | None = None) -> float:
        """Return the binary Matthews correlation, NaN for 0/0. Arguments and errors as `precision`, default "macro"."""
        return self._score("matthews_correlation", metrics.matthews_correlation, cls, averaging or "macro")

    @checked
    def false_positive_rate(self, cls: int | str | None = None, averaging: str | None = None) -> float:
        """Return fp / (fp + tn). Arguments and errors as `precision`."""
        return self._score("false_positive_rate", metrics.false_positive_rate, cls, averaging)

    @checked
    def false_negative_rate(self, cls: int | str | None = None, averaging: str | None = None) -> float:
        """Return fn / (fn + tp). Arguments and errors as `precision`."""
        return self._score("false_negative_rate", metrics.false_negative_rate, cls, averaging)

    def false_alarm_rate(self) -> float:
        """Return the mean of false positive and false negative rate."""
        return (self.false_positive_rate() + self.false_negative_rate()) / 2.0

    METRICS: ClassVar = {
        "accuracy": accuracy,
        "f1": f1,
        "gmeasure": g_measure,
        "mcc": matthews_correlation,
        "precision": precision,
        "recall": recall,
    }

    def average_precision_num_classes_excluded(self) -> int:
        """Return the number of classes that have no precision (0/0) and are not in its macro average."""
        return self._excluded(metrics.precision)

    def average_recall_num_classes_excluded(self) -> int:
        """Return the number of classes that have no recall (0/0) and are not in its macro average."""
        return self._excluded(metrics.recall)

    def average_f1_num_classes_excluded(self) -> int:
        """Return the number of classes that have no F1 and are not in its macro average."""
        return self._excluded(partial(metrics.f_beta, beta=1.0))

    # ---- counts

    def true_positives(self) -> dict[int, int]:
        """Return per class the number of times that it was predicted and right."""
        return {cls: o.tp for cls, o in enumerate(self._outcomes())}

    def false_positives(self) -> dict[int, int]:
        """Return per class the number of times that it was predicted and wrong."""
        return {cls: o.fp for cls, o in enumerate(self._outcomes())}

    def true_negatives(self) -> dict[int, int]:
        """Return per class the number of times that it was neither actual nor predicted."""
        return {cls: o.tn for cls, o in enumerate(self._outcomes())}

    def false_negatives(self) -> dict[int, int]:
        """Return per class the number of times that it was missed."""
        return {cls: o.fn for cls, o in enumerate(self._outcomes())}

    def positive(self) -> dict[int, int]:
        """Return per class the number of times that it occurred."""
        return {cls: o.tp + o.fn for cls, o in enumerate(self._outcomes())}

    def negative(self) -> dict[int, int]:
        """Return per class the number of times that another one occurred."""
        return {cls: o.tn + o.fp for cls, o in enumerate(self._outcomes())}

    @checked
    def class_count(self, cls: int) -> int:
        """Return how often class `cls` occurred. Raises DataError as `precision`."""
        return self._data("class_count").get_actual_total(cls)

    def num_classes(self) -> int:
        """Return the number of classes, 0 while it is unknown."""
        return len(self.labels_list) or (0 if self.confusion is None else self.confusion.n_classes)

    @property
    def num_row_counter(self) -> int:
        """The number of rows evaluated, without the masked ones."""
        return 0 if self.confusion is None else self.confusion.total()

    def get_num_row_counter(self) -> int:
        """Return `num_row_counter`."""
        return self.num_row_counter

    @checked
    def get_class_label(self, cls: Natural) -> str:
        """Return the name of class `cls`."""
        return report.class_label(self.labels_list, cls)

    # ---- text

    @checked
    def stats(self, suppress_warnings: bool = False, include_confusion: bool | None = None) -> str:
        """Return the report that Java prints.

        Parameters
        ----------
        suppress_warnings : bool
            Leave out the lines about classes that were never predicted or never occurred.
        include_confusion : bool, optional
            Whether the confusion matrix is part of it. Default: up to 20 classes.
        """
        return report.stats_text(self, suppress_warnings, include_confusion)

    def confusion_matrix(self) -> str:
        """Return the confusion matrix as the table that `stats` shows."""
        return report.confusion_table(self._data("confusion_matrix"), self.labels_list)

    def confusion_to_string(self) -> str:
        """Return the confusion matrix as a table with the labels in front."""
        return report.confusion_listing(self._data("confusion_to_string"), self.labels_list)

    def to_json(self) -> str:
        return json_form.write(self)

    @classmethod
    @checked
    def from_json(cls, text: str | bytes) -> Evaluation:
        evaluation = cls()
        json_form.read_into(evaluation, text)
        return evaluation

    # ---- shared

    def _data(self, method: str) -> ConfusionMatrix:
        if self.confusion is None or self.num_row_counter == 0:
            raise DataError(f"Evaluation.{method}: nothing has been evaluated, got 0 rows. Call eval first.")
        return self.confusion

    def _outcomes(self) -> list[Outcomes]:
        return [] if self.confusion is None else metrics.outcomes(self.confusion)

    def _score(self, method: str, metric: Metric, cls: int | str | None, averaging: str | None) -> float:
        per_class = metrics.outcomes(self._data(method))
        if isinstance(cls, str):
            cls, averaging = None, cls
        if cls is None and averaging is None and len(per_class) == 2:
            cls = self.binary_positive_class
        if cls is None:
            return metrics.average(f"Evaluation.{method}", metric, per_class, averaging or "macro")
        if not 0 <= cls < len(per_class):
            raise DataError(f"Evaluation.{method}: a class is 0 to {len(per_class) - 1}, got {cls}. Check the index.")
        return metric(per_class[cls]) or 0.0

    def _excluded(self, metric: Metric) -> int:
        return sum(metric(outcome) is None for outcome in self._outcomes())
