"""Sums over labels and predictions, column by column.

Counting is host work, a few numbers per column, so this module uses NumPy whatever the backend.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from nd.serde import array_to_json

from .json_fields import Fields

# Sums about a mean that came out of large sums are nothing but rounding below this share of them.
_ROUNDING = 1e-12
# And deviations from a mean below this share of it: its own last bits.
_LAST_BITS = 16 * float(np.finfo(np.float64).eps)


class ColumnSums:
    """The sums that Java keeps, under their JSON names, and sums about the means, which do not cancel.

    Parameters
    ----------
    columns : int
    """

    NAMES: ClassVar = (
        "exampleCountPerColumn",
        "labelsSumPerColumn",
        "sumSquaredErrorsPerColumn",
        "sumAbsErrorsPerColumn",
        "currentMean",
        "currentPredictionMean",
        "sumOfProducts",
        "sumSquaredLabels",
        "sumSquaredPredicted",
        "sumLabels",
    )
    MEANS: ClassVar = ("currentMean", "currentPredictionMean")
    ABOUT_MEANS: ClassVar = {  # name -> the means that it is about
        "labels": ("currentMean", "currentMean"),
        "predictions": ("currentPredictionMean", "currentPredictionMean"),
        "products": ("currentMean", "currentPredictionMean"),
    }
    NOT_NEGATIVE: ClassVar = (
        "exampleCountPerColumn",
        "sumSquaredErrorsPerColumn",
        "sumAbsErrorsPerColumn",
        "sumSquaredLabels",
        "sumSquaredPredicted",
    )
    NO_JSON: ClassVar = dict.fromkeys(NAMES)

    def __init__(self, columns: int) -> None:
        self._sums = {name: np.zeros(columns) for name in (*self.NAMES, *self.ABOUT_MEANS)}

    @classmethod
    def of(cls, truth: np.ndarray, guess: np.ndarray, kept: np.ndarray | None) -> Self:
        """Return the sums of one minibatch.

        Parameters
        ----------
        truth, guess : numpy.ndarray, shape [rows, columns]
            0 where they are not kept.
        kept : numpy.ndarray of bool or None, shape [rows, columns]
            True for those that count; None for all.
        """
        batch = cls(truth.shape[1])
        truth, guess = truth.astype(np.float64), guess.astype(np.float64)
        weight = np.ones(truth.shape) if kept is None else kept.astype(np.float64)
        count, error = weight.sum(axis=0), guess - truth
        mean, guess_mean = truth.sum(axis=0) / np.maximum(count, 1), guess.sum(axis=0) / np.maximum(count, 1)
        apart, guess_apart = (truth - mean) * weight, (guess - guess_mean) * weight
        batch._sums = {
            "exampleCountPerColumn": count,
            "labelsSumPerColumn": truth.sum(axis=0),
            "sumSquaredErrorsPerColumn": (error * error).sum(axis=0),
            "sumAbsErrorsPerColumn": np.abs(error).sum(axis=0),
            "currentMean": mean,
            "currentPredictionMean": guess_mean,
            "sumOfProducts": (truth * guess).sum(axis=0),
            "sumSquaredLabels": (truth * truth).sum(axis=0),
            "sumSquaredPredicted": (guess * guess).sum(axis=0),
            "sumLabels": truth.sum(axis=0),
            "labels": (apart * apart).sum(axis=0),
            "predictions": (guess_apart * guess_apart).sum(axis=0),
            "products": (apart * guess_apart).sum(axis=0),
        }
        return batch

    def add(self, other: ColumnSums) -> None:
        """Add other sums. Source: Chan, Golub and LeVeque (1979), Updating Formulae ... for Computing Variances."""
        mine, theirs = self._sums, other._sums
        count, more = mine["exampleCountPerColumn"], theirs["exampleCountPerColumn"]
        total = np.maximum(count + more, 1)
        shift = {name: theirs[name] - mine[name] for name in self.MEANS}
        for name, (first, second) in self.ABOUT_MEANS.items():
            mine[name] = mine[name] + theirs[name] + shift[first] * shift[second] * count * more / total
        for name in self.NAMES:
            mine[name] = mine[name] + (shift[name] * more / total if name in self.MEANS else theirs[name])

    def has_data(self) -> bool:
        """Tell whether any column has an example."""
        return bool(self._sums["exampleCountPerColumn"].any())

    def value(self, name: str, column: int) -> float:
        """Return one sum of one column."""
        return float(self._sums[name][column])

    def spread(self, name: str, column: int) -> float:
        """Return the sum of squares of "labels" or "predictions" about their mean, 0 where it is but rounding."""
        about = self.value(name, column)
        last_bits = _LAST_BITS * self.value(self.ABOUT_MEANS[name][0], column)
        return about if about > self.value("exampleCountPerColumn", column) * last_bits * last_bits else 0.0

    def fields(self) -> dict[str, object]:
        """Return the JSON form of the sums that Java keeps."""
        return {name: array_to_json(self._sums[name]) for name in self.NAMES}

    @classmethod
    def from_fields(cls, fields: Fields, columns: int) -> Self:
        """Return the sums that the fields hold; raise FormatError if they do not."""
        sums = cls(columns)
        for name in cls.NAMES:
            values = fields.array(name, [columns])
            fields.check(values is not None and np.isfinite(values).all(), f"{name} must be finite numbers", values)
            signed = name not in cls.NOT_NEGATIVE
            fields.check(signed or (values >= 0).all(), f"{name} must not be negative", values.tolist())
            sums._sums[name] = values.astype(np.float64)
        raw_sums = {"labels": "sumSquaredLabels", "predictions": "sumSquaredPredicted", "products": "sumOfProducts"}
        kept = sums._sums
        for name, (first, second) in cls.ABOUT_MEANS.items():
            about = kept[raw_sums[name]] - kept["exampleCountPerColumn"] * kept[first] * kept[second]
            limit = _ROUNDING * np.abs(kept[raw_sums[name]])
            about = np.where(np.abs(about) <= limit, 0.0, about)
            kept[name] = about if name == "products" else np.maximum(about, 0.0)
        return sums
