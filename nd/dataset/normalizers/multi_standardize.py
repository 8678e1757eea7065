"""MultiNormalizerStandardize: mean 0, standard deviation 1, of several inputs and outputs."""

from __future__ import annotations

from nd.dataset.normalizers.standardize import NormalizerStandardize
from nd.dataset.normalizers.uniform_multi import UniformMultiNormalizer
from nd.typing import Array


class MultiNormalizerStandardize(UniformMultiNormalizer):
    """Give every column of every input mean 0 and standard deviation 1; of every output after ``fit_label(True)``.

    Notes
    -----
    Each array as by `NormalizerStandardize`. Source:
    org.nd4j.linalg.dataset.api.preprocessor.MultiNormalizerStandardize.

    Examples
    --------
    >>> from nd.dataset import MultiDataSet
    >>> data = MultiDataSet([[[1.0, 7.0], [3.0, 7.0]], [[0.0], [10.0]]])
    >>> [x.tolist() for x in MultiNormalizerStandardize().fit(data).transform(data).features]
    [[[-1.0, 0.0], [1.0, 0.0]], [[-1.0], [1.0]]]
    """

    kind = "MULTI_STANDARDIZE"

    def single(self) -> NormalizerStandardize:
        return NormalizerStandardize()

    def get_feature_mean(self, index: int) -> Array:
        """Return the means of an input [columns], float64; DataError if it was not fitted."""
        return self.rows_of("get_feature_mean", "features", index)["mean"]

    def get_feature_std(self, index: int) -> Array:
        """Return the standard deviations of an input [columns], float64; DataError if it was not fitted."""
        return self.rows_of("get_feature_std", "features", index)["std"]

    def get_label_mean(self, index: int) -> Array:
        """Return the means of an output [columns], float64; DataError if it was not fitted."""
        return self.rows_of("get_label_mean", "labels", index)["mean"]

    def get_label_std(self, index: int) -> Array:
        """Return the standard deviations of an output [columns], float64; DataError if it was not fitted."""
        return self.rows_of("get_label_std", "labels", index)["std"]
