"""Memory that nodes give back during a pass: nobody reads it afterwards, and it stays flat."""

import gc

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet, MultiDataSet
from nn import (
    ActivationLayer,
    BatchNormalization,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    GlobalPoolingLayer,
    InputType,
    MergeVertex,
    NeuralNetConfiguration,
    OutputLayer,
    StackVertex,
    SubsamplingLayer,
    SubsetVertex,
    UnstackVertex,
)
from nn.step.pass_memory import PassMemory
from nn.step.propagation import Propagation
from nn.terms.data_formats import channels_last
from optimize import Listener, Sgd
from tests.cases.layers import make_features, make_labels
from tests.cases.memory_graphs import batch_for, images_graph, rows_graph
from tests.cases.vertices import VERTEX_CASES
from tests.nn.layers.test_every_layer import make_network, some_kinds
from tests.step_plans import recorded, split_small_minibatches

VERTEX_ROWS = [
    pytest.param(case, id=f"{kind}-{case.variant}")
    for kind, rows in VERTEX_CASES.items()
    for case in rows
    if not channels_last(getattr(case.vertex, "data_format", None))  # in a network the inputs settle that
]
every_kind_of_vertex = pytest.mark.parametrize(
    "case",
    [
        pytest.param(*row.values, id=row.id, marks=[pytest.mark.slow] * (row.values[0] is not VERTEX_CASES[kind][0]))
        for kind in VERTEX_CASES
        for row in VERTEX_ROWS
        if row.values[0] in VERTEX_CASES[kind]
    ],
)
"""One row of every kind of vertex, and all others among the slow tests."""
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


@pytest.fixture(autouse=True)
def everything_is_worth_giving_back(monkeypatch):
    monkeypatch.setattr(PassMemory, "little", 0)


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
@pytest.mark.parametrize("number", [pytest.param(n, marks=[pytest.mark.slow] * (n not in (0, 5))) for n in range(12)])
@pytest.mark.quick_rows(every=3)
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


@some_kinds
@pytest.mark.quick_rows(every=3)
def test_nobody_reads_what_a_layer_gave_back(case, poison):
    with nd.use_backend(NumpyBackend(threads=1)):

        def run(change, predicted):
            net = change(make_network(case, updater="sgd", learning_rate=0.1))
            x = make_features(case, 1, 6)
            shape = net.output(x).shape
            batches = [
                DataSet(make_features(case, seed, 6), make_labels(case, shape[1:], seed, shape[0])) for seed in range(3)
            ]
            return results(net, batches, lambda net: [predicted(net, data.features) for data in batches])

        found = run(lambda net: net, lambda net, x: net.output(x))
        expected = run(keeping, lambda net, x: net.feed_forward(x)[-1])
    assert poison
    assert_same(found, expected, **CLOSE)


def around(case):
    """Return a graph with that vertex in the middle, and a minibatch for it."""
    names = [f"x{number}" for number in range(len(case.shapes))]
    if case.variant in ("series", "mask-shape"):  # their masks are of steps, or of no use to a layer of rows
        case = case._replace(masks=())
    arrays = [*case.inputs(), *(np.ones(shape) for shape, _ in case.network.values())]
    masks = [*(case.masks or (None,) * len(names)), *(mask for _, mask in case.network.values())]
    nodes = {f"s{name}": (BatchNormalization(), name) for name, x in zip(names, arrays, strict=False)}
    nodes["v"] = (case.vertex, *nodes)
    nodes["same"] = (ActivationLayer(activation="identity"), "v")
    inputs = {
        name: InputType.infer_input_type(nd.create(x)) for name, x in zip([*names, *case.network], arrays, strict=True)
    }
    base = NeuralNetConfiguration(seed=3, dtype="float64", updater=Sgd(0.1), weight_init="xavier")
    kind = base.graph(inputs, nodes, ["same"], allow_disconnected=True).get_layer_activation_types()["same"]
    if len(kind.sizes) > 1:
        nodes["pooled"] = (GlobalPoolingLayer("sum"), "same")
    nodes["out"] = (OutputLayer(n_out=2, loss="mse", activation="tanh"), list(nodes)[-1])
    return base.graph(inputs, nodes, ["out"], allow_disconnected=True), arrays, masks


@every_kind_of_vertex
@pytest.mark.quick_rows(every=3)
def test_nobody_reads_what_a_vertex_gave_back(case, poison):
    conf, arrays, masks = around(case)
    with nd.use_backend(NumpyBackend(threads=1)):

        def run(change):
            net = change(ComputationGraph(conf).init())
            out = net.output(*arrays, features_masks=masks)[0]
            data = MultiDataSet(arrays, [np.ones_like(out)], masks, [np.ones((len(out), 1))])
            steps = 3 if len(out) in {len(x) for x in arrays} else 0  # rows that are no examples are predicted only
            return results(net, [data] * steps, lambda net: net.output(*arrays, features_masks=masks))

        assert_same(run(lambda net: net), run(keeping), **CLOSE)
    assert poison


# ---- how much there is


def arenas():
    """Return the arenas that have been used."""
    gc.collect()
    return [each for each in gc.get_objects() if type(each) is nd.Arena and each.size]


def branches(stack=False, **settings):
    """A network of images with two branches; stacked, examples move in it."""
    nodes = {
        "first": (ConvolutionLayer(kernel_size=3, n_out=4, convolution_mode="same", activation="relu"), "in"),
        "left": (ConvolutionLayer(kernel_size=1, n_out=4, activation="tanh"), "first"),
        "right": (SubsamplingLayer("max", kernel_size=3, stride=1, convolution_mode="same"), "first"),
        "sum": (ElementWiseVertex("add"), "left", "right"),
        "both": (MergeVertex(), "sum", "first"),
        "part": (SubsetVertex(2, 6), "both"),
        **({"two": (StackVertex(), "part", "part"), "one": (UnstackVertex(0, 2), "two")} if stack else {}),
        "dense": (DenseLayer(n_out=8, activation="tanh"), "one" if stack else "part"),
        "out": (OutputLayer(n_out=3, activation="softmax"), "dense"),
    }
    base = NeuralNetConfiguration(seed=3, dtype="float64", updater=Sgd(0.1), weight_init="xavier", **settings)
    return ComputationGraph(base.graph({"in": InputType.convolutional(8, 8, 2)}, nodes, ["out"])).init()


def images(n, seed=0):
    rng = np.random.default_rng([seed, n])
    return DataSet(rng.normal(size=(n, 2, 8, 8)), np.eye(3)[rng.integers(0, 3, n)])


def test_a_graph_with_branches_is_recorded(monkeypatch):
    with nd.use_backend(NumpyBackend(threads=1)):
        net = branches()
        net.fit_batch(images(8))
        net.output(images(8).features)
        assert recorded(net.engine.gradients) == recorded(net.engine.outputs) == [1]
        monkeypatch.setattr(Propagation, "forward", lambda *_, **__: pytest.fail("computed node by node"))
        net.fit_batch(images(8, 1))
        net.output(images(8, 1).features)


@pytest.mark.parametrize(("stack", "workers"), [(False, 2), (True, 1)])
def test_workers_share_a_graph_with_branches_where_vertices_allow_it(stack, workers, monkeypatch):
    split_small_minibatches(monkeypatch)
    found = []
    for threads in (1, 2):
        with nd.use_backend(NumpyBackend(threads=threads)):
            net = branches(stack)
            steps = results(net, [images(8, seed) for seed in range(3)], lambda net: net.output(images(8).features))
            found.append(steps)
    assert len(net.engine.gradients.workers) == len(net.engine.outputs.workers) == workers
    assert all(recorded(net.engine.gradients))
    assert_same(*found, **CLOSE)


def test_outputs_and_what_lies_under_them_stay():
    """The first output is a view of what the second activates, which is the input of the third."""
    nodes = {
        "dense": (DenseLayer(n_out=4, activation="tanh"), "in"),
        "view": (ActivationLayer(activation="identity"), "dense"),
        "half": (SubsetVertex(1, 2), "view"),
        "next": (DenseLayer(n_out=4, activation="tanh"), "view"),
        "last": (DenseLayer(n_out=4, activation="tanh"), "next"),
    }
    conf = NeuralNetConfiguration(seed=3, dtype="float64").graph(
        {"in": InputType.feed_forward(4)}, nodes, ["half", "dense", "last"]
    )
    with nd.use_backend(NumpyBackend(threads=1)):
        net, x = ComputationGraph(conf).init(), RNG.normal(size=(5, 4))
        for _ in range(3):
            half, dense, last = net.output(x)
            seen = net.feed_forward(x)
            np.testing.assert_array_equal(half, seen["dense"][:, 1:3])
            np.testing.assert_array_equal(dense, seen["dense"])
            np.testing.assert_array_equal(last, seen["last"])


def test_activations_that_are_looked_at_stay():
    """A listener may keep what it is shown until the step is over; feed_forward returns new arrays."""
    shown = []

    class Keeps(Listener):
        def on_forward_pass(self, model, activations):
            shown.append((activations, {name: nd.copy(array) for name, array in activations.items()}))

        def iteration_done(self, model, iteration, epoch):
            for name, before in shown[-1][1].items():
                np.testing.assert_array_equal(shown[-1][0][name], before)

    with nd.use_backend(NumpyBackend(threads=1)):
        net = branches()
        net.set_listeners(Keeps())
        net.fit_batch(images(8))
    assert len(shown) == 1
    assert len(shown[0][1]) >= 8


def test_a_deep_graph_needs_no_more_than_a_shallow_one_to_predict():
    def peak(depth):
        nodes, last = {}, "in"
        for number in range(depth):
            nodes[f"d{number}"] = (DenseLayer(n_out=64, activation="tanh"), last)
            nodes[f"s{number}"] = (ElementWiseVertex("add"), f"d{number}", last)
            last = f"s{number}"
        conf = NeuralNetConfiguration(seed=3).graph({"in": InputType.feed_forward(64)}, nodes, [last])
        before = {id(each) for each in arenas()}
        with nd.use_backend(NumpyBackend(threads=1)):
            net = ComputationGraph(conf).init()
            net.output(RNG.normal(size=(100, 64)).astype(np.float32))
        (used,) = (each for each in arenas() if id(each) not in before)
        return used.peak

    assert peak(4) == peak(40) == 3 * 100 * 64 * 4  # what comes in, goes out and is added


@pytest.mark.slow
def test_memory_stays_flat_over_minibatches_of_many_sizes():
    rng = np.random.default_rng(5)
    before = {id(each) for each in arenas()}
    with nd.use_backend(NumpyBackend(threads=1)):
        net, sizes = branches(), []
        for n in rng.permutation([*range(1, 40), 40, 40]):
            net.fit_batch(images(int(n)))
        used = [each for each in arenas() if id(each) not in before]
        for n in rng.permutation(40) + 1:
            net.fit_batch(images(int(n)))
            sizes.append(sum(each.size for each in used))
    assert len(set(sizes)) == 1
    assert sizes[0] <= 3 * sum(each.peak for each in used)
