"""Series in comma-separated files, against Deeplearning4j's minibatches and by hand."""

import json

import numpy as np
import pytest

import nd
from nd import ArgumentError, ConfigurationError, DataError, FormatError
from nd.dataset import (
    AlignmentMode,
    AsyncDataSetIterator,
    CSVSequenceRecordReader,
    NumberedFileInputSplit,
    RecordReaderMultiDataSetIterator,
    SequenceRecordReaderDataSetIterator,
    SeriesColumns,
)
from tests import java_series

SEQUENCES = java_series.cases("sequences.json")
MULTI = java_series.cases("multi_sequences.json")
LENGTHS = (3, 1, 2, 3, 1)


def arrays_of(data_set):
    return [data_set.features, data_set.labels, data_set.features_mask, data_set.labels_mask]


def series(folder, name="x", lengths=LENGTHS, columns=2):
    """Write series whose numbers say where they are: 100 * file + 10 * row + column."""
    texts = [
        "".join(",".join(str(100 * n + 10 * t + c) for c in range(columns)) + "\n" for t in range(length))
        for n, length in enumerate(lengths)
    ]
    return java_series.reader(folder, name, texts)


@pytest.mark.parametrize("name", SEQUENCES)
def test_minibatches_are_javas(name, tmp_path):
    case = SEQUENCES[name]
    skip = case["skip_lines"]
    arguments = [java_series.reader(tmp_path, "f", case["features"], skip)]
    if case["two"]:
        arguments.append(java_series.reader(tmp_path, "l", case["labels"], skip))
    named = {key: case[key] for key in ("batch", "num_classes", "regression", "label_index")}
    if case["two"]:
        named["alignment_mode"] = case["alignment_mode"]
    elif case["label_index"] is None:
        named = {"batch": case["batch"]}
    iterator = SequenceRecordReaderDataSetIterator(*arguments, **named)
    java_series.assert_same([array for data_set in iterator for array in arrays_of(data_set)], case["arrays"])
    assert iterator.input_columns() == case["arrays"][0][0][1]
    if case["arrays"][1] is not None:
        assert iterator.total_outcomes() == case["arrays"][1][0][1]


@pytest.mark.parametrize("name", MULTI)
def test_minibatches_of_several_inputs_are_javas(name, tmp_path):
    case = MULTI[name]
    builder = RecordReaderMultiDataSetIterator.Builder(case["batch"]).sequence_alignment_mode(case["alignment_mode"])
    for reader, texts in case["readers"].items():
        builder.add_sequence_reader(reader, java_series.reader(tmp_path, reader, texts))
    builder.add_input("a", 0, 1).add_input_one_hot("a", 2, 3).add_input("b")
    iterator = builder.add_output_one_hot("c", 0, 4).add_output("b", 1, 1).build()
    arrays = [
        array for each in iterator for group in (each.features, each.labels, each.features_masks, each.labels_masks)
        for array in group
    ]  # fmt: skip
    java_series.assert_same(arrays, case["arrays"])


def test_dtype_and_order_in_memory(tmp_path):
    reader = series(tmp_path)
    nd.set_default_dtype("float64")
    try:
        iterator = SequenceRecordReaderDataSetIterator(reader, None, 2, 1000, label_index=-1)
    finally:
        nd.set_default_dtype("float32")
    data_set = iterator.next()
    assert all(array.dtype == np.float64 and array.flags.f_contiguous for array in arrays_of(data_set))
    assert data_set.features[1, 0].tolist() == [100, 0, 0]
    assert np.flatnonzero(data_set.labels[0, :, 2]).tolist() == [21]


def test_several_label_columns(tmp_path):
    iterator = SequenceRecordReaderDataSetIterator(
        series(tmp_path, columns=4), batch=5, regression=True, label_index=1, label_index_to=2
    )
    data_set = iterator.next()
    assert data_set.features[0, :, 1].tolist() == [10, 13]
    assert data_set.labels[0, :, 1].tolist() == [11, 12]
    assert (iterator.input_columns(), iterator.total_outcomes(), len(iterator)) == (2, 2, 1)


def test_shuffled_and_restored(tmp_path):
    """In the orders of NumpyDataSetIterator, which its tests hold against Java's."""

    def begins(iterator):
        return [int(number) // 100 for data_set in iterator for number in data_set.features[:, 0, 0]]

    reader = series(tmp_path)
    iterator = SequenceRecordReaderDataSetIterator(reader, batch=2, shuffle=True)
    first, second = begins(iterator), begins(iterator)
    assert sorted(first) == sorted(second) == [0, 1, 2, 3, 4]
    assert first != second
    assert (
        first
        == nd.dataset.NumpyDataSetIterator(np.arange(5)[:, None], batch=5, shuffle=True).next().features[:, 0].tolist()
    )
    iterator.reset()
    iterator.next()
    other = SequenceRecordReaderDataSetIterator(reader, batch=2, shuffle=True)
    other.restore(json.loads(json.dumps(iterator.state())))
    assert begins(other) == begins(iterator)


def test_read_ahead_and_by_other_numbers(tmp_path):
    iterator = SequenceRecordReaderDataSetIterator(series(tmp_path), batch=2)
    with AsyncDataSetIterator(iterator) as ahead:
        assert [data_set.features.shape for data_set in ahead] == [(2, 2, 3), (2, 2, 3), (1, 2, 1)]
    iterator.reset()
    assert iterator.next(4).features.shape == (4, 2, 3)
    assert iterator.next().features_mask is None
    with pytest.raises(DataError, match=r"expected a minibatch, got the end of the data. Call reset()"):
        iterator.next()


def test_patterns_of_names():
    assert list(NumberedFileInputSplit("a_100%/%03d.csv", 9, 10)) == ["a_100%/009.csv", "a_100%/010.csv"]
    assert len(NumberedFileInputSplit("%d", 5, 104)) == 100
    with pytest.raises(ConfigurationError, match=r"base_string must have %d for the number, got 'a.csv'"):
        NumberedFileInputSplit("a.csv", 0, 1)
    with pytest.raises(ConfigurationError, match=r"max_index must be at least 2, min_index, got 1"):
        NumberedFileInputSplit("%d.csv", 2, 1)


def test_readers_that_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"CSVSequenceRecordReader: delimiter must be one character, got ', '"):
        CSVSequenceRecordReader(0, ", ")
    reader = CSVSequenceRecordReader()
    with pytest.raises(ConfigurationError, match=r"expected a reader with files, got one without"):
        reader.sequence_record(0)
    with pytest.raises(ConfigurationError, match=r"^SequenceRecordReaderDataSetIterator: expected a reader with files"):
        SequenceRecordReaderDataSetIterator(reader)
    with pytest.raises(DataError, match=r"initialize: expected files, got none"):
        reader.initialize([])
    with pytest.raises(FileNotFoundError, match=r"x_5.csv"):
        reader.initialize(NumberedFileInputSplit(str(tmp_path / "x_%d.csv"), 5, 6))
    with pytest.raises(DataError, match=r"sequence_record: number must be 0 to 4, got 5"):
        series(tmp_path).sequence_record(5)
    assert reader.files == ()


@pytest.mark.parametrize(("text", "error", "message"), [
    ("1,2\n3\n", FormatError, r"CSVSequenceRecordReader: '.*b_1.csv': line 2: expected 2 cells, as in the first row"),
    ("1,2\n3,x\n", DataError, r"b_1.csv': line 2, column 2: expected a number, got 'x'. Correct the row"),
    ("a,b\n3,4\n", DataError, r"line 1, column 1: expected a number, got 'a'. If that line is a header, pass skip_lin"),
    ("1,2\n\n3,\n", DataError, r"line 3, column 2: expected a number, got ''. The value is missing"),
    ("1,2\n3,nan\n", DataError, r"line 2, column 2: expected a number, got 'nan'"),
    ("\n", DataError, r"b_1.csv': expected rows, got none behind line 0. Leave out series without time steps"),
])  # fmt: skip
def test_files_that_are_refused(tmp_path, text, error, message):
    reader = java_series.reader(tmp_path, "b", ["1,2\n", text])
    with pytest.raises(error, match=message):
        SequenceRecordReaderDataSetIterator(reader, batch=2).next()


def test_classes_that_are_refused(tmp_path):
    for text, shown in (("3\n", "3"), ("-1\n", "-1"), ("0.5\n", "0.5")):
        features, labels = java_series.reader(tmp_path, "x", ["1\n"]), java_series.reader(tmp_path, "y", [text])
        with pytest.raises(DataError, match=rf"y_0.csv': line 1, column 1: expected a class number .* got '{shown}'"):
            SequenceRecordReaderDataSetIterator(features, labels, 1, 3).next()


def test_series_that_should_be_equally_long(tmp_path):
    x, y = series(tmp_path), series(tmp_path, "y")
    iterator = SequenceRecordReaderDataSetIterator(x, y, 3, regression=True)
    with pytest.raises(DataError, match=r"got 3 steps in '.*x_0.csv' and 1 in '.*x_1.csv'. Set alignment_mode to"):
        iterator.next()


def test_settings_that_are_refused(tmp_path):
    x, y, few = series(tmp_path), series(tmp_path, "y"), series(tmp_path, "z", (1, 1))

    def refused(error, message, *arguments, **named):
        with pytest.raises(error, match=message):
            SequenceRecordReaderDataSetIterator(*arguments, **named)

    refused(DataError, r"as many files of each reader, got {'features': 5, 'labels': 2}", x, few, regression=True)
    refused(ConfigurationError, r"labels need either num_classes or regression=True, got num_classes None and", x, y)
    refused(ConfigurationError, r"got num_classes 3 and regression True", x, y, 2, 3, True)
    refused(ConfigurationError, r"need labels, got neither labels_reader nor label_index", x, None, 2, 3)
    refused(ConfigurationError, r"label_index must go without labels_reader, got 0", x, y, 2, 3, label_index=0)
    refused(ConfigurationError, r"label_index_to needs regression=True, got 1", x, None, 2, 3, label_index=0,
            label_index_to=1)  # fmt: skip
    refused(DataError, r"label_index must be -2 to 1, got 2", x, None, 2, 3, label_index=2)
    refused(DataError, r"must not be before label_index, got 0 and 1", x, None, regression=True, label_index=1,
            label_index_to=0)  # fmt: skip
    refused(DataError, r"a column of features, got 2 of labels alone", x, None, regression=True, label_index=0,
            label_index_to=1)  # fmt: skip
    refused(ArgumentError, r"alignment_mode must be one of align_end, align_start, equal_length", x, y, 2, 3,
            alignment_mode="middle")  # fmt: skip


def test_settings_of_several_inputs_that_are_refused(tmp_path):
    kind, reader = RecordReaderMultiDataSetIterator, series(tmp_path)
    with pytest.raises(ConfigurationError, match=r"expected readers and inputs, got 0 and 0"):
        kind.Builder(3).build()
    with pytest.raises(ConfigurationError, match=r"name must be of a reader, one of \['x'\], got 'y'. Add it first"):
        kind.Builder(3).add_sequence_reader("x", reader).add_output("y")
    with pytest.raises(DataError, match=r"last must be 0 to 1, got 2"):
        kind.Builder(3).add_sequence_reader("x", reader).add_input("x", 0, 2)
    with pytest.raises(DataError, match=r"last must not be before first, got 0 and 1"):
        kind.Builder(3).add_sequence_reader("x", reader).add_input("x", 1, 0)
    with pytest.raises(ConfigurationError, match=r"add_sequence_reader: expected a reader with files"):
        kind.Builder(3).add_sequence_reader("x", CSVSequenceRecordReader())
    with pytest.raises(ConfigurationError, match=r"reader must be one of \['x'\], got 'y'"):
        kind(3, {"x": reader}, [SeriesColumns("y", [0])])
    with pytest.raises(DataError, match=r"column must be 0 to 1, got 2"):
        kind(3, {"x": reader}, [SeriesColumns("x", [2])])
    with pytest.raises(DataError, match=r"classes must be at least 1, got 0"):
        kind(3, {"x": reader}, [SeriesColumns("x", [0], 0)])
    with pytest.raises(ConfigurationError, match=r"expected one column of classes of reader 'x', got \[0, 1\]"):
        kind(3, {"x": reader}, [SeriesColumns("x", [0, 1], 3)])


def test_in_javas_spelling(tmp_path):
    from nn import dl4j

    x, y = series(tmp_path), series(tmp_path, "y", columns=1)
    kind = dl4j.SequenceRecordReaderDataSetIterator
    two = kind(x, y, 2, -1, True, kind.AlignmentMode.ALIGN_END)
    assert two.next().labels.shape == (2, 1, 3)
    assert kind(x, 5, 500, 1).next().labels.shape == (5, 500, 3)
    assert kind(x, 5, -1, 1, True).next().labels.shape == (5, 1, 3)
    assert kind(x, 5, -1, -1).next().labels is None
    assert kind.AlignmentMode is AlignmentMode is dl4j.RecordReaderMultiDataSetIterator.AlignmentMode
    with pytest.raises(ConfigurationError, match=r"expected batch, num_classes, label_index, regression behind"):
        kind(x, 5)
