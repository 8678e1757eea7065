"""Networks that are pickled, copied, dropped."""

import copy
import gc
import io
import multiprocessing
import pickle
import sys
import tracemalloc
import weakref

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nn import (
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from optimize import Adam, CollectScoresListener, Listener, MapSchedule, Sgd
from optimize.constraints import MaxNormConstraint

RNG = np.random.default_rng(12)
X = RNG.normal(size=(12, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 12)]


def network(updater=None, **settings):
    conf = NeuralNetConfiguration(seed=4, updater=updater or Adam(0.02), **settings).list(
        DenseLayer(n_in=4, n_out=5, activation="tanh"),
        BatchNormalization(n_out=5),
        OutputLayer(n_in=5, n_out=3, activation="softmax"),
    )
    return MultiLayerNetwork(conf).init()


def batches():
    return ListDataSetIterator(DataSet(X, Y), 4)


def host(array):
    return np.array(nd.to_host(array))


def assert_same(found, net):
    assert type(found) is type(net)
    assert found.conf == net.conf
    np.testing.assert_array_equal(host(found.params()), host(net.params()))
    np.testing.assert_array_equal(host(found.updater_state()), host(net.updater_state()))
    assert (found.iteration_count, found.epoch_count) == (net.iteration_count, net.epoch_count)
    np.testing.assert_equal(found.score(), net.score())


COPIES = {
    "pickle": lambda net: pickle.loads(pickle.dumps(net)),
    "oldest pickle": lambda net: pickle.loads(pickle.dumps(net, 0)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("trained", [False, True])
def test_a_copy_goes_on_as_the_network_does_and_apart_from_it(how, trained):
    net = network()
    if trained:
        net.fit(batches(), epochs=2)
    twin = COPIES[how](net)
    assert_same(twin, net)
    before = host(net.params())
    twin.fit(batches(), epochs=2)
    np.testing.assert_array_equal(host(net.params()), before)
    assert not np.array_equal(host(twin.params()), before)
    net.fit(batches(), epochs=2)
    assert_same(twin, net)


@pytest.mark.parametrize("how", COPIES)
def test_a_network_without_parameters_yet(how):
    net = MultiLayerNetwork(network().conf)
    twin = COPIES[how](net)
    with pytest.raises(nd.ConfigurationError, match=r"init\(\) must come first"):
        twin.params()
    np.testing.assert_array_equal(host(twin.init().params()), host(net.init().params()))


@pytest.mark.parametrize("algorithm", ["conjugate_gradient", "lbfgs"])
@pytest.mark.parametrize("how", COPIES)
def test_what_an_optimizer_has_learned_goes_along(how, algorithm):
    net = network(Sgd(0.1), optimization_algo=algorithm, iterations=3)
    net.fit(X, Y)
    twin = COPIES[how](net)
    net.fit(X, Y)
    twin.fit(X, Y)
    assert_same(twin, net)


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_awaits_what_the_network_awaits(how, tmp_path):
    """A checkpoint of the middle of an epoch is continued by the copies of the network that was read."""

    class Save(Listener):
        def iteration_done(self, model, iteration, epoch):
            if model.iteration_count == 2:
                model.save_checkpoint(tmp_path / "net.zip")

    net = network()
    net.set_listeners(Save())
    net.fit(batches(), epochs=2)
    net.set_listeners()
    twin = COPIES[how](MultiLayerNetwork.load_checkpoint(tmp_path / "net.zip"))
    twin.fit(batches(), epochs=2)
    assert (twin.iteration_count, twin.epoch_count) == (net.iteration_count, net.epoch_count)
    np.testing.assert_array_equal(host(twin.params()), host(net.params()))


def test_a_copy_that_a_listener_makes_is_one_of_the_network_now():
    copies = []

    class Keep(Listener):
        def iteration_done(self, model, iteration, epoch):
            copies.append((copy.deepcopy(model), host(model.params())))

    net = network()
    net.set_listeners(Keep())
    net.fit(batches())
    for twin, params in copies:
        np.testing.assert_array_equal(host(twin.params()), params)
    copies[0][0].fit(X, Y)  # on anything else: it is no checkpoint


def test_copies_have_no_listeners():
    net = network()
    net.set_listeners(CollectScoresListener())
    assert [make(net).listeners for make in COPIES.values()] == [[]] * len(COPIES)
    assert len(net.listeners) == 1


class _Mine(MultiLayerNetwork):
    def __init__(self, conf, name):
        super().__init__(conf)
        self.name = name


@pytest.mark.parametrize("how", COPIES)
def test_a_subclass_keeps_what_it_adds(how):
    net = _Mine(network().conf, ["mine"]).init()
    twin = COPIES[how](net)
    assert (type(twin), twin.name) == (_Mine, ["mine"])
    twin.name.append("changed")
    assert net.name == ["mine"]


def test_two_names_of_one_network_are_two_names_of_one_copy():
    net = network()
    first, second = copy.deepcopy([net, net])
    assert first is second
    first, second = pickle.loads(pickle.dumps([net, net]))
    assert first is second


def test_schedules_and_settings_of_our_own_go_along():
    net = network(Adam(MapSchedule("iteration", {0: 0.05, 2: 0.01})), iterations=2)
    net.fit(batches())
    twin = pickle.loads(pickle.dumps(net))
    twin.fit(batches())
    net.fit(batches())
    assert_same(twin, net)


def test_joblib(tmp_path):
    joblib = pytest.importorskip("joblib")
    net = network()
    net.fit(batches())
    joblib.dump(net, tmp_path / "net.joblib")
    assert_same(joblib.load(tmp_path / "net.joblib"), net)


def _outputs(net):
    return host(net.output(X))


@pytest.mark.skipif(sys.platform == "win32", reason="the module is not found by a spawned process there")
@pytest.mark.slow
def test_another_process():
    net = network()
    net.fit(batches())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (found,) = pool.map(_outputs, [net])
    np.testing.assert_allclose(found, _outputs(net), rtol=1e-6)


def test_pickled_networks_are_no_larger_than_their_numbers():
    net = network()
    net.fit(batches())
    numbers = 4 * (net.num_params() + net.updater_state().shape[1])
    assert len(pickle.dumps(net)) < numbers + 8000


# ---- dropped networks


def lenet():
    conf = NeuralNetConfiguration(seed=1, updater=Adam(0.01), l2=1e-4).list(
        ConvolutionLayer(n_out=4, kernel_size=(5, 5), activation="identity"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        BatchNormalization(),
        DenseLayer(n_out=300, activation="relu"),
        OutputLayer(n_out=10, activation="softmax"),
        input_type=InputType.convolutional_flat(28, 28, 1),
    )
    return MultiLayerNetwork(conf).init()


IMAGES = RNG.normal(size=(16, 784)).astype(np.float32)
DIGITS = np.eye(10, dtype=np.float32)[np.arange(16) % 10]


@pytest.fixture(scope="module")
def collected():
    """What other tests left is looked at once, not in every collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def no_collector(collected):
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_a_dropped_network_s_memory_goes_at_once():
    """Nothing in a network refers to what refers to it: nobody waits for the cyclic collector."""
    peaks = []
    tracemalloc.start()
    try:
        for _ in range(6):
            net = lenet()
            net.fit(ListDataSetIterator(DataSet(IMAGES, DIGITS), 8), epochs=1)
            net.output(IMAGES)
            net.score(DataSet(IMAGES, DIGITS))
            parts = [
                weakref.ref(part)
                for part in (net, net.engine.vectors, net.engine.propagation, net.engine.gradients, net.layers[0])
            ]
            del net
            assert [part() for part in parts] == [None] * 5
            peaks.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert peaks[-1] - peaks[2] < 1_000_000  # three that stay have 15 MB; Python's lists of what is free grow slowly


DROPPED = {
    "copied": lambda: copy.deepcopy(network()),
    "lbfgs": lambda: trained_by("lbfgs"),
    "conjugate_gradient": lambda: trained_by("conjugate_gradient"),
    "line_gradient_descent": lambda: trained_by("line_gradient_descent"),
    "dropout and constraints": lambda: fitted(network(drop_out=0.5, constrain_weights=MaxNormConstraint(1.0))),
    "listened to": lambda: fitted(network(), CollectScoresListener()),
    "saved": lambda: saved(fitted(network())),
    "evaluated": lambda: evaluated(fitted(network())),
}


def fitted(net, *listeners):
    net.set_listeners(*listeners)
    net.fit(batches())
    return net


def trained_by(algorithm):
    return fitted(network(Sgd(0.1), optimization_algo=algorithm, iterations=2))


def saved(net):
    net.save_checkpoint(io.BytesIO())
    pickle.dumps(net)
    return net


def evaluated(net):
    net.evaluate(batches())
    return net


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("how", DROPPED)
def test_nothing_of_it_is_left(how):
    DROPPED[how]()
    gc.collect()
    net = DROPPED[how]()
    owners = [net.updater, *net.updater.recordings, *net.engine.gradients.workers]  # which hold views of the parameters
    parts = [weakref.ref(part) for part in (net, net.engine.vectors, *owners)]
    assert len(parts) > 3
    del net, owners
    assert [part() for part in parts] == [None] * len(parts)
