"""Featurised training of a graph: the same as training it with what is frozen."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ExistingMultiDataSetIterator, MultiDataSet
from nn import (
    ComputationGraph,
    Convolution1DLayer,
    DenseLayer,
    ElementWiseVertex,
    GlobalPoolingLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    TransferLearning,
    TransferLearningHelper,
)
from optimize import Adam

RNG = np.random.default_rng(52)
CLOSE = {"rtol": 1e-9, "atol": 1e-10}


def host(x):
    return nd.to_host(nd.copy(x))


def graph(frozen=("mixed",)):
    """Of the inputs one is read below the border and above it; of the trained vertices one lies between frozen ones."""
    dense = {"n_out": 5, "activation": "tanh"}
    conf = NeuralNetConfiguration(seed=4, dtype="float64", updater=Adam(0.02), l2=1e-2).graph(
        {"p": InputType.feed_forward(4), "q": InputType.feed_forward(3)},
        {
            "low": (DenseLayer(**dense, drop_out=0.8), "p"),
            "free": (DenseLayer(**dense), "q"),
            "other": (DenseLayer(**dense), "q"),
            "mixed": (ElementWiseVertex("add"), "low", "other"),
            "sum": (ElementWiseVertex("add"), "mixed", "free"),
            "out": (OutputLayer(n_out=3, activation="softmax"), "sum"),
            "side": (OutputLayer(n_out=2, activation="identity", loss="mse"), "free", "q"),
        },
        ["out", "side"],
    )
    made = ComputationGraph(conf).init()
    made.fit(batches()[0])
    return TransferLearning.GraphBuilder(made).set_feature_extractor(*frozen).build() if frozen else made


def batches():
    rng = np.random.default_rng(3)
    return [
        MultiDataSet(
            [rng.normal(size=(n, 4)), rng.normal(size=(n, 3))],
            [np.eye(3)[rng.integers(0, 3, n)], rng.normal(size=(n, 2))],
        )
        for n in (6, 6, 4)
    ]


def iterator():
    return ExistingMultiDataSetIterator(batches())


@pytest.mark.parametrize("frozen", [("mixed",), ("low",), ("other", "low")])
def test_featurised_training_equals_unfeaturised(frozen):
    plain, featurised = graph(frozen), graph(frozen)
    plain.fit(iterator(), epochs=3)
    helper = TransferLearningHelper(featurised)
    helper.fit_featurized(helper.featurize(iterator()), epochs=3)
    for _ in range(2):
        np.testing.assert_allclose(host(featurised.params()), host(plain.params()), **CLOSE)
        np.testing.assert_allclose(host(featurised.updater_state()), host(plain.updater_state()), **CLOSE)
        assert (featurised.iteration_count, featurised.epoch_count) == (plain.iteration_count, plain.epoch_count)
        for net in (plain, featurised):  # and on without featurising
            net.fit(iterator())


def test_the_part_above_reads_activations_and_inputs_sorted_by_name():
    net = graph()
    helper = TransferLearningHelper(net)
    tail = helper.unfrozen_graph()
    assert (tail.conf.inputs, tail.conf.outputs) == (("mixed", "q"), ("out", "side"))
    assert tail.conf.input_types == (InputType.feed_forward(5), InputType.feed_forward(3))
    assert list(tail.conf.vertices) == ["free", "sum", "out", "side", "side-merge"]
    data = batches()[0]
    features = helper.featurize(data)
    activations = net.feed_forward(*data.features)
    np.testing.assert_allclose(features.features[0], host(activations["mixed"]), rtol=1e-12)
    np.testing.assert_array_equal(features.features[1], data.features[1])
    for ours, whole in zip(helper.output_from_featurized(*features.features), net.output(*data.features), strict=True):
        np.testing.assert_allclose(host(ours), host(whole), rtol=1e-12)


def test_vertices_are_named_where_none_is_frozen():
    net = graph(None)
    before = {key: host(view) for key, view in net.param_table().items()}
    helper = TransferLearningHelper(net, "low", "other")
    state = host(net.updater_state())
    assert state.any()
    helper.fit_featurized(helper.featurize(iterator()))
    for key, view in net.param_table().items():
        assert (host(view) == before[key]).all() == (key.split("_")[0] in ("low", "other")), key
    assert (host(net.updater_state()) != state).any()


def test_masks_are_handed_on():
    conf = NeuralNetConfiguration(seed=4, dtype="float64").graph(
        {"x": InputType.recurrent(3, 6)},
        {
            "conv": (Convolution1DLayer(n_out=4, kernel_size=2, stride=2, activation="tanh"), "x"),
            "mean": (GlobalPoolingLayer(pooling_type="avg"), "conv"),
            "out": (OutputLayer(n_out=2, activation="softmax"), "mean"),
        },
        ["out"],
    )
    net = ComputationGraph(conf).init()
    helper = TransferLearningHelper(net, "conv")
    x, mask, y = RNG.normal(size=(3, 3, 6)), np.ones((3, 6)), np.eye(2)[[0, 1, 1]]
    mask[1, 2:] = mask[2, 4:] = 0
    data = helper.featurize(DataSet(x, y, mask))
    assert isinstance(data, DataSet)
    np.testing.assert_array_equal(data.features_mask, mask[:, ::2])
    np.testing.assert_allclose(helper.unfrozen_graph().score(data), net.score(DataSet(x, y, mask)), rtol=1e-12)
    assert tuple(helper.output_from_featurized(data.features).shape) == (3, 2)


def test_what_cannot_be():
    net = graph(None)
    with pytest.raises(nd.ConfigurationError, match=r"a vertex must be frozen, got none\. Pass the names"):
        TransferLearningHelper(net)
    with pytest.raises(nd.ChoiceError, match=r"frozen: unknown vertex 'p', expected one of free"):
        TransferLearningHelper(net, "p")
    with pytest.raises(nd.ConfigurationError, match=r"outputs must be above what is frozen, got \['side'\] among it"):
        TransferLearningHelper(net, "low", "side")
    helper = TransferLearningHelper(net, "low")
    with pytest.raises(nd.ConfigurationError, match=r"must be a MultiLayerNetwork, got a ComputationGraph\. Call unf"):
        helper.unfrozen_mln()
    with pytest.raises(nd.DTypeError, match="featurize: expected a DataSet or an iterator of them"):
        helper.featurize(np.ones((3, 4)))
    with pytest.raises(nd.DataError, match="featurize: expected features of 2 inputs, got 1"):
        helper.featurize(DataSet(np.ones((3, 4)), np.eye(3)))
    conf = NeuralNetConfiguration(seed=4).list(DenseLayer(n_in=4, n_out=4), OutputLayer(n_out=2))
    of_layers = TransferLearningHelper(MultiLayerNetwork(conf).init(), 0)
    with pytest.raises(nd.ConfigurationError, match=r"must be a ComputationGraph, got a MultiLayerNetwork\. Call unf"):
        of_layers.unfrozen_graph()
    with pytest.raises(nd.DTypeError, match="featurize: expected a DataSet or an iterator of them"):
        of_layers.featurize(batches()[0])
