"""Estimators of nn.sklearn: what they compute, learn and refuse."""

import pickle
import re

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the extra sklearn is not installed")

from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.utils.class_weight import compute_sample_weight

import nd
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.sklearn import NetworkClassifier, NetworkRegressor
from optimize import Sgd

X, Y = load_iris(return_X_y=True)
X = (X - X.mean(0)) / X.std(0)
NUMBERS = X @ np.array([3.0, -1.0, 0.5, 2.0]) + 40.0
SMALL = {"hidden_layer_sizes": (6,), "random_state": 3}


def chain(n_in, n_out):
    layers = DenseLayer(n_in=n_in, n_out=5, activation="tanh"), OutputLayer(n_out=n_out, activation="softmax")
    return NeuralNetConfiguration(seed=4, updater="adam", learning_rate=0.05).list(*layers)


def graph(n_in, n_out):
    hidden, last = DenseLayer(n_in=n_in, n_out=5, activation="tanh"), OutputLayer(n_out=n_out, activation="softmax")
    base = NeuralNetConfiguration(seed=4, updater="adam", learning_rate=0.05)
    return base.graph(["in"], {"hidden": (hidden, "in"), "out": (last, "hidden")}, ["out"])


# ---- what is computed


def test_a_step_is_that_of_the_weighted_mean_of_the_losses():
    """One step of gradient descent beside the derivative written out."""
    weights = np.random.RandomState(0).randint(0, 4, 150).astype(float)
    made = {"updater": Sgd(0.3), "batch_size": 150, "max_iter": 1, "alpha": 0.0, "hidden_layer_sizes": ()}
    fitted = NetworkClassifier(**made, random_state=2).fit(X, Y, sample_weight=weights)
    start = MultiLayerNetwork(fitted.network_.conf).init()
    w, b = (nd.to_host(start.get_param(name)).astype(float) for name in ("0_W", "0_b"))
    powers = np.exp(X @ w + b)
    p = powers / powers.sum(1, keepdims=True)
    delta = (p - np.eye(3)[Y]) * weights[:, None] / weights.sum()
    np.testing.assert_allclose(nd.to_host(fitted.network_.get_param("0_W")), w - 0.3 * X.T @ delta, rtol=1e-10)
    loss = -(weights * np.log(p[np.arange(150), Y])).sum() / weights.sum()
    assert fitted.loss_curve_ == [pytest.approx(loss, rel=1e-10)]


@pytest.mark.parametrize("balanced", [None, "balanced"])
def test_weights_of_classes_are_weights_of_examples(balanced):
    kept = np.arange(150) % 3 != 0
    kept |= Y == 1
    x, y = X[kept], Y[kept]
    weighted = NetworkClassifier(**SMALL, class_weight=balanced or {0: 2.0, 2: 0.5}).fit(x, y)
    by_hand = NetworkClassifier(**SMALL).fit(x, y, compute_sample_weight(weighted.class_weight, y))
    np.testing.assert_allclose(weighted.predict_proba(x), by_hand.predict_proba(x), rtol=1e-9)


def test_balanced_weights_count_repeated_rows():
    weights = 1 + np.arange(150) % 3
    made = {**SMALL, "class_weight": "balanced", "batch_size": 400}
    weighted = NetworkClassifier(**made).fit(X, Y, weights)
    repeated = NetworkClassifier(**made).fit(X.repeat(weights, 0), Y.repeat(weights))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_computes_in_float64_unless_x_is_float32(dtype):
    wanted = "float32" if dtype == "float32" else "float64"
    fitted = NetworkClassifier(**SMALL, max_iter=1).fit(X.astype(dtype), Y)
    assert fitted.network_.dtype == fitted.predict_proba(X).dtype.name == wanted
    regressor = NetworkRegressor(**SMALL, max_iter=1).fit(X.astype(dtype), NUMBERS)
    assert regressor.predict(X).dtype.name == wanted


def test_scaled_targets_make_predictions_follow_units_and_origin():
    plain = NetworkRegressor(**SMALL).fit(X, NUMBERS)
    other = NetworkRegressor(**SMALL).fit(X, 1000.0 * NUMBERS - 7.0)
    np.testing.assert_allclose(other.predict(X), 1000.0 * plain.predict(X) - 7.0, rtol=1e-6)
    assert plain.score(X, NUMBERS) > 0.9


def test_targets_of_a_networks_own_are_as_they_come():
    def line(n_in, n_out):
        last = OutputLayer(n_in=n_in, n_out=n_out, activation="identity", loss="mse")
        return NeuralNetConfiguration(updater="adam", learning_rate=0.5).list(last)

    fitted = NetworkRegressor(line, random_state=0, max_iter=200).fit(X, NUMBERS)
    assert fitted.target_mean_ is None
    w, b = (nd.to_host(fitted.network_.get_param(name)) for name in ("0_W", "0_b"))
    np.testing.assert_allclose((X @ w + b)[:, 0], fitted.predict(X), rtol=1e-9)
    assert NetworkRegressor(line, scale_targets=True).fit(X, NUMBERS).target_mean_ == pytest.approx(NUMBERS.mean())


# ---- kinds of targets


def test_classes_are_texts():
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)[Y]
    fitted = NetworkClassifier(random_state=0).fit(X, names)
    assert fitted.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert fitted.score(X, names) > 0.95
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), fitted.predict_proba(X))
    assert (fitted.n_outputs_, fitted.n_layers_, fitted.t_) == (3, 3, fitted.n_iter_ * 5)


def test_several_labels_at_once():
    labels = np.stack([X[:, 0] > 0, X[:, 2] > 0], 1).astype(int)
    fitted = NetworkClassifier(random_state=0).fit(X, labels)
    assert fitted.predict(X).shape == fitted.predict_proba(X).shape == (150, 2)
    assert fitted.score(X, labels) > 0.9
    assert fitted.classes_.tolist() == [0, 1]
    early = NetworkClassifier(random_state=0, early_stopping=True).fit(X, labels)
    assert early.best_validation_score_ == max(early.validation_scores_)


def test_several_numbers_at_once():
    both = np.stack([NUMBERS, X[:, 0] * 100.0], 1)
    fitted = NetworkRegressor(random_state=0).fit(X, both)
    assert fitted.predict(X).shape == (150, 2)
    assert fitted.score(X, both) > 0.9


@pytest.mark.parametrize("network", [chain, graph, chain(4, 3), graph(4, 3)], ids=["f", "graph-f", "conf", "graph"])
def test_networks_of_the_users(network):
    fitted = NetworkClassifier(network, max_iter=30).fit(X, Y)
    assert fitted.score(X, Y) > 0.9
    assert fitted.network_.conf.base.seed == 4  # which no random_state has replaced
    assert NetworkClassifier(network, random_state=1, max_iter=1).fit(X, Y).network_.conf.base.seed != 4


def test_a_network_gets_images_as_they_are():
    from nn import ConvolutionLayer, InputType

    digits = load_digits()
    images, y = digits.images[:200, None] / 16.0, digits.target[:200]

    def network(channels, n_out):
        layers = ConvolutionLayer(n_out=4, kernel_size=(3, 3), activation="relu"), OutputLayer(n_out=n_out)
        base = NeuralNetConfiguration(updater="adam", learning_rate=0.01, activation="softmax")
        return base.list(*layers, input_type=InputType.convolutional(8, 8, channels))

    fitted = NetworkClassifier(network, random_state=0).fit(images, y)
    assert fitted.score(images, y) > 0.9
    assert fitted.n_features_in_ == 1


# ---- going on, stopping, failing


def test_partial_fit_goes_on():
    fitted = NetworkClassifier(random_state=0, batch_size=50)
    for start in range(0, 150, 50):
        fitted.partial_fit(X[start : start + 50], Y[start : start + 50], classes=[0, 1, 2])
    assert (fitted.n_iter_, fitted.t_, len(fitted.loss_curve_)) == (3, 3, 3)
    for _ in range(20):
        fitted.partial_fit(X, Y)
    assert fitted.score(X, Y) > 0.9
    assert fitted.network_.learning_rates() == {0: 0.02, 1: 0.02}
    assert NetworkRegressor().partial_fit(X, NUMBERS).partial_fit(X, NUMBERS).n_iter_ == 2


def test_warm_start_goes_on_with_a_rate_of_its_own():
    fitted = NetworkClassifier(**SMALL, warm_start=True, max_iter=3).fit(X, Y)
    network, loss = fitted.network_, fitted.loss_
    fitted.set_params(max_iter=20).fit(X, Y)
    assert fitted.network_ is network
    assert fitted.n_iter_ == len(fitted.loss_curve_) == 23
    assert fitted.loss_ < 0.7 * loss
    assert network.learning_rates() == {0: 0.02, 1: 0.02}


def test_the_rate_falls_along_a_cosine():
    fitted = NetworkClassifier(**SMALL, batch_size=150, max_iter=4, tol=-1.0).fit(X, Y)
    expected = [0.02 * (1.0 + np.cos(np.pi * step / 4)) / 2.0 for step in range(4)]
    assert fitted.history_.learning_rate == pytest.approx(expected)


def test_training_ends_when_the_loss_no_longer_falls():
    fitted = NetworkClassifier(**SMALL, max_iter=500, learning_rate="constant", tol=0.05, n_iter_no_change=3).fit(X, Y)
    assert fitted.n_iter_ < 100
    losses = np.array(fitted.loss_curve_)
    better = losses[1:] < np.minimum.accumulate(losses)[:-1] - 0.05  # each beside the best before it, as MLPClassifier
    assert better[-5:].tolist() == [True] + 4 * [False]
    assert fitted.best_loss_ == losses.min()


def test_early_stopping_goes_back_to_the_best_epoch():
    x, y = np.random.RandomState(0).rand(200, 5), np.arange(200) % 2
    fitted = NetworkClassifier(random_state=0, early_stopping=True, n_iter_no_change=4, max_iter=60, alpha=0.0).fit(
        x, y
    )
    best = int(np.argmax(fitted.validation_scores_))
    assert fitted.best_validation_score_ == fitted.validation_scores_[best]
    assert fitted.n_iter_ < 60
    again = NetworkClassifier(random_state=0, early_stopping=True, max_iter=60, alpha=0.0)
    again.set_params(n_iter_no_change=4).fit(x, y)
    np.testing.assert_array_equal(again.predict_proba(x), fitted.predict_proba(x))


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_leaves_the_estimator_as_it_was(error, monkeypatch):
    fitted = NetworkClassifier(**SMALL, max_iter=2).fit(X, Y)
    before, known = fitted.predict_proba(X), dict(fitted.__dict__)

    def fails(self, *arguments):
        raise error("in the middle")

    monkeypatch.setattr(MultiLayerNetwork, "end_epoch", fails)
    with pytest.raises(error, match="in the middle"):
        fitted.fit(X[:, :2], Y)
    assert fitted.__dict__ == known
    np.testing.assert_array_equal(fitted.predict_proba(X), before)


def test_fit_leaves_the_threads_generator_alone():
    generator = nd.random.get_random()
    state = generator.get_state()
    NetworkClassifier(**SMALL, max_iter=1, dropout=0.5).fit(X, Y)
    assert nd.random.get_random() is generator
    assert generator.get_state() == state


def test_fit_writes_nothing_unless_it_is_told_to(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    NetworkClassifier(**SMALL, max_iter=2).fit(X, Y)
    assert capsys.readouterr() == ("", "")
    NetworkClassifier(**SMALL, max_iter=2, verbose=True, early_stopping=True).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    expected = ["Iteration 1, loss = x", "Validation score: x", "Iteration 2, loss = x", "Validation score: x"]
    assert [re.sub(r"[\d.]+$", "x", line) for line in lines] == expected


def test_pickles_and_clones():
    fitted = NetworkClassifier(chain, random_state=1, max_iter=5, warm_start=True).fit(X, Y)
    copied = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copied.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(copied.fit(X, Y).predict_proba(X), fitted.fit(X, Y).predict_proba(X))
    fresh = clone(NetworkClassifier(chain(4, 3), random_state=1, max_iter=5)).fit(X, Y)
    assert accuracy_score(Y, fresh.predict(X)) > 0.8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"network": MultiLayerNetwork(chain(4, 3))}, r"network must be a configuration.*Give net\.conf"),
        ({"network": lambda n_in, n_out: 3}, r"network\(n_in, n_out\) must return a configuration, got 3"),
        ({"network": chain(4, 2)}, r"network must have 3 outputs, as y asks for, got 2"),
        ({"network": chain(5, 3)}, r"expected"),
        ({"batch_size": 0}, r"batch_size must be 'auto' or an integer >= 1, got 0"),
        ({"batch_size": "all"}, r"batch_size must be 'auto'"),
        ({"max_iter": 0}, r"max_iter"),
        ({"hidden_layer_sizes": (10, 0)}, r"hidden_layer_sizes must be > 0, got \(10, 0\)"),
        ({"hidden_layer_sizes": "wide"}, r"hidden_layer_sizes"),
        ({"learning_rate": "adaptive"}, r"learning_rate"),
        ({"dropout": 1.0}, r"dropout must be less than 1"),
        ({"early_stopping": True, "validation_fraction": 0.0}, r"validation_fraction must lie between 0 and 1"),
        ({"activation": "rely"}, r"relu"),
        ({"updater": "adem"}, r"adam"),
    ],
)
def test_wrong_parameters_are_told(change, message):
    with pytest.raises(nd.NdError, match=message):
        NetworkClassifier(**change).fit(X, Y)


def test_wrong_data_are_told():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        NetworkClassifier().predict(X)
    with pytest.raises(nd.ShapeError, match=r"sample_weight: expected \[150\] for 150 examples, got \[149\]"):
        NetworkClassifier().fit(X, Y, np.ones(149))
    with pytest.raises(nd.DataError, match="weights must be >= 0 and at least one not zero, got -1"):
        NetworkClassifier().fit(X, Y, -np.ones(150))
    with pytest.raises(nd.DataError, match="y must have one class for an example"):
        NetworkClassifier().fit(X, np.stack([Y, Y], 1))
    with pytest.raises(nd.ConfigurationError, match="classes must be given in the first call"):
        NetworkClassifier().partial_fit(X, Y)
    with pytest.raises(nd.ConfigurationError, match="class_weight must be a dict, got 'balanced'"):
        NetworkClassifier(class_weight="balanced").partial_fit(X, Y, classes=[0, 1, 2])
    fitted = NetworkClassifier(max_iter=1).partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(nd.DataError, match="classes must be those of the first call"):
        fitted.partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(nd.DataError, match="y must have the classes of the first call"):
        fitted.partial_fit(X, Y + 1)
    with pytest.raises(nd.DataError, match="y must have 1 outputs, as in the first call, got 2"):
        NetworkRegressor().partial_fit(X, NUMBERS).partial_fit(X, np.stack([NUMBERS, NUMBERS], 1))
