"""Labels of the last time step; the numbers are those that Java's LabelLastTimeStepPreProcessor returned."""

import numpy as np
import pytest

import nn.dl4j  # noqa: F401  whose names are asked for here
from nd import DataError, DTypeError, ShapeError
from nd.dataset import DataSet, LabelLastTimeStepPreProcessor, ListDataSetIterator

LABELS = np.arange(24, dtype=np.float32).reshape(3, 2, 4)


def of(mask, labels=LABELS):
    return LabelLastTimeStepPreProcessor().pre_process(DataSet(np.zeros((3, 2, 4)), labels, None, mask))


@pytest.mark.parametrize(("mask", "expected"), [
    (None, [[3, 7], [11, 15], [19, 23]]),
    ([[1, 1, 1, 0], [1, 0, 1, 0], [0, 0, 0, 1]], [[2, 6], [10, 14], [19, 23]]),
    ([[0.5, -1, 0, 0], [2, 0, 0, 0], [0, 3, -1, 0]], [[0, 4], [8, 12], [17, 21]]),
])  # fmt: skip
def test_labels_are_javas(mask, expected):
    changed = of(mask)
    assert changed.labels.tolist() == expected
    assert changed.labels_mask is None


def test_in_an_iterator():
    iterator = ListDataSetIterator(DataSet(np.zeros((3, 2, 4)), LABELS), 2)
    iterator.set_pre_processor(LabelLastTimeStepPreProcessor())
    assert [data_set.labels.shape for data_set in iterator] == [(2, 2), (1, 2)]
    assert LABELS.shape == (3, 2, 4)
    assert LabelLastTimeStepPreProcessor().preProcess(DataSet(LABELS, LABELS)).labels.shape == (3, 2)


def test_what_is_refused():
    with pytest.raises(DataError, match=r"a step that counts in every example, got only masked ones in 1"):
        of([[1, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]])
    with pytest.raises(ShapeError, match=r"expected labels \[N, C, T\], got \[3, 2\]"):
        of(None, LABELS[:, :, 0])
    with pytest.raises(ShapeError, match=r"expected labels \[N, C, T\], got none"):
        of(None, None)
    with pytest.raises(ShapeError, match=r"expected a labels_mask \[N, T\], got \[3, 3\]"):
        of(np.ones((3, 3)))
    with pytest.raises(DTypeError, match=r"expected a DataSet, got list"):
        LabelLastTimeStepPreProcessor().pre_process([])
