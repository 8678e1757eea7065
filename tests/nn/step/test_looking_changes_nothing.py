"""Looked at by a listener, in eager mode or replayed, a step computes the same bits, and what is shown is computed."""

import contextlib
import functools
import re

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet, MultiDataSet
from nn import (
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    FrozenLayer,
    GravesLSTM,
    InputType,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SubsamplingLayer,
)
from optimize import StatisticsListener
from optimize.updaters import UPDATERS
from tests.cases import memory_graphs, mixed_graphs, random_graphs, random_networks, random_series
from tests.cases.layers import LAYER_CASES, make_features, make_labels
from tests.nn.layers.test_every_layer import make_network
from tests.nn.step.test_memory_of_a_step import of_example
from tests.nn.step.test_memory_of_graphs import VERTEX_ROWS, around
from tests.step_plans import recorded, split_small_minibatches, workers_of
from tests.ways_of_a_step import WAYS, Looks, assert_all_ways_are_one, network_of, trained

CLOSE = {"rtol": 1e-9, "atol": 1e-11}
N = 6
IMAGES, SERIES = InputType.convolutional(10, 10, 2), InputType.recurrent(3, 4)
LAYER_ROWS = [
    pytest.param(case, id=f"{kind}-{case.variant}", marks=pytest.mark.slow)
    for kind, rows in LAYER_CASES.items()
    for case in rows
]


@pytest.fixture(autouse=True)
def two_workers(monkeypatch):
    """Two workers share every minibatch that can be shared, each in parts of two examples."""
    split_small_minibatches(monkeypatch)
    with nd.use_backend(NumpyBackend(threads=2)):
        yield


def classes(rng, shape):
    """Return labels ``[N, 3, ...]``."""
    return np.moveaxis(np.eye(3)[rng.integers(0, 3, shape)], -1, 1).copy()


def images(count=2):
    rng = np.random.default_rng(1)
    return [DataSet(rng.normal(size=(N, 2, 10, 10)), classes(rng, (N,))) for _ in range(count)]


def series(count=2):
    rng = np.random.default_rng(2)
    return [DataSet(rng.normal(size=(N, 3, 4)), classes(rng, (N, 4))) for _ in range(count)]


def convolution(n_out, activation="identity", **settings):
    return ConvolutionLayer(n_out=n_out, kernel_size=3, convolution_mode="same", activation=activation, **settings)


def pooling(size=2):
    return SubsamplingLayer("max", kernel_size=size, stride=2)


def output():
    return OutputLayer(n_out=3, activation="softmax")


def of_images(dtype, *layers, **settings):
    base = NeuralNetConfiguration(**{"seed": 3, "dtype": dtype, "updater": "nesterovs", "l2": 0.01, **settings})
    return base.list(*layers, output(), input_type=IMAGES)


def pooled(dtype):
    """Convolutions of every kind before pooling: halved, in windows that overlap, with a bias or an activation."""
    first = convolution(4), pooling(), convolution(20, "relu", has_bias=False)
    return of_images(dtype, *first, pooling(3), DenseLayer(n_out=5, activation="tanh"))


def normalised(dtype):
    """Workers meet in it."""
    first = convolution(4, has_bias=False), BatchNormalization(), ActivationLayer("relu"), pooling()
    return of_images(dtype, *first, convolution(4), BatchNormalization(), ActivationLayer("tanh"), updater="adam")


def noisy(dtype):
    return of_images(dtype, convolution(4, "tanh"), pooling(), DenseLayer(n_out=6, activation="relu", drop_out=0.5))


def frozen(dtype):
    first = FrozenLayer(convolution(4)), FrozenLayer(pooling())
    return of_images(dtype, *first, DenseLayer(n_out=5, activation="tanh"))


def truncated(dtype):
    last = RnnOutputLayer(n_out=3, activation="softmax")
    cut = {"backprop_type": "truncated_bptt", "tbptt_fwd_length": 3, "tbptt_back_length": 3}
    base = NeuralNetConfiguration(seed=3, dtype=dtype, updater="rmsprop")
    return base.list(GravesLSTM(n_out=4, activation="tanh"), last, input_type=SERIES, **cut)


NETWORKS = {
    "frozen": (frozen, images, 2),
    "noisy": (noisy, images, 1),
    "normalised": (normalised, images, 2),
    "pooled": (pooled, images, 2),
    "truncated": (truncated, series, 2),
}
"""Name -> configuration, minibatches, workers."""
every_network = pytest.mark.parametrize("name", NETWORKS)


# ---- the same bits


@every_network
@pytest.mark.quick_rows(2)
def test_the_bits_are_the_same(name):
    conf, batches, workers = NETWORKS[name]
    batches = batches()
    runs = assert_all_ways_are_one(
        lambda: network_of(conf("float32")), batches, lambda net: [net.output(data.features) for data in batches]
    )
    assert all(recorded(runs["recorded"].net.engine.gradients))
    assert len(workers_of(runs["recorded"].net, batches[0].features.shape)) == workers
    for way in ("watched", "eager", "watched eager"):
        assert not any(recorded(runs[way].net.engine.gradients))


def test_steps_that_are_looked_at_now_and_then():
    """A listener that wants some iterations alone; and training that goes on without it, or with another."""

    class Sometimes(Looks):
        def wants(self, hook, iteration):
            return iteration % 3 == 1

    batches = images(7)
    straight, watched = network_of(pooled("float32")), network_of(pooled("float32"))
    straight.fit(batches)
    looks = Sometimes()
    watched.set_listeners(looks)
    watched.fit(batches[:5])
    watched.set_listeners(StatisticsListener(1))
    watched.fit(batches[5:])
    assert len(looks.shown) == 2
    np.testing.assert_array_equal(watched.params(), straight.params())


@pytest.mark.parametrize(
    "updater", [pytest.param(name, marks=() if name == "nesterovs" else pytest.mark.slow) for name in UPDATERS]
)
def test_every_updater_with_penalties(updater):
    settings = {"updater": updater, "l1": 1e-3, "l2": 1e-3, "gradient_normalization": "renormalize_l2_per_layer"}
    conf = NeuralNetConfiguration(seed=1, **settings).list(
        DenseLayer(n_out=300, activation="tanh"), output(), input_type=InputType.feed_forward(20)
    )  # more elements than the BLAS adds itself
    rng = np.random.default_rng(4)
    batches = [DataSet(rng.normal(size=(N, 20)), classes(rng, (N,))) for _ in range(2)]
    assert_all_ways_are_one(lambda: network_of(conf), batches)


# ---- what is shown


def largest(x, size):
    """Return the largest of windows of that size, two steps apart."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))[:, :, ::2, ::2]
    return windows.max((-1, -2))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("way", ["watched", "watched eager"])
def test_what_runs_as_one_is_shown_one_by_one(way, dtype):
    """To the bit: the second of the two is computed from what is shown of the first."""
    of_pooled = trained(lambda: network_of(pooled(dtype)), images(1), way).looks.first
    np.testing.assert_array_equal(of_pooled[2], largest(of_pooled[1], 2))
    np.testing.assert_array_equal(of_pooled[4], largest(of_pooled[3], 3))
    assert (of_pooled[1] < 0).any()
    assert (of_pooled[3] >= 0).all()
    of_normalised = trained(lambda: network_of(normalised(dtype)), images(1), way).looks.first
    np.testing.assert_array_equal(of_normalised[3], np.maximum(of_normalised[2], 0.0))
    np.testing.assert_array_equal(of_normalised[4], largest(of_normalised[3], 2))
    np.testing.assert_allclose(of_normalised[2].mean((0, 2, 3)), np.zeros(4), atol=1e-6)


def check_what_is_shown(make, data):
    """Compare with the layers one by one, the whole minibatch at once."""
    looks = trained(make, [data], "watched").looks
    if not looks.shown:
        return
    twin = make()
    twin.random.set_seed(5)
    expected = twin.feed_forward(data.features, True)
    assert len(looks.first) == len(expected)
    for name, shape in looks.shown[0].items():
        if len(looks.shown) > 1:  # segments of series
            assert shape[:2] == tuple(expected[name].shape[:2])
        else:
            np.testing.assert_allclose(looks.first[name], nd.to_host(expected[name]), **CLOSE)


@every_network
def test_the_whole_minibatch_is_shown(name):
    conf, batches, _ = NETWORKS[name]
    check_what_is_shown(lambda: network_of(conf("float64")), batches(1)[0])


def test_the_gradient_that_is_shown_is_the_callers_own():
    """And joined from its parts it is itself, whatever order these lie in."""
    net, quiet = network_of(pooled("float64")), network_of(pooled("float64"))
    (data,) = images(1)
    for each in (net, quiet):
        each.fit(data)
        each.compute_gradient_and_score()
    gradient = net.gradient()
    np.testing.assert_array_equal(gradient.gradient(list(gradient.gradient_for_variable())), gradient.gradient())
    orders = {view.key: view.spec.order for view in net.conf.layout().views}
    assert {key: gradient.flattening_order_for_variable(key) for key in orders} == orders
    assert set(orders.values()) == {"c", "f"}
    with pytest.raises(
        nd.ArgumentError, match=r"set_gradient_for: expected a name and an array, got variable '0_W' and"
    ):
        gradient.set_gradient_for("0_W", 3)
    with pytest.raises(nd.ArgumentError, match="gradient: order must be a list of names of variables, got 5"):
        gradient.gradient(5)
    gradient.set_gradient_for("0_W", nd.zeros(4, 2, 3, 3, dtype="float64"))
    gradient.clear()
    assert gradient.gradient_for_variable() == {}
    for key, expected in quiet.gradient().gradient_for_variable().items():
        np.testing.assert_array_equal(net.gradient().get_gradient_for(key), expected)


def test_the_parameters_of_a_layer_lie_as_in_the_network():
    for case in (pooled, normalised, truncated):
        net = network_of(case("float64"))
        layers = [layer for layer in net.layers if layer.num_params()]
        np.testing.assert_array_equal(np.concatenate([layer.params() for layer in layers], 1), net.params())


# ---- all networks of the contract tests


def of_case(make, case):
    shape = make().output(make_features(case, 0, N)).shape
    return [DataSet(make_features(case, seed, N), make_labels(case, shape[1:], seed, shape[0])) for seed in range(2)]


@pytest.mark.parametrize("case", LAYER_ROWS)
def test_every_layer(case):
    make = functools.partial(make_network, case, "float32", updater="adam")
    batches = of_case(make, case)
    assert_all_ways_are_one(make, batches, lambda net: [net.output(data.features) for data in batches])
    check_what_is_shown(functools.partial(make_network, case, updater="adam"), batches[0])


PREDICTED_ONLY = {"duplicate_to_time_series-rows", "duplicate_to_time_series-masked", "preprocessor-series-to-rows"}
"""The rows that come out of these are no examples."""


@pytest.mark.slow
@pytest.mark.parametrize("case", [row for row in VERTEX_ROWS if row.id not in PREDICTED_ONLY])
def test_every_vertex(case):
    conf, arrays, masks = around(case)
    make = functools.partial(network_of, conf)
    out = make().output(*arrays, features_masks=masks)[0]
    data = MultiDataSet(arrays, [np.ones_like(out)], masks, [np.ones((len(out), 1))])
    assert_all_ways_are_one(make, [data] * 2)


def mixed(number):
    graph = mixed_graphs.draw(number)
    return graph.network, MultiDataSet(graph.features, graph.labels, graph.features_masks, graph.labels_masks)


def of_rows(number):
    net = memory_graphs.rows_graph(number)
    return functools.partial(memory_graphs.rows_graph, number), memory_graphs.batch_for(net, 6)


def of_images_drawn(number):
    net = memory_graphs.images_graph(number)
    return functools.partial(memory_graphs.images_graph, number), memory_graphs.batch_for(net, 6)


def drawn_graph(number):
    graph = random_graphs.draw_graph(number)
    return functools.partial(network_of, graph.conf), graph.data


def drawn_series(number):
    drawn = random_series.draw_series(number)
    return functools.partial(network_of, drawn.conf), drawn.data


def drawn_network(number):
    def make():
        return random_networks.draw(number)[1]

    while True:
        drawn = random_networks.draw(number)
        with contextlib.suppress(nd.ShapeError):  # rows of an output that are no examples, labels for another loss
            if drawn is not None:  # else it is refused where it is given
                data = of_case(make, drawn[0])[0]
                make().score(data)
                return make, data
        number += DRAWN[drawn_network][0]


DRAWN = {
    drawn_graph: (60, None), drawn_network: (120, None), drawn_series: (60, None), mixed: (200, 3),
    of_images_drawn: (12, None), of_rows: (12, None),
}  # fmt: skip
"""How many, and which one is quick."""


@pytest.mark.parametrize(
    ("draw", "number"),
    [
        pytest.param(draw, number, id=f"{draw.__name__}-{number}", marks=() if number == quick else pytest.mark.slow)
        for draw, (count, quick) in DRAWN.items()
        for number in range(count)
    ],
)
def test_networks_drawn_at_random(draw, number):
    make, data = draw(number)
    try:
        assert_all_ways_are_one(make, [data] * 2)
    except nd.NumericError as error:  # a loss that these labels have no number for
        for way in WAYS:
            with pytest.raises(nd.NumericError, match=re.escape(str(error))):
                trained(make, [data], way)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_lenet(threads, monkeypatch):
    """Twenty minibatches of 64, divided as they are for speed."""
    monkeypatch.undo()
    rng = np.random.default_rng(0)
    batches = [
        DataSet(rng.random((64, 784), np.float32), np.eye(10, dtype=np.float32)[rng.integers(0, 10, 64)])
        for _ in range(20)
    ]
    with nd.use_backend(NumpyBackend(threads)):
        runs = assert_all_ways_are_one(lambda: network_of(of_example("lenet_mnist", "lenet", 123)), batches)
    assert runs["watched"].net.num_params() == 431_080
