"""Methods of a DataSet that go by the numbers in its arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from backends.errors import DataError, describe_shape
from nd.arguments import checked
from nd.dataset.checks import AnyArray

if TYPE_CHECKING:
    from nd.dataset.dataset import DataSet


class ByValue:
    """Copies, scaling, and a description. A change gives new arrays; those given stay as they were."""

    features: AnyArray
    labels: AnyArray | None
    features_mask: AnyArray | None
    labels_mask: AnyArray | None

    def __eq__(self, other: object) -> bool:
        """Whether the other has the same arrays, of the same dtypes, to 1e-5, as Java compares them."""
        if not isinstance(other, type(self)):
            return NotImplemented
        names = ("features", "labels", "features_mask", "labels_mask")
        return all(_are_equal(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> DataSet:
        """Return a DataSet with arrays of its own; labels that are the features stay so."""
        return self._map(lambda array: array.copy())

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

    def has_mask_arrays(self) -> bool:
        """Tell whether there is a mask of features or labels."""
        return self.features_mask is not None or self.labels_mask is not None

    def describe(self) -> str:
        """Return a line for every array: its shape, its dtype, and the smallest, mean and largest number in it.

        Examples
        --------
        >>> from nd.dataset import DataSet
        >>> print(DataSet([[0.0, 2.0], [4.0, 2.0]], [[1, 0], [0, 1]]).describe())
        DataSet of 2 examples
        features [2, 2] float32: 0 to 4, mean 2
        labels [2, 2] float32: 0 to 1, mean 0.5
        """
        from nd.serde import as_host

        lines = [f"DataSet of {self.features.shape[0]} examples"]
        for name, array in self._present():
            host, spread = as_host(array), "empty"
            if host.size:
                spread = f"{host.min():.6g} to {host.max():.6g}, mean {host.mean(dtype='float64'):.6g}"
            lines.append(f"{name} {describe_shape(array.shape)} {array.dtype}: {spread}")
        return "\n".join(lines)

    def _change(self, features: AnyArray) -> None:
        if self.labels is self.features:
            self.labels = features
        self.features = features

    def _map(self, function: Callable[[AnyArray], AnyArray]) -> DataSet:
        raise NotImplementedError

    def _present(self) -> list[tuple[str, AnyArray]]:
        raise NotImplementedError


def _are_equal(one: AnyArray | None, other: AnyArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return (
        one.shape == other.shape
        and one.dtype == other.dtype
        and bool(np.allclose(one, other, rtol=0.0, atol=1e-5, equal_nan=True))
    )
