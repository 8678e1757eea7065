"""ROC of a classifier of many classes, one class against the rest."""

from __future__ import annotations

from typing import ClassVar

from .java_text import fixed
from .roc_outputs import RocOutputs
from .rows import paired_rows


class ROCMultiClass(RocOutputs):
    """Receiver operating characteristics of a classifier: a curve for every class against the rest.

    Parameters
    ----------
    threshold_steps : int
        0 is exact and keeps every probability; else counts at so many steps, see `ROC`.
    roc_remove_redundant_pts : bool
        See `ROC`.
    labels : sequence of str, optional
        Names of the classes, for the report.
    axis : int
        Axis of the classes in the arrays.

    Raises
    ------
    ConfigurationError
        The number of steps is not 0 to 1000000.

    Notes
    -----
    Source: org.nd4j.evaluation.classification.ROCMultiClass. Differs: as `ROC` does.

    Examples
    --------
    >>> evaluation = ROCMultiClass()
    >>> evaluation.eval([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.3, 0.5, 0.2]])
    >>> [evaluation.calculate_auc(cls) for cls in range(3)]
    [1.0, 0.75, 0.5]
    """

    NAME: ClassVar = "ROCMultiClass"
    COLUMN: ClassVar = "a class"
    AREAS: ClassVar = ("AUC",)

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
        DTypeError, DataError, NumericError
            As `ROC.eval`.
        """
        truth, guess = paired_rows(labels, predictions, mask, self.axis, self.who("eval"))
        self.add(truth, guess)

    def get_num_classes(self) -> int:
        """Return the number of classes, -1 while it is unknown."""
        return self._known_columns()

    def _behind_rows(self, print_precision: int) -> str:
        # no line end before it, as in Java
        return f"Average AUC: {fixed(self.calculate_average_auc(), print_precision):<12}"
