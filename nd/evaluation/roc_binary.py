"""ROC of independent binary outputs."""

from __future__ import annotations

from typing import ClassVar

from .roc_outputs import RocOutputs
from .rows import output_rows


class ROCBinary(RocOutputs):
    """Receiver operating characteristics of independent outputs, between 0 and 1: a curve for every output.

    Parameters
    ----------
    threshold_steps : int
        0 is exact and keeps every probability; else counts at so many steps, see `ROC`.
    roc_remove_redundant_pts : bool
        See `ROC`.
    labels : sequence of str, optional
        Names of the outputs, for the report.
    axis : int
        Axis of the outputs in the arrays.

    Raises
    ------
    ConfigurationError
        The number of steps is not 0 to 1000000.

    Notes
    -----
    Source: org.nd4j.evaluation.classification.ROCBinary. Differs: as `ROC` does.

    Examples
    --------
    >>> evaluation = ROCBinary(labels=["rain", "wind"])
    >>> evaluation.eval([[1, 0], [0, 1], [1, 1]], [[0.9, 0.3], [0.2, 0.1], [0.6, 0.8]], mask=[[1, 1], [1, 0], [1, 1]])
    >>> print(evaluation.stats())
    Label               AUC         AUPRC       # Pos     # Neg
    rain                1.0000      1.0000      2         1
    wind                1.0000      1.0000      1         1
    """

    NAME: ClassVar = "ROCBinary"
    COLUMN: ClassVar = "an output"
    AREAS: ClassVar = ("AUC", "AUPRC")

    def eval(self, labels: object, predictions: object, mask: object = None) -> None:
        """Count one minibatch.

        Parameters
        ----------
        labels : array, shape [N, n] or [N, n, T] (also [N, n, H, W], [N, n, D, H, W])
            0 or 1.
        predictions : array, same shape
            Probabilities of 1.
        mask : array, optional, shape [N] or [N, 1]; [N, T]; [N, H, W]; or that of the labels
            Rows, or single labels, with 0 are left out.

        Raises
        ------
        ShapeError
            Shapes that do not fit each other, or another number of outputs than before.
        DTypeError, DataError, NumericError
            As `ROC.eval`.
        """
        truth, guess, kept = output_rows(self.who("eval"), labels, predictions, mask, self.axis)
        self.add(truth, guess, kept)

    def num_labels(self) -> int:
        """Return the number of outputs, -1 while it is unknown."""
        return self._known_columns()

    def fields(self) -> dict[str, object]:
        fields = super().fields()
        first = {name: fields[name] for name in ("@class", "underlying")}  # Java's order
        return first | fields
