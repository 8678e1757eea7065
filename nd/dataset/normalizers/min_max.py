"""NormalizerMinMaxScaler: every column into the same range."""

from __future__ import annotations

from typing import BinaryIO, Self

import numpy as np

from backends.errors import ConfigurationError
from nd.arguments import checked
from nd.dataset.normalizers.arrays import add, like, minus, shrunk, stretch
from nd.dataset.normalizers.base import FittedNormalizer, numbers_of
from nd.dataset.normalizers.body import read_numbers, write_numbers
from nd.dataset.normalizers.learner import Learner
from nd.dataset.normalizers.statistics import Bounds
from nd.dataset.normalizers.ways import Numbers, Way, check_statistics
from nd.typing import Array

_SMALLEST_RANGE = 1e-5


def check_range(who: str, low: float, high: float) -> tuple[float, float]:
    """Return a range; raise ConfigurationError unless it has an extent."""
    if not low < high:
        raise ConfigurationError(f"{who}: the range must go from a number to a larger one, got {low!r} to {high!r}.")
    return low, high


class Scaling(Way):
    """From the smallest and the largest number into a range."""

    statistics = Bounds
    rows = ("lower", "upper")

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = low, high

    def checked(self, who: str, first: object, second: object) -> Numbers:
        bounds = check_statistics(who, lower=first, upper=second)
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

    def finished(self, statistics: Bounds) -> Numbers:
        statistics.check_complete()
        return self.checked(statistics.who, statistics.lower, statistics.upper)

    def forward(self, x: Array, values: Numbers) -> Array:
        scaled = minus(x, values["lower"])
        scaled /= like(x, values["upper"] - values["lower"])
        stretch(scaled, self._low, self._high)
        return scaled

    def backward(self, x: Array, values: Numbers) -> Array:
        reverted = shrunk(x, self._low, self._high)
        reverted *= like(x, values["upper"] - values["lower"])
        add(reverted, values["lower"])
        return reverted


class IntoRange(Learner):
    """Shared by normalizers that bring numbers into a range, which is in their files."""

    @checked
    def __init__(self, target_min: float = 0.0, target_max: float = 1.0) -> None:
        super().__init__()
        self.target_min, self.target_max = check_range(type(self).__name__, target_min, target_max)

    def way(self) -> Scaling:
        return Scaling(self.target_min, self.target_max)

    def write_settings(self, stream: BinaryIO) -> None:
        write_numbers(stream, self.target_min, self.target_max)

    @classmethod
    def read_settings(cls, stream: BinaryIO) -> Self:
        return cls(*read_numbers(stream, 2))


class NormalizerMinMaxScaler(IntoRange, FittedNormalizer):
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
    min, label_min = numbers_of("lower", "min", "Smallest numbers")
    max, label_max = numbers_of("upper", "max", "Largest numbers")

    def set_feature_stats(self, lower: object, upper: object) -> None:
        """Set the features' bounds [columns].

        Raises
        ------
        ConfigurationError
            They are not both rows of so many finite numbers, or an upper one is below the lower one.
        """
        self.set_pair("features", lower, upper)

    def set_label_stats(self, lower: object, upper: object) -> None:
        """Set the labels' bounds [columns], and that labels are to be changed. Same errors."""
        self.set_pair("labels", lower, upper)
