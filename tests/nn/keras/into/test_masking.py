"""Masks of Keras against formulas that go step by step."""

import numpy as np
import pytest

import nd
from nd import ConfigurationError
from nn.dl4j import GradientCheckUtil
from nn.keras.into.recognition import network_of
from nn.keras.model import KerasCall, KerasLayer
from tests.keras_models import call, check, functional, layer, sequential
from tests.keras_recurrent import run
from tests.nn.keras.into.test_recurrent import KINDS, both, recurrent

RNG = np.random.default_rng(17)
MASK = np.array([[1, 1, 1, 0, 0], [0, 1, 0, 1, 1], [0, 0, 0, 0, 0], [1, 0, 0, 0, 1]])
X = RNG.normal(size=(4, 5, 2)) * MASK[:, :, None]
MASKING = layer("Masking", {"mask_value": 0.0})


@pytest.mark.parametrize("config", [
    {}, {"go_backwards": True}, {"return_sequences": True}, {"return_sequences": True, "go_backwards": True},
    {"return_sequences": True, "zero_output_for_mask": True}, {"zero_output_for_mask": True},
])  # fmt: skip
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.quick_rows(every=3)
def test_a_step_that_does_not_count_repeats_the_one_before(kind, config):
    made, weights = recurrent(kind, **config)
    check(sequential((5, 2), MASKING, made), [X], run(kind, X, weights, config, MASK))


@pytest.mark.parametrize("mode", ["concat", "mul"])
@pytest.mark.parametrize("steps", [True, False])
def test_both_directions(steps, mode):
    made, expected = both("LSTM", mode, steps)
    check(sequential((5, 2), MASKING, made), [X], expected(X, MASK))


def test_the_mask_goes_on_to_the_next_layer():
    (first, a), (second, b) = recurrent("LSTM", return_sequences=True), recurrent("SimpleRNN", 3)
    noise = layer("Dropout", {"rate": 0.5})
    series = run("LSTM", X, a, {"return_sequences": True}, MASK)
    for shape in ((5, 2), (None, 2)):
        check(sequential(shape, MASKING, first, noise, second), [X], run("SimpleRNN", series, b, {}, MASK))


def test_it_ends_at_a_layer_that_has_none():
    made, weights = recurrent("SimpleRNN")
    pad = layer("ZeroPadding1D", {"padding": 1})
    padded = np.pad(X, [(0, 0), (1, 1), (0, 0)])
    check(sequential((5, 2), MASKING, pad, made), [X], run("SimpleRNN", padded, weights, {}))


def test_another_value_than_0_counts_as_0():
    x = np.where(MASK[:, :, None] > 0, RNG.normal(size=X.shape), 7.0)
    made, weights = recurrent("LSTM", return_sequences=True)
    masking = layer("Masking", {"mask_value": 7.0})
    check(sequential((5, 2), masking), [x], np.where(x == 7, 0, x))
    check(sequential((5, 2), masking, made), [x], run("LSTM", x, weights, {"return_sequences": True}, MASK))


def test_numbers_of_an_embedding():
    numbers, table = RNG.integers(1, 6, size=(4, 5)) * MASK, RNG.normal(size=(6, 2))
    embedding = layer("Embedding", {"input_dim": 6, "output_dim": 2, "mask_zero": True}, embeddings=table)
    made, weights = recurrent("LSTM")
    for shape in ((5,), (None,)):
        model = sequential(shape, embedding, made)
        check(model, [numbers.astype("float64")], run("LSTM", table[numbers], weights, {}, MASK))


def test_an_average_is_of_the_steps_that_count():
    average = layer("GlobalAveragePooling1D", {"keepdims": False})
    counts = [0, 1, 3]
    expected = X[counts].sum(1) / MASK[counts].sum(1, keepdims=True)
    check(sequential((5, 2), MASKING, average), [X[counts]], expected)


@pytest.mark.parametrize("lead", ["", "keras.ops."])
def test_the_operations_that_keras_3_writes_down(lead):
    made, weights = recurrent("SimpleRNN", return_sequences=True)
    equal = KerasCall("equal", KerasLayer(f"{lead}NotEqual", "equal", {}, ()), ("x",), {"args": [0.0]})
    any_of = KerasCall("any", KerasLayer(f"{lead}Any", "any", {}, ()), ("equal",), {})
    model = functional({"x": (5, 2)}, equal, call(MASKING, "x"), any_of, call(made, "masking", mask="any"))
    check(model, [X], run("SimpleRNN", X, weights, {"return_sequences": True}, MASK))


def test_masks_of_several_inputs_hold_together():
    made, weights = recurrent("SimpleRNN")
    other = layer("Masking", {"mask_value": 3.0}, name="other")
    y = np.where(MASK[::-1, :, None] > 0, RNG.normal(size=X.shape), 3.0)
    model = functional({"x": (5, 2), "y": (5, 2)}, call(MASKING, "x"), call(other, "y"),
                       call(layer("Add"), "masking", "other"), call(made, "add"))  # fmt: skip
    check(model, [X, y], run("SimpleRNN", X + np.where(y == 3, 0, y), weights, {}, MASK * MASK[::-1]))


def test_the_gradient_is_that_of_the_score():
    made, _ = recurrent("SimpleRNN", return_sequences=True, use_bias=False)
    net = network_of(sequential((5, 2), MASKING, made, recurrent("SimpleRNN", 3)[0]))
    assert GradientCheckUtil.checkGradients(net, 1e-6, 1e-5, 1e-8, False, False, X, RNG.normal(size=(4, 3)))


def test_what_nothing_says_is_refused():
    with pytest.raises(ConfigurationError, match=r"Masking\): an input of shape \(5,\)"):
        network_of(sequential((5,), MASKING))
    attention = layer("Attention")
    with pytest.raises(ConfigurationError, match=r"Attention\): "):
        network_of(sequential((5, 2), MASKING, attention))
    equal = KerasCall("equal", KerasLayer("NotEqual", "equal", {}, ()), ("x",), {"args": ["y"]})
    with pytest.raises(ConfigurationError, match=r"a comparison with \['y'\]"):
        network_of(functional({"x": (5, 2), "y": (5, 2)}, equal))


def test_nothing_is_left_of_masks_that_nobody_needs():
    dense = layer("Dense", {"units": 2, "use_bias": False}, kernel=np.eye(2))
    net = network_of(sequential((5, 2), MASKING, dense))
    assert len(net.conf.layers) == 1
    np.testing.assert_array_equal(nd.to_host(net.output(X)), X)
