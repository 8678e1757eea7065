"""MultipleEpochsIterator: several epochs as one."""

from __future__ import annotations

from backends.errors import DataError
from nd.arguments import Count, checked
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import DataSetIterator, State, WrappingIterator, check_same, restored_count


class MultipleEpochsIterator(WrappingIterator[DataSet], DataSetIterator):
    """Go through another iterator several times, as one epoch.

    Parameters
    ----------
    epochs : int
        Number of passes through `base`.
    base : DataSetIterator
        It is reset between its epochs, and before the first one where it stands at its end.

    Raises
    ------
    ArgumentError
        `base` is no DataSetIterator, or `epochs` is less than 1.
    DataError
        `epochs` is more than 1 of an iterator that cannot be reset.

    Notes
    -----
    A network counts all this as one epoch, which schedules by epoch notice; ``fit(base, epochs=n)`` counts n.

    Source: org.deeplearning4j.datasets.iterator.MultipleEpochsIterator.

    Examples
    --------
    >>> from nd.dataset import ListDataSetIterator
    >>> base = ListDataSetIterator(DataSet([[1.0], [2.0], [3.0]]), batch=2)
    >>> [data_set.num_examples() for data_set in MultipleEpochsIterator(2, base)]
    [2, 1, 2, 1]
    """

    @checked
    def __init__(self, epochs: Count, base: DataSetIterator) -> None:
        self._epochs = epochs
        if self._epochs > 1 and not base.reset_supported():
            raise DataError(
                f"MultipleEpochsIterator: expected an iterator that can be reset, got a {type(base).__name__} that "
                "can be read once."
            )
        self.base = base
        self._done = 0  # epochs of the base that are over
        self._begun = False  # whether the base was seen where it stood at first

    def has_next(self) -> bool:
        self._begin()
        if self.base.has_next():
            return True
        if self._done + 1 >= self._epochs:
            return False
        self.base.reset()
        self._done += 1
        return self.base.has_next()

    def reset(self) -> None:
        super().reset()
        self._done, self._begun = 0, True

    def state(self) -> State:
        self._begin()
        return {"base": super().state(), "done": self._done, "epochs": self._epochs}

    def restore(self, state: State) -> None:
        check_same(self, state, epochs=self._epochs)
        done = restored_count(self, state, "done", self._epochs - 1)
        super().restore(state.get("base", {}))
        self._done, self._begun = done, True

    def _begin(self) -> None:
        if not self._begun and not self.base.has_next() and self.base.reset_supported():
            self.base.reset()
        self._begun = True

    def __len__(self) -> int:
        return self._epochs * super().__len__()
