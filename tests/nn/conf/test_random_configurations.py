"""What is accepted is written, read and trained on: configurations drawn at random, with a generator of their own."""

import os

import numpy as np
import pytest

import nd
from nd.losses import LossMixtureDensity, LossSparseMCXENT
from nn import MultiLayerNetwork
from tests.cases.layers import make_features, make_labels
from tests.cases.random_networks import draw
from tests.sweeps import share

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy's, where numbers drawn are extreme
SEED = 99
"""Of the generator, before every step."""
KEPT = ("seed", "dtype", "mini_batch", "minimize", "optimization_algo", "iterations", "terminations", "lbfgs_memory")
"""Settings of the network itself that files keep; the layers have taken over the others."""

EXCUSES = (
    "NumericError: ",
    "ShapeError: layer 2 (OutputLayer): labels must have a row for every time step",
    "ConfigurationError: DropConnect: p is the probability to retain, 0 < p <= 1, got -",
)
"""What keeps a network from its first step: numbers too large, labels of other examples, a schedule that leaves."""


def step(net, features, labels):
    """Train one step; return what the library says where it cannot be taken."""
    net.random.set_seed(SEED)
    try:
        net.fit(features, labels)
    except nd.NdError as error:
        return f"{type(error).__name__}: {error}"
    return None


def labels_for(loss, case, shape):
    """Return labels of the kind that a loss takes which was drawn in the place of the case's own."""
    if isinstance(loss, LossMixtureDensity):
        return make_labels(case._replace(labels="reals"), (loss.labels_width, *shape[1:]))
    if isinstance(loss, LossSparseMCXENT):
        return make_labels(case._replace(labels="indices"), shape)
    return make_labels(case._replace(labels="classes") if case.labels == "indices" else case, shape)


def host(vector):
    return np.array(nd.to_host(vector))


def check(case, net, path):
    """Train, save, load, compare, train both; return whether it could be trained."""
    features, shape = make_features(case), None
    try:
        shape = net.output(features).shape[1:]
    except nd.NdError:
        labels = None
    else:
        labels = labels_for(getattr(net.conf.layers[-1], "loss", None), case, shape)
    said = step(net, features, labels) if labels is not None else "no output"
    assert labels is None or said is None or said.startswith(EXCUSES), said
    trained = said is None
    if trained:
        net.random.set_seed(SEED)
        net.save_checkpoint(path.with_name("checkpoint.zip"))
    searches = net.conf.optimization_algo != "stochastic_gradient_descent"
    if trained and (
        searches or net.engine.learners
    ):  # whose memory only a checkpoint keeps, of layers that are pretrained too
        net.random.set_seed(SEED)  # a checkpoint goes on with the generator as it was
        net.save_checkpoint(path)
        loaded = MultiLayerNetwork.load_checkpoint(path)
    else:
        net.save(path)
        loaded = MultiLayerNetwork.load(path)
    assert loaded.conf.layers == net.conf.layers
    assert loaded.conf.preprocessors == net.conf.preprocessors
    assert [getattr(loaded.conf.base, name) for name in KEPT] == [getattr(net.conf.base, name) for name in KEPT]
    np.testing.assert_array_equal(host(loaded.params()), host(net.params()))
    keeps_no_outputs = type(case.layer).__name__ != "OCNNOutputLayer"  # whose last outputs are in no file
    if trained and keeps_no_outputs:
        assert step(loaded, features, labels) == step(net, features, labels)
        np.testing.assert_array_equal(host(loaded.params()), host(net.params()))
        np.testing.assert_array_equal(host(loaded.updater_state()), host(net.updater_state()))
    return trained


def sweep(numbers, path):
    accepted = trained = 0
    for number in numbers:
        drawn = draw(number)
        if drawn is None:
            continue
        accepted += 1
        try:
            trained += check(*drawn, path)
        except Exception as error:
            error.add_note(f"configuration {number}")
            raise
    return accepted, trained


def test_ten_configurations(tmp_path):
    accepted, trained = sweep(range(20), tmp_path / "model.zip")
    assert accepted >= 10
    assert trained >= 6


@pytest.mark.slow
def test_many_configurations(tmp_path):
    count = int(os.environ.get("CONFIGURATIONS", share(2000)))
    accepted, trained = sweep(range(1000, 1000 + count), tmp_path / "model.zip")
    print(f"{count} configurations: {accepted} accepted, {trained} trained")
    assert accepted >= count // 3
