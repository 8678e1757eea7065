"""MultiNormalizerMinMaxScaler: every column of several inputs and outputs into the same range."""

from __future__ import annotations

from nd.dataset.normalizers.min_max import IntoRange
from nd.dataset.normalizers.multi import UniformMultiNormalizer, rows_by_index


class MultiNormalizerMinMaxScaler(IntoRange, UniformMultiNormalizer):
    """Bring every column of every input to a range that all share; of every output after ``fit_label(True)``.

    Each array as by `NormalizerMinMaxScaler`, whose arguments it takes. Source:
    org.nd4j.linalg.dataset.api.preprocessor.MultiNormalizerMinMaxScaler.

    Examples
    --------
    >>> from nd.dataset import MultiDataSet
    >>> data = MultiDataSet([[[1.0], [2.0], [5.0]], [[0.0], [4.0], [8.0]]])
    >>> [x.ravel().tolist() for x in MultiNormalizerMinMaxScaler(-1, 1).fit(data).transform(data).features]
    [[-1.0, -0.5, 1.0], [-1.0, 0.0, 1.0]]
    """

    kind = "MULTI_MIN_MAX"
    get_min, get_label_min = rows_by_index("lower", "get_min", "get_label_min", "smallest numbers")
    get_max, get_label_max = rows_by_index("upper", "get_max", "get_label_max", "largest numbers")
