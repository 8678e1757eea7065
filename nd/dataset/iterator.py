"""DataSetIterator, and the iterators over DataSets that already exist."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, cast

from backends.errors import DataError, DTypeError
from nd.arguments import Count, checked
from nd.dataset.checks import check_count
from nd.dataset.dataset import DataSet
from nd.dataset.pre_processor import PreProcessor, pre_processed
from nd.java_names import JavaNamedABC, JavaNames

State = dict[str, Any]
"""Where an iterator stands, in values that JSON has."""


class DataSetIterator(Iterator[DataSet], JavaNames, metaclass=JavaNamedABC):
    """Hand out minibatches. A subclass defines `has_next`, `next`, `reset` and `batch`.

    Attributes
    ----------
    pre_processor : DataSetPreProcessor, callable or None
        Called with a DataSet, and returns the one to hand out. It gets a DataSet object of its own, so it may assign
        new arrays to it; it must not write into the arrays, which other batches may share. An iterator over another one
        has its own, which gets the DataSet that the other's returned.

    Notes
    -----
    ``for data_set in iterator`` starts where the iterator stands and resets it first only if nothing is left: the rule
    of Deeplearning4j's ``fit``. So the first epoch of a new iterator sees the order that the constructor drew.

    Source: org.nd4j.linalg.dataset.api.iterator.DataSetIterator.
    """

    pre_processor: PreProcessor | None = None
    class_names: Sequence[str] | None = None  # of labels that were texts

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

    def set_pre_processor(self, pre_processor: PreProcessor | None) -> None:
        """Have every DataSet go through `pre_processor` from now on, a fitted normalizer for instance; None ends that.

        Raises
        ------
        DTypeError
            It has no method ``pre_process`` and cannot be called.
        """
        if pre_processor is not None and not hasattr(pre_processor, "pre_process") and not callable(pre_processor):
            raise DTypeError(
                f"{type(self).__name__}.set_pre_processor: expected an object with pre_process(data_set), or a "
                f"callable, got {type(pre_processor).__name__}."
            )
        self.pre_processor = pre_processor

    def state(self) -> State:
        """Return where this iterator stands, for `restore`: numbers, strings, lists and dicts, as JSON holds them.

        Where minibatches are read ahead this is called after every one, so it should be small.

        Raises
        ------
        DataError
            It cannot say. A subclass that can defines both methods; checkpoints then continue within its epochs.
        """
        raise DataError(
            f"{type(self).__name__}.state: expected an iterator that can say where it stands, got one without. "
            "Define state() and restore(state)."
        )

    def restore(self, state: State) -> None:
        """Stand where the iterator stood whose `state` this is: later minibatches and resets are those of that one.

        Raises
        ------
        DataError
            It cannot, or the state is of an iterator over other data.
        """
        raise DataError(
            f"{type(self).__name__}.restore: expected an iterator that can go on where another stood, got one without. "
            "Define state() and restore(state)."
        )

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

    def check_has_next(self) -> None:
        """Raise DataError where no minibatch is left."""
        if not self.has_next():
            raise DataError(f"{type(self).__name__}.next: expected a minibatch, got the end of the data. Call reset().")

    def pre_processed(self, data_set: DataSet) -> DataSet:
        """Return a minibatch as it is handed out, from the pre-processor if there is one."""
        if self.pre_processor is None:
            return data_set
        own = DataSet(data_set.features, data_set.labels, data_set.features_mask, data_set.labels_mask)
        return pre_processed(type(self).__name__, self.pre_processor, own)


class ListDataSetIterator(DataSetIterator):
    """Iterate over DataSets in memory.

    Parameters
    ----------
    data_sets : DataSet or iterable of DataSet
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
        sets = [data_sets] if isinstance(data_sets, DataSet) else list(data_sets)
        for i, data_set in enumerate(sets):
            check_data_set(f"ListDataSetIterator: element {i}", data_set)
        if sum(data_set.num_examples() for data_set in sets) == 0:
            raise DataError(f"ListDataSetIterator: expected examples, got an empty list ({len(sets)} DataSets).")
        self.sets = sets if batch is None or len(sets) == 1 else [DataSet.merge(sets)]
        self._size = batch
        self.cursor = 0

    def has_next(self) -> bool:
        """Tell whether a minibatch is left."""
        return self.cursor < self.total()

    def next(self, num: int | None = None) -> DataSet:
        """Return the next minibatch; its arrays are views of the DataSets given.

        Raises
        ------
        DataError
            None is left, or `num` is given to an iterator without a batch.
        """
        self.check_has_next()
        if self._size is not None:
            count = self._size if num is None else check_count("ListDataSetIterator.next", "num", num, 1)
            stop = min(self.cursor + count, self.total())
            minibatch = self.sets[0].get_range(self.cursor, stop)
        elif num is None:
            stop = self.cursor + 1
            minibatch = self.sets[self.cursor]
        else:
            raise DataError(f"ListDataSetIterator.next: num needs an iterator that regroups, got {num}. Pass batch=.")
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

    def total_outcomes(self) -> int:
        """Return the length of the labels' second axis."""
        return self.sets[0].num_outcomes()

    def input_columns(self) -> int:
        """Return the length of the features' second axis."""
        return self.sets[0].num_inputs()

    def __len__(self) -> int:
        return -(-self.total() // (self._size or 1))

    def total(self) -> int:
        """Return the number of examples with a batch, of DataSets without."""
        return len(self.sets) if self._size is None else self.sets[0].num_examples()


class WrappingDataSetIterator(DataSetIterator):
    """Shared by iterators that hand out another one's minibatches: sizes and abilities are the base's."""

    base: DataSetIterator
    """The one whose minibatches are handed out."""

    def batch(self) -> int:
        """Return the base's."""
        return self.base.batch()

    def total_outcomes(self) -> int:
        """Return the base's."""
        return self.base.total_outcomes()

    def input_columns(self) -> int:
        """Return the base's."""
        return self.base.input_columns()

    def reset_supported(self) -> bool:
        """Tell whether the base's `reset` works."""
        return self.base.reset_supported()

    def async_supported(self) -> bool:
        """Tell whether another thread may read the base ahead."""
        return self.base.async_supported()


class EarlyTerminationDataSetIterator(WrappingDataSetIterator):
    """Iterate over the first minibatches of another iterator, again from its beginning after each `reset`.

    Parameters
    ----------
    base : DataSetIterator
    n : int
        Number of minibatches handed out until the next reset.

    Raises
    ------
    ArgumentError
        `base` is no DataSetIterator, or `n` is less than 1.

    Notes
    -----
    Source: org.deeplearning4j.datasets.iterator.EarlyTerminationDataSetIterator.
    """

    @checked
    def __init__(self, base: DataSetIterator, n: Count) -> None:
        self.base, self._limit, self._count = base, n, 0

    def has_next(self) -> bool:
        """Tell whether the base has a minibatch and the limit is not reached."""
        return self._count < self._limit and self.base.has_next()

    def next(self, num: int | None = None) -> DataSet:
        """Return the base's next minibatch.

        Raises
        ------
        DataError
            None is left, or the limit is reached.
        """
        self.check_has_next()
        minibatch = self.base.next(num)
        self._count += 1
        return self.pre_processed(minibatch)

    def reset(self) -> None:
        """Reset the base and count from 0."""
        self.base.reset()
        self._count = 0

    def state(self) -> State:
        return {"count": self._count, "base": self.base.state()}

    def restore(self, state: State) -> None:
        count = restored_count(self, state, "count", self._limit)
        self.base.restore(state.get("base", {}))
        self._count = count

    def __len__(self) -> int:
        return min(self._limit, len(cast(Sized, self.base)))


def refuse_num(iterator: DataSetIterator, num: int | None) -> None:
    """Raise DataError if a number of examples is asked of an iterator that cannot choose it."""
    if num is not None:
        raise DataError(
            f"{type(iterator).__name__}.next: expected no num, since the minibatches come as they are, got {num}. "
            "Set the size where they are made."
        )


def position_of(iterator: DataSetIterator) -> State | DataError:
    """Return an iterator's state, or the error that says why it has none, for whoever asks."""
    try:
        return iterator.state()
    except DataError as error:
        return error.with_traceback(None)


def check_same(iterator: DataSetIterator, state: State, **own: object) -> None:
    """Raise DataError unless a state is of an iterator over data like `own`."""
    for name, expected in own.items():
        restored = state.get(name) if isinstance(state, dict) else state
        if type(restored) is not type(expected) or restored != expected:
            raise DataError(
                f"{type(iterator).__name__}.restore: {name} must be {expected!r}, got {restored!r}. "
                "Is the state of an iterator over other data?"
            )


def restored_count(iterator: DataSetIterator, state: State, name: str, most: int | None = None) -> int:
    """Return a whole number of a state; raise DataError if it is not there or out of range."""
    count = state.get(name) if isinstance(state, dict) else None
    if not isinstance(count, int) or isinstance(count, bool) or count < 0 or (most is not None and count > most):
        bounds = "0 or more" if most is None else f"0 to {most}"
        raise DataError(
            f"{type(iterator).__name__}.restore: {name} must be {bounds}, got {count!r}. "
            "Is the state of another kind of iterator?"
        )
    return count


def check_data_set(who: str, value: Any) -> None:
    """Raise DTypeError unless it is a DataSet."""
    if not isinstance(value, DataSet):
        raise DTypeError(f"{who}: expected a DataSet, got {type(value).__name__}. Wrap arrays as DataSet(x, y).")
