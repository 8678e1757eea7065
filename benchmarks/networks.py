"""The networks that are timed, by name, each with its minibatches and with what is measured of it."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
from image_networks import IMAGES
from lenet_mnist import lenet
from residual_digits import residual
from series_networks import SERIES, SERIES_BATCHES, SeriesCase

from nd.dataset import DataSet
from nn import (
    LSTM,
    ComputationGraph,
    ComputationGraphConfiguration,
    DenseLayer,
    EmbeddingSequenceLayer,
    FeedForwardToCnnPreProcessor,
    GlobalPoolingLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import (
    AdaBelief,
    AdaDelta,
    AdaGrad,
    Adam,
    AdaMax,
    AMSGrad,
    Nadam,
    Nesterovs,
    RmsProp,
    Sgd,
    Updater,
)

Configuration = MultiLayerConfiguration | ComputationGraphConfiguration
Network = MultiLayerNetwork | ComputationGraph

LEARNING_RATE, MOMENTUM, L2 = 0.01, 0.9, 5e-4
WORDS, LENGTH = 10_000, 50
ALIKE = 1_000_000
"""Iterations in which the residual network's learning rate would fall: the steps that are timed have one rate."""
STILL = 1e-6
"""Learning rate of steps that leave a network as it begins: thousands on one minibatch would kill units, and decaying
means of what is always 0 take the processor's slow way for the smallest numbers."""
TRAINING, INFERENCE, STREAMED = "training", "inference", "one step of a series"
"""Modes: what is timed of a network."""
BATCHES = (1, 16, 64, 256, 1024)


class Case(NamedTuple):
    """A network, what its minibatches are like, and what is measured of it."""

    conf: Callable[[], Configuration]
    minibatch: Callable[[int], DataSet]
    batches: tuple[int, ...] = BATCHES
    usual: int = 64
    """The minibatch at which also PyTorch's compiler, which takes long, has its turn."""
    modes: tuple[str, ...] = (TRAINING, INFERENCE)
    family: str = ""
    """Networks of one family, which differ in their updaters, count as one in the figure."""
    counts: bool = True
    """Whether it is in the figure."""


def mlp(*sizes: int, l2: float = 0.0, updater: Updater | None = None) -> MultiLayerConfiguration:
    """Return a perceptron with ReLU between and softmax at the end."""
    hidden = [DenseLayer(n_in=n_in, n_out=n_out, activation="relu") for n_in, n_out in pairwise(sizes[:-1])]
    out = OutputLayer(n_in=sizes[-2], n_out=sizes[-1], activation="softmax", loss="mcxent")
    chosen = updater or Nesterovs(LEARNING_RATE, momentum=MOMENTUM)
    return NeuralNetConfiguration(seed=123, l2=l2, weight_init="xavier", updater=chosen).list(*hidden, out)


def autoencoder(*sizes: int) -> MultiLayerConfiguration:
    """Return a perceptron with sigmoids that is to give back what comes in."""
    hidden = [DenseLayer(n_in=n_in, n_out=n_out, activation="sigmoid") for n_in, n_out in pairwise(sizes[:-1])]
    out = OutputLayer(n_in=sizes[-2], n_out=sizes[-1], activation="sigmoid", loss="mse")
    return NeuralNetConfiguration(seed=123, weight_init="xavier", updater=Adam(STILL)).list(*hidden, out)


def rows(n_in: int, classes: int) -> Callable[[int], DataSet]:
    """Return minibatches of rows between 0 and 1, each with a class."""

    def minibatch(batch: int) -> DataSet:
        rng = np.random.default_rng(0)
        labels = np.eye(classes, dtype=np.float32)[rng.integers(0, classes, batch)]
        return DataSet(np.asfortranarray(rng.random((batch, n_in), np.float32)), np.asfortranarray(labels))

    return minibatch


def same_rows(batch: int) -> DataSet:
    """Return a minibatch of 784 numbers between 0 and 1 that are their own labels."""
    features = np.asfortranarray(np.random.default_rng(0).random((batch, 784), np.float32))
    return DataSet(features, features)


def embedding() -> MultiLayerConfiguration:
    """Return a network over the mean of 50 rows of a table of 10,000 x 64."""
    table = EmbeddingSequenceLayer(n_in=WORDS, n_out=64)
    out = OutputLayer(n_out=10, activation="softmax", loss="mcxent")
    conf = NeuralNetConfiguration(seed=123, weight_init="xavier", updater=Adam(STILL))
    return conf.list(table, GlobalPoolingLayer("avg"), out, input_type=InputType.feed_forward(LENGTH))


def words(batch: int) -> DataSet:
    """Return a minibatch of numbers of rows, each with a class."""
    rng = np.random.default_rng(0)
    labels = np.eye(10, dtype=np.float32)[rng.integers(0, 10, batch)]
    return DataSet(rng.integers(0, WORDS, (batch, LENGTH)).astype(np.float32), labels)


UPDATERS: dict[str, Updater] = {
    "adabelief": AdaBelief(STILL),
    "adadelta": AdaDelta(epsilon=STILL**2),
    "adagrad": AdaGrad(STILL),
    "adam": Adam(STILL),
    "adamax": AdaMax(STILL),
    "amsgrad": AMSGrad(STILL),
    "nadam": Nadam(STILL),
    "nesterovs": Nesterovs(STILL, momentum=MOMENTUM),
    "rmsprop": RmsProp(STILL),
    "sgd": Sgd(STILL),
}
"""Name -> updater of the perceptron 784-256-128-10, sorted."""
CLOSEST = {"adabelief": "Adam", "nadam": "NAdam, whose momentum follows a schedule"}
"""Updater -> what PyTorch has that is closest, where it has none of the same arithmetic: not in the figure."""


def _with_updater(name: str) -> Case:
    modes = (TRAINING, INFERENCE) if name == "adam" else (TRAINING,)
    return Case(
        lambda: mlp(784, 256, 128, 10, updater=UPDATERS[name]), rows(784, 10), modes=modes, family="mlp",
        counts=name not in CLOSEST,
    )  # fmt: skip


def _of_series(case: SeriesCase) -> Case:
    modes = (TRAINING, INFERENCE) if case.both else (TRAINING, INFERENCE, STREAMED)
    counts = case.layer is LSTM
    batches = SERIES_BATCHES if counts else (case.batch,)
    return Case(case.conf, case.minibatch, batches, case.batch, modes, counts=counts)


NETWORKS: dict[str, Case] = {
    "lenet": Case(lambda: lenet(123), rows(784, 10)),
    **{name: Case(each.conf, each.minibatch) for name, each in IMAGES.items()},
    "residual": Case(lambda: residual(123, ALIKE), rows(784, 10)),
    "autoencoder": Case(lambda: autoencoder(784, 128, 32, 128, 784), same_rows),
    "embedding": Case(embedding, words),
    **{f"mlp-{name}": _with_updater(name) for name in UPDATERS},
    **{name: _of_series(case) for name, case in SERIES.items()},
    "2-20-2": Case(lambda: mlp(2, 20, 2), rows(2, 2), (50,), 50, (TRAINING,), counts=False),
    "784-1000-10": Case(lambda: mlp(784, 1000, 10, l2=L2), rows(784, 10), (64, 256), 64, (TRAINING,), counts=False),
    "784-64-10": Case(lambda: mlp(784, 64, 10, l2=L2), rows(784, 10), (64, 256), 64, (TRAINING,), counts=False),
    "lenet-graph": Case(lambda: ComputationGraphConfiguration.of_chain(lenet(123)), rows(784, 10), (64,), counts=False),
}
"""Name -> network."""


def make(name: str, batch: int, dtype: str = "float32") -> tuple[Network, DataSet]:
    """Return a network and a minibatch of noise: the arithmetic does not depend on what it shows."""
    case = NETWORKS[name]
    conf: Any = case.conf()
    conf = replace(conf, base=replace(conf.base, dtype=dtype))
    net: Any = (MultiLayerNetwork if isinstance(conf, MultiLayerConfiguration) else ComputationGraph)(conf).init()
    return net, case.minibatch(batch)


def of_images(name: str) -> bool:
    """Tell whether a network takes images or volumes."""
    case = NETWORKS[name]
    rows_of_images = isinstance(case.conf().nodes[0].preprocessor, FeedForwardToCnnPreProcessor)
    return rows_of_images or case.minibatch(1).features.ndim > 3
