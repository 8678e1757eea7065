"""ListDataSetIterator: DataSets in memory, and what a list of MultiDataSets shares with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from backends.errors import DataError
from nd.arguments import Count, checked
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import Batch, DataSetIterator, State, as_minibatch
from nd.dataset.ordered import CountingIterator


class ListIterator(CountingIterator[Batch]):
    """Shared by iterators over minibatches in memory, as they are or regrouped; see `ListDataSetIterator`."""

    def __init__(self, data_sets: Any, batch: int | None) -> None:
        who, name = type(self).__name__, self.kind.__name__
        given = [data_sets] if isinstance(data_sets, self.kind) else data_sets
        sets: list[Batch] = [as_minibatch(f"{who}: element {i}", each, self.kind) for i, each in enumerate(given)]
        if sum(data_set.num_examples() for data_set in sets) == 0:
            raise DataError(f"{who}: expected examples, got an empty list ({len(sets)} {name}s).")
        self.sets = sets if batch is None or len(sets) == 1 else [self.kind.merge(sets)]
        self._size = batch

    def named_source(self) -> Any:
        return self.sets[0]

    def end(self) -> int:
        return self.total()

    def _examples(self, start: int, stop: int) -> Batch:
        return self.sets[start] if self._size is None else self.sets[0].get_range(start, stop)

    def _signature(self) -> State:
        return {"total": self.total()}

    def size_of_next(self, num: int | None) -> int:
        if self._size is None and num is not None:
            raise DataError(f"{type(self).__name__}.next: num needs an iterator that regroups, got {num}. Pass batch=.")
        return 1 if self._size is None else super().size_of_next(num)

    def batch(self) -> int:
        return self.sets[0].num_examples() if self._size is None else self._size

    def total(self) -> int:
        """Return the number of examples with a batch, of minibatches without."""
        return len(self.sets) if self._size is None else self.sets[0].num_examples()


class SingletonIterator(ListIterator[Batch]):
    """Shared by iterators over one minibatch."""

    def async_supported(self) -> bool:
        """Return False: there is nothing to read ahead."""
        return False


class ListDataSetIterator(ListIterator[DataSet], DataSetIterator):
    """Iterate over DataSets in memory.

    Parameters
    ----------
    data_sets : DataSet, or iterable of DataSet or of pairs (features, labels)
    batch : int, optional
        Regroup the examples into minibatches of that many, the last one smaller if need be. Without it every DataSet
        is one minibatch.

    Attributes
    ----------
    sets : list of DataSet
        As given; with a batch all in one.
    cursor : int
        Examples handed out with a batch, DataSets without.

    Raises
    ------
    DataError
        There are no examples.

    Notes
    -----
    Source: org.deeplearning4j.datasets.iterator.impl.ListDataSetIterator. Differs: Java counts DataSets, not examples
    (the same where all hold one example), and groups 5 of them where no batch is given.

    Examples
    --------
    >>> iterator = ListDataSetIterator(DataSet([[1.0], [2.0], [3.0]]), batch=2)
    >>> [data_set.features.tolist() for data_set in iterator]
    [[[1.0], [2.0]], [[3.0]]]
    """

    @checked
    def __init__(self, data_sets: DataSet | Iterable[DataSet], batch: Count | None = None) -> None:
        super().__init__(data_sets, batch)
