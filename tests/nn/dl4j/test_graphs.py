"""Graphs in Java's spelling."""

import numpy as np
import pytest

import nd
from nn import dl4j
from nn.dl4j import (
    Adam,
    CheckpointListener,
    ComputationGraph,
    ComputationGraphConfiguration,
    DataSetLossCalculator,
    DataSetLossCalculatorCG,
    DenseLayer,
    EarlyStoppingConfiguration,
    EarlyStoppingGraphTrainer,
    EarlyStoppingTrainer,
    ElementWiseVertex,
    FineTuneConfiguration,
    InputType,
    LocalFileGraphSaver,
    MaxEpochsTerminationCondition,
    ModelSerializer,
    MultiDataSet,
    MultiLayerNetwork,
    Nd4j,
    NeuralNetConfiguration,
    NormalizerStandardize,
    OutputLayer,
    TransferLearning,
    TransferLearningHelper,
    WeightInit,
)

RNG = np.random.default_rng(9)
X, Z = RNG.normal(size=(8, 4)).astype("float32"), RNG.normal(size=(8, 3)).astype("float32")
Y = np.eye(3, dtype="float32")[RNG.integers(0, 3, 8)]


def configuration():
    return (
        NeuralNetConfiguration.Builder().seed(12345).updater(Adam(0.01)).weightInit(WeightInit.XAVIER).graphBuilder()
        .addInputs("in", "more")
        .addLayer("b", DenseLayer.Builder().nIn(4).nOut(5).build(), "in")
        .addLayer("a", DenseLayer.Builder().nIn(3).nOut(5).build(), "more")
        .addVertex("sum", ElementWiseVertex(ElementWiseVertex.Op.Add), "a", "b")
        .addLayer("out", OutputLayer.Builder("mcxent").nIn(5).nOut(3).activation("softmax").build(), "sum")
        .setOutputs("out").setInputTypes(InputType.feedForward(4), InputType.feedForward(3)).build()
    )  # fmt: skip


def graph():
    net = ComputationGraph(configuration())
    net.init()
    return net


def data():
    return MultiDataSet([X, Z], [Y])


def host(array):
    return nd.to_host(nd.copy(array))


def test_what_a_graph_is_asked_for():
    net = graph()
    assert net.getNumInputArrays() == 2
    assert net.getNumOutputArrays() == 1
    assert net.getNumLayers() == 3
    assert net.topologicalSortOrder()[:2] == ["in", "more"]
    assert net.getLayer(0) is net.getLayer("b") is net.getVertex("b").getLayer()
    assert net.getOutputLayer(0) is net.getLayer("out")
    assert (net.layerSize("out"), net.layerInputSize("b"), net.layerSize(1)) == (3, 4, 5)
    assert net.getConfiguration().getNetworkInputs() == ("in", "more")
    assert ComputationGraphConfiguration.fromJson(net.getConfiguration().toJson()) == net.getConfiguration()
    assert sorted(net.paramTable()) == ["a_W", "a_b", "b_W", "b_b", "out_W", "out_b"]
    with pytest.raises(nd.ConfigurationError, match=r"get_layer: layer must be one of \['b', 'a', 'out'\], got 3"):
        net.getLayer(3)
    with pytest.raises(nd.ConfigurationError, match=r"get_output_layer: output must be 0\.\.0, got 1"):
        net.getOutputLayer(1)


def test_a_minibatch_array_by_array():
    net, other = graph(), graph()
    assert net.getInput(0) is None
    net.setInput(1, Z)
    assert net.getInputs() == []
    net.setInput(0, X)
    net.setLabel(0, Y)
    other.setInputs(X, Z)
    other.setLabels(Y)
    np.testing.assert_array_equal(host(net.getInput(1)), Z)
    for each in (net, other):
        each.computeGradientAndScore()
    assert net.score() == other.score()
    net.setInput(0, 2 * X)
    net.computeGradientAndScore()
    other.setInputs(2 * X, Z)
    other.computeGradientAndScore()
    assert net.gradient().gradient().tolist() == other.gradient().gradient().tolist()
    with pytest.raises(nd.ConfigurationError, match=r"set_input: number must be 0\.\.1, got 2"):
        net.setInput(2, X)
    with pytest.raises(nd.ConfigurationError, match=r"set_label: number must be 0\.\.0, got 1"):
        net.setLabel(1, Y)
    np.testing.assert_array_equal(host(net.outputSingle(X, Z)), host(net.output(False, X, Z)[0]))


def test_files_of_graphs(tmp_path):
    net, path = graph(), tmp_path / "graph.zip"
    net.fit(data())
    normalizer = NormalizerStandardize()
    normalizer.fit(dl4j.DataSet(X, Y))
    ModelSerializer.writeModel(net, path, True, normalizer)
    again = ModelSerializer.restoreComputationGraph(path)
    assert (again.params().tolist(), again.updaterState().tolist()) == (
        net.params().tolist(),
        net.updaterState().tolist(),
    )
    both = ModelSerializer.restoreComputationGraphAndNormalizer(path, False)
    assert both.getFirst().params().tolist() == net.params().tolist()
    np.testing.assert_allclose(both.getSecond().mean, X.mean(0), rtol=1e-5)
    with pytest.raises(nd.FormatError, match="expected a MultiLayerNetwork, got a ComputationGraph"):
        ModelSerializer.restoreMultiLayerNetwork(path)


def test_checkpoints_of_graphs(tmp_path):
    net = graph()
    net.setListeners(CheckpointListener.Builder(tmp_path).keepAll().saveEveryNIterations(1).logSaving(False).build())
    net.fit(data(), None, 3)
    last = CheckpointListener.loadLastCheckpointCG(tmp_path)
    assert last.params().tolist() == net.params().tolist()
    assert CheckpointListener.loadCheckpointCG(tmp_path, 0).getIterationCount() == 1


@pytest.mark.parametrize("calculator", [DataSetLossCalculator, DataSetLossCalculatorCG])
def test_early_stopping_of_graphs(calculator, tmp_path):
    conf = (
        EarlyStoppingConfiguration.Builder().epochTerminationConditions(MaxEpochsTerminationCondition(2))
        .scoreCalculator(calculator([data()], True)).modelSaver(LocalFileGraphSaver(str(tmp_path))).build()
    )  # fmt: skip
    for trainer, model in ((EarlyStoppingGraphTrainer, graph()), (EarlyStoppingTrainer, configuration())):
        result = trainer(conf, model, [data()]).fit()
        assert type(result.getBestModel()) is ComputationGraph
        assert result.getTotalEpochs() == 2
    assert type(LocalFileGraphSaver(tmp_path).getBestModel()) is ComputationGraph


def test_transfer_of_graphs():
    net = graph()
    fine = FineTuneConfiguration.Builder().updater(Adam(0.1)).seed(1).build()
    new = (
        TransferLearning.GraphBuilder(net).fineTuneConfiguration(fine).setFeatureExtractor("sum")
        .removeVertexAndConnections("out")
        .addLayer("last", OutputLayer.Builder("mcxent").nIn(5).nOut(3).activation("softmax").build(), "sum")
        .setOutputs("last").setWorkspaceMode("none").validateOutputLayerConfig(True).build()
    )  # fmt: skip
    helper = TransferLearningHelper(new)
    helper.fitFeaturized(helper.featurize(data()))
    assert helper.unfrozenGraph().getConfiguration().getNetworkInputs() == ("sum",)
    assert new.getParam("a_W").tolist() == net.getParam("a_W").tolist()
    out = helper.outputFromFeaturized(helper.featurize(data()).getFeatures(0))
    np.testing.assert_allclose(host(out), host(new.outputSingle(X, Z)), rtol=1e-6)


def test_a_chain_as_a_graph():
    conf = NeuralNetConfiguration.Builder().seed(1).list().layer(OutputLayer(n_in=4, n_out=3)).build()
    net = MultiLayerNetwork(conf)
    net.init()
    assert net.toComputationGraph().outputSingle(Nd4j.create(X)).tolist() == net.output(Nd4j.create(X)).tolist()
