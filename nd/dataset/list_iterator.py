"""ListDataSetIterator: DataSets in memory, and what a list of MultiDataSets shares with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from backends.errors import DataError
from nd.arguments import Count, checked
from nd.dataset.checks import check_count
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import (
    Batch,
    DataSetIterator,
    MinibatchIterator,
    State,
    as_minibatch,
    check_same,
    restored_count,
)


class ListIterator(MinibatchIterator[Batch]):
    """Shared by iterators over minibatches in memory, as they are or regrouped; see `ListDataSetIterator`."""

    def __init__(self, data_sets: Any, batch: int | None) -> None:
        who, name = type(self).__name__, self.kind.__name__
        given = [data_sets] if isinstance(data_sets, self.kind) else data_sets
        sets: list[Batch] = [as_minibatch(f"{who}: element {i}", each, self.kind) for i, each in enumerate(given)]
        if sum(data_set.num_examples() for data_set in sets) == 0:
            raise DataError(f"{who}: expected examples, got an empty list ({len(sets)} {name}s).")
        self.sets = sets if batch is None or len(sets) == 1 else [self.kind.merge(sets)]
        self._size = batch
        self.cursor = 0

    def named_source(self) -> Any:
        return self.sets[0]

    def has_next(self) -> bool:
        """Tell whether a minibatch is left."""
        return self.cursor < self.total()

    def next(self, num: int | None = None) -> Batch:
        """Return the next minibatch; its arrays are views of those given.

        Raises
        ------
        DataError
            None is left, or `num` is given to an iterator without a batch.
        """
        self.check_has_next()
        if self._size is not None:
            count = self._size if num is None else check_count(f"{type(self).__name__}.next", "num", num, 1)
            stop = min(self.cursor + count, self.total())
            minibatch = self.sets[0].get_range(self.cursor, stop)
        elif num is None:
            stop = self.cursor + 1
            minibatch = self.sets[self.cursor]
        else:
            raise DataError(f"{type(self).__name__}.next: num needs an iterator that regroups, got {num}. Pass batch=.")
        self.cursor = stop
        return self.pre_processed(minibatch)

    def reset(self) -> None:
        """Go back to the first minibatch."""
        self.cursor = 0

    def state(self) -> State:
        return {"cursor": self.cursor, "total": self.total()}

    def restore(self, state: State) -> None:
        check_same(self, state, total=self.total())
        self.cursor = restored_count(self, state, "cursor", self.total())

    def batch(self) -> int:
        """Return the batch given, else the size of the first DataSet."""
        return self.sets[0].num_examples() if self._size is None else self._size

    def __len__(self) -> int:
        return -(-self.total() // (self._size or 1))

    def total(self) -> int:
        """Return the number of examples with a batch, of minibatches without."""
        return len(self.sets) if self._size is None else self.sets[0].num_examples()


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

    def total_outcomes(self) -> int:
        """Return the length of the labels' second axis."""
        return self.sets[0].num_outcomes()

    def input_columns(self) -> int:
        """Return the length of the features' second axis."""
        return self.sets[0].num_inputs()
