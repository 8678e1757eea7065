"""Normalizers: change features, and labels where they are numbers, before a network sees them.

They stand one to a file; they are fitted on data in one pass, set on iterators, and kept with a network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import ClassTable, names_on_demand

from .any_normalizer import AnyNormalizer
from .base import Normalizer

if TYPE_CHECKING:
    from .files import normalizer_from_bytes, normalizer_to_bytes
    from .image_scaler import ImagePreProcessingScaler
    from .min_max import NormalizerMinMaxScaler
    from .multi import MultiNormalizer
    from .multi_hybrid import MultiNormalizerHybrid
    from .multi_image_scaler import ImageMultiPreProcessingScaler
    from .multi_min_max import MultiNormalizerMinMaxScaler
    from .multi_standardize import MultiNormalizerStandardize
    from .standardize import NormalizerStandardize
    from .vgg16 import VGG16ImagePreProcessor
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "files": "normalizer_from_bytes normalizer_to_bytes",
            "image_scaler": "ImagePreProcessingScaler",
            "min_max": "NormalizerMinMaxScaler",
            "multi": "MultiNormalizer",
            "multi_hybrid": "MultiNormalizerHybrid",
            "multi_image_scaler": "ImageMultiPreProcessingScaler",
            "multi_min_max": "MultiNormalizerMinMaxScaler",
            "multi_standardize": "MultiNormalizerStandardize",
            "standardize": "NormalizerStandardize",
            "vgg16": "VGG16ImagePreProcessor",
        },
    )

__all__ = [
    "MULTI_NORMALIZERS",
    "NORMALIZERS",
    "AnyNormalizer",
    "ImageMultiPreProcessingScaler",
    "ImagePreProcessingScaler",
    "MultiNormalizer",
    "MultiNormalizerHybrid",
    "MultiNormalizerMinMaxScaler",
    "MultiNormalizerStandardize",
    "Normalizer",
    "NormalizerMinMaxScaler",
    "NormalizerStandardize",
    "VGG16ImagePreProcessor",
    "normalizer_from_bytes",
    "normalizer_to_bytes",
]

NORMALIZERS: ClassTable[type[Normalizer]] = ClassTable(
    __name__,
    {
        "image_min_max": "ImagePreProcessingScaler",
        "image_vgg16": "VGG16ImagePreProcessor",
        "min_max": "NormalizerMinMaxScaler",
        "standardize": "NormalizerStandardize",
    },
)
"""Name, as ND4J's enum NormalizerType spells it, in lower case -> class."""

MULTI_NORMALIZERS: ClassTable[type[AnyNormalizer]] = ClassTable(
    __name__,
    {
        "image_min_max": "ImageMultiPreProcessingScaler",
        "multi_hybrid": "MultiNormalizerHybrid",
        "multi_min_max": "MultiNormalizerMinMaxScaler",
        "multi_standardize": "MultiNormalizerStandardize",
    },
)
"""The same of normalizers of MultiDataSets."""
