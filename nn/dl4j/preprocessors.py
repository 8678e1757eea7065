"""Pre-processors of iterators that combine several pre-processors."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from nd import ConfigurationError, dataset
from nd.classes import ExplainedType
from nd.dataset import CompositeDataSetPreProcessor, CompositeMultiDataSetPreProcessor
from nd.dataset.composite import checked_pre_processor


class _Builder(metaclass=ExplainedType):
    """Gathers pre-processors."""

    made: ClassVar[type[CompositeDataSetPreProcessor]]

    def __init__(self) -> None:
        self._gathered: list[object] = []

    def add_pre_processor(self, *given: object) -> Self:
        """Add a pre-processor at the end, or ``(index, pre_processor)`` before the one that stands there."""
        if len(given) not in (1, 2):
            raise ConfigurationError(
                f"{self.made.__name__}.Builder.addPreProcessor: expected a pre-processor, or an index and one, got "
                f"{len(given)} arguments."
            )
        index, pre_processor = given if len(given) == 2 else (len(self._gathered), given[0])
        if not isinstance(index, int) or not 0 <= index <= len(self._gathered):
            raise ConfigurationError(f"{self.made.__name__}: index must be 0 to {len(self._gathered)}, got {index!r}.")
        self._gathered.insert(index, checked_pre_processor(self.made.__name__, pre_processor))
        return self

    def build(self) -> CompositeDataSetPreProcessor:
        """Return the pre-processor."""
        return self.made(*self._gathered)


class CombinedPreProcessor(CompositeDataSetPreProcessor):
    """Applies pre-processors one after the other, built by its `Builder`. Source: DL4J ``CombinedPreProcessor``."""

    class Builder(_Builder):
        """Gathers pre-processors."""


class CombinedMultiDataSetPreProcessor(CompositeMultiDataSetPreProcessor):
    """The same for MultiDataSets. Source: DL4J ``CombinedMultiDataSetPreProcessor``."""

    class Builder(_Builder):
        """Gathers pre-processors."""


CombinedPreProcessor.Builder.made = CombinedPreProcessor
CombinedMultiDataSetPreProcessor.Builder.made = CombinedMultiDataSetPreProcessor


class ImageMultiPreProcessingScaler(dataset.ImageMultiPreProcessingScaler):
    """Pixels into a range: ``(*indices)``, ``(min, max, indices)``, ``(min, max, max_bits, indices)``, or with the
    arguments of `nd.dataset.ImageMultiPreProcessingScaler` by name.

    Source: ND4J ``ImageMultiPreProcessingScaler``.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        if not given or named:
            super().__init__(*given, **named)
        elif len(given) in (3, 4) and not isinstance(given[-1], int):
            super().__init__(given[-1], *given[:-1])
        else:
            super().__init__(list(given))
