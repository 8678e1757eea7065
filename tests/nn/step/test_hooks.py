"""Hooks and the steps of networks: every op of an eager step is heard, of a replayed one the copies of its data."""

import threading

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Nesterovs
from tests.step_plans import recorded, recorded_updates

RNG = np.random.default_rng(8)
DATA = DataSet(RNG.normal(size=(6, 4)).astype(np.float32), np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 6)])
PENALTIES = ["Dot", "Dot"]
FORWARD = ["Gemm", "BroadcastAdd", "Tanh", "Gemm", "SoftMax"]
LOSS = ["MaxPairwise", "MinPairwise", "Log", "Mul", "Mul", "Sum", "Sub"]
BACKWARD = ["Mmul", "Sum", "Gemm", "TanhBp", "Mmul", "Sum"]
LOOKED_AT = ["Dot"]  # whether loss and gradient are finite
SAVED = ["Assign", "Assign"]  # parameters and updater state, should the update fail
UPDATE = {  # of Nesterovs' momentum, for weights with a penalty and for biases
    True: ["Div", "Axpy", "Axpby", "Axpby", "Sub"],
    False: ["Div", "Axpby", "Axpby", "Sub"],
}
STEP = [*PENALTIES, *FORWARD, *LOSS, *BACKWARD, *LOOKED_AT, *SAVED, *2 * (UPDATE[True] + UPDATE[False])]


def network(**settings):
    conf = NeuralNetConfiguration(seed=2, updater=Nesterovs(0.1, momentum=0.9), **settings).list(
        DenseLayer(n_in=4, n_out=5, activation="tanh"), OutputLayer(n_out=3, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


@pytest.fixture
def heard():
    """The ops that a hook hears."""
    ops = []
    with nd.use_backend("numpy"):
        nd.add_hook(ops.append)
        yield ops
        nd.remove_hook(ops.append)


def names(ops):
    return [op.who for op in ops]


def touches(op, vector):
    return any(nd.is_array(each) and np.shares_memory(each, vector) for each in (*op.inputs, *op.outputs))


def eager_step(net, ops):
    """Take a step that is not the first, and forget what was heard before it."""
    with nd.eager():
        net.fit_batch(DATA)
        ops.clear()
        net.fit_batch(DATA)


def test_every_op_of_an_eager_step_is_heard_in_its_order(heard):
    net = network(l2=0.01)
    eager_step(net, heard)
    assert names(heard) == STEP
    state, gradient = net.updater_state(), net.flattened_gradients()
    assert [op.who for op in heard if touches(op, state)] == ["Assign", *8 * ["Axpby"]]
    written = [op for op in heard if op.who == "Mmul"]
    assert all(touches(op, gradient) for op in written)
    assert [touches(op, net.get_param("1_W")) for op in written] == [False, False]
    products = [op for op in heard if op.who == "Gemm"]
    assert [tuple(op.z.shape) for op in products] == [(6, 5), (6, 3), (6, 5)]
    assert [touches(op, net.get_param(key)) for op, key in zip(products, ("0_W", "1_W", "1_W"), strict=True)] == [
        True
    ] * 3
    last = [op for op in heard if op.who == "Sub" and touches(op, net.params())]
    assert len(last) == 4  # parameters minus update: W and b of both layers


def test_what_is_drawn_is_heard_too(heard):
    net = network(drop_out=0.5)
    eager_step(net, heard)
    assert names(heard).count("DropOutInverted") == 2


def test_a_step_that_was_heard_is_the_step_itself(heard):
    found, expected = network(l2=0.01), network(l2=0.01)
    with nd.eager():
        for _ in range(3):
            found.fit_batch(DATA)
    assert heard
    nd.remove_hook(heard.append)
    for _ in range(3):
        expected.fit_batch(DATA)
    np.testing.assert_array_equal(found.params(), expected.params())


def test_of_a_replayed_step_the_copies_of_its_data_are_heard_and_nothing_else(heard):
    net = network()
    net.fit_batch(DATA)
    assert (recorded(net.engine.gradients), recorded_updates(net.updater)) == ([1], [1])
    for _ in range(3):
        heard.clear()
        net.fit_batch(DATA)
        assert set(names(heard)) <= {"Assign"}
        assert len(heard) <= 3
        inputs = (net.params(), net.updater_state(), net.flattened_gradients())
        assert not any(touches(op, vector) for op in heard for vector in inputs)


def test_a_hook_is_called_in_the_thread_of_the_op_and_hears_nothing_of_its_own(heard):
    threads, own = set(), []

    def computing(op):
        threads.add(threading.get_ident())
        own.append(nd.exp(nd.zeros(2)))

    nd.add_hook(computing)
    try:
        eager_step(network(l2=0.01), heard)
    finally:
        nd.remove_hook(computing)
    assert names(heard) == STEP
    assert len(own) > len(STEP)
    assert threads == {threading.get_ident()}
    heard.clear()
    nd.exp(nd.zeros(2))
    assert "Exp" in names(heard)
