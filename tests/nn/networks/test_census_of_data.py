"""A census: every public method that takes data, by every kind of data, in both kinds of network.

A cell gives what NumPy arrays give, or a typed refusal that says what to do. A new method that takes data must be here.
"""

import functools
import importlib.util
import inspect

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator, MultiDataSet
from nd.evaluation import Evaluation
from nn import AutoEncoder, ComputationGraph, DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from tests.cells import every_row
from tests.java_spelling import is_javas
from tests.kinds_of_data import ARRAYS, Tensor, pandas_frame, polars_frame

RNG = np.random.default_rng(3)
X = RNG.normal(size=(6, 4)).astype(np.float32)
X64, Y = X.astype(np.float64), np.eye(2, dtype=np.float32)[[0, 1, 1, 0, 1, 0]]
ROWS = slice(0, 4), slice(4, 6)
FEW = ("list", "pandas", "dlpack")
SWEEP = pytest.mark.parametrize("kinds", [FEW, pytest.param(ARRAYS, marks=pytest.mark.slow)], ids=["few", "all"])
"""All kinds of arrays take half a minute."""


def configuration():
    return NeuralNetConfiguration(seed=5, updater="sgd", learning_rate=0.5)


def chain():
    layers = AutoEncoder(n_in=4, n_out=3, activation="tanh"), OutputLayer(n_in=3, n_out=2)
    net = MultiLayerNetwork(configuration().list(*layers)).init()
    net.class_names = ["no", "yes"]
    return net


def graph():
    nodes = {
        "hidden": (AutoEncoder(n_in=4, n_out=3, activation="tanh"), "in"),
        "out": (OutputLayer(n_in=3, n_out=2), "hidden"),
    }
    net = ComputationGraph(configuration().graph(inputs=["in"], nodes=nodes, outputs=["out"])).init()
    net.class_names = ["no", "yes"]
    return net


NETWORKS = {"chain": chain, "graph": graph}


def with_labels_set(net, x):
    (net.set_input if isinstance(net, MultiLayerNetwork) else net.set_inputs)(x)
    net.set_labels(Y)
    return net.compute_gradient_and_score().score


def with_input_set(net, y):
    (net.set_input if isinstance(net, MultiLayerNetwork) else net.set_inputs)(X)
    net.set_labels(y)
    return net.compute_gradient_and_score().score


def tupled(data):
    return data if len(data) > 1 else data[0]


def training(net):
    several = len(net.conf.input_names) > 1
    return MultiDataSet([X, X[:, :2]], [Y]) if several else DataSet(X, Y)


def fitted(net, *data, **settings):
    history = net.fit(*data, **settings)
    return [*np.array(net.params()).ravel(), *history.validation_score]


def fitted_batch(net, *data):
    net.fit_batch(*data)
    return np.array(net.params())


def gradients(net, x):
    return net.calculate_gradients(x, Y)[0].gradient()


def between(net, x):
    return net.backprop_selected_layers(0, 1, x, net.activate_selected_layers(0, 1, x))[0].gradient()


def pretrained(net, x):
    net.pretrain(x)
    return np.array(net.params())


def pretrained_layer(net, x):
    net.pretrain_layer(net.layer_names[0], x)
    return np.array(net.params())


OF_FEATURES = {
    "activate_selected_layers": lambda net, x: net.activate_selected_layers(0, 1, x),
    "activation_from_prev_layer": lambda net, x: net.activation_from_prev_layer(0, x),
    "backprop_selected_layers": between,
    "calculate_gradients": gradients,
    "feed_forward": lambda net, x: net.feed_forward(x),
    "feed_forward_to_layer": lambda net, x: net.feed_forward_to_layer(1, x),
    "output": lambda net, x: net.output(x),
    "output_single": lambda net, x: net.output_single(x),
    "predict": lambda net, x: net.predict(x),
    "predict_labels": lambda net, x: net.predict_labels(x),
    "pretrain": pretrained,
    "pretrain_layer": pretrained_layer,
    "rnn_activate_using_stored_state": lambda net, x: net.rnn_activate_using_stored_state(x),
    "rnn_time_step": lambda net, x: net.rnn_time_step(x),
    "set_input": with_labels_set,
    "set_inputs": with_labels_set,
}
OF_LABELS = {
    "set_label": lambda net, y: net.set_inputs(X) or net.set_label(0, y) or net.compute_gradient_and_score().score,
    "set_labels": with_input_set,
}
OF_DATA = {
    "do_evaluation": lambda net, *data: net.do_evaluation(tupled(data), Evaluation())[0].to_json(),
    "evaluate": lambda net, *data: net.evaluate(*data).to_json(),
    "evaluate_regression": lambda net, *data: net.evaluate_regression(*data).mean_squared_error(0),
    "evaluate_roc": lambda net, *data: net.evaluate_roc(*data).calculate_auc(),
    "evaluate_roc_multi_class": lambda net, *data: net.evaluate_roc_multi_class(*data).calculate_auc(0),
    "f1_score": lambda net, *data: net.f1_score(*data),
    "fit": fitted,
    "fit_batch": fitted_batch,
    "fit: validation_data": lambda net, *data: fitted(net, training(net), validation_data=tupled(data)),
    "score": lambda net, *data: net.score(*data),
    "score_examples": lambda net, *data: net.score_examples(*data),
    "trace": lambda net, *data: net.trace(*data).about["score"],
    "step_input": lambda net, *data: net.compute_gradient_and_score(net.step_input(*data)).score,
}
BY_THEMSELVES = {"backprop_gradient"}
"""Takes errors of the outputs, which nobody has in a table."""
INSIDE = {"own_loop"}
"""Of the library's own, that take what the methods above have made."""
ONE_MINIBATCH = {"fit_batch", "step_input", "trace"}
TAKES_BATCHES = {"output", "output_single", "predict", "predict_labels"}
PRETRAINS = {"pretrain", "pretrain_layer"}


class Stays:
    """A network that a method leaves as it is, so that all calls may share it; `clone` of others is a copy."""

    def __init__(self, net):
        self._net = net

    def clone(self):
        return self._net


def has(net, method):
    return hasattr(net, method.partition(":")[0])


@functools.cache
def built(kind):
    return NETWORKS[kind]() if kind in NETWORKS else two_by_two()


def shared(kind, method):
    return built(kind) if method.startswith("fit") or method in PRETRAINS else Stays(built(kind))


def cells(methods):
    return [(kind, name) for kind in NETWORKS for name in methods if has(built(kind), name)]


def flat(result):
    """Return numbers or texts of any result, in one row."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        return [number for part in result for number in flat(part)]
    return np.asarray(nd.to_host(result) if hasattr(result, "shape") else result).ravel().tolist()


def same(result, expected, who):
    result, expected = flat(result), flat(expected)
    if expected and isinstance(expected[0], str):
        assert result == expected, who
    else:
        np.testing.assert_allclose(result, expected, rtol=2e-5, atol=1e-6, err_msg=who)


# ---- the census


def test_every_method_that_takes_data_is_here():
    words = {"data", "epsilon", "epsilons", "features", "labels", "x", "xs", "y", "ys"}
    known = {name.partition(":")[0] for name in (*OF_FEATURES, *OF_LABELS, *OF_DATA)} | BY_THEMSELVES | INSIDE
    takers = {
        name
        for kind in (MultiLayerNetwork, ComputationGraph)
        for name, method in inspect.getmembers(kind, callable)
        if not name.startswith("_") and not is_javas(kind, name) and words & set(inspect.signature(method).parameters)
    }
    assert takers == known


@SWEEP
@pytest.mark.parametrize(("kind", "method"), cells(OF_FEATURES))
@pytest.mark.quick_rows(every=3)
def test_features(kind, method, kinds):
    call, net = OF_FEATURES[method], shared(kind, method)
    expected = call(net.clone(), X)
    before = X.tobytes()
    for name, make in ((name, ARRAYS[name]) for name in kinds):
        same(call(net.clone(), make(X)), expected, name)
    of_set = net.clone().predict_labels(X) if method == "predict" else expected  # names, as in Java
    same(call(net.clone(), DataSet(X, Y)), of_set, "DataSet")
    assert X.tobytes() == before


@every_row(("kind", "method"), cells(OF_FEATURES))
def test_batches_of_features(kind, method):
    call, net = OF_FEATURES[method], shared(kind, method)
    batches = {
        "iterator": lambda: ListDataSetIterator([DataSet(X[rows], Y[rows]) for rows in ROWS]),
        "data sets": lambda: [DataSet(X[rows], Y[rows]) for rows in ROWS],
        "generator": lambda: ((Tensor(X[rows]), Y[rows]) for rows in ROWS),
        "lists": lambda: iter([[X[rows], Y[rows]] for rows in ROWS]),
        "pairs": lambda: [(X[rows], Y[rows]) for rows in ROWS],
        "features": lambda: iter([X[rows] for rows in ROWS]),
    }
    one_by_one = net.clone()
    for rows in ROWS if method in PRETRAINS else ():
        expected = call(one_by_one, X[rows])
    for name, make in batches.items():
        if method in PRETRAINS:
            same(call(net.clone(), make()), expected, name)
        elif method in TAKES_BATCHES:
            same(call(net.clone(), make()), call(net.clone(), X), name)
        else:
            with pytest.raises(nd.NdError, match=r"must be features|expected (numbers|rows|features|input)"):
                call(net.clone(), make())


@SWEEP
@pytest.mark.parametrize(("kind", "method"), cells(OF_LABELS))
def test_labels(kind, method, kinds):
    call, net = OF_LABELS[method], shared(kind, method)
    expected = call(net.clone(), Y)
    for name, make in ((name, ARRAYS[name]) for name in kinds):
        same(call(net.clone(), make(Y)), expected, name)
    classes = Y.argmax(1)
    for labels in (classes, classes.tolist(), [["no", "yes"][number] for number in classes]):
        same(call(net.clone(), labels), expected, repr(labels))


@SWEEP
@pytest.mark.parametrize(("kind", "method"), cells(OF_DATA))
@pytest.mark.quick_rows(every=3)
def test_features_and_labels(kind, method, kinds):
    call, net = OF_DATA[method], shared(kind, method)
    expected = call(net.clone(), X, Y)
    classes = Y.argmax(1)
    for name, make in ((name, ARRAYS[name]) for name in kinds):
        same(call(net.clone(), make(X), make(Y)), expected, name)
    columns = {
        "numbers": classes, "list": classes.tolist(), "texts": np.array(["no", "yes"])[classes],
        "Series": pandas_frame(classes[:, None])["c0"], "one column": pandas_frame(classes[:, None]),
        "tensor": Tensor(classes),
        "texts in a column": pandas_frame(np.array(["no", "yes"])[classes][:, None]),
        "categories": pandas_frame(np.array(["no", "yes"])[classes][:, None])["c0"].astype("category"),
    }  # fmt: skip
    few = {name: columns[name] for name in ("numbers", "texts", "categories")}
    more = {} if kinds is FEW else columns | {"polars": polars_frame(classes[:, None])["c0"]}
    for name, labels in (few if kinds is FEW else more).items():
        same(call(net.clone(), X, labels), expected, name)
    same(call(net.clone(), (X, Y)), expected, "a tuple")
    same(call(net.clone(), DataSet(X, Y)), expected, "DataSet")
    if kind == "graph":
        same(call(net.clone(), MultiDataSet([X], [Y])), expected, "MultiDataSet")
        same(call(net.clone(), [X], [Y]), expected, "Java's arrays of arrays")
    else:
        with pytest.raises(nd.DTypeError, match=r"expected a DataSet|data must be"):
            call(net.clone(), MultiDataSet([X], [Y]))


@pytest.mark.parametrize(("kind", "method"), cells(OF_DATA))
@pytest.mark.quick_rows(every=3)
def test_batches_of_features_and_labels(kind, method):
    call, net = OF_DATA[method], shared(kind, method)
    rows = (slice(0, 6),) if method.startswith("fit") else ROWS  # of one step
    texts = np.array(["no", "yes"])[Y.argmax(1)]
    batches = {
        "iterator": lambda: ListDataSetIterator([DataSet(X[r], Y[r]) for r in rows]),
        "iterator of pairs": lambda: ListDataSetIterator([(X[r], Y[r]) for r in rows]),
        "data sets": lambda: [DataSet(X[r], Y[r]) for r in rows],
        "pairs": lambda: [(X[r], Y[r]) for r in rows],
        "lists": lambda: [[Tensor(X[r]), Tensor(Y[r])] for r in rows],
        "frames": lambda: [(pandas_frame(X[r]), texts[r].tolist()) for r in rows],
        "generator": lambda: ((X[r], Y[r]) for r in rows),
    }
    for name, make in batches.items():
        if method in ONE_MINIBATCH:
            with pytest.raises(nd.DTypeError, match=rf"(?s){method}: data must be .* Wrap arrays as DataSet"):
                call(net.clone(), make())
        else:
            same(call(net.clone(), make()), call(net.clone(), X, Y), name)


# ---- several inputs and outputs


def two_by_two():
    nodes = {
        "a": (AutoEncoder(n_in=4, n_out=3, activation="tanh"), "one"),
        "b": (DenseLayer(n_in=2, n_out=3, activation="tanh"), "two"),
        "out": (OutputLayer(n_in=6, n_out=2), "a", "b"),
    }
    conf = configuration().graph(inputs=["one", "two"], nodes=nodes, outputs=["out"])
    return ComputationGraph(conf).init()


@pytest.mark.parametrize("method", OF_DATA)
@pytest.mark.quick_rows(6)
def test_several_inputs_and_one_output(method):
    call, net, more = OF_DATA[method], shared("two by two", method), X[:, :2].copy()
    expected = call(net.clone(), MultiDataSet([X, more], [Y]))
    classes = Y.argmax(1)
    for labels in (Y, [Y], classes, [classes], [Y.tolist()], [pandas_frame(Y)]):
        same(call(net.clone(), [X, more], labels), expected, type(labels).__name__)
    same(call(net.clone(), [pandas_frame(X), Tensor(more)], Y), expected, "frame and tensor")
    same(call(net.clone(), ([X, more], [Y])), expected, "a tuple of lists")


@pytest.mark.parametrize(
    "method",
    ["feed_forward", "output", "output_single", "predict", "pretrain", "pretrain_layer", "rnn_time_step", "set_inputs"],
)
def test_several_inputs(method):
    call, net, more = OF_FEATURES[method], two_by_two(), X[:, :2].copy()
    expected = call(net.clone(), MultiDataSet([X, more], [Y]))
    for given in ([X, more], (X, more), [X.tolist(), more.tolist()], [pandas_frame(X), polars_frame(more)]):
        same(call(net.clone(), given), expected, type(given).__name__)
    if method not in ("predict", "set_inputs", *PRETRAINS):
        same(getattr(net.clone(), method)(X, more), expected, "one by one")


@pytest.mark.slow
def test_tensors_of_pytorch():
    if importlib.util.find_spec("torch") is None:  # which no extra brings: above DLPack is tried with a stand-in
        return
    torch = importlib.import_module("torch")
    x, y = torch.tensor(X, requires_grad=True), torch.tensor(Y.argmax(1))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.tensor(X), y), batch_size=3)
    for make in NETWORKS.values():
        net, expected = make(), make()
        for method, call in OF_FEATURES.items():
            if has(net, method):
                same(call(net.clone(), x), call(net.clone(), X), method)
        net.fit(loader, epochs=2)
        expected.fit(ListDataSetIterator(DataSet(X, Y), 3), epochs=2)
        same(net.params(), expected.params(), "DataLoader")
        same(net.score(loader), expected.score(DataSet(X, Y)), "score")
        with pytest.raises(nd.DTypeError, match=r"x\.float\(\)"):
            net.output(x.detach().bfloat16())
