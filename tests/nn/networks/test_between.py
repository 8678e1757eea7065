"""Passes from one node to another, forward and back, in graphs by names and in chains by numbers."""

import numpy as np
import pytest

import nd
from nn import (
    LSTM,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    DuplicateToTimeSeriesVertex,
    ElementWiseVertex,
    InputType,
    LastTimeStepVertex,
    MergeVertex,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
)
from nn.networks.between import Between
from tests.cases import random_graphs
from tests.nn.layers.test_every_layer import SAMPLES, check_derivative
from tests.nn.step.test_kinds_of_nodes import OTHER, X, cut_graph, siamese
from tests.nn.step.test_memory_of_graphs import around, every_kind_of_vertex
from tests.ways_of_a_step import network_of

RNG = np.random.default_rng(3)
BASE = NeuralNetConfiguration(seed=4, dtype="float64", updater="sgd", bias_init=0.1)
ROWS = RNG.normal(size=(5, 4))


def branched():
    """Two ways from "a" to "end", one of which reads "side" besides; "late" reads "end" and the input."""
    nodes = {
        "a": (DenseLayer(n_out=3, activation="tanh"), "x"),
        "side": (DenseLayer(n_out=3, activation="sigmoid"), "x"),
        "b": (DenseLayer(n_out=3, activation="tanh"), "a"),
        "sum": (ElementWiseVertex("add"), "b", "side"),
        "end": (MergeVertex(), "sum", "a"),
        "late": (MergeVertex(), "end", "x"),
        "out": (OutputLayer(n_out=2, activation="softmax"), "late"),
    }
    return ComputationGraph(BASE.graph({"x": InputType.feed_forward(4)}, nodes, "out")).init()


def test_only_what_lies_between_runs():
    graph = branched()
    every = graph.feed_forward(ROWS)
    found = graph.activate_selected_layers("a", "end", ROWS, others={"side": every["side"]})
    np.testing.assert_array_equal(found, every["end"])
    changed = nd.multiply(every["side"], 2.0)
    found = graph.activate_selected_layers("a", "end", ROWS, others={"side": changed})
    np.testing.assert_allclose(found[:, :3], every["b"] + changed, rtol=1e-12)
    np.testing.assert_array_equal(graph.activate_selected_layers("sum", "sum", every["b"], every["side"]), every["sum"])
    late = graph.activate_selected_layers("a", "late", ROWS, others={"side": every["side"]})  # which reads x too
    np.testing.assert_array_equal(late, every["late"])


def between(net, start, stop, every):
    """Return what `Between` is to be given of all activations, and others."""
    way = Between(net, "test", *(net._number(name) for name in (start, stop)))
    return [every[way.name_of(source)] for source in way.inputs], {
        way.name_of(source): every[way.name_of(source)] for source in way.others
    }


@every_kind_of_vertex
def test_every_vertex_gives_what_it_gives_in_its_network(case):
    conf, arrays, masks = around(case)
    if any(mask is not None for mask in masks or ()):
        return  # which have no part in it
    net = network_of(conf)
    every = net.feed_forward(*arrays)
    names = [node.name for node in net.conf.nodes]
    for start in names:
        xs, others = between(net, start, start, every)
        np.testing.assert_array_equal(net.activate_selected_layers(start, start, *xs, others=others), every[start])


@pytest.mark.parametrize("number", range(12))
def test_graphs_drawn_at_random_from_any_node_to_any_other(number):
    drawn = random_graphs.draw_graph(number)
    net, data = network_of(drawn.conf), drawn.data.multi
    if any(mask is not None for mask in data.features_masks):
        return
    every = net.feed_forward(*data.features)
    names, pairs = [node.name for node in net.conf.nodes], 0
    for first, start in enumerate(names):
        for stop in names[first:]:
            try:
                xs, others = between(net, start, stop, every)
            except nd.ConfigurationError:  # no way
                continue
            found = net.activate_selected_layers(start, stop, *xs, others=others)
            np.testing.assert_allclose(nd.to_host(found), nd.to_host(every[stop]), rtol=1e-6, atol=1e-7)
            pairs += 1
    assert pairs >= len(names)


def check_backward(net, start, stop, xs, others, training=False):
    """Compare with differences of a weighted sum of the last activations."""
    xs = [nd.create(x, dtype="float64") for x in xs]
    others = {name: nd.create(x, dtype="float64") for name, x in others.items()}
    out = net.activate_selected_layers(start, stop, *xs, others=others)
    weights = RNG.normal(size=out.shape)
    nd.fill(net.flattened_gradients(), 7.0)

    def loss():
        return float((nd.to_host(net.activate_selected_layers(start, stop, *xs, others=others)) * weights).sum())

    gradient, below = net.backprop_selected_layers(start, stop, xs, weights, others)
    assert (nd.to_host(net.flattened_gradients()) == 7.0).all()
    for key, found in gradient.gradient_for_variable().items():
        check_derivative(loss, net.get_param(key), found, SAMPLES)
    way = Between(net, "test", *(net._number(name) for name in (start, stop)))
    given = dict(zip(map(way.name_of, way.inputs), xs, strict=True)) | others
    assert set(below) <= set(given)
    for name, found in below.items():
        check_derivative(loss, given[name], found, SAMPLES)
    return gradient, below


def test_the_way_back_gives_derivatives():
    graph = branched()
    every = graph.feed_forward(ROWS)
    gradient, below = check_backward(graph, "a", "late", [ROWS], {"side": every["side"]})
    assert list(gradient.gradient_for_variable()) == ["a_W", "a_b", "b_W", "b_b"]
    assert set(below) == {"x", "side"}
    assert gradient.gradient().shape == (1, 4 * 3 + 3 + 3 * 3 + 3)
    gradient, below = check_backward(graph, "sum", "end", [every["b"], every["side"]], {"a": every["a"]})
    assert gradient.gradient_for_variable() == {}
    assert set(below) == {"b", "side", "a"}


def test_the_way_back_of_all_is_that_of_the_network():
    graph = branched()
    errors = RNG.normal(size=(5, 2))
    graph.set_inputs(ROWS)
    expected, below = graph.backprop_gradient(errors)
    kept = {key: nd.copy(array) for key, array in expected.gradient_for_variable().items()}
    side = graph.feed_forward(ROWS)["side"]
    gradient, found = graph.backprop_selected_layers("a", "out", ROWS, errors, {"side": side})
    of_side, rest = graph.backprop_selected_layers("side", "side", ROWS, found["side"])
    np.testing.assert_allclose(found["x"] + rest["x"], below[0], rtol=1e-12)
    for key, array in {**gradient.gradient_for_variable(), **of_side.gradient_for_variable()}.items():
        np.testing.assert_allclose(array, kept.pop(key), rtol=1e-12)
    assert not kept


def test_series_carry_a_state_and_look_at_an_input_of_the_network():
    nodes = {
        "steps": (LSTM(n_out=3, activation="tanh"), "series"),
        "end": (LastTimeStepVertex("series"), "steps"),
        "all": (DuplicateToTimeSeriesVertex("series"), "end"),
        "both": (MergeVertex(), "all", "steps"),
        "out": (RnnOutputLayer(n_out=2, activation="softmax"), "both"),
    }
    graph = ComputationGraph(BASE.graph({"series": InputType.recurrent(2, 4)}, nodes, "out")).init()
    series = RNG.normal(size=(3, 2, 4))
    every = graph.feed_forward(series)
    check_backward(graph, "steps", "both", [series], {})
    others = {"steps": every["steps"], "series": series}
    found = graph.activate_selected_layers("all", "both", every["end"], others=others)
    np.testing.assert_array_equal(found, every["both"])
    with pytest.raises(nd.ConfigurationError, match=r"also read \['series', 'steps'\], .* others=\{'series': array\}"):
        graph.activate_selected_layers("all", "both", every["end"])


def test_shared_parameters_get_the_sum_and_several_outputs_are_a_tuple():
    net = siamese()
    every = net.feed_forward(X, OTHER)
    check_backward(net, "left", "sum", [X], {"right": every["right"]})
    cut = cut_graph()
    both = cut.activate_selected_layers("first", "cut", X)
    assert [tuple(one.shape) for one in both] == [(8, 2), (8, 3)]
    weights = [np.ones((8, 2)), np.zeros((8, 3))]
    _, below = cut.backprop_selected_layers("cut", "cut", np.concatenate(both, 1), weights)
    np.testing.assert_array_equal(below["first"], np.repeat([[1.0, 1.0, 0.0, 0.0, 0.0]], 8, 0))


def chain():
    layers = (
        ConvolutionLayer(n_out=3, kernel_size=2, activation="tanh"),
        DenseLayer(n_out=4, drop_out=0.5),
        OutputLayer(n_out=2, activation="softmax"),
    )
    return MultiLayerNetwork(BASE.list(*layers, input_type=InputType.convolutional(4, 3, 2, "NHWC"))).init()


def test_a_chain_by_numbers_and_as_a_graph_by_names():
    net = chain()
    graph, x = net.to_computation_graph(), RNG.normal(size=(5, 4, 3, 2))
    every = net.feed_forward(x)
    assert every[1].shape == (5, 3, 2, 3)
    weights = RNG.normal(size=(5, 4))
    for start, given in ((0, x), (1, every[1])):
        out = net.activate_selected_layers(start, 1, given)
        np.testing.assert_array_equal(out, graph.activate_selected_layers(str(start), "1", given))
        np.testing.assert_array_equal(out, graph.activate_selected_layers(start, 1, given))
        gradient, below = net.backprop_selected_layers(start, 1, given, weights)
        same, (also,) = (
            (pair := graph.backprop_selected_layers(str(start), "1", given, weights)).first,
            pair[1].values(),
        )
        np.testing.assert_array_equal(below, also)
        np.testing.assert_array_equal(gradient.gradient(), same.gradient())
        assert below.shape == given.shape

        def loss(start=start, given=given):
            return float((nd.to_host(net.activate_selected_layers(start, 1, given)) * weights).sum())

        check_derivative(loss, given, below, SAMPLES)
    before = net.random.get_state()
    noisy = net.backprop_selected_layers(1, 1, every[1], weights, training=True)[1]
    assert net.random.get_state() != before
    assert (nd.to_host(noisy) == 0.0).any()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda net: net.activate_selected_layers("c", "end", ROWS), nd.ChoiceError, "unknown vertex 'c'"),
        (
            lambda net: net.activate_selected_layers("a", "side", ROWS),
            nd.ConfigurationError,
            "activate_selected_layers: a way must lead from 'a' to 'side', got none",
        ),
        (
            lambda net: net.backprop_selected_layers("end", "a", ROWS, ROWS),
            nd.ConfigurationError,
            "backprop_selected_layers: a way must lead from 'end' to 'a', got none",
        ),
        (
            lambda net: net.activate_selected_layers("a", "end", ROWS),
            nd.ConfigurationError,
            r"also read \['side'\], which must be given, got \[\]\. Give others=\{'side': array\}",
        ),
        (
            lambda net: net.activate_selected_layers("a", "b", ROWS, others={"sid": ROWS}),
            nd.ChoiceError,
            "unknown other 'sid'",
        ),
        (
            lambda net: net.activate_selected_layers("sum", "sum", ROWS),
            nd.ConfigurationError,
            r"expected an array for each of \['b', 'side'\], which come in, got 1",
        ),
        (lambda net: net.activate_selected_layers("a", "b", ROWS[:, :2]), nd.ShapeError, r"expected input \[N, 4\]"),
        (
            lambda net: net.backprop_selected_layers("a", "b", ROWS, ROWS),
            nd.ShapeError,
            r"backprop_selected_layers: epsilon must be \[5, 3\], got \[5, 4\]",
        ),
        (
            lambda net: cut_graph().backprop_selected_layers("first", "cut", X, X),
            nd.ShapeError,
            "expected 2 epsilons, got 1",
        ),
        (
            lambda net: chain().backprop_selected_layers(2, 1, X, X),
            nd.ConfigurationError,
            "start must be at most stop, got 2, 1",
        ),
        (
            lambda net: chain().backprop_selected_layers(0, 7, X, X),
            nd.ConfigurationError,
            r"layer must be 0\.\.2, got 7",
        ),
        (
            lambda net: ComputationGraph(net.conf).activate_selected_layers("a", "b", ROWS),
            nd.ConfigurationError,
            r"init\(\) must come first",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(branched())
