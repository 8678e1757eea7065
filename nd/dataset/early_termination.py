"""EarlyTerminationDataSetIterator: the first minibatches of another iterator; shared with that over MultiDataSets."""

from __future__ import annotations

from nd.arguments import Count, checked
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import Batch, DataSetIterator, MinibatchIterator, State, WrappingIterator, restored_count


class EarlyTermination(WrappingIterator[Batch]):
    """Shared by iterators over the first minibatches of another one; see `EarlyTerminationDataSetIterator`."""

    def __init__(self, base: MinibatchIterator[Batch], n: int) -> None:
        self.base, self._limit, self._count = base, n, 0

    def has_next(self) -> bool:
        return self._count < self._limit and super().has_next()

    def handed_on(self, minibatch: Batch) -> Batch:
        self._count += 1
        return minibatch

    def reset(self) -> None:
        super().reset()
        self._count = 0

    def state(self) -> State:
        return {"count": self._count, "base": super().state()}

    def restore(self, state: State) -> None:
        count = restored_count(self, state, "count", self._limit)
        super().restore(state.get("base", {}))
        self._count = count

    def __len__(self) -> int:
        return min(self._limit, super().__len__())


class EarlyTerminationDataSetIterator(EarlyTermination[DataSet], DataSetIterator):
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
