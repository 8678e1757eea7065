"""DataSetIterator, and the iterators over DataSets that already exist."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Any, cast

from backends.errors import DataError, DTypeError
from nd.dataset.checks import check_count
from nd.dataset.dataset import DataSet

PreProcessor = Callable[[DataSet], DataSet]


class DataSetIterator(Iterator[DataSet], ABC):
    """Hand out minibatches. A subclass defines `has_next`, `next`, `reset` and `batch`.

    Attributes
    ----------
    pre_processor : callable or None
        Called with each DataSet, and returns the one to hand out. It gets a DataSet object of its own, so it may assign
        new arrays to it; it must not write into the arrays, which other batches may share.

    Notes
    -----
    ``for data_set in iterator`` starts where the iterator stands and resets it first only if nothing is left: the rule
    of Deeplearning4j's ``fit``. So the first epoch of a new iterator sees the order that the constructor made.

    Source: org.nd4j.linalg.dataset.api.iterator.DataSetIterator.
    """

    pre_processor: PreProcessor | None = None

    @abstractmethod
    def has_next(self) -> bool:
        """Tell whether `next` has a minibatch to return."""

    @abstractmethod
    def next(self, num: int | None = None) -> DataSet:
        """Return the next minibatch, of `num` examples instead of `batch()` where the iterator can do that.

        Raises
        ------
        DataError
            There is none left.
        """

    @abstractmethod
    def reset(self) -> None:
        """Go back to the beginning.

        Raises
        ------
        DataError
            The data can be read only once.
        """

    @abstractmethod
    def batch(self) -> int:
        """Return the number of examples in a minibatch (the last one may have fewer)."""

    def total_outcomes(self) -> int:
        """Return the number of outcomes, the labels' second axis.

        Raises
        ------
        DataError
            It is not known.
        """
        raise DataError(f"{type(self).__name__}.total_outcomes: expected an iterator that knows it, got one without.")

    def input_columns(self) -> int:
        """Return the number of inputs, the features' second axis.

        Raises
        ------
        DataError
            It is not known.
        """
        raise DataError(f"{type(self).__name__}.input_columns: expected an iterator that knows it, got one without.")

    def reset_supported(self) -> bool:
        """Tell whether `reset` works."""
        return True

    def async_supported(self) -> bool:
        """Tell whether another thread may read ahead (`AsyncDataSetIterator`)."""
        return True

    def __iter__(self) -> DataSetIterator:
        if not self.has_next():
            self.reset()
        return self

    def __next__(self) -> DataSet:
        if not self.has_next():
            raise StopIteration
        return self.next()

    def __bool__(self) -> bool:
        """Be true, always: the number of batches may be 0 or unknown, and `has_next` says what is left."""
        return True

    def _check_has_next(self) -> None:
        if not self.has_next():
            raise DataError(f"{type(self).__name__}.next: expected a minibatch, got the end of the data. Call reset().")

    def _pre_processed(self, data_set: DataSet) -> DataSet:
        if self.pre_processor is None:
            return data_set
        own = DataSet(data_set.features, data_set.labels, data_set.features_mask, data_set.labels_mask)
        result = self.pre_processor(own)
        if not isinstance(result, DataSet):
            raise DTypeError(
                f"{type(self).__name__}: pre_processor must return a DataSet, got {type(result).__name__}. "
                "Return the DataSet that it changed."
            )
        return result


class ListDataSetIterator(DataSetIterator):
    """Iterate over DataSets in memory.

    Parameters
    ----------
    data_sets : DataSet or sequence of DataSet
    batch : int, optional
        Regroup the examples into minibatches of that many, the last one smaller if need be. Without it every DataSet
        is one minibatch.

    Raises
    ------
    DataError
        There are no examples.

    Notes
    -----
    Source: org.deeplearning4j.datasets.iterator.impl.ListDataSetIterator. Differs: Java counts DataSets, not examples
    (the same where each holds one example), and groups 5 of them where no batch is given.

    Examples
    --------
    >>> iterator = ListDataSetIterator(DataSet([[1.0], [2.0], [3.0]]), batch=2)
    >>> [data_set.features.tolist() for data_set in iterator]
    [[[1.0], [2.0]], [[3.0]]]
    """

    def __init__(self, data_sets: DataSet | Sequence[DataSet], batch: int | None = None) -> None:
        sets = [data_sets] if isinstance(data_sets, DataSet) else list(data_sets)
        for i, data_set in enumerate(sets):
            _check_data_set(f"ListDataSetIterator: element {i}", data_set)
        if sum(data_set.num_examples() for data_set in sets) == 0:
            raise DataError(f"ListDataSetIterator: expected examples, got an empty list ({len(sets)} DataSets).")
        self._sets = sets
        self._size = None
        if batch is not None:
            self._size = check_count("ListDataSetIterator", "batch", batch, 1)
            self._sets = [sets[0] if len(sets) == 1 else DataSet.merge(sets)]
        self._cursor = 0  # counts examples with a batch, DataSets without

    def has_next(self) -> bool:
        """Tell whether a minibatch is left."""
        return self._cursor < self._total()

    def next(self, num: int | None = None) -> DataSet:
        """Return the next minibatch; its arrays are views of the DataSets given.

        Raises
        ------
        DataError
            None is left, or `num` is given to an iterator without a batch.
        """
        self._check_has_next()
        if self._size is not None:
            count = self._size if num is None else check_count("ListDataSetIterator.next", "num", num, 1)
            stop = min(self._cursor + count, self._total())
            found = self._sets[0].get_range(self._cursor, stop)
        elif num is None:
            stop = self._cursor + 1
            found = self._sets[self._cursor]
        else:
            raise DataError(f"ListDataSetIterator.next: num needs an iterator that regroups, got {num}. Pass batch=.")
        self._cursor = stop
        return self._pre_processed(found)

    def reset(self) -> None:
        """Go back to the first minibatch."""
        self._cursor = 0

    def batch(self) -> int:
        """Return the batch given, else the size of the first DataSet."""
        return self._sets[0].num_examples() if self._size is None else self._size

    def total_outcomes(self) -> int:
        """Return the length of the labels' second axis."""
        return self._sets[0].num_outcomes()

    def input_columns(self) -> int:
        """Return the length of the features' second axis."""
        return self._sets[0].num_inputs()

    def __len__(self) -> int:
        return -(-self._total() // (self._size or 1))

    def _total(self) -> int:
        return len(self._sets) if self._size is None else self._sets[0].num_examples()


class ExistingDataSetIterator(DataSetIterator):
    """Iterate over any Python iterable of DataSets, each of which is one minibatch.

    Parameters
    ----------
    iterable : iterable of DataSet
        Reading starts at the first `has_next`. One that can be read only once (a generator, an open reader) cannot be
        reset, so it lasts for one epoch.

    Notes
    -----
    Source: org.deeplearning4j.datasets.iterator.ExistingDataSetIterator.
    """

    def __init__(self, iterable: Iterable[DataSet]) -> None:
        self._iterable = iterable
        self._source = iter(iterable)
        self._restartable = self._source is not iterable
        self._ahead: DataSet | None = None
        self._sizes: tuple[int, int, int | None] | None = None  # of the first DataSet: examples, inputs, outcomes

    def has_next(self) -> bool:
        """Tell whether a minibatch is left, reading one ahead."""
        if self._ahead is None:
            self._read_ahead()
        return self._ahead is not None

    def next(self, num: int | None = None) -> DataSet:
        """Return the next DataSet of the iterable.

        Raises
        ------
        DataError
            None is left, or `num` is given: the iterable decides how large its minibatches are.
        """
        refuse_num(self, num)
        self._check_has_next()
        found, self._ahead = cast(DataSet, self._ahead), None
        return self._pre_processed(found)

    def reset(self) -> None:
        """Start the iterable again.

        Raises
        ------
        DataError
            It can be read only once.
        """
        if not self._restartable:
            raise DataError(
                f"ExistingDataSetIterator.reset: expected an iterable that can start again, got "
                f"{type(self._iterable).__name__}, which can be read once. Pass a list, or an object whose __iter__ "
                "makes a new iterator."
            )
        self._ahead = None
        self._source = iter(self._iterable)

    def reset_supported(self) -> bool:
        """Tell whether the iterable can start again."""
        return self._restartable

    def batch(self) -> int:
        """Return the size of the first DataSet, which is read ahead if need be (0 if there is none)."""
        return self._known_sizes()[0]

    def total_outcomes(self) -> int:
        """Return the length of the first labels' second axis.

        Raises
        ------
        DataError
            There are no data or no labels.
        """
        outcomes = self._known_sizes()[2]
        return super().total_outcomes() if outcomes is None else outcomes

    def input_columns(self) -> int:
        """Return the length of the first features' second axis (0 if there are no data)."""
        return self._known_sizes()[1]

    def __len__(self) -> int:
        return len(cast(Sized, self._iterable))

    def _read_ahead(self) -> None:
        found = next(self._source, None)
        if found is None:
            return
        _check_data_set("ExistingDataSetIterator: element", found)
        if self._sizes is None:
            outcomes = None if found.labels is None else found.num_outcomes()
            self._sizes = (found.num_examples(), found.num_inputs(), outcomes)
        self._ahead = found

    def _known_sizes(self) -> tuple[int, int, int | None]:
        if self._sizes is None:
            self.has_next()
        return self._sizes or (0, 0, None)


class EarlyTerminationDataSetIterator(DataSetIterator):
    """Iterate over the first minibatches of another iterator, again from its beginning after each `reset`.

    Parameters
    ----------
    base : DataSetIterator
    n : int
        How many minibatches to hand out until the next reset.

    Raises
    ------
    DataError
        `n` is less than 1.

    Notes
    -----
    Source: org.deeplearning4j.datasets.iterator.EarlyTerminationDataSetIterator.
    """

    def __init__(self, base: DataSetIterator, n: int) -> None:
        self._base = base
        self._limit = check_count("EarlyTerminationDataSetIterator", "n", n, 1)
        self._count = 0

    def has_next(self) -> bool:
        """Tell whether the base has a minibatch and the limit is not reached."""
        return self._count < self._limit and self._base.has_next()

    def next(self, num: int | None = None) -> DataSet:
        """Return the base's next minibatch.

        Raises
        ------
        DataError
            None is left, or the limit is reached.
        """
        self._check_has_next()
        found = self._base.next(num)
        self._count += 1
        return self._pre_processed(found)

    def reset(self) -> None:
        """Reset the base and count from 0."""
        self._base.reset()
        self._count = 0

    def batch(self) -> int:
        """Return the base's."""
        return self._base.batch()

    def total_outcomes(self) -> int:
        """Return the base's."""
        return self._base.total_outcomes()

    def input_columns(self) -> int:
        """Return the base's."""
        return self._base.input_columns()

    def reset_supported(self) -> bool:
        """Tell whether the base's `reset` works."""
        return self._base.reset_supported()

    def async_supported(self) -> bool:
        """Tell whether another thread may read the base ahead."""
        return self._base.async_supported()

    def __len__(self) -> int:
        return min(self._limit, len(cast(Sized, self._base)))


def refuse_num(iterator: DataSetIterator, num: int | None) -> None:
    """Raise DataError if a number of examples is asked of an iterator that cannot choose it."""
    if num is not None:
        raise DataError(
            f"{type(iterator).__name__}.next: expected no num, since the minibatches come as they are, got {num}. "
            "Set the size where they are made."
        )


def _check_data_set(who: str, value: Any) -> None:
    if not isinstance(value, DataSet):
        raise DTypeError(f"{who}: expected a DataSet, got {type(value).__name__}. Wrap arrays as DataSet(x, y).")
