"""Histograms and reliability diagrams, the results of an `EvaluationCalibration`.

Their bins lie on the host, so this module uses NumPy whatever the backend.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np

from nd.arguments import checked

from .curve_columns import Columns, column, read_columns
from .json_fields import Fields, numbers_to_json


class ReliabilityDiagram(Columns):
    """Frequency of a class among examples predicted with some probability, bin by bin.

    Parameters
    ----------
    title : str or None
    mean_predicted_value_x, fraction_positives_y : sequence of float, shape [bins]
        On the diagonal where the probabilities mean what they say.

    Notes
    -----
    Source: org.nd4j.evaluation.curves.ReliabilityDiagram.
    """

    COLUMNS: ClassVar = {
        "mean_predicted_value_x": "meanPredictedValueX",
        "fraction_positives_y": "fractionPositivesY",
    }

    @checked
    def __init__(self, title: str | None, mean_predicted_value_x: Any, fraction_positives_y: object) -> None:
        self.title = title
        self.mean_predicted_value_x = column("mean_predicted_value_x", mean_predicted_value_x)
        self.fraction_positives_y = column("fraction_positives_y", fraction_positives_y)
        self.check_lengths(0)  # none where all bins are empty and left out

    @property
    def x(self) -> np.ndarray:
        """The mean predicted probabilities."""
        return self.mean_predicted_value_x

    @property
    def y(self) -> np.ndarray:
        """The fractions of positive examples."""
        return self.fraction_positives_y

    def get_title(self) -> str:
        """Return the title of a plot."""
        return self.title or "Reliability Diagram"

    def fields(self) -> dict[str, object]:
        columns = {java: numbers_to_json(getattr(self, name)) for name, java in self.COLUMNS.items()}
        return self._class_field() | {"title": self.title} | columns

    @classmethod
    def from_fields(cls, value: object) -> Self:
        fields = Fields("ReliabilityDiagram", "curves", value)
        return cls(fields.text("title"), *read_columns(fields, list(cls.COLUMNS.values())))


class Histogram(Columns):
    """Counts in bins of equal width.

    Parameters
    ----------
    title : str or None
    lower, upper : float
        Start of the first bin and end of the last one.
    bin_counts : sequence of int, shape [bins]

    Notes
    -----
    Source: org.nd4j.evaluation.curves.Histogram. Differs: Java takes the bounds for 0 and 1, whatever they are.

    Examples
    --------
    >>> Histogram("Ages", 0.0, 100.0, [3, 1]).get_bin_mid_values().tolist()
    [25.0, 75.0]
    """

    COLUMNS: ClassVar = {"bin_counts": "binCounts"}

    @checked
    def __init__(self, title: str | None, lower: float, upper: float, bin_counts: Any) -> None:
        self.title, self.lower, self.upper = title, lower, upper
        self.bin_counts = column("bin_counts", bin_counts, np.int64)
        self.check_lengths()

    def get_title(self) -> str:
        """Return the title of a plot."""
        return self.title or "Histogram"

    def get_bin_lower_bounds(self) -> np.ndarray:
        """Return the starts of the bins, shape [bins]."""
        return self._edges(0.0)

    def get_bin_upper_bounds(self) -> np.ndarray:
        """Return the ends of the bins, shape [bins]."""
        return np.append(self._edges(0.0)[1:], self.upper)

    def get_bin_mid_values(self) -> np.ndarray:
        """Return the middles of the bins, shape [bins]."""
        return self._edges(0.5)

    def _edges(self, shift: float) -> np.ndarray:
        step = (self.upper - self.lower) / self.num_points()
        return self.lower + (np.arange(self.num_points()) + shift) * step

    def fields(self) -> dict[str, object]:
        bounds = {"title": self.title, "lower": self.lower, "upper": self.upper}
        return self._class_field() | bounds | {"binCounts": self.bin_counts.tolist()}

    @classmethod
    def from_fields(cls, value: object) -> Self:
        fields = Fields("Histogram", "curves", value)
        counts = fields.integers("binCounts")
        fields.check(bool(counts), "binCounts must have at least one count", counts)
        lower, upper = float(fields.number("lower") or 0), float(fields.number("upper") or 0)
        finite = math.isfinite(lower) and math.isfinite(upper)
        fields.check(finite, "lower and upper must be finite", [lower, upper])
        return cls(fields.text("title"), lower, upper, counts)
