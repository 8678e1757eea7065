"""ExistingDataSetIterator: any Python iterable of DataSets, whose sizes those of the first one tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any, cast

from backends.errors import DataError, DTypeError
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import (
    Batch,
    DataSetIterator,
    MinibatchIterator,
    State,
    as_minibatch,
    refuse_num,
    restored_count,
)


class SizedByFirst(MinibatchIterator[Batch]):
    """Tell sizes of the first minibatch, which is read ahead where nobody has asked for it yet; count minibatches."""

    handed_out = 0
    """Minibatches of this epoch that `next` has returned."""

    _first: int | None = None
    """Examples of the first minibatch."""

    def note_sizes(self, minibatch: Batch) -> None:
        """Remember the sizes of a minibatch, if it is the first."""
        if self._first is None:
            self._first = minibatch.num_examples()

    def check_repeatable(self, method: str) -> None:
        """Raise DataError, in the name of a method, where the same minibatches may not come again."""
        raise NotImplementedError

    def state(self) -> State:
        """Return the number of minibatches of this epoch handed out.

        Raises
        ------
        DataError
            The same minibatches may not come again: an iterable is no sequence (list, tuple), a generator is no
            function or not repeatable.
        """
        self.check_repeatable("state")
        return {"count": self.handed_out}

    def batch(self) -> int:
        """Return the size of the first minibatch, which is read ahead if need be (0 if there is none)."""
        if self._first is None:
            self.has_next()
        return self._first or 0


class DataSetsSizedByFirst(SizedByFirst[DataSet], DataSetIterator):
    """The same of DataSets, whose columns the first one tells too."""

    _columns: tuple[int, int | None] | None = None
    """Features' and labels' second axis."""

    def note_sizes(self, minibatch: DataSet) -> None:
        """Remember the sizes of a minibatch, if it is the first."""
        super().note_sizes(minibatch)
        if self._columns is None:
            outcomes = None if minibatch.labels is None else minibatch.num_outcomes()
            self._columns = (minibatch.num_inputs(), outcomes)

    def _known_columns(self) -> tuple[int, int | None]:
        if self._columns is None:
            self.has_next()
        return self._columns or (0, None)

    def total_outcomes(self) -> int:
        """Return the length of the first labels' second axis.

        Raises
        ------
        DataError
            There are no data or no labels.
        """
        outcomes = self._known_columns()[1]
        return super().total_outcomes() if outcomes is None else outcomes

    def input_columns(self) -> int:
        """Return the length of the first features' second axis (0 if there are no data)."""
        return self._known_columns()[0]


class ExistingIterator(SizedByFirst[Batch]):
    """Shared by iterators over any Python iterable of minibatches; see `ExistingDataSetIterator`."""

    def __init__(self, iterable: Iterable[Any], convert: Callable[[Any], Any] | None = None) -> None:
        if convert is not None and not callable(convert):
            raise DTypeError(
                f"{type(self).__name__}: convert must be a function, got {type(convert).__name__}. Leave it out."
            )
        self._iterable, self._convert = iterable, convert
        try:
            self._source = iter(iterable)
        except TypeError as error:
            raise DTypeError(
                f"{type(self).__name__}: expected an iterable of {self.kind.__name__}s, got {type(iterable).__name__}."
            ) from error
        self._restartable = self._source is not iterable
        self._ahead: Batch | None = None
        self._ended = False

    def named_source(self) -> Any:
        listed = isinstance(self._iterable, Sequence) and len(self._iterable) > 0
        return self._iterable[0] if listed else self._iterable  # type: ignore[index]

    def has_next(self) -> bool:
        """Tell whether a minibatch is left, reading one ahead.

        Raises
        ------
        DTypeError
            The next element is no DataSet (MultiDataSet), None for instance.
        """
        if self._ahead is None and not self._ended:
            self._read_ahead()
        return self._ahead is not None

    def next(self, num: int | None = None) -> Batch:
        """Return the next element of the iterable.

        Raises
        ------
        DataError
            None is left, or `num` is given: the iterable decides how large its minibatches are.
        """
        refuse_num(self, num)
        self.check_has_next()
        self.handed_out += 1
        minibatch, self._ahead = cast(Batch, self._ahead), None
        return self.pre_processed(minibatch)

    def reset(self) -> None:
        """Start the iterable again.

        Raises
        ------
        DataError
            It can be read only once.
        """
        if not self._restartable:
            raise DataError(
                f"{type(self).__name__}.reset: expected an iterable that can start again, got "
                f"{type(self._iterable).__name__}, which can be read once. Pass a list, or an object whose __iter__ "
                "makes a new iterator."
            )
        self._ahead, self._ended, self.handed_out = None, False, 0
        self._source = iter(self._iterable)

    def restore(self, state: State) -> None:
        self.check_repeatable("restore")
        count = restored_count(self, state, "count", len(cast(Sequence[Batch], self._iterable)))
        self._ahead, self._ended, self.handed_out = None, False, count
        self._source = iter(cast(Sequence[Batch], self._iterable)[count:])

    def check_repeatable(self, method: str) -> None:
        if not isinstance(self._iterable, Sequence):
            raise DataError(
                f"{type(self).__name__}.{method}: expected a list or tuple of {self.kind.__name__}s, whose order is "
                f"known, got {type(self._iterable).__name__}. Write an iterator with state() and restore(state)."
            )

    def reset_supported(self) -> bool:
        """Tell whether the iterable can start again."""
        return self._restartable

    def __len__(self) -> int:
        return len(cast(Sized, self._iterable))

    def _read_ahead(self) -> None:
        try:
            data_set = next(self._source)
        except StopIteration:
            self._ended = True
            return
        if self._convert is not None:
            data_set = self._convert(data_set)
        data_set = as_minibatch(f"{type(self).__name__}: element", data_set, self.kind)
        self.note_sizes(data_set)
        self._ahead = data_set


class ExistingDataSetIterator(ExistingIterator[DataSet], DataSetsSizedByFirst):
    """Iterate over any Python iterable of DataSets, one minibatch a DataSet; pairs of arrays become DataSets.

    Parameters
    ----------
    iterable : iterable of DataSet, or of (features, labels) as a torch DataLoader yields them
        Reading starts at the first `has_next`. One that can be read only once (a generator, an open reader) cannot be
        reset, so it lasts for one epoch.
    convert : callable, optional
        Returns the DataSet of an element.

    Raises
    ------
    DTypeError
        It is no iterable.

    Notes
    -----
    Source: org.deeplearning4j.datasets.iterator.ExistingDataSetIterator.
    """
