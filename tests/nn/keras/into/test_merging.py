"""Layers of Keras with several inputs."""

import functools

import numpy as np
import pytest

from nd import ConfigurationError
from nn.keras.into.recognition import network_of
from tests.keras_models import call, check, functional, layer

RNG = np.random.default_rng(8)
OPS = {
    "Add": lambda *xs: sum(xs),
    "Average": lambda *xs: sum(xs) / len(xs),
    "Maximum": lambda *xs: functools.reduce(np.maximum, xs),
    "Minimum": lambda *xs: functools.reduce(np.minimum, xs),
    "Multiply": lambda *xs: functools.reduce(np.multiply, xs),
}


def of_inputs(kind, *shapes, **config):
    names = [f"x{at}" for at in range(len(shapes))]
    return functional(dict(zip(names, shapes, strict=True)), call(layer(kind, config), *names, name="merged"))


def arrays(*shapes):
    return [RNG.normal(size=(3, *shape)) for shape in shapes]


@pytest.mark.parametrize("kind", OPS)
@pytest.mark.parametrize("shape", [(4,), (5, 2), (3, 2, 4), (2, 3, 2, 2)])
def test_functions_of_three_inputs(kind, shape):
    xs = arrays(shape, shape, shape)
    check(of_inputs(kind, shape, shape, shape), xs, OPS[kind](*xs))


def test_a_difference_and_its_number_of_inputs():
    xs = arrays((4,), (4,))
    check(of_inputs("Subtract", (4,), (4,)), xs, xs[0] - xs[1])
    with pytest.raises(ConfigurationError, match=r"'merged' \(Subtract\): it is called with 3 inputs"):
        network_of(of_inputs("Subtract", (4,), (4,), (4,)))


@pytest.mark.parametrize("shapes", [((1, 4), (5, 4)), ((3, 1, 2), (1, 4, 2)), ((4,), (5, 4)), ((2,), (3, 4, 2))])
@pytest.mark.parametrize("kind", OPS)
def test_axes_of_length_1_are_repeated_and_missing_ones_come_behind_the_examples(kind, shapes):
    xs = arrays(*shapes)
    rank = max(x.ndim for x in xs)
    full = [x.reshape(3, *(1,) * (rank - x.ndim), *x.shape[1:]) for x in xs]
    check(of_inputs(kind, *shapes), xs, OPS[kind](*full))


def test_an_input_twice():
    (x,) = arrays((4,))
    model = functional({"x": (4,)}, call(layer("Add"), "x", "x", name="sum"))
    check(model, [x], 2 * x)


@pytest.mark.parametrize("axis", [-1, 1, 2, 3])
def test_concatenation_along_every_axis(axis):
    shapes = [[3, 4, 2], [3, 4, 2]]
    shapes[1][axis if axis < 0 else axis - 1] = 5
    xs = arrays(*shapes)
    check(of_inputs("Concatenate", *map(tuple, shapes), axis=axis), xs, np.concatenate(xs, axis))


@pytest.mark.parametrize("axis", [-1, 1])
def test_concatenation_of_series_and_of_rows(axis):
    xs = arrays((4, 3), (4, 3))
    check(of_inputs("Concatenate", (4, 3), (4, 3), axis=axis), xs, np.concatenate(xs, axis))
    xs = arrays((4,), (2,))
    check(of_inputs("Concatenate", (4,), (2,), axis=axis), xs, np.concatenate(xs, 1))


def test_the_product_of_rows():
    xs = arrays((4,), (4,))
    check(of_inputs("Dot", (4,), (4,), axes=1, normalize=False), xs, (xs[0] * xs[1]).sum(1, keepdims=True))
    with pytest.raises(ConfigurationError, match=r"Dot\): normalize=True"):
        network_of(of_inputs("Dot", (4,), (4,), axes=1, normalize=True))


def test_inputs_that_do_not_fit_are_refused():
    with pytest.raises(ConfigurationError, match=r"'merged' \(Add\): inputs of \[\(4,\), \(3,\)\]"):
        network_of(of_inputs("Add", (4,), (3,)))
