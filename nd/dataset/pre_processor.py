"""What changes DataSets on their way out of an iterator."""

from __future__ import annotations

from typing import Any, Protocol

from nd.dataset.dataset import DataSet
from nd.java_names import add_overrides


class DataSetPreProcessor(Protocol):
    """What can be set on an iterator: `nd.dataset.normalizers`, and classes ported from Java.

    A subclass may call its method ``preProcess``.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        add_overrides(cls)

    def pre_process(self, data_set: DataSet) -> DataSet | None:
        """Change a DataSet; return it, or another one to hand out instead, or None for the one that was changed."""
