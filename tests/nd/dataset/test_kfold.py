import numpy as np
import pytest

from nd import ArgumentError, DataError
from nd.dataset import DataSet, KFoldIterator
from nd.dataset.java_random import JavaRandom


def numbered(n):
    x = np.arange(float(n))[:, None]
    return DataSet(x, x * 10)


def rounds(iterator):
    found = []
    while iterator.has_next():
        train, test = iterator.next(), iterator.test_fold()
        np.testing.assert_array_equal(train.labels, train.features * 10)
        np.testing.assert_array_equal(test.labels, test.features * 10)
        found.append((train.features.ravel().tolist(), test.features.ravel().tolist()))
    return found


def test_javas_folds():
    """KFoldIteratorTest of ND4J: 11 examples in folds of 3, 3, 3 and 2."""
    iterator = KFoldIterator(4, numbered(11))
    found = rounds(iterator)
    assert [test for _, test in found] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10]]
    assert [train for train, _ in found] == [[n for n in range(11) if n not in test] for _, test in found]
    assert (len(iterator), iterator.input_columns(), iterator.total_outcomes()) == (4, 1, 1)
    assert not iterator.async_supported()


def test_resets_shuffle_the_examples_and_spare_the_data_set():
    whole = numbered(7)
    iterator = KFoldIterator(3, whole, seed=5)
    rounds(iterator)
    random = JavaRandom(5)
    for _ in range(2):
        iterator.reset()
        order = random.permutation(7).tolist()
        assert [test for _, test in rounds(iterator)] == [order[:3], order[3:5], order[5:]]
    assert whole.features.ravel().tolist() == list(range(7))


def test_batch_is_the_size_of_what_comes_next():
    iterator = KFoldIterator(4, numbered(11))
    for _ in range(4):
        size = iterator.batch()
        assert iterator.next().num_examples() == size
    assert iterator.batch() == 9


def test_refusals():
    with pytest.raises(DataError, match="KFoldIterator: k must be 2 to 3, got 4"):
        KFoldIterator(4, numbered(3))
    with pytest.raises(DataError, match="k must be 2 to 3, got 1"):
        KFoldIterator(1, numbered(3))
    with pytest.raises(ArgumentError, match=r"KFoldIterator: data_set must be a DataSet, got \[\]"):
        KFoldIterator(2, [])
    iterator = KFoldIterator(2, numbered(3))
    with pytest.raises(DataError, match="test_fold: next must come first"):
        iterator.test_fold()
    with pytest.raises(DataError, match="expected no num"):
        iterator.next(2)
    rounds(iterator)
    with pytest.raises(DataError, match=r"KFoldIterator\.next: expected a minibatch, got the end"):
        iterator.next()
