"""MultiDataSet, against lists of arrays and Deeplearning4j's own."""

import copy
import io
import pickle
import struct
import tracemalloc

import numpy as np
import pytest

import nn
import nn.dl4j  # whose names are asked for here
from nd import ArgumentError, BackendError, DataError, DTypeError, FormatError, ShapeError, serde
from nd.dataset import DataSet, MultiDataSet
from nd.dataset.java_random import JavaRandom
from tests.cells import every_row
from tests.java_multi_data import FOLDER, arrays_of, of_java

RNG = np.random.default_rng(4)
A = RNG.normal(size=(5, 3)).astype(np.float32)
B = np.asfortranarray(RNG.normal(size=(5, 2, 4)).astype(np.float32))
Y = np.eye(5, dtype=np.float32)
MASK = np.tril(np.ones((5, 4), np.float32), 1)


def sample():
    return MultiDataSet([A, B], [Y, B], [None, MASK], [None, MASK])


def equal(found, expected):
    """Whether arrays are the same to the bit, with their dtypes; None is None."""
    pairs = list(zip(arrays_of(found), arrays_of(expected), strict=True))
    return all(a is b if a is None or b is None else a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


# ---- construction


def test_arrays_stay_as_they_are_and_lists_become_float32():
    found = sample()
    assert found.features[0] is A
    assert found.features_masks[0] is None
    assert found.features_masks[1] is MASK
    assert (found.num_feature_arrays(), found.num_labels_arrays(), found.num_examples()) == (2, 2, 5)
    listed = MultiDataSet([[[1], [2]], [[3], [4]]])
    assert [x.dtype for x in listed.features] == [np.float32] * 2
    assert (listed.labels, listed.features_masks, listed.labels_masks) == ([], [None, None], [])


def test_one_array_is_a_list_of_one():
    found = MultiDataSet(A, Y, A[:, :1], Y[:, :1])
    assert [len(group) for group in (found.features, found.labels, found.features_masks, found.labels_masks)] == [1] * 4


def test_a_network_may_stack_examples_and_such_sets_are_not_cut():
    stacked = MultiDataSet([A, A], [np.concatenate([Y, Y])])
    assert stacked.num_examples() == len(A)
    for cut in (lambda: stacked.get_range(0, 2), lambda: stacked.batch_by(2), lambda: stacked.get([0])):
        with pytest.raises(ShapeError, match=r"as many labels\[0\] as features\[0\] to take examples out, got labels"):
            cut()


@every_row(
    ("arguments", "error", "message"),
    [
        ((None,), DataError, "features must be arrays, got None"),
        (([],), DataError, "features must be at least one array, got an empty list"),
        (([A, B], Y, [None]), DataError, "as many features_masks as features, 2, got 1"),
        (([A, B], Y, MASK), DataError, "as many features_masks as features, 2, got 1"),
        ((A, None, None, MASK), DataError, "as many labels_masks as labels, 0, got 1"),
        (
            (A, Y, None, [MASK[:3]]),
            ShapeError,
            r"as many labels_masks\[0\] as labels\[0\], got \[3, 4\] and \[5, 5\]",
        ),
        (([A, "abc"],), DTypeError, r"features\[1\]: expected numbers"),
        (([A, None],), DTypeError, r"features\[1\]: expected numbers"),
        (({"a": A},), DTypeError, r"features\[0\]: expected numbers"),
        (
            ([A, 3.0],),
            ShapeError,
            r"features\[1\]: expected an array with examples along its first axis, got the scalar",
        ),
    ],
)
def test_what_does_not_fit(arguments, error, message):
    with pytest.raises(error, match=f"MultiDataSet.*{message}"):
        MultiDataSet(*arguments)


# ---- getters, setters


def test_arrays_by_their_number():
    found = sample()
    assert found.get_features(1) is B
    assert found.get_labels() is found.labels
    assert found.get_features_masks(0) is None
    assert found.get_labels_masks(1) is MASK
    found.set_features(0, Y)
    found.set_labels(0, A)
    found.set_features_masks(1, None)
    assert found.features[0] is Y
    assert found.labels[0] is A
    assert found.features_masks == [None, None]
    assert found.has_mask_arrays()
    found.set_labels_masks([None, None])
    assert not found.has_mask_arrays()
    found.set_labels([Y])
    assert (len(found.labels), found.labels_masks) == (1, [None])


def test_java_spelling():
    found = sample()
    assert found.getFeatures(0) is A
    assert found.getFeaturesMaskArray(1) is MASK
    assert found.getLabelsMaskArrays() is found.labels_masks
    assert (found.numFeatureArrays(), found.numLabelsArrays(), found.hasMaskArrays()) == (2, 2, True)
    found.setFeaturesMaskArray(1, None)
    found.setLabelsMaskArray([None, None])
    assert not found.hasMaskArrays()
    assert found.asList()[1] == found.get(1)
    assert found.getMemoryFootprint() == found.memory_footprint()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: d.get_features(2), DataError, "get_features: index must be 0 to 1, got 2"),
        (lambda d: d.get_labels("a"), ArgumentError, "get_labels: index must be an integer"),
        (lambda d: d.set_features(-1, A), DataError, "set_features: index must be 0 to 1, got -1"),
        (
            lambda d: d.set_features([A]),
            DataError,
            "set_features: expected 2 arrays, as there are masks of them, got 1",
        ),
        (lambda d: d.set_features([]), DataError, "set_features: expected at least one array"),
        (lambda d: d.set_labels(0, "abc"), DTypeError, "set_labels: expected numbers"),
        (lambda d: d.set_labels_masks([None]), DataError, "as many labels_masks as labels, 2, got 1"),
        (lambda d: MultiDataSet(A).get_labels(0), DataError, "index must be of an array that is there, got 0 of none"),
    ],
)
def test_wrong_numbers_and_arrays(call, error, message):
    with pytest.raises(error, match=f"MultiDataSet.*{message}"):
        call(sample())


# ---- examples


def test_ranges_are_views_and_keep_what_is_shared():
    part = sample().get_range(1, 3)
    assert np.shares_memory(part.features[0], A)
    assert equal(part, MultiDataSet([A[1:3], B[1:3]], [Y[1:3], B[1:3]], [None, MASK[1:3]], [None, MASK[1:3]]))
    assert part.labels[1] is part.features[1]
    assert [piece.num_examples() for piece in sample().batch_by(2)] == [2, 2, 1]
    with pytest.raises(
        DataError, match=r"MultiDataSet.get_range: expected 0 <= start < stop <= 5, got start 3, stop 9"
    ):
        sample().get_range(3, 9)


def test_all_arrays_are_reordered_alike():
    found = sample()
    found.shuffle(7)
    order = JavaRandom(7).swapped_pairs(5)
    assert equal(
        found, MultiDataSet([A[order], B[order]], [Y[order], B[order]], [None, MASK[order]], [None, MASK[order]])
    )
    assert found.labels[1] is found.features[1]
    assert found.features[1].flags.f_contiguous
    assert sample().get([-1, 0]).features[0].tolist() == A[[4, 0]].tolist()
    train, test = sample().split_test_and_train(0.6)
    assert (train.num_examples(), test.num_examples()) == (3, 2)
    assert sample().sample(2, seed=1).num_examples() == 2


def test_copies_and_equality():
    found = sample()
    other = found.copy()
    assert other == found
    assert other.labels[1] is other.features[1] is not B
    other.features[0][0, 0] += 1
    assert other != found
    assert found != MultiDataSet([A, B], [Y, B], [None, MASK])
    assert found != MultiDataSet([A, B], [Y], [None, MASK], [None])
    assert found != DataSet(A, Y)
    assert MultiDataSet(A) != MultiDataSet(A.astype(np.float64))


def test_words_and_bytes():
    found = MultiDataSet([A, B], [B], [None, MASK])
    assert repr(found) == (
        "MultiDataSet(features[0]=[5, 3] float32, features[1]=[5, 2, 4] float32, labels[0]=[5, 2, 4] float32, "
        "features_masks[1]=[5, 4] float32)"
    )
    assert found.describe().splitlines()[0] == "MultiDataSet of 5 examples"
    assert found.memory_footprint() == 4 * (15 + 40 + 20)  # labels that are features count once


# ---- DataSets


def test_a_data_set_is_one_of_one_input_and_one_output():
    data_set = DataSet(A, Y, A[:, :1], Y[:, :1])
    multi = data_set.as_multi()
    assert multi.features[0] is A
    assert multi.labels_masks[0] is data_set.labels_mask
    assert multi.as_multi() is multi
    assert data_set.as_multi() is multi
    data_set.features = A * 2
    assert multi.features[0] is data_set.features
    multi.labels[0] = Y * 2
    assert data_set.labels is multi.labels[0]
    assert multi.features_masks[0] is data_set.features_mask
    data_set.labels = None
    assert (multi.labels, multi.labels_masks[0] is data_set.labels_mask) == ([], True)
    data_set.labels_mask = None
    assert multi.labels_masks == []
    data_set.labels = Y
    assert multi.labels_masks == [None]
    assert multi == MultiDataSet(A * 2, Y, A[:, :1])


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_is_a_view_of_its_own(copied):
    data_set = DataSet(A, A)
    data_set.class_names = ["a", "b", "c"]
    twin = copied(data_set)
    assert (twin == data_set, twin.labels is twin.features, twin.class_names) == (True, True, ["a", "b", "c"])
    twin.features = A * 2
    assert data_set.features is A


def test_to_a_data_set_and_back():
    data_set = DataSet(A, Y, A[:, :1], Y[:, :1])
    found = data_set.to_multi_data_set()
    assert equal(found, MultiDataSet(A, Y, A[:, :1], Y[:, :1]))
    back = found.to_data_set()
    assert back == data_set
    assert back.features is A
    unlabelled = DataSet(A).to_multi_data_set()
    assert unlabelled.labels == []
    assert unlabelled.to_data_set().labels is None
    same = DataSet(A, A).to_multi_data_set().to_data_set()
    assert same.labels is same.features
    with pytest.raises(DataError, match="to_data_set: expected one input and at most one output, got 2 and 2"):
        sample().to_data_set()


# ---- merging


def test_merging_is_javas():
    """Series of other lengths, with masks and without."""
    one, two, three, four = (of_java("merge", name) for name in ("one", "two", "three", "four"))
    assert equal(MultiDataSet.merge([one, two, three]), of_java("merge", "all"))
    assert equal(MultiDataSet.merge([three, four]), of_java("merge", "plain"))


def test_merging_puts_together_what_was_taken_apart():
    found = MultiDataSet.merge(sample().as_list())
    assert equal(found, sample())
    assert found.labels[1] is found.features[1]
    assert MultiDataSet.merge([MultiDataSet(A), MultiDataSet(A)]).labels == []


@pytest.mark.parametrize(
    ("sets", "error", "message"),
    [
        ([], DataError, "expected at least one MultiDataSet, got an empty list"),
        ([MultiDataSet(A), DataSet(A)], DTypeError, "element 1: expected a MultiDataSet, got DataSet"),
        (
            [MultiDataSet(A), MultiDataSet([A, A])],
            DataError,
            "1 arrays of features, as in the first, got 2 in MultiDat",
        ),
        (
            [MultiDataSet(A, Y), MultiDataSet(A)],
            DataError,
            "1 arrays of labels, as in the first, got 0 in MultiDataSet 1",
        ),
        (
            [MultiDataSet([A, A]), MultiDataSet([A, Y])],
            ShapeError,
            r"features\[1\] of MultiDataSet 1: expected \[N, 3\]",
        ),
        (
            [MultiDataSet(A), MultiDataSet(A.astype(float))],
            DTypeError,
            r"features\[0\] of MultiDataSet 1: .*got float64",
        ),
        ([MultiDataSet(A), MultiDataSet(A.view(np.recarray))], BackendError, "expected numpy.ndarray, as in the first"),
    ],
)
def test_what_cannot_be_merged(sets, error, message):
    with pytest.raises(error, match=f"MultiDataSet.merge: .*{message}"):
        MultiDataSet.merge(sets)


# ---- files


def written(data_set):
    stream = io.BytesIO()
    data_set.save(stream)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["plain", "masked", "features"])
def test_javas_files_both_ways(name):
    content = (FOLDER / "files" / f"{name}.bin").read_bytes()
    found = MultiDataSet.load(io.BytesIO(content))
    assert equal(found, of_java("files", name))
    assert written(found) == content


def test_bytes_as_the_format_says(tmp_path):
    expected = struct.pack(">4i", 2, 1, 2, 0) + b"".join(
        serde.to_bytes(array) for array in (A, B, Y, np.array([-1], np.float32), MASK)
    )
    MultiDataSet([A, B], Y, [None, MASK]).save(tmp_path / "set.bin")
    assert (tmp_path / "set.bin").read_bytes() == expected
    assert equal(MultiDataSet.load(tmp_path / "set.bin"), MultiDataSet([A, B], Y, [None, MASK]))


def test_metadata_are_left_out():
    content = written(MultiDataSet(A)) + struct.pack(">i", 1) + b"\xac\xed\x00\x05 a Java object"
    assert equal(MultiDataSet.load(io.BytesIO(content)), MultiDataSet(A))


def test_every_truncation_is_found():
    content = written(MultiDataSet([A[:1, :1], A[:1, :2]], A[:1, :1], [None, A[:1, :1]]))
    for length in range(len(content)):
        with pytest.raises(FormatError, match=r"MultiDataSet\.load: .*expected"):
            MultiDataSet.load(io.BytesIO(content[:length]))


@pytest.mark.parametrize(
    ("counts", "arrays", "message"),
    [
        ((0, 1, 0, 0), [A], r"the numbers of features \(at least 1\), labels and masks of both, got \[0, 1, 0, 0\]"),
        ((1, -1, 0, 0), [A], "the numbers of features"),
        ((2, 0, 1, 0), [A, A, MASK], r"no masks, or one an array, got \[2, 0, 1, 0\]"),
        ((1, 0, 1, 0), [A, MASK[:3]], r"as many features_masks\[0\] as features\[0\].*The file is corrupt"),
        ((1, 0, 0, 0), [A, A], "expected the end after 1 arrays, got more bytes"),
        ((2**31 - 1, 0, 0, 0), [A], "expected .* bytes"),
    ],
)
def test_what_contradicts_itself(tmp_path, counts, arrays, message):
    path = tmp_path / "set.bin"
    path.write_bytes(struct.pack(">4i", *counts) + b"".join(map(serde.to_bytes, arrays)))
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=rf"MultiDataSet.load: '.*set.bin': .*{message}"):
            MultiDataSet.load(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("nothing", [None, []])
def test_masks_that_are_taken_away_by_assignment(nothing):
    data = sample()
    data.features_masks = data.labels_masks = nothing
    assert equal(data.copy(), MultiDataSet([A, B], [Y, B]))


def test_labels_that_are_taken_away_by_assignment():
    data = sample()
    data.labels = None
    assert equal(data.get_range(0, 5), MultiDataSet([A, B], None, [None, MASK]))


@pytest.mark.parametrize("nothing", [None, []])
def test_a_network_takes_masks_that_are_taken_away_by_assignment(nothing):
    data, conf = MultiDataSet([A], [Y]), nn.NeuralNetConfiguration(seed=1, updater="sgd")
    net = nn.ComputationGraph(conf.graph(["in"], {"out": (nn.OutputLayer(n_in=3, n_out=5), "in")}, "out")).init()
    expected = net.score(data), net.output(data)[0].tolist()
    data.features_masks = data.labels_masks = nothing
    data.class_names = net.class_names = list("abcde")
    assert (net.score(data), net.output(data)[0].tolist()) == expected
    data.labels = None
    with pytest.raises(DataError, match="fit: a data set needs labels"):
        net.fit(data)
