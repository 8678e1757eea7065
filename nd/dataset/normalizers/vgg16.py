"""VGG16ImagePreProcessor: pixels as VGG16 was trained on them."""

from __future__ import annotations

from typing import BinaryIO, Self

from backends.errors import ConfigurationError, ShapeError, describe_shape
from nd.arguments import checked
from nd.dataset.normalizers.arrays import like
from nd.dataset.normalizers.base import Normalizer, Numbers
from nd.typing import Array

MEAN_BGR = (103.939, 116.779, 123.68)


class VGG16ImagePreProcessor(Normalizer):
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

    def __init__(self) -> None:
        super().__init__()

    @checked
    def fit_label(self, fit: bool = True) -> None:
        """Do nothing for False.

        Raises
        ------
        ConfigurationError
            For True: labels are no such images.
        """
        if fit:
            raise ConfigurationError("VGG16ImagePreProcessor.fit_label: labels are left as they are, got True.")

    def _forward(self, who: str, x: Array, mask: Array | None, values: Numbers) -> Array:
        return x - like(x, MEAN_BGR)

    def _backward(self, who: str, x: Array, mask: Array | None, values: Numbers) -> Array:
        return x + like(x, MEAN_BGR)

    def _check_array(self, who: str, part: str, x: Array, values: Numbers) -> None:
        if len(x.shape) != 4 or x.shape[1] != 3:
            raise ShapeError(f"{who}: expected images [N, 3, H, W], got {describe_shape(x.shape)}.")

    def write_body(self, stream: BinaryIO) -> None:
        """Write nothing: there is nothing to know."""

    @classmethod
    def read_body(cls, stream: BinaryIO) -> Self:
        return cls()
