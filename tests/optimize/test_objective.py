"""The regularised objective: its score is loss and penalties, its gradient that of its score."""

import numpy as np
import pytest

import nd
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer

RNG = np.random.default_rng(12)
X, Y = RNG.normal(size=(5, 3)), np.eye(2)[[0, 1, 1, 0, 1]]
PENALTIES = {"l1": 0.03, "l2": 0.05, "l1_bias": 0.02, "l2_bias": 0.07}
STEP = 1e-6


def network(mini_batch=True, **penalties):
    base = NeuralNetConfiguration(
        seed=4, dtype="float64", updater="sgd", mini_batch=mini_batch, bias_init=0.3, **penalties
    )
    layers = DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2, activation="softmax")
    net = MultiLayerNetwork(base.list(*layers)).init()
    net.set_input(X)
    net.set_labels(Y)
    return net


def score_at(net, params):
    net.set_params(params)
    net.compute_gradient_and_score()
    return net.score()


@pytest.mark.parametrize("kinds", [[], ["l1"], ["l2"], ["l1_bias"], ["l2_bias"], list(PENALTIES)], ids=str)
def test_the_score_is_loss_and_penalties(backend, kinds):
    plain, net = network(), network(**{kind: PENALTIES[kind] for kind in kinds})
    loss = score_at(plain, net.params())
    parts = {key: nd.to_host(array) for key, array in net.param_table().items()}
    expected = loss
    for key, array in parts.items():
        bias = "_bias" if key.endswith("_b") else ""
        l1, l2 = (PENALTIES[kind + bias] if kind + bias in kinds else 0.0 for kind in ("l1", "l2"))
        expected += l1 * np.abs(array).sum() + 0.5 * l2 * (array**2).sum()
    net.compute_gradient_and_score()
    assert net.score() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("mini_batch", [True, False])
def test_its_gradient_is_that_of_the_score(mini_batch):
    net = network(mini_batch, **PENALTIES)
    params = np.array(nd.to_host(net.params()))
    net.compute_gradient_and_score()
    gradient = np.array(nd.to_host(net.updater.objective_gradient(len(X) if mini_batch else 1, 0, 0)))
    for place in range(params.size):
        moved = []
        for sign in (1.0, -1.0):
            there = params.copy()
            there[0, place] += sign * STEP
            moved.append(score_at(net, there))
        assert gradient[place] == pytest.approx((moved[0] - moved[1]) / (2 * STEP), rel=1e-6, abs=1e-8)
