"""Iterators over MultiDataSets: what they hand out, beside those over DataSets; their states: test_iterator_state."""

import threading

import numpy as np
import pytest

import nn.dl4j  # noqa: F401  whose names are asked for here
from nd import ArgumentError, DataError, DTypeError, ShapeError
from nd.dataset import (
    AsyncMultiDataSetIterator,
    DataSet,
    EarlyTerminationMultiDataSetIterator,
    ExistingMultiDataSetIterator,
    GeneratorMultiDataSetIterator,
    ListDataSetIterator,
    ListMultiDataSetIterator,
    MultiDataSet,
    MultiDataSetIterator,
    MultiDataSetIteratorAdapter,
    MultiDataSetWrapperIterator,
    NumpyDataSetIterator,
    NumpyMultiDataSetIterator,
    SingletonMultiDataSetIterator,
)
from nd.dataset.iterator import position_of
from tests.cells import every_row

X = np.arange(7.0, dtype=np.float32)[:, None]
SERIES = np.arange(42.0, dtype=np.float32).reshape(7, 2, 3)
Y = np.eye(7, dtype=np.float32)
MASK = np.tril(np.ones((7, 3), np.float32))


def sample():
    return MultiDataSet([X, SERIES], [Y, SERIES], [None, MASK], [None, MASK])


def numbers(iterator):
    """Return which examples came, minibatch by minibatch, after a look that all arrays tell the same."""
    found = []
    for minibatch in iterator:
        places = minibatch.features[0].ravel().astype(int).tolist()
        np.testing.assert_array_equal(minibatch.features[1], SERIES[places])
        np.testing.assert_array_equal(minibatch.labels[0], Y[places])
        np.testing.assert_array_equal(minibatch.features_masks[1], MASK[places])
        assert minibatch.features_masks[0] is None
        assert minibatch.labels[1] is minibatch.features[1]
        found.append(places)
    return found


def arrays(**more):
    return NumpyMultiDataSetIterator(
        [X, SERIES], [Y, SERIES], 3, features_masks=[None, MASK], labels_masks=[None, MASK], **more
    )


IN_ORDER = [[0, 1, 2], [3, 4, 5], [6]]
KINDS = {
    "ahead": lambda: AsyncMultiDataSetIterator(arrays(), 2),
    "early": lambda: EarlyTerminationMultiDataSetIterator(arrays(), 3),
    "existing": lambda: ExistingMultiDataSetIterator(sample().batch_by(3)),
    "generator": lambda: GeneratorMultiDataSetIterator(lambda: iter(sample().batch_by(3))),
    "list": lambda: ListMultiDataSetIterator(sample().batch_by(3)),
    "numpy": arrays,
    "regrouped": lambda: ListMultiDataSetIterator(sample().batch_by(2), 3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_epoch_has_all_examples_in_their_order(kind):
    iterator = KINDS[kind]()
    assert isinstance(iterator, MultiDataSetIterator)
    assert iterator.batch() == 3
    assert [numbers(iterator) for _ in range(2)] == [IN_ORDER, IN_ORDER]
    assert not iterator.has_next()
    with pytest.raises(
        DataError, match=f"{type(iterator).__name__}.next: expected a minibatch, got the end of the data"
    ):
        iterator.next()
    assert iterator.reset_supported()


@pytest.mark.parametrize("kind", KINDS)
def test_pre_processors_change_what_is_handed_out_alone(kind):
    iterator = KINDS[kind]()

    class Twice:
        def pre_process(self, minibatch):
            minibatch.set_features(0, minibatch.get_features(0) * 2)

    iterator.set_pre_processor(Twice())
    for _ in range(2):
        assert [minibatch.features[0].ravel().tolist() for minibatch in iterator] == [[0, 2, 4], [6, 8, 10], [12]]
    assert X.max() == 6
    iterator.set_pre_processor(lambda minibatch: minibatch.get(0))
    assert [minibatch.num_examples() for minibatch in iterator] == [1, 1, 1]
    iterator.set_pre_processor(lambda minibatch: DataSet(X))
    iterator.reset()
    with pytest.raises(DTypeError, match="pre_processor must return a MultiDataSet, got DataSet"):
        iterator.next()
    with pytest.raises(
        DTypeError, match=r"set_pre_processor: expected an object with pre_process\(data_set\), or a call"
    ):
        iterator.set_pre_processor(3)


def test_arrays_are_shuffled_as_those_of_data_sets_are():
    ours, single = arrays(shuffle=True, seed=9), NumpyDataSetIterator(X, Y, 3, shuffle=True, seed=9)
    for _ in range(3):
        expected = [data_set.features.ravel().astype(int).tolist() for data_set in single]
        assert numbers(ours) == expected
        assert expected != IN_ORDER
    assert arrays().next(5).num_examples() == 5
    assert len(arrays()) == 3


def test_memory_maps_are_read_when_they_are_handed_out(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    minibatch = NumpyMultiDataSetIterator([mapped, X], Y, 3).next()
    assert type(minibatch.features[0]) is np.ndarray
    assert not np.shares_memory(minibatch.features[0], mapped)
    assert np.shares_memory(minibatch.features[1], X)


def test_a_singleton_comes_once_an_epoch():
    data = sample()
    iterator = SingletonMultiDataSetIterator(data)
    assert [list(iterator), list(iterator)] == [[data], [data]]
    assert not iterator.async_supported()


def test_generators_yield_tuples_of_lists():
    parts = ([X, SERIES], [Y], [None, MASK])
    iterator = GeneratorMultiDataSetIterator(lambda: (parts[:n] for n in (1, 2, 3)))
    found = list(iterator)
    assert [(len(each.labels), each.has_mask_arrays()) for each in found] == [(0, False), (1, False), (1, True)]
    with pytest.raises(
        DTypeError, match=r"GeneratorMultiDataSetIterator: expected a MultiDataSet or a tuple .*got DataS"
    ):
        GeneratorMultiDataSetIterator(lambda: iter([DataSet(X)])).next()


# ---- adapters


def test_data_sets_as_multi_data_sets_and_back():
    data_set = DataSet(SERIES, Y, MASK, Y[:, :1])
    there = MultiDataSetIteratorAdapter(ListDataSetIterator(data_set, 3))
    back = MultiDataSetWrapperIterator(there)
    for _ in range(2):
        assert DataSet.merge(list(back)) == data_set
    back.reset()
    assert there.next(2) == data_set.get_range(0, 2).to_multi_data_set()
    assert (there.batch(), len(there), back.batch(), len(back)) == (3, 3, 3, 3)
    assert there.async_supported() is back.reset_supported() is True
    assert there.state() == back.state() == there.base.state()
    with pytest.raises(
        DataError, match=r"MultiDataSetWrapperIterator.total_outcomes: expected an iterator that knows it"
    ):
        back.total_outcomes()


def test_adapters_apply_both_pre_processors():
    base = ListDataSetIterator(DataSet(X, Y))
    base.set_pre_processor(lambda data_set: DataSet(data_set.features + 1, data_set.labels))
    there = MultiDataSetIteratorAdapter(base)
    there.set_pre_processor(lambda data_set: MultiDataSet([x * 10 for x in data_set.features]))
    assert there.next().features[0].ravel().tolist() == [10, 20, 30, 40, 50, 60, 70]


def test_several_inputs_are_no_data_set():
    with pytest.raises(
        DataError, match=r"MultiDataSet.to_data_set: expected one input and at most one output, got 2 and"
    ):
        MultiDataSetWrapperIterator(arrays()).next()


# ---- reading ahead


def test_reading_ahead_is_in_another_thread_and_stops():
    threads = []

    class Noting(NumpyMultiDataSetIterator):
        def next(self, num=None):
            threads.append(threading.current_thread())
            return super().next(num)

    with AsyncMultiDataSetIterator(Noting(X, Y, 2), 2) as iterator:
        assert iterator.next().num_examples() == 2
        assert not iterator.async_supported()
        assert iterator.state()["cursor"] == 2
    assert threading.main_thread() not in threads
    assert not any(thread.is_alive() for thread in threads)


def test_an_error_of_the_base_arrives_in_its_place():
    def broken():
        yield sample()
        raise OSError("gone")

    iterator = AsyncMultiDataSetIterator(GeneratorMultiDataSetIterator(broken))
    assert iterator.next() == sample()
    with pytest.raises(OSError, match="gone"):
        iterator.has_next()


# ---- an iterator of one's own


class Own(MultiDataSetIterator):
    """In Java's spelling, without a batch, as Java's interface has none."""

    def __init__(self):
        self.count = 0

    def hasNext(self):
        return self.count < 2

    def next(self, num=None):
        self.count += 1
        return MultiDataSet(X[self.count :])

    def reset(self):
        self.count = 0

    def resetSupported(self):
        return False


def test_an_iterator_of_ones_own_is_one():
    iterator = Own()
    assert [minibatch.num_examples() for minibatch in iterator] == [6, 5]
    assert iterator.reset_supported() is False
    assert iterator.getPreProcessor() is None
    with pytest.raises(DataError, match=r"Own.batch: expected an iterator that knows it, got one without"):
        iterator.batch()
    assert isinstance(position_of(iterator), DataError)
    assert [minibatch.num_examples() for minibatch in EarlyTerminationMultiDataSetIterator(iterator, 1)] == [6]


# ---- wrong arguments


@every_row(
    ("call", "error", "message"),
    [
        (lambda: ListMultiDataSetIterator([]), DataError, r"expected examples, got an empty list \(0 MultiDataSets\)"),
        (lambda: ListMultiDataSetIterator([DataSet(X)]), DTypeError, "element 0: expected a MultiDataSet, got DataSet"),
        (lambda: ListMultiDataSetIterator(sample(), 0), ArgumentError, "batch must be an integer >= 1 or None, got 0"),
        (lambda: SingletonMultiDataSetIterator(DataSet(X)), ArgumentError, "data_set must be .*MultiDataSet"),
        (lambda: ExistingMultiDataSetIterator(3), DTypeError, "expected an iterable of MultiDataSets, got int"),
        (lambda: ExistingMultiDataSetIterator([DataSet(X)]).next(), DTypeError, "element: expected a MultiDataSet"),
        (
            lambda: ExistingMultiDataSetIterator(iter([])).state(),
            DataError,
            "expected a list or tuple of MultiDataSets",
        ),
        (lambda: EarlyTerminationMultiDataSetIterator(arrays(), 0), ArgumentError, "n must be an integer >= 1, got 0"),
        (
            lambda: AsyncMultiDataSetIterator(ListDataSetIterator(DataSet(X))),
            ArgumentError,
            "base must be .*MultiDataSet",
        ),
        (lambda: MultiDataSetIteratorAdapter(arrays()), ArgumentError, "base must be .*DataSetIterator"),
        (lambda: MultiDataSetWrapperIterator(DataSet(X)), ArgumentError, "base must be .*MultiDataSetIterator"),
        (lambda: NumpyMultiDataSetIterator(None), DataError, "features must be arrays, got None"),
        (lambda: NumpyMultiDataSetIterator([X, Y[:3]]), ShapeError, r"as many features\[1\] as features\[0\]"),
        (
            lambda: NumpyMultiDataSetIterator(X[:0]),
            DataError,
            r"NumpyMultiDataSetIterator: expected examples, got Multi",
        ),
        (lambda: arrays().next(0), DataError, "NumpyMultiDataSetIterator.next: num must be at least 1, got 0"),
        (lambda: ListMultiDataSetIterator(sample()).next(2), DataError, "num needs an iterator that regroups, got 2"),
    ],
)
def test_what_they_do_not_take(call, error, message):
    with pytest.raises(error, match=message):
        call()
