"""The orders below were printed by java.util.Collections.shuffle of OpenJDK 17 with new Random(12345)."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from backends.errors import ArgumentError, DataError
from nd.dataset import DataSet, MnistDataSetIterator

JAVA_TRAIN_FIRST = [5310, 36545, 10388, 10768, 1311, 42299, 11497, 35849, 39700, 62]
JAVA_TRAIN_FIRST += [20999, 33395, 51189, 42119, 19893, 11802, 25041, 37568, 9386, 45176]
JAVA_TRAIN_SECOND = [40270, 325, 45894, 38983, 5913, 49764, 14395, 20285, 33035, 11924]
JAVA_TRAIN_SECOND += [4983, 34510, 30088, 29499, 58025, 36192, 51879, 34010, 12883, 9928]
# shuffle 0 to 9999, then its first 100 again
JAVA_TEST_FIRST = [9561, 3522, 9489, 1177, 2064, 29, 7551, 8822, 7463, 6668, 3448, 6408]
JAVA_TEST_SUBSET_SECOND = [4392, 8921, 3678, 9489, 6668, 6772, 1263, 2132, 5567, 3898, 5835, 6408]


def decoded(folder: Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Decode the files without the library."""
    contents = []
    for name, header in ((f"{part}-images-idx3-ubyte", 16), (f"{part}-labels-idx1-ubyte", 8)):
        path = folder / name
        content = path.read_bytes() if path.exists() else gzip.decompress((folder / f"{name}.gz").read_bytes())
        contents.append(np.frombuffer(content, np.uint8, offset=header))
    return contents[0].reshape(-1, 784), contents[1]


def assert_holds(data_set: DataSet, files: tuple[np.ndarray, np.ndarray], indices: list[int]) -> None:
    images, labels = files
    assert data_set.labels is not None
    np.testing.assert_array_equal(data_set.features, images[indices].astype(np.float32) / np.float32(255))
    np.testing.assert_array_equal(data_set.labels, np.eye(10, dtype=np.float32)[labels[indices]])


def test_train_order_is_javas_in_both_epochs(mnist_folder: Path) -> None:
    files = decoded(mnist_folder, "train")
    iterator = MnistDataSetIterator(20, train=True, seed=12345)
    assert len(iterator) == 3000
    assert_holds(iterator.next(), files, JAVA_TRAIN_FIRST)
    iterator.reset()
    assert_holds(iterator.next(), files, JAVA_TRAIN_SECOND)


def test_subset_is_chosen_once_and_reordered(mnist_folder: Path) -> None:
    files = decoded(mnist_folder, "t10k")
    iterator = MnistDataSetIterator(12, False, 12345, num_examples=100)
    assert_holds(iterator.next(), files, JAVA_TEST_FIRST)
    rest = list(iterator)
    assert sum(data_set.num_examples() for data_set in rest) == 88
    assert rest[-1].num_examples() == 100 % 12, "the last minibatch ends at num_examples"
    again = list(iterator)
    assert_holds(again[0], files, JAVA_TEST_SUBSET_SECOND)
    assert sum(data_set.num_examples() for data_set in again) == 100


def test_unshuffled_order_is_the_files(mnist_folder: Path) -> None:
    files = decoded(mnist_folder, "t10k")
    iterator = MnistDataSetIterator(64, train=False, shuffle=False)
    for _ in range(2):
        assert_holds(iterator.next(), files, list(range(64)))
        iterator.reset()
    *_, last = iterator
    assert len(iterator) == 157
    assert_holds(last, files, list(range(156 * 64, 10000)))


def test_arrays_are_float32_batch_innermost_and_owned(mnist_folder: Path) -> None:
    iterator = MnistDataSetIterator(64, train=False, seed=1)
    first = iterator.next()
    assert first.labels is not None
    before = first.features.copy()
    for array, shape in ((first.features, (64, 784)), (first.labels, (64, 10))):
        assert array.shape == shape
        assert array.dtype == np.float32
        assert array.flags.f_contiguous
    assert first.features.min() == 0
    assert first.features.max() == 1
    second = iterator.next()
    assert not np.shares_memory(first.features, second.features)
    np.testing.assert_array_equal(first.features, before)
    first.features[...] = 7  # the user's to change


def test_binarize_compares_with_30(mnist_folder: Path) -> None:
    images, _ = decoded(mnist_folder, "t10k")
    found = MnistDataSetIterator(500, False, shuffle=False, binarize=True).next().features
    np.testing.assert_array_equal(found, (images[:500] > 30).astype(np.float32))


def test_next_takes_a_size(mnist_folder: Path) -> None:
    files = decoded(mnist_folder, "t10k")
    iterator = MnistDataSetIterator(64, train=False, shuffle=False, num_examples=10)
    assert_holds(iterator.next(3), files, [0, 1, 2])
    assert_holds(iterator.next(), files, list(range(3, 10)))
    assert not iterator.has_next()
    with pytest.raises(DataError, match="next: expected a minibatch, got the end"):
        iterator.next()
    iterator.reset()
    with pytest.raises(DataError, match="num must be at least 1, got 0"):
        iterator.next(0)
    assert (iterator.batch(), iterator.input_columns(), iterator.total_outcomes()) == (64, 784, 10)


def test_arguments_are_checked(mnist_folder: Path) -> None:
    with pytest.raises(ArgumentError, match="MnistDataSetIterator: batch must be an integer >= 1, got 0"):
        MnistDataSetIterator(0, train=False)
    with pytest.raises(DataError, match="num_examples must be 1 to 10000, got 10001"):
        MnistDataSetIterator(64, train=False, num_examples=10001)
    with pytest.raises(ArgumentError, match=r"batch must be an integer >= 1, got 6\.4"):
        MnistDataSetIterator(6.4, train=False)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="train must be True or False, got 100"):
        MnistDataSetIterator(64, 100)  # type: ignore[arg-type]
