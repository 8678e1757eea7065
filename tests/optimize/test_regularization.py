import numpy as np
import pytest

import nd
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import L1Regularization, L2Regularization, MapSchedule, Sgd, WeightDecay
from optimize.regularization import REGULARIZATIONS
from tests.stand_ins import TOLERANCE, as_input

W = [2.0, -0.5, 0.0, 4.0]
G = [1.0, 1.0, 1.0, -1.0]
BY_HAND = {
    # coefficient 0.5: gradient afterwards, score
    "l1": (L1Regularization, [1.5, 0.5, 1.0, -0.5], 0.5 * 6.5),
    "l2": (L2Regularization, [2.0, 0.75, 1.0, 1.0], 0.25 * 20.25),
    "weight_decay": (WeightDecay, [2.0, 0.75, 1.0, 1.0], 0.25 * 20.25),
}
RNG = np.random.default_rng(3)
FEATURES, LABELS = RNG.normal(size=(4, 3)), np.eye(2)[[0, 1, 1, 0]]


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_gradient_and_score_by_hand(backend, dtype, order, name):
    kind, expected, score = BY_HAND[name]
    params = as_input(backend, W, order, dtype)
    gradient, scratch = nd.create(G, dtype), nd.full(4, value=float("nan"), dtype=dtype)
    kind(0.5).apply(params, gradient, scratch, 0.5)
    np.testing.assert_allclose(nd.to_host(gradient), expected, **TOLERANCE[dtype])
    np.testing.assert_array_equal(nd.to_host(params), W)
    result = kind(0.5).score(params, 0.5)
    np.testing.assert_allclose(nd.item(result), score, **TOLERANCE[dtype])
    assert nd.dtype_name(gradient) == dtype


def test_every_penalty_has_a_case():
    assert {name: case[0] for name, case in BY_HAND.items()} == REGULARIZATIONS


@pytest.mark.parametrize("kind", REGULARIZATIONS.values())
def test_coefficients_may_follow_a_schedule(kind):
    penalty = kind(MapSchedule("epoch", {0: 0.5, 2: 0.125}))
    assert [penalty.at(100, epoch) for epoch in range(4)] == [0.5, 0.5, 0.125, 0.125]
    assert kind(0.25).at(5, 5) == 0.25
    with pytest.raises(
        nd.ConfigurationError, match=rf"^{kind.__name__}: coefficient must be a number >= 0 or a Schedule, got '0\.1'"
    ):
        kind("0.1")


def test_penalties_of_different_kinds_differ():
    assert L1Regularization(0.1) != L2Regularization(0.1)
    assert L1Regularization(0.1) == L1Regularization(0.1) != L1Regularization(0.2)
    assert WeightDecay(0.1) == WeightDecay(0.1, apply_lr=True) != WeightDecay(0.1, apply_lr=False)
    assert WeightDecay(0.1) != L2Regularization(0.1) != WeightDecay(0.1)


def network(dtype="float64", **settings):
    conf = NeuralNetConfiguration(seed=5, dtype=dtype, updater=Sgd(1.0), bias_init=0.5, **settings).list(
        DenseLayer(n_in=3, n_out=5, activation="tanh"), OutputLayer(n_in=5, n_out=2, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def step(net):
    """Return score, raw gradient per example, and what the step subtracted, each by name."""
    before = {key: np.array(nd.to_host(view)) for key, view in net.param_table().items()}
    net.set_input(FEATURES)
    net.set_labels(LABELS)
    net.compute_gradient_and_score()
    raw = {key: np.array(nd.to_host(view)) / 4 for key, view in net.gradient().gradient_for_variable().items()}
    net.fit(FEATURES, LABELS)
    after = {key: np.array(nd.to_host(view)) for key, view in net.param_table().items()}
    return before, raw, {key: before[key] - after[key] for key in before}, net.score()


def test_a_layers_penalties_come_in_the_order_l1_l2():
    layer = network(l1=0.1, l2=0.2).conf.layers[0]
    assert layer.regularization_of(bias=False) == (L1Regularization(0.1), L2Regularization(0.2))


def test_weights_are_penalised_and_biases_are_not(dtype):
    before, raw, taken, score = step(network(dtype, l1=0.1, l2=0.2))
    for key in ("0_W", "1_W"):
        expected = raw[key] + 0.1 * np.sign(before[key]) + 0.2 * before[key]
        np.testing.assert_allclose(taken[key], expected, **TOLERANCE[dtype])
    for key in ("0_b", "1_b"):
        assert np.all(before[key] == 0.5)
        np.testing.assert_allclose(taken[key], raw[key], **TOLERANCE[dtype])
    plain = step(network(dtype))[3]
    weights = np.concatenate([before[key].ravel() for key in ("0_W", "1_W")]).astype(np.float64)
    penalty = 0.1 * np.sum(np.abs(weights)) + 0.5 * 0.2 * np.sum(weights**2)
    np.testing.assert_allclose(score, plain + penalty, **TOLERANCE[dtype])


def test_biases_have_penalties_of_their_own():
    _, raw, taken, score = step(network(l1_bias=0.1, l2_bias=0.2))
    for key in ("0_b", "1_b"):
        np.testing.assert_allclose(taken[key], raw[key] + 0.1 + 0.2 * 0.5, **TOLERANCE["float64"])
    for key in ("0_W", "1_W"):
        np.testing.assert_allclose(taken[key], raw[key], **TOLERANCE["float64"])
    penalty = 7 * (0.1 * 0.5 + 0.5 * 0.2 * 0.5**2)  # 5 + 2 biases, all 0.5
    np.testing.assert_allclose(score, step(network())[3] + penalty, **TOLERANCE["float64"])


def test_no_penalty_where_the_coefficient_is_zero_or_missing():
    for settings in ({}, {"l1": 0, "l2": 0.0}):
        assert network(**settings).conf.layers[0].regularization_of(bias=False) == ()
