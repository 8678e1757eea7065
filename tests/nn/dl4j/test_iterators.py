"""Iterators with Java's constructors; what they hand out is what Deeplearning4j 1.0.0-M2.1 does."""

import base64
import pickle

import numpy as np
import pytest

import nd
from nn.dl4j import DataSet, NormalizerMinMaxScaler, Pair
from nn.dl4j.file_iterators import ExistingMiniBatchDataSetIterator, MiniBatchFileDataSetIterator
from nn.dl4j.iterators import (
    AsyncDataSetIterator,
    DoublesDataSetIterator,
    FloatsDataSetIterator,
    INDArrayDataSetIterator,
    IteratorDataSetIterator,
    ListDataSetIterator,
    MnistDataSetIterator,
    MultipleEpochsIterator,
    SamplingDataSetIterator,
    ViewIterator,
)


def data(n):
    """Return n examples: features 0, 1, 2, ... ``[n, 2]``, labels of three classes in turn."""
    return DataSet(np.arange(2 * n, dtype="float32").reshape(n, 2), np.eye(3, dtype="float32")[np.arange(n) % 3])


def features(iterator):
    return [data_set.getFeatures().ravel().tolist() for data_set in iterator]


# ---- lists


def test_what_is_done_to_a_merged_minibatch_does_not_last():
    whole = data(10)
    normalizer = NormalizerMinMaxScaler()
    normalizer.fit(whole)
    iterator = ListDataSetIterator(data(10).asList(), 10)
    handed_out = iterator.next()
    normalizer.transform(handed_out)
    handed_out.features += 100
    iterator.reset()
    assert iterator.next() == whole


def test_what_is_done_to_one_alone_lasts():
    whole = data(3)
    for several, batch in ((whole.asList(), 1), ([whole], 5)):
        iterator = ListDataSetIterator(several, batch)
        first = iterator.next().getFeatures()
        first += 100
        iterator.reset()
        assert iterator.next().getFeatures()[0].tolist() == whole.features[0].tolist()
    assert whole.features.ravel().tolist() == [200, 201, 102, 103, 104, 105]


def test_a_pre_processor_works_once_in_every_epoch():
    normalizer = NormalizerMinMaxScaler()
    normalizer.fit(data(4))
    for batch, expected in ((2, [[0, 0, 1 / 3, 1 / 3], [2 / 3, 2 / 3, 1, 1]]), (1, [[i / 3, i / 3] for i in range(4)])):
        iterator = ListDataSetIterator(data(4).asList(), batch)
        iterator.setPreProcessor(normalizer)
        for _ in range(2):
            assert np.allclose(features(iterator), expected, atol=1e-6)


def test_sizes_of_lists():
    iterator = ListDataSetIterator(data(7).asList())
    assert (iterator.batch(), len(iterator), iterator.inputColumns(), iterator.totalOutcomes()) == (5, 2, 2, 3)
    assert [each.numExamples() for each in iterator] == [5, 2]
    iterator.reset()
    assert features([iterator.next(3)]) == [[0, 1, 2, 3, 4, 5]]
    with pytest.raises(nd.DataError, match="expected examples"):
        ListDataSetIterator([])
    with pytest.raises(nd.ConfigurationError, match="batch"):
        ListDataSetIterator(data(3).asList(), 0)


def test_a_list_goes_on_where_it_stood():
    iterator, other = (ListDataSetIterator(data(5).asList(), 2) for _ in range(2))
    iterator.next()
    other.restore(iterator.state())
    assert features(other) == [[4, 5, 6, 7], [8, 9]]


def test_a_list_of_another_batch_does_not_go_on():
    iterator = ListDataSetIterator(data(6).asList(), 2)
    iterator.next()
    with pytest.raises(nd.DataError, match="batch must be 3, got 2"):
        ListDataSetIterator(data(6).asList(), 3).restore(iterator.state())


# ---- pairs


@pytest.mark.parametrize(("kind", "dtype"), [(FloatsDataSetIterator, "float32"), (DoublesDataSetIterator, "float64")])
def test_pairs_of_numbers_fill_whole_minibatches(kind, dtype):
    iterator = kind([Pair([i, i + 1.1], [i % 2]) for i in range(5)], 2)
    assert (iterator.batch(), iterator.inputColumns(), iterator.totalOutcomes()) == (2, 2, 1)
    for _ in range(2):
        assert np.allclose(features(iterator), [[0, 1.1, 1, 2.1], [2, 3.1, 3, 4.1]])
    iterator.reset()
    found = iterator.next()
    assert (found.features.dtype, found.features.shape, found.labels.tolist()) == (dtype, (2, 2), [[0], [1]])
    assert found.features[0, 1] == np.asarray(1.1, dtype)
    assert not kind([([1], [1])], 2).hasNext()
    with pytest.raises(nd.ConfigurationError, match="batch"):
        kind([], 0)


@pytest.mark.parametrize("shape", [(2,), (1, 2)])
def test_pairs_of_arrays(shape):
    pairs = [Pair(np.array([i, i + 1.0]).reshape(shape), np.array([i, 3.0]).reshape(shape)) for i in range(5)]
    iterator = INDArrayDataSetIterator(pairs, 2)
    assert features(iterator) == [[0, 1, 1, 2], [2, 3, 3, 4]]
    iterator.reset()
    assert iterator.next().labels.tolist() == [[0, 3], [1, 3]]
    again = pickle.loads(pickle.dumps(iterator))
    assert features(again) == [[2, 3, 3, 4]]


def test_pairs_that_come_once():
    iterator = FloatsDataSetIterator((([i], [i]) for i in range(4)), 2)
    assert features(iterator) == [[0, 1], [2, 3]]
    assert not iterator.resetSupported()


@pytest.mark.parametrize("pairs", [[[1.0, 2.0, 3.0]], [1.0], [([1.0], [2.0], None)]])
def test_what_is_no_pair_is_refused(pairs):
    with pytest.raises(nd.DataError, match=r"^DoublesDataSetIterator: element 0 must be a pair"):
        DoublesDataSetIterator(pairs, 1).hasNext()


# ---- other sizes


def test_views():
    whole = data(5)
    iterator = ViewIterator(whole, 2)
    assert features(iterator) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    iterator.reset()
    assert (iterator.batch(), iterator.totalOutcomes(), iterator.inputColumns()) == (2, 3, 2)
    first = iterator.next().getFeatures()
    first += 100
    assert whole.features.ravel().tolist() == [100, 101, 102, 103, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("sizes", "batch"), [((3, 3, 1), 2), ((2, 2, 2, 1), 5), ((7, 2), 3), ((1,) * 6, 2), ((4,), 4), ((3,), 5)]
)
def test_regrouped(sizes, batch):
    whole = data(sum(sizes))
    stops = np.cumsum(sizes)
    parts = [whole.getRange(stop - size, stop) for size, stop in zip(sizes, stops, strict=True)]
    iterator = IteratorDataSetIterator(iter(parts), batch)
    assert (iterator.batch(), iterator.inputColumns(), iterator.totalOutcomes()) == (batch, 2, 3)
    assert list(iterator) == whole.batchBy(batch)
    assert not iterator.resetSupported()
    with pytest.raises(nd.DataError, match="reset"):
        iterator.reset()


def test_what_is_no_data_set_is_refused():
    with pytest.raises(nd.DTypeError, match="element"):
        IteratorDataSetIterator([3], 2).hasNext()


def test_sampling_draws_whole_minibatches():
    iterator = SamplingDataSetIterator(data(5), 2, 5)
    drawn = list(iterator)
    assert [each.numExamples() for each in drawn] == [2, 2, 2]
    assert all(len(set(each.features[:, 0].tolist())) == 2 for each in drawn)
    assert [each.numExamples() for each in SamplingDataSetIterator(data(2), 5, 5, True)] == [5]


# ---- files


JAVA_MINIBATCHES = (  # of data(3), two examples and one, by Java's DataSet.save
    "AwAQTUlYRURfREFUQV9UWVBFUwAAAAAAAAAIAARMT05HAAAAAAAAAAIAAAAAAAAAAgAAAAAAAAACAAAAAAAAAAIAAAAAAAAAAQAAAAAAACAAAAAA"
    "AAAAAAEAAAAAAAAAYwAQTUlYRURfREFUQV9UWVBFUwAAAAAAAAAEAAVGTE9BVECAAABAoAAAQMAAAEDgAAAAEE1JWEVEX0RBVEFfVFlQRVMAAAAA"
    "AAAACAAETE9ORwAAAAAAAAACAAAAAAAAAAIAAAAAAAAAAwAAAAAAAAADAAAAAAAAAAEAAAAAAAAgAAAAAAAAAAABAAAAAAAAAGMAEE1JWEVEX0RB"
    "VEFfVFlQRVMAAAAAAAAABgAFRkxPQVQAAAAAAAAAAD+AAAA/gAAAAAAAAAAAAAA=",
    "AwAQTUlYRURfREFUQV9UWVBFUwAAAAAAAAAIAARMT05HAAAAAAAAAAIAAAAAAAAAAQAAAAAAAAACAAAAAAAAAAEAAAAAAAAAAQAAAAAAACAAAAAA"
    "AAAAAAEAAAAAAAAAYwAQTUlYRURfREFUQV9UWVBFUwAAAAAAAAACAAVGTE9BVEEAAABBEAAAABBNSVhFRF9EQVRBX1RZUEVTAAAAAAAAAAgABExP"
    "TkcAAAAAAAAAAgAAAAAAAAABAAAAAAAAAAMAAAAAAAAAAQAAAAAAAAABAAAAAAAAIAAAAAAAAAAAAQAAAAAAAABjABBNSVhFRF9EQVRBX1RZUEVT"
    "AAAAAAAAAAMABUZMT0FUAAAAAD+AAAAAAAAA",
)


@pytest.fixture
def folder(tmp_path):
    for number, content in enumerate(JAVA_MINIBATCHES):
        (tmp_path / f"dataset-{number}.bin").write_bytes(base64.b64decode(content))
    return tmp_path


def test_minibatches_that_java_saved(folder):
    (folder / "readme.txt").write_text("no minibatch")
    iterator = ExistingMiniBatchDataSetIterator(folder)
    for _ in range(2):
        assert list(iterator) == [data(5).getRange(2, 4), data(5).getRange(4, 5)]
    assert (len(iterator), iterator.inputColumns(), iterator.totalOutcomes()) == (2, 2, 3)
    other = ExistingMiniBatchDataSetIterator(str(folder), "dataset-%d.bin")
    other.restore({"count": 1})
    assert features(other) == [[8, 9]]


def test_patterns_of_names(folder):
    for number in range(11):
        data(number + 1).save(folder / f"mnist-train-{number:03d}.bin")
    assert [each.numExamples() for each in ExistingMiniBatchDataSetIterator(folder, "mnist-train-%03d.bin")] == [
        *range(1, 12)
    ]
    (folder / "mnist-train-004.bin").unlink()
    with pytest.raises(nd.DataError, match=r"must hold mnist-train-004.bin"):
        ExistingMiniBatchDataSetIterator(folder, "mnist-train-%03d.bin")
    with pytest.raises(nd.DataError, match=r"must hold mnist-test-0.bin"):
        ExistingMiniBatchDataSetIterator(folder, "mnist-test-%d.bin")
    for wrong in ("dataset.bin", "%d-%d.bin", "%s.bin", "%d%%"):
        with pytest.raises(nd.ConfigurationError, match="one %d"):
            ExistingMiniBatchDataSetIterator(folder, wrong)
    with pytest.raises(FileNotFoundError, match="none"):
        ExistingMiniBatchDataSetIterator(folder / "none")


def test_a_data_set_in_files(tmp_path):
    whole = data(5)
    whole.labels_mask = np.array([[1], [0], [1], [1], [1]], "float32")
    iterator = MiniBatchFileDataSetIterator(whole, 2, False, tmp_path / "new")
    for _ in range(2):
        assert list(iterator) == whole.batchBy(2)[:2]
    assert (iterator.batch(), iterator.totalOutcomes(), len(iterator)) == (2, 3, 2)
    assert iterator.getRootDir().parent == tmp_path / "new"
    assert len(list(iterator.getRootDir().iterdir())) == 2
    assert list(ExistingMiniBatchDataSetIterator(iterator.getRootDir())) == whole.batchBy(2)[:2]
    with pytest.raises(nd.DataError, match="batch must be at most 5"):
        MiniBatchFileDataSetIterator(whole, 6, False, tmp_path)


def test_files_go_when_the_program_ends(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr("atexit.register", lambda *call, **more: calls.append((call, more)))
    root = MiniBatchFileDataSetIterator(data(2), 1, True, tmp_path).getRootDir()
    ((remove, path),), more = [call for call, _ in calls], calls[0][1]
    remove(path, **more)
    assert path == root
    assert not root.exists()


# ---- over others


def test_several_epochs_as_one():
    epoch = [[0, 1, 2, 3], [4, 5]]
    assert features(MultipleEpochsIterator(2, ListDataSetIterator(data(3).asList(), 2))) == epoch * 2
    assert features(MultipleEpochsIterator(2, ListDataSetIterator(data(3).asList(), 2), 4)) == epoch * 2
    assert features(MultipleEpochsIterator(2, data(2))) == [[0, 1, 2, 3]] * 2
    with pytest.raises(nd.ConfigurationError, match="2 or 3 arguments"):
        MultipleEpochsIterator(2)


@pytest.mark.parametrize("more", [(3,), (1, 3)])
def test_minibatches_until_there_were_some(more):
    iterator = MultipleEpochsIterator(ListDataSetIterator(data(3).asList(), 2), *more)
    for _ in range(2):
        assert features(iterator) == [[0, 1, 2, 3], [4, 5], [0, 1, 2, 3]]
    iterator.reset()
    iterator.next()
    other = MultipleEpochsIterator(ListDataSetIterator(data(3).asList(), 2), *more)
    other.restore(iterator.state())
    assert features(other) == [[4, 5], [0, 1, 2, 3]]


@pytest.mark.parametrize(("sizes", "total", "count"), [(3, 5, 5), (3, 1000, 1000)])
def test_how_many_minibatches_until_there_were_some(sizes, total, count):
    iterator = MultipleEpochsIterator(ListDataSetIterator(data(sizes).asList(), 2), total)
    assert (len(iterator), len(list(iterator))) == (count, count)
    assert len(MultipleEpochsIterator(4, ListDataSetIterator(data(sizes).asList(), 2))) == 8


def test_our_names_of_arguments():
    epoch = [[0, 1, 2, 3], [4, 5]]
    base = ListDataSetIterator(data(3).asList(), 2)
    for iterator in (MultipleEpochsIterator(epochs=3, base=base), MultipleEpochsIterator(3, base=base)):
        assert (features(iterator), len(iterator)) == (epoch * 3, 6)


@pytest.mark.parametrize(
    ("given", "named", "expected"),
    [
        ((64,), {"train": True}, {"train": True}), ((64,), {"binarize": True}, {"binarize": True}),
        ((64, False, 5), {}, {"train": False, "seed": 5}), ((64, True), {"seed": 5}, {"train": True, "seed": 5}),
        ((64, 100), {}, {"num_examples": 100, "shuffle": False}), ((64,), {}, {"shuffle": False}),
        ((64, 100), {"train": False}, {"num_examples": 100, "shuffle": False, "train": False}),
        ((64, 100, True, False, True, 7), {},
         {"num_examples": 100, "binarize": True, "train": False, "shuffle": True, "seed": 7}),
    ],
)  # fmt: skip
def test_forms_of_the_iterator_over_mnist(monkeypatch, given, named, expected):
    calls = []
    monkeypatch.setattr(
        "nd.dataset.MnistDataSetIterator.__init__", lambda self, batch, **rest: calls.append((batch, rest))
    )
    MnistDataSetIterator(*given, **named)
    assert calls == [(64, expected)]


@pytest.mark.parametrize(
    ("given", "named"),
    [((64, 100, True, False, True, 7, 8), {}), ((64, True, 5, 6), {}), ((64, True), {"train": False})],
)
def test_too_many_arguments_of_the_iterator_over_mnist(given, named):
    with pytest.raises(nd.ConfigurationError, match=r"MnistDataSetIterator: expected batch and at most .* each once"):
        MnistDataSetIterator(*given, **named)


@pytest.mark.parametrize("more", [(), (2,), (2, True), (2, False, 0)])
def test_read_ahead(more):
    with AsyncDataSetIterator(ListDataSetIterator(data(3).asList(), 2), *more) as iterator:
        assert features(iterator) == [[0, 1, 2, 3], [4, 5]]
