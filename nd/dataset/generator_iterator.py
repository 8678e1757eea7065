"""GeneratorDataSetIterator: minibatches that a Python function yields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from backends.errors import DataError, DTypeError
from nd.arguments import checked, shown
from nd.dataset.dataset import DataSet
from nd.dataset.existing import DataSetsSizedByFirst, SizedByFirst
from nd.dataset.iterator import Batch, State, refuse_num, restored_count

Item = DataSet | tuple[Any, ...]
_END: Any = object()


class GeneratorIterator(SizedByFirst[Batch]):
    """Shared by iterators over the minibatches that a generator yields; see `GeneratorDataSetIterator`."""

    def __init__(self, source: Any, repeatable: bool) -> None:
        self._source = source
        self._repeatable = repeatable
        self._items: Iterator[Any] | None = None if callable(source) else iter(source)
        self._ahead: Batch | None = None

    def has_next(self) -> bool:
        """Tell whether a minibatch is left, reading one ahead.

        Raises
        ------
        DTypeError
            An item yielded is neither a DataSet (MultiDataSet) nor a tuple.
        """
        if self._ahead is None:
            self._ahead = self._read()
        return self._ahead is not None

    def next(self, num: int | None = None) -> Batch:
        """Return the next minibatch.

        Raises
        ------
        DataError
            None is left, or `num` is given: the generator decides how large its minibatches are.
        """
        refuse_num(self, num)
        self.check_has_next()
        minibatch, self._ahead = self._ahead, None
        self.handed_out += 1
        return self.pre_processed(minibatch)  # type: ignore[arg-type]

    def reset(self) -> None:
        """Call the function again.

        Raises
        ------
        DataError
            A generator was given instead of a function.
        """
        if not callable(self._source):
            raise DataError(
                f"{type(self).__name__}.reset: expected a function that returns a new generator, got one "
                f"{type(self._source).__name__}, which can be read once. Pass the function itself, without calling it."
            )
        self._start()

    def restore(self, state: State) -> None:
        """Call the function again and skip the minibatches handed out.

        Raises
        ------
        DataError
            The same minibatches do not come again, or there are fewer.
        """
        self.check_repeatable("restore")
        count = restored_count(self, state, "count")
        self._start()
        while self.handed_out < count:
            if self._read() is None:
                raise DataError(
                    f"{type(self).__name__}.restore: count must be at most {self.handed_out}, the number of "
                    f"minibatches that came, got {count}. Is the state of an iterator over other data?"
                )
            self.handed_out += 1

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, which calls the function anew and skips what it has handed out; see `restore`."""
        position = self.state()
        return {**vars(self), "_items": None, "_ahead": None, "handed_out": position["count"]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.restore({"count": state["handed_out"]})

    def reset_supported(self) -> bool:
        """Tell whether a function was given."""
        return callable(self._source)

    def _start(self) -> None:
        close = getattr(self._items, "close", None)  # of a generator, whose ``finally`` runs now
        if close is not None:
            close()
        self._items, self._ahead, self.handed_out = None, None, 0

    def _read(self) -> Batch | None:
        if self._items is None:
            items = self._source()
            try:
                self._items = iter(items)
            except TypeError as error:
                raise DTypeError(
                    f"{type(self).__name__}: source must return a generator, got {shown(items)}. Yield minibatches "
                    "in it."
                ) from error
        item = next(self._items, _END)
        if item is _END:
            return None
        minibatch = self._as_minibatch(item)
        self.note_sizes(minibatch)
        return minibatch

    def check_repeatable(self, method: str) -> None:
        if not self._repeatable or not callable(self._source):
            got = "repeatable=False" if callable(self._source) else f"one {type(self._source).__name__}"
            raise DataError(
                f"{type(self).__name__}.{method}: expected a function that yields the same minibatches each time, "
                f"got {got}. Write an iterator with state() and restore(state)."
            )

    def _as_minibatch(self, item: Any) -> Batch:
        if isinstance(item, self.kind):
            return item
        if isinstance(item, tuple) and 1 <= len(item) <= 4:
            return self.kind(*item)
        got = f"a tuple of {len(item)}" if isinstance(item, tuple) else type(item).__name__
        raise DTypeError(
            f"{type(self).__name__}: expected a {self.kind.__name__} or a tuple (features, labels, features_mask, "
            f"labels_mask), got {got}."
        )


class GeneratorDataSetIterator(GeneratorIterator[DataSet], DataSetsSizedByFirst):
    """Iterate over the minibatches that a generator yields.

    Parameters
    ----------
    source : callable or iterable
        A function that returns a new generator for every epoch (a generator function, without its
        parentheses); or one generator, which lasts for one epoch. It yields minibatches: a DataSet, or
        a tuple ``(features, labels)``, which may go on with the masks of features and of labels.
    repeatable : bool
        Whether `source` yields the same minibatches at every call. `state` needs that: `restore` calls
        it and skips as many as were handed out. False where it draws at random: then checkpoints begin an epoch anew.

    Raises
    ------
    DTypeError
        `source` is neither.

    Notes
    -----
    Reading starts at the first `has_next`, one minibatch ahead. Source: org.nd4j.linalg.dataset.api.iterator, where
    IteratorDataSetIterator takes one Java Iterator.

    Examples
    --------
    >>> def minibatches():
    ...     for start in (0, 10):
    ...         yield [[start + 1.0], [start + 2.0]], [[0], [1]]
    >>> iterator = GeneratorDataSetIterator(minibatches)
    >>> [data_set.features.tolist() for data_set in iterator]
    [[[1.0], [2.0]], [[11.0], [12.0]]]
    """

    @checked
    def __init__(self, source: Callable[[], Iterable[Item]] | Iterable[Item], *, repeatable: bool = True) -> None:
        super().__init__(source, repeatable)
