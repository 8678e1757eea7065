import numpy as np
import pytest

from nd import DataError
from nd.dataset import DataSet

X = np.array([[1.0, -2.0], [4.0, 2.0]], np.float32)


def test_copy_shares_nothing():
    whole = DataSet(X, X * 1, X * 1)
    copy = whole.copy()
    assert not np.shares_memory(copy.features, X)
    np.testing.assert_array_equal(copy.features, X)
    np.testing.assert_array_equal(copy.features_mask, X)
    assert copy.labels_mask is None
    shared = DataSet(X, X).copy()
    assert shared.labels is shared.features


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda data_set: data_set.multiply_by(3), X * 3),
        (lambda data_set: data_set.divide_by(4), X / 4),
        (lambda data_set: data_set.scale(), [[1, -2], [1, 0.5]]),
        (lambda data_set: data_set.binarize(), [[1, 0], [1, 1]]),
        (lambda data_set: data_set.binarize(2), [[0, 0], [1, 0]]),
    ],
)
def test_features_are_new(change, expected):
    before, labels = X.copy(), np.ones((2, 1))
    for data_set in (DataSet(X, labels), DataSet(X, X)):
        alone = data_set.labels is labels
        change(data_set)
        np.testing.assert_array_equal(data_set.features, expected)
        assert data_set.features.dtype == np.float32
        assert data_set.labels is (labels if alone else data_set.features)
    np.testing.assert_array_equal(X, before)


def test_refusals():
    with pytest.raises(DataError, match="divide_by: divisor must not be 0"):
        DataSet(X).divide_by(0)
    with pytest.raises(DataError, match="scale: every example must have a positive number, got none in example 1"):
        DataSet([[1.0, 2.0], [0.0, -1.0]]).scale()


def test_has_mask_arrays_and_describe():
    assert not DataSet(X).has_mask_arrays()
    assert DataSet(X, labels_mask=X).has_mask_arrays()
    assert DataSet(X, np.array([[1], [0]])).describe().splitlines() == [
        "DataSet of 2 examples",
        "features [2, 2] float32: -2 to 4, mean 1.25",
        "labels [2, 1] int64: 0 to 1, mean 0.5",
    ]
    assert DataSet(np.zeros((0, 2))).describe().endswith("features [0, 2] float64: empty")
