"""CompositeDataSetPreProcessor: several pre-processors as one."""

from __future__ import annotations

from typing import Any, ClassVar

from backends.errors import DTypeError
from nd.arguments import shown
from nd.classes import ExplainedType
from nd.dataset.dataset import DataSet
from nd.dataset.multi_data_set import MultiDataSet
from nd.dataset.pre_processor import draws, pre_processed


class CompositeDataSetPreProcessor(metaclass=ExplainedType):
    """Applies pre-processors one after the other: ``(first, second)`` or ``(stop_on_empty, first, second)``.

    Parameters
    ----------
    *pre_processors : pre-processor or callable
        In front of them may stand `stop_on_empty`: with True those that come after a DataSet has no examples left are
        not called.

    Raises
    ------
    DTypeError
        One is neither.

    Notes
    -----
    Source: org.nd4j.linalg.dataset.api.preprocessor.CompositeDataSetPreProcessor.

    Examples
    --------
    >>> from nd.dataset.augmentation import RandomCrop, RandomFlip
    >>> augment = CompositeDataSetPreProcessor(RandomFlip(), RandomCrop(padding=4))
    >>> augment.draws
    True
    """

    kind: ClassVar[type] = DataSet

    def __init__(self, *pre_processors: Any) -> None:
        leading = bool(pre_processors) and isinstance(pre_processors[0], bool)
        self.stop_on_empty = leading and pre_processors[0]
        who = type(self).__name__
        self.pre_processors = [checked_pre_processor(who, each) for each in pre_processors[leading:]]

    @property
    def draws(self) -> bool:
        """Whether one of them draws random numbers, see `DataSetPreProcessor`."""
        return any(map(draws, self.pre_processors))

    def pre_process(self, data_set: Any) -> Any:
        """Change a DataSet; return it, or the one that a pre-processor returned instead.

        Raises
        ------
        DTypeError
            It is another kind of data set, or a pre-processor has returned something else.
        """
        if not isinstance(data_set, self.kind):
            fitting = "CompositeMultiDataSetPreProcessor" if self.kind is DataSet else "CompositeDataSetPreProcessor"
            raise DTypeError(
                f"{type(self).__name__}.pre_process: expected a {self.kind.__name__}, got {shown(data_set)}. For the "
                f"other kind take {fitting}."
            )
        changed: Any = data_set
        for pre_processor in self.pre_processors:
            if self.stop_on_empty and not changed.num_examples():
                break
            changed = pre_processed(type(self).__name__, pre_processor, changed, self.kind)
        return changed


class CompositeMultiDataSetPreProcessor(CompositeDataSetPreProcessor):
    """The same for MultiDataSets. Source: org.nd4j.linalg.dataset.api.preprocessor, of the same name."""

    kind = MultiDataSet


def checked_pre_processor(who: str, pre_processor: object) -> Any:
    """Return what a user gives as a pre-processor; raise DTypeError where it is none."""
    if not callable(pre_processor) and not hasattr(pre_processor, "pre_process"):
        raise DTypeError(
            f"{who}: expected objects with pre_process(data_set), or callables, got {shown(pre_processor)}. Leave it "
            "out."
        )
    return pre_processor
