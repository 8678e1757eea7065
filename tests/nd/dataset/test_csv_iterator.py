"""Rows of comma-separated files, against numpy.loadtxt and by hand."""

import tracemalloc

import numpy as np
import pytest

import nd
from nd import ArgumentError, ConfigurationError, DataError, FormatError
from nd.dataset import CsvDataSetIterator


def written(folder, text, name="data.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def whole(iterator):
    return [(data_set.features.tolist(), data_set.labels.tolist()) for data_set in iterator]


def test_javas_file_in_javas_batches(reference):
    """MLPMoon: label in column 0; 2000 rows in batches of 32, the last of 16."""
    path = reference / "MLPMoon" / "moon_data_train.csv"
    table = np.loadtxt(path, delimiter=",")
    iterator = CsvDataSetIterator(path, 32, 0, 2)
    assert (iterator.batch(), iterator.input_columns(), iterator.total_outcomes()) == (32, 2, 2)
    sets = list(iterator)
    assert [data_set.num_examples() for data_set in sets] == [32] * 62 + [16]
    np.testing.assert_array_equal(np.concatenate([s.features for s in sets]), table[:, 1:].astype(np.float32))
    np.testing.assert_array_equal(np.concatenate([s.labels for s in sets]).argmax(axis=1), table[:, 0])
    assert all(s.features.dtype == s.labels.dtype == np.float32 for s in sets)
    assert all(s.features.flags.f_contiguous and s.labels.flags.f_contiguous for s in sets)


def test_epochs_and_sizes(tmp_path):
    iterator = CsvDataSetIterator(written(tmp_path, "1,0\n2,1\n3,0\n4,1\n5,1\n"), 2, -1, 2)
    first = whole(iterator)
    assert [len(features) for features, _ in first] == [2, 2, 1]
    assert first[2] == ([[5]], [[0, 1]])
    assert whole(iterator) == first
    iterator.reset()
    assert iterator.has_next()
    assert iterator.next(3).features.ravel().tolist() == [1, 2, 3]
    assert iterator.next().features.ravel().tolist() == [4, 5]
    with pytest.raises(DataError, match=r"CsvDataSetIterator.next: expected a minibatch, got the end of the data"):
        iterator.next()


def test_regression_with_several_labels(tmp_path):
    path = written(tmp_path, "1;2;3;4\n5;6;7;8\n")
    iterator = CsvDataSetIterator(path, 9, 1, regression=True, label_index_to=2, delimiter=";")
    assert whole(iterator) == [([[1, 4], [5, 8]], [[2, 3], [6, 7]])]
    assert (iterator.input_columns(), iterator.total_outcomes()) == (2, 2)
    assert whole(CsvDataSetIterator(path, 9, 3, regression=True, delimiter=";"))[0][1] == [[4], [8]]


def test_without_labels(tmp_path):
    iterator = CsvDataSetIterator(written(tmp_path, "1,2\n"), 4)
    data_set = iterator.next()
    assert (data_set.features.tolist(), data_set.labels) == ([[1, 2]], None)
    with pytest.raises(DataError, match="total_outcomes: expected an iterator that knows it"):
        iterator.total_outcomes()


def test_columns_by_name(tmp_path):
    text = '# made by hand\nx, "kind, of flower" ,y\n1,2,3\n'.replace(' "kind, of flower" ', '"kind, of flower"')
    path = written(tmp_path, text)
    iterator = CsvDataSetIterator(path, 4, "kind, of flower", 3, skip_lines=1)
    assert whole(iterator) == [([[1, 3]], [[0, 0, 1]])]
    iterator = CsvDataSetIterator(path, 4, "x", regression=True, label_index_to="kind, of flower", skip_lines=1)
    assert whole(iterator) == [([[3]], [[1, 2]])]
    with pytest.raises(DataError, match=r"label_index_to must be a name that line 2 has once, one of .*'y'\], got 'z'"):
        CsvDataSetIterator(path, 4, "x", regression=True, label_index_to="z", skip_lines=1)


def test_columns_of_labels_alone_are_refused(tmp_path):
    path = written(tmp_path, "x,y\n1,2\n")
    with pytest.raises(DataError, match="expected a column of features, got 2 of labels alone"):
        CsvDataSetIterator(path, 4, "x", regression=True, label_index_to="y")


def test_quotes_marks_line_ends_and_empty_lines(tmp_path):
    text = b'\xef\xbb\xbf"1","0"\r\n\r\n " 2 " ,1\r\n   \r\n+3e0,"0"'.replace(b' " 2 " ', b'" 2 "')
    assert whole(CsvDataSetIterator(written(tmp_path, text), 2, 1, 2)) == [
        ([[1], [2]], [[1, 0], [0, 1]]),
        ([[3]], [[1, 0]]),
    ]


def test_a_quoted_cell_may_hold_a_line_end(tmp_path):
    iterator = CsvDataSetIterator(written(tmp_path, '"1\n",0\n2,x\n'), 1, 1, 2)
    assert iterator.next().features.tolist() == [[1]]
    with pytest.raises(DataError, match=r"line 3, column 2: expected a number, got 'x'"):
        iterator.next()


def test_float64(tmp_path):
    nd.set_default_dtype("float64")
    data_set = CsvDataSetIterator(written(tmp_path, "0.1,1\n"), 4, 1, 2).next()
    assert data_set.features.tolist() == [[0.1]]
    assert data_set.labels.dtype == np.float64


ROWS = [  # text, what the message of the second row must say
    ("1,0\n1\n", FormatError, "line 2: expected 2 cells, as in the first row, got 1"),
    ("1,0\n1,0,\n", FormatError, "line 2: expected 2 cells, as in the first row, got 3"),
    (
        "1,0\n,0\n",
        DataError,
        r"data.csv': line 2, column 1: expected a number, got ''\. The value is missing: fill it in",
    ),
    ("1,0\nnan,0\n", DataError, "line 2, column 1: expected a number, got 'nan'"),
    ("1,0\n-inf,0\n", DataError, "line 2, column 1: expected a number, got '-inf'"),
    ("1,0\n1e39,0\n", DataError, "line 2, column 1: expected a number, got '1e39'"),
    ("1,0\n1_0,0\n", DataError, "line 2, column 1: expected a number, got '1_0'"),
    ("1,0\n\n1,2\n", DataError, "line 3, column 2: expected a class number from 0 to 1, got '2'"),
    ("1,0\n1,-1\n", DataError, "line 2, column 2: expected a class number from 0 to 1, got '-1'"),
    ("1,0\n1,0.5\n", DataError, "line 2, column 2: expected a class number from 0 to 1, got '0.5'"),
    ('1,0\n"1"2,0\n', FormatError, "line 2: expected cells, got: '?,'? expected after"),
    ('1,0\n"1,0\n', FormatError, "line 2: expected cells, got: unexpected end of data"),
    (b"1,0\n\xff,0\n", FormatError, "line 2: expected text in UTF-8, got invalid start byte"),
]


@pytest.mark.parametrize(("text", "error", "message"), ROWS)
def test_bad_rows(tmp_path, text, error, message):
    iterator = CsvDataSetIterator(written(tmp_path, text), 1, 1, 2)
    iterator.next()
    with pytest.raises(error, match=message):
        iterator.next()


def test_a_header_that_is_taken_for_a_row(tmp_path):
    iterator = CsvDataSetIterator(written(tmp_path, "x,y\n1,2\n"), 4)
    with pytest.raises(DataError, match=r"line 1, column 1: .*got 'x'\. If that line is a header, pass skip_lines=1"):
        iterator.next()
    iterator = CsvDataSetIterator(written(tmp_path, "x,y\n1,2\n1,a\n"), 4, "x", regression=True)
    with pytest.raises(DataError, match="line 3, column 2 'y': expected a number, got 'a'"):
        iterator.next()


FLOWERS = "x,kind,y\n1,lily,2\n3,aster,4\n5,lily,6\n7, rose ,8\n"


@pytest.mark.parametrize("num_classes", [None, 3])
def test_labels_that_are_text_are_classes_in_their_order(tmp_path, num_classes):
    iterator = CsvDataSetIterator(written(tmp_path, FLOWERS), 3, "kind", num_classes)
    assert iterator.class_names == ("aster", "lily", "rose")
    assert iterator.total_outcomes() == 3
    assert whole(iterator) == [
        ([[1, 2], [3, 4], [5, 6]], [[0, 1, 0], [1, 0, 0], [0, 1, 0]]),
        ([[7, 8]], [[0, 0, 1]]),
    ]


def test_classes_may_be_given(tmp_path):
    classes = ["rose", "none", "lily", "aster"]
    iterator = CsvDataSetIterator(written(tmp_path, FLOWERS), 4, "kind", classes=classes)
    assert whole(iterator)[0][1] == [[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0]]
    iterator = CsvDataSetIterator(written(tmp_path, "1,7\n2,3\n"), 4, 1, classes=["3", "7"])  # numbers are texts too
    assert whole(iterator)[0][1] == [[0, 1], [1, 0]]
    iterator = CsvDataSetIterator(written(tmp_path, FLOWERS), 4, "kind", classes=["lily", "rose"])
    with pytest.raises(
        DataError, match=r"line 3, column 2 'kind': expected one of the classes 'lily', 'rose', got 'as"
    ):
        iterator.next()


@pytest.mark.parametrize(
    ("text", "arguments", "settings", "error", "message"),
    [
        (FLOWERS, ("kind", 2), {}, DataError, "expected 2 different classes, got 3: 'aster', 'lily', 'rose'. Give the"),
        (FLOWERS, (), {"classes": ["a"]}, ConfigurationError, "classes need label_index"),
        (
            FLOWERS,
            ("kind",),
            {"classes": "lily"},
            ArgumentError,
            "classes must be a sequence of text.*, got 'lily'",
        ),
        (
            FLOWERS,
            (1, 3),
            {},
            DataError,
            r"line 1, column 1: expected a number, got 'x'\. .* a header, pass skip_lines=1",
        ),
        ("1;2\n", (), {}, DataError, r"got '1;2'\. The cells seem to be separated otherwise: pass delimiter=';'"),
        ("x;kind\n1;2\n", ("kind", 2), {}, DataError, "got 'kind'. The cells seem .* pass delimiter=';'"),
        ("1\n1,5\n", (), {"delimiter": ";"}, DataError, r"got '1,5'\. Write numbers with a decimal point"),
        ("1\nNA\n", (), {}, DataError, r"got 'NA'\. The value is missing: fill it in, or drop the row"),
    ],
)
def test_advice(tmp_path, text, arguments, settings, error, message):
    with pytest.raises(error, match=message):
        list(CsvDataSetIterator(written(tmp_path, text), 4, *arguments, **settings))


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "message"),
    [
        ((4, 0), {}, ConfigurationError, "a label needs num_classes or regression=True, got neither"),
        ((4, 0, 2), {"regression": True}, ConfigurationError, "regression must go without num_classes, got 2"),
        ((4,), {"regression": True}, ConfigurationError, "need label_index, got none"),
        ((4, 0, 2), {"label_index_to": 1}, ConfigurationError, "label_index_to needs regression=True, got 1"),
        (
            (4, 1),
            {"regression": True, "label_index_to": 0},
            DataError,
            "label_index_to must not be before label_index, got 0 and 1",
        ),
        ((4, 2, 2), {}, DataError, "label_index must be -2 to 1, got 2"),
        ((4, 0.5, 2), {}, ArgumentError, r"label_index must be an integer or text or None, got 0\.5"),
        ((0,), {}, ArgumentError, "batch must be an integer >= 1, got 0"),
        ((4,), {"delimiter": ";;"}, DataError, "delimiter must be one character, got ';;'"),
        ((4,), {"skip_lines": 2}, DataError, "expected rows, got none behind line 2"),
        ((4,), {"skip_lines": 3}, DataError, "skip_lines must be at most 2, got 3"),
        ((4,), {"regression": 1}, ArgumentError, "regression must be True or False, got 1"),
    ],
)
def test_settings(tmp_path, arguments, settings, error, message):
    with pytest.raises(error, match=message):
        CsvDataSetIterator(written(tmp_path, "1,0\n2,1\n"), *arguments, **settings)


def test_no_file_and_lines_without_end(tmp_path, monkeypatch):
    """The longest line is made short, as a test has no time for a long one."""
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        CsvDataSetIterator(tmp_path / "none.csv", 4)
    monkeypatch.setattr("nd.dataset.csv_rows._LONGEST_LINE", 1000)
    with pytest.raises(FormatError, match="line 1: expected at most 1000 bytes, got more"):
        CsvDataSetIterator(written(tmp_path, "1" * 1001), 4)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    line = ",".join(["0.123456789"] * 20) + "\n"
    path = written(tmp_path, line * 20_000)  # 5 MB
    iterator = CsvDataSetIterator(path, 50)
    assert iterator.next().num_examples() == 50
    tracemalloc.start()
    try:
        count = sum(data_set.num_examples() for data_set in iterator)
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()
    assert count == 19_950


def test_a_file_that_changed_is_not_resumed(tmp_path):
    path = written(tmp_path, "1\n2\n3\n")
    iterator = CsvDataSetIterator(path, 1)
    iterator.next()
    state = iterator.state()
    assert state == {"count": 1, "line": 1, "offset": 2, "size": 6}
    with open(path, "a") as file:
        file.write("4\n")
    with pytest.raises(DataError, match=r"size must be 8, got 6\. Is the state of an iterator over other data"):
        iterator.restore(state)


def test_a_header_has_as_many_names_as_a_row_has_cells(tmp_path):
    for header, count in (("x,label", 2), ("x,y,z,label", 4)):
        with pytest.raises(
            FormatError, match=rf"line 1: expected as many names as the first row has cells, 3, got {count}"
        ):
            CsvDataSetIterator(written(tmp_path, f"{header}\n1,2,0\n"), 4, "label", 2)


def test_no_rounding_makes_a_class_number(tmp_path):
    with pytest.raises(DataError, match=r"line 1, column 2: expected a class number from 0 to 1, got '0\.99999999999'"):
        CsvDataSetIterator(written(tmp_path, "1,0.99999999999\n"), 1, 1, 2).next()
