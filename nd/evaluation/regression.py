"""Evaluation of regression: errors and correlation, column by column."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import ClassVar, Self

from backends.errors import ConfigurationError, DataError, ShapeError
from nd.arguments import checked

from .base import IEvaluation
from .java_text import scientific
from .json_fields import Fields, java_class
from .regression_sums import ColumnSums
from .rows import output_rows
from .settings import MOST_DIGITS, Cells, Digits, check_mergeable


class RegressionEvaluation(IEvaluation):
    """Errors and correlation of predictions, column by column.

    Parameters
    ----------
    column_names : sequence of str or int, optional
        Names of the columns, or their number. Default: taken from the first minibatch, "col_0" and so on.
    precision : int
        Digits behind the point in the report.
    axis : int
        Axis of the columns in the arrays.

    Raises
    ------
    ConfigurationError
        No columns or more than a million, or a precision that is not 0 to 100.

    Notes
    -----
    A column without examples has NaN. Averages are means over the columns.
    Source: org.nd4j.evaluation.regression.RegressionEvaluation. Differs: variances are summed about the mean, in
    float64, Java takes the difference of large sums; `relative_squared_error` is infinite where the labels do not
    vary at all, Java's where their squared deviations sum up to less than 1e-5; `merge` keeps all sums.

    Examples
    --------
    >>> evaluation = RegressionEvaluation(["height"])
    >>> evaluation.eval([[1.0], [2.0], [3.0]], [[1.5], [2.0], [2.5]])
    >>> evaluation.mean_absolute_error(0), evaluation.r_squared(0)
    (0.3333333333333333, 0.75)
    >>> print(evaluation.stats())
    Column     MSE            MAE            RMSE           RSE            PC             R^2
    height     1.66667e-01    3.33333e-01    4.08248e-01    2.50000e-01    1.00000e+00    7.50000e-01
    """

    @checked
    def __init__(
        self, column_names: Sequence[str] | Cells | None = None, precision: Digits = 5, *, axis: int = 1
    ) -> None:
        names = _numbered(column_names) if isinstance(column_names, int) else column_names
        if names is not None and not names:
            raise ConfigurationError("RegressionEvaluation: expected at least one column, got none. Name each column.")
        self.column_names = None if names is None else list(names)
        self.precision, self.axis = precision, axis
        self._names_of_data = False  # whether nobody gave them
        self._sums = None if self.column_names is None else ColumnSums(len(self.column_names))

    # ---- counting

    def eval(self, labels: object, predictions: object, mask: object = None) -> None:
        """Count one minibatch.

        Parameters
        ----------
        labels, predictions : array, shape [N, n] or [N, n, T] (also [N, n, H, W], [N, n, D, H, W])
        mask : array, optional, shape [N] or [N, 1]; [N, T]; [N, H, W]; or that of the labels
            Rows, or single values, with 0 are left out.

        Raises
        ------
        ShapeError
            Shapes that do not fit each other, or another number of columns than before.
        DTypeError
            Elements that are not real numbers.
        DataError
            NaN in labels that are not masked.
        NumericError
            NaN in the predictions.
        """
        who = "RegressionEvaluation.eval"
        truth, guess, kept = output_rows(who, labels, predictions, mask, self.axis)
        if len(truth):
            self._sums_for(who, truth.shape[1]).add(ColumnSums.of(truth, guess, kept))

    def _sums_for(self, who: str, columns: int) -> ColumnSums:
        if self.column_names is None:
            self.column_names, self._names_of_data = _numbered(columns), True
        if columns != len(self.column_names):
            raise ShapeError(
                f"{who}: expected {len(self.column_names)} columns, got {columns}. "
                "Use one evaluation per output layer, and as many names as columns."
            )
        if self._sums is None:
            self._sums = ColumnSums(columns)
        return self._sums

    @checked
    def merge(self, other: RegressionEvaluation) -> None:
        """Add the sums of another one; raise ShapeError if it has other columns, DTypeError if it is no such one."""
        check_mergeable(self, other, ())
        if other._sums is None or other.column_names is None:
            return
        if self.column_names is None:
            self.column_names, self.precision = list(other.column_names), other.precision
            self._names_of_data = other._names_of_data
        self._sums_for("RegressionEvaluation.merge", len(other.column_names)).add(other._sums)

    def reset(self) -> None:
        self._sums = None
        if self._names_of_data:
            self.column_names, self._names_of_data = None, False

    # ---- metrics

    def num_columns(self) -> int:
        """Return the number of columns, 0 while it is unknown."""
        return len(self.column_names or [])

    @checked
    def mean_squared_error(self, column: int) -> float:
        """Return the mean of (prediction - label)^2. Raises DataError if there is no such column, as all of these."""
        return self._sum("sumSquaredErrorsPerColumn", column) / self._count(column)

    @checked
    def mean_absolute_error(self, column: int) -> float:
        """Return the mean of abs(prediction - label)."""
        return self._sum("sumAbsErrorsPerColumn", column) / self._count(column)

    @checked
    def root_mean_squared_error(self, column: int) -> float:
        """Return the square root of `mean_squared_error`."""
        return math.sqrt(self.mean_squared_error(column))

    @checked
    def relative_squared_error(self, column: int) -> float:
        """Return sum (prediction - label)^2 / sum (label - mean)^2, infinite where the labels do not vary."""
        if math.isnan(self._count(column)):
            return math.nan
        spread = self._spread("labels", column)
        return self._sum("sumSquaredErrorsPerColumn", column) / spread if spread else math.inf

    @checked
    def pearson_correlation(self, column: int) -> float:
        """Return the correlation of labels and predictions, NaN where one of them does not vary."""
        spread = math.sqrt(self._spread("labels", column)) * math.sqrt(self._spread("predictions", column))
        return max(-1.0, min(1.0, self._sum("products", column) / spread)) if spread else math.nan

    @checked
    def r_squared(self, column: int) -> float:
        """Return 1 - `relative_squared_error`; where the labels do not vary -infinity, or NaN without any error."""
        error, spread = self._sum("sumSquaredErrorsPerColumn", column), self._spread("labels", column)
        if spread:
            return (spread - error) / spread
        return -math.inf if error else math.nan

    def _average(self, metric: Callable[[int], float]) -> float:
        columns = max(1, self.num_columns())
        return sum(map(metric, range(columns))) / columns

    def average_mean_squared_error(self) -> float:
        """Return the mean of `mean_squared_error` over the columns."""
        return self._average(self.mean_squared_error)

    def average_mean_absolute_error(self) -> float:
        """Return the mean of `mean_absolute_error` over the columns."""
        return self._average(self.mean_absolute_error)

    def average_root_mean_squared_error(self) -> float:
        """Return the mean of `root_mean_squared_error` over the columns."""
        return self._average(self.root_mean_squared_error)

    def average_relative_squared_error(self) -> float:
        """Return the mean of `relative_squared_error` over the columns."""
        return self._average(self.relative_squared_error)

    def average_pearson_correlation(self) -> float:
        """Return the mean of `pearson_correlation` over the columns."""
        return self._average(self.pearson_correlation)

    def average_r_squared(self) -> float:
        """Return the mean of `r_squared` over the columns."""
        return self._average(self.r_squared)

    METRICS: ClassVar = {
        "mae": average_mean_absolute_error,
        "mse": average_mean_squared_error,
        "pc": average_pearson_correlation,
        "r2": average_r_squared,
        "rmse": average_root_mean_squared_error,
        "rse": average_relative_squared_error,
    }
    MINIMIZED: ClassVar = frozenset({"mae", "mse", "rmse", "rse"})

    def _sum(self, name: str, column: int) -> float:
        return self._checked(column).value(name, column)

    def _spread(self, name: str, column: int) -> float:
        return self._checked(column).spread(name, column)

    def _checked(self, column: int) -> ColumnSums:
        if self._sums is None or not self._sums.has_data():
            raise DataError("RegressionEvaluation: nothing has been evaluated, got 0 rows. Call eval first.")
        if not 0 <= column < self.num_columns():
            raise DataError(
                f"RegressionEvaluation: a column is 0 to {self.num_columns() - 1}, got {column}. Check the index."
            )
        return self._sums

    def _count(self, column: int) -> float:
        return self._sum("exampleCountPerColumn", column) or math.nan

    # ---- text

    def stats(self) -> str:
        """Return the table that Java prints."""
        if self._sums is None or self.column_names is None or not self._sums.has_data():
            return "RegressionEvaluation: No Data"
        width, cell = max(map(len, self.column_names)) + 5, self.precision + 10
        names = ("MSE", "MAE", "RMSE", "RSE", "PC", "R^2")
        text = f"{'Column':<{width}}" + "".join(f"{name:<{cell}}" for name in names) + "\n"
        metrics = (self.mean_squared_error, self.mean_absolute_error, self.root_mean_squared_error)
        relative_metrics = (self.relative_squared_error, self.pearson_correlation, self.r_squared)
        for column, name in enumerate(self.column_names):
            numbers = [scientific(metric(column), self.precision) for metric in (*metrics, *relative_metrics)]
            text += f"{name:<{width}}" + "".join(f"{number:<{cell}}" for number in numbers) + "\n"
        return text

    def to_json(self) -> str:
        sums = ColumnSums.NO_JSON if self._sums is None else self._sums.fields()
        start = {
            "@class": java_class("RegressionEvaluation", "regression"),
            "axis": self.axis,
            "initialized": self._sums is not None,
            "columnNames": self.column_names,
            "precision": self.precision,
        }
        return json.dumps(start | sums)

    @classmethod
    @checked
    def from_json(cls, text: str | bytes) -> Self:
        fields = Fields.parse("RegressionEvaluation", "regression", text)
        names = fields.texts("columnNames") or None
        evaluation = cls(names, fields.integer("precision", 5, largest=MOST_DIGITS), axis=fields.integer("axis", 1))
        evaluation._sums = None
        if fields.flag("initialized", True):
            fields.check(names is not None, "columnNames must be a list of names where initialized is true", names)
            evaluation._sums = ColumnSums.from_fields(fields, len(names or []))
        return evaluation


def _numbered(columns: int) -> list[str]:
    return [f"col_{column}" for column in range(columns)]
