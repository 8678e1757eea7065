"""EarlyTerminationDataSetIterator: the first minibatches of another iterator; shared with that over MultiDataSets."""

from __future__ import annotations

from collections.abc import Sized
from typing import cast

from nd.arguments import Count, checked
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import (
    Batch,
    DataSetIterator,
    MinibatchIterator,
    State,
    WrappingDataSetIterator,
    WrappingIterator,
    restored_count,
)


class EarlyTermination(WrappingIterator[Batch]):
    """Shared by iterators over the first minibatches of another one; see `EarlyTerminationDataSetIterator`."""

    def __init__(self, base: MinibatchIterator[Batch], n: int) -> None:
        self.base, self._limit, self._count = base, n, 0

    def has_next(self) -> bool:
        """Tell whether the base has a minibatch and the limit is not reached."""
        return self._count < self._limit and self.base.has_next()

    def next(self, num: int | None = None) -> Batch:
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


class EarlyTerminationDataSetIterator(EarlyTermination[DataSet], WrappingDataSetIterator):
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
        super().__init__(base, n)
