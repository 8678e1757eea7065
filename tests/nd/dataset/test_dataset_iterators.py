from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from backends.errors import ArgumentError, DataError, DTypeError
from nd.dataset import (
    DataSet,
    DataSetIterator,
    EarlyTerminationDataSetIterator,
    ExistingDataSetIterator,
    ListDataSetIterator,
)


def numbered(n: int, first: int = 0) -> DataSet:
    numbers = np.arange(first, first + n, dtype=np.float32)
    return DataSet(np.stack([numbers] * 3, axis=1), np.stack([numbers] * 2, axis=1))


def numbers_of(data_set: DataSet) -> list[int]:
    return [int(n) for n in data_set.features[:, 0]]


def read(iterator: DataSetIterator) -> list[list[int]]:
    return [numbers_of(data_set) for data_set in iterator]


def test_list_iterator_keeps_data_sets_without_a_batch() -> None:
    sets = [numbered(2), numbered(3, first=2)]
    iterator = ListDataSetIterator(sets)
    assert len(iterator) == 2
    assert (iterator.batch(), iterator.input_columns(), iterator.total_outcomes()) == (2, 3, 2)
    assert iterator.next() is sets[0]
    assert iterator.next() is sets[1]
    with pytest.raises(DataError, match=r"expected a minibatch, got the end of the data\. Call reset"):
        iterator.next()
    iterator.reset()
    with pytest.raises(DataError, match=r"num needs an iterator that regroups, got 3\. Pass batch="):
        iterator.next(3)


def test_list_iterator_regroups_with_a_batch() -> None:
    iterator = ListDataSetIterator([numbered(2), numbered(3, first=2), numbered(1, first=5)], batch=4)
    assert len(iterator) == 2
    assert iterator.batch() == 4
    assert read(iterator) == [[0, 1, 2, 3], [4, 5]]
    iterator.reset()
    assert numbers_of(iterator.next(1)) == [0]
    assert numbers_of(iterator.next()) == [1, 2, 3, 4]
    assert numbers_of(iterator.next(99)) == [5]


def test_list_iterator_takes_one_data_set_without_copying() -> None:
    whole = numbered(5)
    iterator = ListDataSetIterator(whole, batch=2)
    assert np.shares_memory(iterator.next().features, whole.features)
    assert read(ListDataSetIterator(whole)) == [[0, 1, 2, 3, 4]]


def test_list_iterator_refuses_nothing_and_other_things() -> None:
    with pytest.raises(DataError, match="got an empty list"):
        ListDataSetIterator([])
    with pytest.raises(DataError, match="got an empty list"):
        ListDataSetIterator(DataSet(np.zeros((0, 3))), batch=2)
    with pytest.raises(DTypeError, match="element 1: expected a DataSet, got ndarray"):
        ListDataSetIterator([numbered(1), np.zeros(3)])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="batch must be an integer >= 1 or None, got 0"):
        ListDataSetIterator(numbered(3), batch=0)
    with pytest.raises(ArgumentError, match="batch must be an integer >= 1 or None, got True"):
        ListDataSetIterator(numbered(3), batch=True)


def test_iterating_resets_only_when_nothing_is_left() -> None:
    iterator = ListDataSetIterator(numbered(3), batch=1)
    iterator.next()
    assert read(iterator) == [[1], [2]]
    assert read(iterator) == [[0], [1], [2]]
    assert next(iterator, None) is None
    assert iterator, "an exhausted iterator is still true"


def test_pre_processor_sees_each_data_set_once_and_spares_the_original() -> None:
    iterator = ListDataSetIterator([numbered(2), numbered(1, first=2)])

    def double(data_set: DataSet) -> DataSet:
        data_set.features = data_set.features * 2
        return data_set

    iterator.pre_processor = double
    assert read(iterator) == [[0, 2], [4]]
    assert read(iterator) == [[0, 2], [4]]
    iterator.pre_processor = lambda data_set: None  # type: ignore[assignment, return-value]
    with pytest.raises(DTypeError, match="pre_processor must return a DataSet, got NoneType"):
        read(iterator)


def test_existing_iterator_restarts_what_can_restart() -> None:
    iterator = ExistingDataSetIterator((numbered(2), numbered(1, first=2)))
    assert iterator.reset_supported()
    assert (iterator.batch(), iterator.input_columns(), iterator.total_outcomes(), len(iterator)) == (2, 3, 2, 2)
    assert read(iterator) == [[0, 1], [2]]
    assert read(iterator) == [[0, 1], [2]]
    with pytest.raises(DataError, match="next: expected no num"):
        iterator.next(3)


def test_existing_iterator_reads_a_generator_once_and_lazily() -> None:
    reads = []

    def generate() -> Iterator[DataSet]:
        for i in range(3):
            reads.append(i)
            yield numbered(1, first=i)

    iterator = ExistingDataSetIterator(generate())
    assert reads == []
    assert iterator.next().features[0, 0] == 0
    assert reads == [0]
    assert read(iterator) == [[1], [2]]
    assert not iterator.reset_supported()
    with pytest.raises(DataError, match=r"can start again, got generator, which can be read once\. Pass a list"):
        iterator.reset()
    with pytest.raises(DataError, match="can start again, got generator"):
        iter(iterator)
    with pytest.raises(TypeError, match="has no len"):
        len(iterator)


def test_existing_iterator_stays_at_its_end() -> None:
    class Late:
        """Hands out more after its end, as an open file that grows."""

        def __init__(self) -> None:
            self.waiting = [numbered(1)]

        def __iter__(self) -> Late:
            return self

        def __next__(self) -> DataSet:
            if not self.waiting:
                raise StopIteration
            return self.waiting.pop()

    source = Late()
    iterator = ExistingDataSetIterator(source)
    iterator.next()
    assert not iterator.has_next()
    source.waiting.append(numbered(1))
    assert not iterator.has_next()


def test_existing_iterator_refuses_other_elements() -> None:
    iterator = ExistingDataSetIterator([np.zeros((2, 2))])  # type: ignore[list-item]
    with pytest.raises(DTypeError, match=r"expected a DataSet, got ndarray\. Wrap arrays"):
        iterator.has_next()
    with pytest.raises(DTypeError, match=r"expected a DataSet, got NoneType"):
        list(ExistingDataSetIterator([numbered(1), None]))  # type: ignore[list-item]
    empty = ExistingDataSetIterator([])
    assert read(empty) == []
    with pytest.raises(DataError, match="total_outcomes: expected an iterator that knows it"):
        empty.total_outcomes()


def test_early_termination_counts_from_each_reset() -> None:
    base = ListDataSetIterator(numbered(5), batch=1)
    iterator = EarlyTerminationDataSetIterator(base, 2)
    assert len(iterator) == 2
    assert read(iterator) == [[0], [1]]
    assert not iterator.has_next()
    assert base.next().features[0, 0] == 2, "the base is not read ahead"
    assert read(iterator) == [[0], [1]]
    assert len(EarlyTerminationDataSetIterator(base, 99)) == 5
    with pytest.raises(DataError, match="next: expected a minibatch"):
        iterator.next()
    with pytest.raises(ArgumentError, match="n must be an integer >= 1, got 0"):
        EarlyTerminationDataSetIterator(base, 0)


class Countdown(DataSetIterator):
    """The least that an iterator must define."""

    def __init__(self) -> None:
        self.left = 2

    def has_next(self) -> bool:
        return self.left > 0

    def next(self, num: int | None = None) -> DataSet:
        self.left -= 1
        return numbered(1, first=self.left)

    def reset(self) -> None:
        self.left = 2

    def batch(self) -> int:
        return 1


def test_a_subclass_needs_four_methods() -> None:
    iterator = Countdown()
    assert read(iterator) == [[1], [0]]
    assert read(iterator) == [[1], [0]]
    assert iterator.reset_supported()
    assert iterator.async_supported()
    with pytest.raises(DataError, match="input_columns: expected an iterator that knows it"):
        iterator.input_columns()
