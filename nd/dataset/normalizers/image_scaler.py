"""ImagePreProcessingScaler: pixels into a range."""

from __future__ import annotations

from typing import Annotated, BinaryIO, Self

from backends.errors import ConfigurationError, ShapeError, describe_shape
from nd.arguments import Range, checked
from nd.dataset.normalizers.arrays import shrunk, stretch
from nd.dataset.normalizers.base import Normalizer
from nd.dataset.normalizers.body import read_numbers, write_numbers
from nd.dataset.normalizers.min_max import check_range
from nd.dataset.normalizers.ways import Numbers, Way
from nd.typing import Array

Bits = Annotated[int, Range("of 1 to 64", lambda value: 1 <= value <= 64)]


class Pixels(Way):
    """From 0 to the largest pixel into a range."""

    def __init__(self, low: float, high: float, max_pixel: float) -> None:
        self._low, self._high, self._max_pixel = low, high, max_pixel

    def forward(self, x: Array, values: Numbers) -> Array:
        scaled = x / self._max_pixel
        stretch(scaled, self._low, self._high)
        return scaled

    def backward(self, x: Array, values: Numbers) -> Array:
        pixels = shrunk(x, self._low, self._high)
        pixels *= self._max_pixel
        return pixels

    def check_array(self, who: str, group: str, x: Array, values: Numbers) -> None:
        if group == "labels" and len(x.shape) != 4:
            raise ShapeError(
                f"{who}: expected images [N, C, H, W] as labels, got {describe_shape(x.shape)}. "
                "Other labels are not pixels: fit_label(False)."
            )


class ImagePreProcessingScaler(Normalizer):
    """Bring pixels from 0 .. 2^max_bits - 1 to a range. There is nothing to fit.

    Parameters
    ----------
    min, max : float
        The range.
    max_bits : int
        Bits of a pixel: 8 for bytes, 1 where pixels are 0 to 1 already.

    Raises
    ------
    ConfigurationError
        `max` is not larger than `min`, or `max_bits` is not 1 to 64.

    Notes
    -----
    ``y = x / (2^max_bits - 1) (max - min) + min``, steps that change nothing left out, as in Java. Bytes become numbers
    of the default dtype. `fit_label` has labels changed too, images [N, C, H, W] for segmentation; a file does not say
    whether, as in Java.

    Source: org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler. Differs: Java changes labels of
    any rank in DataSets, and fails to revert a DataSet whose labels are no images.

    Examples
    --------
    >>> import numpy as np
    >>> pixels = np.array([[0, 51, 255]], np.uint8)
    >>> ImagePreProcessingScaler(-1, 1).transform_features(pixels).round(3).tolist()
    [[-1.0, -0.6..., 1.0]]
    """

    kind = "IMAGE_MIN_MAX"

    @checked
    def __init__(self, min: float = 0.0, max: float = 1.0, max_bits: Bits = 8) -> None:
        self.min, self.max = check_range("ImagePreProcessingScaler", min, max)
        self.max_pixel = float(2**max_bits - 1)

    def way(self) -> Pixels:
        return Pixels(self.min, self.max, self.max_pixel)

    def write_body(self, stream: BinaryIO) -> None:
        write_numbers(stream, self.min, self.max, self.max_pixel)

    @classmethod
    def read_body(cls, stream: BinaryIO) -> Self:
        low, high, max_pixel = read_numbers(stream, 3)
        normalizer = cls(low, high)
        if not 0 < max_pixel < float("inf"):
            raise ConfigurationError(f"ImagePreProcessingScaler: the largest pixel must be positive, got {max_pixel}.")
        normalizer.max_pixel = max_pixel
        return normalizer
