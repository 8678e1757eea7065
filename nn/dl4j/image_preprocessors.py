"""Pre-processors of iterators over images. Source: org.nd4j.linalg.dataset.api.preprocessor."""

from __future__ import annotations

from typing import Any, ClassVar

from nd import ShapeError
from nd.checks import check_choice, describe_shape
from nd.classes import ExplainedType
from nd.dataset import DataSet
from nd.java_enums import JavaEnum

_SHARES = 0.30000001192092896, 0.5899999737739563, 0.10999999940395355  # Java's floats 0.3, 0.59, 0.11


class ImageFlatteningDataSetPreProcessor(metaclass=ExplainedType):
    """Makes rows of images: features ``[N, C, H, W]`` become ``[N, C * H * W]``; rows stay."""

    def pre_process(self, data_set: DataSet) -> DataSet:
        """Change a DataSet; return it."""
        features = data_set.features
        if features.ndim > 2:
            data_set.features = features.reshape(features.shape[0], -1)
        return data_set


class RGBtoGrayscaleDataSetPreProcessor(metaclass=ExplainedType):
    """Makes grey of colours: features ``[N, 3, H, W]`` become 0.3 R + 0.59 G + 0.11 B, ``[N, H, W]`` as in Java."""

    def pre_process(self, data_set: DataSet) -> DataSet:
        """Change a DataSet; return it. Raise ShapeError for other features."""
        features = _images("RGBtoGrayscaleDataSetPreProcessor", data_set)
        if features.shape[1] != 3:
            raise ShapeError(
                f"RGBtoGrayscaleDataSetPreProcessor: expected images of 3 channels, got {features.shape[1]}."
            )
        red, green, blue = (features[:, channel] * share for channel, share in enumerate(_SHARES))
        data_set.features = red + green + blue
        return data_set


class PermutationTypes(JavaEnum):
    """Ways to order the axes of images."""

    NCHWtoNHWC = "NCHWtoNHWC"
    NHWCtoNCHW = "NHWCtoNCHW"


class PermuteDataSetPreProcessor(metaclass=ExplainedType):
    """Brings the axes of images into another order.

    Parameters
    ----------
    permutation : {"NCHWtoNHWC", "NHWCtoNCHW"}

    Raises
    ------
    ChoiceError
        The permutation is another.
    """

    PermutationTypes: ClassVar = PermutationTypes

    def __init__(self, permutation: str) -> None:
        self.permutation = check_choice("PermuteDataSetPreProcessor", "permutation", permutation, PermutationTypes)

    def pre_process(self, data_set: DataSet) -> DataSet:
        """Change a DataSet; return it. Raise ShapeError unless its features have four axes."""
        axes = (0, 2, 3, 1) if self.permutation == PermutationTypes.NCHWtoNHWC else (0, 3, 1, 2)
        data_set.features = _images("PermuteDataSetPreProcessor", data_set).transpose(axes)
        return data_set


def _images(who: str, data_set: DataSet) -> Any:
    features = data_set.features
    if features.ndim != 4:
        raise ShapeError(f"{who}: expected images of four axes, got {describe_shape(features.shape)}.")
    return features
