"""Nodes: what comes into one is what its inputs name, on the way forward and on the way back."""

import numpy as np
import pytest

import nd
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.conf.nodes import Source
from nn.step.nodes import NETWORK_INPUT
from nn.step.propagation import Propagation
from nn.step.shared_nodes import masks_behind
from nn.step.worker import StepInput

RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(6, 4)), np.eye(3)[RNG.integers(0, 3, 6)]


def network(*hidden):
    conf = NeuralNetConfiguration(seed=5, dtype="float64").list(*hidden, OutputLayer(n_in=4, n_out=3))
    return MultiLayerNetwork(conf).init()


def dense():
    return DenseLayer(n_in=4, n_out=4, activation="tanh")


def propagation(net, nodes):
    vectors = net.engine.vectors
    return Propagation(nodes, (len(nodes) - 1,), vectors.layout, vectors.params, vectors.gradient, "float64")


def there_and_back(propagation, step):
    """Write the gradient; return the loss."""
    passed = propagation.forward(step)
    loss, deltas, epsilons = propagation.losses_of(step, passed)
    propagation.backward(passed, deltas, epsilons)
    return loss


def test_a_chain_names_the_node_before():
    nodes = network(dense(), dense()).engine.shared_nodes.nodes
    assert [node.inputs for node in nodes] == [(Source(NETWORK_INPUT),), (Source(0),), (Source(1),)]
    assert [node.position for node in nodes] == [0, 1, 2]


@pytest.mark.parametrize("mask", [None, np.array([[1.0], [0], [1], [1], [0], [1]])], ids=["", "masked"])
def test_a_node_past_another_gets_the_features_and_gives_the_gradient_back_to_them(mask):
    """Node 1 and the output are then a network of two layers, and node 0 has no part in the loss."""
    net, shorter = network(dense(), dense()), network(dense())
    shorter.set_params(nd.to_host(net.params())[:, net.layers[0].num_params() :])
    first, second, last = net.engine.shared_nodes.nodes
    past = propagation(net, (first, second._replace(inputs=(Source(NETWORK_INPUT),)), last))
    expected = propagation(shorter, shorter.engine.shared_nodes.nodes)
    nd.fill(net.engine.vectors.gradient, 7.0)
    x = nd.create(X, dtype="float64")
    step = StepInput((x,), (nd.create(Y, dtype="float64"),), (mask,))
    loss, expected_loss = there_and_back(past, step), there_and_back(expected, step)
    assert float(loss) == float(expected_loss)
    gradient, count = nd.to_host(net.engine.vectors.gradient)[0], net.layers[0].num_params()
    np.testing.assert_array_equal(gradient[count:], nd.to_host(shorter.engine.vectors.gradient)[0])
    assert (gradient[:count] == 7.0).all()
    if mask is not None:
        behind, examples = masks_behind(past.nodes, ("input",), (x,), (mask,), "float64")[-1]
        np.testing.assert_array_equal(behind, mask)
        assert examples == 6
