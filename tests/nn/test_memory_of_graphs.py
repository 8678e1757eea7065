"""Memory that nodes give back during a pass: nobody reads it afterwards, and it stays flat."""

import gc

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet, MultiDataSet
from nn import (
    ActivationLayer,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    GlobalPoolingLayer,
    InputType,
    MergeVertex,
    NeuralNetConfiguration,
    OutputLayer,
    ScaleVertex,
    StackVertex,
    SubsamplingLayer,
    SubsetVertex,
    UnstackVertex,
)
from nn.step.propagation import Propagation
from optimize import Listener, Sgd
from tests.cases.layers import make_features, make_labels
from tests.cases.random_graphs import batch_for, images_graph, rows_graph
from tests.cases.vertices import VERTEX_CASES
from tests.nn.layers.test_every_layer import every_layer, make_network
from tests.step_plans import recorded, split_small_minibatches

VERTEX_ROWS = [pytest.param(case, id=f"{kind}-{case.variant}") for kind, rows in VERTEX_CASES.items() for case in rows]
RNG = np.random.default_rng(4)
CLOSE = {"rtol": 1e-9, "atol": 1e-11}  # where nodes that run as one are compared with nodes one by one


class Looks(Listener):
    """Looks at activations: so nodes keep them, in memory of their own."""

    def on_forward_pass(self, model, activations):
        pass


class Unrecorded(NumpyBackend):
    """NumPy that runs every step as it is written."""

    def recorder(self):
        return None


@pytest.fixture
def poison(monkeypatch):
    """What is given back is filled with NaN; tell how often that was."""
    given, give_back = [], nd.Arena.give_back

    def counted(arena, blocks):
        blocks = tuple(blocks)
        given.extend(blocks)
        give_back(arena, blocks)

    monkeypatch.setattr(nd.Arena, "poisons", True)
    monkeypatch.setattr(nd.Arena, "give_back", counted)
    return given


def results(net, batches, predicted=()):
    """Return parameters after these steps, scores, and predictions."""
    scores = []
    nd.random.set_seed(5)
    for data in batches:
        net.fit_batch(data)
        scores.append(net.score())
    return [nd.to_host(net.params()).copy(), np.array(scores), *(nd.to_host(out) for out in predicted(net))]


def predictions(*batches):
    return lambda net: [out for data in batches for out in net.output(*data.features)]


def assert_same(found, expected, **close):
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, **(close or {"rtol": 0}))


def keeping(net):
    """Let nodes keep their activations, and predict node by node."""
    net.set_listeners(Looks())
    return net


def kept_predictions(*batches):
    """Return the outputs from the activations of all nodes."""

    def of(net):
        passes = [net.feed_forward(*data.features) for data in batches]
        return [activations[name] for activations in passes for name in net.conf.outputs]

    return of


@pytest.mark.parametrize("backend", [NumpyBackend(threads=1), Unrecorded(threads=1)], ids=["recorded", "unrecorded"])
@pytest.mark.parametrize("make", [rows_graph, images_graph])
@pytest.mark.parametrize("number", range(12))
def test_nobody_reads_in_a_graph_what_was_given_back(number, make, backend, poison):
    with nd.use_backend(backend):
        net = make(number)
        batches = [batch_for(net, n, seed) for seed, n in enumerate((6, 4, 6, 9, 6))]
        found = results(net, batches, predictions(*batches[:4], batches[0]))
        given, poison[:] = len(poison), ()
        expected = results(keeping(make(number)), batches, kept_predictions(*batches[:4], batches[0]))
        assert not poison
    assert given > 50
    assert_same(found, expected, **CLOSE)


@every_layer
def test_nobody_reads_what_a_layer_gave_back(case, poison):
    with nd.use_backend(NumpyBackend(threads=1)):

        def run(change, predicted):
            net = change(make_network(case, updater="sgd", learning_rate=0.1))
            x = make_features(case, 1, 6)
            shape = net.output(x).shape
            batches = [DataSet(make_features(case, seed, 6), make_labels(case, shape[1:], seed, shape[0])) for seed in range(3)]
            return results(net, batches, lambda net: [predicted(net, data.features) for data in batches])

        found = run(lambda net: net, lambda net, x: net.output(x))
        expected = run(keeping, lambda net, x: net.feed_forward(x)[-1])
    assert poison
    assert_same(found, expected, **CLOSE)


def around(case):
    """Return a graph with that vertex in the middle, and a minibatch for it."""
    names = [f"x{number}" for number in range(len(case.shapes))]
    more = [name for name in case.network if name not in names]
    arrays = [*case.inputs(), *(np.ones(case.network[name][0]) for name in more)]
    masks = [*(case.masks or (None,) * len(names)), *(case.network[name][1] for name in more)]
    nodes = {f"s{name}": (ScaleVertex(2.0), name) for name in names}
    nodes["v"] = (case.vertex, *nodes)
    nodes["same"] = (ActivationLayer(activation="identity"), "v")
    types = {name: InputType.infer_input_type(nd.create(x)) for name, x in zip([*names, *more], arrays, strict=True)}
    base = NeuralNetConfiguration(seed=3, dtype="float64", updater=Sgd(0.1), weight_init="xavier")
    return base, types, nodes, arrays, masks


@pytest.mark.parametrize("case", VERTEX_ROWS)
def test_nobody_reads_what_a_vertex_gave_back(case, poison):
    base, types, nodes, arrays, masks = around(case)
    with nd.use_backend(NumpyBackend(threads=1)):

        def run(make):
            net = make(ComputationGraph(base.graph(types, nodes, ["same"], allow_disconnected=True)).init())
            return net

        plain, watched = run(lambda net: net), run(keeping)
        for _ in range(3):
            found = plain.output(*arrays, features_masks=masks)[0]
            expected = watched.output(*arrays, features_masks=masks)[0]
            np.testing.assert_array_equal(found, expected)
    assert poison
