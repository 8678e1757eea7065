"""Activations against the rows in tests/cases/activations.py."""

import enum
import functools

import numpy as np
import pytest

import nd
from nd import activations
from nd.activations import ACTIVATIONS, Activation, Identity, ReLU, RReLU, Softmax, get_activation
from tests.cases.activations import CASES, ROWS, away_from, numeric_gradient
from tests.cells import every_row
from tests.stand_ins import TOLERANCE, as_input

SHAPES = ((4, 5), (2, 3, 2, 2), (6,))
GRADIENT_TOLERANCE = {"float32": {"rtol": 2e-5, "atol": 5e-6}, "float64": {"rtol": 1e-5, "atol": 1e-8}}


def parametrize_cases(rows):
    return every_row(("name", "case"), [row[:2] for row in rows], ids=[row[2] for row in rows])


every_case = parametrize_cases(ROWS)


def inputs(shape, dtype, kinks=()):
    """Numbers around zero, in float64 but exact in `dtype`."""
    x = away_from(np.random.default_rng(7).normal(scale=2.0, size=shape), kinks)
    return x.astype(dtype).astype("float64")


def scalars(backend, values, dtype):
    return backend.asarray([[value] for value in values], dtype)


def test_every_activation_has_a_name_and_a_case():
    assert list(ACTIVATIONS) == sorted(ACTIVATIONS)
    assert set(ACTIVATIONS) == set(CASES)
    found = [getattr(activations, name) for name in dir(activations)]  # which imports what was not asked for yet
    public = {cls for cls in found if isinstance(cls, type) and issubclass(cls, Activation)}
    assert set(ACTIVATIONS.values()) == public - {Activation}


def test_java_classes():
    names = "Cube ELU GELU HardSigmoid HardTanH Identity LReLU Mish RationalTanh RectifiedTanh ReLU ReLU6 RReLU SELU "
    names += "Sigmoid Softmax SoftPlus SoftSign Swish TanH ThresholdedReLU"
    found = {cls.java_class for cls in ACTIVATIONS.values()} - {""}  # of those that Java has not
    assert found == {f"Activation{name}" for name in names.split()}


@every_case
def test_value(backend, dtype, order, name, case):
    activation = ACTIVATIONS[name](**case.parameters)
    for shape in SHAPES:
        x = inputs(shape, dtype)
        z = as_input(backend, x, order, dtype)
        a = activation.value(z)
        assert backend.dtype_name(a) == dtype
        np.testing.assert_allclose(backend.to_host(a), case.oracle(x), **TOLERANCE[dtype])
        np.testing.assert_array_equal(backend.to_host(z), x)


@every_case
def test_value_in_place_and_in_another_array(backend, name, case):
    activation = ACTIVATIONS[name](**case.parameters)
    x = inputs((4, 5), "float64")
    z, out = backend.asarray(x.tolist(), "float64"), backend.full((4, 5), 9.0, "float64", "f")
    assert activation.value(z, out) is out
    np.testing.assert_array_equal(backend.to_host(z), x)
    assert activation.value(z, z) is z
    for result in (out, z):
        np.testing.assert_allclose(backend.to_host(result), case.oracle(x), **TOLERANCE["float64"])


@functools.cache
def expected_gradient(case, shape, dtype):
    """Return epsilon and the differences of the oracle, both of shape `shape`."""
    weight = np.random.default_rng(8).normal(size=shape).astype(dtype).astype("float64")
    return weight, numeric_gradient(lambda v: np.sum(weight * case.oracle(v)), inputs(shape, dtype, case.kinks))


@every_case
def test_backprop_is_the_derivative_of_the_oracle(backend, dtype, order, name, case):
    activation = ACTIVATIONS[name](**case.parameters)
    for shape in SHAPES:
        x = inputs(shape, dtype, case.kinks)
        weight, expected = expected_gradient(case, shape, dtype)
        z, epsilon = as_input(backend, x, order, dtype), as_input(backend, weight, order, dtype)
        a = activation.value(z)
        kept = np.array(backend.to_host(a))
        delta = activation.backprop(z, a, epsilon)
        assert backend.dtype_name(delta) == dtype
        np.testing.assert_allclose(backend.to_host(delta), expected, **GRADIENT_TOLERANCE[dtype])
        for array, before in ((z, x), (a, kept), (epsilon, weight)):
            np.testing.assert_array_equal(backend.to_host(array), before)


@every_case
def test_backprop_in_place_and_in_another_array(backend, name, case):
    activation = ACTIVATIONS[name](**case.parameters)
    x = inputs((4, 5), "float64")
    z, epsilon = (backend.asarray(v.tolist(), "float64") for v in (x, np.cos(x)))
    a, out = activation.value(z), backend.full((4, 5), 9.0, "float64")
    expected = np.array(backend.to_host(activation.backprop(z, a, epsilon)))
    assert activation.backprop(z, a, epsilon, out) is out
    assert activation.backprop(z, a, epsilon, epsilon) is epsilon
    for result in (out, epsilon):
        np.testing.assert_allclose(backend.to_host(result), expected, rtol=1e-15)


@every_case
def test_overwrites_says_whether_the_value_is_enough(backend, name, case):
    activation = ACTIVATIONS[name](**case.parameters)
    assert activation.overwrites is case.overwrites
    if case.overwrites:
        z, epsilon = (backend.asarray(inputs((4, 5), "float64").tolist(), "float64") for _ in range(2))
        a = activation.value(backend.copy(z))
        expected, found = activation.backprop(z, a, epsilon), activation.backprop(a, a, epsilon)
        np.testing.assert_array_equal(backend.to_host(found), backend.to_host(expected))


@every_case
def test_points_by_hand(backend, dtype, name, case):
    activation = ACTIVATIONS[name](**case.parameters)
    for x, value, slope in case.points:
        z = scalars(backend, [x], dtype)
        a = activation.value(z)
        assert backend.item(a) == pytest.approx(value, rel=2e-6, abs=1e-8)
        assert backend.item(activation.backprop(z, a, scalars(backend, [1.0], dtype))) == pytest.approx(
            slope, rel=2e-6, abs=1e-8
        )


@parametrize_cases([row for row in ROWS if row[1].limits is not None])
def test_large_inputs_neither_overflow_nor_warn(backend, dtype, name, case):
    activation = ACTIVATIONS[name](**case.parameters)
    z = scalars(backend, (-1e4, 1e4), dtype)
    a = activation.value(z)
    slope = activation.backprop(z, a, scalars(backend, (1.0, 1.0), dtype))
    found = np.hstack([backend.to_host(a), backend.to_host(slope)])
    np.testing.assert_allclose(found, case.limits, rtol=1e-6, atol=2e-8)
    z = scalars(backend, (-1e30, -100.0, -50.0, 50.0, 100.0, 1e30), dtype)
    a = activation.value(z)
    slope = activation.backprop(z, a, backend.full(z.shape, 1.0, dtype))
    assert backend.all_finite(a)
    assert backend.all_finite(slope)


def test_small_probabilities_keep_their_digits(backend):
    z = scalars(backend, (-20.0, -60.0), "float32")
    expected = [[np.exp(-20.0)], [np.exp(-60.0)]]
    np.testing.assert_allclose(backend.to_host(activations.Sigmoid().value(z)), expected, rtol=1e-5)
    np.testing.assert_allclose(backend.to_host(activations.SoftPlus().value(z)), expected, rtol=1e-5)


def test_softmax_of_large_and_equal_numbers(backend, dtype):
    z = backend.asarray([[1e4, 1e4, -1e4], [-1e4, -1e4, -1e4]], dtype)
    expected = [[0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]]
    np.testing.assert_allclose(backend.to_host(Softmax().value(z)), expected, rtol=1e-6)


def test_identity_copies_nothing(backend):
    z, epsilon = (backend.full((2, 3), value, "float32") for value in (1.0, 2.0))
    assert Identity().value(z) is z
    assert Identity().backprop(z, z, epsilon) is epsilon


@pytest.mark.parametrize(("activation", "primitive"), [(ReLU(), "relu"), (Softmax(), "softmax")])
def test_hot_activations_use_the_primitive(backend, monkeypatch, activation, primitive):
    calls = []
    real = getattr(backend, primitive)
    monkeypatch.setattr(backend, primitive, lambda *args: calls.append(primitive) or real(*args), raising=False)
    activation.value(backend.full((2, 3), 1.0, "float32"))
    assert calls == [primitive]


def test_rrelu_draws_slopes_in_training(backend, dtype, order):
    x = inputs((4, 5), dtype, (0.0,))
    activation = RReLU(l=0.2, u=0.4)
    slopes = 0.2 + backend.to_host(nd.random.Random(99).uniform(20)).reshape(4, 5).astype("float64") * 0.2
    nd.random.set_seed(99)
    z = as_input(backend, x, order, dtype)
    a = activation.value(z, training=True)
    np.testing.assert_allclose(backend.to_host(a), np.where(x < 0, x * slopes, x), rtol=1e-6)
    delta = backend.to_host(activation.backprop(z, a, as_input(backend, np.ones((4, 5)), order, dtype)))
    np.testing.assert_allclose(delta, np.where(x < 0, slopes, 1.0), rtol=1e-6)


def test_rrelu_refuses_an_empty_range():
    with pytest.raises(nd.ConfigurationError, match=r"RReLU: l must be <= u, got l=0\.5 and u=0\.25"):
        RReLU(l=0.5, u=0.25)


def test_get_activation_takes_names_enums_and_instances():
    choice = enum.Enum("Choice", {"RELU": "RELU"}, type=str)
    mine = activations.ELU(alpha=2.0)
    assert get_activation("ReLU") == get_activation(choice.RELU) == ReLU()
    assert get_activation(mine) is mine


@pytest.mark.parametrize("wrong", ["rleu", "softmx"])
def test_get_activation_names_the_nearest(wrong):
    nearest = {"rleu": "relu", "softmx": "softmax"}[wrong]
    with pytest.raises(
        nd.ChoiceError, match=f"unknown activation '{wrong}', expected one of .*Did you mean '{nearest}'"
    ):
        get_activation(wrong)


def test_get_activation_refuses_other_objects():
    with pytest.raises(nd.ChoiceError, match="unknown activation 3"):
        get_activation(3)
