"""Promises that need no files: NumPy's draws bit for bit, the same run twice, graphs or not, LeNet's scores.

On a device as they are promised; on the host CUDA, whose threads are a loop, with fewer and smaller steps, which shows
that nothing but the device's own arithmetic is left to be seen there.
"""

import numpy as np
import pytest

import nd
from nd.dataset import DigitsDataSetIterator, EarlyTerminationDataSetIterator
from nn import (
    ActivationLayer,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    LossLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from nn.terms.dropout import Dropout
from optimize import CollectScoresListener, Nesterovs
from optimize.step import negative_gradient_step
from tests.cuda_on_host.calls import on_host
from tests.stand_ins import make_backend
from tests.test_java_reference import lenet
from tests.updates import run_update

SCORES = 1e-4
"""How far LeNet's scores may be apart, relatively, after up to 60 steps of another order of additions."""
ORDER = 3
"""Of the digits: with this one, parameters moved by 1e-7 give the same scores within 1e-5, also on NumPy alone. With
others two cells of a pooling window tie but for rounding somewhere, and the loser of one run wins the other."""
RNG = np.random.default_rng(4)


@pytest.fixture
def here(cupy):
    return make_backend("cupy")


@pytest.fixture
def eager(here, monkeypatch):
    """The same backend without CUDA graphs."""
    monkeypatch.setenv("ND_CUDA_GRAPH", "0")
    return type(here)()


def small():
    """A LeNet for the host CUDA."""
    return NeuralNetConfiguration(seed=123, l2=5e-4, weight_init="xavier", updater=Nesterovs(0.01, momentum=0.9)).list(
        ConvolutionLayer(n_out=3, kernel_size=(5, 5), stride=(3, 3), activation="identity"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        DenseLayer(n_out=9, activation="relu"),
        OutputLayer(n_out=10, loss="negativeloglikelihood", activation="softmax"),
        input_type=InputType.convolutional_flat(28, 28, 1),
    )


@pytest.fixture
def run():
    """Returns a function that trains on a backend: scores, parameters and predictions on the host."""

    conf, steps = (small(), 8) if on_host() else (lenet(), 60)

    def trained(backend):
        with nd.use_backend(backend):
            net, scores = MultiLayerNetwork(conf).init(), CollectScoresListener()
            net.set_listeners(scores)
            net.fit(EarlyTerminationDataSetIterator(DigitsDataSetIterator(16, seed=ORDER), steps))
            output = nd.to_host(net.output(DigitsDataSetIterator(16, train=False).next().features))
            return np.array(scores.scores), nd.to_host(net.params()), output

    return trained


def same_bits(found, expected):
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, wanted, strict=True)


# ---- draws


def test_weights_of_a_seed_have_numpys_bits(here):
    weights = []
    for backend in (here, make_backend("numpy")):
        with nd.use_backend(backend):
            weights.append(nd.to_host(MultiLayerNetwork(lenet()).init().params()))
    same_bits(weights[:1], weights[1:])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dropout_masks_have_numpys_bits(dtype, here):
    masks = []
    for backend in (here, make_backend("numpy")):
        nd.random.set_seed(123)
        with nd.use_backend(backend):
            masks.append([nd.to_host(Dropout(p).mask((33, 70), dtype)) for p in (0.5, 0.8, 0.1)])
    same_bits(*masks)
    assert all(0 < np.count_nonzero(mask) < mask.size for mask in masks[0])


# ---- runs


def test_two_runs_have_the_same_bits(here, run):
    same_bits(run(here), run(here))


def test_two_eager_runs_have_the_same_bits(eager, run):
    same_bits(run(eager), run(eager))


def test_scores_are_numpys(here, run):
    found, expected = run(here), run(make_backend("numpy"))
    assert len(found[0]) == len(expected[0]) > 1
    np.testing.assert_allclose(found[0], expected[0], rtol=SCORES)
    np.testing.assert_allclose(found[2], expected[2], atol=SCORES)


# ---- graphs


def test_graphs_give_the_eager_numbers(here, eager, run):
    """Not bit for bit: a graph holds our own product, an eager step cuBLAS's."""
    captured, alone = run(here), run(eager)
    np.testing.assert_allclose(captured[0], alone[0], rtol=SCORES)
    np.testing.assert_allclose(captured[2], alone[2], atol=SCORES)


def test_graphs_without_products_give_the_eager_bits(here, eager):
    conf = NeuralNetConfiguration(seed=1).list(
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(1, 1)),
        ActivationLayer(activation="tanh"),
        SubsamplingLayer("avg", kernel_size=(3, 3), stride=(2, 2)),
        LossLayer(loss="mcxent", activation="softmax"),
        input_type=InputType.convolutional_flat(8, 8, 1),
    )
    batches = [RNG.normal(size=(6, 64)).astype("float32") for _ in range(4)]
    outputs = []
    for backend in (here, eager):
        with nd.use_backend(backend):
            net = MultiLayerNetwork(conf).init()
            outputs.append([nd.to_host(net.output(features)) for features in batches])
    same_bits(*outputs)


def test_updates_as_graphs_give_the_eager_bits(here, eager):
    """From the same gradients, updater and parameters: no product is between."""
    found = []
    for backend in (here, eager):
        with nd.use_backend(backend):
            net = MultiLayerNetwork(small()).init()
            for number in range(4):
                gradient = np.random.default_rng(number).normal(size=(1, net.num_params())).astype("float32")
                nd.assign(net.flattened_gradients(), nd.create(gradient))
                run_update(net.updater, 4, number, 0, negative_gradient_step)
            found.append([nd.to_host(net.params()), nd.to_host(net.updater_state())])
    same_bits(*found)
