"""Names of classes that are numbers, and columns of one-hot labels that have names."""

import itertools

import numpy as np
import pytest

import nd
from nd.dataset import DataFrameDataSetIterator, DataSet, NumpyDataSetIterator
from nn import ComputationGraph, MultiLayerNetwork
from nn.cli import main
from tests.nn.networks.test_names_of_classes import NUMBERS, ORDER, TEXTS, X, frame, network


@pytest.fixture(scope="module")
def trained():
    """A network that was trained on class numbers, and knows no names."""
    net = network()
    net.fit(X, NUMBERS, epochs=60)
    return net


@pytest.mark.parametrize("kind", [MultiLayerNetwork, ComputationGraph])
@pytest.mark.parametrize(
    ("values", "order", "n_out", "last"),
    [
        ((1, 2, 3), (1, 2, 3), 3, {}),
        ((5, 3, 4), (5, 3, 4), 3, {}),
        ((1, 0), (1, 0), 2, {}),
        ((1, 0), (1, 0), 1, {"activation": "sigmoid", "loss": "xent"}),
        ((True, False), (True, False), 2, {}),
        ((0.5, 2.0), (2.0, 0.5), 2, {}),
    ],
)
def test_numbers_are_names_where_the_names_are_numbers(kind, values, order, n_out, last):
    pandas = pytest.importorskip("pandas")
    y = np.array(values)[NUMBERS % len(values)]
    x = np.eye(3, dtype=np.float32)[NUMBERS % len(values)]
    net = network(kind, n_out, **last)
    net.fit(x, pandas.Categorical(y, categories=order), epochs=60)
    assert net.class_names == tuple(map(str, order))
    some = y == values[1]
    given = {
        "array": (x, y), "list": (x, y.tolist()), "column": (x, y[:, None]), "DataSet": (DataSet(x, y.astype(float)),),
        "iterator": (NumpyDataSetIterator(x, y.astype(float), 40),), "pairs": ([(x, y)],), "some": (x[some], y[some]),
        "texts": (x, y.astype(str)),
    }  # fmt: skip
    if n_out == 1:
        del given["column"]  # which is what the output is compared with, 0 and 1
    for name, data in given.items():
        assert net.evaluate(*data).accuracy() == 1.0, name
    history = net.fit(x, y, epochs=1, validation_data=(x, y), class_weight={values[0]: 2.0})
    assert history.validation_accuracy == [1.0]
    with pytest.raises(nd.DataError, match=r"the names of the classes are numbers, .* got 7"):
        net.evaluate(x, y * 0 + 7)


def test_class_numbers_stay_class_numbers_where_names_say_the_same():
    net = network()
    net.class_names = ["0", "1", "2"]
    net.fit(X, NUMBERS, epochs=60)
    assert net.evaluate(X, NUMBERS).accuracy() == net.evaluate(X, NUMBERS.astype(str)).accuracy() > 0.9


@pytest.mark.parametrize("order", list(itertools.permutations(ORDER))[::2])
def test_columns_with_names_come_into_the_networks_order(trained, order):
    pandas = pytest.importorskip("pandas")
    columns = pandas.DataFrame({name: (name == TEXTS).astype(float) for name in order})
    table = pandas.concat([frame()[["a", "b", "c"]], columns], axis=1)
    net = trained.clone()
    known = net.evaluate(X, NUMBERS).confusion.counts.tolist()
    net.class_names = ORDER
    for data in (
        (X, columns),
        (DataSet(X, columns),),
        (DataFrameDataSetIterator(table, 40, labels=list(order)),),
        (X, pytest.importorskip("polars").DataFrame({name: columns[name].to_numpy() for name in order})),
    ):
        assert net.evaluate(*data).confusion.counts.tolist() == known
        assert net.score(*data) == pytest.approx(trained.score(X, NUMBERS), rel=1e-5)
    with pytest.raises(nd.DataError, match="labels must be of the classes 'sick', 'healthy', 'dead', got 'well'"):
        net.evaluate(X, columns.rename(columns={"healthy": "well"}))
    plain = columns[list(ORDER)].set_axis(["y0", "y1", "y2"], axis=1)  # no names of classes: as they lie
    assert net.evaluate(X, plain).confusion.counts.tolist() == known
    unnamed = network()
    unnamed.fit(X, columns, epochs=1)
    assert unnamed.class_names == order
    assert trained.evaluate(X, columns[list(ORDER)]).confusion.counts.tolist() == known  # which knows no names


def test_numbers_that_are_names_on_the_command_line(tmp_path, capsys):
    net = network()
    net.class_names = ["3", "1", "2"]
    net.fit(X, np.array([3, 1, 2])[NUMBERS], epochs=60)
    net.save(tmp_path / "n.zip")
    rows = zip(X, np.array([3, 1, 2])[NUMBERS], strict=True)
    (tmp_path / "t.csv").write_text("a,b,c,y\n" + "".join(f"{a},{b},{c},{y}\n" for (a, b, c), y in rows))
    assert main(["evaluate", str(tmp_path / "n.zip"), "--csv", str(tmp_path / "t.csv"), "--label", "y"]) == 0
    assert f"{net.evaluate(X, np.eye(3)[NUMBERS]).accuracy():.4f}" in capsys.readouterr().out


def test_class_numbers_of_data_with_names_are_places_among_these():
    net = network()
    net.class_names = ["3", "1", "2"]
    for labels in (NUMBERS, NUMBERS[:, None]):
        data = DataSet(X, labels)
        data.class_names = ("3", "1", "2")
        assert net.score(data) == net.score(X, np.eye(3, dtype=np.float32)[NUMBERS])
        data.class_names = ("1", "2", "3")
        assert net.score(data) == net.score(X, np.array([1, 2, 3])[NUMBERS])
