"""NormalizerMinMaxScaler: every column into the same range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO, Self

import numpy as np

from backends.errors import ConfigurationError
from nd.arguments import checked
from nd.dataset.normalizers.arrays import add, like, minus, zero_where_masked
from nd.dataset.normalizers.base import FittedNormalizer, check_statistics
from nd.dataset.normalizers.body import read_flag, read_numbers, read_row, write_flag, write_numbers, write_rows
from nd.dataset.normalizers.statistics import Bounds
from nd.typing import Array

_SMALLEST_RANGE = 1e-5


class NormalizerMinMaxScaler(FittedNormalizer):
    """Bring every column of the features from its smallest and largest number to a range that all share.

    Parameters
    ----------
    target_min, target_max : float
        The range.

    Raises
    ------
    ConfigurationError
        `target_max` is not larger than `target_min`.

    Notes
    -----
    ``y = (x - lower) / (upper - lower) (target_max - target_min) + target_min``. A column's upper bound is at least
    1e-5 above its lower one, or the next float64 above it, so a constant column becomes `target_min`. Series and
    images go by column and channel, as in `NormalizerStandardize`, and masked time steps become 0 whatever the range.

    Source: org.nd4j.linalg.dataset.api.preprocessor.NormalizerMinMaxScaler, MinMaxStrategy, MinMaxStats. Differs: a
    range without extent is refused, which Java makes 1e-5 wide; masks count for all shapes.

    Examples
    --------
    >>> from nd.dataset import DataSet
    >>> data_set = DataSet([[1.0], [2.0], [5.0]])
    >>> NormalizerMinMaxScaler(-1, 1).fit(data_set).transform(data_set).features.tolist()
    [[-1.0], [-0.5], [1.0]]
    """

    kind = "MIN_MAX"
    statistics = Bounds
    rows = ("lower", "upper")

    @checked
    def __init__(self, target_min: float = 0.0, target_max: float = 1.0) -> None:
        super().__init__()
        self.target_min, self.target_max = check_range("NormalizerMinMaxScaler", target_min, target_max)

    @property
    def min(self) -> np.ndarray:
        """Smallest numbers of the features [columns], float64; raise DataError before `fit`."""
        return self.fitted("features", "min")["lower"]

    @property
    def max(self) -> np.ndarray:
        """Largest numbers of the features [columns], float64; raise DataError before `fit`."""
        return self.fitted("features", "max")["upper"]

    @property
    def label_min(self) -> np.ndarray:
        """Smallest numbers of the labels [columns], float64; raise DataError if they were not fitted."""
        return self.fitted("labels", "label_min")["lower"]

    @property
    def label_max(self) -> np.ndarray:
        """Largest numbers of the labels [columns], float64; raise DataError if they were not fitted."""
        return self.fitted("labels", "label_max")["upper"]

    def set_feature_stats(self, lower: Any, upper: Any) -> None:
        """Set the features' bounds [columns].

        Raises
        ------
        ConfigurationError
            They are not both rows of so many finite numbers, or an upper one is below the lower one.
        """
        self.numbers["features"] = _checked(self.who("set_feature_stats"), lower, upper)

    def set_label_stats(self, lower: Any, upper: Any) -> None:
        """Set the labels' bounds [columns], and that labels are to be changed. Same errors."""
        self.numbers["labels"] = _checked(self.who("set_label_stats"), lower, upper)
        self.fit_label(True)

    def write_body(self, stream: BinaryIO) -> None:
        parts = ["features", "labels"] if self.is_fit_label() else ["features"]
        rows = [self.fitted(part, "save")[name] for part in parts for name in self.rows]
        write_flag(stream, self.is_fit_label())
        write_numbers(stream, self.target_min, self.target_max)
        write_rows(stream, rows)

    @classmethod
    def read_body(cls, stream: BinaryIO) -> Self:
        fits_labels = read_flag(stream)
        normalizer = cls(*read_numbers(stream, 2))
        normalizer.set_feature_stats(read_row(stream), read_row(stream))
        if fits_labels:
            normalizer.set_label_stats(read_row(stream), read_row(stream))
        return normalizer

    def _finished(self, statistics: Bounds) -> Mapping[str, np.ndarray]:
        statistics.check_complete()
        return _checked(statistics.who, statistics.lower, statistics.upper)

    def _forward(self, who: str, x: Array, mask: Array | None, values: Mapping[str, np.ndarray]) -> Array:
        scaled = minus(x, values["lower"])
        scaled /= like(x, values["upper"] - values["lower"])
        if self.target_max - self.target_min != 1:
            scaled *= self.target_max - self.target_min
        if self.target_min != 0:
            scaled += self.target_min
        return zero_where_masked(who, scaled, mask)

    def _backward(self, who: str, x: Array, mask: Array | None, values: Mapping[str, np.ndarray]) -> Array:
        reverted = x - self.target_min
        if self.target_max - self.target_min != 1:
            reverted /= self.target_max - self.target_min
        reverted *= like(x, values["upper"] - values["lower"])
        add(reverted, values["lower"])
        return zero_where_masked(who, reverted, mask)


def check_range(who: str, low: float, high: float) -> tuple[float, float]:
    """Return a range; raise ConfigurationError unless it has an extent."""
    if not low < high:
        raise ConfigurationError(f"{who}: the range must go from a number to a larger one, got {low!r} to {high!r}.")
    return low, high


def _checked(who: str, lower: Any, upper: Any) -> dict[str, np.ndarray]:
    bounds = check_statistics(who, lower=lower, upper=upper)
    if (bounds["upper"] < bounds["lower"]).any():
        column = int(np.argmax(bounds["upper"] < bounds["lower"]))
        raise ConfigurationError(
            f"{who}: every upper bound must be at least the lower one, got {bounds['lower'][column]} to "
            f"{bounds['upper'][column]} in column {column}."
        )
    narrow = bounds["upper"] - bounds["lower"] < _SMALLEST_RANGE
    # beside large numbers 1e-5 is lost in rounding
    least = np.maximum(bounds["lower"] + _SMALLEST_RANGE, np.nextafter(bounds["lower"], np.inf))
    return {**bounds, "upper": np.where(narrow, least, bounds["upper"])}
