"""Networks that overflow say so with a NumericError alone: NumPy warns of code of users, not of the step's."""

import warnings

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import (
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)  # fmt: skip
from optimize import Adam, Listener, Nesterovs, Sgd
from tests.cells import every_row

RNG = np.random.default_rng(0)
X = RNG.normal(size=(8, 3)).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[RNG.integers(0, 2, 8)]
LARGE = np.full((8, 3), 3e38, np.float32)
DIVERGES = {
    "cosine": {"loss": "cosine_proximity"},
    "clipped": {"gradient_normalization": "clip_l2_per_layer", "gradient_normalization_threshold": 1.0},
    "dropout": {"drop_out": 0.5},
    "l1": {"l1": 0.1},
    "l2": {"l2": 0.1},
    "percentage": {"loss": "mean_absolute_percentage_error"},
    "relu": {},
    "tanh": {"layer": "tanh"},
    "with Adam": {"updater": Adam(1e30)},
    "with Nesterovs": {"updater": Nesterovs(1e30, momentum=0.9)},
}


def network(loss="mse", layer="relu", activation="identity", updater=None, **settings):
    conf = NeuralNetConfiguration(seed=1, updater=updater or Sgd(1e20), **settings).list(
        DenseLayer(n_in=3, n_out=4, activation=layer), OutputLayer(n_in=4, n_out=2, activation=activation, loss=loss)
    )
    return MultiLayerNetwork(conf).init()


def images():
    conf = NeuralNetConfiguration(seed=1, updater=Sgd(1e20)).list(
        ConvolutionLayer(n_out=3, kernel_size=(3, 3), activation="relu"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        BatchNormalization(),
        OutputLayer(n_out=2, activation="softmax", loss="mcxent"),
        input_type=InputType.convolutional(8, 8, 1),
    )
    return MultiLayerNetwork(conf).init()


def fit(net, x=X, steps=8):
    for _ in range(steps):
        net.fit(x, Y)


@pytest.fixture(autouse=True)
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@every_row("eager", [pytest.param(False, id="recorded"), pytest.param(True, id="watched")])
@every_row("name", DIVERGES)
def test_a_network_that_diverges(name, eager):
    net = network(**DIVERGES[name])
    if eager:
        net.set_listeners(Watching())
    with pytest.raises(nd.NumericError, match="must be finite, got"):
        fit(net)


def test_a_convolutional_network_that_diverges():
    with pytest.raises(nd.NumericError, match="must be finite, got"):
        fit(images(), RNG.normal(size=(8, 1, 8, 8)).astype(np.float32))


def test_predictions_and_scores_that_overflow():
    net = network()
    for _ in range(3):  # the first is recorded, the others are played back
        assert not np.isfinite(nd.to_host(net.output(LARGE))).all()
    assert not np.isfinite(net.score(DataSet(LARGE, Y)))
    assert not np.isfinite(nd.to_host(net.feed_forward(LARGE)[-1])).all()
    with pytest.raises(nd.NumericError, match="predictions must not be NaN"):
        network(loss="mcxent", activation="softmax").evaluate(DataSet(LARGE, Y))


class Watching(Listener):
    """Computes on its own in every hook."""

    def __init__(self, factor=1.0):
        self.factor = np.float32(factor)

    def on_forward_pass(self, model, activations):
        self.product = np.multiply(self.factor, self.factor)

    def on_gradient_calculation(self, model):
        pass


class Done(Watching):
    on_forward_pass = Listener.on_forward_pass

    def iteration_done(self, model, iteration, epoch):
        self.product = np.multiply(self.factor, self.factor)


@pytest.mark.parametrize("listener", [Watching, Done])
def test_code_of_users_is_warned(listener):
    net = network(updater=Sgd(0.1))
    net.set_listeners(listener(3e38))
    with pytest.raises(RuntimeWarning, match="overflow encountered in multiply"):
        fit(net, steps=1)
    with pytest.raises(RuntimeWarning, match="overflow encountered in multiply"):
        np.multiply(np.float32(3e38), np.float32(3e38))  # also afterwards


def test_the_facade_alone_warns():
    x = nd.create([3e38])
    with pytest.raises(RuntimeWarning, match="overflow encountered in multiply"):
        nd.multiply(x, x)
