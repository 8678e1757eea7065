import numpy as np
import pytest

from nd import ArgumentError, DataError, ShapeError
from nd.dataset import DataSet


def of_classes(*classes, width=3):
    """A DataSet whose features and masks tell the examples' numbers."""
    x = np.arange(float(len(classes)))[:, None]
    return DataSet(x, np.eye(width)[list(classes)], x, np.repeat(x, width, axis=1))


def rows(data_set):
    np.testing.assert_array_equal(data_set.features, data_set.features_mask)
    np.testing.assert_array_equal(data_set.features, data_set.labels_mask[:, :1])
    return data_set.features.ravel().astype(int).tolist()


def test_label_counts():
    assert of_classes(2, 0, 2, 2).label_counts() == {0: 1, 2: 3}


def test_filter_by():
    whole = of_classes(2, 0, 1, 2, 0)
    found = whole.filter_by([0, 2])
    assert rows(found) == [0, 1, 3, 4]
    assert found.labels.argmax(axis=1).tolist() == [2, 0, 2, 0]
    with pytest.raises(DataError, match=r"filter_by: .* of classes \[7\], got none; there are \[0, 1, 2\]"):
        whole.filter_by([7])


def test_filter_and_strip():
    whole = of_classes(2, 0, 1, 2, 0)
    found = whole.filter_and_strip([2, 0])
    assert found.labels.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    assert found.labels_mask.shape == (4, 2)
    assert whole.labels.shape == (5, 3)
    with pytest.raises(DataError, match=r"filter_and_strip: expected each class once, got \[1, 1\]"):
        whole.filter_and_strip([1, 1])


def test_sort_by_label_takes_turns():
    whole = of_classes(0, 0, 0, 0, 2, 2, 1, 1)
    features = whole.features
    whole.sort_by_label()
    assert rows(whole) == [0, 6, 4, 1, 7, 5, 2, 3]
    assert whole.labels.argmax(axis=1).tolist() == [0, 1, 2, 0, 1, 2, 0, 0]
    assert features.ravel().tolist() == list(range(8))


@pytest.mark.parametrize("method", ["label_counts", "sort_by_label"])
def test_labels_must_be_classes(method):
    with pytest.raises(DataError, match=rf"DataSet\.{method}: expected labels, got none"):
        getattr(DataSet([[1.0]]), method)()
    with pytest.raises(ShapeError, match=rf"DataSet\.{method}: expected labels \[N, classes\], got \[2, 3, 4\]"):
        getattr(DataSet(np.zeros((2, 1)), np.zeros((2, 3, 4))), method)()


def test_classes_that_are_none():
    data_set = DataSet(np.eye(3), np.eye(3))
    for classes, message in (([0, 5], "a class must be 0 to 2, got 5"), ([0, -1], "a class must be 0 to 2, got -1")):
        with pytest.raises(DataError, match=rf"DataSet\.filter_and_strip: {message}"):
            data_set.filter_and_strip(classes)
    with pytest.raises(
        ArgumentError, match=r"filter_and_strip: classes must be a sequence of an integer, got \[0\.7\]"
    ):
        data_set.filter_and_strip([0.7])
    for method in (data_set.filter_by, data_set.filter_and_strip):
        with pytest.raises(ArgumentError, match="classes must be a sequence of an integer, got 2"):
            method(2)
