from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import nd.dataset
from backends.errors import ArgumentError, DataError
from nd.dataset import DataSet, DigitsDataSetIterator
from nd.dataset.digits import load_digits

# the first image of the set, as scikit-learn's documentation prints it
FIRST_IMAGE = [
    [0, 0, 5, 13, 9, 1, 0, 0],
    [0, 0, 13, 15, 10, 15, 5, 0],
    [0, 3, 15, 2, 0, 11, 8, 0],
    [0, 4, 12, 0, 0, 8, 8, 0],
    [0, 5, 8, 0, 0, 9, 8, 0],
    [0, 4, 11, 0, 1, 12, 7, 0],
    [0, 2, 14, 5, 10, 12, 0, 0],
    [0, 0, 6, 13, 10, 0, 0, 0],
]
CLASS_COUNTS = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def whole(train: bool, seed: int = 123, **options: float) -> DataSet:
    return DataSet.merge(list(DigitsDataSetIterator(100, train, seed, **options)))


def rows(data_set: DataSet) -> list[bytes]:
    return [row.tobytes() for row in np.ascontiguousarray(data_set.features)]


def test_the_stored_digits_are_the_uci_ones() -> None:
    images, labels = load_digits()
    assert images.shape == (1797, 8, 8)
    assert images[0].tolist() == FIRST_IMAGE
    assert int(images.max()) == 16
    assert labels[:12].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]
    assert np.bincount(labels).tolist() == CLASS_COUNTS


def test_minibatches_look_like_mnists() -> None:
    data_set = DigitsDataSetIterator(64).next()
    assert data_set.labels is not None
    assert (data_set.features.shape, data_set.labels.shape) == ((64, 784), (64, 10))
    assert data_set.features.dtype == data_set.labels.dtype == np.float32
    assert data_set.features.flags.f_contiguous
    assert data_set.labels.flags.f_contiguous
    assert data_set.features.min() == 0
    assert data_set.features.max() == 1
    images = data_set.features.reshape(64, 28, 28).copy()
    images[:, 4:24, 4:24] = 0
    assert not images.any(), "a margin of 4 is blank"
    assert data_set.labels.sum(axis=1).tolist() == [1] * 64


def test_enlarging_is_linear_interpolation() -> None:
    small, _ = load_digits()
    both = sorted([*rows(whole(True)), *rows(whole(False))])
    centres = (np.arange(20) + 0.5) * 8 / 20 - 0.5
    expected = np.zeros((1797, 28, 28))
    for image, target in zip(small.astype(float), expected, strict=True):
        wide = np.stack([np.interp(centres, np.arange(8), row) for row in image])
        target[4:24, 4:24] = np.stack([np.interp(centres, np.arange(8), column) for column in wide.T]).T / 16
    grey = np.floor(np.round(expected.reshape(1797, -1) * 255, 6) + 0.5)
    wanted = sorted(row.tobytes() for row in (grey / 255).astype(np.float32))
    assert both == wanted


def test_split_is_disjoint_complete_and_independent_of_the_seed() -> None:
    train, test = whole(True), whole(False)
    assert (train.num_examples(), test.num_examples()) == (1438, 359)
    assert not set(rows(train)) & set(rows(test))
    assert train.labels is not None
    assert test.labels is not None
    assert (train.labels.sum(axis=0) + test.labels.sum(axis=0)).tolist() == CLASS_COUNTS
    assert test.labels.sum(axis=0).min() >= 25, "every class is tested"
    other = whole(True, seed=7)
    assert rows(other) != rows(train)
    assert sorted(rows(other)) == sorted(rows(train))
    assert rows(whole(False, seed=7)) == rows(test)


def test_train_is_reshuffled_at_reset_and_test_is_not() -> None:
    iterator = DigitsDataSetIterator(1438)
    first, second = iterator.next(), next(iter(iterator))
    assert rows(first) != rows(second)
    assert sorted(rows(first)) == sorted(rows(second))
    assert rows(DigitsDataSetIterator(1438).next()) == rows(first), "a new iterator starts anew"
    test = DigitsDataSetIterator(359, train=False)
    assert rows(test.next()) == rows(next(iter(test)))


def test_test_fraction() -> None:
    assert len(DigitsDataSetIterator(1, train=False, test_fraction=0.5)) == 898
    for fraction in (0, 1, -0.2, 1.5):
        with pytest.raises(DataError, match=f"leave some of the 1797 examples on both sides, got {fraction}"):
            DigitsDataSetIterator(64, test_fraction=fraction)
    with pytest.raises(ArgumentError, match="DigitsDataSetIterator: batch must be an integer >= 1, got 0"):
        DigitsDataSetIterator(0)


def test_digits_load_from_a_zip(tmp_path: Path) -> None:
    root = Path(nd.dataset.__file__).parents[2]
    archive = tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path in [*root.glob("nd/**/*"), *root.glob("backends/**/*")]:
            packed.write(path, path.relative_to(root))
    program = "from nd.dataset import DigitsDataSetIterator as D, __file__ as f; print(len(D(64)), '.zip' in f)"
    command = [sys.executable, "-c", f"import sys; sys.path[0] = {str(archive)!r}; {program}"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert (result.stdout, result.stderr) == ("23 True\n", "")


def test_the_attribution_travels_along() -> None:
    text = (Path(nd.dataset.__file__).parent / "data" / "DIGITS.md").read_text()
    assert all(word in text for word in ("E. Alpaydin", "C. Kaynak", "10.24432/C50P49", "CC BY 4.0"))
