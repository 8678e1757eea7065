"""Way: how an array is changed and changed back, with numbers of its columns where they are learnt from data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from backends.errors import ConfigurationError, ShapeError, describe_shape, refuse_masked
from nd.dataset.normalizers.arrays import zero_where_masked
from nd.dataset.normalizers.statistics import ColumnStatistics
from nd.typing import Array

Numbers = Mapping[str, np.ndarray]
"""Name -> numbers of columns."""


class Way(ABC):
    """How an array [N, columns, ...] is changed and changed back, whichever data set it is of."""

    statistics: ClassVar[type[ColumnStatistics]]
    """What gathers what has to be learnt, where anything has."""
    rows: ClassVar[tuple[str, ...]] = ()
    """Names of the two rows of numbers that are learnt, in the order of a file; masked time steps then become 0."""

    def changed(self, who: str, direction: str, x: Array, mask: Any, values: Numbers) -> Array:
        """Return a new array; `direction` is "transform" or "revert"."""
        changed = self.forward(x, values) if direction == "transform" else self.backward(x, values)
        return zero_where_masked(who, changed, mask) if self.rows else changed

    @abstractmethod
    def forward(self, x: Array, values: Numbers) -> Array:
        """Return an array normalized."""

    @abstractmethod
    def backward(self, x: Array, values: Numbers) -> Array:
        """Return what `forward` was given."""

    def check_array(self, who: str, group: str, x: Array, values: Numbers) -> None:
        """Raise ShapeError for an array of "features" or "labels" that this is no way for."""
        columns = len(values[self.rows[0]])
        if x.shape[1] != columns:
            raise ShapeError(
                f"{who}: expected {describe_shape(['N', columns, *x.shape[2:]])}, as the data were that were fitted, "
                f"got {describe_shape(x.shape)}."
            )

    def checked(self, who: str, first: object, second: object) -> Numbers:
        """Return two rows by name; raise ConfigurationError for such as cannot be."""
        raise NotImplementedError

    def finished(self, statistics: Any) -> Numbers:
        """Return the numbers of the statistics gathered."""
        raise NotImplementedError


def check_statistics(who: str, **given: object) -> dict[str, np.ndarray]:
    """Return numbers of columns as float64 [columns]; ConfigurationError unless they are finite, and as many each."""
    statistics = {name: _row(f"{who}: {name}", values) for name, values in given.items()}
    lengths = {name: len(values) for name, values in statistics.items()}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        raise ConfigurationError(f"{who}: expected as many numbers each, at least one, got {lengths}.")
    for name, values in statistics.items():
        if not np.isfinite(values).all():
            raise ConfigurationError(f"{who}: {name} must be finite, got {values[~np.isfinite(values)][0]}.")
    return statistics


def _row(who: str, values: Any) -> np.ndarray:
    refuse_masked(who, values)
    try:
        row = np.array(values)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{who} must be a row of numbers, got: {error}. Give one number a column.") from error
    if row.dtype.kind not in "biuf":
        raise ConfigurationError(f"{who} must be a row of numbers, got elements of dtype {row.dtype}. Convert them.")
    return row.astype(np.float64).reshape(-1)
