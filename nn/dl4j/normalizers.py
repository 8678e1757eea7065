"""Methods of normalizers that exist for Java's sake, and NormalizerSerializer."""

from __future__ import annotations

from typing import Any

from nd.arguments import checked
from nd.dataset.normalizers.any_normalizer import AnyNormalizer
from nd.dataset.normalizers.base import Normalizer
from nd.dataset.normalizers.multi import MultiNormalizer

_TYPES = {
    "ImageMultiPreProcessingScaler": "IMAGE_MIN_MAX", "ImagePreProcessingScaler": "IMAGE_MIN_MAX",
    "MultiNormalizerHybrid": "MULTI_HYBRID",
    "MultiNormalizerMinMaxScaler": "MULTI_MIN_MAX", "MultiNormalizerStandardize": "MULTI_STANDARDIZE",
    "NormalizerMinMaxScaler": "MIN_MAX", "NormalizerStandardize": "STANDARDIZE",
    "VGG16ImagePreProcessor": "IMAGE_VGG16",
}  # fmt: skip


def get_type(normalizer: Normalizer | MultiNormalizer) -> str:
    """Return the name of Java's type of a normalizer: "CUSTOM" for one that it has not."""
    return _TYPES.get(type(normalizer).__name__, "CUSTOM")


class NormalizerSerializer:
    """Writes and reads normalizers: ``NormalizerSerializer.getDefault().write(normalizer, file)``.

    Source: ND4J ``NormalizerSerializer``. Differs: strategies of one's own cannot be added.
    """

    @classmethod
    def getDefault(cls) -> NormalizerSerializer:
        """Return the one that knows all normalizers."""
        return cls()

    @checked
    def write(self, normalizer: AnyNormalizer, file: Any) -> None:
        """Write a normalizer into a file, as its `save`."""
        normalizer.save(file)

    def restore(self, file: Any) -> Any:
        """Return the normalizer of a file that `write`, or Java's, wrote; errors as `load` of a normalizer."""
        return Normalizer.load(file)
