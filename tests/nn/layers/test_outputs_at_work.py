"""Networks that end otherwise than in plain rows: recorded and not, without new memory."""

import tracemalloc

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nn import (
    CapsuleLayer,
    CapsuleStrengthLayer,
    CenterLossOutputLayer,
    Cnn3DLossLayer,
    CnnLossLayer,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    LossLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OCNNOutputLayer,
    PrimaryCapsules,
    RnnLossLayer,
    RnnOutputLayer,
)
from nn.step.propagation import Propagation
from optimize import Adam, CollectScoresListener
from tests.stand_ins import TOLERANCE
from tests.step_plans import recorded

RNG = np.random.default_rng(17)
LARGE = 64 * 1024  # bytes
STEPS = 4
SAME = {"kernel_size": 3, "convolution_mode": "same", "activation": "tanh"}


def rows(n, c):
    return RNG.random((n, c)).astype(np.float32), np.eye(3, dtype=np.float32)[RNG.integers(0, 3, n)]


def places(n, channels, *axes):
    labels = np.moveaxis(np.eye(3, dtype=np.float32)[RNG.integers(0, 3, (n, *axes))], -1, 1)
    return RNG.random((n, channels, *axes)).astype(np.float32), np.ascontiguousarray(labels)


SERIES, VOXELS = InputType.recurrent(3, 20), InputType.convolutional3d(3, 4, 5, 3)
NETWORKS = {  # layers, input type, data of n examples, shape of a labels' mask
    "capsules": (
        (
            PrimaryCapsules(capsule_dimensions=4, channels=4, kernel_size=3, use_relu=True),
            CapsuleLayer(capsules=3, capsule_dimensions=4, has_bias=True),
            CapsuleStrengthLayer(),
            LossLayer(loss="mse", activation="identity"),
        ),
        InputType.convolutional(12, 12, 1),
        lambda n: (RNG.random((n, 1, 12, 12)).astype(np.float32), rows(n, 1)[1]),
        lambda n: (n, 1),
    ),
    "center-loss": (
        (DenseLayer(n_out=64, activation="tanh"), CenterLossOutputLayer(n_out=3, activation="softmax", lambda_=0.1)),
        InputType.feed_forward(16),
        lambda n: rows(n, 16),
        lambda n: (n, 1),
    ),
    "cnn-loss": (
        (ConvolutionLayer(n_out=3, **SAME), CnnLossLayer(loss="mcxent", activation="softmax")),
        InputType.convolutional(12, 10, 2),
        lambda n: places(n, 2, 12, 10),
        lambda n: (n, 1, 12, 10),
    ),
    "cnn3d-loss": (
        (Cnn3DLossLayer(loss="mcxent", activation="softmax"),),
        VOXELS,
        lambda n: places(n, 3, 3, 4, 5),
        lambda n: (n, 1, 1, 1, 1),
    ),
    "ocnn": (
        (DenseLayer(n_out=16, activation="tanh"), OCNNOutputLayer(hidden_size=8, nu=0.2, activation="sigmoid")),
        InputType.feed_forward(16),
        lambda n: rows(n, 16),
        lambda n: (n, 1),
    ),
    "rnn-loss": (
        (RnnLossLayer(loss="mcxent", activation="softmax"),),
        SERIES,
        lambda n: places(n, 3, 20),
        lambda n: (n, 20),
    ),
    "rnn-output": (
        (RnnOutputLayer(n_out=3, loss="mcxent", activation="softmax"),),
        SERIES,
        lambda n: places(n, 3, 20),
        lambda n: (n, 20),
    ),
}
RECORDED = [name for name in NETWORKS if name != "ocnn"]  # which keeps outputs from step to step


def make_network(name):
    layers, input_type, *_ = NETWORKS[name]
    return MultiLayerNetwork(
        NeuralNetConfiguration(seed=9, l2=1e-3, updater=Adam(0.01)).list(*layers, input_type=input_type)
    ).init()


def batches_of(name, n=6, masked=True):
    """Minibatches of two sizes, labels in another memory order now and then, some with a mask."""
    *_, data, mask_shape = NETWORKS[name]
    found = []
    for step in range(STEPS):
        x, y = data(n if step < STEPS - 1 else n - 2)
        mask = RNG.integers(0, 2, mask_shape(len(x))).astype(np.float32) if masked and step % 2 else None
        found.append(DataSet(x, np.asfortranarray(y) if step == 2 else y, labels_mask=mask))
    return found


def train(name, batches):
    """Return scores, parameters and predictions on the host."""
    net, scores = make_network(name), CollectScoresListener()
    net.set_listeners(scores)
    net.fit(batches, epochs=2)
    return scores.scores, nd.to_host(nd.copy(net.params())), nd.to_host(net.output(batches[0].features)), net


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.quick_rows(every=3)
def test_what_is_recorded_is_what_is_computed_without(name, threads, monkeypatch):
    batches = batches_of(name)
    with nd.use_backend(NumpyBackend(threads=threads)):
        *found, net = train(name, batches)
        programs = recorded(net.engine.gradients) if threads == 1 else []
        assert programs == ([] if threads > 1 else [3] if name in RECORDED else [0])
        monkeypatch.setattr("nn.step.shared_nodes.is_pure", lambda conf: False)
        *expected, plain = train(name, batches)
        assert sum(recorded(plain.engine.gradients)) == 0
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, **TOLERANCE["float32"])


@pytest.mark.parametrize("name", RECORDED)
def test_a_step_is_replayed_and_allocates_nothing_large(name, monkeypatch):
    *_, data, mask_shape = NETWORKS[name]
    with nd.use_backend(NumpyBackend(threads=1)):
        net = make_network(name)
        x, y = data(256)
        batches = [DataSet(x, y), DataSet(x, y, labels_mask=np.ones(mask_shape(256), np.float32))]
        for _ in range(2):
            for batch in batches:
                net.fit_batch(batch)
        monkeypatch.setattr(Propagation, "forward", lambda *_, **__: pytest.fail("computed layer by layer"))
        for batch in batches:
            tracemalloc.start()
            try:
                before = tracemalloc.get_traced_memory()[0]
                net.fit_batch(batch)
                assert tracemalloc.get_traced_memory()[1] - before < LARGE
            finally:
                tracemalloc.stop()
