"""MultiNormalizerStandardize: mean 0, standard deviation 1, of several inputs and outputs."""

from __future__ import annotations

from nd.dataset.normalizers.multi import UniformMultiNormalizer, rows_by_index
from nd.dataset.normalizers.standardize import Standardizing


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
    way = Standardizing
    get_feature_mean, get_label_mean = rows_by_index("mean", "get_feature_mean", "get_label_mean", "means")
    get_feature_std, get_label_std = rows_by_index("std", "get_feature_std", "get_label_std", "standard deviations")
