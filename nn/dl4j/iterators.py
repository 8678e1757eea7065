"""Iterators with the arguments of Java's constructors, if those differ from ours, and some that only Java has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import nd
from nd import ConfigurationError, DataError, dataset
from nd.arguments import Count, checked, shown
from nd.dataset import DataSet, DataSetIterator, MultiDataSet, MultiDataSetIterator
from nd.dataset.checks import as_array, check_count
from nd.dataset.iterator import State, check_same, restored_count

_MOST_EPOCHS = 2**31 - 1  # Java's int


def _merged(data_sets: Sequence[Any]) -> Any:
    """Return a new DataSet (MultiDataSet) of several, or the one that there is."""
    return data_sets[0] if len(data_sets) == 1 else type(data_sets[0]).merge(data_sets)


class ListDataSetIterator(dataset.ListDataSetIterator):
    """DataSets in memory, merged by fives unless a batch is given. Source: DL4J ``ListDataSetIterator``.

    Several are merged anew in every epoch, so that a change of a minibatch does not last; one alone is handed out as it
    is, and a change of it does, as in Java.
    """

    @checked
    def __init__(self, data_sets: Iterable[DataSet], batch: Count = 5) -> None:
        super().__init__(data_sets)
        self._group = batch

    def next(self, num: int | None = None) -> DataSet:
        """Return the next DataSets, `batch` or `num` of them, as one. DataError if none is left."""
        self.check_has_next()
        count = self._group if num is None else check_count("ListDataSetIterator.next", "num", num, 1)
        group = self.sets[self.cursor : self.cursor + count]
        self.cursor += len(group)
        return self.pre_processed(_merged(group))

    def batch(self) -> int:
        """Return the number of DataSets merged."""
        return self._group

    def __len__(self) -> int:
        return -(-self.total() // self._group)

    def state(self) -> State:
        return {**super().state(), "batch": self._group}

    def restore(self, state: State) -> None:
        check_same(self, state, batch=self._group)
        super().restore(state)


class MnistDataSetIterator(dataset.MnistDataSetIterator):
    """MNIST: ``(batch, train, seed)``, ``(batch, num_examples[, binarize[, train, shuffle, seed]])``, or with the
    arguments of `nd.dataset.MnistDataSetIterator` by name.

    Source: DL4J ``MnistDataSetIterator``.
    """

    def __init__(self, batch: Count, *more: Any, **named: Any) -> None:
        ours = isinstance(more[0], bool) if more else bool(named)
        names = ("train", "seed") if ours else ("num_examples", "binarize", "train", "shuffle", "seed")
        given = dict(zip(names, more, strict=False))
        if len(more) > len(names) or given.keys() & named.keys():
            raise ConfigurationError(
                f"MnistDataSetIterator: expected batch and at most {', '.join(names)}, each once, got "
                f"{1 + len(more)} arguments by position and {sorted(named)} by name."
            )
        super().__init__(batch, **({} if ours else {"shuffle": False}) | given | named)


# ---- pairs of arrays


class INDArrayDataSetIterator(dataset.GeneratorDataSetIterator):
    """Pairs of features and labels, one an example: vectors ``[n]``, or arrays ``[1, ...]``.

    Examples that do not fill a last minibatch are left out, as in Java. Source: DL4J ``INDArrayDataSetIterator``.
    """

    _dtype: ClassVar[str | None] = None

    @checked
    def __init__(self, pairs: Iterable[Any], batch: Count) -> None:
        start = partial(_minibatches, type(self).__name__, pairs, batch, self._dtype)
        super().__init__(start() if iter(pairs) is pairs else start)
        self._batch = batch

    def batch(self) -> int:
        """Return the number of examples in a minibatch."""
        return self._batch


class FloatsDataSetIterator(INDArrayDataSetIterator):
    """Pairs of lists of numbers, as float32; see `INDArrayDataSetIterator`. Source: DL4J ``FloatsDataSetIterator``."""

    _dtype = "float32"


class DoublesDataSetIterator(INDArrayDataSetIterator):
    """Pairs of lists of numbers, as float64; see `INDArrayDataSetIterator`. Source: DL4J ``DoublesDataSetIterator``."""

    _dtype = "float64"


def _minibatches(who: str, pairs: Iterable[Any], batch: int, dtype: str | None) -> Iterator[DataSet]:
    pending: list[DataSet] = []
    for number, pair in enumerate(pairs):
        try:
            features, labels = pair
        except (TypeError, ValueError):
            raise DataError(
                f"{who}: element {number} must be a pair of features and labels, got {shown(pair)}."
            ) from None
        pending.append(DataSet(_row("features", features, dtype), _row("labels", labels, dtype)))
        if len(pending) == batch:
            yield _merged(pending)
            pending = []


def _row(name: str, values: Any, dtype: str | None) -> object:
    array = nd.to_host(nd.create(values, dtype)) if dtype else as_array(name, values)
    return array.reshape(1, -1) if len(array.shape) == 1 else array


# ---- DataSets of other sizes


class ViewIterator(dataset.ListDataSetIterator):
    """One DataSet in minibatches of `batch` examples, whose arrays are views. Source: ND4J ``ViewIterator``."""

    @checked
    def __init__(self, data_set: DataSet, batch: Count) -> None:
        super().__init__(data_set, batch)


class IteratorDataSetIterator(dataset.GeneratorDataSetIterator):
    """DataSets of any sizes, regrouped into minibatches of `batch` examples; it lasts for one epoch.

    Notes
    -----
    Source: DL4J ``IteratorDataSetIterator``. Differs: Java cannot merge some rests of larger DataSets.
    """

    @checked
    def __init__(self, data_sets: Iterable[DataSet], batch: Count) -> None:
        super().__init__(_regrouped(dataset.ExistingDataSetIterator(data_sets), batch))
        self._batch = batch

    def batch(self) -> int:
        """Return the number of examples in a minibatch."""
        return self._batch


class IteratorMultiDataSetIterator(dataset.GeneratorMultiDataSetIterator):
    """The same of MultiDataSets. Source: DL4J ``IteratorMultiDataSetIterator``."""

    @checked
    def __init__(self, data_sets: Iterable[MultiDataSet], batch: Count) -> None:
        super().__init__(_regrouped(dataset.ExistingMultiDataSetIterator(data_sets), batch))
        self._batch = batch

    def batch(self) -> int:
        """Return the number of examples in a minibatch."""
        return self._batch


def _regrouped(data_sets: Iterable[Any], batch: int) -> Iterator[Any]:
    waiting: list[object] = []
    missing = batch
    for data_set in data_sets:
        rest = data_set
        while rest.num_examples() > missing:
            yield _merged([*waiting, rest.get_range(0, missing)])
            rest = rest.get_range(missing, rest.num_examples())
            waiting, missing = [], batch
        waiting.append(rest)
        missing -= rest.num_examples()
        if not missing:
            yield _merged(waiting)
            waiting, missing = [], batch
    if waiting:
        yield _merged(waiting)


class SamplingDataSetIterator(dataset.SamplingDataSetIterator):
    """Minibatches drawn at random, all of full size, until there are `total` examples.

    Source: ND4J ``SamplingDataSetIterator``, whose draws have no seed.
    """

    @checked
    def __init__(self, data_set: DataSet, batch: Count, total: Count, replace: bool = False) -> None:
        super().__init__(data_set, batch, -(-total // batch) * batch, replace=replace)


# ---- iterators over another iterator


class MultipleEpochsIterator(dataset.MultipleEpochsIterator):
    """Several epochs as one: ``(epochs, base[, queue_size])``, ``(epochs, data_set)``, or minibatches until there were
    `total`, ``(base[, queue_size], total)``; epochs and base may be named. Source: DL4J ``MultipleEpochsIterator``."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self._most: int | None = None
        self._count = 0
        if named:
            super().__init__(*given, **named)
            return
        by_total = bool(given) and isinstance(given[0], DataSetIterator)
        if not 2 <= len(given) <= 3:
            raise ConfigurationError(f"MultipleEpochsIterator: expected 2 or 3 arguments, got {len(given)}.")
        base = given[0] if by_total else given[1]
        if isinstance(base, DataSet):
            base = dataset.SingletonDataSetIterator(base)
        super().__init__(_MOST_EPOCHS if by_total else given[0], base)
        if by_total:
            self._most = check_count("MultipleEpochsIterator", "total", given[-1], 1)

    def has_next(self) -> bool:
        """Tell whether a minibatch is left, of this epoch of the base or of another."""
        return (self._most is None or self._count < self._most) and super().has_next()

    def next(self, num: int | None = None) -> DataSet:
        """Return the base's next minibatch. DataError if none is left."""
        minibatch = super().next(num)
        self._count += 1
        return minibatch

    def reset(self) -> None:
        """Reset the base and begin anew."""
        super().reset()
        self._count = 0

    def state(self) -> State:
        return {**super().state(), "count": self._count}

    def restore(self, state: State) -> None:
        count = restored_count(self, state, "count", self._most)
        super().restore(state)
        self._count = count

    def __len__(self) -> int:
        count = super().__len__()
        return count if self._most is None else min(count, self._most)


class AsyncDataSetIterator(dataset.AsyncDataSetIterator):
    """Minibatches that are read ahead: ``(base[, queue_size[, use_workspace[, device_id]]])``.

    Workspaces and devices change nothing. Source: DL4J ``AsyncDataSetIterator``.
    """

    @checked
    def __init__(
        self, base: DataSetIterator, queue_size: Count = 8, use_workspace: bool = True, device_id: int | None = None
    ) -> None:
        super().__init__(base, queue_size)


class AsyncMultiDataSetIterator(dataset.AsyncMultiDataSetIterator):
    """The same of MultiDataSets. Source: DL4J ``AsyncMultiDataSetIterator``."""

    @checked
    def __init__(
        self,
        base: MultiDataSetIterator,
        queue_size: Count = 8,
        use_workspace: bool = True,
        device_id: int | None = None,
    ) -> None:
        super().__init__(base, queue_size)
