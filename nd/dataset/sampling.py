"""SamplingDataSetIterator: minibatches drawn at random."""

from __future__ import annotations

from typing import Any

from backends.errors import DataError
from nd.arguments import Count, checked
from nd.dataset.checks import check_count
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import DataSetIterator, State, check_same, restored_count
from nd.dataset.java_random import JavaRandom


class SamplingDataSetIterator(DataSetIterator):
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
        self._data_set, self._examples = data_set, data_set.num_examples()
        self._replace = replace
        self._batch = self._check_batch("SamplingDataSetIterator", "batch", batch)
        self._total = total
        self._random = JavaRandom(seed)
        self._cursor = 0

    def named_source(self) -> DataSet:
        return self._data_set

    def has_next(self) -> bool:
        """Tell whether fewer than `total` examples were drawn."""
        return self._cursor < self._total

    def next(self, num: int | None = None) -> DataSet:
        """Return newly drawn examples, `num` of them if given.

        Raises
        ------
        DataError
            `total` is reached, or `num` is out of range.
        """
        self.check_has_next()
        count = self._batch if num is None else self._check_batch("SamplingDataSetIterator.next", "num", num)
        count = min(count, self._total - self._cursor)
        if self._replace:
            places: Any = [self._random.next_int(self._examples) for _ in range(count)]
        else:
            places = self._random.permutation(self._examples)[:count]
        self._cursor += count
        return self.pre_processed(self._data_set.get(places))

    def reset(self) -> None:
        """Count from 0; the draws go on."""
        self._cursor = 0

    def state(self) -> State:
        return {
            "cursor": self._cursor,
            "examples": self._examples,
            "random": self._random.get_state(),
            "replace": self._replace,
            "total": self._total,
        }

    def restore(self, state: State) -> None:
        check_same(self, state, examples=self._examples, replace=self._replace, total=self._total)
        cursor = restored_count(self, state, "cursor", self._total)
        if not isinstance(state.get("random"), int):
            raise DataError(
                f"SamplingDataSetIterator.restore: random must be a whole number, got {state.get('random')!r}."
            )
        self._random.set_state(state["random"])
        self._cursor = cursor

    def batch(self) -> int:
        """Return the number of examples in a minibatch."""
        return self._batch

    def total_outcomes(self) -> int:
        """Return the length of the labels' second axis."""
        return self._data_set.num_outcomes()

    def input_columns(self) -> int:
        """Return the length of the features' second axis."""
        return self._data_set.num_inputs()

    def __len__(self) -> int:
        return -(-self._total // self._batch)

    def _check_batch(self, who: str, name: str, count: int) -> int:
        return check_count(who, name, count, 1, None if self._replace else self._examples)
