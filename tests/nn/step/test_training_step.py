"""Steps of a network with everything in them at once, against a plain transcription of the order in float64.

Gradient of the sum / minibatch size; normalisation layer by layer; L1 and L2; updater; weight decay; step.
"""

import numpy as np
import pytest

import nd
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import (
    AdaDelta,
    Adam,
    CycleSchedule,
    ExponentialSchedule,
    InverseSchedule,
    MapSchedule,
    Nesterovs,
    PolySchedule,
    RampSchedule,
    RmsProp,
    StepSchedule,
)
from tests.step_plans import replanned

STEPS, N = 5, 6
RNG = np.random.default_rng(8)
BATCHES = [(RNG.normal(size=(N, 3)), np.eye(2)[RNG.integers(0, 2, N)]) for _ in range(STEPS)]
ADAM_RATE = PolySchedule("iteration", 0.05, 2.0, 10)
MOMENTUM = CycleSchedule("iteration", 0.5, 0.9, 4, 0, 1.0)
BIAS_RATE = RampSchedule(ExponentialSchedule("iteration", 0.2, 0.5), 3)
DECAY = StepSchedule("epoch", 0.4, 0.5, 2)
L2 = InverseSchedule("epoch", 0.3, 1.0, 1.0)


def network(dtype="float64"):
    """First layer: all defaults. Second: RmsProp, L2 for weight decay. Third: no momentum for its biases."""
    conf = NeuralNetConfiguration(
        seed=3, dtype=dtype, updater=Adam(ADAM_RATE), bias_updater=Nesterovs(BIAS_RATE, MOMENTUM), bias_init=0.1,
        activation="tanh", l1=0.02, weight_decay=DECAY, l2_bias=0.1, gradient_normalization="clip_l2_per_layer",
        gradient_normalization_threshold=0.05,
    ).list(
        DenseLayer(n_in=3, n_out=4),
        DenseLayer(
            n_out=5, l2=L2, updater=RmsProp(MapSchedule("epoch", {0: 0.01, 3: 0.02}), 0.9, 1e-3),
            gradient_normalization="renormalize_l2_per_param_type",
        ),
        OutputLayer(
            n_out=2, activation="softmax", bias_updater=AdaDelta(), weight_decay_bias=(0.01, False), l1=0.0,
            gradient_normalization="clip_element_wise_absolute_value", gradient_normalization_threshold=0.03,
        ),
    )  # fmt: skip
    return MultiLayerNetwork(conf).init()


def gradients(p, x, y):
    """Sums over the examples for tanh, tanh, softmax with cross entropy; also the summed loss."""
    a = [x]
    for layer in (0, 1):
        a.append(np.tanh(a[-1] @ p[f"{layer}_W"] + p[f"{layer}_b"]))
    z = a[2] @ p["2_W"] + p["2_b"]
    probability = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    delta, found = probability - y, {}
    for layer in (2, 1, 0):
        found[f"{layer}_W"], found[f"{layer}_b"] = a[layer].T @ delta, delta.sum(axis=0, keepdims=True)
        if layer:
            delta = (delta @ p[f"{layer}_W"].T) * (1 - a[layer] ** 2)
    return found, -np.sum(y * np.log(probability))


def normalize(g):
    whole = np.sqrt(sum(np.sum(g[key] ** 2) for key in ("0_W", "0_b")))
    for key in ("0_W", "0_b"):
        g[key] *= 0.05 / whole if whole > 0.05 else 1.0
    for key in ("1_W", "1_b"):
        g[key] /= np.linalg.norm(g[key])
    for key in ("2_W", "2_b"):
        g[key] = np.clip(g[key], -0.03, 0.03)


class Reference:
    """The same network, with a formula for each parameter."""

    def __init__(self, params):
        self.p = params
        shapes = {key: value.shape for key, value in params.items()}
        self.m, self.v, self.d = ({key: np.zeros(shape) for key, shape in shapes.items()} for _ in range(3))
        self.v["1_W"] += 1e-3

    def adam(self, key, g, t):
        self.m[key] = 0.9 * self.m[key] + 0.1 * g
        self.v[key] = 0.999 * self.v[key] + 0.001 * g**2
        a = 0.05 * (1 - t / 10) ** 2 * np.sqrt(1 - 0.999 ** (t + 1)) / (1 - 0.9 ** (t + 1))
        return a * self.m[key] / (np.sqrt(self.v[key]) + 1e-8)

    def rmsprop(self, key, g, t):
        self.v[key] = 0.9 * self.v[key] + 0.1 * g**2
        return (0.02 if t >= 3 else 0.01) * g / (np.sqrt(self.v[key]) + 1e-3)

    def nesterovs(self, key, g, t):
        rate, momentum = 0.2 * 0.5**t * min(1.0, (t + 1) / 3), [0.5, 0.7, 0.9, 0.7][t % 4]
        before = self.v[key]
        self.v[key] = momentum * before - rate * g
        return momentum * before - (1 + momentum) * self.v[key]

    def adadelta(self, key, g, t):
        self.m[key] = 0.95 * self.m[key] + 0.05 * g**2
        u = g * np.sqrt(self.d[key] + 1e-6) / np.sqrt(self.m[key] + 1e-6)
        self.d[key] = 0.95 * self.d[key] + 0.05 * u**2
        return u

    def step(self, t, x, y):
        """Iteration and epoch t; return the score before it."""
        g, loss = gradients(self.p, x, y)
        score = loss / N + self.penalty(t)
        for key in g:
            g[key] = g[key] / N
        normalize(g)
        p, decay, l2, rate = self.p, 0.4 * 0.5 ** (t // 2), 0.3 / (1 + t), 0.05 * (1 - t / 10) ** 2
        steps = {
            "0_W": self.adam("0_W", g["0_W"] + 0.02 * np.sign(p["0_W"]), t) + decay * rate * p["0_W"],
            "0_b": self.nesterovs("0_b", g["0_b"] + 0.1 * p["0_b"], t),
            "1_W": self.rmsprop("1_W", g["1_W"] + 0.02 * np.sign(p["1_W"]) + l2 * p["1_W"], t),
            "1_b": self.nesterovs("1_b", g["1_b"] + 0.1 * p["1_b"], t),
            "2_W": self.adam("2_W", g["2_W"], t) + decay * rate * p["2_W"],
            "2_b": self.adadelta("2_b", g["2_b"], t) + 0.01 * p["2_b"],
        }
        self.p = {key: p[key] - steps[key] for key in p}
        return score

    def penalty(self, t):
        p, decay, l2 = self.p, 0.4 * 0.5 ** (t // 2), 0.3 / (1 + t)
        absolute, square = ({key: function(p[key]).sum() for key in p} for function in (np.abs, np.square))
        halves = decay * (square["0_W"] + square["2_W"]) + l2 * square["1_W"]
        biases = 0.1 * (square["0_b"] + square["1_b"]) + 0.01 * square["2_b"]
        return 0.02 * (absolute["0_W"] + absolute["1_W"]) + 0.5 * (halves + biases)


def on_host(net):
    return {key: np.array(nd.to_host(view), np.float64) for key, view in net.param_table().items()}


def train(net, batches):
    """One epoch per minibatch, so that both counters move."""
    scores = []
    for x, y in batches:
        net.fit([nd.dataset.DataSet(x, y)])
        scores.append(net.score())
    return scores


CLOSE = {"float64": {"rtol": 1e-9, "atol": 1e-11}, "float32": {"rtol": 2e-4, "atol": 2e-5}}


@pytest.mark.parametrize("merges", [False, True])
def test_five_steps(backend, dtype, merges, monkeypatch):
    monkeypatch.setattr(backend, "plan_update", replanned(backend, most_merged=2 * merges))
    net = network(dtype)
    reference = Reference(on_host(net))
    expected = [reference.step(t, x, y) for t, (x, y) in enumerate(BATCHES)]
    np.testing.assert_allclose(train(net, BATCHES), expected, **CLOSE[dtype])
    for key, value in on_host(net).items():
        np.testing.assert_allclose(value, reference.p[key], **CLOSE[dtype], err_msg=key)


def test_saved_and_loaded_half_way(backend, tmp_path):
    whole, net = network(), network()
    train(whole, BATCHES)
    train(net, BATCHES[:2])
    net.save(tmp_path / "half.zip")
    loaded = MultiLayerNetwork.load(tmp_path / "half.zip")
    train(loaded, BATCHES[2:])
    for found, expected in ((loaded.params(), whole.params()), (loaded.updater_state(), whole.updater_state())):
        np.testing.assert_array_equal(nd.to_host(found), nd.to_host(expected))
