"""A graph of two inputs and two outputs, and its data."""

import numpy as np

import nd
from nd.dataset import MultiDataSet, NumpyMultiDataSetIterator
from nn import (
    BatchNormalization,
    ComputationGraph,
    DenseLayer,
    InputType,
    MergeVertex,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Adam

RNG = np.random.default_rng(77)
FEATURES = [RNG.normal(size=(20, 4)).astype("float32"), RNG.normal(size=(20, 3)).astype("float32")]
CLASSES = RNG.integers(0, 3, 20)
LABELS = [np.eye(3, dtype="float32")[CLASSES], RNG.normal(size=(20, 2)).astype("float32")]
DATA = MultiDataSet(FEATURES, LABELS)


def graph(**settings):
    conf = NeuralNetConfiguration(**{"seed": 6, "updater": Adam(0.02), "l2": 1e-3, **settings}).graph(
        {"a": InputType.feed_forward(4), "b": InputType.feed_forward(3)},
        {
            "x": (DenseLayer(n_out=5, activation="tanh"), "a"),
            "my_y": (DenseLayer(n_out=6, activation="tanh", drop_out=0.8), "b"),
            "both": (MergeVertex(), "x", "my_y"),
            "norm": (BatchNormalization(), "both"),
            "classes": (OutputLayer(n_out=3, activation="softmax"), "norm"),
            "numbers": (OutputLayer(n_out=2, activation="identity", loss="mse"), "my_y"),
        },
        ["classes", "numbers"],
    )
    return ComputationGraph(conf).init()


def batches(size=6, **settings):
    return NumpyMultiDataSetIterator(FEATURES, LABELS, size, **settings)


def host(array):
    return nd.to_host(nd.copy(array))
