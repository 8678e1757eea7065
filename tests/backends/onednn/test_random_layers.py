"""Layers and graphs drawn at random: with oneDNN they are as near to float64 as without."""

import dataclasses
import random

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nn import (
    LSTM,
    ComputationGraph,
    ComputationGraphConfiguration,
    ConvolutionLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
)
from tests.backends.onednn.networks import without
from tests.cases import mixed_graphs
from tests.cases.layers import LAYER_CASES, make_features, make_labels
from tests.cases.random_networks import SIZES
from tests.cases.random_values import varied
from tests.sweeps import share

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy's, where numbers drawn are extreme
FAMILIES = (
    "Batch",
    "Bidirectional",
    "Conv",
    "Deconv",
    "Depthwise",
    "GravesLSTM",
    "LSTM",
    "Local",
    "Pool",
    "Sub",
    "Sep",
    "Zero",
)
CASES = [
    case
    for name, cases in LAYER_CASES.items()
    for case in cases
    if any(part.lower() in name.lower() for part in FAMILIES) and not case.draws
]
ALLOWED = 2e-5, 4  # of the largest number, and times the error without oneDNN
GRAPHS, LAYERS, FEW = share(200), share(600), 8


def below(input_type):
    """Return a layer whose outputs are as its inputs, so that the one above it has to hand errors on."""
    shape = input_type.shape
    if len(shape) == 3:
        return (ConvolutionLayer(n_out=shape[0], kernel_size=1, activation="tanh"),)
    return (LSTM(n_out=shape[0], activation="tanh"),) if len(shape) == 2 else ()


def layers(number, backend, dtype):
    """Return a network and a minibatch; None where there is no such configuration."""
    rng = random.Random(number)
    case = CASES[rng.randrange(len(CASES))]
    try:
        layer = varied(rng, case.layer, rng.choice([0.1, 0.3, 0.5]), {*SIZES, "activation", "drop_out", "weight_noise"})
        base = NeuralNetConfiguration(seed=number + 1, dtype=dtype, weight_init="xavier")
        with nd.use_backend(backend):
            chain = (*below(case.input_type), layer, *case.tail)
            net = MultiLayerNetwork(base.list(*chain, input_type=case.input_type)).init()
            net.random.set_seed(7)
            features = make_features(case, number, 8)
            return net, features, make_labels(case, net.output(features).shape[1:], number, 8)
    except nd.NdError:
        return None


def numbers_of_layers(number, backend, dtype):
    """Return output and gradient, the latter None where the network has none."""
    found = layers(number, backend, dtype)
    if found is None:
        return None
    net, features, labels = found
    output = nd.to_host(net.output(features))
    net.set_input(features)
    net.set_labels(labels)
    net.random.set_seed(7)
    try:
        net.compute_gradient_and_score()
    except nd.NdError:
        return [output]
    return [output, nd.to_host(net.flattened_gradients())]


def numbers_of_graphs(number, backend, dtype):
    graph = mixed_graphs.draw(number)
    with nd.use_backend(backend):
        net = ComputationGraph(in_dtype(graph.conf, dtype)).init()
    net.set_params(nd.to_host(graph.network().params()).astype(dtype))
    net.set_inputs(*graph.features)
    net.set_labels(*graph.labels)
    net.set_masks(graph.features_masks, graph.labels_masks)
    net.compute_gradient_and_score()
    return [nd.to_host(net.flattened_gradients())]


def in_dtype(conf: ComputationGraphConfiguration, dtype):
    return dataclasses.replace(conf, base=dataclasses.replace(conf.base, dtype=dtype))


def check(numbers_of, number):
    """Return whether there was something to compare."""
    exact = numbers_of(number, without(), "float64")
    if exact is None:
        return False
    found = [numbers_of(number, backend, "float32") for backend in (NumpyBackend(1), without())]
    for expected, *got in zip(exact, *found, strict=True):
        expected = np.array(expected, np.float64)
        if not np.isfinite(expected).all():
            continue
        ours, numpys = (np.max(np.abs(each - expected), initial=0.0) for each in got)
        assert ours <= ALLOWED[0] * np.max(np.abs(expected), initial=0.0) + ALLOWED[1] * numpys, (number, ours, numpys)
    return True


def check_all(numbers_of, numbers):
    wrong, compared = [], 0
    for number in numbers:
        try:
            compared += check(numbers_of, number)
        except (AssertionError, nd.NdError) as error:
            wrong.append(f"{number}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)
    return compared


def test_layers(ran):
    assert check_all(numbers_of_layers, range(FEW)) > FEW // 2
    assert len(set(ran)) > 3


@pytest.mark.slow
def test_600_layers(ran):
    assert check_all(numbers_of_layers, range(LAYERS)) > LAYERS // 2
    assert {"convolution_forward", "deconvolution_backward_data", "lstm_backward", "pooling_backward"} <= set(ran)


@pytest.mark.slow
def test_200_graphs(ran):
    assert check_all(numbers_of_graphs, range(GRAPHS)) == GRAPHS
    assert ran
