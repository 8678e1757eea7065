"""The steps that must show: LeNet's, a batch-normalised net's and an MLP's parameters after 20 steps, in both."""

import numpy as np
import pytest

from nn import (
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from optimize import Adam, Nesterovs, Sgd
from tests.nn.onnx.training.steps import compared

STEPS = 20
CLOSE = 1e-5


def batches(shape, classes, examples=8, steps=STEPS, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        labels = rng.integers(0, classes, examples)
        x = rng.normal(0.0, 1.0, (examples, *shape)) + labels.reshape(-1, *(1 for _ in shape)) / classes
        yield x.astype(np.float32), np.eye(classes, dtype=np.float32)[labels]


def made(*layers, input_type=None, **settings):
    return MultiLayerNetwork(NeuralNetConfiguration(seed=3, **settings).list(*layers, input_type=input_type)).init()


def mlp(**settings):
    layers = DenseLayer(n_in=12, n_out=16, activation="relu"), DenseLayer(n_out=10, activation="tanh")
    return made(*layers, OutputLayer(n_out=4), **settings)


def lenet(**settings):
    return made(
        ConvolutionLayer(n_out=20, kernel_size=5, activation="identity"),
        SubsamplingLayer("max", kernel_size=2, stride=2),
        ConvolutionLayer(n_out=50, kernel_size=5, activation="identity"),
        SubsamplingLayer("max", kernel_size=2, stride=2),
        DenseLayer(n_out=500, activation="relu"),
        OutputLayer(n_out=10, loss="negativeloglikelihood"),
        input_type=InputType.convolutional_flat(28, 28, 1),
        **settings,
    )


def batch_normalised(**settings):
    return made(
        ConvolutionLayer(n_out=6, kernel_size=3, convolution_mode="same", has_bias=False, activation="identity"),
        BatchNormalization(),
        ActivationLayer("relu"),
        SubsamplingLayer("avg", kernel_size=2, stride=2),
        DenseLayer(n_out=12, activation="identity", has_bias=False),  # whose gradient would be rounding alone
        BatchNormalization(use_log_std=False),
        ActivationLayer("leakyrelu"),
        OutputLayer(n_out=5),
        input_type=InputType.convolutional(8, 8, 3),
        **settings,
    )


NETS = {
    "mlp": (mlp, (12,), 4),
    "lenet": (lenet, (784,), 10),
    "batch_normalised": (batch_normalised, (3, 8, 8), 5),
}
UPDATERS = {"sgd": Sgd(0.05), "nesterovs": Nesterovs(0.01, 0.9), "adam": Adam(3e-4)}
"""Adam's updates are as large as its rate where a gradient is little more than rounding: see the pages on it."""


DATA = {"sgd": (2, 0), "nesterovs": (2, 4), "adam": (2, 2)}
"""Updater -> examples and seed of LeNet's data. With these, in double precision, the largest two cells of a window that
is pooled, and a rectifier's sum and 0, are never closer than 2.6e-6. Where they are as close as numbers are rounded,
another order of sums gives errors to another cell, and the two go apart: oneDNN and NumPy do, too."""


@pytest.mark.parametrize("updater", UPDATERS)
@pytest.mark.parametrize("kind", NETS)
@pytest.mark.quick_rows(3)
def test_parameters_after_20_steps(kind, updater):
    make, shape, classes = NETS[kind]
    net = make(updater=UPDATERS[updater], l2=1e-3)
    examples, seed = DATA[updater] if kind == "lenet" else (8, 0)
    of_parameters, of_states, of_scores = compared(net, batches(shape, classes, examples, seed=seed))
    print(kind, updater, of_parameters, of_states, of_scores)
    assert net.iteration_count == STEPS
    assert max(of_parameters, of_states, of_scores) < CLOSE
