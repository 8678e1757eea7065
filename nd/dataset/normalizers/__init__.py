"""Normalizers: change features, and labels where they are numbers, before a network sees them.

They stand one to a file; they are fitted on data in one pass, set on iterators, and kept with a network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import ClassTable, names_on_demand

from .base import Normalizer

if TYPE_CHECKING:
    from .files import normalizer_from_bytes, normalizer_to_bytes
    from .image_scaler import ImagePreProcessingScaler
    from .min_max import NormalizerMinMaxScaler
    from .standardize import NormalizerStandardize
    from .vgg16 import VGG16ImagePreProcessor
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "files": "normalizer_from_bytes normalizer_to_bytes",
            "image_scaler": "ImagePreProcessingScaler",
            "min_max": "NormalizerMinMaxScaler",
            "standardize": "NormalizerStandardize",
            "vgg16": "VGG16ImagePreProcessor",
        },
    )

__all__ = [
    "NORMALIZERS",
    "ImagePreProcessingScaler",
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
