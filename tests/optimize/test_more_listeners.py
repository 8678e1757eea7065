"""Listeners that evaluate, look at the clock, join others, and say where NaN began."""

import datetime
import re
from types import SimpleNamespace

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nd.evaluation import Evaluation
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import (
    ComposableIterationListener,
    EvaluativeListener,
    Listener,
    NanListener,
    Nesterovs,
    Sgd,
    TimeIterationListener,
)
from optimize.listeners import time_left
from tests.optimize.test_listener_hooks import FEATURES, LABELS, Recorder, batches, network

# ---- ComposableIterationListener


def test_several_as_one_hear_what_they_would_hear_alone():
    together, alone = ([Recorder(), Recorder()] for _ in range(2))
    for listeners in (ComposableIterationListener(*together), alone), (alone,):
        net = network()
        net.set_listeners(*listeners[:1]) if listeners[0] is not alone else net.set_listeners(alone)
        net.fit(batches(), epochs=2)
    assert together[0].log == together[1].log == alone[0].log
    assert len(alone[0].log) > 20


class Whole(Listener):
    def __init__(self, log):
        self.log = log

    def on_fit_end(self, model):
        self.log.append("fit_end")

    def on_numeric_error(self, model, error):
        self.log.append(type(error).__name__)


def test_several_as_one_hear_of_the_end():
    log, net = [], network()
    net.set_listeners(ComposableIterationListener([Whole(log), Whole(log)]))
    net.fit(batches())
    net.fit(FEATURES, LABELS)
    with pytest.raises(nd.NumericError, match="score must be finite"):
        net.fit(FEATURES * np.nan, LABELS)
    assert log == ["fit_end"] * 4 + ["NumericError"] * 2


def test_several_want_what_one_of_them_wants():
    bare = ComposableIterationListener(Listener(), Whole([]))
    assert not bare.wants("on_forward_pass", 3)
    assert ComposableIterationListener(Listener(), Recorder()).wants("on_forward_pass", 3)


def test_only_listeners_can_be_joined():
    with pytest.raises(nd.DTypeError, match=r"expected instances of optimize\.Listener, got 3"):
        ComposableIterationListener(3)


# ---- EvaluativeListener


@pytest.mark.parametrize(
    ("invocation_type", "frequency", "at"),
    [
        ("iteration_end", 1, [1, 2, 3, 4, 5, 6]),
        ("ITERATION_END", 4, [1, 5]),
        ("epoch_start", 1, [0, 3]),
        ("epoch_end", 1, [3, 6]),
        ("epoch_end", 2, [3]),
        ("fit_end", 1, [6]),
    ],
)
def test_evaluations_come_when_asked_for(invocation_type, frequency, at):
    seen, net = [], network()
    other = ListDataSetIterator(DataSet(FEATURES[:7], LABELS[:7]), 3)

    def callback(listener, model, invocations, evaluations):
        expected = model.evaluate(DataSet(FEATURES[:7], LABELS[:7]))
        assert evaluations[0].accuracy() == expected.accuracy()
        assert evaluations is listener.evaluations
        seen.append((model.iteration_count, evaluations[0].num_row_counter, invocations))

    net.set_listeners(EvaluativeListener(other, frequency, invocation_type, callback=callback))
    net.fit(batches(), epochs=2)
    assert seen == [(count, 7, frequency * n + 1) for n, count in enumerate(at)]


def test_evaluating_changes_no_training():
    plain, watched = network(), network()
    plain.fit(batches(), epochs=2)
    watched.set_listeners(EvaluativeListener(DataSet(FEATURES, LABELS), 1, "iteration_end", callback=lambda *_: None))
    watched.fit(batches(), epochs=2)
    np.testing.assert_array_equal(nd.to_host(watched.params()), nd.to_host(plain.params()))


def test_evaluations_are_printed(capsys):
    net = network()
    net.set_listeners(EvaluativeListener([DataSet(FEATURES, LABELS)], evaluations=[Evaluation, lambda: Evaluation(2)]))
    net.fit(batches())
    printed = capsys.readouterr().out
    assert printed.count("Evaluation after 3 iterations:\n") == printed.count("# of classes:    2") == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [([], "at least one minibatch, got none"), ([DataSet(FEATURES)], "needs labels to be compared with")],
)
def test_data_that_cannot_be_evaluated_on(data, message):
    net = network()
    net.set_listeners(EvaluativeListener(data))
    with pytest.raises(nd.DataError, match=f"EvaluativeListener: .*{message}"):
        net.fit(batches())


def test_settings_of_evaluations():
    with pytest.raises(nd.ConfigurationError, match="EvaluativeListener: frequency must be an integer >= 1 or None"):
        EvaluativeListener([], 0)
    with pytest.raises(nd.ChoiceError, match=r"invocation_type 'epoch_ends'.*Did you mean 'epoch_end'\?"):
        EvaluativeListener([], 1, "epoch_ends")


# ---- TimeIterationListener


def test_time_left(monkeypatch, capsys):
    clock = [50.0]
    monkeypatch.setattr(time_left.time, "monotonic", lambda: clock[0])
    listener = TimeIterationListener(100, frequency=2)
    for iteration in range(40, 45):  # as after a checkpoint
        clock[0] += 90.0 if iteration == 40 else 2.0
        listener.iteration_done(SimpleNamespace(), iteration, 0)
    assert listener.remaining_seconds == 55 * 2.0
    before = datetime.datetime.now()
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("iteration 43 of 100; remaining time: 0:01:54; end expected: ")
    end = datetime.datetime.strptime(second.rpartition("expected: ")[2], "%Y-%m-%d %H:%M:%S")
    assert second.startswith("iteration 45 of 100; remaining time: 0:01:50; ")
    assert abs((end - before).total_seconds() - 110) < 10


def test_more_iterations_than_announced(monkeypatch):
    listener = TimeIterationListener(3, frequency=1)
    for iteration in range(6):
        listener.iteration_done(SimpleNamespace(), iteration, 0)
    assert listener.remaining_seconds == 0.0


@pytest.mark.parametrize(("settings", "name"), [((0,), "total_iterations"), ((5, 0), "frequency")])
def test_settings_of_the_clock(settings, name):
    with pytest.raises(nd.ConfigurationError, match=f"TimeIterationListener: {name} must be an integer >= 1, got 0"):
        TimeIterationListener(*settings)


# ---- NanListener

OVERFLOWS = pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered:RuntimeWarning")


def deep(updater=None, **settings):
    conf = NeuralNetConfiguration(seed=2, updater=updater or Sgd(0.1), activation="identity", **settings).list(
        DenseLayer(n_in=3, n_out=4, name="first"),
        DenseLayer(n_in=4, n_out=4, activation="relu"),
        OutputLayer(n_in=4, n_out=2, loss="mse", activation="identity"),
    )
    return MultiLayerNetwork(conf).init()


def caught(net, *data, epochs=1):
    """Return what fit says with a NanListener, while parameters stay as they were."""
    net.set_listeners(NanListener())
    before = np.array(nd.to_host(net.params()))
    with pytest.raises(nd.NumericError, match=r"^NanListener: ") as found:
        net.fit(*data, epochs=epochs)
    assert isinstance(found.value.__cause__, nd.NumericError)
    return str(found.value), before


@OVERFLOWS
def test_features_that_are_not_finite(backend):
    bad = FEATURES.copy()
    bad[2, 1], bad[3, 0] = np.nan, np.inf
    net = deep()
    message, before = caught(net, bad, LABELS)
    assert (
        "minibatch: features must be finite, got 1 NaN and 1 infinite of 36 numbers at iteration 0, epoch 0. "
        in message
    )
    assert "Clean the data" in message
    np.testing.assert_array_equal(nd.to_host(net.params()), before)


@OVERFLOWS
def test_labels_that_are_not_finite():
    bad = LABELS.copy()
    bad[0, 0] = np.nan
    message, _ = caught(deep(), FEATURES, bad)
    assert "minibatch: labels must be finite, got 1 NaN and 0 infinite of 24 numbers at iteration 0" in message


@OVERFLOWS
def test_parameters_that_are_not_finite():
    net = deep()
    nd.fill(net.get_param("1_b"), float("nan"))
    message, _ = caught(net, FEATURES, LABELS)
    assert "layer 1 (DenseLayer): parameter 1_b must be finite, got 4 NaN and 0 infinite of 4 numbers" in message
    assert "Load a checkpoint from before" in message


@OVERFLOWS
def test_the_first_layer_whose_activations_are_not_finite():
    net = deep()
    nd.fill(net.get_param("1_W"), 1e25)
    nd.fill(net.get_param("0_W"), 1e25)
    message, _ = caught(net, np.abs(FEATURES) + 1.0, LABELS)
    assert re.search(r"layer 1 \(DenseLayer\): activations must be finite, got 0 NaN and 48 infinite of 48", message)
    assert "Lower the learning rate" in message


@OVERFLOWS
def test_gradients_that_are_not_finite():
    """Finite activations; the delta goes back through weights that make it infinite."""
    net = deep(dtype="float32")
    nd.fill(net.get_param("2_W"), 1e18)
    nd.fill(net.get_param("1_W"), 1e18)
    nd.fill(net.get_param("0_W"), 1e-36)
    nd.fill(net.get_param("0_b"), 1e-36)
    message, _ = caught(net, np.abs(FEATURES) * 10, LABELS * 1e5)
    assert re.search(
        r"layer 0 'first' \(DenseLayer\): gradient of 0_W must be finite, got \d+ NaN and \d+ infi", message
    )


@OVERFLOWS
def test_a_rate_that_is_too_high_is_found_at_its_iteration(backend):
    net = deep(Nesterovs(learning_rate=1e8))
    message, _ = caught(net, FEATURES, LABELS, epochs=50)
    assert net.iteration_count > 0
    assert f"at iteration {net.iteration_count}, epoch 0" in message
    assert np.isfinite(nd.to_host(net.params())).all()


def test_what_is_gone_by_the_time_one_looks():
    net = deep()
    net.set_input(FEATURES)
    net.set_labels(LABELS)
    net.compute_gradient_and_score()
    with pytest.raises(nd.NumericError, match=r"got only finite numbers for the minibatch .*frequency=1"):
        NanListener().on_numeric_error(net, nd.NumericError("fit: the score"))


@pytest.mark.parametrize(("frequency", "asked"), [(None, 0), (1, 6), (4, 2)])
def test_how_often_the_score_is_asked_for(frequency, asked):
    listener, calls = NanListener(frequency), []
    for iteration in range(6):
        listener.iteration_done(SimpleNamespace(score=lambda: calls.append(1)), iteration, 0)
    assert len(calls) == asked


def test_settings_of_the_nan_listener():
    with pytest.raises(nd.ConfigurationError, match="NanListener: frequency must be an integer >= 1 or None, got 0"):
        NanListener(0)
