"""Graphs drawn at random: their gradients are derivatives, and every way of computing them gives the same numbers."""

import io

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import MultiDataSet
from nn import ComputationGraph
from tests.cases.mixed_graphs import draw
from tests.stand_ins import make_backend
from tests.step_plans import split_small_minibatches

COUNT, SAMPLE = 200, range(0, 200, 25)
STEP, CLOSE = 1e-6, {"rtol": 2e-6, "atol": 2e-7}
SPLIT = {"rtol": 1e-9, "atol": 1e-11}  # sums over examples in another order
ALL = [pytest.param(n, marks=() if n in SAMPLE else pytest.mark.slow) for n in range(COUNT)]
every_graph = pytest.mark.parametrize("number", ALL)


def minibatch(graph, features=None):
    return MultiDataSet(features or graph.features, graph.labels, graph.features_masks, graph.labels_masks)


def loss(net, data):
    """Return the summed loss of a step of training, which is the score as there are no penalties."""
    net.set_inputs(*data.features)
    net.set_labels(*data.labels)
    net.set_masks(data.features_masks, data.labels_masks)
    return net.compute_gradient_and_score().score * data.labels[0].shape[0]


def trained_entries(net):
    """Return a vector that is 0 at parameters that backprop does not train: frozen, or running means."""
    entries = np.zeros(net.num_params())
    for number, node in enumerate(net.conf.nodes):
        views = net.conf.layout().views_of(number, entries[None])
        for spec in node.conf.param_specs():
            views[spec.name][...] = not spec.running and net.conf.layout().is_trained(number)
    return entries


def difference(function, at, direction):
    """Return the derivative of a function of arrays along a direction, by differences."""
    ahead, behind = ([x + sign * STEP * d for x, d in zip(at, direction, strict=True)] for sign in (1.0, -1.0))
    return (function(ahead) - function(behind)) / (2.0 * STEP)


@every_graph
def test_gradients_are_derivatives_of_the_loss(number):
    graph, rng = draw(number), np.random.default_rng(number)
    net = graph.network()
    data, at = minibatch(graph), nd.to_host(net.params()).copy()

    def of_params(arrays):
        net.set_params(arrays[0])
        return loss(net, data)

    def of_features(arrays):
        return loss(net, minibatch(graph, arrays))

    gradient, epsilons = net.calculate_gradients(graph.features, graph.labels, graph.features_masks, graph.labels_masks)
    vector = nd.to_host(gradient.gradient()).copy()[0]
    below = [0.0 if epsilon is None else nd.to_host(epsilon).copy() for epsilon in epsilons]
    loss(net, data)
    np.testing.assert_allclose(nd.to_host(net.flattened_gradients())[0], vector, **SPLIT)  # without dL/d(features)
    for _ in range(2):
        direction = rng.normal(size=at.shape) * trained_entries(net)
        numeric = difference(of_params, [at], [direction])
        np.testing.assert_allclose(vector @ direction[0], numeric, **CLOSE)
    net.set_params(at)
    for _ in range(2):
        directions = [rng.normal(size=x.shape) for x in graph.features]
        numeric = difference(of_features, graph.features, directions)
        ours = sum((epsilon * d).sum() for epsilon, d in zip(below, directions, strict=True))
        np.testing.assert_allclose(ours, numeric, **CLOSE)


def state(net):
    return [nd.to_host(vector).copy() for vector in (net.params(), net.updater_state())]


def trained(net, data, steps=3):
    """Train, and return scores, outputs, parameters and the updater's state."""
    scores = []
    for _ in range(steps):
        net.fit(data)
        scores.append(net.score())
    outputs = [nd.to_host(out) for out in net.output(*data.features, features_masks=data.features_masks)]
    return [np.array(scores), *outputs, *state(net)]


@every_graph
@pytest.mark.quick_rows(4)
def test_what_is_saved_goes_on_as_if_it_had_not_been(number):
    graph = draw(number)
    data, straight, first_half = minibatch(graph), graph.network(), graph.network()
    trained(straight, data)
    trained(first_half, data, 2)
    file = io.BytesIO()
    first_half.save(file)
    file.seek(0)
    loaded = ComputationGraph.load(file)
    assert loaded.topological_order() == straight.topological_order()
    loaded.fit(data)
    for found, expected in zip(state(loaded), state(straight), strict=True):
        np.testing.assert_array_equal(found, expected)


@every_graph
@pytest.mark.quick_rows(4)
def test_parts_give_what_the_whole_gives(number, monkeypatch):
    graph = draw(number)
    data = minibatch(graph)
    whole = trained(graph.network(), data, 1)
    split_small_minibatches(monkeypatch)
    with nd.use_backend(NumpyBackend(threads=2)):
        parts = trained(graph.network(), data, 1)
    for found, expected in zip(parts[:-2], whole[:-2], strict=True):
        np.testing.assert_allclose(found, expected, **SPLIT)


@every_graph
@pytest.mark.quick_rows(4)
def test_the_generic_backend_gives_the_same_and_data_stay_as_they_are(number):
    graph = draw(number)
    for array in (*graph.features, *graph.labels, *graph.features_masks, *graph.labels_masks):
        if array is not None:
            array.flags.writeable = False
    ours = trained(graph.network(), minibatch(graph), 2)
    with nd.use_backend(make_backend("strict")):
        generic = trained(graph.network(), minibatch(graph), 2)
    for found, expected in zip(ours[:-2], generic[:-2], strict=True):
        np.testing.assert_allclose(found, expected, **SPLIT)


def test_several_workers_are_at_work_in_them(monkeypatch):
    split_small_minibatches(monkeypatch)
    with nd.use_backend(NumpyBackend(threads=2)):
        networks = [draw(number).network() for number in SAMPLE]
        for net, number in zip(networks, SAMPLE, strict=True):
            net.fit(minibatch(draw(number)))
    assert sum(len(net.engine.gradients.workers) > 1 for net in networks) >= len(SAMPLE) // 4


@pytest.mark.slow
def test_graphs_are_of_every_kind():
    graphs = [draw(number).conf for number in range(COUNT)]
    kinds = {type(conf).__name__ for graph in graphs for conf in graph.vertices.values()}
    assert kinds >= {
        "AttentionVertex", "DuplicateToTimeSeriesVertex", "ElementWiseVertex", "FrozenVertex", "L2NormalizeVertex",
        "L2Vertex", "LastTimeStepVertex", "MergeVertex", "PoolHelperVertex", "PreprocessorVertex", "ReshapeVertex",
        "ReverseTimeSeriesVertex", "ScaleVertex", "ShiftVertex", "StackVertex", "SubsetVertex", "UnstackVertex",
    }  # fmt: skip
    read = [{source for sources in conf.vertex_inputs.values() for source in sources} for conf in graphs]
    in_the_middle = [set(conf.outputs) & sources for conf, sources in zip(graphs, read, strict=True)]
    assert sum(map(bool, in_the_middle)) > 20
    assert sum(len(conf.outputs) > 1 for conf in graphs) > 50
    assert sum(len(conf.inputs) > 1 for conf in graphs) > 50
    assert {2, 15} <= {len(conf.vertices) for conf in graphs}
