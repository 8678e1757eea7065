"""RBM: contrastive divergence beside what enumeration says of it."""

import itertools

import numpy as np
import pytest

import nd
from nn import RBM, MultiLayerNetwork, NeuralNetConfiguration
from nn.networks.pretraining import learner_of
from tests.stand_ins import as_input

VISIBLE = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
HIDDEN = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
DATA = VISIBLE[[1, 1, 3, 7, 7, 6]]
STEPS = (1, 5, 50)
COPIES = 3000
"""Of the data in a minibatch: as many chains for every example."""
SIX_DEVIATIONS = 6.0 * 0.5 / np.sqrt(COPIES * len(DATA))
"""Of the mean of so many numbers in 0..1, at most."""


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def parameters(scale=3.0, seed=80):
    """Return W, b and vb of a machine that mixes slowly: the steps of a chain show."""
    rng = np.random.default_rng(seed)
    return rng.normal(0.0, scale, (3, 4)), scale * rng.normal(size=4), scale * rng.normal(size=3)


def flat(W, b, vb):
    return np.concatenate([W.ravel("F"), b, vb])


def statistics(v, h, chances):
    """Return the means of vᵀh, h and v."""
    return flat((v.T * chances) @ h, chances @ h, chances @ v)


def of_data(W, b):
    return statistics(DATA, sigmoid(DATA @ W + b), np.full(len(DATA), 1.0 / len(DATA)))


def exact_gradient(W, b, vb):
    """Return the gradient of -log p(v), the mean over the data: all eight visible states, by their energy."""
    weights = np.exp(VISIBLE @ vb) * np.prod(1.0 + np.exp(VISIBLE @ W + b), 1)
    return statistics(VISIBLE, sigmoid(VISIBLE @ W + b), weights / weights.sum()) - of_data(W, b)


def likelihood(W, b, vb):
    """Return the mean of log p(v), by all 2^7 joint states."""
    joint = np.exp((VISIBLE @ W) @ HIDDEN.T + (HIDDEN @ b)[None] + (VISIBLE @ vb)[:, None])
    places = (DATA @ [4, 2, 1]).astype(int)
    return np.log(joint.sum(1) / joint.sum())[places].mean()


def expected_divergence(W, b, vb, k):
    """Return what the chain has for its mean: 16 hidden states, each with the means of the visible units."""
    v = sigmoid(sigmoid(DATA @ W + b) @ W.T + vb)
    h, chances = sigmoid(v @ W + b), np.full(len(DATA), 1.0 / len(DATA))
    for _ in range(k - 1):
        chances = chances @ np.prod(np.where(HIDDEN[None] == 1.0, h[:, None], 1.0 - h[:, None]), 2)
        v = sigmoid(HIDDEN @ W.T + vb)
        h = sigmoid(v @ W + b)
    return statistics(v, h, chances) - of_data(W, b)


def drawn_divergence(backend, k, params):
    """Return the layer's gradient, the mean over all examples and chains."""
    conf = NeuralNetConfiguration(seed=5, dtype="float64").list(RBM(n_in=3, n_out=4, k=k))
    net = MultiLayerNetwork(conf).init(as_input(backend, flat(*params)[None]))
    learner, data = learner_of(net, 0), as_input(backend, np.tile(DATA, (COPIES, 1)))
    result = learner.compute_gradient_and_score(learner.step_input((data, data)))
    return nd.to_host(result.gradient()).ravel() / (COPIES * len(DATA))


def test_the_exact_gradient_is_that_of_the_likelihood():
    params, step = parameters(), 1e-6
    numeric = []
    for number in range(19):
        sides = []
        for shift in (step, -step):
            vector = flat(*params)
            vector[number] += shift
            sides.append(likelihood(vector[:12].reshape(3, 4, order="F"), vector[12:16], vector[16:]))
        numeric.append((sides[1] - sides[0]) / (2.0 * step))
    np.testing.assert_allclose(exact_gradient(*params), numeric, atol=1e-8)


@pytest.mark.parametrize("k", STEPS)
@pytest.mark.numpy_first
@pytest.mark.slow
def test_the_mean_over_many_chains_is_the_expected_one(k, backend):
    params = parameters()
    np.testing.assert_allclose(
        drawn_divergence(backend, k, params), expected_divergence(*params, k), atol=SIX_DEVIATIONS
    )


@pytest.mark.numpy_first
def test_more_steps_come_nearer_to_the_gradient_of_the_likelihood(backend):
    params = parameters()
    exact = exact_gradient(*params)
    far, nearer, near = (np.linalg.norm(drawn_divergence(backend, k, params) - exact) for k in STEPS)
    assert far > 0.8
    assert nearer < 0.3 * far
    assert near < 0.5 * nearer


def test_visible_means_leave_a_distance_that_no_number_of_steps_takes_away():
    """As in Java, whose chains go on with the means of the visible units: it grows with their variance."""
    params = parameters(1.0, 0)
    exact = exact_gradient(*params)
    ends = [np.linalg.norm(expected_divergence(*params, k) - exact) for k in (50, 500)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)
    assert ends[0] > 0.1
