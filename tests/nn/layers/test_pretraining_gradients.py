"""Gradients of pretraining: numeric derivatives of the score, and formulas in NumPy where the score is another one."""

import numpy as np
import pytest

import nd
from nn import (
    RBM,
    AutoEncoder,
    BernoulliReconstructionDistribution,
    CompositeReconstructionDistribution,
    ExponentialReconstructionDistribution,
    GaussianReconstructionDistribution,
    LossFunctionWrapper,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    VariationalAutoencoder,
)
from nn.networks.pretraining import learner_of
from tests.stand_ins import as_input

RNG = np.random.default_rng(8)
X = RNG.uniform(0.05, 0.95, (4, 5))
BITS = (X > 0.5).astype(float)
COPIES = 1000
"""Of the examples, for a mean over so many draws times the samples of each."""
STEP, ERROR = 1e-5, 1e-6
CLOSE = {"rtol": 1e-10, "atol": 1e-12}
DISTRIBUTIONS = {
    "gaussian": GaussianReconstructionDistribution("tanh"),
    "bernoulli": BernoulliReconstructionDistribution(),
    "bernoulli of hardsigmoid": BernoulliReconstructionDistribution("hardsigmoid"),
    "exponential": ExponentialReconstructionDistribution("softsign"),
    "loss": LossFunctionWrapper("tanh", "mse"),
    "composite": CompositeReconstructionDistribution(
        (2, 1, 2),
        (
            GaussianReconstructionDistribution(),
            ExponentialReconstructionDistribution(),
            BernoulliReconstructionDistribution(),
        ),
    ),
    "composite of losses": CompositeReconstructionDistribution(
        (3, 2), (LossFunctionWrapper("sigmoid", "xent"), LossFunctionWrapper("identity", "l1"))
    ),
}


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def pretrained(layer, **settings):
    """Return the learner of a network with one layer, all of whose parameters are drawn."""
    conf = NeuralNetConfiguration(seed=3, dtype="float64", pretrain=True, **settings).list(layer)
    net = MultiLayerNetwork(conf).init()
    net.set_params(np.random.default_rng(4).normal(0.0, 0.3, (1, net.num_params())))
    return learner_of(net, 0)


def step_of(learner, x):
    """Return the step's result on the same draws whenever it is called."""
    learner.random.set_seed(9)
    return learner.compute_gradient_and_score(learner.step_input((x, x)))


def named(learner, result):
    """Return the mean gradients by the names of the parameters."""
    net, at, views = learner.network, 0, {}
    gradient = nd.to_host(result.gradient()).ravel() / len(X)
    for name, shape in net.conf.nodes[0].conf.param_shapes().items():
        size = int(np.prod(shape))
        views[name] = gradient[at : at + size].reshape(shape, order="F")
        at += size
    return views


def params_of(learner):
    names = learner.network.conf.nodes[0].conf.param_shapes()
    return {name: nd.to_host(learner.network.get_param(f"0_{name}")) for name in names}


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("latent", ["identity", "tanh"])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.numpy_first
@pytest.mark.quick_rows(every=3)
def test_the_gradient_of_a_variational_autoencoder_is_that_of_its_score(name, latent, samples, backend):
    layer = VariationalAutoencoder(
        n_in=5, n_out=2, activation="tanh", encoder_layer_sizes=(4, 3), decoder_layer_sizes=(3,),
        pzx_activation=latent, reconstruction_distribution=DISTRIBUTIONS[name], num_samples=samples,
    )  # fmt: skip
    learner, x = pretrained(layer), as_input(backend, X)
    gradient = nd.to_host(step_of(learner, x).gradient()).ravel() / len(X)
    start = nd.to_host(learner.params()).copy()

    def score(vector):
        learner.set_params(vector)
        return step_of(learner, x).score

    for seed in range(4):
        direction = np.random.default_rng(seed).normal(size=start.shape)
        numeric = (score(start + STEP * direction) - score(start - STEP * direction)) / (2.0 * STEP)
        assert gradient @ direction.ravel() == pytest.approx(numeric, rel=ERROR, abs=ERROR)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("sparsity", [0.0, 0.2])
@pytest.mark.parametrize(
    ("hidden", "visible", "up", "down"),
    [
        ("identity", "identity", np.asarray, np.asarray),
        ("softmax", "softmax", lambda z: softmax(softmax(z)), lambda z: softmax(softmax(z))),
        ("softmax", "identity", lambda z: softmax(softmax(z)), np.asarray),
    ],
    ids=["identity", "softmax", "softmax over identity"],
)
def test_the_gradient_of_a_machine_that_draws_nothing(hidden, visible, up, down, sparsity, k, backend):
    learner = pretrained(RBM(n_in=5, n_out=3, hidden_unit=hidden, visible_unit=visible, k=k, sparsity=sparsity))
    W, b, vb = params_of(learner).values()
    h0 = h = up(X @ W + b)
    for _ in range(k):
        v = down(h @ W.T + vb)
        h = up(v @ W + b)
    expected = {"W": v.T @ h - X.T @ h0, "b": (h0 - sparsity if sparsity else h - h0).sum(0), "vb": (v - X).sum(0)}
    computed = named(learner, step_of(learner, as_input(backend, X)))
    for name, value in expected.items():
        np.testing.assert_allclose(computed[name].ravel(), value.ravel() / len(X), **CLOSE)


@pytest.mark.parametrize("sparsity", [0.0, 0.15])
def test_the_gradient_of_an_autoencoder(sparsity, backend):
    learner = pretrained(AutoEncoder(n_in=5, n_out=3, activation="sigmoid", corruption_level=0.0, sparsity=sparsity))
    W, b, vb = params_of(learner).values()
    h = sigmoid(X @ W + b)
    v = sigmoid(h @ W.T + vb) - X
    d = (v @ W) * h * (h - sparsity if sparsity else 1.0 - h)
    expected = {"W": X.T @ d + v.T @ h, "b": d.sum(0), "vb": v.sum(0)}
    computed = named(learner, step_of(learner, as_input(backend, X)))
    for name, value in expected.items():
        np.testing.assert_allclose(computed[name].ravel(), value.ravel() / len(X), **CLOSE)


def test_an_autoencoder_of_sigmoids_descends_the_cross_entropy(backend):
    learner = pretrained(AutoEncoder(n_in=5, n_out=3, activation="sigmoid", corruption_level=0.0))
    W, b, vb = params_of(learner).values()

    def error(W, b, vb):
        q = sigmoid(sigmoid(X @ W + b) @ W.T + vb)
        return -(X * np.log(q) + (1.0 - X) * np.log(1.0 - q)).sum() / len(X)

    computed = named(learner, step_of(learner, as_input(backend, X)))
    for number, name in enumerate(("W", "b", "vb")):
        for index in np.ndindex(computed[name].shape):
            sides = []
            for shift in (STEP, -STEP):
                moved = [W.copy(), b.copy(), vb.copy()]
                moved[number][index] += shift
                sides.append(error(*moved))
            assert computed[name][index] == pytest.approx((sides[0] - sides[1]) / (2.0 * STEP), rel=ERROR, abs=ERROR)


def grid_of(means, deviations, width, points):
    """Return points ``[G, n]`` around a mean, and the weight of each in an integral."""
    axes = [np.linspace(m - width * s, m + width * s, points) for m, s in zip(means, deviations, strict=True)]
    weight = np.prod([axis[1] - axis[0] for axis in axes])
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], 1), weight


def log_normal(z, mean, deviation):
    return (-0.5 * ((z - mean) / deviation) ** 2 - np.log(deviation) - 0.5 * np.log(2.0 * np.pi)).sum(1)


def bounds(p, bits, points):
    """Return the bound of log p(x) of every example by integrals over a grid, and log p(x) itself."""
    results = []
    for x in bits:
        e = np.tanh(x @ p["e0W"] + p["e0b"])[0]
        mean = e @ p["pZXMeanW"] + p["pZXMeanb"][0]
        deviation = np.exp(0.5 * (e @ p["pZXLogStd2W"] + p["pZXLogStd2b"][0]))

        def log_joint(z, x=x):
            logits = np.tanh(z @ p["d0W"] + p["d0b"]) @ p["pXZW"] + p["pXZb"]
            return (x * logits - np.logaddexp(0.0, logits)).sum(1) + log_normal(z, 0.0, np.ones(z.shape[1]))

        z, weight = grid_of(mean, deviation, 9.0, points)
        log_q = log_normal(z, mean, deviation)
        bound = (np.exp(log_q) * (log_joint(z) - log_q)).sum() * weight
        z, weight = grid_of(0.0 * mean, np.ones(len(mean)), 9.0, points)
        results.append((bound, np.log(np.exp(log_joint(z)).sum() * weight)))
    return np.array(results)


@pytest.mark.parametrize(("latent", "points"), [(1, 400), (2, 120)])
@pytest.mark.numpy_first
@pytest.mark.quick_rows(1)
def test_the_score_is_the_lower_bound_of_the_likelihood(latent, points, backend):
    layer = VariationalAutoencoder(
        n_in=5, n_out=latent, activation="tanh", encoder_layer_sizes=3, decoder_layer_sizes=4,
        reconstruction_distribution=BernoulliReconstructionDistribution(), num_samples=100,
    )  # fmt: skip
    learner = pretrained(layer)
    expected, likelihood = bounds(params_of(learner), BITS, points).mean(0)
    assert step_of(learner, as_input(backend, np.tile(BITS, (COPIES, 1)))).score == pytest.approx(-expected, abs=1e-3)
    assert expected < likelihood - 1e-3
