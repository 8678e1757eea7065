"""Recurrent layers on every backend: NumPy's numbers; on CuPy few launches for a step in time, and graphs."""

import numpy as np
import pytest

import nd
from backends.cuda.cupy_backend import CupyBackend
from nd.activations import Activation
from nd.dataset import DataSet
from nn import (
    LSTM,
    GravesBidirectionalLSTM,
    GravesLSTM,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    RecurrentAttentionLayer,
    RnnOutputLayer,
    SelfAttentionLayer,
    SimpleRnn,
)
from optimize import Adam, CollectScoresListener
from tests.cells import wide_values
from tests.stand_ins import make_backend

N, C, T, OUT, LENGTH = 4, 3, 7, 2, 3
LAYERS = {
    "lstm": LSTM(n_out=5, activation="tanh"),
    "kinks": LSTM(n_out=5, activation="leakyrelu", gate_activation="hardsigmoid"),
    "graves": GravesLSTM(n_out=5, activation="softsign"),
    "both directions": GravesBidirectionalLSTM(n_out=5, activation="tanh"),
    "simple": SimpleRnn(n_out=5, activation="tanh"),
    "normalized": SimpleRnn(n_out=5, activation="tanh", has_layer_norm=True),
}
STATEFUL = [name for name in LAYERS if name != "both directions"]
PER_STEP = {"lstm": 2, "kinks": 2, "graves": 2, "both directions": 4, "simple": 2, "normalized": 3}
"""Launches for a step in time, forward; back there are as many."""


def network(layer, length=None, **settings):
    kind = "standard" if length is None else "truncated_bptt"
    base = NeuralNetConfiguration(seed=2, updater=Adam(0.02), **settings)
    conf = base.list(
        layer, RnnOutputLayer(n_out=OUT, loss="mcxent", activation="softmax"), input_type=InputType.recurrent(C),
        backprop_type=kind, tbptt_fwd_length=length or T,
    )  # fmt: skip
    return MultiLayerNetwork(conf).init()


def batch(seed, masked, steps=T):
    rng = np.random.default_rng(seed)
    labels = np.eye(OUT, dtype=np.float32)[rng.integers(0, OUT, (N, steps))].transpose(0, 2, 1)
    mask = np.ones((N, steps), np.float32)
    mask[1, steps // 2 :] = mask[2, 2:4] = 0
    return DataSet(rng.normal(size=(N, C, steps)).astype("f"), labels, *([mask, mask] if masked else []))


def train(backend, layer, length, masked):
    """Return scores, parameters and predictions on the host."""
    with nd.use_backend(backend):
        net, scores = network(layer, length), CollectScoresListener()
        net.set_listeners(scores)
        net.fit([batch(seed, masked) for seed in range(3)])
        return scores.scores, nd.to_host(net.params()), nd.to_host(net.output(batch(9, masked).features))


@pytest.mark.parametrize("masked", [pytest.param(False, marks=pytest.mark.slow), True], ids=["whole", "masked"])
@pytest.mark.parametrize(
    ("name", "length"), wide_values([*((name, None) for name in LAYERS), *((name, LENGTH) for name in STATEFUL)], 4)
)
@pytest.mark.quick_rows(2)
def test_training_gives_numpys_numbers(name, length, masked, any_backend):
    theirs = train(any_backend, LAYERS[name], length, masked)
    ours = train(make_backend("numpy"), LAYERS[name], length, masked)
    assert len(theirs[0]) == 3 * (1 if length is None else 3)
    for found, expected in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


def launched(launches, net, batches):
    """Return what each minibatch launches, without copies: of masks and labels into a graph, of states out of it."""
    steps = []
    for data in batches:
        launches.clear()
        net.fit_batch(data)
        steps.append([name for name in launches.all() if not name.startswith("cupy_copy")])
    return steps


@pytest.mark.parametrize("masked", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize("name", LAYERS)
def test_a_training_step_is_a_graph(name, masked, device, launches):
    with nd.use_backend(device):
        steps = launched(launches, network(LAYERS[name]), [batch(seed, masked) for seed in range(4)])
    assert "graph" not in steps[0]
    assert steps[1:] == [["graph", "graph"]] * 3  # of the gradient, and of the update


@pytest.mark.parametrize("masked", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize("name", STATEFUL)
def test_segments_are_graphs_of_their_shape(name, masked, device, launches):
    """The last one of a series is shorter than the others."""
    with nd.use_backend(device):
        steps = launched(launches, network(LAYERS[name], LENGTH), [batch(seed, masked) for seed in range(4)])
    assert steps[2:] == [["graph", "graph"] * 3] * 2


@pytest.mark.parametrize("layer", [SelfAttentionLayer, RecurrentAttentionLayer])
def test_attention_is_part_of_a_graph(layer, device, launches):
    with nd.use_backend(device):
        steps = launched(
            launches, network(layer(n_out=4, n_heads=2, project_input=True)), [batch(seed, True) for seed in range(3)]
        )
    assert steps[1:] == [["graph", "graph"]] * 2


@pytest.fixture
def eager(monkeypatch, cupy):
    monkeypatch.setenv("ND_CUDA_GRAPH", "0")
    return CupyBackend()


@pytest.mark.parametrize("masked", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize("name", PER_STEP)
def test_a_step_in_time_is_one_product_and_one_kernel_each_way(name, masked, eager, launches):
    counts = []
    with nd.use_backend(eager):
        for steps in (T, T + 1):
            net, data = network(LAYERS[name]), batch(0, masked, steps)
            net.fit_batch(data)
            counts.append(len(launched(launches, net, [data])[0]))
    assert counts[1] - counts[0] == 2 * PER_STEP[name]


class Own(Activation):
    """Of a user, and declares nothing."""

    def value(self, z, out=None, training=False):
        return nd.tanh(z, out)

    def slope(self, z, a):
        return 1.0 - nd.square(a)


@pytest.mark.parametrize("layer", [LSTM, GravesLSTM, SimpleRnn])
@pytest.mark.quick_rows(2)
def test_activations_that_declare_nothing_run_as_they_are_written(layer, any_backend):
    found = [train(any_backend, layer(n_out=5, activation=activation), None, True) for activation in (Own(), "tanh")]
    for own, known in zip(*found, strict=True):
        np.testing.assert_allclose(own, known, rtol=2e-5, atol=2e-5)
