"""Comma-separated files by the names of DataVec."""

import numpy as np
import pytest

import nd
from nn.dl4j import CSVRecordReader, FileSplit, RecordReaderDataSetIterator

ROWS = "a;b;c\n1;2;0\n3;4;2\n5;6;1\n"


@pytest.fixture
def reader(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    made = CSVRecordReader(1, ";")
    made.initialize(FileSplit(tmp_path / "rows.csv"))
    return made


def test_classes(reader):
    iterator = RecordReaderDataSetIterator(reader, 2, 2, 3)
    first, last = iterator.next(), iterator.next()
    assert first.getFeatures().tolist() == [[1, 2], [3, 4]]
    assert first.getLabels().tolist() == [[1, 0, 0], [0, 0, 1]]
    assert (last.numExamples(), iterator.hasNext()) == (1, False)
    iterator.reset()
    built = RecordReaderDataSetIterator.Builder(reader, 2).classification(2, 3).build()
    assert built.next() == iterator.next()


def test_numbers_and_no_labels(reader):
    made = RecordReaderDataSetIterator(reader, 3, 1, 2, True).next()
    np.testing.assert_array_equal(made.features, [[1], [3], [5]])
    np.testing.assert_array_equal(made.labels, [[2, 0], [4, 2], [6, 1]])
    one = RecordReaderDataSetIterator.Builder(reader, 3).regression(2).build().next()
    np.testing.assert_array_equal(one.labels, [[0], [2], [1]])
    assert RecordReaderDataSetIterator(reader, 3).next().labels is None


def test_what_is_no_reader():
    with pytest.raises(nd.ConfigurationError, match=r"the reader must have a file\. Call initialize"):
        RecordReaderDataSetIterator(CSVRecordReader(), 2)
    with pytest.raises(nd.ConfigurationError, match=r"CSVRecordReader: expected \(skip_lines, delimiter\), got"):
        CSVRecordReader(1, 2)
