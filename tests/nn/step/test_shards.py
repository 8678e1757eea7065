"""A fixed number of shards: the same bits with all numbers of threads, and the numbers of the undivided minibatch."""

from dataclasses import dataclass

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet, MultiDataSet
from nn import (
    LSTM,
    BatchNormalization,
    CenterLossOutputLayer,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    DropConnect,
    InputType,
    LayerConf,
    LayerRuntime,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SubsamplingLayer,
)
from nn.step.sums import check_shards
from optimize import Listener
from tests.nn.layers.test_contracts import batch, network
from tests.nn.layers.test_every_layer import some_kinds
from tests.nn.step.test_kinds_of_nodes import cut_graph
from tests.nn.step.test_memory_of_graphs import around, every_kind_of_vertex
from tests.stand_ins import StrictBackend

THREADS = 1, 2, 4, 8
N, SHARDS = 11, 8  # so that shards have one example or two
CLOSE = {"rtol": 1e-9, "atol": 1e-11}
RNG = np.random.default_rng(4)
all_threads = pytest.mark.parametrize(
    "sweep", [{"threads": (1, 3), "epochs": 1}, pytest.param({}, marks=pytest.mark.slow)], ids=["few", "all"]
)
"""All numbers of threads, for all layers and vertices, take half a minute."""


class Undivided(NumpyBackend):
    def plan_work(self, examples, work):
        return nd.WorkPlan(((slice(0, examples),),), False, True)


def after_steps(make, batches, backend, shards=None, epochs=2):
    """Return parameters, scores, and where the generator stands, after one step on every minibatch in each epoch."""
    with nd.use_backend(backend):
        net = make()
        history = net.fit(batches, epochs=epochs, shards=shards)
        return nd.to_host(net.params()).copy(), history.score, net.random.get_state()


def assert_equal(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    assert found[1:] == expected[1:]


def check(make, batches, close=CLOSE, threads=THREADS, epochs=2):
    """Equal bits with all numbers of threads, recorded and eager; the numbers of the undivided minibatch."""
    backends = [NumpyBackend(threads=count) for count in threads]
    first, *others = [after_steps(make, batches, backend, SHARDS, epochs) for backend in backends]
    for other in others:
        assert_equal(other, first)
    with nd.eager():
        assert_equal(after_steps(make, batches, backends[0], SHARDS, epochs), first)
    expected = after_steps(make, batches, Undivided(threads=1), epochs=epochs)
    assert first[2] == expected[2]
    np.testing.assert_allclose(first[0], expected[0], **close)
    np.testing.assert_allclose(first[1], expected[1], **close)


def splits(net):
    return net.engine.shared_nodes.splits_but_for_noise(training=True)


@all_threads
@some_kinds
@pytest.mark.quick_rows(every=4)
def test_every_layer(case, sweep):
    """With dropout on every layer that takes it, and noise on its weights."""

    def make():
        return network(case, drop_out=0.7, weight_noise=DropConnect(0.9))

    net = make()
    batches = [DataSet(*batch(case, net, seed, N)) for seed in range(2)]
    if splits(net):
        check(make, batches, **sweep)
        return
    with pytest.raises(nd.ConfigurationError, match=r"shards: .* Leave shards out"):
        net.fit(batches, shards=SHARDS)


@all_threads
@every_kind_of_vertex
@pytest.mark.quick_rows(every=4)
def test_every_vertex(case, sweep):
    conf, arrays, masks = around(case)
    net = ComputationGraph(conf).init()
    out = net.output(*arrays, features_masks=masks)[0]
    if not splits(net):
        with pytest.raises(nd.ConfigurationError, match=r"shards: .* Leave shards out"):
            check_shards(net.engine.shared_nodes)
        return
    check_shards(net.engine.shared_nodes)
    if len(out) in {len(x) for x in arrays}:  # else rows that are no examples, which are predicted only
        data = MultiDataSet(arrays, [np.ones_like(out)], masks, [np.ones((len(out), 1))])
        check(lambda: ComputationGraph(conf).init(), [data], **sweep)


def base(**settings):
    return NeuralNetConfiguration(**{"seed": 3, "updater": "adam", "l2": 1e-3, **settings})


def images(dtype="float32"):
    """So many parameters that several workers share the update; batch normalisation, dropout, normalised gradients."""
    layers = (
        ConvolutionLayer(n_out=8, kernel_size=3, has_bias=False), BatchNormalization(),
        SubsamplingLayer("max", kernel_size=2, stride=2), DenseLayer(n_out=500, activation="relu", drop_out=0.5),
        DenseLayer(n_out=300, activation="relu"), OutputLayer(n_out=3),
    )  # fmt: skip
    settings = {"gradient_normalization": "clip_l2_per_layer", "gradient_normalization_threshold": 0.5}
    conf = base(dtype=dtype, **settings).list(*layers, input_type=InputType.convolutional(14, 14, 1))
    return MultiLayerNetwork(conf).init()


def image_batches():
    """The second one has fewer examples than there are shards."""
    sizes = 16, 5
    return [DataSet(RNG.normal(size=(n, 1, 14, 14)), np.eye(3)[RNG.integers(0, 3, n)]) for n in sizes]


def series(**settings):
    cut = {"backprop_type": "truncated_bptt", "tbptt_fwd_length": 3, "tbptt_back_length": 3}
    layers = LSTM(n_out=5, activation="tanh", drop_out=0.8), RnnOutputLayer(n_out=2, activation="softmax")
    conf = base(dtype="float64", **settings).list(*layers, input_type=InputType.recurrent(4, 7), **cut)
    return MultiLayerNetwork(conf).init()


def series_batches():
    labels = np.moveaxis(np.eye(2)[RNG.integers(0, 2, (N, 7))], -1, 1).copy()
    return [DataSet(RNG.normal(size=(N, 4, 7)), labels)]


def test_a_network_whose_update_is_shared():
    assert images().num_params() > 4 * NumpyBackend.worker_elements
    check(lambda: images("float64"), image_batches(), {"rtol": 1e-6, "atol": 1e-7})  # Adam's first steps


@pytest.mark.slow
def test_in_single_precision():
    batches = image_batches()
    first, *others = [after_steps(images, batches, NumpyBackend(threads=threads), SHARDS) for threads in THREADS]
    for other in others:
        assert_equal(other, first)


@pytest.mark.slow
def test_segments_of_series_carry_on():
    check(series, series_batches(), {"rtol": 1e-6, "atol": 1e-8})


def test_nodes_with_several_outputs():
    check(cut_graph, [DataSet(RNG.normal(size=(N, 6)), np.eye(3)[RNG.integers(0, 3, N)])])


@pytest.mark.parametrize("count", [1, 3, 13, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 5))])
@pytest.mark.quick_rows(1)
def test_any_number_of_shards(count):
    batches = image_batches()
    first, *others = [after_steps(images, batches, NumpyBackend(threads=threads), count) for threads in THREADS]
    for other in others:
        assert_equal(other, first)


def test_two_counts_differ():
    batches = image_batches()
    eight, four = (after_steps(images, batches, NumpyBackend(threads=2), count) for count in (8, 4))
    assert not np.array_equal(eight[0], four[0])


class Looks(Listener):
    def on_forward_pass(self, model, activations):
        self.examples = [len(x) for x in activations]


def test_watched_and_kept_steps_are_the_same():
    data = image_batches()[0]
    nets = []
    for watched in (False, True):
        with nd.use_backend(NumpyBackend(threads=2)):
            net = images()
            looks = Looks()
            if watched:
                net.set_listeners(looks)
                net.keep(0, 3)
            net.fit([data] * 2, shards=SHARDS)
            nets.append(net)
    assert_equal((nets[1].params(), nets[1].score()), (nets[0].params(), nets[0].score()))
    assert set(looks.examples) == {16}
    with nd.use_backend(NumpyBackend(threads=2)):
        recorded = images()
        recorded.keep(0, 3)
        recorded.fit([data] * 2, shards=SHARDS)
    for layer in (0, 3):
        for mine, watched in zip(recorded.kept(layer), nets[1].kept(layer), strict=True):
            assert len(mine) == 16
            np.testing.assert_array_equal(mine, watched)


def test_of_a_loop_of_ones_own():
    net, fitted = images("float64"), images("float64")
    data = image_batches()[0]
    fitted.fit([data], shards=4)
    result = net.compute_gradient_and_score(net.step_input(data, shards=4))
    assert net.updater.update(result, 0, 0).taken
    np.testing.assert_array_equal(net.params(), fitted.params())
    assert net.random.get_state() == fitted.random.get_state()


def test_who_hears_of_final_stretches_hears_of_all_at_the_end():
    heard = []
    with nd.use_backend(NumpyBackend(threads=2)):
        net = images()
        net.engine.shared_nodes.on_final = lambda *stretch: heard.append(stretch)
        net.fit(image_batches()[:1], shards=SHARDS)
    assert heard == [(0, 0, net.num_params())]


def test_what_cannot_be_cut_is_refused_by_name():
    conf = base().list(DenseLayer(n_in=4, n_out=3), CenterLossOutputLayer(n_out=3))
    data = DataSet(RNG.normal(size=(6, 4)), np.eye(3)[RNG.integers(0, 3, 6)])
    net = MultiLayerNetwork(conf).init()
    message = r"shards: layer 1 \(CenterLossOutputLayer\) must compute examples by themselves"
    with pytest.raises(nd.ConfigurationError, match=message):
        net.fit(data, shards=2)
    with pytest.raises(nd.ConfigurationError, match=message):
        net.compute_gradient_and_score(net.step_input(data, shards=2))
    with pytest.raises(nd.ConfigurationError, match=r"shards: layer 0 .* or draws numbers"):
        MultiLayerNetwork(base().list(DenseLayer(n_in=4, n_out=3, activation="rrelu"), OutputLayer(n_out=3))).fit(
            data, shards=2
        )
    with pytest.raises(nd.ArgumentError, match=r"fit: shards must be an integer >= 1 or None, got 0"):
        net.fit(data, shards=0)


class Fails(LayerRuntime):
    """Of an author's own, for one of the examples."""

    splits = True

    def forward(self, x, params, ctx):
        if nd.item(nd.max(x)) > 50:
            raise ZeroDivisionError("one too large")
        return x, None

    def backward(self, epsilon, cache, params, grads, ctx):
        return epsilon


@dataclass(frozen=True)
class Failing(LayerConf):
    runtime = Fails

    def output_type(self, label, input_type):
        return input_type


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("meets", [False, True])
def test_an_error_in_one_shard_ends_the_step_and_the_next_one_is_right(threads, meets):
    layers = DenseLayer(n_in=4, n_out=5), BatchNormalization() if meets else DenseLayer(n_out=5), OutputLayer(n_out=3)
    x, y = RNG.normal(size=(N, 4)).astype(np.float32), np.eye(3, dtype=np.float32)[RNG.integers(0, 3, N)]
    wrong = x.copy()
    wrong[7] = 99.0
    with nd.use_backend(NumpyBackend(threads=threads)):
        conf = base().list(Failing(), *layers, input_type=InputType.feed_forward(4))
        net, straight = MultiLayerNetwork(conf).init(), MultiLayerNetwork(conf).init()
        straight.fit(x, y, shards=SHARDS)
        with pytest.raises(ZeroDivisionError, match="one too large"):
            net.fit(wrong, y, shards=SHARDS)
        net.fit(x, y, shards=SHARDS)
        np.testing.assert_array_equal(net.params(), straight.params())


def test_shards_on_every_backend(backend):
    """Where nothing runs side by side, shards are computed one after the other, unless they meet."""
    layers = DenseLayer(n_in=4, n_out=5, activation="tanh", drop_out=0.5), OutputLayer(n_out=3)
    x, y = RNG.normal(size=(N, 4)), np.eye(3)[RNG.integers(0, 3, N)]

    def trained():
        net = MultiLayerNetwork(base(dtype="float64").list(*layers)).init()
        net.fit([DataSet(x, y)] * 2, epochs=2, shards=SHARDS)
        return nd.to_host(net.params())

    found = trained()
    with nd.use_backend(NumpyBackend(threads=2)):
        np.testing.assert_allclose(found, trained(), rtol=1e-6, atol=1e-8)


def test_shards_that_meet_need_to_run_side_by_side():
    with nd.use_backend(StrictBackend()):
        net = images("float64")
        message = r"shards: layers whose examples meet, as in batch normalisation, must run side by side"
        with pytest.raises(nd.BackendError, match=message):
            net.fit(image_batches(), shards=SHARDS)
