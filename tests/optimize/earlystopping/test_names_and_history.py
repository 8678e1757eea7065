"""Early stopping gives a network what fit does beside the steps: names of classes, their weights, a history."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator, MultiDataSet
from nn import ComputationGraph, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import ReduceLearningRateOnPlateau, Sgd
from optimize.earlystopping import (
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingTrainer,
    MaxEpochsTerminationCondition,
)

RNG = np.random.default_rng(1)
X, CLASSES = RNG.normal(size=(9, 3)), np.array([0, 1, 1, 0, 1, 1, 1, 0, 1])
NAMES = ("no", "yes")


def network(kind, rate=0.1):
    base, layer = NeuralNetConfiguration(seed=2, dtype="float64", updater=Sgd(rate)), OutputLayer(n_in=3, n_out=2)
    if kind == "layers":
        return MultiLayerNetwork(base.list(layer)).init()
    nodes = {"out": (layer, "in")}
    return ComputationGraph(base.graph(inputs={"in": InputType.feed_forward(3)}, nodes=nodes, outputs="out")).init()


def batches():
    data = DataSet(X, np.eye(2)[CLASSES])
    data.class_names = NAMES
    return ListDataSetIterator(data, 4)


def stop_early(net, epochs=3, **settings):
    conf = EarlyStoppingConfiguration(
        score_calculator=DataSetLossCalculator(batches()),
        epoch_termination_conditions=[MaxEpochsTerminationCondition(epochs)],
    )
    return EarlyStoppingTrainer(conf, net, batches(), **settings).fit()


@pytest.mark.parametrize("kind", ["layers", "graph"])
@pytest.mark.parametrize("class_weight", [None, {"yes": 0.5, 0: 2.0}])
def test_it_trains_as_fit_does(kind, class_weight):
    net, expected = network(kind), network(kind)
    result = stop_early(net, class_weight=class_weight)
    history = expected.fit(batches(), epochs=3, class_weight=class_weight)
    np.testing.assert_array_equal(nd.to_host(net.params()), nd.to_host(expected.params()))
    assert result.history is net.history
    assert result.history.to_dict() == history.to_dict()
    assert net.class_names == result.best_model.class_names == expected.class_names == NAMES


def test_a_plateau_of_the_score_is_seen():
    net = network("layers", rate=1e-9)
    net.set_listeners(ReduceLearningRateOnPlateau(0.5, patience=1))
    stop_early(net, epochs=3)
    assert net.history.learning_rate == pytest.approx([1e-9, 1e-9, 5e-10])


def test_weights_of_classes_that_there_are_not_are_refused_before_training():
    net = network("graph")
    with pytest.raises(nd.ConfigurationError, match="class_weight: classes are 0, 1, 'no', 'yes', got 'maybe'"):
        stop_early(net, class_weight={"maybe": 1.0})
    with pytest.raises(nd.ArgumentError, match="class_weight must be a number >= 0, got -1"):
        stop_early(net, class_weight={0: -1.0})
    assert net.iteration_count == 0


def test_a_multi_data_set_is_weighted_too():
    nets = [network("graph") for _ in range(2)]
    stop_early(nets[0], 1, class_weight={1: 3.0})
    conf = EarlyStoppingConfiguration(
        score_calculator=DataSetLossCalculator(batches()),
        epoch_termination_conditions=[MaxEpochsTerminationCondition(1)],
    )
    nets[1].class_names = nets[0].class_names
    several = [MultiDataSet([batch.features], [batch.labels]) for batch in batches()]
    EarlyStoppingTrainer(conf, nets[1], several, class_weight={1: 3.0}).fit()
    np.testing.assert_array_equal(nd.to_host(nets[0].params()), nd.to_host(nets[1].params()))
