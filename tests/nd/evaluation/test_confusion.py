"""ConfusionMatrix, counted by hand."""

import numpy as np
import pytest

from backends.errors import DataError, ShapeError
from nd.evaluation import ConfusionMatrix


def test_counts_by_hand():
    confusion = ConfusionMatrix(3)
    confusion.add_batch(np.array([0, 0, 1, 2, 2, 2]), np.array([0, 2, 1, 2, 2, 0]))
    confusion.add(1, 0, 4)
    assert confusion.counts.tolist() == [[1, 0, 1], [4, 1, 0], [1, 0, 2]]
    assert confusion.get_count(1, 0) == 4
    assert [confusion.get_actual_total(cls) for cls in confusion.classes] == [2, 5, 3]
    assert [confusion.get_predicted_total(cls) for cls in confusion.classes] == [6, 1, 3]
    assert (confusion.total(), confusion.correct(), confusion.n_classes) == (10, 4, 3)
    assert repr(confusion) == "ConfusionMatrix([[1, 0, 1], [4, 1, 0], [1, 0, 2]])"


@pytest.mark.parametrize(("n_classes", "rows"), [(4, 5000), (300, 50)])
def test_small_and_large_matrices_count_alike(n_classes, rows):
    actual, predicted = np.random.default_rng(1).integers(0, n_classes, (2, rows))
    confusion = ConfusionMatrix(n_classes)
    confusion.add_batch(actual, predicted)
    confusion.add_batch(actual[:7], predicted[:7])
    expected = np.zeros((n_classes, n_classes), int)
    for a, p in [*zip(actual, predicted, strict=True), *zip(actual[:7], predicted[:7], strict=True)]:
        expected[a, p] += 1
    np.testing.assert_array_equal(confusion.counts, expected)


def test_the_table_as_text():
    confusion = ConfusionMatrix(2)
    confusion.add_batch(np.array([0, 0, 1]), np.array([0, 1, 1]))
    assert confusion.to_csv().splitlines() == [
        ",,Predicted Class,", ",,0,1,Total", "Actual Class,0,1,1,2", ",1,0,1,1", ",Total,1,2,",
    ]  # fmt: skip


def test_merge_and_copy():
    first, second = ConfusionMatrix(2), ConfusionMatrix(2)
    first.add(0, 1)
    second.add(0, 1, 2)
    twin = first.copy()
    assert twin == first
    first.merge(second)
    assert first.counts.tolist() == [[0, 3], [0, 0]]
    assert twin != first
    assert twin != "something else"
    with pytest.raises(ShapeError, match="same number of classes, got 2 and 3"):
        first.merge(ConfusionMatrix(3))


def test_counts_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        ConfusionMatrix(2).counts[0, 0] = 1


@pytest.mark.parametrize("n_classes", [0, -1, 16_385])
def test_number_of_classes(n_classes):
    with pytest.raises(ShapeError, match=f"must be 1 to 16384, got {n_classes}"):
        ConfusionMatrix(n_classes)


def test_unknown_class():
    confusion = ConfusionMatrix(2)
    for call in (
        lambda: confusion.add(2, 0),
        lambda: confusion.get_count(0, -1),
        lambda: confusion.get_actual_total(5),
    ):
        with pytest.raises(DataError, match="must be 0 to 1, got"):
            call()
