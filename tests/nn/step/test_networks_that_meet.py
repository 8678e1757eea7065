"""Networks with batch normalisation whose minibatches are split: the workers meet, and the numbers are the whole's."""

import gc
import threading
import weakref

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet, ListDataSetIterator
from nn import (
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    FrozenLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
    TimeDistributed,
)
from nn.layers.core.activation import ActivationLayer as OwnConf
from nn.layers.core.activation import ActivationRuntime
from optimize import Adam, Nesterovs
from tests.nn.step.test_splitting import assert_same, strictly, trained
from tests.step_plans import recorded, split_small_minibatches, workers_of

RNG = np.random.default_rng(29)
THREADS = (1, 2, 3)


@pytest.fixture(autouse=True)
def eager_to_split(monkeypatch):
    split_small_minibatches(monkeypatch)


def conf(dtype="float64", updater=None, middle=(), first=()):
    layers = (
        *first,
        ConvolutionLayer(n_out=4, kernel_size=3, activation="identity", has_bias=False),
        BatchNormalization(),
        ActivationLayer("relu"),
        *middle,
        SubsamplingLayer("max", kernel_size=2, stride=2),
        DenseLayer(n_out=5, activation="identity", has_bias=False),
        BatchNormalization(use_log_std=False),
        OutputLayer(n_out=3, loss="mcxent", activation="softmax"),
    )
    settings = {"seed": 3, "dtype": dtype, "updater": updater or Nesterovs(learning_rate=0.05), "l2": 0.01}
    return NeuralNetConfiguration(**settings).list(*layers, input_type=InputType.convolutional(8, 8, 2))


def batch(n, mean=0.0):
    return DataSet(RNG.normal(mean, 1.0, (n, 2, 8, 8)), np.eye(3)[RNG.integers(0, 3, n)])


@pytest.mark.filterwarnings("ignore:.*got a minibatch of one")
@pytest.mark.parametrize("workers", THREADS)
@pytest.mark.quick_rows(1)
def test_parts_give_what_the_whole_gives(workers):
    batches = [batch(n, mean) for n, mean in ((12, 0.0), (12, 50.0), (7, -20.0), (12, 0.0), (1, 0.0), (17, 3.0))]
    with nd.use_backend(NumpyBackend(threads=workers)):
        net = MultiLayerNetwork(conf()).init()
        found = trained(net, batches)
    plan = workers_of(net, (17, 2, 8, 8))
    assert [len(parts) for parts in plan] == [1] * workers
    assert_same(found, strictly(conf(), batches))


@pytest.mark.parametrize(
    "layer",
    [FrozenLayer(BatchNormalization()), BatchNormalization(lock_gamma_beta=True, gamma=2.0, beta=0.5)],
    ids=["frozen", "locked"],
)
def test_other_forms_of_the_layer(layer):
    batches = [batch(n) for n in (6, 9, 6)]
    with nd.use_backend(NumpyBackend(threads=2)):
        found = trained(MultiLayerNetwork(conf(middle=(layer,))).init(), batches)
    assert_same(found, strictly(conf(middle=(layer,)), batches))


def test_rows_of_time_steps_meet_too():
    layers = TimeDistributed(BatchNormalization()), DenseLayer(n_out=4, activation="tanh"), OutputLayer(n_out=3)
    configuration = NeuralNetConfiguration(seed=1, dtype="float64", updater=Nesterovs(learning_rate=0.1)).list(
        *layers, input_type=InputType.recurrent(3, 5)
    )
    net = MultiLayerNetwork(configuration)
    assert [layer.has_to_meet(True) for layer in net.init().layers] == [True, False, False]


def test_two_runs_agree_to_the_bit_recorded_or_not(monkeypatch):
    batches = [batch(n) for n in (12, 12, 7, 17)]
    params = []
    for kept in (True, True, False):
        if not kept:
            monkeypatch.setattr(NumpyBackend, "recorder", lambda self: None)
        with nd.use_backend(NumpyBackend(threads=3)):
            net = MultiLayerNetwork(conf("float32", Adam(0.01))).init()
            net.fit(ListDataSetIterator(batches), epochs=3)
            assert recorded(net.engine.gradients) == ([3, 3, 3] if kept else [0, 0, 0])
            params.append(np.array(net.params()))
    np.testing.assert_array_equal(params[0], params[1])
    np.testing.assert_array_equal(params[0], params[2])


class Fuse(ActivationRuntime):
    """Fails in the worker that has the example marked by a large number."""

    splits = True

    def forward(self, x, params, ctx):
        if float(np.max(x)) > 1e3:
            raise OSError("the layer failed")
        return super().forward(x, params, ctx)


class FuseLayer(OwnConf):
    runtime = Fuse


@pytest.mark.parametrize("marked", [0, 11], ids=["the first worker", "the last worker"])
def test_a_worker_that_fails_keeps_nobody_waiting_and_the_next_step_is_right(marked):
    """The layer stands before the first normalisation: the others wait for its worker already."""
    fused = conf(first=(FuseLayer("identity"),))
    good, bad = batch(12), batch(12)
    bad.features[marked, 0, 0, 0] = 1e4
    with nd.use_backend(NumpyBackend(threads=3)):
        net, twin = MultiLayerNetwork(fused).init(), MultiLayerNetwork(fused).init()
        for _ in range(3):
            with pytest.raises(OSError, match="the layer failed"):
                net.fit_batch(bad)
        for each in (net, twin):
            each.fit_batch(good)
            each.fit_batch(good)
    np.testing.assert_array_equal(net.params(), twin.params())


def test_networks_train_in_threads_of_their_own():
    batches = [batch(n) for n in (8, 12, 5)]
    backend = NumpyBackend(threads=2)
    with nd.use_backend(backend):
        alone = MultiLayerNetwork(conf()).init()
        alone.fit(ListDataSetIterator(batches), epochs=4)
        nets = [MultiLayerNetwork(conf()).init() for _ in range(3)]
    threads = [
        threading.Thread(target=net.fit, args=(ListDataSetIterator(batches),), kwargs={"epochs": 4}, daemon=True)
        for net in nets
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    for net in nets:
        np.testing.assert_array_equal(net.params(), alone.params())


def test_a_dropped_network_goes_at_once():
    """Seats, recordings and workers refer to nothing that refers to them."""
    gc.collect()
    gc.disable()
    try:
        with nd.use_backend(NumpyBackend(threads=2)):
            net = MultiLayerNetwork(conf()).init()
            for _ in range(2):
                net.fit_batch(batch(8))
            parts = [
                weakref.ref(part)
                for part in (net, net.engine.gradients, net.engine.gradients.workers[1], net.engine.vectors)
            ]
            del net
            assert [part() for part in parts] == [None] * 4
    finally:
        gc.enable()


def test_what_cannot_be_recorded_after_all_is_computed_without_a_record(monkeypatch):
    """One worker notices so in the middle of a pass, where the others have met it already."""

    class Lying(ActivationRuntime):
        pure = splits = True

        def forward(self, x, params, ctx):
            x.shape[0] == 3 and float(nd.item(nd.max(x)))  # only the smaller part decides on a value
            return super().forward(x, params, ctx)

    class LyingLayer(OwnConf):
        runtime = Lying

    batches = [batch(n) for n in (7, 7, 7)]
    plain, lying = (conf(middle=(layer("tanh"),)) for layer in (ActivationLayer, LyingLayer))
    with nd.use_backend(NumpyBackend(threads=2)):
        found = trained(MultiLayerNetwork(lying).init(), batches)
        expected = trained(MultiLayerNetwork(plain).init(), batches)
    np.testing.assert_array_equal(found[1], expected[1])
