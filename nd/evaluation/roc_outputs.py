"""Shared by ROCBinary and ROCMultiClass: a ROC for every column."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from backends.errors import DataError, ShapeError
from nd.arguments import Natural, checked

from .curves import PrecisionRecallCurve, RocCurve
from .java_text import fixed
from .json_fields import Fields, java_class
from .roc import ROC, AnyRoc, threshold_note
from .rows import as_binary, as_probabilities
from .settings import MOST_CELLS, Digits, Steps, check_mergeable

if TYPE_CHECKING:
    from ..typing import HostArray


class RocOutputs(AnyRoc):
    """A ROC for every column: a class against the rest, or an independent output.

    Parameters
    ----------
    threshold_steps, roc_remove_redundant_pts
        As in `ROC`.
    labels : sequence of str, optional
        Names of the columns, for the report.
    axis : int
        Axis of the columns in the arrays.
    """

    COLUMN: ClassVar[str]  # noun for a column, in messages
    AREAS: ClassVar[tuple[str, ...]]  # columns of the report
    underlying: list[ROC] | None

    @checked
    def __init__(
        self,
        threshold_steps: Steps = 0,
        roc_remove_redundant_pts: bool = True,
        *,
        labels: Sequence[str] | None = None,
        axis: int = 1,
    ) -> None:
        super().__init__(threshold_steps, roc_remove_redundant_pts, axis=axis)
        self.set_label_names(labels)

    @checked
    def set_label_names(self, labels: Sequence[str] | None) -> None:
        """Name the columns, for the report; raise DataError where they are not as many as there are."""
        names = None if labels is None else list(labels)
        if names is not None and self.underlying is not None and len(names) != len(self.underlying):
            raise DataError(
                f"{self.who('set_label_names')}: expected {len(self.underlying)} labels, got {names}. Name each."
            )
        self.labels = names

    def who(self, method: str) -> str:
        """Return the name of a method for messages."""
        return f"{type(self).__name__}.{method}"

    def add(self, truth: HostArray, guess: HostArray, kept: HostArray | None = None) -> None:
        """Count rows on the host: labels, predictions, and True for those that count, all ``[rows, columns]``."""
        if len(truth) == 0:
            return
        who = self.who("eval")
        positive = as_binary(who, truth)
        scores = as_probabilities(who, guess) if self.threshold_steps else guess
        for column, roc in enumerate(self._rocs("eval", truth.shape[1])):
            rows = slice(None) if kept is None else kept[:, column]
            roc.add(positive[rows, column], scores[rows, column])

    def _rocs(self, method: str, columns: int) -> list[ROC]:
        expected = columns if self.underlying is None and self.labels is None else self._columns()
        if columns != expected:
            raise ShapeError(
                f"{self.who(method)}: expected {expected} columns, got {columns}. "
                "Use one evaluation per output layer, and as many labels as columns."
            )
        if self.underlying is None:
            self.underlying = [ROC(self.threshold_steps, self.roc_remove_redundant_pts) for _ in range(columns)]
        return self.underlying

    def _columns(self) -> int:
        return len(self.labels or []) if self.underlying is None else len(self.underlying)

    def _known_columns(self) -> int:
        """Return the number of columns, -1 while it is unknown."""
        return -1 if self.underlying is None else len(self.underlying)

    @checked
    def merge(self, other: Self) -> None:
        check_mergeable(self, other, ("threshold_steps",))
        if other.underlying is None:
            return
        for mine, theirs in zip(self._rocs("merge", len(other.underlying)), other.underlying, strict=True):
            mine.merge(theirs)

    def reset(self) -> None:
        self.underlying = None

    # ---- curves and areas

    @checked
    def get_roc(self, column: int) -> ROC:
        """Return the ROC of one column. Raises DataError if there is none, as everything that asks for a column."""
        if self.underlying is None:
            raise DataError(f"{type(self).__name__}: nothing has been evaluated, got 0 examples. Call eval first.")
        if not 0 <= column < len(self.underlying):
            raise DataError(
                f"{type(self).__name__}: {self.COLUMN} is 0 to {len(self.underlying) - 1}, got {column}. "
                "Check the index."
            )
        return self.underlying[column]

    @checked
    def get_roc_curve(self, column: int) -> RocCurve:
        """Return the ROC curve of one column."""
        return self.get_roc(column).get_roc_curve()

    @checked
    def get_precision_recall_curve(self, column: int) -> PrecisionRecallCurve:
        """Return the precision/recall curve of one column."""
        return self.get_roc(column).get_precision_recall_curve()

    @checked
    def calculate_auc(self, column: int) -> float:
        """Return the area under the ROC curve of one column, NaN where all its labels are of one class or masked."""
        roc = self.get_roc(column)
        return roc.calculate_auc() if roc.example_count else math.nan

    @checked
    def calculate_auc_pr(self, column: int) -> float:
        """Return the area under the precision/recall curve of one column, NaN where all its labels are masked."""
        roc = self.get_roc(column)
        return roc.calculate_auc_pr() if roc.example_count else math.nan

    def calculate_average_auc(self) -> float:
        """Return the mean area under the ROC curves, NaN if one of them is."""
        return self._mean(self.calculate_auc)

    def calculate_average_auc_pr(self) -> float:
        """Return the mean area under the precision/recall curves, NaN if one of them is."""
        return self._mean(self.calculate_auc_pr)

    def _mean(self, area: Callable[[int], float]) -> float:
        return sum(map(area, range(max(1, self._columns())))) / max(1, self._columns())

    METRICS: ClassVar = {"auprc": calculate_average_auc_pr, "auroc": calculate_average_auc}

    @checked
    def get_count_actual_positive(self, column: int) -> int:
        """Return how often the label of one column was 1."""
        return self.get_roc(column).count_actual_positive

    @checked
    def get_count_actual_negative(self, column: int) -> int:
        """Return how often the label of one column was 0."""
        return self.get_roc(column).count_actual_negative

    # ---- text

    @checked
    def label(self, column: Natural) -> str:
        """Return the name of a column, its number where they have none; raise DataError if there is no such name."""
        if self.labels is None:
            return str(column)
        if column >= len(self.labels):
            raise DataError(
                f"{self.who('label')}: {self.COLUMN} is 0 to {len(self.labels) - 1}, got {column}. Check it."
            )
        return self.labels[column]

    def label_width(self) -> int:
        """Return the width of the names in the report."""
        return max([15, *map(len, self.labels or [])]) + 5

    @checked
    def stats(self, print_precision: Digits = 4) -> str:
        """Return the table that Java prints."""
        width, areas = self.label_width(), {"AUC": self.calculate_auc, "AUPRC": self.calculate_auc_pr}
        text = "".join(f"{name:<{size}}" for name, size in [("Label", width), *((name, 12) for name in self.AREAS)])
        text += f"{'# Pos':<10}{'# Neg':<10}"
        if self.underlying is None:
            return text + "\n-- No Data --\n"
        for column, roc in enumerate(self.underlying):
            text += f"\n{self.label(column):<{width}}"
            text += "".join(f"{fixed(areas[name](column), print_precision):<12}" for name in self.AREAS)
            text += f"{roc.count_actual_positive:<10}{roc.count_actual_negative:<10}"
        return text + self._behind_rows(print_precision) + threshold_note(self.threshold_steps)

    def _behind_rows(self, print_precision: int) -> str:
        """Return what the report has behind its last row."""
        return ""

    def fields(self) -> dict[str, object]:
        rocs = None if self.underlying is None else [roc.fields() for roc in self.underlying]
        return {
            "@class": java_class(self.NAME, "classification"),
            "thresholdSteps": self.threshold_steps,
            "rocRemoveRedundantPts": self.roc_remove_redundant_pts,
            "underlying": rocs,
            "labels": self.labels,
            "axis": self.axis,
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> Self:
        steps = fields.integer("thresholdSteps", 0, largest=MOST_CELLS)
        reduce = fields.flag("rocRemoveRedundantPts", True)
        evaluation = cls(steps, reduce, labels=fields.texts("labels"), axis=fields.integer("axis", 1))
        values = fields.value.get("underlying")
        if values is None:
            return evaluation
        fields.check(isinstance(values, list) and bool(values), "underlying must be a list of ROCs or null", values)
        rocs = [ROC.from_fields(Fields("ROC", "classification", value)) for value in values]
        stored_steps = [roc.threshold_steps for roc in rocs]
        fields.check(set(stored_steps) == {steps}, f"every ROC must have {steps} thresholdSteps", stored_steps)
        names = evaluation.labels
        fields.check(names is None or len(names) == len(rocs), f"there must be {len(rocs)} labels", names)
        evaluation.underlying = rocs
        return evaluation
