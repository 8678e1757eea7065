"""SamplingDataSetIterator: minibatches drawn at random."""

from __future__ import annotations

from backends.errors import DataError
from nd.arguments import Count, checked
from nd.dataset.checks import check_count
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import DataSetIterator, State
from nd.dataset.java_random import JavaRandom
from nd.dataset.ordered import CountingIterator


class SamplingDataSetIterator(CountingIterator[DataSet], DataSetIterator):
    """Draw every minibatch at random from all examples of a DataSet.

    Parameters
    ----------
    data_set : DataSet
        Of N examples. It stays as it is.
    batch : int
        Examples in a minibatch; the last one has the rest of `total`.
    total : int
        Number of examples drawn until the next reset.
    seed : int
        Of the draws, which go on over resets.
    replace : bool
        Whether an example may come twice in a minibatch. Without that every minibatch begins a shuffle of all.

    Raises
    ------
    ArgumentError
        It is no DataSet, `seed` is no whole number, or `batch` or `total` is less than 1.
    DataError
        `batch` is more than N where nothing comes twice.

    Notes
    -----
    Drawn by ``new Random(seed).nextInt(N)``. Source: org.nd4j.linalg.dataset.api.iterator.SamplingDataSetIterator.
    Differs: Java's generator has no seed, its `replace` is False unless given, and its last minibatch is a whole one,
    past `total`.

    Examples
    --------
    >>> iterator = SamplingDataSetIterator(DataSet([[float(i)] for i in range(10)]), batch=3, total=5, seed=42)
    >>> [data_set.features.ravel().tolist() for data_set in iterator]
    [[0.0, 3.0, 8.0], [4.0, 0.0]]
    """

    @checked
    def __init__(self, data_set: DataSet, batch: Count, total: Count, seed: int = 0, *, replace: bool = True) -> None:
        self._data_set, self._number = data_set, data_set.num_examples()
        self._replace = replace
        self.per_batch = self._check_batch("SamplingDataSetIterator", "batch", batch)
        self._total = total
        self._random = JavaRandom(seed)

    def named_source(self) -> DataSet:
        return self._data_set

    def end(self) -> int:
        return self._total

    def size_of_next(self, num: int | None) -> int:
        return self.per_batch if num is None else self._check_batch("SamplingDataSetIterator.next", "num", num)

    def _examples(self, start: int, stop: int) -> DataSet:
        if self._replace:
            return self._data_set.get([self._random.next_int(self._number) for _ in range(stop - start)])
        return self._data_set.get(self._random.permutation(self._number)[: stop - start])

    def _signature(self) -> State:
        return {"examples": self._number, "replace": self._replace, "total": self._total}

    def state(self) -> State:
        # in the order that checkpoints have
        return dict(sorted([*super().state().items(), ("random", self._random.get_state())]))

    def restore(self, state: State) -> None:
        cursor = self.checked_cursor(state)
        if not isinstance(state.get("random"), int):
            raise DataError(
                f"SamplingDataSetIterator.restore: random must be a whole number, got {state.get('random')!r}."
            )
        self._random.set_state(state["random"])
        self.cursor = cursor

    def __setstate__(self, state: State) -> None:
        # pickles of older releases have the number so
        super().__setstate__({"_number" if name == "_examples" else name: value for name, value in state.items()})

    def _check_batch(self, who: str, name: str, count: int) -> int:
        return check_count(who, name, count, 1, None if self._replace else self._number)
