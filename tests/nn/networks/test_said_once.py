"""What training says once and no more: an updater that nobody chose, and a minibatch that cannot be normalised."""

import logging
import warnings

import numpy as np
import pytest

from nd.dataset import DataSet
from nn import (
    BatchNormalization,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Sgd
from optimize.earlystopping import (
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingTrainer,
    MaxEpochsTerminationCondition,
)

X = np.random.default_rng(4).normal(size=(6, 3)).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[[0, 1, 0, 1, 1, 0]]


def conf(**settings):
    return NeuralNetConfiguration(seed=1, **settings).list(OutputLayer(n_in=3, n_out=2))


def graph(**settings):
    nodes = {"out": (OutputLayer(n_in=3, n_out=2), "in")}
    base = NeuralNetConfiguration(seed=1, **settings)
    return ComputationGraph(base.graph(inputs={"in": InputType.feed_forward(3)}, nodes=nodes, outputs="out")).init()


def built():
    layer = OutputLayer.Builder().nIn(3).nOut(2).build()
    return NeuralNetConfiguration.Builder().seed(1).list().layer(layer).build()


def stop_early(net):
    stopping = EarlyStoppingConfiguration(
        score_calculator=DataSetLossCalculator(DataSet(X, Y)),
        epoch_termination_conditions=[MaxEpochsTerminationCondition(1)],
    )
    EarlyStoppingTrainer(stopping, net, DataSet(X, Y)).fit()


WAYS = {
    "arrays": lambda net: net.fit(X, Y),
    "batches": lambda net: net.fit(X, Y, batch_size=2, epochs=2),
    "fit_batch": lambda net: net.fit_batch(DataSet(X, Y)),
    "early stopping": stop_early,
}


def lines(caplog):
    return [record.getMessage() for record in caplog.records if "no updater was set" in record.getMessage()]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "make", [lambda: MultiLayerNetwork(conf()).init(), graph, lambda: MultiLayerNetwork(built()).init()]
)
def test_javas_default_updater_is_said_at_the_first_step(caplog, make, way):
    net = make()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            WAYS[way](net)
    (line,) = lines(caplog)
    assert line.startswith(f"{type(net).__name__}: no updater was set, so it trains with Java's default, Sgd(")
    assert "Say NeuralNetConfiguration(updater='adam')" in line


def test_who_has_chosen_hears_nothing(caplog, tmp_path):
    nets = [
        graph(updater="sgd"),
        MultiLayerNetwork(conf(updater=Sgd(0.001))),
        MultiLayerNetwork(conf(learning_rate=0.1)),
    ]
    own = NeuralNetConfiguration(seed=1).list(OutputLayer(n_in=3, n_out=2, updater="adam"))
    nets += [MultiLayerNetwork(own), MultiLayerNetwork(MultiLayerConfiguration.from_json(conf().to_json()))]
    MultiLayerNetwork(conf()).init().save(tmp_path / "m.zip")
    nets.append(MultiLayerNetwork.load(tmp_path / "m.zip"))
    with caplog.at_level(logging.WARNING):
        for net in nets:
            net.fit(X, Y)
    assert lines(caplog) == []


def normalised(*before, input_type=None):
    layers = (*before, BatchNormalization(), OutputLayer(n_out=2))
    return MultiLayerNetwork(NeuralNetConfiguration(seed=1, updater="adam").list(*layers, input_type=input_type)).init()


def test_one_example_cannot_be_normalised_and_is_warned_of_once():
    net = normalised(DenseLayer(n_in=3, n_out=4))
    with pytest.warns(
        UserWarning, match=r"layer 1 \(BatchNormalization\): .* got a minibatch of one: .* Give another b"
    ):
        net.fit(X[:1], Y[:1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.fit(X[:1], Y[:1], epochs=2)
        normalised(DenseLayer(n_in=3, n_out=4)).output(X[:1])


def test_the_last_minibatch_may_be_the_one():
    with pytest.warns(UserWarning, match="leaves no single example at the end"):
        normalised(DenseLayer(n_in=3, n_out=4)).fit(X[:5], Y[:5], batch_size=2)


def test_an_image_has_many_numbers_of_a_channel():
    net = normalised(ConvolutionLayer(n_out=2, kernel_size=(1, 1)), input_type=InputType.convolutional(3, 3, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.fit(np.ones((1, 1, 3, 3), np.float32), Y[:1])
