"""Networks with normalisations and embeddings through CupyBackend give NumPy's numbers."""

import numpy as np
import pytest

import nd
from backends.cuda.cupy_backend import CupyBackend
from nd.dataset import DataSet
from nn import (
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseMultiplicationLayer,
    EmbeddingLayer,
    InputType,
    LocalResponseNormalization,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    PReLULayer,
)
from optimize import Adam, CollectScoresListener, Nesterovs
from tests.stand_ins import make_backend

CLOSE = 1e-5
RNG = np.random.default_rng(3)
LABELS = np.eye(3, dtype=np.float32)
SIZES = (8, 8, 8, 5)
IMAGES = [DataSet(RNG.random((n, 1, 6, 6), np.float32), LABELS[RNG.integers(0, 3, n)]) for n in SIZES]
WORDS = [DataSet(RNG.integers(0, 9, (n, 1)).astype(np.float32), LABELS[RNG.integers(0, 3, n)]) for n in SIZES]
CLIPPED = {"gradient_normalization": "clip_l2_per_layer", "gradient_normalization_threshold": 0.05}


def images(**settings):
    """Without biases that a normalisation takes away: Adam makes steps of the rounding in their gradients."""
    return NeuralNetConfiguration(seed=9, l2=1e-3, **{"updater": Adam(0.01), **settings}).list(
        ConvolutionLayer(n_out=4, kernel_size=3, activation="identity", has_bias=False),
        BatchNormalization(),
        ActivationLayer("relu"),
        LocalResponseNormalization(alpha=0.1),
        PReLULayer(shared_axes=(2, 3), weight_init="ones"),
        DenseLayer(n_out=7, activation="identity", has_bias=False),
        BatchNormalization(use_log_std=False, lock_gamma_beta=True, gamma=1.5, beta=0.5),
        ElementWiseMultiplicationLayer(activation="tanh"),
        OutputLayer(n_out=3, loss="mcxent", activation="softmax"),
        input_type=InputType.convolutional(6, 6, 1),
    )


def words():
    return NeuralNetConfiguration(seed=9, updater=Nesterovs(learning_rate=0.1)).list(
        EmbeddingLayer(n_in=9, n_out=5, has_bias=True, activation="tanh"),
        BatchNormalization(),
        OutputLayer(n_out=3, loss="mcxent", activation="softmax"),
        input_type=InputType.feed_forward(1),
    )


NETWORKS = {
    "images": (images, IMAGES),
    "images, clipped": (lambda: images(**CLIPPED), IMAGES),
    "images, searched along lines": (lambda: images(optimization_algo="lbfgs", updater="sgd"), IMAGES),
    "words": (words, WORDS),
}


def train(backend, name):
    """Return scores, parameters, updater state and predictions on the host."""
    make, batches = NETWORKS[name]
    with nd.use_backend(backend):
        net, scores = MultiLayerNetwork(make()).init(), CollectScoresListener()
        net.set_listeners(scores)
        net.fit(batches, epochs=2)
        return scores.scores, *map(nd.to_host, (net.params(), net.updater_state(), net.output(batches[0].features)))


@pytest.mark.parametrize(("name", "graphs"), [*((name, "1") for name in NETWORKS), ("images", "0")])
def test_training_gives_numpys_numbers(name, graphs, cupy, monkeypatch):
    monkeypatch.setenv("ND_CUDA_GRAPH", graphs)
    theirs, ours = train(CupyBackend(), name), train(make_backend("numpy"), name)
    for found, expected in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(found, expected, rtol=CLOSE, atol=CLOSE)


def test_the_running_statistics_of_a_step_that_must_not_be_stay(device):
    """The guard holds for them too: they are part of the parameters' update."""
    batch = IMAGES[0]
    broken = DataSet(np.full_like(batch.features, np.nan), batch.labels)
    with nd.use_backend(device):
        net = MultiLayerNetwork(images()).init()
        net.fit_batch(batch)
        before = nd.to_host(nd.copy(net.params()))
        with pytest.raises(nd.NumericError, match="must be finite"):
            net.fit([broken, batch])
        np.testing.assert_array_equal(nd.to_host(net.params()), before)


def test_a_word_outside_of_the_table_stops_training(device):
    """Where it is on the device already: nobody waits to look at it there."""
    x, y = WORDS[0].features.copy(), WORDS[0].labels
    x[3] = 9
    with nd.use_backend(device):
        net = MultiLayerNetwork(words()).init()
        before = nd.to_host(nd.copy(net.params()))
        with pytest.raises(nd.NumericError, match="the score must be finite, got nan"):
            net.fit([DataSet(nd.create(x), nd.create(y))])
        np.testing.assert_array_equal(nd.to_host(net.params()), before)
