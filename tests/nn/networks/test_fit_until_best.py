"""patience, restore_best, metrics, validation_split and balanced classes of fit, in both kinds of network."""

import math

import numpy as np
import pytest
from sklearn.metrics import f1_score, mean_absolute_error, roc_auc_score
from sklearn.utils.class_weight import compute_class_weight

import nd
from nd.dataset import DataSet, ListDataSetIterator, MultiDataSet
from nn import ComputationGraph, DenseLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.networks.early_stopping import best_of
from optimize import Adam, Listener, Sgd
from tests.cells import every_row
from tests.nn.networks import test_graph

RNG = np.random.default_rng(8)
X = RNG.normal(size=(30, 3))
CLASSES = (X[:, 0] > 0).astype(int) + (X[:, 1] + RNG.normal(size=30) > 0.8)
Y = np.eye(3)[CLASSES]


def confs(updater, n_out, loss, activation):
    base = NeuralNetConfiguration(seed=3, dtype="float64", updater=updater, drop_out=0.9)
    hidden = DenseLayer(n_in=3, n_out=6, activation="tanh")
    out = OutputLayer(n_in=6, n_out=n_out, loss=loss, activation=activation)
    nodes = {"hidden": (hidden, "in"), "out": (out, "hidden")}
    graph = base.graph(inputs={"in": InputType.feed_forward(3)}, nodes=nodes, outputs="out")
    return {"layers": base.list(hidden, out), "graph": graph}


def network(kind="layers", updater=None, n_out=3, loss="mcxent", activation="softmax"):
    conf = confs(updater or Adam(0.1), n_out, loss, activation)[kind]
    return {"layers": MultiLayerNetwork, "graph": ComputationGraph}[kind](conf).init()


def host(x):
    return np.array(nd.to_host(nd.copy(x)))


class Watch(Listener):
    """Keeps the parameters after every epoch; stops, or breaks off, at the end of one of them."""

    def __init__(self, stop=None, error=None):
        self.params, self.stop, self.error = [], stop, error

    def on_epoch_end(self, model):
        self.params.append(host(model.params()))
        if len(self.params) == self.stop:
            model.stop_training("enough")
        if len(self.params) == self.error:
            raise KeyboardInterrupt


# ---- validation_split


@pytest.mark.parametrize(
    ("kind", "form"),
    [("layers", "arrays"), ("layers", "data set"), ("graph", "arrays"), ("graph", "data set"), ("graph", "several")],
)
def test_the_last_rows_are_validated_on(kind, form):
    given = {"arrays": (X, CLASSES), "data set": (DataSet(X, Y),), "several": (MultiDataSet([X], [Y]),)}
    net, expected = network(kind), network(kind)
    history = net.fit(*given[form], epochs=3, batch_size=5, validation_split=0.2)
    other = expected.fit(X[:24], Y[:24], epochs=3, batch_size=5, validation_data=(X[24:], Y[24:]))
    np.testing.assert_array_equal(host(net.params()), host(expected.params()))
    assert history.to_dict() == other.to_dict()


def test_weights_go_with_their_rows():
    weights = np.linspace(0.5, 2.0, 30)
    net, expected = network(), network()
    history = net.fit(X, Y, epochs=2, sample_weight=weights, validation_split=0.3)
    other = expected.fit(X[:21], Y[:21], 2, sample_weight=weights[:21], validation_data=(X[21:], Y[21:], weights[21:]))
    np.testing.assert_array_equal(host(net.params()), host(expected.params()))
    assert history.to_dict() == other.to_dict()


@pytest.mark.parametrize(
    ("share", "total", "held"), [(0.1, 10, 1), (0.3, 10, 3), (0.9, 10, 9), (0.25, 7, 2), (0.01, 5, 1)]
)
def test_the_share_is_rounded_as_in_keras(share, total, held):
    """Keras trains on floor(n * (1 - share)); 10 * (1 - 0.9) is a little less than 1 only in binary numbers."""
    seen = []

    def count_error(y_true, y_pred):
        seen.append(len(y_true))
        return 0.0

    network().fit(X[:total], Y[:total], validation_split=share, metrics=count_error)
    assert seen == [held]


# ---- class_weight


@pytest.mark.parametrize("kind", ["layers", "graph"])
def test_balanced_weights_are_those_of_scikit_learn(kind):
    """Of the rows that are trained on; a class that does not occur there weighs nothing anywhere."""
    few = np.where(CLASSES == 1, 0, CLASSES)
    for classes in (CLASSES, few):
        left = classes[:24]
        weights = compute_class_weight("balanced", classes=np.unique(left), y=left)
        given = dict(zip(np.unique(left).tolist(), weights.tolist(), strict=True))
        net, expected = network(kind), network(kind)
        net.fit(X, classes, validation_split=0.2, class_weight="balanced")
        expected.fit(X[:24], left, class_weight=given)
        np.testing.assert_array_equal(host(net.params()), host(expected.params()))


def test_balanced_weights_of_a_single_sigmoid_and_of_time_steps_that_count():
    y = (X[:, :1] > 0.6).astype(float)
    first, second = compute_class_weight("balanced", classes=np.arange(2), y=y[:, 0])
    nets = [network(n_out=1, loss="xent", activation="sigmoid") for _ in range(2)]
    nets[0].fit(X, y, class_weight="balanced")
    nets[1].fit(X, y, class_weight={0: first, 1: second})
    np.testing.assert_array_equal(host(nets[0].params()), host(nets[1].params()))
    mask = (np.arange(30) % 3 > 0).astype(float)
    weights = compute_class_weight("balanced", classes=np.arange(3), y=CLASSES[mask > 0])
    nets = [network() for _ in range(2)]
    data = DataSet(X, Y, None, mask[:, None])
    nets[0].fit(data, class_weight="balanced")
    nets[1].fit(data, class_weight=dict(enumerate(weights.tolist())))
    np.testing.assert_array_equal(host(nets[0].params()), host(nets[1].params()))


def test_class_weights_of_several_outputs():
    """Those of the second output are numbers, so it has none; the classes of the first are given by its name."""
    weights = compute_class_weight("balanced", classes=np.arange(3), y=test_graph.CLASSES)
    nets = [test_graph.network() for _ in range(3)]
    column = weights[test_graph.CLASSES][:, None]
    nets[0].fit(test_graph.data(masks=[column.astype(np.float32), None]))
    nets[1].fit(test_graph.data(), class_weight="balanced")
    nets[2].fit(test_graph.data(), class_weight={"kind": dict(enumerate(weights.tolist()))})
    for net in nets[1:]:
        np.testing.assert_array_equal(host(net.params()), host(nets[0].params()))


# ---- patience and restore_best


@pytest.mark.parametrize("kind", ["layers", "graph"])
@pytest.mark.parametrize("validated", [True, False])
def test_training_ends_and_the_best_parameters_come_back(kind, validated):
    net, watch = network(kind, Adam(0.3)), Watch()
    net.set_listeners(watch)
    more = {"validation_split": 0.3} if validated else {}
    history = net.fit(X, Y, epochs=60, batch_size=6, patience=3, restore_best=True, **more)
    values = history.validation_score if validated else history.score
    best = int(np.argmin(values))
    assert (history.best_epoch, len(history), net.epoch_count) == (best, best + 4, best + 4)
    assert history.monitor == ("validation_score" if validated else "score")
    said = f"{history.monitor} has not become better for 3 epochs, the best was {min(values):.6g} in epoch {best}"
    assert history.stopped == f"patience: {said}"
    np.testing.assert_array_equal(host(net.params()), watch.params[best])
    if validated:
        assert net.score((X[21:], Y[21:])) == pytest.approx(min(values), rel=1e-12)
    assert not np.array_equal(watch.params[best], watch.params[-1])


def test_the_best_epoch_comes_back_however_training_ends():
    for ends in ({"epochs": 12}, {"epochs": 50}):
        net, watch = network(updater=Adam(0.3)), Watch(stop=12)
        net.set_listeners(watch)
        history = net.fit(X, Y, batch_size=6, validation_split=0.3, restore_best=True, **ends)
        assert len(history) == 12
        np.testing.assert_array_equal(host(net.params()), watch.params[int(np.argmin(history.validation_score))])
        assert "the best by validation_score: " in repr(history)


@pytest.mark.parametrize(
    ("monitor", "best"), [("validation_accuracy", np.argmax), ("f1", np.argmax), ("mean_error", np.argmin)]
)
def test_the_mode_follows_from_what_is_monitored(monitor, best):
    def mean_error(y_true, y_pred):
        return np.abs(y_true - y_pred).mean()

    net, watch = network(updater=Adam(0.3)), Watch()
    net.set_listeners(watch)
    settings = {"metrics": ["f1", mean_error], "monitor": monitor, "restore_best": True, "validation_split": 0.4}
    history = net.fit(X, Y, epochs=15, batch_size=6, **settings)
    assert history.best_epoch == best(history._column(monitor))
    np.testing.assert_array_equal(host(net.params()), watch.params[history.best_epoch])


def test_steps_on_one_minibatch_are_waited_for_too():
    net = network(updater=Sgd(30.0))
    history = net.fit(X, Y, epochs=200, patience=2, restore_best=True)
    assert len(history) == history.best_epoch + 3 < 200
    assert net.iteration_count == len(history)


@pytest.mark.parametrize(
    ("values", "minimized", "best"),
    [
        ([3.0, 1.0, 1.0, 2.0], True, 1),
        ([3.0, 1.0, 3.0], False, 0),
        ([math.nan, 2.0, math.nan], True, 1),
        ([math.nan], True, 0),
    ],
)
def test_the_first_of_the_best_counts_and_nan_is_no_improvement(values, minimized, best):
    assert best_of(values, minimized) == best


# ---- metrics


def test_metrics_are_those_of_scikit_learn():
    def macro_score(y_true, y_pred):
        return f1_score(y_true.argmax(1), y_pred.argmax(1), average="macro")

    net = network(updater=Adam(0.01))
    held = X[:20], CLASSES[:20]
    names = ("accuracy", "f1", "auc", "top_2_accuracy", macro_score)
    history = net.fit(X, Y, epochs=2, batch_size=10, validation_data=held, metrics=names)
    out = host(net.output(X[:20]))
    found = {name: values[-1] for name, values in history.validation_metrics.items()}
    top = [CLASSES[row] in np.argsort(out[row])[-2:] for row in range(20)]
    expected = {
        "accuracy": (out.argmax(1) == held[1]).mean(),
        "f1": f1_score(held[1], out.argmax(1), average="macro"),
        "auc": roc_auc_score(held[1], out, multi_class="ovr"),
        "top_2_accuracy": np.mean(top),
        "macro_score": f1_score(held[1], out.argmax(1), average="macro"),
    }
    assert found == pytest.approx(expected, rel=1e-9)
    assert history.to_dict()["validation_macro_score"] == history.validation_metrics["macro_score"]
    assert [len(values) for values in history.validation_metrics.values()] == [2] * 5


def test_metrics_of_numbers_and_of_several_outputs():
    net = test_graph.network()
    data = test_graph.data()
    history = net.fit(data, validation_data=data, metrics=("mae", "f1"))
    kind, size = (host(out) for out in net.output(test_graph.A, test_graph.B))
    assert history.validation_metrics == {
        "kind_f1": [pytest.approx(f1_score(test_graph.CLASSES, kind.argmax(1), average="macro"))],
        "size_mae": [pytest.approx(mean_absolute_error(test_graph.Y2, size))],
    }
    history = net.fit(data, validation_data=data, metrics={"size": "r2"}, patience=1, monitor="size_r2")
    assert (list(history.validation_metrics), history.monitor) == (["size_r2"], "size_r2")


def test_independent_classes_have_the_metrics_of_each():
    y = (X[:, :2] > 0).astype(float)
    net = network(n_out=2, loss="xent", activation="sigmoid")
    history = net.fit(X, y, validation_data=(X, y), metrics=("accuracy", "auc", "mse"))
    out = host(net.output(X))
    expected = {"accuracy": ((out > 0.5) == y).mean(), "auc": roc_auc_score(y, out), "mse": ((out - y) ** 2).mean()}
    assert {name: values[0] for name, values in history.validation_metrics.items()} == pytest.approx(expected, rel=1e-9)


def test_what_the_masks_leave_out_is_not_shown_to_functions():
    def rows_score(y_true, y_pred):
        return float(len(y_true) + 100 * y_true[:, 0].sum())

    mask = np.array([[1.0], [0.0], [1.0], [1.0]])
    held = DataSet(X[:4], np.eye(3)[[0, 0, 1, 0]], None, mask)
    history = network().fit(X, Y, validation_data=[held, held], metrics=rows_score)
    assert history.validation_metrics == {"rows_score": [6.0 + 400.0]}


# ---- what is refused


def unclear(y_true, y_pred):
    return 0.0


def score(y_true, y_pred):
    return 0.0


def wordy_score(y_true, y_pred):
    return "good"


ITERATOR = (ListDataSetIterator(DataSet(X, Y), 10),)
HELD = {"validation_data": (X, Y)}
REFUSED = {
    "split of an iterator": ({"validation_split": 0.2}, ITERATOR, nd.ConfigurationError, "validation_split goes"),
    "split beside data": ({"validation_split": 0.2, **HELD}, (X, Y), nd.ConfigurationError, "without validation_data"),
    "split of one": ({"validation_split": 0.5}, (X[:1], Y[:1]), nd.DataError, "=0.5 must leave .* got 0 and 1 of 1"),
    "split of all": ({"validation_split": 1.0}, (X, Y), nd.ArgumentError, "must be a number with 0 <= it"),
    "balanced iterator": ({"class_weight": "balanced"}, ITERATOR, nd.ConfigurationError, "got an iterator, which"),
    "word": ({"class_weight": "balance"}, (X, Y), nd.ArgumentError, "must be a mapping .* or 'balanced'"),
    "patience 0": ({"patience": 0}, (X, Y), nd.ArgumentError, "patience must be an integer >= 1 or None, got 0"),
    "monitor alone": ({"monitor": "score"}, (X, Y), nd.ConfigurationError, "monitor goes with patience or"),
    "monitor of Keras": ({"monitor": "val_score", "patience": 2, **HELD}, (X, Y), nd.ChoiceError, "mean 'validation_s"),
    "nothing validated": ({"monitor": "f1", "patience": 2}, (X, Y), nd.ChoiceError, "unknown monitor 'f1', .* score"),
    "metrics alone": ({"metrics": "f1"}, (X, Y), nd.ConfigurationError, "need data to validate on, got 'f1'"),
    "unknown metric": ({"metrics": "acuracy", **HELD}, (X, Y), nd.ChoiceError, "Did you mean 'accuracy'"),
    "metric of numbers": ({"metrics": "mse", **HELD}, (X, Y), nd.ConfigurationError, "'mse'. Its metrics are accur"),
    "no name": ({"metrics": lambda a, b: 0.0, **HELD}, (X, Y), nd.ConfigurationError, "functions with a name, got"),
    "no metric": ({"metrics": [3], **HELD}, (X, Y), nd.ConfigurationError, "functions with a name, got 3"),
    "twice": ({"metrics": ["f1", "f1"], **HELD}, (X, Y), nd.ConfigurationError, "different names, got .'f1', 'f1'"),
    "name of a column": ({"metrics": score, **HELD}, (X, Y), nd.ConfigurationError, "different names, got .'score'"),
    "no output": ({"metrics": {"x": "f1"}, **HELD}, (X, Y), nd.ChoiceError, "unknown output 'x'"),
    "no direction": (
        {"metrics": unclear, "monitor": "unclear", "patience": 1, **HELD}, (X, Y), nd.ConfigurationError, "in _score",
    ),
}  # fmt: skip


@every_row("kind", ["layers", "graph"])
@every_row("name", REFUSED)
def test_refused_before_anything_is_trained(kind, name):
    settings, data, error, message = REFUSED[name]
    net = network(kind)
    with pytest.raises(error, match=message):
        net.fit(*data, **settings)
    assert net.iteration_count == 0


def test_a_function_must_return_a_number():
    with pytest.raises(nd.DTypeError, match="metric wordy_score must return a number, got 'good'"):
        network().fit(X, Y, **HELD, metrics=[wordy_score])
