"""Losses, activations and updaters of the user's own."""

from dataclasses import dataclass

import numpy as np
import pytest

import nd
from nd.activations import Activation
from nd.losses import Loss, LossL2
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam, Sgd, Updater
from tests.nn.layers.test_every_layer import check_derivative
from tests.stand_ins import as_input

RNG = np.random.default_rng(31)
X, Y = RNG.normal(size=(6, 3)), RNG.normal(size=(6, 2))
PARTS = RNG.integers(0, 5, (6, 2)) / 4.0


class Quartic(Loss):
    def terms(self, y, p, activation):
        return (p - y) ** 4

    def slope(self, y, p):
        return 4.0 * (p - y) ** 3


class Gaussian(Activation):
    def value(self, z, out=None, training=False):
        return nd.exp(-nd.square(z), out)

    def slope(self, z, a):
        return -2.0 * z * a


class Linear(Loss):
    """y p, whose slope is the labels themselves."""

    def terms(self, y, p, activation):
        return y * p

    def slope(self, y, p):
        return y


@dataclass(frozen=True)
class Heavy(Updater):
    """Momentum, v' = 0.9 v + r g."""

    learning_rate: float = 0.1
    state_names = ("V",)

    def coefficients(self, iteration, epoch):
        return (self.learning_rate,)

    def apply(self, gradient, states, scratch, coefficients):
        (v,) = states
        nd.assign(v, 0.9 * v + coefficients[0] * gradient)
        nd.assign(gradient, v)


def network(loss, activation="tanh", updater=None, output="identity"):
    layers = DenseLayer(n_in=3, n_out=4, activation=activation), OutputLayer(n_out=2, activation=output, loss=loss)
    conf = NeuralNetConfiguration(seed=4, dtype="float64", updater=updater or Sgd(0.1))
    return MultiLayerNetwork(conf.list(*layers)).init()


@pytest.mark.parametrize("mask", [None, PARTS, PARTS[:, :1]], ids=["no mask", "outputs", "examples"])
@pytest.mark.parametrize("output", ["identity", "softmax"])
@pytest.mark.quick_rows(every=3)
def test_gradients_are_derivatives_of_the_score(mask, output, backend):
    net = network(Quartic(), Gaussian(), output=output)
    net.set_input(as_input(backend, X))
    net.set_labels(as_input(backend, Y))
    net.set_masks(None, None if mask is None else as_input(backend, mask))

    def summed_loss():
        net.compute_gradient_and_score()
        return net.score() * 6

    summed_loss()
    for key, gradient in {key: nd.copy(g) for key, g in net.gradient().gradient_for_variable().items()}.items():
        check_derivative(summed_loss, net.get_param(key), gradient, 4)


def test_an_own_loss_may_return_its_labels(backend):
    """They stay as they are; masks and weights go into a copy."""
    y, p = as_input(backend, Y), as_input(backend, X[:, :2])
    mask = as_input(backend, PARTS)
    identity = network(Linear()).layers[1].activation
    delta = Linear().gradient(y, p, p, identity, mask)
    np.testing.assert_allclose(nd.to_host(delta), PARTS * Y)
    np.testing.assert_array_equal(nd.to_host(y), Y)


def test_a_loss_that_couples_its_outputs_refuses_masks_of_single_ones():
    class Sum(LossL2):
        couples_outputs = True

    net = network(Sum())
    net.set_input(X)
    net.set_labels(Y)
    net.set_masks(None, PARTS)
    with pytest.raises(nd.ShapeError, match=r"loss Sum: mask must be \[6, 1\], got \[6, 2\]\. Its outputs count"):
        net.compute_gradient_and_score()


def test_an_own_updater_by_hand(backend):
    net = network("l2", updater=Heavy(0.1))
    x, y = as_input(backend, X), as_input(backend, Y)
    params, v = nd.to_host(nd.copy(net.params())), 0.0
    for _ in range(3):
        net.set_input(x)
        net.set_labels(y)
        net.compute_gradient_and_score()
        v = 0.9 * v + 0.1 * nd.to_host(nd.copy(net.flattened_gradients())) / 6
        net.fit(x, y)
        params = params - v
        np.testing.assert_allclose(nd.to_host(net.params()), params, rtol=1e-12)
    np.testing.assert_allclose(nd.to_host(net.updater_state()), v, rtol=1e-12)


def test_own_parts_train_beside_those_of_the_library():
    net = network(Quartic(), Gaussian(), updater=Adam(0.05))
    net.fit(X, Y)
    before = net.score()
    net.fit(X, Y, epochs=100)
    assert net.score() < 0.5 * before
