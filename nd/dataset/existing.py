"""ExistingDataSetIterator: any Python iterable of DataSets, whose sizes those of the first one tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
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

_END: object = object()


class SizedByFirst(MinibatchIterator[Batch]):
    """Hand out what a Python iterator has, one minibatch ahead, and count; sizes are those of the first minibatch."""

    handed_out = 0
    """Minibatches of this epoch that `next` has returned."""

    items: Iterator[Any] | None = None
    ahead: Batch | None = None
    _ended = False
    _first: int | None = None
    """Examples of the first minibatch."""
    _columns: tuple[int, int | None] | None = None
    """Its features' and labels' second axis."""

    def new_items(self) -> Iterator[Any]:
        """Return the iterator of a new epoch."""
        raise NotImplementedError

    def minibatch_of(self, item: Any) -> Batch:
        """Return an item as a minibatch; raise DTypeError if it is none."""
        raise NotImplementedError

    def start_at(self, items: Iterator[object] | None, handed_out: int = 0) -> None:
        """Go on with items, None for those of a new epoch."""
        self.items, self.ahead, self._ended, self.handed_out = items, None, False, handed_out

    def has_next(self) -> bool:
        """Tell whether a minibatch is left, reading one ahead; raise DTypeError if the next item becomes none."""
        if self.ahead is None and not self._ended:
            self.ahead = self.read_ahead()
        return self.ahead is not None

    def next(self, num: int | None = None) -> Batch:
        refuse_num(self, num)
        self.check_has_next()
        minibatch, self.ahead = cast(Batch, self.ahead), None
        self.handed_out += 1
        return self.pre_processed(minibatch)

    def read_ahead(self) -> Batch | None:
        """Return the minibatch of the next item, None at the end."""
        if self.items is None:
            self.items = self.new_items()
        item = next(self.items, _END)
        if item is _END:
            self._ended = True
            return None
        minibatch = self.minibatch_of(item)
        if self._first is None:
            self._first, self._columns = minibatch.num_examples(), minibatch.column_counts()
        return minibatch

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

    def column_counts(self) -> tuple[int, int | None]:
        """Return those of the first minibatch, which is read ahead if need be; (0, None) if there is none."""
        if self._columns is None:
            self.has_next()
        return self._columns or (0, None)


class ExistingIterator(SizedByFirst[Batch]):
    """Shared by iterators over any Python iterable of minibatches; see `ExistingDataSetIterator`."""

    def __init__(self, iterable: Iterable[Any], convert: Callable[[Any], Any] | None = None) -> None:
        if convert is not None and not callable(convert):
            raise DTypeError(
                f"{type(self).__name__}: convert must be a function, got {type(convert).__name__}. Leave it out."
            )
        self._iterable, self._convert = iterable, convert
        try:
            self.items = iter(iterable)
        except TypeError as error:
            raise DTypeError(
                f"{type(self).__name__}: expected an iterable of {self.kind.__name__}s, got {type(iterable).__name__}."
            ) from error
        self._restartable = self.items is not iterable

    def named_source(self) -> Any:
        listed = isinstance(self._iterable, Sequence) and len(self._iterable) > 0
        return self._iterable[0] if listed else self._iterable  # type: ignore[index]

    def __setstate__(self, state: State) -> None:
        vars(self).update(
            {"items": state.get("_source"), "ahead": state.get("_ahead"), **state}
        )  # as pickles of older releases call it

    def minibatch_of(self, item: Any) -> Batch:
        minibatch: Batch = as_minibatch(
            f"{type(self).__name__}: element", item if self._convert is None else self._convert(item), self.kind
        )
        return minibatch

    def reset(self) -> None:
        if not self._restartable:
            raise DataError(
                f"{type(self).__name__}.reset: expected an iterable that can start again, got "
                f"{type(self._iterable).__name__}, which can be read once. Pass a list, or an object whose __iter__ "
                "makes a new iterator."
            )
        self.start_at(iter(self._iterable))

    def restore(self, state: State) -> None:
        self.check_repeatable("restore")
        count = restored_count(self, state, "count", len(cast(Sequence[Batch], self._iterable)))
        self.start_at(iter(cast(Sequence[Batch], self._iterable)[count:]), count)

    def check_repeatable(self, method: str) -> None:
        if not isinstance(self._iterable, Sequence):
            raise DataError(
                f"{type(self).__name__}.{method}: expected a list or tuple of {self.kind.__name__}s, whose order is "
                f"known, got {type(self._iterable).__name__}. Write an iterator with state() and restore(state)."
            )

    def reset_supported(self) -> bool:
        return self._restartable

    def __len__(self) -> int:
        return len(cast(Sized, self._iterable))


class ExistingDataSetIterator(ExistingIterator[DataSet], DataSetIterator):
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
