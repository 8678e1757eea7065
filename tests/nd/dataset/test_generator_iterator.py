import numpy as np
import pytest

from nd import ArgumentError, DataError, DTypeError
from nd.dataset import AsyncDataSetIterator, DataSet, GeneratorDataSetIterator

X = np.arange(6.0)[:, None]


def tuples():
    yield X[:2], X[:2] * 2
    yield X[2:4], X[2:4] * 2, X[2:4], X[2:4] + 1
    yield DataSet(X[4:], X[4:] * 2)


def features(iterator):
    return [data_set.features.ravel().tolist() for data_set in iterator]


@pytest.mark.parametrize("wrap", [lambda iterator: iterator, AsyncDataSetIterator])
def test_a_function_gives_every_epoch_a_generator(wrap):
    iterator = wrap(GeneratorDataSetIterator(tuples))
    for _ in range(3):
        assert features(iterator) == [[0, 1], [2, 3], [4, 5]]
    assert (iterator.batch(), iterator.input_columns(), iterator.total_outcomes()) == (2, 1, 1)
    assert iterator.reset_supported()


def test_tuples_hold_masks_too():
    iterator = GeneratorDataSetIterator(tuples)
    iterator.next()
    data_set = iterator.next()
    assert data_set.features_mask.ravel().tolist() == [2, 3]
    assert data_set.labels_mask.ravel().tolist() == [3, 4]
    with pytest.raises(DataError, match="expected no num, since the minibatches come as they are, got 3"):
        iterator.next(3)


def test_a_generator_lasts_for_one_epoch():
    iterator = GeneratorDataSetIterator(tuples())
    assert not iterator.reset_supported()
    assert features(iterator) == [[0, 1], [2, 3], [4, 5]]
    message = r"one generator, which can be read once\. Pass the function itself, without calling it"
    with pytest.raises(DataError, match=message):
        iterator.reset()
    with pytest.raises(DataError, match=r"GeneratorDataSetIterator.state: .* got one generator\. Write"):
        iterator.state()


def test_a_function_that_draws_says_so():
    iterator = GeneratorDataSetIterator(tuples, repeatable=False)
    with pytest.raises(DataError, match=r"yields the same minibatches each time, got repeatable=False"):
        iterator.state()
    with pytest.raises(DataError, match=r"restore: .*got repeatable=False"):
        iterator.restore({"count": 0})


def test_reading_is_lazy_and_left_generators_are_closed():
    seen = []

    def minibatches():
        try:
            for n in range(3):
                seen.append(n)
                yield X, X
        finally:
            seen.append("closed")

    iterator = GeneratorDataSetIterator(minibatches)
    assert seen == []
    iterator.next()
    assert seen == [0]
    iterator.reset()
    assert seen == [0, "closed"]
    iterator.restore({"count": 2})
    assert seen[2:] == [0, 1]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (X, r"got ndarray"),
        (None, "got NoneType"),
        ((), "got a tuple of 0"),
        ((X,) * 5, r"tuple \(features, labels, features_mask, labels_mask\), got a tuple of 5"),
    ],
)
def test_what_is_no_minibatch(item, message):
    iterator = GeneratorDataSetIterator(lambda: iter([item]))
    with pytest.raises(DTypeError, match=message):
        iterator.has_next()


def test_what_is_no_source():
    with pytest.raises(ArgumentError, match="source must be a function or an iterable, got 3"):
        GeneratorDataSetIterator(3)


def test_no_data():
    iterator = GeneratorDataSetIterator(lambda: iter(()))
    assert (iterator.batch(), iterator.input_columns(), iterator.has_next()) == (0, 0, False)
    with pytest.raises(DataError, match="expected an iterator that knows it"):
        iterator.total_outcomes()


def test_a_function_that_returns_no_generator():
    with pytest.raises(DTypeError, match=r"source must return a generator, got 3\. Yield"):
        GeneratorDataSetIterator(lambda: 3).has_next()
    with pytest.raises(ArgumentError, match="source must be a function or an iterable, got array"):
        GeneratorDataSetIterator(np.array(5.0))
