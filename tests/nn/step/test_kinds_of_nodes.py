"""Nodes that Deeplearning4j has not: with several outputs, with shared parameters, losses among the activations."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet, MultiDataSet
from nn import (
    ActivationLayer,
    ComputationGraph,
    DenseLayer,
    ElementWiseVertex,
    InputType,
    NeuralNetConfiguration,
    OutputLayer,
)
from nn.conf.nodes import Source, sources_by_names
from nn.step.worker import StepInput
from nn.vertices.base import VertexConf
from nn.vertices.runtime import VertexRuntime
from optimize import Adam, Sgd
from tests.nn.layers.test_every_layer import check_derivative
from tests.step_plans import recorded, split_small_minibatches, workers_of

N, COLUMNS, CLASSES = 8, 6, 3
RNG = np.random.default_rng(7)
X, OTHER = RNG.normal(size=(2, N, COLUMNS))
Y = np.eye(CLASSES)[RNG.integers(0, CLASSES, N)]


class CutRuntime(VertexRuntime):
    """The first columns, and the others."""

    pure = splits = True
    outputs = 2

    def forward(self, xs, params, ctx):
        at = self.conf.at
        return (nd.copy(xs[0][:, :at]), nd.copy(xs[0][:, at:])), tuple(xs[0].shape)

    def backward(self, epsilon, cache, params, grads, ctx):
        below = nd.fill(ctx.buffer("epsilon", cache), 0.0)
        for part, of_part in zip((below[:, : self.conf.at], below[:, self.conf.at :]), epsilon, strict=True):
            if of_part is not None:  # an output that no loss knows of
                nd.assign(part, of_part)
        return (below,)


@dataclass(frozen=True)
class Cut(VertexConf):
    """Cuts rows into two."""

    at: int = 2
    runtime = CutRuntime

    def output_types(self, label, input_types):
        size = input_types[0].size
        return InputType.feed_forward(self.at), InputType.feed_forward(size - self.at)

    def output_type(self, label, input_types):
        return self.output_types(label, input_types)[0]


class SquaresRuntime(VertexRuntime):
    """Half of the squared differences of two inputs, of every example: Caffe's EuclideanLoss before its sum."""

    pure = splits = True

    def forward(self, xs, params, ctx):
        distance = nd.subtract(xs[0], xs[1])
        return nd.multiply(nd.sum(nd.multiply(distance, distance), 1, keepdims=True), 0.5), distance

    def backward(self, epsilon, cache, params, grads, ctx):
        below = nd.multiply(cache, epsilon)
        return below, nd.multiply(below, -1.0) if ctx.needs_epsilons[1] else None


@dataclass(frozen=True)
class Squares(VertexConf):
    """A loss that is a node: its labels are an input like any other."""

    runtime = SquaresRuntime
    fewest_inputs = most_inputs = 2

    def output_type(self, label, input_types):
        return InputType.feed_forward(1)


def base(dtype="float64", **settings):
    return NeuralNetConfiguration(**{"seed": 3, "dtype": dtype, "updater": Sgd(0.1), "bias_init": 0.1, **settings})


def with_nodes(conf, change, losses=None):
    """Return the configuration of a graph with other nodes than its names say."""
    kind = type("Changed", (type(conf),), {"losses": property(lambda self: losses or {})})
    changed = copy.copy(conf)
    object.__setattr__(changed, "__class__", kind)
    vars(changed)["nodes"] = tuple(change(node) for node in conf.nodes)
    return changed


def reading(*sources):
    return lambda node: node._replace(inputs=sources)


def cut_graph(second=1, dtype="float64", **settings):
    """A vertex with two outputs, each behind weights and read by weights; with second=0 nobody reads the other one."""
    nodes = {
        "first": (DenseLayer(n_in=COLUMNS, n_out=5, activation="tanh"), "in"),
        "cut": (Cut(2), "first"),
        "a": (DenseLayer(n_in=2, n_out=4, activation="tanh"), "cut"),
        "b": (DenseLayer(n_in=3 if second else 2, n_out=4, activation="tanh"), "cut"),
        "sum": (ElementWiseVertex("add"), "a", "b"),
        "out": (OutputLayer(n_in=4, n_out=CLASSES, activation="softmax"), "sum"),
    }
    conf = base(dtype, **settings).graph(["in"], nodes, "out")
    cut = next(number for number, node in enumerate(conf.nodes) if node.name == "cut")
    change = reading(Source(cut, second))
    return ComputationGraph(with_nodes(conf, lambda node: change(node) if node.name == "b" else node)).init()


def parameters(net):
    return {key: nd.to_host(view) for key, view in net.param_table().items()}


def gradient_of(net, *arrays, labels=(Y,)):
    net.set_inputs(*arrays)
    net.set_labels(*labels)
    net.compute_gradient_and_score()
    return nd.to_host(net.flattened_gradients())[0].copy()


def check_gradient(net, step):
    """Compare the gradient of a step with differences of its loss."""

    def loss():
        return float(net.engine.gradients.compute(step, 0, 0).loss)

    net.engine.gradients.compute(step, 0, 0)
    gradient = nd.copy(net.engine.vectors.gradients.whole())
    check_derivative(loss, net.params()[0], gradient, 30)


def test_two_outputs_by_hand():
    net = cut_graph()
    p = parameters(net)
    h = np.tanh(X @ p["first_W"] + p["first_b"])
    a, b = np.tanh(h[:, :2] @ p["a_W"] + p["a_b"]), np.tanh(h[:, 2:] @ p["b_W"] + p["b_b"])
    z = (a + b) @ p["out_W"] + p["out_b"]
    expected = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    np.testing.assert_allclose(nd.to_host(net.output(X)[0]), expected, rtol=1e-12)


@pytest.mark.parametrize("second", [0, 1], ids=["one is read twice", "both are read"])
def test_the_gradients_of_both_outputs_come_back(second):
    net = cut_graph(second)
    check_gradient(net, StepInput((nd.create(X, "float64"),), (nd.create(Y, "float64"),)))


def test_recorded_eager_and_divided_they_are_the_same(monkeypatch):
    split_small_minibatches(monkeypatch)
    with nd.use_backend(NumpyBackend(threads=2)):
        nets = [cut_graph(dtype="float32", updater=Adam(0.01)) for _ in "12"]
        for _ in range(3):
            nets[0].fit(DataSet(X, Y))
            with nd.eager():
                nets[1].fit(DataSet(X, Y))
        assert all(recorded(nets[0].engine.gradients))
        assert len(workers_of(nets[0], X.shape)) == 2
        np.testing.assert_array_equal(*(nd.to_host(net.params()) for net in nets))
        np.testing.assert_array_equal(*(nd.to_host(net.output(X)[0]) for net in nets))


# ---- parameters of two nodes


def siamese(dtype="float64", **settings):
    """Two inputs that go through the same weights."""
    layer = DenseLayer(n_in=COLUMNS, n_out=4, activation="tanh")
    nodes = {
        "left": (layer, "a"), "right": (layer, "b"),
        "sum": (ElementWiseVertex("subtract"), "left", "right"),
        "out": (OutputLayer(n_in=4, n_out=CLASSES, activation="softmax"), "sum"),
    }  # fmt: skip
    conf = base(dtype, **settings).graph(["a", "b"], nodes, "out")
    left = next(number for number, node in enumerate(conf.nodes) if node.name == "left")
    return ComputationGraph(
        with_nodes(conf, lambda node: node._replace(params_of=left) if node.name == "right" else node)
    ).init()


def test_shared_parameters_are_there_once_and_their_gradients_are_added():
    net = siamese()
    assert sorted(net.param_table()) == ["left_W", "left_b", "out_W", "out_b"]
    p = parameters(net)
    h = np.tanh(X @ p["left_W"] + p["left_b"]) - np.tanh(OTHER @ p["left_W"] + p["left_b"])
    z = h @ p["out_W"] + p["out_b"]
    expected = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    np.testing.assert_allclose(nd.to_host(net.output(X, OTHER)[0]), expected, rtol=1e-12)
    features = tuple(nd.create(x, "float64") for x in (X, OTHER))
    check_gradient(net, StepInput(features, (nd.create(Y, "float64"),)))


def test_shared_parameters_train_from_recordings_as_in_eager_mode():
    nets, data = [siamese("float32", updater=Adam(0.01)) for _ in "12"], MultiDataSet([X, OTHER], [Y])
    for _ in range(3):
        nets[0].fit(data)
        with nd.eager():
            nets[1].fit(data)
    assert all(recorded(nets[0].engine.gradients))
    np.testing.assert_array_equal(*(nd.to_host(net.params()) for net in nets))


# ---- losses that are activations


def regression(weight):
    nodes = {
        "hidden": (DenseLayer(n_in=COLUMNS, n_out=4, activation="tanh"), "x"),
        "guess": (DenseLayer(n_in=4, n_out=CLASSES, activation="identity"), "hidden"),
        "loss": (Squares(), "guess", "y"),
    }
    conf = base().graph(["x", "y"], nodes, "loss")
    loss = next(number for number, node in enumerate(conf.nodes) if node.name == "loss")
    return ComputationGraph(with_nodes(conf, lambda node: node, {Source(loss): weight})).init()


def test_a_loss_is_a_node_with_labels_among_its_inputs_and_a_weight():
    net, step = regression(0.25), StepInput(tuple(nd.create(x, "float64") for x in (X, Y)))
    p = parameters(net)
    guess = np.tanh(X @ p["hidden_W"] + p["hidden_b"]) @ p["guess_W"] + p["guess_b"]
    result = net.engine.gradients.compute(step, 0, 0)
    assert float(result.loss) == pytest.approx(0.25 * 0.5 * ((guess - Y) ** 2).sum(), rel=1e-12)
    assert result.examples == N
    passed = net.engine.propagation.forward(step, False)
    assert float(net.engine.propagation.losses_of(step, passed, way_back=False).loss) == pytest.approx(
        float(result.loss), rel=1e-12
    )
    check_gradient(net, step)


def test_the_weights_of_losses_scale_their_gradients():
    gradients = []
    for weight in (1.0, 4.0):
        net = regression(weight)
        net.engine.gradients.compute(StepInput(tuple(nd.create(x, "float64") for x in (X, Y))), 0, 0)
        gradients.append(nd.to_host(net.engine.vectors.gradients.whole()).copy())
    np.testing.assert_allclose(gradients[1], 4.0 * gradients[0], rtol=1e-14)


# ---- tops in place


def test_a_name_stands_for_what_was_last_written_under_it():
    """Caffe's way to write a graph: a top in place, and two tops of one node."""
    nodes = [
        (["data"], ["a"]), (["a"], ["b"]), (["a"], ["a"]), (["a", "b"], ["cut", "rest"]), (["rest", "cut"], ["a"]),
        (["a"], []),
    ]  # fmt: skip
    expected = [[(-1, 0)], [(0, 0)], [(0, 0)], [(2, 0), (1, 0)], [(3, 1), (3, 0)], [(4, 0)]]
    assert sources_by_names(["data"], nodes) == [tuple(Source(*source) for source in read) for read in expected]
    with pytest.raises(nd.ChoiceError, match=r"node 1: unknown bottom 'c'"):
        sources_by_names(["data"], [(["data"], ["a"]), (["c"], ["b"])])


def test_a_graph_with_tops_in_place_is_the_one_with_names_of_their_own():
    """The activation overwrites what the layer below has written; who reads the name behind it reads the activation."""
    layers = {
        "first": DenseLayer(n_in=COLUMNS, n_out=5, activation="identity"), "tanh": ActivationLayer("tanh"),
        "second": DenseLayer(n_in=5, n_out=5, activation="identity"), "sum": ElementWiseVertex("add"),
        "out": OutputLayer(n_in=5, n_out=CLASSES, activation="softmax"),
    }  # fmt: skip
    own = {"first": "in", "tanh": "first", "second": "tanh", "sum": ("tanh", "second"), "out": "sum"}
    straight = base().graph(["in"], {name: (layer, *np.atleast_1d(own[name])) for name, layer in layers.items()}, "out")
    tops = [
        (["in"], ["h"]), (["h"], ["h"]), (["h"], ["second"]), (["h", "second"], ["h"]), (["h"], ["out"]),
    ]  # fmt: skip
    sources = dict(zip(layers, sources_by_names(["in"], tops), strict=True))
    chain = {
        name: (layer, *["in", *layers][number : number + 1]) for number, (name, layer) in enumerate(layers.items())
    }
    chain["sum"] = (layers["sum"], "second", "second")
    in_place = with_nodes(base().graph(["in"], chain, "out"), lambda node: node._replace(inputs=sources[node.name]))
    nets = [ComputationGraph(conf).init() for conf in (straight, in_place)]
    for net in nets:
        net.fit(X, Y, epochs=3)
    np.testing.assert_array_equal(nets[0].params(), nets[1].params())


# ---- from one node to another


def test_a_pass_goes_from_one_node_to_another():
    net = cut_graph()
    step = StepInput((nd.create(X, "float64"),))
    whole = net.engine.propagation.forward(step, False)
    expected = [nd.to_host(nd.copy(x)) for x in whole.outputs]
    first = net.engine.propagation.forward(step, False, stop=2)
    assert list(first.nodes) == [0, 1]
    rest = net.engine.propagation.forward(step, False, start=2, before=first)
    for found, of_whole in zip((*first.outputs, *rest.outputs), expected, strict=True):
        np.testing.assert_array_equal(nd.to_host(found), of_whole)
    again = net.engine.propagation.forward(step, False, start=4, stop=5, before=rest)
    np.testing.assert_array_equal(nd.to_host(again.outputs[0]), expected[4])


def test_a_way_back_goes_from_one_node_to_another():
    net = cut_graph()
    step = StepInput((nd.create(X, "float64"),), (nd.create(Y, "float64"),))
    propagation = net.engine.propagation
    passed = propagation.forward(step)
    _, deltas, _ = propagation.losses_of(step, passed)
    propagation.backward(passed, deltas)
    expected = nd.to_host(net.engine.vectors.gradient).copy()
    nd.fill(net.engine.vectors.gradient, 0.0)
    passed = propagation.forward(step)
    _, deltas, _ = propagation.losses_of(step, passed)
    waiting = propagation.backward(passed, deltas, stop=3)
    half = nd.to_host(net.engine.vectors.gradient).copy()
    assert sorted(source.node for source in waiting) == [1, 2]
    propagation.backward(passed, {}, waiting, start=3)
    np.testing.assert_array_equal(nd.to_host(net.engine.vectors.gradient), expected)
    assert not np.array_equal(half, expected)
