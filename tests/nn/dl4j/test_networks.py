"""Methods of networks, and their vertices, that exist for Java's sake."""

import numpy as np
import pytest

import nd
from nn import dl4j
from nn.dl4j import DataType, InputType
from tests.nn.dl4j.test_graph_calls import ALL, A, B, graph

X = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)
Y = np.eye(2, dtype="float32")[[0, 1, 1, 0]]


def network():
    conf = (
        dl4j.NeuralNetConfiguration.Builder().seed(1).updater(dl4j.Adam(0.1)).list()
        .layer(dl4j.DenseLayer.Builder().nIn(3).nOut(4).build())
        .layer(dl4j.OutputLayer.Builder("mcxent").nIn(4).nOut(2).activation("softmax").build()).build()
    )  # fmt: skip
    net = dl4j.MultiLayerNetwork(conf)
    net.init()
    return net


def test_vertices_where_java_has_them():
    """The numbers and ends of connections that 1.0.0-M2.1 printed for this graph."""
    net = graph()
    vertices = net.getVertices()
    assert [vertex.getVertexName() for vertex in vertices] == ALL
    assert [vertex.getVertexIndex() for vertex in vertices] == list(range(6))
    assert [vertex.getInputVertices() for vertex in vertices] == [
        None, None, [(0, 0)], [(1, 0)], [(2, 0), (3, 0)], [(4, 0)],
    ]  # fmt: skip
    assert [vertex.getOutputVertices() for vertex in vertices] == [
        [(2, 0)], [(3, 0)], [(4, 0)], [(4, 1)], [(5, 0)], None,
    ]  # fmt: skip
    assert [vertex.getNumInputArrays() for vertex in vertices] == [0, 0, 1, 1, 2, 1]
    assert [vertex.getNumOutputConnections() for vertex in vertices] == [1, 1, 1, 1, 1, 0]
    assert [vertex.numParams() for vertex in vertices] == [0, 0, 8, 10, 0, 10]
    assert [vertex.getVertexName() for vertex in vertices if vertex.hasLayer()] == ["d1", "d2", "out"]
    assert [vertex.isInputVertex() for vertex in vertices] == [True, True, False, False, False, False]
    assert [vertex.isOutputVertex() for vertex in vertices] == [False] * 5 + [True]
    assert str(vertices[4]) == 'MergeVertex(id=4,name="m")'
    assert (str(vertices[0]), str(vertices[2])) == ('InputVertex(id=0,name="a")', 'LayerVertex(id=2,name="d1")')


def test_a_vertex():
    net = graph()
    vertex = net.getVertex("d1")
    assert vertex.getLayer() is net.getLayer("d1") is vertex.runtime
    assert net.getVertex("m").getLayer() is None
    assert net.getVertex("m").getInputVertices()[1].getVertexIndex() == 3
    assert net.getVertex("a").runtime is None
    assert net.getVertex("a").params() is None
    assert vertex.getConfig() is net.conf.vertices["d1"]
    assert vertex.getPreProcessor() is None
    assert vertex.getDataType() == DataType.FLOAT
    assert sorted(vertex.paramTable()) == ["W", "b"]
    assert vertex.params().shape == (1, 8)
    with pytest.raises(nd.ChoiceError, match="getVertex: unknown vertex 'n'"):
        net.getVertex("n")


def test_summaries_of_given_types():
    net = dl4j.MultiLayerNetwork(
        dl4j.NeuralNetConfiguration.Builder().list()
        .layer(dl4j.LSTM.Builder().nIn(3).nOut(4).build())
        .layer(dl4j.RnnOutputLayer.Builder("mcxent").nIn(4).nOut(2).activation("softmax").build()).build()
    )  # fmt: skip
    assert "recurrent(3) -> recurrent(4)" not in net.summary()
    assert "recurrent(3) -> recurrent(4)" in net.summary(InputType.recurrent(3))
    net.init()
    assert "16 B a step" in net.toComputationGraph().summary(InputType.recurrent(3))
    with pytest.raises(nd.ConfigurationError, match=r"summary: expected a type for each of 1 input\(s\)"):
        net.summary(InputType.recurrent(3), InputType.recurrent(3))


@pytest.mark.parametrize("make", [network, lambda: network().toComputationGraph()], ids=["chain", "graph"])
def test_another_type_of_numbers(make):
    net = make()
    net.fit(X, Y)
    twin = net.convertDataType(DataType.DOUBLE)
    assert (twin.params().dtype, twin.getIterationCount()) == ("float64", 1)
    np.testing.assert_array_equal(nd.to_host(twin.params()), nd.to_host(net.params()))
    np.testing.assert_array_equal(nd.to_host(twin.updaterState()), nd.to_host(net.updaterState()))
    net.fit(X, Y)
    twin.fit(X, Y)
    np.testing.assert_allclose(nd.to_host(twin.params()), nd.to_host(net.params()), atol=1e-6)
    np.testing.assert_array_equal(nd.to_host(twin.convertDataType("float64").params()), nd.to_host(twin.params()))


def test_what_is_set():
    net = network()
    assert net.input() is None
    with pytest.raises(nd.ConfigurationError, match="activate: features must be given"):
        net.activate(False)
    with pytest.raises(nd.ConfigurationError, match="numLabels: setLabels must come first"):
        net.numLabels()
    net.setInput(X)
    net.setLabels(Y)
    np.testing.assert_array_equal(nd.to_host(net.activate(False)), nd.to_host(net.output(X)))
    np.testing.assert_array_equal(nd.to_host(net.activate(X, False)), nd.to_host(net.output(X)))
    assert (net.numLabels(), net.input().shape, net.getLastEtlTime()) == (2, (4, 3), 0.0)
    net.clearLayersStates()
    net.setCacheMode(dl4j.CacheMode.NONE)
    assert net.getOptimizer() is net.get_optimizer()
    assert net.scoreExamples(dl4j.ListDataSetIterator(dl4j.DataSet(X, Y).asList(), 2), False).shape == (4, 1)
    net.close()
    assert net.input() is None


def test_inputs_and_masks_of_a_graph():
    net = graph()
    with pytest.raises(nd.ConfigurationError, match=r"input: the network must have one input, got \['a', 'b'\]"):
        net.input()
    assert net.getInputMaskArrays() is None
    net.setInputs(A, B)
    net.setLabels(np.ones((5, 2)))
    net.setLayerMaskArrays(None, [np.ones((5, 1))])
    assert net.getLabelMaskArrays()[0].shape == (5, 1)
    assert network().toComputationGraph().input() is None
