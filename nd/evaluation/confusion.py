"""The confusion matrix: everything else about a classifier is derived from it.

Counting is host work, a handful of integers per minibatch, so this module uses NumPy whatever the backend.
"""

from __future__ import annotations

import numpy as np

from backends.errors import DataError, ShapeError
from nd.classes import ExplainedType

# The counts are dense, 8 bytes a count: 2 GiB at this size.
MAX_CLASSES = 16_384


class ConfusionMatrix(metaclass=ExplainedType):
    """Count how often an actual class was predicted as any class.

    Parameters
    ----------
    n_classes : int
        1 to 16384.

    Raises
    ------
    ShapeError
        Any other number of classes.

    Notes
    -----
    Source: org.nd4j.evaluation.classification.ConfusionMatrix. Differs: classes are the integers from 0, and the
    counts are dense.
    """

    def __init__(self, n_classes: int) -> None:
        if not 1 <= n_classes <= MAX_CLASSES:
            raise ShapeError(
                f"ConfusionMatrix: the number of classes must be 1 to {MAX_CLASSES}, got {n_classes}. "
                "Evaluate groups of classes, or count only what is needed."
            )
        self._counts = np.zeros((n_classes, n_classes), np.int64)

    @property
    def counts(self) -> np.ndarray:
        """The counts as a read-only int64 view, shape [actual, predicted]."""
        view = self._counts.view()
        view.flags.writeable = False
        return view

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self._counts)

    @property
    def classes(self) -> list[int]:
        """The classes, in order."""
        return list(range(self.n_classes))

    def add(self, actual: int, predicted: int, count: int = 1) -> None:
        """Add `count` to one cell.

        Raises
        ------
        DataError
            There is no such class.
        """
        self._check_class(actual)
        self._check_class(predicted)
        self._counts[actual, predicted] += count

    def add_batch(self, actual: np.ndarray, predicted: np.ndarray) -> None:
        """Count every pair of a minibatch.

        Parameters
        ----------
        actual, predicted : numpy.ndarray, shape [N], integers
            Classes that the caller has checked.
        """
        size = self.n_classes
        cells = actual.astype(np.int64) * size + predicted
        if size * size <= 4 * cells.size + 1024:
            self._counts += np.bincount(cells, minlength=size * size).reshape(size, size)
        else:  # a histogram of the full matrix would cost more than the rows themselves
            np.add.at(self._counts.reshape(-1), cells, 1)

    def merge(self, other: ConfusionMatrix) -> None:
        """Add the counts of `other`.

        Raises
        ------
        ShapeError
            The numbers of classes differ.
        """
        if other.n_classes != self.n_classes:
            raise ShapeError(
                f"ConfusionMatrix.merge: both must have the same number of classes, got {self.n_classes} and "
                f"{other.n_classes}. Merge evaluations of the same task."
            )
        self._counts += other._counts

    def copy(self) -> ConfusionMatrix:
        """Return a matrix of its own with the same counts."""
        twin = ConfusionMatrix(self.n_classes)
        twin.merge(self)
        return twin

    def get_count(self, actual: int, predicted: int) -> int:
        """Return how often class `actual` was predicted as class `predicted`. Raises DataError as `add`."""
        self._check_class(actual)
        self._check_class(predicted)
        return int(self._counts[actual, predicted])

    def get_actual_total(self, actual: int) -> int:
        """Return how often class `actual` occurred. Raises DataError as `add`."""
        self._check_class(actual)
        return int(self._counts[actual].sum())

    def get_predicted_total(self, predicted: int) -> int:
        """Return how often class `predicted` was predicted. Raises DataError as `add`."""
        self._check_class(predicted)
        return int(self._counts[:, predicted].sum())

    def total(self) -> int:
        """Return the number of pairs counted."""
        return int(self._counts.sum())

    def correct(self) -> int:
        """Return the number of right predictions."""
        return int(self._counts.trace())

    def to_csv(self) -> str:
        """Return the table with totals, as Java writes it."""
        rows = [",,Predicted Class,", ",," + "".join(f"{predicted}," for predicted in self.classes) + "Total"]
        for actual in self.classes:
            first = "Actual Class," if actual == 0 else ","
            counts = "".join(f"{self.get_count(actual, predicted)}," for predicted in self.classes)
            rows.append(f"{first}{actual},{counts}{self.get_actual_total(actual)}")
        rows.append(",Total," + "".join(f"{self.get_predicted_total(predicted)}," for predicted in self.classes))
        return "".join(row + "\n" for row in rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConfusionMatrix) and np.array_equal(self._counts, other._counts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ConfusionMatrix({self._counts.tolist()})"

    def _check_class(self, cls: int) -> None:
        if not 0 <= cls < self.n_classes:
            raise DataError(f"ConfusionMatrix: a class must be 0 to {self.n_classes - 1}, got {cls}. Check the index.")
