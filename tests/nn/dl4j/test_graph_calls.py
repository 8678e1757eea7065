"""Calls of graphs with booleans, numbers and lists where Java's overloads have them.

The names were printed by 1.0.0-M2.1 for the same graph and the same calls.
"""

import numpy as np
import pytest

import nd
from nn.dl4j import (
    LSTM,
    ComputationGraph,
    DenseLayer,
    InputType,
    MergeVertex,
    MultiDataSet,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
)
from tests.cells import every_row

A, B = np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3), np.linspace(0, 1, 20, dtype="float32").reshape(5, 4)
XS = [A, B]
ALL = ["a", "b", "d1", "d2", "m", "out"]


def graph():
    conf = (
        NeuralNetConfiguration.Builder().seed(1).graphBuilder().addInputs("a", "b")
        .addLayer("d1", DenseLayer.Builder().nIn(3).nOut(2).build(), "a")
        .addLayer("d2", DenseLayer.Builder().nIn(4).nOut(2).build(), "b")
        .addVertex("m", MergeVertex(), "d1", "d2")
        .addLayer("out", OutputLayer.Builder("mcxent").nIn(4).nOut(2).activation("softmax").build(), "m")
        .setOutputs("out").setInputTypes(InputType.feedForward(3), InputType.feedForward(4)).build()
    )  # fmt: skip
    net = ComputationGraph(conf)
    net.init()
    return net


@every_row(("arguments", "names"), [
    ((XS,), ALL),
    ((XS, False), ALL),
    ((XS, False, True), ALL),
    ((A, B, False), ALL),
    ((XS, 0, False), ALL[:3]),
    ((XS, 1, False), ALL[:4]),
    ((XS, 1, False, True), ALL[:4]),
    ((XS, 2, False), ALL),
    ((), ALL),
    ((False,), ALL),
    ((False, 1), ALL[:4]),
    ((False, False, False), ["a", "b", "d1", "d2", "out"]),
    ((False, True, False), ["a", "b", "d1", "d2"]),
    ((False, True, True), ["a", "b", "d1", "d2", "m"]),
])  # fmt: skip
def test_activations(arguments, names):
    net = graph()
    net.setInputs(A, B)
    found = net.feedForward(*arguments)
    assert list(found) == names
    whole = net.feed_forward(A, B)
    for name in names:
        np.testing.assert_array_equal(nd.to_host(found[name]), nd.to_host(whole[name]))


@every_row("arguments", [
    (XS,), (False, A, B), (False, False, A, B), (False, XS), (False, XS, None), (False, XS, None, None),
    (False, XS, None, None, None), (XS, None), (XS, None, None), (XS, [None, None]), (False, None, A, B),
])  # fmt: skip
def test_outputs(arguments):
    net = graph()
    expected = nd.to_host(net.output(A, B)[0])
    np.testing.assert_array_equal(nd.to_host(net.output(*arguments)[0]), expected)
    np.testing.assert_array_equal(nd.to_host(net.outputSingle(*arguments)), expected)


def test_outputs_of_vertices():
    net = graph()
    merged, second = net.output(["m", "d2"], False, XS, None)
    assert (merged.shape, second.shape) == ((5, 4), (5, 2))
    np.testing.assert_array_equal(nd.to_host(merged)[:, 2:], nd.to_host(second))
    with pytest.raises(nd.ChoiceError, match="output: unknown vertex 'n'"):
        net.output(["n"], False, XS, None)


def test_lists_of_numbers_are_features():
    net = graph()
    found = net.output(A.tolist(), B.tolist())[0]
    np.testing.assert_array_equal(nd.to_host(found), nd.to_host(net.output(A, B)[0]))


def test_train_before_the_features():
    net = graph()
    with pytest.raises(nd.DataError, match=r"output: features must come behind train and clear, got \[False\]"):
        net.output(False)
    with pytest.raises(nd.DataError, match=r"output: features must come behind train and clear"):
        net.output(False, False, False, A, B)
    with pytest.raises(nd.DataError, match=r"feed_forward: features must stand before train"):
        net.feedForward(False, A, B)
    with pytest.raises(nd.ConfigurationError, match=r"feed_forward: layer must be one of"):
        net.feedForward(XS, 3, False)


def series():
    conf = (
        NeuralNetConfiguration.Builder().seed(1).graphBuilder().addInputs("in")
        .addLayer("lstm", LSTM.Builder().nIn(3).nOut(4).build(), "in")
        .addLayer("out", RnnOutputLayer.Builder("mcxent").nIn(4).nOut(2).activation("softmax").build(), "lstm")
        .setOutputs("out").build()
    )  # fmt: skip
    net = ComputationGraph(conf)
    net.init()
    return net


X = np.linspace(-1, 1, 60, dtype="float32").reshape(5, 3, 4)
Y = np.stack([np.eye(2, dtype="float32")[[0, 1, 1, 0]].T] * 5)
MASK = np.array([[1, 1, 0, 0]] * 5, "float32")


def test_masks_of_outputs():
    net = series()
    expected = nd.to_host(net.output(X, features_masks=[MASK], labels_masks=[MASK])[0])
    for arguments in ((False, [X], [MASK], [MASK]), ([X], [MASK], [MASK])):
        np.testing.assert_array_equal(nd.to_host(net.output(*arguments)[0]), expected)
    of_features = nd.to_host(net.output(False, [X], [MASK])[0])
    np.testing.assert_array_equal(of_features, nd.to_host(net.output(X, features_masks=[MASK])[0]))
    by_name = nd.to_host(net.output(["lstm"], False, [X], [MASK])[0])
    named = net.feed_forward(MultiDataSet([X], None, [MASK]))
    np.testing.assert_array_equal(by_name, nd.to_host(named["lstm"]))


def test_masks_of_fit():
    one, other = series(), series()
    one.fit([X], [Y], [MASK], [MASK])
    other.fit(MultiDataSet([X], [Y], [MASK], [MASK]))
    assert nd.to_host(one.params()).tobytes() == nd.to_host(other.params()).tobytes()
    one.fit(X, Y, None, None)
    other.fit(X, Y)
    assert nd.to_host(one.params()).tobytes() == nd.to_host(other.params()).tobytes()
    with pytest.raises(nd.DataError, match="fit: labels must stand between the features and the masks, got None"):
        one.fit(X, None, MASK, MASK)
    with pytest.raises(TypeError, match=r"Write fit\(\.\.\., batch_size=32\)"):
        one.fit(X, Y, 1, 32)
