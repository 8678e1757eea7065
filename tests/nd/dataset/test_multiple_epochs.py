import numpy as np
import pytest

from nd import ArgumentError, DataError
from nd.dataset import (
    AsyncDataSetIterator,
    DataSet,
    GeneratorDataSetIterator,
    ListDataSetIterator,
    MultipleEpochsIterator,
    NumpyDataSetIterator,
    SingletonDataSetIterator,
)

X = np.arange(5.0)[:, None]


def numbers(iterator):
    return [data_set.features.ravel().tolist() for data_set in iterator]


@pytest.mark.parametrize("wrap", [lambda iterator: iterator, AsyncDataSetIterator])
def test_epochs_follow_each_other_and_reset_counts_anew(wrap):
    iterator = wrap(MultipleEpochsIterator(3, ListDataSetIterator(DataSet(X, X), 2)))
    assert len(iterator) == 9
    for _ in range(2):
        assert numbers(iterator) == [[0, 1], [2, 3], [4]] * 3
    assert (iterator.batch(), iterator.input_columns(), iterator.total_outcomes()) == (2, 1, 1)


def test_each_epoch_has_the_order_of_the_base():
    base = NumpyDataSetIterator(X, X, 2, shuffle=True, seed=4)
    expected = [batch for _ in range(3) for batch in numbers(base)]
    assert numbers(MultipleEpochsIterator(3, NumpyDataSetIterator(X, X, 2, shuffle=True, seed=4))) == expected


def test_a_base_at_its_end_is_begun_again_before_the_first_epoch():
    base = ListDataSetIterator(DataSet(X), 5)
    assert len(list(base)) == 1
    iterator = MultipleEpochsIterator(3, base)
    state = iterator.state()
    assert len(list(iterator)) == 3
    iterator.restore(state)
    assert len(list(iterator)) == 3


def test_refusals():
    with pytest.raises(ArgumentError, match=r"MultipleEpochsIterator: base must be a DataSetIterator, got \["):
        MultipleEpochsIterator(2, [DataSet(X)])
    with pytest.raises(ArgumentError, match="epochs must be an integer >= 1, got 0"):
        MultipleEpochsIterator(0, ListDataSetIterator(DataSet(X)))
    once = GeneratorDataSetIterator(iter([DataSet(X)]))
    with pytest.raises(DataError, match="can be reset, got a GeneratorDataSetIterator that can be read once"):
        MultipleEpochsIterator(2, once)
    single = MultipleEpochsIterator(1, once)
    assert not single.reset_supported()
    assert numbers(single) == [X.ravel().tolist()]
    with pytest.raises(DataError, match=r"MultipleEpochsIterator\.next: expected a minibatch, got the end"):
        single.next()


def test_singleton():
    whole = DataSet(X, X)
    iterator = SingletonDataSetIterator(whole)
    for _ in range(2):
        assert list(iterator) == [whole]
    assert (len(iterator), iterator.batch(), iterator.async_supported()) == (1, 5, False)
