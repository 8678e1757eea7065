"""Recurrent layers of Keras against its formulas in float64."""

import itertools

import numpy as np
import pytest

from nd import ConfigurationError
from nn import LSTM, Bidirectional, ComputationGraph, LastTimeStep, MultiLayerNetwork
from nn.keras.into.recognition import network_of
from nn.keras.model import KerasLayer
from nn.terms.dropout import SpatialDropout
from tests.keras_models import call, check, functional, layer, sequential
from tests.keras_recurrent import run, weights_of

RNG = np.random.default_rng(7)
X = RNG.normal(size=(3, 5, 2))
KINDS = ["SimpleRNN", "LSTM", "GRU"]
MERGES = {
    "ave": lambda a, b: (a + b) / 2,
    "concat": lambda a, b: np.concatenate([a, b], -1),
    "mul": lambda a, b: a * b,
    "sum": lambda a, b: a + b,
}


def recurrent(kind, n_in=2, **config):
    """A layer and its weights."""
    settings = {"units": 3, "use_bias": True, "unroll": False, "seed": None, **config}
    if kind == "GRU":
        settings.setdefault("reset_after", True)
    weights = weights_of(RNG, kind, n_in, 3, settings["use_bias"], settings.get("reset_after", True))
    return layer(kind, settings, **weights), weights


@pytest.mark.parametrize(("kind", "steps", "back"), [*itertools.product(KINDS, [True, False], [True, False])])
def test_a_direction(kind, steps, back):
    config = {"return_sequences": steps, "go_backwards": back}
    made, weights = recurrent(kind, **config)
    check(sequential((5, 2), made), [X], run(kind, X, weights, config))


@pytest.mark.parametrize("config", [
    {"activation": "softsign", "recurrent_activation": "hard_sigmoid"},
    {"activation": "relu", "use_bias": False, "unit_forget_bias": True},
    {"activation": "linear", "recurrent_activation": "sigmoid"},
])  # fmt: skip
@pytest.mark.parametrize("kind", KINDS)
def test_activations_and_biases(kind, config):
    foreign = {"SimpleRNN": {"recurrent_activation", "unit_forget_bias"}, "GRU": {"unit_forget_bias"}}.get(kind, ())
    config = {key: value for key, value in config.items() if key not in foreign}
    made, weights = recurrent(kind, **config)
    check(sequential((5, 2), made), [X], run(kind, X, weights, config))


def test_the_hard_sigmoid_is_that_of_the_version():
    config = {"recurrent_activation": "hard_sigmoid", "activation": "tanh"}
    made, weights = recurrent("LSTM", **config)
    old = network_of(sequential((5, 2), made, version=2)).output(X)
    assert abs(old - run("LSTM", X, weights, config)).max() > 1e-3


def test_gru_that_resets_before_the_product():
    config = {"reset_after": False, "recurrent_activation": "hard_sigmoid", "return_sequences": True}
    made, weights = recurrent("GRU", **config)
    check(sequential((5, 2), made), [X], run("GRU", X, weights, config))


def both(kind, mode, steps, **config):
    """A Bidirectional and what it gives."""
    config = {"return_sequences": steps, **config}
    (ahead, first), (back, second) = (recurrent(kind, **config) for _ in range(2))
    inner = {"class_name": kind, "config": ahead.config}
    made = KerasLayer("Bidirectional", "both", {"layer": inner, "merge_mode": mode}, ahead.weights + back.weights)

    def expected(x, mask=None):
        b = run(kind, x, second, {**config, "go_backwards": True}, mask)
        return MERGES[mode](run(kind, x, first, config, mask), b[:, ::-1] if steps else b)

    return made, expected


@pytest.mark.parametrize("mode", MERGES)
@pytest.mark.parametrize("steps", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.quick_rows(every=3)
def test_both_directions(kind, steps, mode):
    made, expected = both(kind, mode, steps)
    check(sequential((5, 2), made), [X], expected(X))


def test_both_directions_are_one_layer():
    net = network_of(sequential((5, 2), both("LSTM", "sum", False)[0]))
    assert isinstance(net, MultiLayerNetwork)
    assert isinstance(net.conf.layers[0], Bidirectional)
    assert isinstance(net.conf.layers[0].layer, LastTimeStep)


def test_directions_that_differ_are_two_layers():
    (ahead, first), (back, second) = recurrent("LSTM"), recurrent("LSTM", activation="relu", go_backwards=True)
    config = {
        "layer": {"class_name": "LSTM", "config": ahead.config},
        "backward_layer": {"class_name": "LSTM", "config": back.config},
    }
    made = KerasLayer("Bidirectional", "both", config, ahead.weights + back.weights)
    net = network_of(sequential((5, 2), made))
    assert isinstance(net, ComputationGraph)
    joined = np.concatenate([run("LSTM", X, first, {}), run("LSTM", X, second, back.config)], -1)
    check(sequential((5, 2), made), [X], joined)


def test_a_layer_around_a_cell():
    made, weights = recurrent("LSTM", return_sequences=True)
    cell = {"class_name": "LSTMCell", "config": {key: made.config[key] for key in ("units", "use_bias")}}
    around = KerasLayer("RNN", "rnn", {"cell": cell, "return_sequences": True}, made.weights)
    check(sequential((5, 2), around), [X], run("LSTM", X, weights, {"return_sequences": True}))


def test_series_of_open_length_and_several_layers():
    (first, a), (second, b) = recurrent("LSTM", return_sequences=True), recurrent("SimpleRNN", 3)
    expected = run("SimpleRNN", run("LSTM", X, a, {"return_sequences": True}), b, {})
    check(sequential((None, 2), first, second), [X], expected)


def test_what_is_for_training_is_taken_over(caplog):
    made, _ = recurrent(
        "LSTM", dropout=0.25, recurrent_dropout=0.5, stateful=True, unit_forget_bias=True,
        kernel_regularizer={"class_name": "L2", "config": {"l2": 0.5}},
        recurrent_initializer={"class_name": "Orthogonal", "config": {"gain": 1.0}},
    )  # fmt: skip
    conf = network_of(sequential((5, 2), made)).conf.layers[0].layer
    assert isinstance(conf, LSTM)
    assert conf.drop_out == SpatialDropout(rate=0.25)
    assert (conf.l2, conf.forget_gate_bias_init) == (1.0, 1.0)
    for what in ("recurrent_dropout is left out", "every minibatch begins anew", "hold for the recurrent weights too"):
        assert what in caplog.text


@pytest.mark.parametrize(("kind", "config", "why"), [
    ("LSTM", {"activation": "softmax"}, "activation='softmax'"),
    ("LSTM", {"time_major": True}, "time_major=True"),
    ("LSTM", {"peephole": True}, "peephole"),
    ("GRU", {"activation": "gelu"}, "ONNX's has no activation='gelu'"),
    ("GRU", {"dropout": 0.5}, "ONNX's has no dropout"),
])  # fmt: skip
def test_what_nothing_says_is_refused(kind, config, why):
    with pytest.raises(ConfigurationError, match=why):
        network_of(sequential((5, 2), recurrent(kind, **config)[0]))


def test_stacked_cells_and_other_layers_are_refused():
    cell = {"class_name": "StackedRNNCells", "config": {}}
    with pytest.raises(ConfigurationError, match=r"RNN\): the cell StackedRNNCells"):
        network_of(sequential((5, 2), KerasLayer("RNN", "rnn", {"cell": cell}, ())))
    inner = {"class_name": "ConvLSTM2D", "config": {}}
    with pytest.raises(ConfigurationError, match="the layer ConvLSTM2D"):
        network_of(sequential((5, 2), KerasLayer("Bidirectional", "both", {"layer": inner}, ())))
    with pytest.raises(ConfigurationError, match="merge_mode='max'"):
        network_of(sequential((5, 2), KerasLayer("Bidirectional", "both", {"layer": inner, "merge_mode": "max"}, ())))
    with pytest.raises(ConfigurationError, match=r"ConvLSTM2D\): Deeplearning4j has no ConvLSTM"):
        network_of(sequential((5, 2), layer("ConvLSTM2D")))


def test_an_initial_state_is_refused():
    made, _ = recurrent("LSTM")
    with pytest.raises(ConfigurationError, match="it is called with initial_state"):
        network_of(functional({"x": (5, 2), "h": (3,)}, call(made, "x", initial_state=["h", "h"])))


@pytest.mark.parametrize("steps", [True, False])
def test_both_directions_apart(steps):
    config = {"return_sequences": steps}
    (ahead, first), (back, second) = recurrent("LSTM", **config), recurrent("LSTM", **config)
    settings = {"layer": {"class_name": "LSTM", "config": ahead.config}, "merge_mode": None}
    made = KerasLayer("Bidirectional", "both", settings, ahead.weights + back.weights)
    b = run("LSTM", X, second, {**config, "go_backwards": True})
    model = functional({"x": (5, 2)}, call(made, "x"), outputs=["both", "both:1"])
    check(model, [X], run("LSTM", X, first, config), b[:, ::-1] if steps else b)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [True, False])
def test_the_state_is_what_the_last_step_gives(kind, steps):
    made, weights = recurrent(kind, return_sequences=steps, return_state=True, go_backwards=True)
    model = functional({"x": (5, 2)}, call(made, "x", name="r"), call(layer("ReLU"), "r:1"), outputs=["r", "relu"])
    config = {"go_backwards": True}
    state = run(kind, X, weights, config)
    check(model, [X], run(kind, X, weights, config | {"return_sequences": steps}), np.maximum(state, 0))


@pytest.mark.parametrize("outputs", [["lstm", "lstm:2"], ["relu"]])
def test_the_memory_of_an_lstm_is_refused(outputs):
    made, _ = recurrent("LSTM", return_state=True)
    model = functional({"x": (5, 2)}, call(made, "x"), call(layer("ReLU"), "lstm:2"), outputs=outputs)
    with pytest.raises(ConfigurationError, match="'lstm': its output 2, which nothing here is like, is read"):
        network_of(model)
