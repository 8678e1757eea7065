"""Optimizers and schedules of Keras against its formulas in float64."""

import math

import numpy as np
import pytest

import nd
from nn.keras.terms.optimizers import keras_of, keras_rate_of, optimizer_of, schedule_of
from optimize import WeightDecay
from optimize.schedules import ExponentialSchedule, MapSchedule, RampSchedule
from optimize.updaters import AdaDelta, AdaGrad, Adam, AdaMax, AMSGrad, Nadam, Nesterovs, NoOp, RmsProp, Sgd

RNG = np.random.default_rng(29)
GRADIENTS = RNG.normal(size=(4, 6))


def of(name, **config):
    return {"module": "keras.optimizers", "class_name": name, "config": {"learning_rate": 0.01, **config}}


def steps_of(updater):
    """The updates of four steps."""
    states = [nd.create(np.full(6, start)) for start in updater.initial_state]
    made = []
    for iteration, gradient in enumerate(GRADIENTS):
        given = nd.create(gradient.copy())
        updater.apply(given, tuple(states), nd.zeros(6, dtype="float64"), updater.coefficients(iteration, 0))
        made.append(nd.to_host(given).copy())
    return np.array(made)


def sgd(momentum):
    v, made = 0.0, []
    for g in GRADIENTS:
        v = momentum * v - 0.01 * g
        made.append(-(momentum * v - 0.01 * g) if momentum else -v)
    return np.array(made)


def adam(amsgrad=False):
    m = v = most = 0.0
    made = []
    for t, g in enumerate(GRADIENTS, 1):
        m, v = m + (g - m) * 0.1, v + (g**2 - v) * 0.001
        most = np.maximum(most, v)
        rate = 0.01 * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        made.append(m * rate / (np.sqrt(most if amsgrad else v) + 1e-7))
    return np.array(made)


def adadelta():
    s = d = 0.0
    made = []
    for g in GRADIENTS:
        s = 0.95 * s + 0.05 * g**2
        step = np.sqrt(d + 1e-7) * g / np.sqrt(s + 1e-7)
        d = 0.95 * d + 0.05 * step**2
        made.append(step)
    return np.array(made)


@pytest.mark.parametrize(("given", "expected"), [
    (of("SGD"), sgd(0.0)),
    (of("SGD", momentum=0.9, nesterov=True), sgd(0.9)),
    (of("Adam"), adam()),
    (of("AdamW", weight_decay=0.0), adam()),
    (of("Adam", amsgrad=True), adam(True)),
    (of("Adadelta", learning_rate=1.0), adadelta()),
    ({"class_name": "SGD", "config": {"lr": 0.009999999776482582, "decay": 0.0}}, sgd(0.0)),
])  # fmt: skip
def test_steps_are_those_of_keras(given, expected):
    updater, settings, warnings = optimizer_of(given)
    assert (settings, warnings) == ({}, ())
    np.testing.assert_allclose(steps_of(updater), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("given", "updater", "why"), [
    (of("SGD", momentum=0.9), Nesterovs(0.01, 0.9), "SGD: its momentum is Nesterov's here"),
    (of("RMSprop"), RmsProp(0.01, 0.9, 1e-7), "epsilon is added to the root"),
    (of("RMSprop", centered=True), RmsProp(0.01, 0.9, 1e-7), "centered=True is left out"),
    (of("Adagrad", initial_accumulator_value=0.1), AdaGrad(0.01, 1e-7), "the sum of squares starts at 1e-6"),
    (of("Adadelta"), AdaDelta(0.95, 1e-7), "its learning rate is 1 here"),
    (of("Adamax"), AdaMax(0.01, epsilon=1e-7), "its epsilon is not added"),
    (of("Nadam"), Adam(0.01, epsilon=1e-7), "it is Adam here"),
    (of("Adam", global_clipnorm=1.0), Adam(0.01, epsilon=1e-7), "global_clipnorm=1.0 is left out"),
    (of("Adam", use_ema=True), Adam(0.01, epsilon=1e-7), "use_ema=True is left out"),
    (of("Lion"), None, "optimizer Lion"),
    (of("SGD", momentum="much"), None, "optimizer {"),
    (of("SGD", learning_rate=-1), None, "optimizer {"),
    (of("SGD", learning_rate="fast"), Sgd(0.01), "learning rate 'fast': 0.01 is taken"),
])  # fmt: skip
def test_what_differs_is_said(given, updater, why):
    found = optimizer_of(given)
    assert found.updater == updater
    assert any(why in warning for warning in found.warnings)


def test_names_alone():
    assert optimizer_of("adam").updater == Adam(0.001, epsilon=1e-7)
    assert optimizer_of("sgd").updater == Sgd(0.01)
    assert optimizer_of({"class_name": "Custom>Adam", "config": {}}).updater == Adam(0.001, epsilon=1e-7)


def test_decay_of_weights_and_clipping_are_settings_of_the_network():
    decay = WeightDecay(0.004)
    assert optimizer_of(of("AdamW")).settings == {"weight_decay": decay, "weight_decay_bias": decay}
    assert optimizer_of(of("SGD", clipnorm=2.0)).settings == {
        "gradient_normalization": "clip_l2_per_param_type", "gradient_normalization_threshold": 2.0,
    }  # fmt: skip
    assert optimizer_of(of("SGD", clipvalue=0.5)).settings["gradient_normalization"].startswith("clip_element_wise")


SCHEDULES = {
    "ExponentialDecay": ({"decay_steps": 3, "decay_rate": 0.5, "staircase": False}, lambda t: 0.1 * 0.5 ** (t / 3)),
    "ExponentialDecay ": ({"decay_steps": 3, "decay_rate": 0.5, "staircase": True}, lambda t: 0.1 * 0.5 ** (t // 3)),
    "InverseTimeDecay": ({"decay_steps": 3, "decay_rate": 0.5}, lambda t: 0.1 / (1 + 0.5 * t / 3)),
    "PolynomialDecay": (
        {"decay_steps": 6, "end_learning_rate": 0.0, "power": 2.0}, lambda t: 0.1 * (1 - min(t, 6) / 6) ** 2,
    ),
    "CosineDecay": (
        {"decay_steps": 6, "alpha": 0.1},
        lambda t: 0.1 * (0.9 * (1 + math.cos(math.pi * min(t, 6) / 6)) / 2 + 0.1),
    ),
    "PiecewiseConstantDecay": (
        {"boundaries": [2, 5], "values": [0.1, 0.05, 0.01]}, lambda t: 0.1 if t <= 2 else 0.05 if t <= 5 else 0.01,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name):
    config, formula = SCHEDULES[name]
    given = {"class_name": name.strip(), "config": {"initial_learning_rate": 0.1, **config}}
    rates = [formula(t) for t in range(9)]
    schedule = schedule_of(given)
    assert [schedule.value_at(t, 0) for t in range(9)] == pytest.approx(rates)
    assert optimizer_of(of("SGD", learning_rate=given)).updater == Sgd(schedule)
    again = schedule_of(keras_rate_of(schedule))
    assert [again.value_at(t, 0) for t in range(9)] == pytest.approx(rates)


def test_decay_of_keras_1():
    rate = optimizer_of({"class_name": "SGD", "config": {"lr": 0.1, "decay": 0.5}}).updater.learning_rate
    assert [rate.value_at(t, 0) for t in range(3)] == pytest.approx([0.1, 0.1 / 1.5, 0.05])


@pytest.mark.parametrize("config", [
    {"initial_learning_rate": 0.1, "decay_steps": 3}, {"initial_learning_rate": 0.1},
    {"decay_steps": 3, "decay_rate": 0.1},
])  # fmt: skip
@pytest.mark.parametrize("name", ["CosineDecayRestarts", "PolynomialDecay", "ExponentialDecay"])
def test_a_schedule_that_nothing_says_is_a_constant(name, config):
    found = optimizer_of(of("SGD", learning_rate={"class_name": name, "config": config}))
    assert found.updater == Sgd(config.get("initial_learning_rate", 0.01))
    assert f"learning rate schedule {name}: the rate stays" in found.warnings[0]


@pytest.mark.parametrize("updater", [
    Sgd(0.1), Nesterovs(0.1, 0.8), Adam(0.01, 0.8, 0.99, 1e-6), AMSGrad(0.01), RmsProp(0.01, 0.8, 1e-6),
    AdaGrad(0.1, 1e-6), AdaDelta(0.9, 1e-6), AdaMax(0.01), Sgd(ExponentialSchedule("iteration", 0.1, 0.9)),
])  # fmt: skip
def test_the_way_back(updater):
    found = optimizer_of(keras_of(updater)).updater
    assert found == updater


def test_what_keras_has_not_on_the_way_back():
    assert keras_of(NoOp()) is None
    assert keras_of(Nadam())["class_name"] == "Nadam"
    assert keras_of(Adam(), 0.1)["config"]["weight_decay"] == 0.1
    assert keras_rate_of(RampSchedule(0.1, 10)) == pytest.approx(0.01)
    assert keras_rate_of(MapSchedule("epoch", {0: 0.1, 3: 0.01})) == 0.1
