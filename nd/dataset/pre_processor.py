"""Pre-processors: change DataSets on their way out of an iterator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from backends.errors import DTypeError
from nd.dataset.dataset import DataSet
from nd.java_names import overridable


@overridable
class DataSetPreProcessor(Protocol):
    """Protocol of pre-processors, set on an iterator: `nd.dataset.normalizers`, and classes ported from Java.

    A subclass may call its method ``preProcess``.
    """

    def pre_process(self, data_set: DataSet) -> DataSet | None:
        """Change a DataSet; return it, or another one to hand out instead, or None for the one that was changed."""


PreProcessor = Callable[[DataSet], DataSet] | DataSetPreProcessor


def pre_processed(who: str, pre_processor: PreProcessor, data_set: DataSet) -> DataSet:
    """Return the DataSet that a pre-processor returns for one, which it may change.

    Raises
    ------
    DTypeError
        A callable returned no DataSet, or a method ``pre_process`` neither one nor None.
    """
    pre_process = getattr(pre_processor, "pre_process", None)
    result = pre_processor(data_set) if pre_process is None else pre_process(data_set) or data_set  # type: ignore[operator]
    if not isinstance(result, DataSet):
        raise DTypeError(
            f"{who}: pre_processor must return a DataSet, got {type(result).__name__}. Return the DataSet that it "
            "changed."
        )
    return result
