"""What fit takes beside data and epochs: minibatches of arrays, validation, weights, classes of every kind."""

import pickle

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator, NumpyDataSetIterator
from nn import (
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
)
from optimize import Adam, CollectScoresListener, Listener, Sgd
from tests.cells import every_row
from tests.stand_ins import TOLERANCE, as_input

RNG = np.random.default_rng(5)
X = RNG.normal(size=(10, 3)).astype(np.float32)
CLASSES = np.array([0, 1, 2, 1, 0, 2, 2, 1, 0, 1])
Y = np.eye(3, dtype=np.float32)[CLASSES]
NAMES = np.array(["ant", "bee", "cat"])


def network(*layers, updater=None, **settings):
    given = layers or (
        DenseLayer(n_in=3, n_out=4, activation="tanh"),
        OutputLayer(n_in=4, n_out=3, activation="softmax"),
    )
    conf = NeuralNetConfiguration(**{"seed": 3, "updater": updater or Sgd(0.1), **settings}).list(*given)
    return MultiLayerNetwork(conf).init()


def binary(loss="xent"):
    return network(OutputLayer(n_in=3, n_out=1, loss=loss, activation="sigmoid"))


def host(x):
    return np.array(nd.to_host(nd.copy(x)))


def after(net, *data, **settings):
    net.fit(*data, **settings)
    return host(net.params())


# ---- minibatches of arrays


class Seen(Listener):
    """Keeps the first column of every minibatch, and counts epochs."""

    def __init__(self):
        self.batches, self.epochs = [], 0

    def iteration_done(self, model, iteration, epoch):
        self.batches.append(host(model.get_input())[:, 0].tolist())

    def on_epoch_end(self, model):
        self.epochs += 1


@pytest.mark.parametrize("form", ["arrays", "lists", "data set"])
def test_arrays_are_cut_in_their_order_without_shuffle(form):
    net, seen = network(), Seen()
    net.set_listeners(seen)
    data = {"arrays": (X, Y), "lists": (X.tolist(), Y.tolist()), "data set": (DataSet(X, Y),)}[form]
    net.fit(*data, epochs=2, batch_size=4, shuffle=False)
    column = X[:, 0].tolist()
    assert seen.batches == 2 * [column[:4], column[4:8], column[8:]]
    assert (net.iteration_count, net.epoch_count, seen.epochs) == (6, 2, 2)
    expected = network()
    expected.fit(ListDataSetIterator(DataSet(X, Y), batch=4), epochs=2)
    np.testing.assert_array_equal(host(net.params()), host(expected.params()))


def test_without_a_batch_size_arrays_are_one_minibatch_and_no_epoch_is_counted():
    net, seen = network(), Seen()
    net.set_listeners(seen)
    net.fit(X, Y, epochs=3)
    assert [len(batch) for batch in seen.batches] == [10, 10, 10]
    assert (net.iteration_count, net.epoch_count, seen.epochs) == (3, 0, 0)


def orders(seed=3, calls=((2,),)):
    net, seen = network(seed=seed), Seen()
    net.set_listeners(seen)
    for (epochs,) in calls:
        net.fit(X, Y, epochs=epochs, batch_size=5)
    return [seen.batches[at] + seen.batches[at + 1] for at in range(0, len(seen.batches), 2)]


def test_every_epoch_has_an_order_of_its_own_that_follows_from_the_seed():
    first, second = orders()
    assert sorted(first) == sorted(second) == sorted(X[:, 0].tolist())
    assert first != second != X[:, 0].tolist()
    assert orders() == [first, second]
    assert orders(seed=4)[0] != first
    one, other = orders(calls=((1,), (1,)))  # a second call does not repeat the first one's order
    assert one == first
    assert other != first


def test_shuffling_leaves_the_global_generator_alone():
    net = network()
    before = nd.random.get_random().get_state()
    net.fit(X, Y, epochs=2, batch_size=3)
    assert nd.random.get_random().get_state() == before


class Saver(Listener):
    """Writes a checkpoint at one iteration."""

    def __init__(self, path, at):
        self.path, self.at = path, at

    def iteration_done(self, model, iteration, epoch):
        if iteration == self.at:
            model.save_checkpoint(self.path)


@pytest.mark.parametrize("at", [0, 3, 4, 7])
@pytest.mark.parametrize("shuffle", [True, False])
def test_a_checkpoint_goes_on_bit_for_bit(tmp_path, at, shuffle):
    settings = {"epochs": 3, "batch_size": 3, "shuffle": shuffle, "class_weight": {1: 2.0}}
    net = network(updater=Adam(0.05), drop_out=0.8)
    net.set_listeners(Saver(tmp_path / "c.zip", at))
    expected = after(net, X, CLASSES, **settings)
    again = MultiLayerNetwork.load_checkpoint(tmp_path / "c.zip")
    history = again.fit(X, CLASSES, **settings)
    np.testing.assert_array_equal(host(again.params()), expected)
    assert history.to_dict() == net.history.to_dict()


def test_a_checkpoint_between_two_calls_goes_on_as_the_network_does(tmp_path):
    net = network()
    net.fit(X, Y, epochs=2, batch_size=3)
    net.save_checkpoint(tmp_path / "c.zip")
    again = MultiLayerNetwork.load_checkpoint(tmp_path / "c.zip")
    for each in (net, again):
        each.fit(X, Y, epochs=2, batch_size=3)
    np.testing.assert_array_equal(host(again.params()), host(net.params()))


# ---- history


def test_history_of_minibatches(backend):
    net, scores = network(dtype="float64"), CollectScoresListener()
    net.set_listeners(scores)
    history = net.fit(as_input(backend, X), as_input(backend, Y), epochs=3, batch_size=4, shuffle=False)
    means = [sum(scores.scores[at : at + 3]) / 3 for at in (0, 3, 6)]
    np.testing.assert_allclose(history.score, means, rtol=1e-12)
    assert history.epochs == [0, 1, 2]
    assert history.learning_rate == [0.1, 0.1, 0.1]
    assert (history.validation_score, history.validation_accuracy, history.stopped) == ([], [], None)
    assert net.history is history


def test_history_of_one_minibatch_has_its_scores():
    net, scores = network(), CollectScoresListener()
    net.set_listeners(scores)
    assert net.fit(X, Y, epochs=4).score == scores.scores


def test_validation_by_hand(backend):
    """Score: mean cross entropy and the penalty; accuracy: arg max against the labels."""
    net = network(l2=0.2, dtype="float64")
    held = (X[6:], Y[6:])
    history = net.fit(
        as_input(backend, X[:6]),
        as_input(backend, Y[:6]),
        epochs=2,
        validation_data=tuple(as_input(backend, array) for array in held),
    )
    out = host(net.output(as_input(backend, X[6:])))
    weights = [host(net.get_param(key)) for key in ("0_W", "1_W")]
    penalty = 0.1 * sum((w**2).sum() for w in weights)
    np.testing.assert_allclose(history.validation_score[-1], -np.log(out[Y[6:] == 1]).mean() + penalty, rtol=1e-10)
    assert history.validation_accuracy[-1] == (out.argmax(1) == CLASSES[6:]).mean()
    assert len(history.validation_score) == 2


@pytest.mark.parametrize("form", ["arrays", "data set", "iterator", "list"])
@pytest.mark.parametrize("batch_size", [None, 3])
def test_every_form_of_validation_data_says_the_same(form, batch_size):
    data = {
        "arrays": (X[4:], CLASSES[4:]),
        "data set": DataSet(X[4:], Y[4:]),
        "iterator": NumpyDataSetIterator(X[4:], Y[4:], 4),
        "list": [DataSet(X[4:7], Y[4:7]), DataSet(X[7:], Y[7:])],
    }[form]
    net = network(l2=0.1, dtype="float64")
    history = net.fit(X[:4], Y[:4], epochs=2, batch_size=batch_size, validation_data=data)
    np.testing.assert_allclose(history.validation_score[-1], net.score(DataSet(X[4:], Y[4:])), rtol=1e-10)
    assert history.validation_accuracy[-1] == net.evaluate(X[4:], CLASSES[4:]).accuracy()


def test_validation_changes_nothing_of_the_training():
    plain = after(network(drop_out=0.5), X, Y, epochs=3, batch_size=4)  # init seeds the generator
    validated = after(network(drop_out=0.5), X, Y, epochs=3, batch_size=4, validation_data=(X, Y))
    np.testing.assert_array_equal(validated, plain)


def test_validation_weights_are_of_the_score_only():
    weights = np.linspace(0.0, 2.0, 10)
    net = network(dtype="float64")
    history = net.fit(X, Y, validation_data=(X, Y, weights))
    losses = -np.log(host(net.output(X))[Y == 1])
    np.testing.assert_allclose(history.validation_score, [(weights * losses).mean()], rtol=1e-6)
    assert history.validation_accuracy == [net.evaluate(X, Y).accuracy()]


def test_regression_has_no_accuracy():
    net = network(OutputLayer(n_in=3, n_out=2, loss="mse", activation="identity"))
    history = net.fit(X, X[:, :2], validation_data=(X, X[:, :2]))
    assert (len(history.validation_score), history.validation_accuracy) == (1, [])


# ---- weights


@pytest.mark.parametrize("kind", ["class", "sample", "both"])
def test_weights_are_in_the_score_and_its_derivative(backend, kind):
    """Against a numeric derivative of the weighted score, written in NumPy."""
    net = network(OutputLayer(n_in=3, n_out=3, activation="softmax"), dtype="float64")
    per_class, per_example = np.array([1.0, 3.0, 0.5]), np.linspace(0.5, 2.0, 10)
    weights = np.ones(10)
    settings = {}
    if kind != "sample":
        weights, settings["class_weight"] = weights * per_class[CLASSES], dict(enumerate(per_class.tolist()))
    if kind != "class":
        weights, settings["sample_weight"] = weights * per_example.astype(np.float32), per_example
    W, b = host(net.get_param("0_W")), host(net.get_param("0_b"))

    def score(W):
        z = X.astype(np.float64) @ W + b
        log_p = z - np.log(np.exp(z).sum(1, keepdims=True))
        return -(weights * log_p[np.arange(10), CLASSES]).mean()

    numeric = np.zeros_like(W)
    for at in np.ndindex(*W.shape):
        step = np.zeros_like(W)
        step[at] = 1e-6
        numeric[at] = (score(W + step) - score(W - step)) / 2e-6
    history = net.fit(as_input(backend, X), as_input(backend, Y), **settings)
    np.testing.assert_allclose(history.score, [score(W)], rtol=1e-7)
    np.testing.assert_allclose((W - host(net.get_param("0_W"))) / 0.1, numeric, rtol=1e-5, atol=1e-8)


def test_weights_of_two_are_examples_twice():
    double = after(network(), np.concatenate([X, X[CLASSES == 1]]), np.concatenate([Y, Y[CLASSES == 1]]))
    net = network(mini_batch=False, updater=Sgd(0.1 / 14))
    np.testing.assert_allclose(after(net, X, CLASSES, class_weight={1: 2}), double, **TOLERANCE["float32"])


def test_class_weights_of_an_iterator_are_of_every_minibatch():
    expected = after(network(), X, Y, batch_size=4, shuffle=False, class_weight={0: 0.5})
    found = after(network(), ListDataSetIterator(DataSet(X, Y), batch=4), class_weight={0: 0.5})
    np.testing.assert_array_equal(found, expected)


def test_weights_and_classes_may_be_numpy_numbers():
    expected = after(network(), X, Y, class_weight={1: 0.5})
    np.testing.assert_array_equal(after(network(), X, Y, class_weight={np.int64(1): np.float32(0.5)}), expected)


def test_weights_of_a_single_output():
    net = binary()
    y = (CLASSES > 0).astype(np.float32)[:, None]
    out = host(net.output(X)).astype(np.float64)
    losses = -np.where(y == 1, np.log(out), np.log(1 - out))
    history = net.fit(X, y, class_weight={0: 2.0, 1: 5.0})
    np.testing.assert_allclose(history.score, [(np.where(y == 1, 5.0, 2.0) * losses).mean()], rtol=1e-5)


SERIES = RNG.normal(size=(4, 3, 5)).astype(np.float32)
STEPS = RNG.integers(0, 2, (4, 5))


def series_network():
    conf = NeuralNetConfiguration(seed=3, updater=Sgd(0.1), dtype="float64").list(
        RnnOutputLayer(n_out=2, activation="softmax"), input_type=InputType.recurrent(3)
    )
    return MultiLayerNetwork(conf).init()


def series_losses(net):
    out = host(net.output(SERIES))
    return -np.log(np.take_along_axis(out, STEPS[:, None], 1)[:, 0])  # [N, T]


@pytest.mark.parametrize("mask", [None, "features", "labels", "rows"])
def test_weights_of_time_steps_go_into_the_masks(mask):
    net = series_network()
    losses = series_losses(net)
    kept = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [1, 1, 1, 1, 0]], np.float32)
    kept = np.ones((4, 5), np.float32) if mask is None else kept
    masks = {"features": {"features_mask": kept}, "labels": {"labels_mask": kept}}.get(mask, {})
    if mask == "rows":
        kept = np.array([[1.0], [0.0], [1.0], [1.0]], np.float32)
        masks = {"labels_mask": kept}
    one_hot_steps = np.moveaxis(np.eye(2, dtype=np.float32)[STEPS], 2, 1)
    weights = np.linspace(0.5, 2.0, 20).reshape(4, 5).astype(np.float32)
    history = net.fit(
        DataSet(SERIES, one_hot_steps, **masks), class_weight={1: 3.0}, sample_weight=weights if mask else None
    )
    total = losses * np.where(STEPS == 1, 3.0, 1.0) * kept * (weights if mask else 1.0)
    np.testing.assert_allclose(history.score, [total.sum() / 4], rtol=1e-6)


def test_class_numbers_of_time_steps():
    one_hot_steps = np.moveaxis(np.eye(2, dtype=np.float32)[STEPS], 2, 1)
    expected, found = (after(series_network(), SERIES, labels) for labels in (one_hot_steps, STEPS))
    np.testing.assert_array_equal(found, expected)


# ---- what is refused


REFUSED = {
    "class 3": ({}, (X, CLASSES + 1), nd.DataError, "class numbers must be whole numbers from 0 to 2, got 3 at 2"),
    "half": ({}, (X, CLASSES + 0.5), nd.DataError, "whole numbers from 0 to 2, got 0.5"),
    "two names": ({}, (X, NAMES[CLASSES % 2]), nd.DataError, "must be of 3 classes, .* got 2: 'ant', 'bee'"),
    "no text": ({}, (X, [*NAMES[CLASSES][:9], None]), nd.DTypeError, "expected texts, .* got None at 9"),
    "batch size 0": ({"batch_size": 0}, (X, Y), nd.ArgumentError, "batch_size must be an integer >= 1 or None, got"),
    "iterator": ({"batch_size": 4}, ([DataSet(X, Y)],), nd.ConfigurationError, "batch_size goes with arrays"),
    "weights of iterators": (
        {"sample_weight": np.ones(10)}, ([DataSet(X, Y)],), nd.ConfigurationError, "sample_weight goes with arrays",
    ),
    "no class": ({"class_weight": {7: 1.0}}, (X, Y), nd.ConfigurationError, "class_weight: classes are 0, 1, 2, got 7"),
    "weight below 0": ({"class_weight": {1: -1.0}}, (X, Y), nd.ArgumentError, "must be a number >= 0, got -1"),
    "list": ({"class_weight": [1, 2, 3]}, (X, Y), nd.ArgumentError, "must be a mapping from anything to"),
    "short": ({"sample_weight": np.ones(9)}, (X, Y), nd.ShapeError, r"sample_weight: expected \[10\].* got \[9\]"),
    "negative": ({"sample_weight": -np.ones(10)}, (X, Y), nd.DataError, "must be finite and >= 0"),
    "validation": ({"validation_data": X}, (X, Y), nd.DataError, "validation_data: features need labels"),
    "none to validate": ({"validation_data": []}, (X, Y), nd.DataError, "validation_data must have at least one"),
    "mask of outputs": (
        {"class_weight": {1: 2.0}}, (DataSet(X, Y, None, np.ones((10, 3))),), nd.ShapeError, "one number for an ex",
    ),
}  # fmt: skip


@every_row("name", REFUSED)
def test_refused(name):
    settings, data, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        network().fit(*data, **settings)


def test_history_on_a_device_waits_for_nobody(device):
    """Scores stay where they are until somebody looks; they are those of NumPy."""
    expected = network(l2=0.1).fit(X, Y, epochs=3, batch_size=4)
    alone = network(l2=0.1).fit(X, Y, epochs=3)
    with nd.use_backend(device):
        net, kinds = network(l2=0.1), []

        class Looking(Listener):
            def on_epoch_end(self, model):
                kinds.append(type(model.history._scores[-1]))

        net.set_listeners(Looking())
        history = net.fit(X, Y, epochs=3, batch_size=4, class_weight={0: 1.0})
        single = network(l2=0.1).fit(X, Y, epochs=3)
    assert kinds == [tuple] * 3
    np.testing.assert_allclose(pickle.loads(pickle.dumps(history)).score, expected.score, rtol=1e-5)
    np.testing.assert_allclose(history.score, expected.score, rtol=1e-5)
    np.testing.assert_allclose(single.score, alone.score, rtol=1e-5)
