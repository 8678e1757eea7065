"""Threads and one network: whatever computes takes turns, and one call of fit at a time trains it."""

import threading

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam, Listener

RNG = np.random.default_rng(17)
X, Y = RNG.normal(size=(12, 4)).astype(np.float32), np.eye(2, dtype=np.float32)[RNG.integers(0, 2, 12)]
DATA = DataSet(X, Y)
WAIT = 10.0
REFUSED = r"fit: one call at a time may train a network.* Wait for it, or train a copy: net\.clone\(\)"


def network():
    conf = NeuralNetConfiguration(seed=5, updater=Adam(0.05)).list(
        DenseLayer(n_in=4, n_out=6, activation="tanh"), OutputLayer(n_in=6, n_out=2, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def host(array):
    return np.array(nd.to_host(array))


class Calling(Listener):
    def __init__(self, call):
        self.call = call

    def iteration_done(self, model, iteration, epoch):
        self.call()


def test_while_one_thread_is_inside_others_wait():
    net, entered = network(), threading.Event()

    def enter():
        net.output(X)
        net.feed_forward(X)
        net.fit_batch(DATA)
        entered.set()

    with net.lock:
        other = threading.Thread(target=enter)
        other.start()
        net.output(X)  # the thread that holds it goes on
        assert not entered.wait(0.05)
    other.join(WAIT)
    assert entered.is_set()


def test_steps_and_predictions_of_several_threads_disturb_nobody():
    alone, net = network(), network()
    before = host(net.output(X))
    for _ in range(40):
        alone.fit_batch(DATA)
    failures = []

    def step():
        for _ in range(10):
            net.fit_batch(DATA)

    def look():
        for _ in range(20):
            found = host(net.output(X)).sum(1)
            if found.shape != (12,) or not np.allclose(found, 1.0, rtol=1e-5):
                failures.append(found)

    threads = [threading.Thread(target=run) for run in (step, look, step, look, step, step)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert failures == []
    assert net.iteration_count == 40
    np.testing.assert_array_equal(host(net.params()), host(alone.params()))
    assert (host(net.output(X)) != before).any()


@pytest.mark.parametrize("where", ["listener", "thread"])
@pytest.mark.parametrize("data", [DATA, ListDataSetIterator(DATA, 4)], ids=["minibatch", "iterator"])
def test_a_second_fit_is_refused_and_the_first_goes_on(where, data):
    alone, net, said = network(), network(), []

    def again():
        with pytest.raises(nd.ConfigurationError, match=REFUSED) as caught:
            net.fit(DATA)
        said.append(caught)

    def call():
        if where == "listener":
            again()
            return
        thread = threading.Thread(target=again)
        thread.start()
        thread.join(WAIT)
        assert not thread.is_alive()

    alone.fit(data, epochs=2)
    net.set_listeners(Calling(call))
    net.fit(data, epochs=2)
    assert len(said) == net.iteration_count == alone.iteration_count > 0
    np.testing.assert_array_equal(host(net.params()), host(alone.params()))
    net.set_listeners()
    net.fit(DATA)  # the first is over
    assert net.iteration_count == alone.iteration_count + 1


def test_after_a_fit_that_raised_the_next_is_the_first():
    net = network()

    class Stop(Exception):
        pass

    def stop():
        raise Stop("enough")

    net.set_listeners(Calling(stop))
    with pytest.raises(Stop, match="enough"):
        net.fit(DATA)
    net.set_listeners()
    with pytest.raises(nd.NumericError, match="must be finite"):
        net.fit(DataSet(X, np.full_like(Y, np.nan)))
    net.fit(DATA)
    assert net.iteration_count == 2


def test_a_clone_trains_while_the_network_does():
    net, twins = network(), []

    def train_a_copy():
        twins.append(net.clone())
        twins[-1].fit(DATA)

    net.set_listeners(Calling(train_a_copy))
    net.fit(DATA)
    net.set_listeners()
    net.fit(DATA)
    np.testing.assert_array_equal(host(twins[0].params()), host(net.params()))


def test_a_refused_fit_leaves_the_listeners_of_the_first_alone():
    net, closed = network(), []

    class Closing(Listener):
        def iteration_done(self, model, iteration, epoch):
            listeners = tuple(model.listeners)
            with pytest.raises(nd.ConfigurationError, match=REFUSED):
                model.fit(DATA)
            assert closed == []
            assert tuple(model.listeners) == listeners

        def close(self):
            closed.append(self)

    net.set_listeners(Closing())
    net.fit(DATA, epochs=2)
    assert len(closed) == 1
