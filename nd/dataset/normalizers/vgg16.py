"""VGG16ImagePreProcessor: pixels as VGG16 was trained on them."""

from __future__ import annotations

from typing import BinaryIO, Self

from backends.errors import ShapeError, describe_shape
from nd.dataset.normalizers.any_normalizer import FeaturesAlone
from nd.dataset.normalizers.arrays import like
from nd.dataset.normalizers.base import Normalizer
from nd.dataset.normalizers.ways import Numbers, Way
from nd.typing import Array

MEAN_BGR = (103.939, 116.779, 123.68)


class WithoutMeanPixel(Way):
    """Minus the mean pixel."""

    def forward(self, x: Array, values: Numbers) -> Array:
        return x - like(x, MEAN_BGR)

    def backward(self, x: Array, values: Numbers) -> Array:
        return x + like(x, MEAN_BGR)

    def check_array(self, who: str, group: str, x: Array, values: Numbers) -> None:
        if len(x.shape) != 4 or x.shape[1] != 3:
            raise ShapeError(f"{who}: expected images [N, 3, H, W], got {describe_shape(x.shape)}.")


class VGG16ImagePreProcessor(FeaturesAlone, Normalizer):
    """Subtract the mean pixel of the images that VGG16 was trained on. There is nothing to fit.

    Notes
    -----
    Of images [N, 3, H, W] with the channels blue, green, red and pixels 0 to 255: 103.939, 116.779 and 123.68.

    Source: org.nd4j.linalg.dataset.api.preprocessor.VGG16ImagePreProcessor; Simonyan, Zisserman 2014.

    Examples
    --------
    >>> import numpy as np
    >>> black = np.zeros((1, 3, 1, 1), np.float32)
    >>> VGG16ImagePreProcessor().transform_features(black).ravel().round(3).tolist()
    [-103.93..., -116.77..., -123.68...]
    """

    kind = "IMAGE_VGG16"
    way = WithoutMeanPixel

    def __init__(self) -> None:
        super().__init__()

    def write_body(self, stream: BinaryIO) -> None:
        """Write nothing: there is nothing to know."""

    @classmethod
    def read_body(cls, stream: BinaryIO) -> Self:
        return cls()
