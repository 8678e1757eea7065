"""Networks of many layers: what is done with them takes time in proportion to how many there are."""

import sys
import time

import numpy as np
import pytest

import nd
import nn
import nn.dl4j
from nn import (
    ActivationLayer,
    ComputationGraph,
    ComputationGraphConfiguration,
    DenseLayer,
    ElementWiseVertex,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    TransferLearning,
)
from nn.step.pass_memory import PassMemory

BASE = NeuralNetConfiguration(seed=1)
ROWS = InputType.feed_forward(4)
LAST = OutputLayer(n_in=4, n_out=2, activation="softmax", loss="mcxent")


def relu():
    return ActivationLayer(activation="relu")


def chain(n):
    """Return the arguments of `graph` for vertices in a row."""
    nodes = {f"v{i}": (relu(), f"v{i - 1}" if i else "x") for i in range(n)}
    return {"x": ROWS}, {**nodes, "out": (LAST, f"v{n - 1}")}, ["out"]


def backwards(n):
    inputs, nodes, outputs = chain(n)
    return inputs, dict(reversed(nodes.items())), outputs


def star(n):
    nodes = {f"v{i}": (relu(), "x") for i in range(n)}
    return {"x": ROWS}, {**nodes, "sum": (ElementWiseVertex("add"), *nodes), "out": (LAST, "sum")}, ["out"]


def many_ends(n):
    nodes = {f"out{i}": (LAST, f"x{i}") for i in range(n)}
    return {f"x{i}": ROWS for i in range(n)}, nodes, list(nodes)


def built(inputs, nodes, outputs):
    builder = NeuralNetConfiguration.Builder().seed(1).graphBuilder().addInputs(*inputs)
    for name, (layer, *sources) in nodes.items():
        builder.addVertex(name, layer, *sources)
    return builder.setOutputs(*outputs).setInputTypes(*inputs.values()).build()


def through_everything(conf, kind, network, path):
    text = conf.to_json()
    net = network(kind.from_json(text)).init()
    net.summary()
    net.clone()
    net.save(path)
    nn.load(path)
    return net


def graph_through(shape, n, path):
    conf = BASE.graph(*shape(n))
    net = through_everything(conf, ComputationGraphConfiguration, ComputationGraph, path)
    built(*shape(n))
    if shape is chain:
        TransferLearning.GraphBuilder(net).nOutReplace("out", 3, "xavier").build()
        net.output(np.zeros((1, 4), np.float32))


def list_through(n, path):
    conf = BASE.list(*(relu() for _ in range(n)), LAST)
    net = through_everything(conf, MultiLayerConfiguration, MultiLayerNetwork, path)
    net.output(np.zeros((1, 4), np.float32))


def calls(work):
    """Return how many functions are called: what time follows, without its noise."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def check(work):
    """Raise unless 40 layers take about as many calls more than 20 as 20 more than 10, twice."""
    nd.set_backend("numpy")
    work(5)  # what is imported and kept the first time
    few, more, most = (calls(lambda n=n: work(n)) for n in (10, 20, 40))
    assert most - more <= 2.1 * (more - few)


SHAPES = [chain, backwards, pytest.param(star, marks=pytest.mark.slow), pytest.param(many_ends, marks=pytest.mark.slow)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.quick_rows(1)
def test_twice_as_many_vertices_take_twice_the_calls(shape, tmp_path):
    check(lambda n: graph_through(shape, n, tmp_path / "a.zip"))


def test_twice_as_many_layers_take_twice_the_calls(tmp_path):
    check(lambda n: list_through(n, tmp_path / "a.zip"))


def test_memory_of_many_gradients_that_wait_is_looked_for_few_times(monkeypatch):
    """Every block was looked for under every gradient at every node: for 2,000 branches that took hours."""
    monkeypatch.setattr(PassMemory, "little", 0)
    found = nd.may_share_memory
    looked = []
    monkeypatch.setattr(nd, "may_share_memory", lambda x, y: (looked.append(1), found(x, y))[1])

    def fit(n):
        layers = {f"v{i}": (DenseLayer(n_in=4, n_out=4), "x") for i in range(n)}
        nodes = {**layers, "sum": (ElementWiseVertex("add"), *layers), "out": (LAST, "sum")}
        net = ComputationGraph(BASE.graph({"x": ROWS}, nodes, ["out"])).init()
        looked.clear()
        net.fit(np.zeros((2, 4), np.float32), np.eye(2, dtype=np.float32))
        return len(looked)

    few, more = fit(30), fit(60)
    assert 0 < more <= 4.5 * few


@pytest.mark.slow
def test_the_time_to_open_a_chain_of_20_000_vertices_grows_with_their_number():
    """Half way between 4 times, which it would be without noise, and 16, were every vertex to look at all others."""
    nd.set_backend("numpy")
    taken = {}
    for n in (5_000, 20_000):
        text = BASE.graph(*chain(n)).to_json()
        times = []
        for _ in range(3):
            start = time.process_time()
            ComputationGraphConfiguration.from_json(text)
            times.append(time.process_time() - start)
        taken[n] = min(times)
    assert taken[20_000] <= 8 * taken[5_000], taken
