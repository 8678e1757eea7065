"""Shared by iterators that count: through examples, in the order of an epoch, through minibatches in memory."""

from __future__ import annotations

from nd.dataset.checks import check_count
from nd.dataset.iterator import (
    Batch,
    MinibatchIterator,
    State,
    check_same,
    restored_count,
)
from nd.dataset.order import EpochOrder


class CountingIterator(MinibatchIterator[Batch]):
    """Count from 0 to an end. Override `end` and `_examples`.

    Attributes
    ----------
    cursor : int
        What was handed out in this epoch.
    """

    cursor = 0
    per_batch: int
    """Examples in a minibatch."""

    def batch(self) -> int:
        return self.per_batch

    def end(self) -> int:
        """Return what there is to hand out, examples unless a subclass counts something else."""
        raise NotImplementedError

    def _examples(self, start: int, stop: int) -> Batch:
        """Return `start` to `stop` - 1 of this epoch."""
        raise NotImplementedError

    def _signature(self) -> State:
        """Return what iterators over the same data have in common."""
        return {"examples": self.end()}

    def size_of_next(self, num: int | None) -> int:
        """Return how much `next` hands out, `num` if it is given; raise DataError if it cannot be."""
        return self.batch() if num is None else check_count(f"{type(self).__name__}.next", "num", num, 1)

    def has_next(self) -> bool:
        return self.cursor < self.end()

    def next(self, num: int | None = None) -> Batch:
        """Return the next minibatch, of `num` examples if given.

        Raises
        ------
        DataError
            None are left, `num` is out of range or cannot be chosen, or a label is no class number below `num_classes`.
        FormatError
            A file is damaged, or not the one any more that it was.
        """
        self.check_has_next()
        stop = min(self.cursor + self.size_of_next(num), self.end())
        minibatch = self._examples(self.cursor, stop)
        self.cursor = stop
        return self.pre_processed(minibatch)

    def reset(self) -> None:
        self.cursor = 0

    def state(self) -> State:
        return {"cursor": self.cursor, **self._signature()}

    def restore(self, state: State) -> None:
        self.cursor = self.checked_cursor(state)

    def checked_cursor(self, state: State) -> int:
        """Return the cursor of a state; raise DataError if it is not of an iterator over the same data."""
        check_same(self, state, **self._signature())
        return restored_count(self, state, "cursor", self.end())

    def __setstate__(self, state: State) -> None:
        now = {"cursor": "cursor", "batch": "per_batch"}  # what pickles of older releases have underlined
        names = {name: now.get(name.lstrip("_"), name) for name in state}
        vars(self).update({name if ours in state else ours: state[name] for name, ours in names.items()})

    def __len__(self) -> int:
        return -(-self.end() // self.size_of_next(None))


class OrderedIterator(CountingIterator[Batch]):
    """Hand out examples 0, 1, ... of an order that every epoch may change. Override `_examples`.

    Parameters
    ----------
    total, batch : int
        Examples in all, and in a minibatch.
    order : EpochOrder
    classes : int, optional
        Labels are class numbers below that.
    """

    order: EpochOrder

    def __init__(self, total: int, batch: int, order: EpochOrder, classes: int | None = None) -> None:
        self.total, self.per_batch, self.order, self.classes = total, batch, order, classes
        order.begin()

    def end(self) -> int:
        return self.total

    def reset(self) -> None:
        """Begin the next epoch, in another order if this iterator shuffles."""
        super().reset()
        self.order.begin()

    def state(self) -> State:
        return {**super().state(), "order": self.order.state()}

    def restore(self, state: State) -> None:
        cursor = self.checked_cursor(state)
        self.order.restore(state.get("order"))
        self.cursor = cursor
