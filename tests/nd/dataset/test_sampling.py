import numpy as np
import pytest

from nd import ArgumentError, DataError
from nd.dataset import DataSet, KFoldIterator, SamplingDataSetIterator
from nd.dataset.java_random import JavaRandom

WHOLE = DataSet(np.arange(10.0)[:, None], np.arange(10.0)[:, None])


def rows(data_set):
    np.testing.assert_array_equal(data_set.features, data_set.labels)
    return data_set.features.ravel().astype(int).tolist()


def test_javas_draws_with_replacement():
    """new Random(42).nextInt(10) gives 0, 3, 8, 4, 0, 5, 5, 8, 9, 3; they go on over resets."""
    iterator = SamplingDataSetIterator(WHOLE, 3, 5, seed=42)
    assert [rows(data_set) for data_set in iterator] == [[0, 3, 8], [4, 0]]
    assert [rows(data_set) for data_set in iterator] == [[5, 5, 8], [9, 3]]
    assert (len(iterator), iterator.batch(), iterator.input_columns(), iterator.total_outcomes()) == (2, 3, 1, 1)


def test_without_replacement_every_minibatch_begins_a_shuffle():
    iterator, random = SamplingDataSetIterator(WHOLE, 4, 12, seed=1, replace=False), JavaRandom(1)
    for data_set in iterator:
        found = rows(data_set)
        assert found == random.permutation(10)[:4].tolist()
        assert len(set(found)) == 4


def test_more_than_there_are():
    assert sum(data_set.num_examples() for data_set in SamplingDataSetIterator(WHOLE, 16, 100)) == 100
    iterator = SamplingDataSetIterator(WHOLE, 16, 100)
    assert iterator.next(50).num_examples() == 50
    with pytest.raises(DataError, match="SamplingDataSetIterator: batch must be 1 to 10, got 16"):
        SamplingDataSetIterator(WHOLE, 16, 100, replace=False)
    with pytest.raises(ArgumentError, match="total must be an integer >= 1, got 0"):
        SamplingDataSetIterator(WHOLE, 1, 0)
    with pytest.raises(ArgumentError, match="data_set must be a DataSet, got 1"):
        SamplingDataSetIterator(1, 1, 1)
    iterator.next(50)
    with pytest.raises(DataError, match="got the end of the data"):
        iterator.next()


@pytest.mark.parametrize("seed", [None, "a", 1.5])
def test_seeds_are_whole_numbers(seed):
    makers = {
        "SamplingDataSetIterator": lambda: SamplingDataSetIterator(WHOLE, 2, 2, seed),
        "KFoldIterator": lambda: KFoldIterator(2, WHOLE, seed),
        "shuffle": lambda: WHOLE.shuffle(seed),
        "sample": lambda: WHOLE.sample(2, seed),
    }
    for name, make in makers.items():
        with pytest.raises(ArgumentError, match=rf"{name}: seed must be an integer, got {seed!r}"):
            make()
