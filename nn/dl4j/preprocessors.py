"""Pre-processors of iterators that combine several pre-processors."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from nd import ConfigurationError, DTypeError, dataset
from nd.classes import ExplainedType
from nd.dataset import DataSet, MultiDataSet
from nd.dataset.pre_processor import pre_processed


class CompositeDataSetPreProcessor(metaclass=ExplainedType):
    """Applies pre-processors one after the other: ``(first, second)`` or ``(stop_on_empty, first, second)``.

    With `stop_on_empty` True those that come after a DataSet has no examples left are not called.

    Notes
    -----
    Source: ND4J ``CompositeDataSetPreProcessor``.
    """

    kind: ClassVar[type] = DataSet

    def __init__(self, *pre_processors: Any) -> None:
        leading = bool(pre_processors) and isinstance(pre_processors[0], bool)
        self.stop_on_empty = leading and pre_processors[0]
        who = type(self).__name__
        self.pre_processors = [_checked(who, pre_processor) for pre_processor in pre_processors[leading:]]

    def pre_process(self, data_set: Any) -> Any:
        """Change a DataSet; return it, or the one that a pre-processor returned instead."""
        for pre_processor in self.pre_processors:
            if self.stop_on_empty and not data_set.num_examples():
                break
            data_set = pre_processed(type(self).__name__, pre_processor, data_set, self.kind)
        return data_set


class CompositeMultiDataSetPreProcessor(CompositeDataSetPreProcessor):
    """The same for MultiDataSets. Source: ND4J ``CompositeMultiDataSetPreProcessor``."""

    kind = MultiDataSet


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
        self._gathered.insert(index, _checked(self.made.__name__, pre_processor))
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


def _checked(who: str, pre_processor: object) -> Any:
    if not callable(pre_processor) and not hasattr(pre_processor, "pre_process"):
        raise DTypeError(
            f"{who}: expected objects with pre_process(data_set), or callables, got {pre_processor!r}. Leave it out."
        )
    return pre_processor
