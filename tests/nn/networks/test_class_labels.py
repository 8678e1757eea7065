"""Classes as labels: numbers, texts and categories, where the last layer says which they are."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator, one_hot
from nn import DenseLayer, LossLayer, MultiLayerNetwork, OutputLayer
from optimize import Adam, EvaluativeListener
from tests.nn.networks.test_fit_arguments import (
    CLASSES,
    NAMES,
    X,
    Y,
    after,
    binary,
    host,
    network,
)


def category(values):
    pandas = pytest.importorskip("pandas")
    return pandas.Categorical(values)


LABELS = {
    "integers": CLASSES,
    "int8": CLASSES.astype(np.int8),
    "whole floats": CLASSES.astype(np.float64),
    "list": CLASSES.tolist(),
    "column": CLASSES[:, None],
    "texts": NAMES[CLASSES],
    "list of texts": NAMES[CLASSES].tolist(),
    "objects": NAMES[CLASSES].astype(object),
    "column of texts": NAMES[CLASSES][:, None],
    "categories": "categorical",
    "series": "series",
    "series of integers": "series of integers",
    "polars": "polars",
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("batch_size", [None, 4])
@pytest.mark.quick_rows(every=3)
def test_labels_of_every_kind(kind, batch_size):
    labels = LABELS[kind]
    if kind == "categories":
        labels = category(NAMES[CLASSES])
    elif kind == "series":
        labels = pytest.importorskip("pandas").Series(NAMES[CLASSES]).astype("category")
    elif kind == "series of integers":
        labels = pytest.importorskip("pandas").Series(CLASSES, index=range(10, 20))
    elif kind == "polars":
        labels = pytest.importorskip("polars").Series(NAMES[CLASSES].tolist())
    expected, net = network(), network()
    expected.fit(X, Y, epochs=2, batch_size=batch_size, validation_data=(X, Y))
    history = net.fit(X, labels, epochs=2, batch_size=batch_size, validation_data=(X, labels))
    np.testing.assert_array_equal(host(net.params()), host(expected.params()))
    assert history.validation_accuracy == expected.history.validation_accuracy
    assert net.score((X, labels)) == expected.score(DataSet(X, Y))
    assert net.evaluate(X, labels).confusion.counts.tolist() == expected.evaluate(X, Y).confusion.counts.tolist()
    texts = kind not in ("integers", "int8", "whole floats", "list", "column", "series of integers")
    assert net.class_names == (("ant", "bee", "cat") if texts else None)


def test_categories_have_the_order_of_the_categories():
    pandas = pytest.importorskip("pandas")
    labels = pandas.Categorical(NAMES[CLASSES], categories=["cat", "bee", "ant"])
    net = network()
    np.testing.assert_array_equal(after(net, X, labels), after(network(), X, Y[:, ::-1]))
    assert net.class_names == ("cat", "bee", "ant")


@pytest.mark.parametrize(
    "labels", [CLASSES % 2, (CLASSES % 2).astype(bool), (CLASSES % 2)[:, None], NAMES[CLASSES % 2]]
)
def test_two_classes_of_a_single_output(labels):
    net, expected = binary(), binary()
    column = (CLASSES % 2).astype(np.float32)[:, None]
    np.testing.assert_array_equal(after(net, X, labels), after(expected, X, column))
    assert net.evaluate(X, labels).accuracy() == expected.evaluate(DataSet(X, column)).accuracy()


def test_names_travel(tmp_path):
    net = network(updater=Adam(0.1))
    net.fit(X, NAMES[CLASSES], epochs=60)
    assert "1 = bee" in net.evaluate(X, CLASSES).stats()
    assert net.predict_labels(X) == NAMES[host(net.predict(X))].tolist()
    net.save(tmp_path / "m.zip")
    net.save_checkpoint(tmp_path / "c.zip")
    for again in (
        MultiLayerNetwork.load(tmp_path / "m.zip"),
        MultiLayerNetwork.load_checkpoint(tmp_path / "c.zip"),
        net.clone(),
    ):
        assert again.class_names == ("ant", "bee", "cat")
        assert again.predict_labels(X) == net.predict_labels(X)
    with pytest.raises(nd.DataError, match=r"evaluate: labels must be of the classes 'ant', 'bee', 'cat', got 'dog'"):
        net.evaluate(X[:2], ["dog", "ant"])


def test_an_iterator_may_yield_class_numbers():
    iterator = ListDataSetIterator([DataSet(X[:6], CLASSES[:6]), DataSet(X[6:], CLASSES[6:])])
    same = ListDataSetIterator([DataSet(X[:6], Y[:6]), DataSet(X[6:], Y[6:])])
    net = network()
    np.testing.assert_array_equal(after(net, iterator), after(network(), same))
    assert net.evaluate(iterator).accuracy() == net.evaluate(same).accuracy()


def test_one_hot_is_public():
    assert one_hot([1, 0], 2).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def regression():
    return network(OutputLayer(n_in=3, n_out=2, loss="mse", activation="identity"))


@pytest.mark.parametrize(
    ("data", "settings", "error", "message"),
    [
        ((X, CLASSES % 2), {}, nd.ShapeError, r"got \[10\]\. Classes become one-hot with nd.dataset.one_hot"),
        ((X, NAMES[CLASSES % 2]), {}, nd.ConfigurationError, "got the classes 'ant', 'bee'.*one-hot"),
        ((X, X[:, :2]), {"class_weight": {1: 2.0}}, nd.ConfigurationError, "needs a last layer with classes"),
    ],
)
def test_classes_where_outputs_are_numbers(data, settings, error, message):
    with pytest.raises(error, match=message):
        regression().fit(*data, **settings)


def test_a_loss_layer_has_the_classes_of_the_layer_before():
    net = network(DenseLayer(n_in=3, n_out=3, activation="identity"), LossLayer(loss="mcxent", activation="softmax"))
    twin = network(DenseLayer(n_in=3, n_out=3, activation="identity"), LossLayer(loss="mcxent", activation="softmax"))
    np.testing.assert_array_equal(after(net, X, CLASSES), after(twin, X, Y))


def test_names_that_do_not_fit():
    with pytest.raises(nd.ConfigurationError, match="class_names: must be 3 different texts"):
        network().class_names = ["a", "a", "b"]
    with pytest.raises(nd.ConfigurationError, match="predict_labels: the names of the classes must be known"):
        network().predict_labels(X)


def test_a_listener_evaluates_on_class_numbers():
    net, listener = network(), EvaluativeListener(DataSet(X, CLASSES), callback=lambda *_: None)
    net.set_listeners(listener)
    net.fit(X, CLASSES, batch_size=5)
    assert listener.evaluations[0].accuracy() == net.evaluate(X, CLASSES).accuracy()
