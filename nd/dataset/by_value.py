"""Methods of a DataSet that go by the numbers in its arrays."""

from __future__ import annotations

from backends.errors import DataError
from nd.arguments import checked
from nd.dataset.checks import AnyArray
from nd.dataset.examples import Examples


class ByValue(Examples):
    """Scaling. A change gives new arrays; those given stay as they were."""

    features: AnyArray
    labels: AnyArray | None
    features_mask: AnyArray | None
    labels_mask: AnyArray | None

    @checked
    def multiply_by(self, factor: float) -> None:
        """Multiply the features."""
        self._change(self.features * factor)

    @checked
    def divide_by(self, divisor: float) -> None:
        """Divide the features.

        Raises
        ------
        DataError
            `divisor` is 0.
        """
        if divisor == 0:
            raise DataError("DataSet.divide_by: divisor must not be 0, got 0.")
        self._change(self.features / divisor)

    def scale(self) -> None:
        """Divide every example's features by the largest of them.

        Raises
        ------
        DataError
            It is not positive in some example.

        Notes
        -----
        Statistics of columns are the normalizers' matter, see `nd.dataset.normalizers`. Source:
        org.nd4j.linalg.dataset.DataSet.scale. Differs: Java divides by zero, and turns signs round.
        """
        largest = self.features.max(axis=tuple(range(1, self.features.ndim)), keepdims=True)
        if not bool((largest > 0).all()):
            i = int((largest.reshape(-1) <= 0).argmax())
            raise DataError(f"DataSet.scale: every example must have a positive number, got none in example {i}.")
        self._change(self.features / largest)

    @checked
    def binarize(self, cutoff: float = 0.0) -> None:
        """Make the features 1 where they are above `cutoff`, else 0, in their dtype."""
        self._change((self.features > cutoff).astype(self.features.dtype))

    def _change(self, features: AnyArray) -> None:
        if self.labels is self.features:
            self.labels = features
        self.features = features
