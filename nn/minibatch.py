"""What a network trains on in one step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nd
from nd.dataset import DataSet

Array = Any


def as_features(x: Any, dtype: str, buffers: Callable[..., Array]) -> Array:
    """Bring features ``[N, ...]`` to the current backend, in that dtype and the preferred memory order.

    Raises
    ------
    ShapeError
        There is no axis of examples, or no example.
    """
    x = nd.as_array(x, dtype)
    if x.ndim < 2 or x.shape[0] == 0:
        raise nd.ShapeError(
            f"MultiLayerNetwork: expected features [N, ...] with N >= 1, got {list(x.shape)}. "
            "Give one row per example, also for a single one."
        )
    return nd.to_activation_order(x, buffers)


class Minibatch:
    """Features, labels and masks on the network's backend.

    Parameters
    ----------
    dtype : str
    buffers : callable
        Memory for features that lie in another order.
    """

    def __init__(self, dtype: str, buffers: Callable[..., Array]) -> None:
        self.dtype, self.buffers = dtype, buffers
        self.features: Array = None
        self.labels: Array = None
        self.features_mask: Array = None
        self.labels_mask: Array = None

    def set_features(self, x: Any) -> None:
        """Set features ``[N, ...]``."""
        self.features = as_features(x, self.dtype, self.buffers)

    def set_labels(self, y: Any) -> None:
        """Set labels ``[N, n_out]``."""
        self.labels = nd.as_array(y, self.dtype)

    def set_masks(self, features_mask: Any, labels_mask: Any) -> None:
        """Set masks ``[N, 1]``, or ``[N, n_out]`` for labels; None for none."""
        self.features_mask, self.labels_mask = (
            None if mask is None else nd.as_array(mask, self.dtype) for mask in (features_mask, labels_mask)
        )

    def set(self, data: DataSet) -> None:
        """Set everything from a DataSet; raise DataError if it has no labels."""
        if data.labels is None:
            raise nd.DataError("fit: a data set needs labels to be trained on or scored, got none.")
        self.set_features(data.features)
        self.set_labels(data.labels)
        self.set_masks(data.features_mask, data.labels_mask)
        self.check()

    def part(self, stretch: slice) -> Minibatch:
        """Return views of some of the examples."""
        if stretch == slice(0, self.features.shape[0]):
            return self
        part = Minibatch(self.dtype, self.buffers)
        part.features, part.labels, part.features_mask, part.labels_mask = (
            None if array is None else array[stretch, ...]
            for array in (self.features, self.labels, self.features_mask, self.labels_mask)
        )
        return part

    @property
    def signature(self) -> tuple[object, ...]:
        """Shape and dtype of everything."""
        return tuple(None if array is None else (array.shape, array.dtype) for array in self._arrays())

    def _arrays(self) -> tuple[Array, Array, Array, Array]:
        return self.features, self.labels, self.features_mask, self.labels_mask

    def staged(self) -> Minibatch:
        """Return a copy for computations that are recorded, in memory of its own."""
        staged = Minibatch(self.dtype, self.buffers)
        staged.features, staged.labels, staged.features_mask, staged.labels_mask = (
            None if array is None else nd.traceable(nd.activation_like(array)) for array in self._arrays()
        )
        staged.copy_from(self)
        return staged

    def copy_from(self, other: Minibatch) -> None:
        """Copy a minibatch of the same signature."""
        for target, source in zip(self._arrays(), other._arrays(), strict=True):
            if target is not None:
                nd.assign(target, source)

    @property
    def loss_mask(self) -> Array | None:
        """The labels' mask; as in Java, the features' mask stands in where there is none."""
        return self.features_mask if self.labels_mask is None else self.labels_mask

    def check(self) -> None:
        """Raise unless features and labels are there and the features' mask fits."""
        if self.features is None or self.labels is None:
            raise nd.ConfigurationError("compute_gradient_and_score: set_input and set_labels must come first.")
        mask, n = self.features_mask, self.features.shape[0]
        if mask is not None and tuple(mask.shape) != (n, 1):
            raise nd.ShapeError(f"MultiLayerNetwork: the features' mask must be [{n}, 1], got {list(mask.shape)}.")
