"""Caffe's policies for the learning rate."""

import copy
import math
import pickle

import numpy as np
import pytest

import nd
from nn.caffe import parse_text
from nn.caffe.solving.rates import POLICIES, PolicyRate
from optimize import Schedule
from tests.cells import every_row

SETTINGS = {
    "exp": 'lr_policy: "exp" base_lr: 0.1 gamma: 0.99',
    "fixed": 'lr_policy: "fixed" base_lr: 0.1',
    "inv": 'lr_policy: "inv" base_lr: 0.01 gamma: 0.0001 power: 0.75',
    "multistep": 'lr_policy: "multistep" base_lr: 0.1 gamma: 0.1 stepvalue: 5 stepvalue: 8 stepvalue: 30',
    "poly": 'lr_policy: "poly" base_lr: 0.1 power: 1.5 max_iter: 60',
    "sigmoid": 'lr_policy: "sigmoid" base_lr: 0.1 gamma: 0.3 stepsize: 20',
    "step": 'lr_policy: "step" base_lr: 0.1 gamma: 0.1 stepsize: 7',
}
F = np.float32


def rate(text, lr_mult=1.0):
    return PolicyRate.of(parse_text(text, "SolverParameter"), lr_mult)


def in_numpy(policy, count):
    """The rates of iterations 0 .. count - 1, of the numbers in SETTINGS, with a counter for multistep as Caffe has."""
    i = np.arange(count, dtype=np.float64)
    if policy == "multistep":
        step, steps, stops = 0, [], [5, 8, 30]
        for iteration in range(count):
            step += step < 3 and iteration >= stops[step]
            steps.append(step)
        return F(0.1) * F(0.1).astype("float64") ** np.array(steps)
    return {
        "exp": F(0.1) * np.exp(i * np.log(float(F(0.99)))),
        "fixed": F(0.1) * np.ones(count),
        "inv": F(0.01) / np.exp(float(F(0.75)) * np.log1p(float(F(0.0001)) * i)),
        "poly": F(0.1) * np.sqrt(np.maximum(60 - i, 0) / 60) ** 3,
        "sigmoid": F(0.1) * 0.5 * (1 + np.tanh(0.5 * float(F(0.3)) * (i - 20))),
        "step": F(0.1) * F(0.1).astype("float64") ** np.floor(i / 7),
    }[policy]


def test_every_policy_has_its_settings():
    assert sorted(POLICIES) == list(POLICIES) == sorted(SETTINGS)


@every_row("policy", sorted(SETTINGS))
def test_rates(policy):
    expected = in_numpy(policy, 61)
    for iteration in range(61):
        got = rate(SETTINGS[policy]).value_at(iteration, epoch=iteration % 5)
        assert got == float(F(got))  # a number of single precision
        np.testing.assert_allclose(got, expected[iteration], rtol=2e-7)
        twice = rate(SETTINGS[policy], lr_mult=0.3).value_at(iteration)
        assert twice == float(F(got * 0.3))
        assert rate(SETTINGS[policy], lr_mult=0.0).value_at(iteration) == 0.0


def test_lenet():
    """By hand: 0.01 * (1 + 0.0001 * 10000)^-0.75, as Caffe's log of LeNet says for iteration 10,000."""
    assert f"{rate(SETTINGS['inv']).value_at(10_000):g}" == "0.00594604"
    assert f"{rate(SETTINGS['inv']).value_at(100):g}" == "0.00992565"


def test_steps():
    multistep = rate(SETTINGS["multistep"])
    assert [multistep.current_step(i) for i in (-1, 0, 4, 5, 7, 8, 29, 30, 1000)] == [0, 0, 0, 1, 1, 2, 2, 3, 3]
    assert [rate(SETTINGS["step"]).current_step(i) for i in (-1, 0, 6, 7, 14)] == [0, 0, 0, 1, 2]
    assert rate(SETTINGS["poly"]).current_step(30) == 0


@every_row(
    ("stepvalue", "steps"),
    [((), [0] * 6), ((0,), [1] * 6), ((2, 2), [0, 0, 1, 2, 2, 2]), ((3, 1), [0, 0, 0, 1, 2, 2])],
)
def test_one_step_is_counted_in_an_iteration_at_most(stepvalue, steps):
    multistep = PolicyRate("multistep", 1.0, gamma=0.5, stepvalue=list(stepvalue))
    assert [multistep.current_step(i) for i in range(6)] == steps
    assert [multistep.value_at(i) for i in range(6)] == [0.5**step for step in steps]


def test_what_is_too_large_for_a_float():
    assert PolicyRate("exp", 1.0, gamma=2.0).value_at(200) == math.inf
    assert PolicyRate("exp", 1.0, gamma=10.0).value_at(4000) == math.inf
    assert PolicyRate("poly", 1.0, power=-1.0, max_iter=4).value_at(4) == math.inf
    assert PolicyRate("sigmoid", 1.0, gamma=10.0, stepsize=1000).value_at(0) == 0.0


def test_poly_behind_its_end():
    assert PolicyRate("poly", 1.0, power=2.0, max_iter=4).value_at(6) == 0.25
    with pytest.raises(nd.ConfigurationError, match=r"at most max_iter 4 with lr_policy 'poly' and power 0\.5, got 5"):
        PolicyRate("poly", 1.0, power=0.5, max_iter=4).value_at(5)


def test_a_rate_is_a_value():
    one, same, other = (rate(SETTINGS["multistep"], lr_mult) for lr_mult in (2, 2.0, 1.0))
    assert one.value_at(6) == same.value_at(6)
    assert one == same == copy.deepcopy(one) == pickle.loads(pickle.dumps(one))
    assert hash(one) == hash(same)
    assert one != other
    assert isinstance(one, Schedule)
    assert not one.in_java


@every_row(
    ("text", "said"),
    [
        ('lr_policy: "step" gamma: 0.1', r"stepsize must be > 0 with lr_policy 'step', got 0"),
        ('lr_policy: "step" stepsize: 4 gamma: -0.5', r"gamma must be >= 0 with lr_policy 'step', got -0\.5"),
        ('lr_policy: "sigmoid" gamma: 1', r"stepsize must be > 0 with lr_policy 'sigmoid', got 0"),
        ('lr_policy: "sigmoid" gamma: -1 stepsize: 1', r"gamma must be >= 0 with lr_policy 'sigmoid', got -1\.0"),
        ('lr_policy: "exp" gamma: -1', r"gamma must be >= 0 with lr_policy 'exp', got -1\.0"),
        ('lr_policy: "inv" gamma: -1', r"gamma must be >= 0 with lr_policy 'inv', got -1\.0"),
        ('lr_policy: "multistep" gamma: -1', r"gamma must be >= 0 with lr_policy 'multistep', got -1\.0"),
        ('lr_policy: "poly"', r"max_iter must be > 0 with lr_policy 'poly', got 0"),
    ],
)
def test_settings_that_a_policy_needs(text, said):
    with pytest.raises(nd.ConfigurationError, match=said):
        rate(text)


def test_settings_that_a_policy_does_not_need():
    assert rate('lr_policy: "fixed" base_lr: 0.5 gamma: -1').value_at(3) == 0.5


def test_an_unknown_policy():
    with pytest.raises(nd.ChoiceError, match=r"unknown learning rate policy 'steps', .*exp, fixed, .*mean 'step'\?"):
        rate('lr_policy: "steps"')
    with pytest.raises(nd.ChoiceError, match=r"unknown learning rate policy ''"):
        rate("base_lr: 0.1")


def test_a_message_of_another_kind():
    with pytest.raises(nd.DTypeError, match=r"PolicyRate\.of: expected a message nn\.caffe\.proto\.SolverParameter"):
        PolicyRate.of(parse_text("name: 'x'", "NetParameter"))
