"""Tables of pandas, polars and pyarrow, and of what speaks their protocols only."""

import sys

import numpy as np
import pytest

from nd import ConfigurationError, DataError, DTypeError
from nd.dataset import DataFrameDataSetIterator

COLUMNS = {
    "x": [1.5, 2.5, 3.5],
    "n": [10, 20, 30],
    "flag": [True, False, True],
    "kind": [2, 0, 1],
    "gap": [1.0, None, 3.0],
    "whole gap": [1, None, 3],
    "text": ["a", "b", "c"],
}


class Bare:
    """Speaks one protocol of another table."""

    def __init__(self, table, protocol):
        setattr(type(self), protocol, lambda _, *args, **kwargs: getattr(table, protocol)(*args, **kwargs))


def pandas():
    library = pytest.importorskip("pandas")
    frame = library.DataFrame(COLUMNS)
    frame["whole gap"] = library.array(COLUMNS["whole gap"], dtype="Int64")
    return frame


def arrow():
    return pytest.importorskip("pyarrow").table(COLUMNS)


def stream():
    return type("Stream", (Bare,), {})(arrow(), "__arrow_c_stream__")


def interchange():
    return type("Interchange", (Bare,), {})(arrow(), "__dataframe__")


FRAMES = {
    "pandas": pandas,
    "arrow": arrow,
    "arrow batch": lambda: arrow().to_batches()[0],
    "arrow stream": stream,
    "interchange": interchange,
}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]()


def test_columns_by_name(frame):
    iterator = DataFrameDataSetIterator(frame, 2, labels="kind", features=["flag", "x", "n"], num_classes=3)
    assert (len(iterator), iterator.input_columns(), iterator.total_outcomes()) == (2, 3, 3)
    first, second = iterator
    assert first.features.tolist() == [[1, 1.5, 10], [0, 2.5, 20]]
    assert first.features.dtype == np.float32
    assert first.labels.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert second.features.tolist() == [[1, 3.5, 30]]


def test_several_labels_and_all_other_columns(frame):
    del frame
    table = pytest.importorskip("pandas").DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    data_set = DataFrameDataSetIterator(table, labels=["c", "a"]).next()
    assert data_set.features.tolist() == [[3], [4]]
    assert data_set.labels.tolist() == [[5, 1], [6, 2]]
    assert DataFrameDataSetIterator(table).next().labels is None
    shuffled = DataFrameDataSetIterator(table, 1, shuffle=True, seed=3)
    assert sorted(data_set.features[0, 0] for data_set in shuffled) == [1, 2]


@pytest.mark.parametrize("column", ["gap", "whole gap"])
def test_missing_values_are_refused_by_name(frame, column):
    with pytest.raises((DataError, DTypeError), match=f"column '{column}': expected"):
        DataFrameDataSetIterator(frame, features=["x", column])


def test_missing_values_are_named_with_their_row():
    with pytest.raises(DataError, match=r"column 'gap': expected finite numbers, got .*nan.* in row 1. Fill what is"):
        DataFrameDataSetIterator(pandas(), features=["gap"])


def test_text_is_refused(frame):
    with pytest.raises(DTypeError, match="column 'text': expected numbers, got 'a' among elements of dtype"):
        DataFrameDataSetIterator(frame, features=["x", "text"])


def test_settings(frame):
    with pytest.raises(DataError, match=r"expected a column 'y', got the columns \['x', 'n'"):
        DataFrameDataSetIterator(frame, features=["y"])
    with pytest.raises(ConfigurationError, match=r"num_classes needs one label column, got \['x', 'n'\]"):
        DataFrameDataSetIterator(frame, labels=["x", "n"], num_classes=2)
    with pytest.raises(DataError, match="expected columns of features, got none beside the labels"):
        DataFrameDataSetIterator(frame, labels=list(COLUMNS))


def test_columns_need_names_of_their_own():
    library = pytest.importorskip("pandas")
    frame = library.DataFrame(np.zeros((2, 3)), columns=["a", "b", "a"])
    with pytest.raises(DataError, match=r"a name of its own, got \['a'\] more than once"):
        DataFrameDataSetIterator(frame)


def test_what_is_no_data_frame():
    with pytest.raises(
        DTypeError, match=r"expected a data frame .* got ndarray\. For arrays take NumpyDataSetIterator"
    ):
        DataFrameDataSetIterator(np.zeros((2, 2)))


def test_streams_need_pyarrow(monkeypatch):
    table = stream()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigurationError, match=r"a Stream needs pyarrow to be read, got: .*pip install pyarrow"):
        DataFrameDataSetIterator(table)


def test_one_name_is_enough_and_no_column_is_both():
    frame = pandas()
    iterator = DataFrameDataSetIterator(frame, features="n", labels="x")
    assert iterator.next().features.tolist() == [[10], [20], [30]]
    with pytest.raises(ConfigurationError, match=r"a column must be a label or a feature, got \['x'\] as both"):
        DataFrameDataSetIterator(frame, features=["n", "x"], labels="x")
    with pytest.raises(DataError, match="expected a column 1, got the columns"):
        DataFrameDataSetIterator(frame, features="n", labels=1)
    numbered = frame[["x", "n"]].set_axis([0, 1], axis=1)
    assert DataFrameDataSetIterator(numbered, labels=0).next().labels.tolist() == [[1.5], [2.5], [3.5]]


def test_a_single_column_is_no_frame():
    with pytest.raises(DTypeError, match=r"expected a data frame.*, got a Series, which pyarrow does not read"):
        DataFrameDataSetIterator(pandas()["x"])


def test_no_rounding_makes_a_class_number():
    library = pytest.importorskip("pandas")
    frame = library.DataFrame({"x": [1.0, 2.0], "kind": [0.0, 0.99999999999]})
    with pytest.raises(DataError, match=r"whole numbers from 0 to 1, got 0\.99999999999 at index 1"):
        next(DataFrameDataSetIterator(frame, labels="kind", num_classes=2))


KINDS = ["lily", "aster", "lily", "rose"]


@pytest.mark.parametrize("kind", ["pandas", "categories", "polars", "pyarrow"])
def test_a_label_column_of_texts_has_classes(kind):
    library = pytest.importorskip("pandas" if kind == "categories" else kind)
    columns = {"x": [1.0, 2.0, 3.0, 4.0], "kind": KINDS}
    frame = library.table(columns) if kind == "pyarrow" else library.DataFrame(columns)
    order = ["aster", "lily", "rose"]
    if kind == "categories":
        order = ["rose", "lily", "aster"]
        frame["kind"] = library.Categorical(KINDS, categories=order)
    iterator = DataFrameDataSetIterator(frame, 4, labels="kind")
    assert iterator.class_names == tuple(order)
    assert next(iterator).labels.tolist() == [[float(name == each) for each in order] for name in KINDS]
    iterator = DataFrameDataSetIterator(frame, 4, labels="kind", classes=["x", "rose", "lily", "aster"])
    assert next(iterator).labels.argmax(1).tolist() == [2, 3, 2, 1]
    with pytest.raises(DataError, match="column 'kind': expected 2 classes, got 3: "):
        DataFrameDataSetIterator(frame, labels="kind", num_classes=2)
    with pytest.raises(DataError, match="column 'kind': labels must be of the classes 'lily', 'rose', got 'aster'"):
        DataFrameDataSetIterator(frame, labels="kind", classes=["lily", "rose"])


def test_classes_need_texts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1.0, 2.0], "y": [0.0, 1.0]})
    with pytest.raises(ConfigurationError, match="classes need one label column of texts"):
        DataFrameDataSetIterator(frame, labels="x", classes=["a"])
