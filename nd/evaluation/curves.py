"""ROC and precision/recall curves: points to look at, to ask and to plot.

Their points lie on the host, so this module uses NumPy whatever the backend.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from backends.errors import DataError
from nd.arguments import EVEN_NAN, Natural, checked

from .curve_columns import Columns, area, column, read_columns
from .java_text import fixed
from .json_fields import Fields, number_to_json, numbers_to_json


class RocCurve(Columns):
    """Rates of true and false positives at every threshold.

    Parameters
    ----------
    threshold, fpr, tpr : sequence of float, shape [points]
        In the order of the thresholds, up or down.
    auc : float, optional
        The area under the curve where it is known already.

    Notes
    -----
    Source: org.nd4j.evaluation.curves.RocCurve.

    Examples
    --------
    >>> curve = RocCurve([1.0, 0.5, 0.0], [0.0, 0.5, 1.0], [0.0, 1.0, 1.0])
    >>> curve.calculate_auc(), curve.get_title()
    (0.75, 'ROC (Area=0.7500)')
    """

    COLUMNS: ClassVar = {"threshold": "threshold", "fpr": "fpr", "tpr": "tpr"}
    DERIVED: ClassVar = frozenset({"auc"})

    @checked
    def __init__(self, threshold: Any, fpr: object, tpr: object, auc: Annotated[float, EVEN_NAN] | None = None) -> None:
        self.threshold = column("threshold", threshold)
        self.fpr, self.tpr = column("fpr", fpr), column("tpr", tpr)
        self.check_lengths()
        self._auc = auc

    @property
    def x(self) -> np.ndarray:
        """The false positive rates."""
        return self.fpr

    @property
    def y(self) -> np.ndarray:
        """The true positive rates."""
        return self.tpr

    def get_title(self) -> str:
        """Return the title of a plot."""
        return f"ROC (Area={fixed(self.calculate_auc(), 4)})"

    @checked
    def get_threshold(self, i: int | None = None) -> Any:
        """Return the threshold of point `i`, without it of all; raise DataError if there is none."""
        return self.point("threshold", i)

    @checked
    def get_true_positive_rate(self, i: int) -> float:
        """Return the true positive rate of point `i`; raise DataError if there is none."""
        return self.point("tpr", i)

    @checked
    def get_false_positive_rate(self, i: int) -> float:
        """Return the false positive rate of point `i`; raise DataError if there is none."""
        return self.point("fpr", i)

    def calculate_auc(self) -> float:
        """Return the area under the curve, by trapezoids. NaN where all examples were of one class."""
        if self._auc is None:
            self._auc = area(self.fpr, self.tpr)
        return self._auc

    def fields(self) -> dict[str, object]:
        columns = {java: numbers_to_json(getattr(self, name)) for name, java in self.COLUMNS.items()}
        return self._class_field() | columns | {"auc": number_to_json(self.calculate_auc())}

    @classmethod
    def from_fields(cls, value: object) -> Self:
        fields = Fields("RocCurve", "curves", value)
        threshold, fpr, tpr = read_columns(fields, list(cls.COLUMNS.values()))
        return cls(threshold, fpr, tpr, fields.number("auc", nullable=True))


class Point(NamedTuple):
    """A point of a precision/recall curve."""

    idx: int
    threshold: float
    precision: float
    recall: float


class Confusion(NamedTuple):
    """Right and wrong decisions at a point of a precision/recall curve."""

    point: Point
    tp_count: int
    fp_count: int
    fn_count: int
    tn_count: int


class PrecisionRecallCurve(Columns):
    """Precision and recall at every threshold, from the lowest to the highest.

    Parameters
    ----------
    threshold, precision, recall : sequence of float, shape [points]
    tp_count, fp_count, fn_count : sequence of int, shape [points]
    total_count : int
        The number of examples.
    known_area : float, optional
        The area under the curve where it is known already.

    Notes
    -----
    Source: org.nd4j.evaluation.curves.PrecisionRecallCurve. Differs: a threshold above the last one raises DataError,
    Java's array index fails; of equal thresholds the first one is taken, Java's binary search takes any.

    Examples
    --------
    >>> curve = PrecisionRecallCurve([0.0, 0.5, 1.0], [0.5, 1.0, 1.0], [1, 0.5, 0], [2, 1, 0], [2, 0, 0], [0, 1, 2], 4)
    >>> curve.get_point_at_precision(0.9)
    Point(idx=1, threshold=0.5, precision=1.0, recall=0.5)
    >>> curve.get_confusion_matrix_at_threshold(0.4).tn_count
    2
    """

    COLUMNS: ClassVar = {
        "threshold": "threshold",
        "precision": "precision",
        "recall": "recall",
        "tp_count": "tpCount",
        "fp_count": "fpCount",
        "fn_count": "fnCount",
    }
    DERIVED: ClassVar = frozenset({"area"})

    @checked
    def __init__(
        self,
        threshold: Any,
        precision: object,
        recall: object,
        tp_count: object,
        fp_count: object,
        fn_count: object,
        total_count: Natural,
        known_area: Annotated[float, EVEN_NAN] | None = None,
    ) -> None:
        self.threshold = column("threshold", threshold)
        self.precision, self.recall = column("precision", precision), column("recall", recall)
        self.tp_count, self.fp_count = column("tp_count", tp_count, np.int64), column("fp_count", fp_count, np.int64)
        self.fn_count, self.total_count = column("fn_count", fn_count, np.int64), total_count
        self.check_lengths()
        self._area = known_area

    @property
    def x(self) -> np.ndarray:
        """The recalls."""
        return self.recall

    @property
    def y(self) -> np.ndarray:
        """The precisions."""
        return self.precision

    def get_title(self) -> str:
        """Return the title of a plot."""
        return f"Precision-Recall Curve (Area={fixed(self.calculate_auprc(), 4)})"

    @checked
    def get_threshold(self, i: int | None = None) -> Any:
        """Return the threshold of point `i`, without it of all; raise DataError if there is none."""
        return self.point("threshold", i)

    @checked
    def get_precision(self, i: int | None = None) -> Any:
        """Return the precision of point `i`, without it of all; raise DataError if there is none."""
        return self.point("precision", i)

    @checked
    def get_recall(self, i: int | None = None) -> Any:
        """Return the recall of point `i`, without it of all; raise DataError if there is none."""
        return self.point("recall", i)

    def calculate_auprc(self) -> float:
        """Return the area under the curve, by trapezoids. NaN where there were no positive examples."""
        if self._area is None:
            self._area = area(self.recall, self.precision)
        return self._area

    @checked
    def get_point_at_threshold(self, threshold: float) -> Point:
        """Return the point of that threshold, or else of the next higher one; raise DataError if none is as high."""
        i = int(np.searchsorted(self.threshold, threshold))
        if i == self.num_points():
            raise DataError(
                f"PrecisionRecallCurve: a threshold is at most {self.threshold[-1]}, got {threshold}. Ask a lower one."
            )
        return self._at(i)

    @checked
    def get_point_at_precision(self, precision: float) -> Point:
        """Return the point of the lowest threshold with at least that precision, or else the last point."""
        reached = np.flatnonzero(self.precision >= precision)
        return self._at(int(reached[0]) if reached.size else self.num_points() - 1)

    @checked
    def get_point_at_recall(self, recall: float) -> Point:
        """Return the point of the highest threshold with at least that recall, or else the first point.

        Among points of that same recall it is the one of the greatest precision.
        """
        reached = np.flatnonzero(self.recall >= recall)
        if not reached.size:
            return self._at(0)
        same = np.flatnonzero(self.recall == self.recall[reached[-1]])
        return self._at(int(same[np.argmax(self.precision[same])]))

    @checked
    def get_confusion_matrix_at_threshold(self, threshold: float) -> Confusion:
        """Return the counts at `get_point_at_threshold`."""
        return self.get_confusion_matrix_at_point(self.get_point_at_threshold(threshold).idx)

    @checked
    def get_confusion_matrix_at_point(self, i: int) -> Confusion:
        """Return the counts at point `i`; raise DataError if there is none."""
        self.point("threshold", i)
        tp, fp, fn = int(self.tp_count[i]), int(self.fp_count[i]), int(self.fn_count[i])
        return Confusion(self._at(i), tp, fp, fn, self.total_count - tp - fp - fn)

    def _at(self, i: int) -> Point:
        return Point(i, float(self.threshold[i]), float(self.precision[i]), float(self.recall[i]))

    def fields(self) -> dict[str, object]:
        columns = {}
        for name, java in self.COLUMNS.items():
            values = getattr(self, name)
            columns[java] = numbers_to_json(values) if values.dtype.kind == "f" else values.tolist()
        end = {"totalCount": self.total_count, "area": number_to_json(self.calculate_auprc())}
        return self._class_field() | columns | end

    @classmethod
    def from_fields(cls, value: object) -> Self:
        fields = Fields("PrecisionRecallCurve", "curves", value)
        names = list(cls.COLUMNS.values())
        for name in names[3:]:
            fields.integers(name)
        threshold, precision, recall, tp, fp, fn = read_columns(fields, names)
        total, known = fields.integer("totalCount", 0), fields.number("area", nullable=True)
        return cls(threshold, precision, recall, tp, fp, fn, total, known)
