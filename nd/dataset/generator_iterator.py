"""GeneratorDataSetIterator: minibatches that a Python function yields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from backends.errors import DataError, DTypeError
from nd.arguments import checked, shown
from nd.dataset.dataset import DataSet
from nd.dataset.existing import SizedByFirst
from nd.dataset.iterator import Batch, DataSetIterator, State, restored_count


class GeneratorIterator(SizedByFirst[Batch]):
    """Shared by iterators over the minibatches that a generator yields; see `GeneratorDataSetIterator`."""

    @checked
    def __init__(self, source: Callable[[], Iterable[Any]] | Iterable[Any], *, repeatable: bool = True) -> None:
        self._source: Any = source
        self._repeatable = repeatable
        self.items = None if callable(source) else iter(source)

    def reset(self) -> None:
        if not callable(self._source):
            raise DataError(
                f"{type(self).__name__}.reset: expected a function that returns a new generator, got one "
                f"{type(self._source).__name__}, which can be read once. Pass the function itself, without calling it."
            )
        self.start_at(None)

    def restore(self, state: State) -> None:
        """Call the function again and skip the minibatches handed out."""
        self.check_repeatable("restore")
        count = restored_count(self, state, "count")
        self.start_at(None)
        while self.handed_out < count:
            if self.read_ahead() is None:
                raise DataError(
                    f"{type(self).__name__}.restore: count must be at most {self.handed_out}, the number of "
                    f"minibatches that came, got {count}. Is the state of an iterator over other data?"
                )
            self.handed_out += 1

    def __getstate__(self) -> dict[str, object]:
        """Return the state of a copy, which calls the function anew and skips what it has handed out; see `restore`."""
        position = self.state()
        return {**vars(self), "items": None, "ahead": None, "handed_out": position["count"]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.restore({"count": state["handed_out"]})

    def reset_supported(self) -> bool:
        return callable(self._source)

    def start_at(self, items: Iterator[Any] | None, handed_out: int = 0) -> None:
        close = getattr(self.items, "close", None)  # of a generator, whose ``finally`` runs now
        if close is not None:
            close()
        super().start_at(items, handed_out)

    def new_items(self) -> Iterator[Any]:
        items = self._source()
        try:
            return iter(items)
        except TypeError as error:
            raise DTypeError(
                f"{type(self).__name__}: source must return a generator, got {shown(items)}. Yield minibatches in it."
            ) from error

    def check_repeatable(self, method: str) -> None:
        if not self._repeatable or not callable(self._source):
            got = "repeatable=False" if callable(self._source) else f"one {type(self._source).__name__}"
            raise DataError(
                f"{type(self).__name__}.{method}: expected a function that yields the same minibatches each time, "
                f"got {got}. Write an iterator with state() and restore(state)."
            )

    def minibatch_of(self, item: Any) -> Batch:
        if isinstance(item, self.kind):
            return item
        if isinstance(item, tuple) and 1 <= len(item) <= 4:
            return self.kind(*item)
        got = f"a tuple of {len(item)}" if isinstance(item, tuple) else type(item).__name__
        raise DTypeError(
            f"{type(self).__name__}: expected a {self.kind.__name__} or a tuple (features, labels, features_mask, "
            f"labels_mask), got {got}."
        )


class GeneratorDataSetIterator(GeneratorIterator[DataSet], DataSetIterator):
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
