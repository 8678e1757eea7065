"""Data of a folder that Deeplearning4j wrote: series in files, normalizers of series, files of DataSets."""

import numpy as np
import pytest

from nd.dataset import (
    CSVSequenceRecordReader,
    DataSet,
    MultiDataSet,
    Normalizer,
    NumberedFileInputSplit,
    SequenceRecordReaderDataSetIterator,
)


@pytest.fixture
def data(reference):
    return reference / "java-runs" / "data"


def arrays_of(data_set):
    return [data_set.features, data_set.labels, data_set.features_mask, data_set.labels_mask]


def test_every_folder_has_its_test(data):
    kinds = {path.name.partition("_")[0] for path in data.iterdir()}
    assert kinds == {"files", "normalizer", "sequence"}


def test_series_in_files(data):
    """Every alignment, with classes and with regression, features and labels equally long and not."""
    folders = sorted(data.glob("sequence_*"))
    assert len(folders) >= 8
    for folder in folders:
        mode, kind = folder.name.removeprefix("sequence_").rsplit("_", 2)[:2]
        features, labels = (
            CSVSequenceRecordReader().initialize(NumberedFileInputSplit(str(folder / f"{name}_%d.csv"), 0, 4))
            for name in ("features", "labels")
        )
        classes = {"num_classes": 3} if kind == "classes" else {"regression": True}
        iterator = SequenceRecordReaderDataSetIterator(features, labels, 3, alignment_mode=mode, **classes)
        with np.load(folder / "arrays.npz") as javas:
            for number, data_set in enumerate(iterator):
                for name, ours in zip(("x", "y", "xm", "ym"), arrays_of(data_set), strict=True):
                    key = f"batch{number}_{name}"
                    assert (ours is None) == (key not in javas), (folder.name, key)
                    if ours is not None:
                        np.testing.assert_array_equal(ours, javas[key], err_msg=f"{folder.name} {key}")


def test_normalizers_of_series(data):
    with np.load(data / "normalizer_series" / "arrays.npz") as javas:
        for kind in ("NormalizerStandardize", "NormalizerMinMaxScaler"):
            normalizer = Normalizer.load(data / "normalizer_series" / f"{kind}.bin")
            changed = normalizer.transform(DataSet(javas["x"], javas["y"]))
            np.testing.assert_allclose(changed.features, javas[f"{kind}_x"], rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(changed.labels, javas[f"{kind}_y"], rtol=1e-6, atol=1e-6)
            reverted = normalizer.revert(changed).features
            np.testing.assert_allclose(reverted, javas[f"{kind}_reverted"], rtol=1e-6, atol=1e-6)


def test_files_of_data_sets(data):
    with np.load(data / "files" / "arrays.npz") as javas:
        data_set = DataSet.load(data / "files" / "dataset.bin")
        for name, ours in zip(("x", "y", "xm", "ym"), arrays_of(data_set), strict=True):
            np.testing.assert_array_equal(ours, javas[f"ds_{name}"], strict=True)
        alone = DataSet.load(data / "files" / "dataset_features.bin")
        np.testing.assert_array_equal(alone.features, javas["features_only"], strict=True)
        assert arrays_of(alone)[1:] == [None, None, None]
        several = MultiDataSet.load(data / "files" / "multidataset.bin")
        groups = (several.features, several.labels, several.features_masks, several.labels_masks)
        for name, group in zip(("x", "y", "xm", "ym"), groups, strict=True):
            for number, ours in enumerate(group):
                key = f"mds_{name}{number}"
                assert (ours is None) == (key not in javas)
                if ours is not None:
                    np.testing.assert_array_equal(ours, javas[key], strict=True)
