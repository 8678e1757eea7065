"""NormalizerStandardize: mean 0, standard deviation 1."""

from __future__ import annotations

import numpy as np

from backends.errors import ConfigurationError
from nd.dataset.normalizers.arrays import add, like, minus
from nd.dataset.normalizers.base import FittedNormalizer, numbers_of
from nd.dataset.normalizers.statistics import Moments
from nd.dataset.normalizers.ways import Numbers, Way, check_statistics
from nd.typing import Array

_SMALLEST_STD = 1e-5


class Standardizing(Way):
    """Mean 0, standard deviation 1."""

    statistics = Moments
    rows = ("mean", "std")

    def checked(self, who: str, first: object, second: object) -> Numbers:
        statistics = check_statistics(who, mean=first, std=second)
        if (statistics["std"] < 0).any():
            raise ConfigurationError(f"{who}: std must not be negative, got {statistics['std'].min()}.")
        return {**statistics, "std": np.maximum(statistics["std"], _SMALLEST_STD)}

    def finished(self, statistics: Moments) -> Numbers:
        std = np.sqrt(statistics.variance())
        return {"mean": statistics.mean(), "std": np.maximum(std, _SMALLEST_STD)}

    def forward(self, x: Array, values: Numbers) -> Array:
        standardized = minus(x, values["mean"])
        standardized /= like(x, values["std"])
        return standardized

    def backward(self, x: Array, values: Numbers) -> Array:
        reverted = x * like(x, values["std"])
        add(reverted, values["mean"])
        return reverted


class NormalizerStandardize(FittedNormalizer):
    """Give every column of the features mean 0 and standard deviation 1.

    Parameters
    ----------
    mean, std : array, shape [columns], optional
        Of the features, where they are known already. Both or none.

    Raises
    ------
    ConfigurationError
        They are not both rows of so many finite numbers, or a deviation is negative.

    Notes
    -----
    ``y = (x - mean) / std`` with the population's standard deviation, at least 1e-5: so a constant column becomes 0,
    and another value in it later becomes large. Series [N, C, T] have statistics by column over all time steps that
    are not masked, images [N, C, H, W] by channel. In the dtype of the data, with Java's operations in Java's order;
    where the mean is more exact than that dtype, the rest that rounding takes from it is subtracted too.

    Source: org.nd4j.linalg.dataset.api.preprocessor.NormalizerStandardize, DistributionStats. Differs: Java gathers in
    the data's dtype, and heeds masks of series alone.

    Examples
    --------
    >>> from nd.dataset import DataSet
    >>> data_set = DataSet([[1.0, 7.0], [3.0, 7.0]])
    >>> normalizer = NormalizerStandardize().fit(data_set)
    >>> normalizer.transform(data_set).features.tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    kind = "STANDARDIZE"
    way = Standardizing

    def __init__(self, mean: object = None, std: object = None) -> None:
        super().__init__()
        if mean is not None or std is not None:
            self.numbers["features"] = {0: self.way().checked(type(self).__name__, mean, std)}

    mean, label_mean = numbers_of("mean", "mean", "Means")
    std, label_std = numbers_of("std", "std", "Standard deviations")

    def set_feature_stats(self, mean: object, std: object) -> None:
        """Set the features' statistics [columns].

        Raises
        ------
        ConfigurationError
            They are not both rows of so many finite numbers, or a deviation is negative.
        """
        self.set_pair("features", mean, std)

    def set_label_stats(self, mean: object, std: object) -> None:
        """Set the labels' statistics [columns], and that labels are to be changed. Same errors."""
        self.set_pair("labels", mean, std)
