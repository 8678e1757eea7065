import math
from types import SimpleNamespace

import numpy as np
import pytest

import nd
import nn.dl4j  # noqa: F401  whose names are asked for here
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam, Listener, NetworkUpdater, Segment, Sgd, Solver, StochasticGradientDescent
from optimize.solvers import OPTIMIZERS


class FakeModel:
    """f(w) = 3/2 |w|^2 over a minibatch of 2, which knows what was asked of it; its scores may be dictated."""

    def __init__(self, updater=None, scores=()):
        self.iteration_count, self.epoch_count, self.batch_size, self.last_etl_ms = 5, 2, 2, 0.0
        self.params, self.gradient = nd.create([[1.0, -2.0]], "float64"), nd.zeros(1, 2, dtype="float64")
        self.updater = NetworkUpdater([Segment(0, 2, updater or Sgd(0.5))], self.params, self.gradient)
        self.calls = []
        self._scores = list(scores)

    def compute_gradient_and_score(self):
        self.calls.append("compute")
        nd.multiply(self.params, 3.0, self.gradient)
        self._score = self._scores.pop(0) if self._scores else 1.0

    def score(self):
        return self._score


class ModelOfSteps(FakeModel):
    """Computes from the step that it is given, and returns nothing."""

    def compute_gradient_and_score(self, step):
        self.calls.append(step)
        super().compute_gradient_and_score()


class Calls(Listener):
    def __init__(self, log):
        self.log = log

    def on_gradient_calculation(self, model):
        self.log.append(("gradient", nd.to_host(model.gradient)[0].tolist(), nd.to_host(model.params)[0].tolist()))

    def iteration_done(self, model, iteration, epoch):
        self.log.append(("done", iteration, epoch, model.iteration_count, nd.to_host(model.params)[0].tolist()))


def conf(**changes):
    defaults = {
        "optimization_algo": "stochastic_gradient_descent",
        "step_function": None,
        "iterations": 1,
        "mini_batch": True,
        "minimize": True,
        "max_num_line_search_iterations": 5,
    }
    return SimpleNamespace(**(defaults | changes))


@pytest.mark.parametrize("algorithm", OPTIMIZERS)
def test_a_model_that_returns_nothing_may_be_given_a_step(algorithm):
    model = ModelOfSteps()
    accepted = Solver(conf(optimization_algo=algorithm), model).optimize(step="a step")
    assert model.calls.count("a step") >= 1
    assert model.iteration_count == 6
    assert accepted.score == 1.0


def test_one_step_by_hand():
    model = FakeModel()
    Solver(conf(), model).optimize()
    np.testing.assert_array_equal(nd.to_host(model.params), [[0.25, -0.5]])  # w - 0.5 * 3 w / 2
    assert (model.iteration_count, model.epoch_count) == (6, 2)
    assert model.calls == ["compute"]


def test_without_mini_batch_the_gradient_stays_a_sum():
    model = FakeModel()
    Solver(conf(mini_batch=False), model).optimize()
    np.testing.assert_array_equal(nd.to_host(model.params), [[-0.5, 1.0]])


def test_iterations_are_steps_on_the_same_minibatch():
    model = FakeModel()
    Solver(conf(iterations=3), model).optimize()
    np.testing.assert_array_equal(nd.to_host(model.params), [[1 / 64, -1 / 32]])
    assert model.calls == ["compute"] * 3
    assert model.iteration_count == 8


@pytest.mark.parametrize(
    ("name", "params"),
    [
        (None, [0.25, -0.5]),
        ("negative_gradient", [0.25, -0.5]),
        ("negative_default", [0.25, -0.5]),
        ("gradient", [1.75, -3.5]),
        ("default", [1.75, -3.5]),
    ],
)
def test_the_configured_step_function_is_used(name, params):
    model = FakeModel()
    Solver(conf(step_function=name), model).optimize()
    np.testing.assert_array_equal(nd.to_host(model.params), [params])


def test_updaters_are_told_the_models_counters():
    seen = []

    class Spy(Sgd):
        def coefficients(self, iteration, epoch):
            seen.append((iteration, epoch))
            return (0.5,)

    Solver(conf(iterations=2), FakeModel(Spy())).optimize()
    assert seen == [(5, 2), (6, 2)]


def test_listeners_hear_of_the_raw_gradient_and_of_the_updated_parameters():
    model = FakeModel()
    log = []
    Solver(conf(), model, [Calls(log), Calls(log)]).optimize()
    assert log == [("gradient", [3.0, -6.0], [1.0, -2.0])] * 2 + [("done", 5, 2, 6, [0.25, -0.5])] * 2


@pytest.mark.parametrize("name", ["stochastic_gradient_descent", "STOCHASTIC_GRADIENT_DESCENT"])
def test_algorithms_in_any_case(name):
    assert isinstance(Solver(conf(optimization_algo=name), FakeModel()).optimizer, StochasticGradientDescent)
    assert OPTIMIZERS["stochastic_gradient_descent"] is StochasticGradientDescent


def test_unknown_algorithm():
    with pytest.raises(
        nd.ChoiceError,
        match=r"Solver: unknown optimization_algo 'stochastic_descent', expected one of .*"
        r"Did you mean 'stochastic_gradient_descent'\?",
    ):
        Solver(conf(optimization_algo="stochastic_descent"), FakeModel())


def test_unknown_step_function():
    with pytest.raises(nd.ChoiceError, match="unknown step function 'backwards'"):
        Solver(conf(step_function="backwards"), FakeModel())


@pytest.mark.parametrize("count", [0, -1])
def test_at_least_one_iteration(count):
    with pytest.raises(nd.ConfigurationError, match=rf"Solver: iterations must be >= 1, got {count}\."):
        Solver(conf(iterations=count), FakeModel())


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_changes_nothing(score):
    model = FakeModel(Adam(0.1), scores=[1.0, score])
    log = []
    solver = Solver(conf(), model, [Calls(log)])
    solver.optimize()
    params, state = np.array(nd.to_host(model.params)), np.array(nd.to_host(model.updater.state))
    assert np.any(state)
    heard = len(log)
    with pytest.raises(nd.NumericError, match=rf"the score must be finite, got {score} at iteration 6\..*lower the"):
        solver.optimize()
    np.testing.assert_array_equal(nd.to_host(model.params), params)
    np.testing.assert_array_equal(nd.to_host(model.updater.state), state)
    assert (model.iteration_count, model.epoch_count, len(log)) == (6, 2, heard)


def test_a_network_survives_bad_data():
    settings = NeuralNetConfiguration(seed=1, updater=Adam(0.1), l2=0.01)
    layers = DenseLayer(n_in=2, n_out=3, activation="tanh"), OutputLayer(n_out=2, n_in=3, activation="softmax")
    net = MultiLayerNetwork(settings.list(*layers)).init()
    features, labels = np.array([[0.5, -1.0], [2.0, 0.0]]), np.eye(2)
    net.fit(features, labels)
    params, state = np.array(nd.to_host(net.params())), np.array(nd.to_host(net.updater_state()))
    spoilt = features.copy()
    spoilt[1, 0] = np.nan
    with pytest.raises(nd.NumericError, match=r"fit: the score must be finite, got nan at iteration 1\."):
        net.fit(spoilt, labels)
    np.testing.assert_array_equal(nd.to_host(net.params()), params)
    np.testing.assert_array_equal(nd.to_host(net.updater_state()), state)
    assert net.iteration_count == 1
    net.fit(features, labels)
    assert math.isfinite(net.score())
    assert net.iteration_count == 2


def test_an_infinite_feature_is_caught_before_it_ruins_the_parameters():
    net = MultiLayerNetwork(
        NeuralNetConfiguration(seed=1).list(
            DenseLayer(n_in=2, n_out=3, activation="tanh"), OutputLayer(n_in=3, n_out=1, loss="mse", activation="tanh")
        )
    ).init()
    before = nd.to_host(net.params()).copy()
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(nd.NumericError, match=r"fit: the norm of the gradient must be finite, got nan at iteration 0"),
    ):
        net.fit(nd.create([[float("inf"), 1.0]]), nd.create([[1.0]]))
    assert (nd.to_host(net.params()) == before).all()
    assert net.iteration_count == 0


def test_a_solver_from_its_builder():
    model, log = FakeModel(), []
    solver = Solver.Builder().configure(conf()).listeners(Calls(log)).model(model).build()
    solver.optimize()
    np.testing.assert_array_equal(nd.to_host(model.params), [[0.25, -0.5]])
    assert [entry[0] for entry in log] == ["gradient", "done"]
    solver.setListeners([])
    solver.optimize()
    assert len(log) == 2
    with pytest.raises(nd.ConfigurationError, match="a model must be given"):
        Solver.Builder().configure(conf()).build()
    with pytest.raises(nd.ArgumentError, match=r"model: model must be a Model, got 3"):
        Solver.Builder().model(3)


def test_a_solver_takes_the_network_s_configuration():
    net = MultiLayerNetwork(
        NeuralNetConfiguration(seed=1, updater=Sgd(0.5)).list(DenseLayer(n_in=2, n_out=2), OutputLayer(n_in=2, n_out=2))
    ).init()
    twin = net.clone()
    x, y = np.eye(2), np.eye(2)
    for each in (net, twin):
        each.set_input(x)
        each.set_labels(y)
    Solver.Builder().model(net).build().optimize()
    twin.fit(x, y)
    np.testing.assert_array_equal(net.params(), twin.params())
