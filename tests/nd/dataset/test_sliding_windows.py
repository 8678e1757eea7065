"""Windows of a long series, against slices by hand."""

import json

import numpy as np
import pytest

from nd import ArgumentError, ConfigurationError, DataError, DTypeError, ShapeError
from nd.dataset import AsyncDataSetIterator, DataSet, SlidingWindowDataSetIterator
from nd.dataset.java_random import JavaRandom
from tests.cells import every_row

RNG = np.random.default_rng(3)
SERIES = RNG.normal(size=(50, 3)).astype(np.float32)
TARGETS = RNG.normal(size=(50, 2))


def whole(iterator):
    return DataSet.merge(list(iterator))


@every_row("stride", [1, 4, 11])
@every_row("horizon", [0, 1, 5])
@every_row("length", [1, 7, 45])
def test_windows_and_what_follows_them(length, horizon, stride):
    arguments = {"stride": stride, "horizon": horizon, "targets": TARGETS}
    begins = range(0, 50 - length - horizon + 1, stride)
    x = np.stack([SERIES[begin : begin + length].T for begin in begins])
    y = np.stack([TARGETS[begin + horizon : begin + horizon + length].T for begin in begins])
    data_set = whole(SlidingWindowDataSetIterator(SERIES, length, 4, **arguments))
    np.testing.assert_array_equal(data_set.features, x)
    np.testing.assert_array_equal(data_set.labels, y)
    last = whole(SlidingWindowDataSetIterator(SERIES, length, 4, labels="last", **arguments))
    np.testing.assert_array_equal(last.features, x)
    np.testing.assert_array_equal(last.labels, y[:, :, -1])


def test_arrays_and_sizes():
    iterator = SlidingWindowDataSetIterator(SERIES, 6, 8, targets=TARGETS)
    data_set = iterator.next()
    assert (data_set.features.dtype, data_set.labels.dtype) == (np.float32, np.float64)
    assert data_set.features.flags.f_contiguous
    assert data_set.labels.flags.f_contiguous
    assert (iterator.input_columns(), iterator.total_outcomes(), len(iterator)) == (3, 2, 6)
    data_set.features[...] = 0.0
    assert SERIES[:6].all()
    assert SlidingWindowDataSetIterator([1, 2, 3], 2).next().labels.tolist() == [[[2, 3]]]


def test_shuffled_and_restored():
    def made():
        return SlidingWindowDataSetIterator(np.arange(20), 3, 5, shuffle=True, seed=9)

    iterator, random = made(), JavaRandom(9)
    for _ in range(2):  # epochs, in the orders of Java's Collections.shuffle
        assert whole(iterator).features[:, 0, 0].tolist() == random.permutation(17).tolist()
        iterator.reset()
    iterator.next()
    other = made()
    other.restore(json.loads(json.dumps(iterator.state())))
    assert whole(other) == whole(iterator)
    with AsyncDataSetIterator(made()) as ahead:
        assert whole(ahead) == whole(made())
    with pytest.raises(DataError, match=r"restore: length must be 4, got 3"):
        SlidingWindowDataSetIterator(np.arange(21), 4, 5, shuffle=True).restore(iterator.state())


def test_memory_maps(tmp_path):
    np.save(tmp_path / "series.npy", SERIES)
    mapped = np.load(tmp_path / "series.npy", mmap_mode="r")
    data_set = SlidingWindowDataSetIterator(mapped, 6, 8).next()
    np.testing.assert_array_equal(data_set.features[3], SERIES[3:9].T)
    assert type(data_set.features) is np.ndarray


def test_arguments_that_are_refused():
    def refused(error, message, *arguments, **named):
        with pytest.raises(error, match=message):
            SlidingWindowDataSetIterator(*arguments, **named)

    refused(ConfigurationError, r"horizon must be at least 1 without targets, got 0", SERIES, 3, horizon=0)
    refused(DataError, r"at least 53 time steps, length \+ horizon, got 50", SERIES, 50, horizon=3)
    refused(ShapeError, r"as many time steps in targets as in series, 50, got 49", SERIES, 3, targets=TARGETS[1:])
    refused(ShapeError, r"series: expected \[T, C\] or \[T\], got \[50, 3, 1\]", SERIES[..., None], 3)
    refused(DTypeError, r"targets: expected numbers", SERIES, 3, targets=["a"] * 50)
    refused(ArgumentError, r"labels must be 'series' or 'last', got 'all'", SERIES, 3, labels="all")
    refused(ArgumentError, r"stride must be an integer >= 1, got 0", SERIES, 3, stride=0)
