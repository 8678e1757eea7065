"""Masks of features and of labels: rows, and single outputs, that do not count."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Listener
from tests.cases.layers import two_layers_by_hand
from tests.stand_ins import TOLERANCE, as_input

RNG = np.random.default_rng(9)
X = RNG.normal(size=(5, 3))
Y = np.eye(2)[[0, 1, 1, 0, 1]]
MASK = np.array([[1.0], [0.0], [1.0], [1.0], [0.0]])
KEPT = MASK[:, 0] == 1.0


def network(*layers):
    if not layers:
        layers = DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2, activation="softmax")
    return MultiLayerNetwork(NeuralNetConfiguration(seed=3, dtype="float64", bias_init=0.1).list(*layers)).init()


def host(x):
    return nd.to_host(nd.copy(x))


class Activations(Listener):
    """Keeps what the last forward pass computed."""

    def on_forward_pass(self, model, activations):
        self.of_last_pass = [host(a) for a in activations]


def by_hand(net, x=X, y=Y):
    return two_layers_by_hand(net.param_table(), x, y)


def compute(net, backend):
    net.set_input(as_input(backend, X))
    net.set_labels(as_input(backend, Y))
    net.compute_gradient_and_score()


def test_a_labels_mask_takes_rows_out(backend):
    net = network()
    net.set_masks(None, as_input(backend, MASK))
    compute(net, backend)
    _, _, loss, expected = by_hand(net, X[KEPT], Y[KEPT])
    assert net.score() == pytest.approx(loss / 5, rel=1e-12)  # still divided by N
    for key, found in net.gradient().gradient_for_variable().items():
        np.testing.assert_allclose(host(found), expected[key], **TOLERANCE["float64"])


def test_a_labels_mask_of_single_outputs(backend):
    net = network(OutputLayer(n_in=3, n_out=2, loss="l2", activation="identity"))
    mask = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    net.set_masks(None, as_input(backend, mask))
    compute(net, backend)
    p = {key: host(view) for key, view in net.param_table().items()}
    away = (X @ p["0_W"] + p["0_b"] - Y) * mask
    assert net.score() == pytest.approx((away**2).sum() / 5, rel=1e-12)
    np.testing.assert_allclose(host(net.gradient().gradient_for_variable()["0_W"]), 2 * X.T @ away, rtol=1e-10)


def test_a_features_mask_silences_rows(backend):
    """Masked rows leave a dense layer as zeros and send no gradient back through it."""
    net = network()
    net.set_masks(as_input(backend, MASK), as_input(backend, np.ones((5, 1))))
    seen = Activations()
    net.set_listeners(seen)
    compute(net, backend)
    np.testing.assert_allclose(seen.of_last_pass[1], by_hand(net)[0] * MASK, **TOLERANCE["float64"])
    expected = by_hand(net, X[KEPT], Y[KEPT])[3]
    for key in ("0_W", "0_b"):
        np.testing.assert_allclose(
            host(net.gradient().gradient_for_variable()[key]), expected[key], **TOLERANCE["float64"]
        )


def test_a_features_mask_without_a_labels_mask_takes_the_rows_out_of_the_loss(backend):
    """As in DL4J, where a layer with a loss keeps the mask that comes through the network."""
    net = network()
    net.set_masks(as_input(backend, MASK), None)
    compute(net, backend)
    _, _, loss, expected = by_hand(net, X[KEPT], Y[KEPT])
    assert net.score() == pytest.approx(loss / 5, rel=1e-12)
    for key, found in net.gradient().gradient_for_variable().items():
        np.testing.assert_allclose(host(found), expected[key], **TOLERANCE["float64"])


def test_a_data_set_is_scored_with_its_features_mask():
    net = network()
    net.set_masks(MASK, None)
    net.set_input(X)
    net.set_labels(Y)
    net.compute_gradient_and_score()
    expected = net.score()
    assert net.score(DataSet(X, Y, features_mask=MASK)) == pytest.approx(expected, rel=1e-12)


def test_masks_of_the_last_minibatch_do_not_linger():
    net = network()
    net.fit(DataSet(X, Y, MASK, MASK))
    clean = net.clone()
    for found, expected in zip(net.feed_forward(X[:2], train=True), clean.feed_forward(X[:2], train=True), strict=True):
        np.testing.assert_array_equal(host(found), host(expected))
    net.fit(X[:2], Y[:2])
    assert net.score() == pytest.approx(clean.score(DataSet(X[:2], Y[:2])), rel=1e-12)
