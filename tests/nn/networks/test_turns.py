"""Threads and one network: whatever computes takes turns, and one call of fit at a time trains it."""

import copy
import io
import pickle
import sys
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


def saved(net):
    file = io.BytesIO()
    net.save(file)
    return MultiLayerNetwork.load(io.BytesIO(file.getvalue()))


def kept(net):
    file = io.BytesIO()
    net.save_checkpoint(file)
    return MultiLayerNetwork.load_checkpoint(io.BytesIO(file.getvalue()))


COPIES = {
    "save": saved,
    "save_checkpoint": kept,
    "pickle": lambda net: pickle.loads(pickle.dumps(net)),
    "deepcopy": copy.deepcopy,
    "clone": MultiLayerNetwork.clone,
}


@pytest.mark.parametrize("how", COPIES)
def test_who_copies_a_network_waits_until_nobody_is_inside(how):
    net, done = network(), threading.Event()
    with net.lock:
        other = threading.Thread(target=lambda: (COPIES[how](net), done.set()))
        other.start()
        assert not done.wait(0.1)
        COPIES[how](net)  # the thread that holds it goes on
    other.join(WAIT)
    assert done.is_set()


def vectors(net):
    return host(net.params()).tobytes(), host(net.updater_state()).tobytes(), net.iteration_count


@pytest.fixture
def hasty_threads():
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
@pytest.mark.slow
def test_what_is_copied_while_a_network_trains_is_a_network_between_two_steps():
    net, states, copies, over = network(), set(), [], threading.Event()

    def copy_on():
        for number in range(100_000):
            if over.is_set():
                return
            how = list(COPIES)[number % len(COPIES)]
            copies.append((how, vectors(COPIES[how](net))))

    states.add(vectors(net))
    net.set_listeners(Calling(lambda: states.add(vectors(net))))
    threads = [threading.Thread(target=copy_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    net.fit(ListDataSetIterator(DataSet(np.tile(X, (20, 1)), np.tile(Y, (20, 1))), 12), epochs=15)
    over.set()
    for thread in threads:
        thread.join(WAIT)
    assert len(states) == 301
    assert len({found for _, found in copies}) > 10
    assert [how for how, found in copies if found not in states] == []


@pytest.mark.usefixtures("hasty_threads")
def test_of_threads_that_fit_one_network_each_call_trains_whole_or_is_refused():
    alone, net, refused = network(), network(), []
    together = threading.Barrier(3)

    def fit_on():
        for _ in range(20):
            together.wait(WAIT)
            try:
                net.fit(DATA, epochs=3)
            except nd.ConfigurationError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=fit_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert all("one call at a time may train a network" in message for message in refused)
    assert net.iteration_count == 3 * (60 - len(refused)) >= 60
    for _ in range(net.iteration_count):
        alone.fit_batch(DATA)
    assert vectors(net) == vectors(alone)
    net.fit(DATA)
    assert net.iteration_count == alone.iteration_count + 1


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


def test_a_single_step_is_refused_while_fit_runs():
    """It would be taken for one of fit's own, and the minibatch of that be left out."""
    alone, net = network(), network()

    def step():
        with pytest.raises(nd.ConfigurationError, match="fit_batch: one call at a time may train a network"):
            net.fit_batch(DATA)

    net.set_listeners(Calling(step))
    for each in (alone, net):
        each.fit(DATA, epochs=3)
    assert vectors(net) == vectors(alone)
    net.set_listeners()
    net.fit_batch(DATA)


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
