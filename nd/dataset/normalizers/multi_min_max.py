"""MultiNormalizerMinMaxScaler: every column of several inputs and outputs into the same range."""

from __future__ import annotations

from typing import BinaryIO, Self

from nd.arguments import checked
from nd.dataset.normalizers.body import read_numbers, write_numbers
from nd.dataset.normalizers.min_max import NormalizerMinMaxScaler, check_range
from nd.dataset.normalizers.uniform_multi import UniformMultiNormalizer
from nd.typing import Array


class MultiNormalizerMinMaxScaler(UniformMultiNormalizer):
    """Bring every column of every input to a range that all share; of every output after ``fit_label(True)``.

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
    Each array as by `NormalizerMinMaxScaler`. Source:
    org.nd4j.linalg.dataset.api.preprocessor.MultiNormalizerMinMaxScaler.

    Examples
    --------
    >>> from nd.dataset import MultiDataSet
    >>> data = MultiDataSet([[[1.0], [2.0], [5.0]], [[0.0], [4.0], [8.0]]])
    >>> [x.ravel().tolist() for x in MultiNormalizerMinMaxScaler(-1, 1).fit(data).transform(data).features]
    [[-1.0, -0.5, 1.0], [-1.0, 0.0, 1.0]]
    """

    kind = "MULTI_MIN_MAX"

    @checked
    def __init__(self, target_min: float = 0.0, target_max: float = 1.0) -> None:
        super().__init__()
        self.target_min, self.target_max = check_range("MultiNormalizerMinMaxScaler", target_min, target_max)

    def single(self) -> NormalizerMinMaxScaler:
        return NormalizerMinMaxScaler(self.target_min, self.target_max)

    def get_min(self, index: int) -> Array:
        """Return the smallest numbers of an input [columns], float64; DataError if it was not fitted."""
        return self.rows_of("get_min", "features", index)["lower"]

    def get_max(self, index: int) -> Array:
        """Return the largest numbers of an input [columns], float64; DataError if it was not fitted."""
        return self.rows_of("get_max", "features", index)["upper"]

    def get_label_min(self, index: int) -> Array:
        """Return the smallest numbers of an output [columns], float64; DataError if it was not fitted."""
        return self.rows_of("get_label_min", "labels", index)["lower"]

    def get_label_max(self, index: int) -> Array:
        """Return the largest numbers of an output [columns], float64; DataError if it was not fitted."""
        return self.rows_of("get_label_max", "labels", index)["upper"]

    def write_settings(self, stream: BinaryIO) -> None:
        write_numbers(stream, self.target_min, self.target_max)

    @classmethod
    def read_settings(cls, stream: BinaryIO) -> Self:
        return cls(*read_numbers(stream, 2))
