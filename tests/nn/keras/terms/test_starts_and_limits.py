"""Initialisers, regularisers and constraints of Keras."""

import math

import numpy as np
import pytest

import nd
from nd.random import Random
from nn.keras.terms import constraints, initialisers, regularisers
from nn.terms.distributions import (
    BinomialDistribution,
    ConstantDistribution,
    NormalDistribution,
    OrthogonalDistribution,
    TruncatedNormalDistribution,
    UniformDistribution,
)
from nn.terms.weights import Fans, ScaledWeightInit, init_weight
from optimize.constraints import MaxNormConstraint, MinMaxNormConstraint, NonNegativeConstraint, UnitNormConstraint

FAN_IN, FAN_OUT = 40, 120


def of(name, **config):
    return {"class_name": name, "config": config}


def drawn(init):
    """Numbers of a weight ``[40, 120]``."""
    flat = nd.zeros(FAN_IN * FAN_OUT, dtype="float64")
    view = nd.reshape_view(flat, (FAN_IN, FAN_OUT))
    init_weight(view, flat, init, Fans(FAN_IN, FAN_OUT, (FAN_IN, FAN_OUT)), Random(7))
    return nd.to_host(flat)


@pytest.mark.parametrize(("given", "variance", "bound"), [
    ("glorot_uniform", 2 / 160, math.sqrt(6 / 160)),
    (of("GlorotNormal", seed=None), 2 / 160, math.inf),
    ("he_normal", 2 / 40, math.inf),
    (of("HeUniform"), 2 / 40, math.sqrt(6 / 40)),
    ("lecun_normal", 1 / 40, math.inf),
    ("lecun_uniform", 1 / 40, math.sqrt(3 / 40)),
    (of("VarianceScaling", scale=3.0, mode="fan_out", distribution="uniform"), 3 / 120, math.sqrt(9 / 120)),
    (of("VarianceScaling", scale=2.0, mode="fan_avg", distribution="normal"), 2 / 80, math.inf),
    (of("VarianceScaling", scale=1.0, mode="fan_avg", distribution="untruncated_normal"), 1 / 80, math.inf),
    (of("VarianceScaling", scale=2.0, mode="fan_in", distribution="untruncated_normal"), 2 / 40, math.inf),
])  # fmt: skip
def test_distributions_are_those_of_keras(given, variance, bound):
    init = initialisers.weight_init_of(given)
    for one in (init, initialisers.weight_init_of(initialisers.keras_of(init))):
        numbers = drawn(one)
        assert numbers.var() == pytest.approx(variance, rel=0.06)
        assert abs(numbers).max() <= bound
        assert bound == math.inf or abs(numbers).max() > 0.99 * bound


@pytest.mark.parametrize(("given", "expected"), [
    ("zeros", "zero"), (of("Ones"), "ones"), (of("Constant", value=0.3), ConstantDistribution(0.3)),
    (of("RandomNormal", mean=1.0, stddev=0.2), NormalDistribution(1.0, 0.2)),
    (of("TruncatedNormal"), TruncatedNormalDistribution(0.0, 0.05)),
    ("uniform", UniformDistribution(-0.05, 0.05)),
    (of("RandomUniform", minval=0.1, maxval=0.1), ConstantDistribution(0.1)),
    (of("OrthogonalInitializer", gain=2.0), OrthogonalDistribution(2.0)),
    (of("Identity"), "identity"), (of("Identity", gain=3.0), ScaledWeightInit("identity", 3.0)),
    (of("Mine"), None), (of("VarianceScaling", scale=-1.0), None), (of("RandomNormal", mean="big"), None), (3, None),
])  # fmt: skip
def test_initialisers(given, expected):
    assert initialisers.weight_init_of(given) == expected
    if expected is not None:
        assert initialisers.weight_init_of(initialisers.keras_of(expected)) == expected


def test_starts_of_biases():
    assert [initialisers.bias_init_of(given) for given in ("zeros", of("Ones"), of("Constant", value=2))] == [0, 1, 2]
    assert initialisers.bias_init_of("glorot_uniform") is None
    assert initialisers.bias_init_of(of("Constant", value=[1, 2])) is None


def test_an_initialisation_that_keras_has_not():
    assert initialisers.keras_of(BinomialDistribution(3))["class_name"] == "GlorotUniform"


@pytest.mark.parametrize(("given", "expected"), [
    (None, {}), (of("L1", l1=0.1), {"l1": 0.1}), (of("L2", l2=0.1), {"l2": 0.2}), ("l2", {"l2": 0.02}),
    (of("L1L2", l1=0.0, l2=0.1), {"l2": 0.2}), (of("WeightRegularizer", l1=0.1, l2=0.1), {"l1": 0.1, "l2": 0.2}),
    (of("OrthogonalRegularizer"), None), (of("L1", l1="much"), None),
])  # fmt: skip
def test_regularisers(given, expected):
    assert regularisers.penalties_of(given) == expected
    if expected:
        back = regularisers.keras_of(expected.get("l1"), expected.get("l2"))
        assert regularisers.penalties_of(back) == expected


def test_those_of_biases_and_none():
    assert regularisers.penalties_of(of("L2", l2=0.1), "_bias") == {"l2_bias": 0.2}
    assert regularisers.keras_of(0.0, None) is None


CONV = (2, 3, 1, 0)


@pytest.mark.parametrize(("given", "axes", "expected"), [
    (of("NonNeg"), (0, 1), NonNegativeConstraint(params="W")),
    (of("MaxNorm", max_value=3, axis=0), (0, 1), MaxNormConstraint(3.0, params="W", dimensions=0)),
    (of("MaxNorm", max_value=3, axis=[0, 1, 2]), CONV, MaxNormConstraint(3.0, params="W", dimensions=(1, 2, 3))),
    (of("UnitNorm", axis=-1), (0, 1), UnitNormConstraint(params="W", dimensions=1)),
    (of("MinMaxNorm", min_value=0.5, max_value=2.0, rate=0.9, axis=0), (0, 1),
     MinMaxNormConstraint(0.5, 2.0, 0.9, params="W", dimensions=0)),
    (of("maxnorm", m=3, axis=1), (0, 1), MaxNormConstraint(3.0, params="W", dimensions=1)),
])  # fmt: skip
def test_constraints(given, axes, expected):
    assert constraints.constraint_of(given, "W", axes) == expected
    back = constraints.keras_of(expected, axes)
    assert constraints.constraint_of(back, "W", axes) == expected


@pytest.mark.parametrize("given", [of("Mine"), of("MaxNorm", axis=2), of("MaxNorm", max_value="much"), 5])
def test_constraints_that_nothing_says(given):
    assert constraints.constraint_of(given, "W", (0, 1)) is None


def test_a_constraint_of_columns_holds_for_columns():
    kernel = np.random.default_rng(1).normal(size=(3, 4)) * 5
    limit = constraints.constraint_of(of("MaxNorm", max_value=2.0, axis=0), "W", (0, 1))
    found = nd.to_host(limit.constrained(nd.create(kernel), 0, 0))
    norms = np.linalg.norm(kernel, axis=0)
    np.testing.assert_allclose(found, kernel * np.minimum(norms, 2) / norms, rtol=1e-5)
