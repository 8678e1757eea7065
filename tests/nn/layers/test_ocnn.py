"""OCNNOutputLayer: the loss of a one-class network, and r, which follows the outputs of an epoch."""

import json
from dataclasses import replace

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import DenseLayer, MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration, OCNNOutputLayer
from nn.layers.losses.ocnn import Outputs
from optimize import Adam, Sgd
from tests.nn.layers.test_every_layer import check_derivative
from tests.stand_ins import TOLERANCE, as_input

RNG = np.random.default_rng(20)
X, Y = RNG.normal(size=(6, 3)), np.ones((6, 1))
WHOLE = np.array([[1.0], [0], [1], [1], [0], [1]])
PARTS = np.array([[0.5], [0], [0.25], [1], [2], [0.75]])


def make_network(*layers, updater=None, **settings):
    settings = {"nu": 0.3, "hidden_size": 4, "activation": "tanh", **settings}
    conf = NeuralNetConfiguration(seed=2, dtype="float64", updater=updater or Sgd(0.1))
    return MultiLayerNetwork(conf.list(*layers, OCNNOutputLayer(n_in=3, **settings))).init()


def outputs_of(net, x):
    w, v = nd.to_host(net.get_param("0_w")), nd.to_host(net.get_param("0_v"))
    return np.array([sum(np.tanh(row @ v[:, h]) * w[0, h] for h in range(v.shape[1])) for row in x])


@pytest.mark.parametrize("mask", [None, WHOLE, PARTS], ids=["no mask", "zeros and ones", "fractions"])
def test_the_score_by_hand(mask, backend):
    net = make_network(initial_r_value=0.2)
    r, w, v = (nd.to_host(net.get_param(f"0_{name}")) for name in "rwv")
    assert r.item() == 0.2
    short = [max(0.2 - out, 0.0) for out in outputs_of(net, X)]
    counted = sum(short) if mask is None else sum(short * mask[:, 0])
    expected = 0.5 * (w**2).sum() + 0.5 * (v**2).sum() + counted / 6 / 0.3 - 0.2
    data = DataSet(
        as_input(backend, X), as_input(backend, Y), labels_mask=None if mask is None else as_input(backend, mask)
    )
    assert net.score(data) == pytest.approx(expected / 6, rel=1e-12)  # as every loss, and as in Java, once more by N


@pytest.mark.parametrize("mask", [None, WHOLE, PARTS], ids=["no mask", "zeros and ones", "fractions"])
@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
@pytest.mark.numpy_first
def test_gradients_of_all_parameters_and_of_the_layer_below(activation, mask, backend):
    below = DenseLayer(n_in=3, n_out=3, activation="tanh")
    net = make_network(below, initial_r_value=0.4, activation=activation)
    net.set_input(as_input(backend, X))
    net.set_labels(as_input(backend, Y))
    net.set_masks(None, None if mask is None else as_input(backend, mask))

    def summed_loss():
        net.compute_gradient_and_score()
        return net.score() * 6

    summed_loss()
    gradients = {key: nd.copy(g) for key, g in net.gradient().gradient_for_variable().items()}
    assert list(gradients) == ["0_W", "0_b", "1_w", "1_v", "1_r"]
    for key, gradient in gradients.items():
        check_derivative(summed_loss, net.get_param(key), gradient, 5)


def test_the_gradient_of_r_by_hand():
    net = make_network(initial_r_value=0.0)
    net.set_input(X)
    net.set_labels(Y)
    net.compute_gradient_and_score()
    outside = sum(out < 0.0 for out in outputs_of(net, X))
    assert 0 < outside < 6
    assert nd.item(net.gradient().gradient_for_variable()["0_r"]) == pytest.approx(outside / 6 / 0.3 - 1.0, rel=1e-12)


# ---- r


def r_of(net):
    return nd.item(net.get_param("0_r"))


def test_r_becomes_the_percentile_of_an_epochs_outputs(backend):
    """NumPy's "weibull" is DL4J's percentile."""
    net = make_network()
    net.set_input(as_input(backend, X))
    net.set_labels(as_input(backend, Y))
    expected = np.percentile(outputs_of(net, X), 30, method="weibull")
    net.compute_gradient_and_score()
    net.epoch_count = 1
    before = r_of(net)
    net.compute_gradient_and_score()
    assert r_of(net) == pytest.approx(expected, rel=1e-12)
    assert r_of(net) != before
    nd.fill(net.get_param("0_r"), 0.7)
    net.compute_gradient_and_score()
    assert r_of(net) == 0.7  # only once in an epoch


def test_r_follows_in_fit_and_not_in_the_first_epoch():
    net = make_network(initial_r_value=0.1, updater=Sgd(1e-9))
    batches = [DataSet(X[:3], Y[:3]), DataSet(X[3:], Y[3:])]
    expected = np.percentile(outputs_of(net, X), 30, method="weibull")
    net.fit(batches)
    assert r_of(net) == pytest.approx(0.1, abs=1e-6)
    net.fit(batches)
    assert r_of(net) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("part", [0.04, 0.1, 0.3, 0.5, 0.77, 0.99, 1.0])
def test_percentiles(part, backend):
    values = RNG.normal(size=(17, 1))
    outputs = Outputs(12, "float64")
    for start in range(0, 17, 5):
        outputs.add(nd.create(values[start : start + 5], "float64"))
    assert outputs.count == 12  # the window is full
    expected = np.percentile(values[:12, 0], 100 * part, method="weibull")
    assert outputs.percentile(part) == pytest.approx(expected, rel=1e-12)


def test_r_that_is_drawn():
    net = make_network(configure_r=False)
    assert r_of(net) not in (0.0, 0.1)


def test_it_learns_what_is_normal():
    """Trained on one blob, it puts another one below r."""
    normal, other = RNG.normal(2.0, 0.3, (200, 3)), RNG.normal(-2.0, 0.3, (50, 3))
    net = make_network(hidden_size=8, nu=0.05, activation="sigmoid", updater=Adam(0.01))
    net.fit([DataSet(normal[i : i + 50], np.ones((50, 1))) for i in range(0, 200, 50)], epochs=30)
    inside = nd.to_host(net.output(normal))[:, 0] >= r_of(net)
    assert inside.mean() > 0.85
    assert (nd.to_host(net.output(other))[:, 0] < r_of(net)).all()


# ---- configuration


def test_fields_in_dl4js_json():
    conf = make_network(window_size=7, initial_r_value=0.3, configure_r=False).conf
    whole = json.loads(conf.to_json())
    layer = whole["confs"][0]["layer"]
    assert layer["@class"] == "org.deeplearning4j.nn.conf.ocnn.OCNNOutputLayer"
    found = {key: layer[key] for key in ("hiddenSize", "nu", "windowSize", "initialRValue", "configureR", "nout")}
    expected = {"hiddenSize": 4, "nu": 0.3, "windowSize": 7, "initialRValue": 0.3, "configureR": False, "nout": 1}
    assert found == expected
    assert whole["confs"][0]["variables"] == ["w", "v", "r"]
    layer["lastEpochSinceRUpdated"] = 5  # as in a file that Java wrote later
    layer["lossFn"] = {"@class": "org.nd4j.linalg.lossfunctions.impl.LossMCXENT"}
    (read,) = MultiLayerConfiguration.from_json(json.dumps(whole)).layers
    assert replace(read, unused={}) == conf.layers[0]
    assert read.unused == {name: layer[name] for name in ("lastEpochSinceRUpdated", "lossFn")}


def test_the_builder_of_dl4j():
    built = OCNNOutputLayer.Builder().nIn(3).hiddenLayerSize(5).nu(0.1).windowSize(50).initialRValue(0.2).build()
    assert built == OCNNOutputLayer(n_in=3, hidden_size=5, nu=0.1, window_size=50, initial_r_value=0.2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nu": 0.0}, r"nu must be a number with 0 < it <= 1, got 0\.0"),
        ({"nu": 1.5}, r"nu must be a number with 0 < it <= 1, got 1\.5"),
        ({"hidden_size": 0}, "hidden_size must be an integer >= 1 or None, got 0"),
        ({"window_size": 2.5}, r"window_size must be an integer >= 1, got 2\.5"),
        ({"initial_r_value": float("inf")}, "initial_r_value must be a number, got inf"),
        ({"n_out": 2}, r"n_out must be 1, got 2\. Set hidden_size"),
        ({"hidden_size": None}, r"layer 0 \(OCNNOutputLayer\): hidden_size is missing\. Give it"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        make_network(**settings)


def test_a_mask_that_does_not_fit():
    net = make_network()
    with pytest.raises(nd.ShapeError, match=r"layer 0 \(OCNNOutputLayer\): mask must be \[6, 1\], got \[6, 2\]"):
        net.score(DataSet(X, Y, labels_mask=np.ones((6, 2))))


def test_training_stays_in_the_layers_that_one_sees():
    net = make_network(window_size=9)
    net.fit(X, Y, epochs=2)
    assert net.get_layer(0)._outputs.count == 9
    np.testing.assert_allclose(nd.to_host(net.output(X))[:, 0], outputs_of(net, X), **TOLERANCE["float64"])
