"""Networks to trace, small ones of both kinds."""

import numpy as np

from nd.dataset import DataSet
from nn import (
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from optimize import Adam


def dense(dtype="float32", **settings):
    """Two layers, Adam and an L2 penalty."""
    settings = {"seed": 7, "updater": Adam(0.01), "l2": 0.001, "dtype": dtype, **settings}
    conf = NeuralNetConfiguration(**settings).list(
        DenseLayer(n_in=6, n_out=5, activation="tanh"), OutputLayer(n_out=3, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def pooled():
    """A convolution and its pooling, which run as one, and dropout."""
    conf = NeuralNetConfiguration(seed=7, updater=Adam(0.01)).list(
        ConvolutionLayer(n_out=4, kernel_size=(3, 3), activation="relu"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        OutputLayer(n_out=3, activation="softmax", drop_out=0.5),
        input_type=InputType.convolutional(8, 8, 2),
    )
    return MultiLayerNetwork(conf).init()


def graph():
    """A sum of two branches."""
    conf = NeuralNetConfiguration(seed=7, updater=Adam(0.01)).graph(
        inputs={"x": InputType.feed_forward(6)},
        nodes={
            "left": (DenseLayer(n_out=4, activation="tanh"), "x"),
            "right": (DenseLayer(n_out=4, activation="sigmoid"), "x"),
            "sum": (ElementWiseVertex("add"), "left", "right"),
            "out": (OutputLayer(n_out=3, activation="softmax"), "sum"),
        },
        outputs=["out"],
    )
    return ComputationGraph(conf).init()


def rows(count=8, seed=0):
    """A minibatch of rows."""
    rng = np.random.default_rng(seed)
    return DataSet(
        rng.normal(size=(count, 6)).astype(np.float32), np.eye(3, dtype=np.float32)[rng.integers(0, 3, count)]
    )


def images(count=6, seed=0):
    """A minibatch of images."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 2, 8, 8)).astype(np.float32)
    return DataSet(x, np.eye(3, dtype=np.float32)[rng.integers(0, 3, count)])


EVERY = {"dense": (dense, rows), "pooled": (pooled, images), "graph": (graph, rows)}
"""Name -> the network, its minibatch."""
