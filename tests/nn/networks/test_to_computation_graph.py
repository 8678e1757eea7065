"""A network whose layers follow one another, as a graph: it computes and trains on as before, to the last bit."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nn import (
    BatchNormalization,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    FrozenLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from optimize import Adam, MaxNormConstraint, Nesterovs, Sgd, StepSchedule

RNG = np.random.default_rng(21)
X = RNG.normal(size=(24, 64)).astype("float32")
Y = np.eye(3, dtype="float32")[RNG.integers(0, 3, 24)]


def host(x):
    return nd.to_host(nd.copy(x))


def batches(size=5):
    return ListDataSetIterator(DataSet(X, Y), size)


SETTINGS = {
    "adam": {"updater": Adam(0.01)},
    "all at once": {
        "updater": Nesterovs(StepSchedule("iteration", 0.1, 0.5, 2)),
        "l2": 0.01,
        "drop_out": 0.8,
        "constrain_weights": MaxNormConstraint(1.0),
        "gradient_normalization": "clip_l2_per_layer",
    },
    "conjugate gradient": {"optimization_algo": "conjugate_gradient", "updater": Sgd(0.1)},
    "lbfgs": {"optimization_algo": "lbfgs", "updater": Sgd(0.1)},
    "line gradient descent": {"optimization_algo": "line_gradient_descent", "updater": Sgd(0.1)},
    "sum of examples": {"updater": Sgd(0.01), "mini_batch": False, "iterations": 2},
}


def network(settings):
    conf = NeuralNetConfiguration(seed=5, **settings).list(
        ConvolutionLayer(n_out=3, kernel_size=3, activation="relu"),
        SubsamplingLayer(kernel_size=2),
        BatchNormalization(),
        FrozenLayer(DenseLayer(n_out=7, activation="tanh")),
        DenseLayer(n_out=6, activation="elu", name="wide"),
        OutputLayer(n_out=3, activation="softmax"),
        input_type=InputType.convolutional_flat(8, 8, 1),
    )
    return MultiLayerNetwork(conf).init()


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.quick_rows(3)
def test_it_computes_and_trains_on_to_the_last_bit(settings):
    net = network(settings)
    net.class_names = ("r", "g", "b")
    net.fit(batches(), epochs=2)
    graph = net.to_computation_graph()
    assert type(graph) is ComputationGraph
    assert graph.class_names == ("r", "g", "b")
    assert (graph.conf.inputs, list(graph.conf.vertices)) == (("in",), ["0", "1", "2", "3", "4", "5"])
    for _ in range(2):
        assert (graph.iteration_count, graph.epoch_count) == (net.iteration_count, net.epoch_count)
        assert graph.random.get_state() == net.random.get_state()
        for theirs, ours in zip(
            (net.params(), net.updater_state(), net.output(X)),
            (graph.params(), graph.updater_state(), graph.output(X)[0]),
            strict=True,
        ):
            assert host(ours).tobytes() == host(theirs).tobytes()
        assert graph.score(DataSet(X, Y)) == net.score(DataSet(X, Y))
        assert graph.evaluate(batches()).stats() == net.evaluate(batches()).stats()
        assert net.fit(batches(), epochs=2).score == graph.fit(batches(), epochs=2).score


def test_it_is_a_copy_that_files_hold(tmp_path):
    net = network(SETTINGS["adam"])
    net.fit(batches())
    graph = net.to_computation_graph()
    before = host(net.params())
    graph.fit(batches())
    assert host(net.params()).tobytes() == before.tobytes()
    graph.save(tmp_path / "graph.zip")
    again = ComputationGraph.load(tmp_path / "graph.zip")
    assert again.conf == graph.conf.with_counts(graph.iteration_count, graph.epoch_count)
    assert host(again.output(X)[0]).tobytes() == host(graph.output(X)[0]).tobytes()


def test_a_network_without_parameters_is_refused():
    with pytest.raises(nd.ConfigurationError, match=r"MultiLayerNetwork: init\(\) must come first"):
        MultiLayerNetwork(network({}).conf).to_computation_graph()
