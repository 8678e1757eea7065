"""ImageMultiPreProcessingScaler: pixels of some inputs into a range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO, Self

from backends.errors import ConfigurationError, DataError
from nd.arguments import Natural, checked
from nd.dataset.normalizers.any_normalizer import FeaturesAlone
from nd.dataset.normalizers.image_scaler import Bits, ImagePreProcessingScaler
from nd.dataset.normalizers.multi import MultiNormalizer
from nd.dataset.normalizers.ways import Way


class ImageMultiPreProcessingScaler(FeaturesAlone, MultiNormalizer):
    """Bring the pixels of some inputs from 0 .. 2^max_bits - 1 to a range. There is nothing to fit.

    Parameters
    ----------
    indices : sequence of int
        The inputs; the others, and labels, stay as they are.
    min, max, max_bits
        As of `ImagePreProcessingScaler`.

    Raises
    ------
    ConfigurationError
        As there, or there are no indices.

    Notes
    -----
    Each array as by `ImagePreProcessingScaler`. ND4J has no form of it for files. Source:
    org.nd4j.linalg.dataset.api.preprocessor.ImageMultiPreProcessingScaler.

    Examples
    --------
    >>> ImageMultiPreProcessingScaler([1]).transform_features([[[7.0]], [[255.0]]])[1].tolist()
    [[1.0]]
    """

    kind = "IMAGE_MIN_MAX"

    @checked
    def __init__(self, indices: Sequence[Natural], min: float = 0.0, max: float = 1.0, max_bits: Bits = 8) -> None:
        who = type(self).__name__
        self.indices = [int(index) for index in indices]
        if not self.indices:
            raise ConfigurationError(f"{who}: indices must name at least one input, got []. Give [0] for the first.")
        self._single = ImagePreProcessingScaler(min, max, max_bits)

    def way_of(self, group: str, index: int) -> Way | None:
        return self._single.way() if group == "features" and index in self.indices else None

    def check_number(self, method: str, group: str, count: int) -> None:
        if group == "features" and max(self.indices) >= count:
            raise DataError(
                f"{self.who(method)}: expected at least {max(self.indices) + 1} inputs, as indices {self.indices} say, "
                f"got {count}."
            )

    def write_body(self, stream: BinaryIO) -> None:
        """Refuse to.

        Raises
        ------
        ConfigurationError
            Always.
        """
        raise ConfigurationError(
            f"{self.who('save')}: expected a normalizer that has a form for files, got one that ND4J has none for. "
            "Save its arguments instead."
        )

    @classmethod
    def read_body(cls, stream: BinaryIO) -> Self:
        raise ConfigurationError(f"{cls.__name__}: expected a normalizer that has a form for files, got one without.")
