"""Optimizers that search along lines, through the Model protocol and on networks, against SciPy."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize

import nd
from nd.dataset import DataSet, IrisDataSetIterator
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import (
    LBFGS,
    Adam,
    CollectScoresListener,
    ConjugateGradient,
    LineGradientDescent,
    Listener,
    NetworkUpdater,
    NoOp,
    Segment,
    Sgd,
)
from optimize.terminations import Norm2Termination
from tests.cells import every_row

ALL = [ConjugateGradient, LBFGS, LineGradientDescent]
GOOD = [ConjugateGradient, LBFGS]


class Function:
    """A function of a vector as a Model of one minibatch."""

    def __init__(self, function, start, updater=None):
        self.function, self.evaluations = function, []
        self.iteration_count, self.epoch_count, self.batch_size, self.last_etl_ms = 0, 0, 1, 0.0
        self.w, self.gradient = nd.create([list(start)], "float64"), nd.zeros(1, len(start), dtype="float64")
        self.updater = NetworkUpdater([Segment(0, len(start), updater or NoOp())], self.w, self.gradient)

    def compute_gradient_and_score(self):
        w = np.array(nd.to_host(self.w))[0]
        self._score, gradient = self.function(w)
        nd.assign(self.gradient, nd.create(np.asarray(gradient, float)[None]))
        self.evaluations.append(w)

    def score(self):
        return float(self._score)

    def norm(self):
        return float(np.linalg.norm(self.function(np.array(nd.to_host(self.w))[0])[1]))


def rosenbrock(w):
    steep, flat = w[1:] - w[:-1] ** 2, 1 - w[:-1]
    gradient = np.zeros_like(w)
    gradient[1:] += 200 * steep
    gradient[:-1] -= 400 * w[:-1] * steep + 2 * flat
    return (100 * steep**2 + flat**2).sum(), gradient


def bowl(w):
    """A parabola whose axes differ."""
    scales = np.arange(1.0, len(w) + 1.0)
    return 0.5 * (scales * w**2).sum(), scales * w


def conf(**changes):
    defaults = {
        "optimization_algo": "lbfgs", "iterations": 1,
        "step_function": None, "mini_batch": False, "minimize": True, "max_num_line_search_iterations": 20,
    }  # fmt: skip
    return SimpleNamespace(**(defaults | changes))


# ---- functions


@pytest.mark.parametrize("optimizer", GOOD)
def test_rosenbrocks_valley_of_20_variables(optimizer):
    model = Function(rosenbrock, np.tile([-1.2, 1.0], 10))
    optimizer(conf(), model, terminations=[Norm2Termination(1e-5)]).optimize(2000)
    assert model.norm() < 1e-5
    np.testing.assert_allclose(nd.to_host(model.w), 1.0, atol=1e-5)
    assert model.iteration_count < 1000


@pytest.mark.parametrize("optimizer", ALL)
@pytest.mark.parametrize("function", [rosenbrock, bowl])
def test_the_score_never_rises(optimizer, function):
    model, scores = Function(function, [-1.2, 1.0, 0.5]), []
    searching = optimizer(conf(max_num_line_search_iterations=5), model, terminations=[])
    for _ in range(40):
        searching.optimize()
        scores.append(function(np.array(nd.to_host(model.w))[0])[0])
        assert model.score() == pytest.approx(scores[-1], rel=1e-12, abs=1e-300)  # of where the model is
    assert all(later <= earlier for earlier, later in itertools.pairwise(scores))
    assert scores[-1] < 0.2 * function(np.array([-1.2, 1.0, 0.5]))[0]


@pytest.mark.parametrize("optimizer", GOOD)
def test_a_parabola_takes_about_as_many_steps_as_it_has_axes(optimizer):
    model = Function(bowl, np.ones(6))
    optimizer(conf(), model, terminations=[Norm2Termination(1e-8)]).optimize(200)
    assert model.norm() < 1e-8
    assert model.iteration_count <= 25


@every_row("optimizer", ALL)
@every_row("step_function", [None, "default", "negative_default"])
@every_row("minimized", [True, False])
def test_down_or_up_whatever_the_step_function_adds(optimizer, step_function, minimized):
    def hill(w):
        value, gradient = bowl(w)
        return (value, gradient) if minimized else (-value, -gradient)

    model = Function(hill, [2.0, -1.0])
    optimizer(conf(minimize=minimized, step_function=step_function), model, terminations=[]).optimize(30)
    np.testing.assert_allclose(nd.to_host(model.w), 0.0, atol=1e-3)


@pytest.mark.parametrize("optimizer", ALL)
def test_step_functions_without_a_length_take_the_whole_direction_or_none(optimizer):
    gentle = Function(lambda w: (0.25 * (w**2).sum(), 0.5 * w), [0.6])
    optimizer(conf(step_function="negative_gradient"), gentle).optimize()
    assert nd.to_host(gentle.w).tolist() == [[pytest.approx(0.3)]]
    steep = Function(lambda w: (5.0 * (w**2).sum(), 10.0 * w), [1.0])
    optimizer(conf(step_function="negative_gradient"), steep, terminations=[]).optimize()
    assert nd.to_host(steep.w).tolist() == [[1.0]]
    assert steep.score() == 5.0


def test_at_a_minimum_nothing_moves():
    for optimizer in ALL:
        model = Function(bowl, [0.0, 0.0])
        optimizer(conf(), model).optimize(10)
        assert nd.to_host(model.w).tolist() == [[0.0, 0.0]]
        assert model.iteration_count == 1  # the direction is zero


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_score_that_is_not_finite_is_refused(value):
    model = Function(lambda w: (value, np.ones(2)), [1.0, 2.0])
    with pytest.raises(nd.NumericError, match=rf"the score must be finite, got {value} at iteration 0"):
        LBFGS(conf(), model).optimize()
    with pytest.raises(nd.NumericError, match="the norm of the gradient must be finite, got nan"):
        LBFGS(conf(), Function(lambda w: (1.0, np.full(2, math.nan)), [1.0, 2.0])).optimize()


def test_a_cliff_is_not_gone_over():
    def log_barrier(w):
        with np.errstate(invalid="ignore"):
            return (w[0] - np.log(w[0])) if w[0] > 0 else math.inf, np.array([1 - 1 / w[0]])

    model = Function(log_barrier, [50.0])
    LineGradientDescent(conf(), model, terminations=[]).optimize(60)
    assert any(w[0] <= 0 for w in model.evaluations)  # tried, as steps grow, and not taken
    assert nd.to_host(model.w).tolist() == [[pytest.approx(1.0, abs=1e-3)]]


@pytest.mark.parametrize("updater", [Adam(0.1)], ids=["adam"])
@pytest.mark.parametrize("optimizer", ALL)
def test_updaters_with_a_state_are_refused_by_name(optimizer, updater):
    with pytest.raises(
        nd.ConfigurationError, match=rf"{optimizer.__name__}: the updater must be Sgd or NoOp, got Adam"
    ):
        optimizer(conf(), Function(bowl, [1.0], updater))


def test_the_learning_rate_means_nothing():
    found = []
    for updater in (NoOp(), Sgd(1e-9), Sgd(100.0)):
        model = Function(rosenbrock, [-1.2, 1.0], updater)
        LBFGS(conf(), model, terminations=[]).optimize(5)
        found.append(nd.to_host(model.w).tolist())
    assert found[0] == found[1] == found[2]


def test_lbfgs_remembers_m_steps_that_bend_upwards():
    with pytest.raises(nd.ConfigurationError, match="LBFGS: m must be an integer >= 1 or None, got 0"):
        LBFGS(conf(), Function(bowl, [1.0]), m=0)
    model = Function(rosenbrock, np.tile([-1.2, 1.0], 3))
    searching = LBFGS(conf(), model, terminations=[], m=3)
    for _ in range(12):
        searching.optimize()
        assert len(searching._pairs) <= 3
        assert all(pair.product > 0 for pair in searching._pairs)
    assert len(searching._pairs) == 3


def test_two_loops_are_the_bfgs_matrix():
    """With room for all pairs the direction is H g, H by the textbook's update of a full matrix."""
    rng = np.random.default_rng(3)
    model = Function(bowl, rng.normal(size=5))
    searching = LBFGS(conf(), model, terminations=[], m=20)
    searching.optimize(3)
    pairs = [(np.array(nd.to_host(each.step)), np.array(nd.to_host(each.change))) for each in searching._pairs]
    step, change = pairs[-1]
    inverse = np.eye(5) * (step @ change) / (change @ change)
    for step, change in pairs:
        rho = 1.0 / (step @ change)
        left = np.eye(5) - rho * np.outer(step, change)
        inverse = left @ inverse @ left.T + rho * np.outer(step, step)
    gradient = rng.normal(size=5)
    np.testing.assert_allclose(nd.to_host(searching.direction(nd.create(gradient))), inverse @ gradient, rtol=1e-9)


# ---- networks


def softmax_regression(l2, features, labels):
    """Mean cross entropy and the penalty on the weights, with its gradient, in NumPy and float64."""

    def objective(w):
        W, b = w[:12].reshape(4, 3, order="F"), w[12:]
        z = features @ W + b
        z = z - z.max(1, keepdims=True)
        p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
        error = (p - labels) / len(labels)
        score = -np.log(p[labels == 1]).mean() + 0.5 * l2 * (W**2).sum()
        return score, np.concatenate([(features.T @ error + l2 * W).ravel(order="F"), error.sum(0)])

    return objective


L2 = 1e-2


def iris_network(algorithm, iterations=1, **settings):
    settings = {"l2": L2, "iterations": iterations, **settings}
    base = NeuralNetConfiguration(seed=7, dtype="float64", optimization_algo=algorithm, updater=Sgd(0.1), **settings)
    return MultiLayerNetwork(base.list(OutputLayer(n_in=4, n_out=3, loss="mcxent", activation="softmax"))).init()


@pytest.fixture(scope="module")
def iris():
    return IrisDataSetIterator(150).next()


def evaluations(scores, best):
    """Return how many it took to come within 1e-6 of the best."""
    return next(count for count, score in enumerate(scores, 1) if score <= best * (1 + 1e-6))


class Evaluations(Listener):
    """The score at every evaluation."""

    def __init__(self):
        self.scores = []

    def on_backward_pass(self, model):
        self.scores.append(model.score())


def scipys(objective, start):
    """Return the optimum, and the scores at the points where SciPy looked."""
    seen = []

    def noted(w):
        score, gradient = objective(w)
        seen.append(score)
        return score, gradient

    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000}  # and 10 pairs
    return minimize(noted, start, jac=True, method="L-BFGS-B", options=options).fun, seen


@pytest.mark.parametrize("algorithm", ["conjugate_gradient", "lbfgs"])
def test_iris_softmax_regression_reaches_scipys_optimum(iris, algorithm):
    features = (iris.features - iris.features.mean(0)) / iris.features.std(0)
    net, seen = iris_network(algorithm, iterations=100), Evaluations()
    objective = softmax_regression(L2, features.astype(float), iris.labels.astype(float))
    best, theirs = scipys(objective, np.array(nd.to_host(net.params()))[0])
    net.set_listeners(seen)
    for _ in range(5):
        net.fit(features, iris.labels)
    assert net.score() == pytest.approx(best, rel=1e-6)
    if algorithm == "lbfgs":
        assert evaluations(seen.scores, best) <= 2 * evaluations(theirs, best)


@pytest.mark.parametrize("optimizer", GOOD)
def test_iris_as_it_was_measured_whose_axes_differ_more(iris, optimizer):
    net, seen = iris_network("lbfgs"), Evaluations()
    objective = softmax_regression(L2, iris.features.astype(float), iris.labels.astype(float))
    best, theirs = scipys(objective, np.array(nd.to_host(net.params()))[0])
    net.set_listeners(seen)
    net.set_input(iris.features)
    net.set_labels(iris.labels)
    settings = {"m": 10} if optimizer is LBFGS else {}
    optimizer(net.conf, net, terminations=[Norm2Termination(1e-6)], **settings).optimize(1000)
    assert net.score() == pytest.approx(best, rel=1e-6)
    if optimizer is LBFGS:  # with as many pairs as SciPy
        assert evaluations(seen.scores, best) <= 2 * evaluations(theirs, best)


@pytest.mark.parametrize("algorithm", ["conjugate_gradient", "lbfgs", "line_gradient_descent"])
def test_scores_of_a_network_fall_and_are_those_of_where_it_is(iris, algorithm):
    net, scores = iris_network(algorithm), CollectScoresListener()
    net.set_listeners(scores)
    for _ in range(30):
        net.fit(iris.features, iris.labels)
    assert all(later <= earlier for earlier, later in itertools.pairwise(scores.scores))
    assert net.score() == pytest.approx(net.score(iris), rel=1e-12)
    assert net.iteration_count == 30


def test_iterations_on_one_minibatch_are_as_many_fits(iris):
    once, often = iris_network("lbfgs", iterations=12), iris_network("lbfgs")
    once.fit(iris.features, iris.labels)
    for _ in range(12):
        often.fit(iris.features, iris.labels)
    assert once.iteration_count == 12
    assert often.score() == pytest.approx(once.score(), rel=1e-9)  # what was learned stays from fit to fit


def test_an_iterator_of_minibatches(iris, backend):
    parts = [DataSet(iris.features[n::3], iris.labels[n::3]) for n in range(3)]
    base = NeuralNetConfiguration(seed=7, optimization_algo="lbfgs", updater="sgd", l2=1e-3)
    net = MultiLayerNetwork(
        base.list(DenseLayer(n_in=4, n_out=6, activation="tanh", drop_out=0.9), OutputLayer(n_in=6, n_out=3))
    ).init()
    before = net.score(iris)
    net.fit(parts, epochs=5)
    assert net.iteration_count == 15
    assert net.score(iris) < before


def test_dropout_is_the_same_along_a_line_and_drawn_once_per_step(iris):
    base = NeuralNetConfiguration(seed=7, dtype="float64", optimization_algo="lbfgs", updater="sgd")
    layers = DenseLayer(n_in=4, n_out=6, activation="tanh", drop_out=0.5), OutputLayer(n_in=6, n_out=3)
    net = MultiLayerNetwork(base.list(*layers)).init()
    rng = nd.random.get_random()
    state = rng.get_state()
    net.fit(iris.features, iris.labels)
    after = rng.get_state()
    rng.set_state(state)
    rng.uniform(150 * 4)
    assert rng.get_state() == after


def test_normalised_gradients_are_refused():
    message = "with optimization_algo='lbfgs': expected no gradient_normalization"
    with pytest.raises(nd.ConfigurationError, match=message):
        iris_network("lbfgs", gradient_normalization="clip_l2_per_layer")


def test_weight_decay_is_part_of_the_objective(iris):
    net = iris_network("lbfgs", iterations=200, weight_decay=L2, l2=None)
    net.fit(iris.features, iris.labels)
    twin = iris_network("lbfgs", iterations=200)
    twin.fit(iris.features, iris.labels)
    assert net.score() == pytest.approx(twin.score(), rel=1e-9)


def test_an_updater_that_no_line_search_can_use_is_named():
    base = NeuralNetConfiguration(seed=7, optimization_algo="lbfgs", updater=Adam(0.1))
    with pytest.raises(nd.ConfigurationError, match="'lbfgs': the updater must be Sgd or NoOp, got Adam"):
        base.list(OutputLayer(n_in=4, n_out=3))
