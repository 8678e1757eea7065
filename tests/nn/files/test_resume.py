"""Training that is saved and loaded in the middle is training that was never interrupted, with every updater."""

import numpy as np
import pytest

import nd
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam
from optimize.updaters import UPDATERS
from tests.cases.updaters import CASES

RNG = np.random.default_rng(2)
BATCHES = [(RNG.normal(size=(6, 3)), np.eye(2)[RNG.integers(0, 2, 6)]) for _ in range(6)]


def network(updater):
    conf = NeuralNetConfiguration(seed=4, updater=updater, weight_decay=0.01).list(
        DenseLayer(n_in=3, n_out=4, activation="tanh", bias_updater=Adam(0.01)), OutputLayer(n_out=2)
    )
    return MultiLayerNetwork(conf).init()


def train(net, batches):
    for x, y in batches:
        net.fit(x, y)
    return net


@pytest.mark.parametrize("hands", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["defaults", "by hand"])
@pytest.mark.parametrize("name", sorted(UPDATERS))
@pytest.mark.numpy_first
def test_saved_and_loaded_in_the_middle(backend, name, hands, tmp_path):
    for updater in [hand.updater for hand in CASES[name].hands] if hands else [UPDATERS[name]()]:
        whole = train(network(updater), BATCHES)
        train(network(updater), BATCHES[:3]).save(tmp_path / "model.zip")
        resumed = train(MultiLayerNetwork.load(tmp_path / "model.zip"), BATCHES[3:])
        for found, expected in ((resumed.params(), whole.params()), (resumed.updater_state(), whole.updater_state())):
            np.testing.assert_array_equal(nd.to_host(found), nd.to_host(expected))
        assert resumed.iteration_count == whole.iteration_count == 6
        assert not np.array_equal(nd.to_host(resumed.params()), nd.to_host(network(updater).params()))


@pytest.mark.parametrize("name", [name for name in sorted(UPDATERS) if UPDATERS[name].state_names])
def test_a_model_without_its_updater_starts_with_the_initial_state(name, tmp_path):
    trained = train(network(name), BATCHES[:3])
    trained.save(tmp_path / "model.zip", save_updater=False)
    fresh = MultiLayerNetwork.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(nd.to_host(fresh.updater_state()), nd.to_host(network(name).updater_state()))
    assert not np.array_equal(nd.to_host(trained.updater_state()), nd.to_host(fresh.updater_state()))
