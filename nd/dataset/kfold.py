"""KFoldIterator: cross-validation."""

from __future__ import annotations

import numpy as np

from backends.errors import DataError
from nd.arguments import checked
from nd.dataset.checks import check_count
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import DataSetIterator, State, refuse_num
from nd.dataset.order import EpochOrder
from nd.dataset.ordered import CountingIterator


class KFoldIterator(CountingIterator[DataSet], DataSetIterator):
    """Hand out, k times, all folds of a DataSet but one to train on; `test_fold` returns the one that is held out.

    Parameters
    ----------
    k : int
        Number of folds, 2 to N.
    data_set : DataSet
        Of N examples. It stays as it is.
    seed : int
        Of the orders that resets make.

    Raises
    ------
    ArgumentError
        It is no DataSet, or `seed` is no whole number.
    DataError
        `k` is out of range.

    Notes
    -----
    The folds of the first round are the examples in their order; the first N mod k folds have one example more than
    the others. Every `reset` shuffles the examples before it cuts folds, as Java's does.

    Source: org.nd4j.linalg.dataset.api.iterator.KFoldIterator. Differs: Java shuffles the DataSet itself, without a
    seed; `batch` is the size of what `next` will return, in Java that of the fold that is held out; `pre_processor` is
    applied to both parts, in Java to neither.

    Examples
    --------
    >>> iterator = KFoldIterator(2, DataSet([[0.0], [1.0], [2.0]]))
    >>> for train in iterator:
    ...     print(train.features.ravel().tolist(), iterator.test_fold().features.ravel().tolist())
    [2.0] [0.0, 1.0]
    [0.0, 1.0] [2.0]
    """

    @checked
    def __init__(self, k: int, data_set: DataSet, seed: int = 0) -> None:
        self._data_set, self._total = data_set, data_set.num_examples()
        self._k = check_count("KFoldIterator", "k", k, 2, self._total)
        self._order = EpochOrder(self._total, seed)

    def named_source(self) -> DataSet:
        return self._data_set

    def end(self) -> int:
        return self._k

    def size_of_next(self, num: int | None) -> int:
        refuse_num(self, num)
        return 1

    def _examples(self, start: int, stop: int) -> DataSet:
        start, stop = self._bounds(start)
        return self._chosen(np.concatenate([np.arange(start), np.arange(stop, self._total)]))

    def test_fold(self) -> DataSet:
        """Return the fold that the last `next` held out.

        Raises
        ------
        DataError
            `next` was not called since the last reset.
        """
        if self.cursor == 0:
            raise DataError("KFoldIterator.test_fold: next must come first, got no call of it in this round.")
        return self.pre_processed(self._chosen(np.arange(*self._bounds(self.cursor - 1))))

    def reset(self) -> None:
        """Shuffle the examples and begin with the first fold."""
        super().reset()
        self._order.begin()

    def _signature(self) -> State:
        return {"examples": self._total, "k": self._k}

    def state(self) -> State:
        return {**super().state(), "order": self._order.state(), "shuffled": self._order.begun()}

    def restore(self, state: State) -> None:
        cursor = self.checked_cursor(state)
        if not isinstance(state.get("shuffled"), bool):
            raise DataError(f"KFoldIterator.restore: shuffled must be True or False, got {state.get('shuffled')!r}.")
        self._order.restore(state.get("order"), state["shuffled"])
        self.cursor = cursor

    def batch(self) -> int:
        """Return the number of examples that the next call of `next` returns (after the last one: that it returned)."""
        start, stop = self._bounds(min(self.cursor, self._k - 1))
        return self._total - (stop - start)

    def async_supported(self) -> bool:
        """Return False: reading ahead would hold out another fold than the one that is trained without."""
        return False

    def _bounds(self, fold: int) -> tuple[int, int]:
        size, larger = divmod(self._total, self._k)
        start = fold * size + min(fold, larger)
        return start, start + size + (fold < larger)

    def _chosen(self, places: np.ndarray) -> DataSet:
        return self._data_set.get(self._order.numbers(0, self._total)[places])
