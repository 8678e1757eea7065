"""Steps whose outcome nobody waits for: what is not finite changes nothing, and is reported later."""

from dataclasses import dataclass

import numpy as np
import pytest

import nd
from backends.cuda.cupy_backend import CupyBackend
from nd.dataset import DataSet, ListDataSetIterator
from nn import DenseLayer, LossLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam, CollectScoresListener, Listener, Nesterovs, Sgd

RNG = np.random.default_rng(4)


@dataclass(frozen=True)
class MySgd(Sgd):
    """A user's own, of which nothing is known."""


UPDATERS = {"nesterovs": Nesterovs(learning_rate=0.05), "adam": Adam(0.01), "two": None, "a user's": MySgd(0.1)}


def conf(updater=None, **settings):
    first = Adam(0.01) if updater is None else updater
    layers = DenseLayer(n_in=4, n_out=5, activation="tanh", updater=first), OutputLayer(n_in=5, n_out=3, loss="mcxent")
    return NeuralNetConfiguration(seed=5, l2=1e-3, updater=updater or Nesterovs(learning_rate=0.1), **settings).list(
        *layers
    )


def batch(n=6):
    return DataSet(RNG.random((n, 4), np.float32), np.eye(3, dtype=np.float32)[RNG.integers(0, 3, n)])


def spoilt(value=np.nan):
    bad = batch()
    bad.features[2, 1] = value
    return bad


GOOD = [batch() for _ in range(9)]


@pytest.fixture(params=["eager", "captured"])
def device(request, cupy, monkeypatch):
    """The current backend, which makes graphs of steps, or not."""
    monkeypatch.setenv("ND_CUDA_GRAPH", str(int(request.param == "captured")))
    with nd.use_backend(CupyBackend()) as device:
        yield device


def state_of(net):
    return [np.array(nd.to_host(each)) for each in (net.params(), net.updater_state())]


def assert_same_state(net, other):
    for got, expected in zip(state_of(net), state_of(other), strict=True):
        np.testing.assert_array_equal(got, expected)
    assert (net.iteration_count, net.epoch_count) == (other.iteration_count, other.epoch_count)


@pytest.mark.parametrize("updater", list(UPDATERS))
def test_the_first_bad_step_and_all_after_it_change_nothing(device, updater):
    net, twin = (MultiLayerNetwork(conf(UPDATERS[updater])).init() for _ in "12")
    for each in (*GOOD[:5], spoilt(), *GOOD[5:7]):
        net.fit_batch(each)
    for each in GOOD[:5]:
        twin.fit_batch(each)
    assert net.iteration_count == 8  # nobody has asked yet
    with pytest.raises(nd.NumericError, match=r"the score must be finite, got nan at iteration 5\..*as they were"):
        net.get_optimizer().finish()
    assert_same_state(net, twin)
    for each in (net, twin):
        each.fit_batch(GOOD[7])
        each.get_optimizer().finish()
    assert_same_state(net, twin)


def test_the_end_of_an_epoch_asks(device):
    net, twin = (MultiLayerNetwork(conf()).init() for _ in "12")
    twin.fit(ListDataSetIterator(GOOD[:2]))
    net.fit(ListDataSetIterator(GOOD[:2]))
    with pytest.raises(nd.NumericError, match=r"got nan at iteration 3\."):
        net.fit(ListDataSetIterator([GOOD[2], spoilt(), GOOD[3]]))
    twin.fit_batch(GOOD[2])
    assert_same_state(net, twin)


def test_one_minibatch_is_asked_about_at_once(device):
    net = MultiLayerNetwork(conf()).init()
    with pytest.raises(nd.NumericError, match=r"got nan at iteration 0\."):
        net.fit(spoilt())
    assert net.iteration_count == 0


def test_after_some_steps_the_device_is_asked(device, monkeypatch):
    monkeypatch.setattr("optimize.device_guard.CHECK_EVERY", 3)
    net = MultiLayerNetwork(conf()).init()
    for each in (*GOOD[:3], spoilt(), GOOD[3]):
        net.fit_batch(each)
    with pytest.raises(nd.NumericError, match=r"at iteration 3\."):
        net.fit_batch(GOOD[4])
    for each in GOOD[:4]:
        net.fit_batch(each)
    assert net.iteration_count == 7


def test_who_asks_for_the_score_learns_it_in_that_step(device):
    net, scores = MultiLayerNetwork(conf()).init(), CollectScoresListener()
    net.set_listeners(scores)
    net.fit_batch(GOOD[0])
    with pytest.raises(nd.NumericError, match=r"score must be finite, got nan at iteration 1\."):
        net.fit_batch(spoilt())
    assert np.isfinite(scores.scores[0])
    assert net.iteration_count == 1


def test_an_infinite_gradient_behind_a_finite_score(device):
    layer = OutputLayer(n_in=1, n_out=1, loss="mse", activation="identity", weight_init="zero")
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(layer)).init()
    before = state_of(net)
    with pytest.raises(nd.NumericError, match=r"the gradient must be finite, got NaN or infinity in it at iteration 0"):
        net.fit(np.array([[3e38], [3e38]]), np.ones((2, 1)))
    np.testing.assert_array_equal(state_of(net)[0], before[0])
    net.fit(np.ones((2, 1)), np.ones((2, 1)))
    assert net.iteration_count == 1


def test_large_finite_gradients_are_none(device):
    layer = OutputLayer(n_in=1, n_out=1, loss="mse", activation="identity", weight_init="zero")
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, updater=Sgd(1e-36)).list(layer)).init()
    net.fit(np.array([[1e30]]), np.ones((1, 1)))  # whose square is infinite in float32
    assert nd.to_host(net.params())[0, 0] != 0


class Waits(Listener):
    """Counts how often the host asks the device for something while it trains."""

    def __init__(self, device, monkeypatch):
        self.asked = []
        for name in ("item", "to_host", "synchronize"):
            original = getattr(type(device), name)
            monkeypatch.setattr(type(device), name, self.counting(name, original))

    def counting(self, name, original):
        def ask(backend, *arguments):
            self.asked.append(name)
            return original(backend, *arguments)

        return ask


def test_a_step_waits_for_nothing(device, monkeypatch):
    net, waits = MultiLayerNetwork(conf(l1=1e-3)).init(), Waits(device, monkeypatch)
    for each in GOOD:
        net.fit_batch(each)
    assert waits.asked == []
    assert np.isfinite(net.score())
    assert waits.asked == ["item", "to_host"]  # the score, and how the steps went
    net.fit(ListDataSetIterator(GOOD))
    assert waits.asked == ["item", "to_host", "to_host"]  # at the end of the epoch


def test_asking_for_the_score_outside_of_a_step_raises(device):
    net = MultiLayerNetwork(conf()).init()
    net.fit_batch(GOOD[0])
    net.fit_batch(spoilt())
    with pytest.raises(nd.NumericError, match=r"score must be finite, got nan at iteration 1\."):
        net.score()
    assert net.iteration_count == 1
    net.fit_batch(GOOD[1])
    assert np.isfinite(net.score())
    assert net.iteration_count == 2


def test_a_listener_that_asks_now_and_then_learns_of_an_earlier_step(device):
    class EveryThird(Listener):
        def iteration_done(self, model, iteration, epoch):
            if iteration % 3 == 2:
                model.score()

    net = MultiLayerNetwork(conf()).init()
    net.set_listeners(EveryThird())
    with pytest.raises(nd.NumericError, match=r"at iteration 0\."):
        net.fit(ListDataSetIterator([spoilt(), *GOOD]))
    assert net.iteration_count == 0


class Leaves(Exception):
    """Of a listener that has seen enough."""


class Leaving(Listener):
    def __init__(self, at):
        self.at = at

    def iteration_done(self, model, iteration, epoch):
        if iteration == self.at:
            raise Leaves("seen enough")


@pytest.mark.parametrize("bad", [0, 2])
def test_after_another_error_good_minibatches_count_again(device, bad):
    net, twin = (MultiLayerNetwork(conf()).init() for _ in "12")
    net.set_listeners(Leaving(bad))
    with pytest.raises(Leaves, match="enough"):
        net.fit(ListDataSetIterator([*GOOD[:bad], spoilt(), *GOOD[bad:]]))
    net.set_listeners()
    for each in GOOD[:bad]:
        twin.fit_batch(each)
    assert_same_state(net, twin)
    for each in (net, twin):
        each.fit(ListDataSetIterator(GOOD[4:]))
    assert_same_state(net, twin)


@pytest.mark.parametrize("mend", ["set_params", "save", "clone"])
def test_what_is_done_to_a_network_settles_a_step_that_was_not_taken(device, mend, tmp_path, caplog):
    net, twin = (MultiLayerNetwork(conf()).init() for _ in "12")
    for each in (GOOD[0], spoilt(), GOOD[1]):
        net.fit_batch(each)
    twin.fit_batch(GOOD[0])
    if mend == "set_params":
        net.set_params(nd.copy(net.params()))
    elif mend == "save":
        net.save(tmp_path / "net.zip")
        assert MultiLayerNetwork.load(tmp_path / "net.zip").iteration_count == 1
    else:
        assert net.clone().iteration_count == 1
    assert "at iteration 1." in caplog.text
    assert_same_state(net, twin)
    for each in (net, twin):
        each.fit_batch(GOOD[2])
        each.get_optimizer().finish()
    assert_same_state(net, twin)


def test_a_listener_may_mend_the_gradient(device):
    class Mends(Listener):
        def on_backward_pass(self, model):
            nd.fill(model.flattened_gradients(), 0.0)

    layer = OutputLayer(n_in=1, n_out=1, loss="mse", activation="identity", weight_init="zero")
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, updater=Sgd(0.1)).list(layer)).init()
    before = state_of(net)[0]
    net.set_listeners(Mends())
    net.fit(np.array([[3e38], [3e38]]), np.ones((2, 1)))  # whose gradient is infinite
    np.testing.assert_array_equal(state_of(net)[0], before)
    assert net.iteration_count == 1


def test_a_network_without_parameters_is_looked_at_by_the_host(device):
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(LossLayer(loss="mse", activation="identity"))).init()
    with pytest.raises(nd.NumericError, match="score must be finite, got nan"):
        net.fit(np.full((2, 3), np.nan), np.ones((2, 3)))
