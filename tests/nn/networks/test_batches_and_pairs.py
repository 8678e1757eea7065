"""Lists of batches where features go, and pairs (features, labels) where a data set does."""

import numpy as np

from nd.dataset import DataSet, NormalizerStandardize, SingletonDataSetIterator
from nn import ComputationGraph, MultiLayerNetwork, OutputLayer
from tests.kinds_of_data import Tensor
from tests.nn.networks.test_census_of_data import X, Y, chain, configuration, same


def test_features_of_batches_with_labels():
    """As loaders and lists of them have it; what could be features alone is."""
    net, two = chain(), MultiLayerNetwork(configuration().list(OutputLayer(n_in=2, n_out=2))).init()
    expected = net.output(X)
    halves = [[X[:4], Y[:4]], [X[4:], Y[4:]]]
    for batches in ([[X, Y]], [(X, Y)], [[Tensor(X), Tensor(Y)]], [DataSet(X, Y)], ((X, Y),), halves):
        same(net.output(batches), expected, str(type(batches[0])))
    rows = X[:2, :2]
    for features in ([rows[0], rows[1]], [list(rows[0]), list(rows[1])]):
        same(two.output(features), two.output(rows), "rows")
    nodes = {"out": (OutputLayer(n_in=8, n_out=2), "a", "b")}
    graph = ComputationGraph(configuration().graph(inputs=["a", "b"], nodes=nodes, outputs="out")).init()
    same(graph.output([([X, X], Y)])[0], graph.output(X, X)[0], "of two inputs")


def test_pairs_where_a_data_set_goes():
    for pair in ((X, Y), (X.tolist(), Y.tolist()), (Tensor(X), Tensor(Y))):
        fitted = NormalizerStandardize().fit(pair)
        np.testing.assert_allclose(fitted.fitted("features")["mean"], X.mean(0), rtol=1e-5, atol=1e-7)
        (data_set,) = SingletonDataSetIterator(pair)
        np.testing.assert_array_equal(data_set.labels, Y)
