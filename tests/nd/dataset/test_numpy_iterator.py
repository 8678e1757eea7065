import copy

import numpy as np
import pytest

from nd import ArgumentError, DataError, DTypeError, ShapeError
from nd.dataset import NumpyDataSetIterator
from nd.dataset.java_random import JavaRandom
from tests.cells import every_row

X = np.arange(14.0).reshape(7, 2)
Y = np.arange(7) % 3


def numbers(iterator):
    return [data_set.features[:, 0].astype(int).tolist() for data_set in iterator]


def test_views_in_their_order():
    iterator = NumpyDataSetIterator(X, X * 2, 3, features_mask=X[:, :1], labels_mask=X[:, 1:])
    assert (len(iterator), iterator.batch(), iterator.input_columns(), iterator.total_outcomes()) == (3, 3, 2, 2)
    data_set = iterator.next()
    assert np.shares_memory(data_set.features, X)
    assert data_set.features_mask.tolist() == [[0], [2], [4]]
    assert data_set.labels_mask.tolist() == [[1], [3], [5]]
    assert data_set.labels.tolist() == (X[:3] * 2).tolist()
    assert numbers(iterator) == [[6, 8, 10], [12]]
    assert numbers(iterator) == [[0, 2, 4], [6, 8, 10], [12]]
    iterator.reset()
    assert iterator.next(5).num_examples() == 5


def test_class_numbers_become_one_hot_minibatch_by_minibatch():
    iterator = NumpyDataSetIterator(X, Y, 4, num_classes=3)
    assert iterator.total_outcomes() == 3
    assert np.concatenate([data_set.labels for data_set in iterator]).argmax(axis=1).tolist() == Y.tolist()
    with pytest.raises(DataError, match="labels must be whole numbers from 0 to 1, got 2"):
        list(NumpyDataSetIterator(X, Y, 4, num_classes=2))


def test_orders_are_javas_and_go_on():
    random = JavaRandom(9)
    iterator = NumpyDataSetIterator(X, X, 3, shuffle=True, seed=9)
    for _ in range(3):
        found = numbers(iterator)
        assert np.concatenate(found).tolist() == (2 * random.permutation(7)).tolist()
        assert [len(batch) for batch in found] == [3, 3, 1]
    again = NumpyDataSetIterator(X, X, 3, shuffle=True, seed=9)
    assert numbers(again) == numbers(NumpyDataSetIterator(X, X, 3, shuffle=True, seed=9))


@pytest.mark.parametrize("shuffle", [False, True])
def test_memory_maps_are_read_when_they_are_handed_out(tmp_path, shuffle):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    sets = list(NumpyDataSetIterator(mapped, mapped, 4, shuffle=shuffle))
    assert all(type(data_set.features) is np.ndarray for data_set in sets)
    assert not any(np.shares_memory(data_set.features, mapped) for data_set in sets)
    assert sorted(np.concatenate([data_set.features for data_set in sets])[:, 0]) == X[:, 0].tolist()


def test_read_only_arrays_stay_as_they_are():
    x = X.copy()
    x.setflags(write=False)
    list(NumpyDataSetIterator(x, x, 2, shuffle=True))
    np.testing.assert_array_equal(x, X)


@every_row(
    ("arguments", "settings", "error", "message"),
    [
        ((None,), {}, DataError, "NumpyDataSetIterator: features must be an array or a list, got None"),
        ((X, X[:6]), {}, ShapeError, r"as many labels as features, got labels \[6, 2\] and features \[7, 2\]"),
        ((X[:0],), {}, DataError, r"expected examples, got features \[0, 2\]"),
        ((X,), {"num_classes": 3}, DataError, "num_classes needs labels, got num_classes 3 without"),
        ((X, X), {"num_classes": 3}, ShapeError, r"class numbers \[N\] as labels, got \[7, 2\]"),
        ((X, Y), {"num_classes": 0}, ArgumentError, "num_classes must be an integer >= 1 or None, got 0"),
        ((X, Y, 0), {}, ArgumentError, "batch must be an integer >= 1, got 0"),
        ((X, Y), {"shuffle": 5}, ArgumentError, "shuffle must be True or False, got 5"),
        ((X, Y), {"seed": 0.5}, ArgumentError, "seed must be an integer, got 0.5"),
        ((np.array([["a"]]),), {}, DTypeError, "features: expected numbers"),
    ],
)
def test_refusals(arguments, settings, error, message):
    with pytest.raises(error, match=message):
        NumpyDataSetIterator(*arguments, **settings)


def test_without_labels():
    with pytest.raises(DataError, match="total_outcomes: expected an iterator that knows it"):
        NumpyDataSetIterator(X).total_outcomes()


@pytest.mark.parametrize("shuffle", [False, True])
def test_labels_that_are_the_features_stay_so(shuffle):
    for given in (X, X.tolist()):
        data_set = NumpyDataSetIterator(given, given, 3, shuffle=shuffle).next()
        assert data_set.labels is data_set.features
    apart = NumpyDataSetIterator(X, X.copy(), 3, shuffle=shuffle).next()
    assert apart.labels is not apart.features


def test_a_copy_keeps_what_a_subclass_calls_as_older_releases_called_the_base_classes():
    class Mine(NumpyDataSetIterator):
        def __init__(self, rows):
            super().__init__(rows, batch=2)
            self._batch = "mine"

    iterator = Mine(np.ones((3, 1)))
    iterator.next()
    copied = copy.copy(iterator)
    assert (copied._batch, copied.batch(), copied.cursor) == ("mine", 2, 2)


def test_a_name_that_an_iterator_has_not_is_an_error_with_the_one_that_is_meant():
    with pytest.raises(AttributeError, match=r"has no attribute 'batch_size'\. Did you mean 'batch'"):
        _ = NumpyDataSetIterator([[1.0]], batch=1).batch_size
