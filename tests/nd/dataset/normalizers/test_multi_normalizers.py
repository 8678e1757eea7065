"""Normalizers of MultiDataSets, against Deeplearning4j's, those of DataSets, and files put together by hand."""

import copy
import io
import pickle
import struct

import numpy as np
import pytest

import nn.dl4j  # noqa: F401  whose names are asked for here
from nd import ConfigurationError, DataError, FormatError, serde
from nd.dataset import (
    DataSet,
    ImageMultiPreProcessingScaler,
    ImagePreProcessingScaler,
    ListMultiDataSetIterator,
    MultiDataSet,
    MultiNormalizer,
    MultiNormalizerHybrid,
    MultiNormalizerMinMaxScaler,
    MultiNormalizerStandardize,
    Normalizer,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
)
from nd.dataset.normalizers import MULTI_NORMALIZERS, normalizer_from_bytes, normalizer_to_bytes
from tests.cells import every_row
from tests.java_multi_data import FOLDER, arrays_of, of_java

RNG = np.random.default_rng(11)


def with_labels(normalizer):
    normalizer.fit_label(True)
    return normalizer


OF_JAVA = {
    "features": MultiNormalizerStandardize,
    "hybrid": lambda: (
        MultiNormalizerHybrid().standardize_all_inputs().min_max_scale_input(1, -1, 2).min_max_scale_output(0)
    ),
    "min_max": lambda: with_labels(MultiNormalizerMinMaxScaler(-1, 2)),
    "standardize": lambda: with_labels(MultiNormalizerStandardize()),
}


def of_file(name):
    return (FOLDER / "normalizers" / f"{name}.bin").read_bytes()


def sample():
    """Return rows with rubbish nowhere, and series with rubbish where the mask is 0."""
    mask = np.array([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0]], np.float32)
    series = RNG.normal(size=(3, 2, 4)).astype(np.float32) * 3
    series[np.broadcast_to(mask[:, None, :] == 0, series.shape)] = 1e6
    rows = RNG.normal(size=(3, 5)).astype(np.float32) + 7
    return MultiDataSet([rows, series], [rows[:, :2] * 2, series], [None, mask], [None, mask])


def close(found, expected, tolerance):
    for ours, theirs in zip(arrays_of(found), arrays_of(expected), strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
            assert ours.dtype == theirs.dtype


# ---- Deeplearning4j


@pytest.mark.parametrize("name", OF_JAVA)
def test_fitted_as_in_java(name):
    one, two = of_java("normalizers", "one"), of_java("normalizers", "two")
    normalizer = OF_JAVA[name]().fit(ListMultiDataSetIterator([one, two]))
    found = normalizer.transform(one.copy())
    close(found, of_java("normalizers", name), 2e-6)
    close(normalizer.revert(found), of_java("normalizers", f"{name}_reverted"), 2e-6)


@pytest.mark.parametrize("name", OF_JAVA)
def test_javas_files_both_ways(name):
    normalizer = normalizer_from_bytes(of_file(name))
    assert type(normalizer) is type(OF_JAVA[name]())
    assert normalizer_to_bytes(normalizer) == of_file(name)
    assert normalizer.is_fit_label() == (name != "features")
    found = normalizer.transform(of_java("normalizers", "one"))
    close(found, of_java("normalizers", name), 0.0)  # Java's statistics and operations: the same to the bit
    close(normalizer.revert(found), of_java("normalizers", f"{name}_reverted"), 0.0)


@pytest.mark.parametrize("name", OF_JAVA)
def test_every_truncation_is_found(name):
    content = of_file(name)
    for length in range(0, len(content), 3):
        with pytest.raises(FormatError, match="normalizer_from_bytes: "):
            normalizer_from_bytes(content[:length])
    with pytest.raises(FormatError, match="expected the end behind the MULTI"):
        normalizer_from_bytes(content + b"\0")


# ---- arithmetic


def test_each_array_is_normalized_by_itself_where_its_mask_is_1():
    data = sample()
    normalizer = with_labels(MultiNormalizerStandardize()).fit(data)
    series, mask = data.features[1].astype(np.float64), data.features_masks[1]
    counted = [series[:, c][mask == 1] for c in range(2)]  # all numbers of a column that count
    np.testing.assert_allclose(normalizer.get_feature_mean(1), [each.mean() for each in counted], rtol=1e-12)
    np.testing.assert_allclose(normalizer.get_feature_std(1), [each.std() for each in counted], rtol=1e-12)
    np.testing.assert_allclose(normalizer.get_label_mean(0), data.labels[0].mean(0, np.float64), rtol=1e-12)
    np.testing.assert_allclose(normalizer.get_label_std(0), data.labels[0].astype(np.float64).std(0), rtol=1e-9)
    assert (normalizer.num_inputs(), normalizer.num_outputs()) == (2, 2)
    given, series = data.features[1], data.features[1].copy()
    found = normalizer.transform(data)
    assert found is data
    assert (found.features[1][np.broadcast_to(mask[:, None] == 0, series.shape)] == 0).all()
    assert (given == series).all()
    counted = np.concatenate([found.features[1][:, c][mask == 1] for c in range(2)])
    np.testing.assert_allclose([counted.mean(), (counted**2).mean()], [0, 1], atol=1e-5)


def test_min_max_reaches_both_ends():
    data = sample()
    normalizer = MultiNormalizerMinMaxScaler(-2, 3).fit([data.get_range(0, 1), data.get_range(1, 3)])
    np.testing.assert_array_equal(normalizer.get_min(0), data.features[0].min(0))
    counts = np.broadcast_to(data.features_masks[1][:, None] == 1, data.features[1].shape)
    np.testing.assert_array_equal(normalizer.get_max(1), data.features[1].max((0, 2), initial=-np.inf, where=counts))
    found = normalizer.transform_features(data.features, data.features_masks)
    np.testing.assert_allclose(found[0].min(0), -2, atol=1e-6)
    np.testing.assert_allclose(found[1].max((0, 2), initial=-9, where=counts), 3, atol=1e-6)
    assert not normalizer.is_fit_label()
    assert normalizer.transform_labels(data.labels)[0] is data.labels[0]


def test_a_hybrid_does_to_each_what_was_said():
    data = sample()
    normalizer = MultiNormalizerHybrid().min_max_scale_all_inputs(0, 5).standardize_input(1).standardize_output(1)
    found = normalizer.fit(data).transform(data.copy())
    scaled = NormalizerMinMaxScaler(0, 5).fit(DataSet(data.features[0])).transform_features(data.features[0])
    single = NormalizerStandardize().fit(DataSet(data.features[1], features_mask=data.features_masks[1]))
    series = single.transform_features(data.features[1], data.features_masks[1])
    np.testing.assert_array_equal(found.features[0], scaled)
    np.testing.assert_array_equal(found.features[1], series)
    np.testing.assert_array_equal(found.labels[0], data.labels[0])
    np.testing.assert_array_equal(found.labels[1], series)
    assert found.labels[1] is found.features[1]  # as before
    assert sorted(normalizer.get_input_stats(0)) == ["lower", "upper"]
    np.testing.assert_array_equal(normalizer.get_output_stats(1)["mean"], single.mean)


def test_images():
    pixels = RNG.integers(0, 256, (2, 3, 4, 4)).astype(np.uint8)
    rows = np.ones((2, 3), np.float32)
    normalizer = ImageMultiPreProcessingScaler([0, 2], -1, 1)
    data = normalizer.fit(MultiDataSet([pixels, rows, pixels], rows)).transform(
        MultiDataSet([pixels, rows, pixels], rows)
    )
    expected = ImagePreProcessingScaler(-1, 1).transform_features(pixels)
    np.testing.assert_array_equal(data.features[0], expected)
    np.testing.assert_array_equal(data.features[2], expected)
    assert data.features[1] is rows
    assert data.labels[0] is rows
    np.testing.assert_allclose(normalizer.revert(data).features[2], pixels, atol=1e-4)
    with pytest.raises(ConfigurationError, match="save: expected a normalizer that has a form for files"):
        normalizer.save(io.BytesIO())


@pytest.mark.parametrize("name", OF_JAVA)
def test_what_was_changed_is_changed_back(name):
    data = sample()
    normalizer = OF_JAVA[name]().fit(data)
    found = normalizer.revert(normalizer.transform(data.copy()))
    for group in ("features", "labels"):
        rows, series = getattr(found, group)
        mask = data.features_masks[1][:, None]
        changed = group == "features" or name in ("min_max", "standardize")
        np.testing.assert_allclose(rows, getattr(data, group)[0], rtol=1e-5)
        expected = np.where(mask == 1, getattr(data, group)[1], 0) if changed else getattr(found, group)[1]
        np.testing.assert_allclose(series, expected, rtol=1e-5, atol=1e-5)


def test_java_writes_into_the_arrays():
    data = sample()
    normalizer = with_labels(MultiNormalizerStandardize()).fit(data)
    arrays = [x.copy() for x in normalizer.transform_features(data.features, data.features_masks)]
    expected = normalizer.revert_features(arrays, data.features_masks)
    given = list(arrays)
    assert all(a is b for a, b in zip(normalizer.revertFeatures(arrays, data.features_masks), given, strict=True))
    for found, wanted in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert normalizer.getFeatureMean(0) is normalizer.get_feature_mean(0)
    assert MultiNormalizerHybrid().minMaxScaleAllOutputs(0, 2).isFitLabel()


# ---- in iterators


def test_in_an_iterator_every_epoch_is_normalized_once():
    data = sample()
    iterator = ListMultiDataSetIterator(data, 2)
    normalizer = MultiNormalizerStandardize().fit(iterator)
    iterator.set_pre_processor(normalizer)
    expected = normalizer.transform(data.copy())
    for _ in range(2):
        close(MultiDataSet.merge(list(iterator)), expected, 1e-6)
    with pytest.raises(
        DataError, match=r"fit: expected data as they are, got an iterator that this normalizer changes"
    ):
        normalizer.fit(iterator)


# ---- files of ours


def utf(text):
    return struct.pack(">H", len(text)) + text.encode()


def head(kind):
    return utf("NORMALIZER") + struct.pack(">i", 1) + utf(kind)


def row(*values, dtype=np.float32):
    return serde.to_bytes(np.array([values], dtype))


def test_bytes_as_the_format_says():
    body = struct.pack(">?2i", True, 2, 1) + row(1, 2) + row(3, 4) + row(5) + row(6) + row(7) + row(8)
    found = normalizer_from_bytes(head("MULTI_STANDARDIZE") + body)
    assert found.get_feature_std(0).tolist() == [3, 4]
    assert (found.get_feature_mean(1).tolist(), found.get_label_std(0).tolist()) == ([5], [8])
    body = struct.pack(">?2i2d", False, 1, -1, -1, 2) + row(1, 2) + row(3, 4)
    found = normalizer_from_bytes(head("MULTI_MIN_MAX") + body)
    assert (found.target_min, found.target_max, found.get_max(0).tolist()) == (-1, 2, [3, 4])
    assert normalizer_to_bytes(found) == head("MULTI_MIN_MAX") + body
    body = struct.pack(">3i", 1, 3, 1) + row(1) + row(2) + struct.pack(">i", 0)  # statistics of input 3
    body += struct.pack(">2i", 0, 0) + struct.pack(">3i", 1, 3, 1) + struct.pack(">i", 0)  # strategies
    found = normalizer_from_bytes(head("MULTI_HYBRID") + body)
    assert found.get_input_stats(3)["std"].tolist() == [2]
    assert normalizer_to_bytes(found) == head("MULTI_HYBRID") + body


@pytest.mark.parametrize("name", OF_JAVA)
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_what_is_read_is_what_was_written(tmp_path, name, offset):
    """Bit for bit, also where float32 could not hold the statistics."""
    x = RNG.normal(size=(9, 3)) + offset
    data = MultiDataSet([x, x[:, :2]], [x * 2, x])
    normalizer = OF_JAVA[name]().fit(data)
    normalizer.save(tmp_path / "normalizer.bin")
    again = MultiNormalizer.load(tmp_path / "normalizer.bin")
    for twin in (again, pickle.loads(pickle.dumps(normalizer)), copy.deepcopy(normalizer)):
        close(twin.transform(data.copy()), normalizer.transform(data.copy()), 0.0)
        assert normalizer_to_bytes(twin) == normalizer_to_bytes(normalizer)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_knows_which_arrays_it_has_learnt(copied):
    data = sample()
    normalizer = copied(MultiNormalizerHybrid().standardize_input(1).fit(data))
    assert sorted(normalizer.get_input_stats(1)) == ["mean", "std"]
    with pytest.raises(DataError, match=r"index must be one of \[1\], got 0"):
        normalizer.get_input_stats(0)


def test_pickles_of_older_releases_are_read():
    """Statistics of a DataSet stood for themselves, those of a MultiDataSet in a normalizer for each array."""
    statistics = {"mean": np.array([1.0]), "std": np.array([2.0])}
    single, several = NormalizerStandardize(), MultiNormalizerStandardize()
    single.__setstate__({"numbers": {"features": statistics}})
    assert (single.mean.tolist(), single.std.tolist()) == ([1.0], [2.0])
    several.__setstate__({"fitted": {"features": {0: single}, "labels": {0: single}}, "fits_labels": True})
    assert (several.get_feature_mean(0).tolist(), several.get_label_std(0).tolist()) == ([1.0], [2.0])
    assert several.is_fit_label()


def test_each_load_takes_its_own_kind(tmp_path):
    path = tmp_path / "normalizer.bin"
    path.write_bytes(of_file("min_max"))
    with pytest.raises(
        ConfigurationError, match=r"Normalizer.load: .*got a MULTI_MIN_MAX normalizer, .* MultiNormalizer"
    ):
        Normalizer.load(path)
    NormalizerStandardize([1.0], [2.0]).save(path)
    with pytest.raises(
        ConfigurationError, match=r"expected a MultiNormalizer, got a STANDARDIZE normalizer, which is for"
    ):
        MultiNormalizer.load(path)


@every_row(
    ("content", "message"),
    [
        (head("MULTI_STANDARDIZE") + struct.pack(">?2i", False, 0, -1), "expected a pair of rows for each array"),
        (head("MULTI_STANDARDIZE") + struct.pack(">?2i", False, -5, -1), "expected a pair of rows for each array"),
        (head("MULTI_STANDARDIZE") + b"\0" + struct.pack(">2i", 1, -1) + row(1) + row(-1), "std must not be negative"),
        (head("MULTI_MIN_MAX") + struct.pack(">?2i2d", False, 1, -1, 2, 2), "from a number to a larger one"),
        (head("MULTI_HYBRID") + struct.pack(">i", -1), "a number of arrays must be at least 0, got -1"),
        (head("MULTI_HYBRID") + struct.pack(">3i", 1, -1, 1), "an index must be at least 0, got -1"),
        (head("MULTI_HYBRID") + struct.pack(">3i", 1, 0, 0), "a strategy must be 1 to 2, got 0"),
        (head("MULTI_HYBRID") + struct.pack(">3i", 0, 0, 3), "a strategy must be 0 to 2, got 3"),
        (
            head("MULTI_HYBRID") + struct.pack(">3i", 1, 0, 1) + row(1) + row(2) + struct.pack(">5i", 0, 0, 0, 0, 0),
            "input 0 must be one that is changed",
        ),
        (
            head("MULTI_HYBRID") + struct.pack(">3i", 1, 0, 2) + row(1) + row(2) + struct.pack(">5i", 0, 1, 0, 0, 0),
            "the statistics of features 0 must be of its strategy, got 2",
        ),
        (head("MULTI_HYBRID") + struct.pack(">7i", 0, 0, 0, 0, 1, 0, 0), "expected how features 0 are normalized"),
    ],
)
def test_damage(content, message):
    with pytest.raises(FormatError, match=message):
        normalizer_from_bytes(content)


def test_every_kind_is_in_the_table():
    assert {each.kind for each in MULTI_NORMALIZERS.values()} == {
        "IMAGE_MIN_MAX", "MULTI_HYBRID", "MULTI_MIN_MAX", "MULTI_STANDARDIZE",
    }  # fmt: skip
