"""Normalizers: change features, and labels where they are numbers, before a network sees them.

They are fitted on data in one pass, set on iterators, and kept with a network. A normalizer stands in a file of its own
and has its line in a table, from which the imports for type checkers are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import ClassTable, names_on_demand

if TYPE_CHECKING:
    from .any_normalizer import AnyNormalizer as AnyNormalizer
    from .base import Normalizer as Normalizer
    from .files import normalizer_from_bytes as normalizer_from_bytes
    from .files import normalizer_to_bytes as normalizer_to_bytes
    from .image_scaler import ImagePreProcessingScaler as ImagePreProcessingScaler
    from .min_max import NormalizerMinMaxScaler as NormalizerMinMaxScaler
    from .multi import MultiNormalizer as MultiNormalizer
    from .multi_hybrid import MultiNormalizerHybrid as MultiNormalizerHybrid
    from .multi_image_scaler import ImageMultiPreProcessingScaler as ImageMultiPreProcessingScaler
    from .multi_min_max import MultiNormalizerMinMaxScaler as MultiNormalizerMinMaxScaler
    from .multi_standardize import MultiNormalizerStandardize as MultiNormalizerStandardize
    from .standardize import NormalizerStandardize as NormalizerStandardize
    from .vgg16 import VGG16ImagePreProcessor as VGG16ImagePreProcessor

NORMALIZERS: ClassTable[type[Normalizer]] = ClassTable(
    __name__,
    {
        "image_min_max": "image_scaler:ImagePreProcessingScaler",
        "image_vgg16": "vgg16:VGG16ImagePreProcessor",
        "min_max": "min_max:NormalizerMinMaxScaler",
        "standardize": "standardize:NormalizerStandardize",
    },
)
"""Name, as ND4J's enum NormalizerType spells it, in lower case -> module and class."""

MULTI_NORMALIZERS: ClassTable[type[AnyNormalizer]] = ClassTable(
    __name__,
    {
        "image_min_max": "multi_image_scaler:ImageMultiPreProcessingScaler",
        "multi_hybrid": "multi_hybrid:MultiNormalizerHybrid",
        "multi_min_max": "multi_min_max:MultiNormalizerMinMaxScaler",
        "multi_standardize": "multi_standardize:MultiNormalizerStandardize",
    },
)
"""The same of normalizers of MultiDataSets."""

if not TYPE_CHECKING:
    _NAMES = NORMALIZERS.modules(MULTI_NORMALIZERS.modules({
        "any_normalizer": "AnyNormalizer",
        "base": "Normalizer",
        "files": "normalizer_from_bytes normalizer_to_bytes",
        "multi": "MultiNormalizer",
    }))  # fmt: skip
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(["MULTI_NORMALIZERS", "NORMALIZERS", *" ".join(_NAMES.values()).split()])
