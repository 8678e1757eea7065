"""CenterLossOutputLayer: the distances to centers, and how centers move."""

import json

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import CenterLossOutputLayer, DenseLayer, MultiLayerNetwork, NeuralNetConfiguration
from optimize import Adam, Sgd
from tests.nn.layers.test_every_layer import check_derivative
from tests.stand_ins import TOLERANCE, as_input

RNG = np.random.default_rng(12)
X, CLASSES = RNG.normal(size=(5, 3)), [0, 1, 1, 0, 1]
Y = np.eye(3)[CLASSES]
MASK = np.array([[1.0], [0.0], [1.0], [1.0], [0.0]])


def make_network(*layers, updater=None, **settings):
    layer = CenterLossOutputLayer(n_in=3, n_out=3, loss="mcxent", activation="softmax", **settings)
    conf = NeuralNetConfiguration(seed=2, dtype="float64", updater=updater or Sgd(0.1), l2=0.0)
    return MultiLayerNetwork(conf.list(*layers, layer)).init()


def host(x):
    return nd.to_host(nd.copy(x))


def test_without_a_bias_it_is_there_and_trained_but_not_added():
    net = make_network(has_bias=False, bias_updater=Sgd(9.0))
    b = np.array([[1.0, -2.0, 3.0]])
    net.set_param("0_b", b)
    z = X @ host(net.get_param("0_W"))
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    np.testing.assert_allclose(host(net.output(X)), p, rtol=1e-9)
    net.fit(DataSet(X, Y))
    np.testing.assert_allclose(host(net.get_param("0_b")), b - 0.1 * (p - Y).mean(0), rtol=1e-9)


def moved(centers, x, classes, alpha, rows=None):
    """One step, example by example; divided by all of the minibatch."""
    rows = range(len(x)) if rows is None else rows
    ways = np.zeros_like(centers)
    for k in range(len(centers)):
        own = [n for n in rows if classes[n] == k]
        for n in own:
            ways[k] += alpha * (centers[k] - x[n]) / (1 + len(own))
    return centers - ways / len(x)


@pytest.mark.parametrize("updater", [Sgd(0.1), Adam(0.1)])
def test_centers_move_over_two_steps_whatever_the_updater(updater, backend):
    net = make_network(alpha=0.5, lambda_=0.1, updater=updater)
    centers = host(net.get_param("0_cL"))
    assert centers.shape == (3, 3)
    assert not centers.any()
    for x in (X, 2.0 * X - 1.0):
        net.fit(as_input(backend, x), as_input(backend, Y))
        centers = moved(centers, x, CLASSES, 0.5)
        np.testing.assert_allclose(host(net.get_param("0_cL")), centers, **TOLERANCE["float64"])
    assert centers[:2].all()
    assert not centers[2].any()  # the class that did not come


def test_the_first_step_by_hand():
    """Class 0 has the rows 0 and 3, so a center of 0 goes alpha / 3 of their sum, a fifth of it."""
    net = make_network(alpha=0.6)
    net.fit(X, Y)
    np.testing.assert_allclose(host(net.get_param("0_cL"))[0], 0.6 * (X[0] + X[3]) / 3 / 5, **TOLERANCE["float64"])


@pytest.mark.parametrize("mask", [None, MASK, np.array([[1, 0, 1], [1, 1, 1], [0, 1, 1], [1, 1, 0], [1, 1, 1.0]])])
def test_score_is_loss_and_distances(mask, backend):
    net = make_network(lambda_=0.4)
    centers = RNG.normal(size=(3, 3))
    nd.assign(net.get_param("0_cL"), nd.create(centers, "float64"))
    z = X @ host(net.get_param("0_W")) + host(net.get_param("0_b"))
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    counted = np.ones((5, 1)) if mask is None else mask
    rows = counted[:, 0] if counted.shape[1] == 1 else np.ones(5)
    distances = sum(rows[n] * ((X[n] - centers[CLASSES[n]]) ** 2).sum() for n in range(5))
    expected = (-(counted * Y * np.log(p)).sum() + 0.2 * distances) / 5
    data = DataSet(
        as_input(backend, X), as_input(backend, Y), labels_mask=None if mask is None else as_input(backend, mask)
    )
    assert net.score(data) == pytest.approx(expected, rel=1e-12)


def test_rows_that_are_masked_leave_centers_alone(backend):
    net = make_network(alpha=0.5)
    net.fit(DataSet(as_input(backend, X), as_input(backend, Y), labels_mask=as_input(backend, MASK)))
    expected = moved(np.zeros((3, 3)), X, CLASSES, 0.5, rows=[0, 2, 3])
    np.testing.assert_allclose(host(net.get_param("0_cL")), expected, **TOLERANCE["float64"])


@pytest.mark.parametrize("mask", [None, MASK])
@pytest.mark.quick_rows(1)
def test_layers_below_are_drawn_to_the_centers(mask, backend):
    """With `gradient_check` and alpha 1 the ways of the centers are derivatives too."""
    below = DenseLayer(n_in=3, n_out=3, activation="tanh")
    net = make_network(below, lambda_=0.7, alpha=1.0, gradient_check=True)
    nd.assign(net.get_param("1_cL"), nd.create(RNG.normal(size=(3, 3)), "float64"))
    net.set_input(as_input(backend, X))
    net.set_labels(as_input(backend, Y))
    net.set_masks(None, None if mask is None else as_input(backend, mask))

    def summed_loss():
        net.compute_gradient_and_score()
        return net.score() * 5

    summed_loss()
    gradients = {key: nd.copy(g) for key, g in net.gradient().gradient_for_variable().items()}
    for key in ("0_W", "0_b", "1_W", "1_b", "1_cL"):
        check_derivative(summed_loss, net.get_param(key), gradients[key], 6)


def test_features_of_a_class_come_together():
    classes = RNG.integers(0, 3, 90)
    x = RNG.normal(size=(90, 3)) + 2.0 * np.eye(3)[classes]
    spread = {}
    for weight in (0.0, 0.5):
        below = DenseLayer(n_in=3, n_out=3, activation="tanh")
        net = make_network(below, lambda_=weight, alpha=0.9, updater=Adam(0.02))
        net.fit(x, np.eye(3)[classes], epochs=150)
        features = host(net.feed_forward(x)[1])
        spread[weight] = sum(((features[classes == k] - features[classes == k].mean(0)) ** 2).sum() for k in range(3))
        assert (nd.to_host(net.predict(x)) == classes).mean() > 0.85
    assert spread[0.5] < 0.5 * spread[0.0]


def test_training_is_not_split_and_inference_may_be():
    layer = make_network().get_layer(0)
    assert (layer.may_split(True), layer.may_split(False)) == (False, True)


def test_centers_have_no_penalty_no_noise_and_no_state():
    conf = NeuralNetConfiguration(seed=2, updater=Adam(0.1), l2=3.0, l2_bias=2.0, dtype="float64")
    net = MultiLayerNetwork(conf.list(CenterLossOutputLayer(n_in=3, n_out=3))).init()
    assert net.updater_state().shape[1] == 2 * (9 + 3)
    nd.fill(net.get_param("0_cL"), 5.0)
    nd.fill(net.get_param("0_W"), 0.0)
    assert net.engine.vectors.penalty_sum.at(0, 0) == 0.0


def test_fields_in_dl4js_json():
    layer = json.loads(make_network(alpha=0.2, lambda_=0.3, gradient_check=True).conf.to_json())["confs"][0]
    assert (layer["layer"]["alpha"], layer["layer"]["lambda"], layer["layer"]["gradientCheck"]) == (0.2, 0.3, True)
    assert layer["variables"] == ["W", "b", "cL"]
    assert layer["layer"]["@class"] == "org.deeplearning4j.nn.conf.layers.CenterLossOutputLayer"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": -0.1}, r"CenterLossOutputLayer: alpha must be a number >= 0, got -0\.1"),
        ({"lambda_": -1}, "CenterLossOutputLayer: lambda_ must be a number >= 0, got -1"),
        ({"loss": "sparse_mcxent"}, r"must take one-hot labels \[N, n_out\], got LossSparseMCXENT"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        CenterLossOutputLayer(n_in=3, n_out=3, **settings)


def test_labels_that_do_not_fit():
    net = make_network()
    with pytest.raises(nd.ShapeError, match=r"layer 0 \(CenterLossOutputLayer\): loss LossMCXENT: labels must be"):
        net.fit(X, np.ones((5, 2)))
