"""Iterators over what is none itself, and iterators that read ahead, of DataSets and of MultiDataSets alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .iterator import MinibatchIterator
from .multi_data_set import MultiDataSet
from .multi_iterator import MultiDataSetIterator


def iterator_over(data: Iterable[Any], several: bool = False) -> MinibatchIterator[Any]:
    """Return an iterator over the minibatches of an iterable: of MultiDataSets where `several`, or where it begins so.

    Parameters
    ----------
    data : iterable of DataSet or MultiDataSet
        Of one that is no sequence nobody looks at the first.
    several : bool
        Whether whoever reads them takes several features or labels.
    """
    if several or (isinstance(data, Sequence) and data and isinstance(data[0], MultiDataSet)):
        from .multi_iterators import ExistingMultiDataSetIterator

        return ExistingMultiDataSetIterator(data)
    from .existing import ExistingDataSetIterator

    return ExistingDataSetIterator(data)


def reading_ahead(source: MinibatchIterator[Any]) -> Any:
    """Return an iterator that reads another one ahead in a thread, of the same kind."""
    if isinstance(source, MultiDataSetIterator):
        from .multi_iterators import AsyncMultiDataSetIterator

        return AsyncMultiDataSetIterator(source)
    from .async_iterator import AsyncDataSetIterator

    return AsyncDataSetIterator(source)  # type: ignore[arg-type]
