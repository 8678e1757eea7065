from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import nn.dl4j  # noqa: F401  whose names one test uses
from backends.errors import (
    ArgumentError,
    BackendError,
    ConfigurationError,
    DataError,
    DTypeError,
    FormatError,
    ShapeError,
)
from nd.dataset import DataSet, ListDataSetIterator
from nd.dataset.class_labels import one_hot
from tests.cells import every_row


def numbered(n: int, first: int = 0) -> DataSet:
    """Return n examples whose features, labels and masks all tell their number."""
    numbers = np.arange(first, first + n, dtype=np.float32)
    return DataSet(np.stack([numbers, -numbers], axis=1), numbers[:, None] * 10, numbers[:, None], numbers[:, None])


def numbers_of(data_set: DataSet) -> list[int]:
    """Return the examples' numbers, after checking that all arrays agree on them."""
    numbers = data_set.features[:, 0]
    assert data_set.labels is not None
    assert data_set.labels_mask is not None
    np.testing.assert_array_equal(data_set.features[:, 1], -numbers)
    np.testing.assert_array_equal(data_set.labels[:, 0], numbers * 10)
    np.testing.assert_array_equal(data_set.features_mask, data_set.labels_mask)
    return [int(n) for n in numbers]


def test_lists_become_float32_and_arrays_stay() -> None:
    features = np.ones((2, 3), order="F")
    data_set = DataSet(features, [[1, 0], [0, 1]])
    assert data_set.features is features
    assert data_set.labels is not None
    assert data_set.labels.dtype == np.float32
    assert data_set.labels.tolist() == [[1, 0], [0, 1]]
    assert repr(data_set) == "DataSet(features=[2, 3] float64, labels=[2, 2] float32)"
    assert (data_set.num_examples(), data_set.num_inputs(), data_set.num_outcomes()) == (2, 3, 2)


def test_lengths_must_agree() -> None:
    with pytest.raises(ShapeError, match=r"as many labels as features, got labels \[2, 10\] and features \[3, 4\]"):
        DataSet(np.zeros((3, 4)), np.zeros((2, 10)))
    with pytest.raises(ShapeError, match=r"features_mask \[4, 5\] and features \[3, 4\]"):
        DataSet(np.zeros((3, 4)), features_mask=np.zeros((4, 5)))


@pytest.mark.parametrize(
    "features",
    [np.array([["a"], ["b"]]), np.array([[None]]), [["1"], ["2"]], np.array(["2020-01-01"], dtype="M8[D]")],
)
def test_elements_must_be_numbers(features: object) -> None:
    with pytest.raises(DTypeError, match="DataSet features: expected numbers, got elements of dtype"):
        DataSet(features)


def test_features_must_have_examples() -> None:
    with pytest.raises(ShapeError, match=r"got a ragged list"):
        DataSet([[1.0, 2.0], [3.0]])
    with pytest.raises(ShapeError, match=r"got the scalar 5\.0"):
        DataSet(5.0)
    with pytest.raises(DataError, match="features must be an array or a list, got None"):
        DataSet(None)
    with pytest.raises(DataError, match="expected labels, got none"):
        DataSet([[1.0]]).num_outcomes()


def test_get_range_and_batch_by_return_views() -> None:
    whole = numbered(5)
    assert numbers_of(whole.get_range(1, 3)) == [1, 2]
    assert np.shares_memory(whole.get_range(1, 3).features, whole.features)
    assert [numbers_of(part) for part in whole.batch_by(2)] == [[0, 1], [2, 3], [4]]
    with pytest.raises(DataError, match="0 <= start < stop <= 5, got start 3, stop 6"):
        whole.get_range(3, 6)
    with pytest.raises(ArgumentError, match="batch_by: n must be an integer >= 1, got 0"):
        whole.batch_by(0)


def test_split_holds_every_example_once() -> None:
    train, test = numbered(5).split_test_and_train(3)
    assert (numbers_of(train), numbers_of(test)) == ([0, 1, 2], [3, 4])
    with pytest.raises(DataError, match="n must be 1 to 4, got 5"):
        numbered(5).split_test_and_train(5)
    train, test = numbered(5).split_test_and_train(0.7)  # Java's fractionTrain, rounded down
    assert (numbers_of(train), numbers_of(test)) == ([0, 1, 2], [3, 4])
    with pytest.raises(DataError, match="n must be 1 to 4, got 0"):
        numbered(5).split_test_and_train(0.1)
    with pytest.raises(ArgumentError, match=r"n must be an integer, got 1\.8"):
        numbered(5).split_test_and_train(1.8)


def test_shuffle_follows_java_and_spares_the_users_arrays() -> None:
    data_set = numbered(10)
    features = data_set.features
    data_set.shuffle(1)
    assert numbers_of(data_set) == [5, 8, 7, 4, 3, 0, 9, 2, 1, 6]  # what Java 1.0.0-M2.1 does
    assert features[:, 0].tolist() == list(range(10))
    assert numbers_of(numbered(10).sample(4, 3)) == [6, 5, 1, 3]
    with pytest.raises(DataError, match="n must be 1 to 10, got 11"):
        numbered(10).sample(11)


def test_shuffle_keeps_fortran_order() -> None:
    features = np.asfortranarray(np.arange(24, dtype=np.float32).reshape(4, 2, 3))
    data_set = DataSet(features)
    data_set.shuffle(1)
    assert data_set.features.flags.f_contiguous
    assert sorted(data_set.features[:, 0, 0].tolist()) == [0, 6, 12, 18]
    assert all((row == features[int(row[0, 0]) // 6]).all() for row in data_set.features)


def test_labels_that_are_the_features_stay_so() -> None:
    features = np.arange(6.0).reshape(3, 2)
    data_set = DataSet(features, features)
    data_set.shuffle(1)
    assert data_set.labels is data_set.features


def test_merge_joins_and_fills_missing_masks() -> None:
    assert numbers_of(DataSet.merge([numbered(2), numbered(3, first=2)])) == [0, 1, 2, 3, 4]
    plain = DataSet(np.zeros((1, 2, 3)))
    masked = DataSet(np.zeros((2, 2, 3)), features_mask=np.array([[1, 0, 0], [1, 1, 0]]))
    merged = DataSet.merge([plain, masked])
    assert merged.features_mask is not None
    assert merged.features_mask.tolist() == [[1, 1, 1], [1, 0, 0], [1, 1, 0]]
    assert merged.labels is None


def test_merge_refuses_what_does_not_fit() -> None:
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(DataError, match="at least one DataSet, got an empty list"):
        DataSet.merge([])
    with pytest.raises(DataError, match="labels in all or none, got none in DataSet 1"):
        DataSet.merge([DataSet(x, x), DataSet(x)])
    with pytest.raises(ShapeError, match=r"features of DataSet 1: expected \[N, 3\], as in the first, got \[2, 4\]"):
        DataSet.merge([DataSet(x), DataSet(np.zeros((2, 4), np.float32))])
    with pytest.raises(DTypeError, match="expected float32, as in the first, got float64"):
        DataSet.merge([DataSet(x), DataSet(x.astype(np.float64))])
    with pytest.raises(BackendError, match=r"expected numpy\.ndarray, as in the first, got numpy\.\S+"):
        DataSet.merge([DataSet(x), DataSet(x.view(np.matrix))])


def test_one_hot() -> None:
    encoded = one_hot(np.array([2, 0], dtype=np.uint8), 3)
    assert encoded.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert encoded.dtype == np.float32
    assert one_hot(np.zeros(4, int), 3).flags.f_contiguous
    assert one_hot([], 3).shape == (0, 3)


@pytest.mark.parametrize(
    ("labels", "message"),
    [([0, 3], "got 3.0 at index 1"), (np.array([-1]), "got -1 at"), ([0.5], "got 0.5 at"), ([float("nan")], "got nan")],
)
def test_one_hot_refuses_labels_out_of_range(labels: object, message: str) -> None:
    with pytest.raises(DataError, match=f"labels must be whole numbers from 0 to 2, {message}"):
        one_hot(labels, 3)
    with pytest.raises(ShapeError, match=r"expected labels \[N\], got \[1, 1\]"):
        one_hot([[1]], 3)


def utf(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def java_array(values: np.ndarray) -> bytes:
    """Return a matrix as ND4J 0.x wrote it (specs/dl4j.md, 1.4)."""
    rows, columns = values.shape
    shape_info = struct.pack(">8i", 2, rows, columns, columns, 1, 0, 1, ord("c"))
    head = utf("JAVACPP") + struct.pack(">i", 8) + utf("INT") + shape_info
    return head + utf("JAVACPP") + struct.pack(">i", values.size) + utf("FLOAT") + values.astype(">f4").tobytes()


def test_load_reads_what_java_wrote(tmp_path: Path) -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.array([[1.0, 0.0], [0.0, 1.0]])
    path = tmp_path / "mnist-train-0.bin"
    path.write_bytes(b"\x03" + java_array(x) + java_array(y))
    data_set = DataSet.load(path)
    assert data_set.labels is not None
    assert data_set.features.tolist() == x.tolist()
    assert data_set.labels.tolist() == y.tolist()
    assert data_set.features_mask is None
    assert data_set.labels_mask is None
    path.write_bytes(b"\x35" + java_array(x) + java_array(y) + b"\xac\xed\x00\x05 Java's list")
    with_metadata = DataSet.load(path)
    assert with_metadata.labels is with_metadata.features
    assert with_metadata.labels_mask is not None
    assert with_metadata.labels_mask.tolist() == y.tolist()


def test_save_and_load_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "set.bin"
    saved = numbered(3)
    saved.save(path)
    assert path.read_bytes()[0] == 1 | 2 | 8 | 16
    assert numbers_of(DataSet.load(path)) == [0, 1, 2]
    shared = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    DataSet(shared, shared).save(path)
    again = DataSet.load(path)
    assert path.read_bytes()[0] == 1 | 4
    assert again.labels is again.features
    np.testing.assert_array_equal(again.features, shared)
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "set.bin"
    numbered(3).save(path)
    before = path.read_bytes()

    def full_disk(stream: object, array: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("nd.serde.write_array", full_disk)
    with pytest.raises(OSError, match="no space left"):
        numbered(4).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_load_refuses_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "set.bin"
    numbered(3).save(path)
    whole = path.read_bytes()
    for content, message in [
        (b"", r"set\.bin': expected a DataSet, got an empty file"),
        (whole[:-2], r"DataSet\.load: '.*set\.bin': "),
        (whole + b"\0", "expected the end after 4 fields, got more bytes"),
        (b"PK" + whole, "bit 0 .features. set, got 80"),
        (b"\xff" + whole[1:], "got 255"),
    ]:
        path.write_bytes(content)
        with pytest.raises(FormatError, match=message):
            DataSet.load(path)


def test_merging_keeps_labels_that_are_the_features():
    x = np.arange(4.0).reshape(2, 2)
    auto = DataSet(x, x)
    merged = DataSet.merge([auto, auto])
    assert merged.labels is merged.features
    apart = DataSet.merge([auto, DataSet(x, x + 1)])
    assert apart.labels is not None
    np.testing.assert_array_equal(apart.labels[2:], x + 1)
    regrouped = ListDataSetIterator([auto, auto], batch=3).next()
    assert regrouped.labels is regrouped.features


def test_merging_takes_data_sets_alone():
    with pytest.raises(DTypeError, match=r"DataSet\.merge: element 1: expected a DataSet, got NoneType\. Wrap"):
        DataSet.merge([DataSet([[1.0]]), None])


@every_row(
    ("use", "error", "message"),
    [
        (lambda data: data.get([[1], [1, 2]]), ShapeError, "DataSet.get: expected rows of equal length"),
        (lambda data: data.get_range("0", 1), ArgumentError, "get_range: start must be an integer, got '0'"),
        (lambda data: data.get_range(0, True), ArgumentError, "get_range: stop must be an integer, got True"),
        (
            lambda data: data.sample(2, with_replacement=1),
            ArgumentError,
            "with_replacement must be True or",
        ),
        (
            lambda data: data.multiply_by(np.ones(2)),
            ArgumentError,
            "factor must be a number, got an array",
        ),
        (lambda data: data.divide_by(float("nan")), ArgumentError, "divisor must be a number, got nan"),
        (lambda data: data.binarize(None), ArgumentError, "cutoff must be a number, got None"),
        (lambda data: data.merge(np.array(5.0)), ArgumentError, "data_sets must be an iterable, got array"),
        (lambda data: data.merge("ab"), ArgumentError, "data_sets must be an iterable, got 'ab'"),
        (lambda data: one_hot([0, 1], 10**30), DataError, "one_hot: n must be 1 to 2147483647, got 1000"),
        (
            lambda data: one_hot([0, 1], np.array([2, 3])),
            ArgumentError,
            "n must be an integer, got an array",
        ),
    ],
)
def test_wrong_arguments(use, error, message):
    with pytest.raises(error, match=message):
        use(numbered(5))


# ---- equal, and series of different length


def test_equal_data_sets_have_equal_arrays():
    one = DataSet([[1.0, 2.0]], [[1.0]], None, [[1.0]])
    assert one == one.copy()
    assert one == DataSet([[1.0, 2.000001]], [[1.0]], None, [[1.0]])  # 1e-5, as in Java
    assert one.equals(one.copy())
    for other in (
        DataSet([[1.0, 2.1]], [[1.0]], None, [[1.0]]), DataSet([[1.0, 2.0]], [[1.0]]), DataSet([[1.0, 2.0]]),
        DataSet([[1.0], [2.0]], [[1.0], [1.0]], None, [[1.0], [1.0]]), 3,
        DataSet(np.array([[1.0, 2.0]]), [[1.0]], None, [[1.0]]),
    ):  # fmt: skip
        assert one != other


def test_series_of_different_length_are_padded_and_masked():
    """Numbers of Java's: [3, 2, 5], and masks of lengths 3, 4, 5."""
    sets = [DataSet(np.full((1, 2, t), float(t)), np.ones((1, 1, t))) for t in (3, 4, 5)]
    merged = DataSet.merge(sets)
    assert (merged.features.shape, merged.labels.shape) == ((3, 2, 5), (3, 1, 5))
    lengths = [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert merged.features_mask.tolist() == merged.labels_mask.tolist() == lengths
    assert merged.features[:, 0].tolist() == [[3, 3, 3, 0, 0], [4, 4, 4, 4, 0], [5, 5, 5, 5, 5]]


def test_masks_of_series_that_are_padded_stay():
    first = DataSet(np.ones((2, 1, 2)), np.ones((2, 1)), [[1, 0], [1, 1]])
    merged = DataSet.merge([first, DataSet(np.ones((1, 1, 3)), np.ones((1, 1)))])
    assert merged.features_mask.tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert merged.labels_mask is None
    with pytest.raises(ShapeError, match=r"features of DataSet 1: expected \[N, 1, 3\], .* got \[1, 2, 3\]"):
        DataSet.merge([first, DataSet(np.ones((1, 2, 3)), np.ones((1, 1)))])


def test_masks_of_whole_examples_and_of_single_outputs_are_padded():
    """Differs from Java, which takes the weight of an example for that of its first step."""
    series = [DataSet(np.ones((1, 2, t)), np.ones((1, 3, t)), None, [[0.5]]) for t in (2, 3)]
    assert DataSet.merge(series).labels_mask.tolist() == [[0.5, 0.5, 0.0], [0.5, 0.5, 0.5]]
    single = DataSet(np.ones((1, 2, 2)), np.ones((1, 3, 2)), None, np.zeros((1, 3, 2)))
    merged = DataSet.merge([single, DataSet(np.ones((1, 2, 3)), np.ones((1, 3, 3)))])
    assert merged.labels_mask[:, 0].tolist() == [[0, 0, 0], [1, 1, 1]]
    assert merged.labels_mask.shape == (2, 3, 3)
    with pytest.raises(ShapeError, match=r"masks of series of different length must be \[N, T\], got \[1\]"):
        DataSet.merge([DataSet(np.ones((1, 2, 2)), None, [1.0]), DataSet(np.ones((1, 2, 3)))])


def test_a_data_set_without_features_is_not_merged():
    empty = DataSet([[1.0]])
    empty.features = None
    with pytest.raises(DataError, match="merge: element 1: expected features, got None"):
        DataSet.merge([DataSet([[1.0]]), empty])


@pytest.mark.parametrize("name", ["features", "labels", "features_mask", "labels_mask", "multi"])
def test_a_subclass_with_an_array_that_networks_would_not_see_is_refused(name):
    late = {name: property(lambda self: np.ones((2, 3)))}
    message = f"Late: {name} must be DataSet's own, since networks read its arrays, got another in the class. Assign"
    for bases, own in (((DataSet,), late), ((type("Mixin", (), late), DataSet), {})):
        with pytest.raises(ConfigurationError, match=message):
            type(DataSet)("Late", bases, own)


def test_a_subclass_may_set_its_arrays_itself():
    class Read(DataSet):
        def __init__(self, features, labels):
            self.features_mask = None
            self.features, self.labels, self.labels_mask = features, labels, None

    class Weighed(DataSet):
        def __init__(self, features, labels, weights):
            self.labels_mask = weights
            super().__init__(features, labels)

    rows, ones = np.ones((2, 3)), np.ones((2, 1))
    assert DataSet(rows, ones) == Read(rows, ones)
    assert DataSet(rows, ones) == Weighed(rows, ones, ones)
    assert Read(rows, ones).to_multi_data_set() == DataSet(rows, ones).to_multi_data_set()
