"""Loops of one's own: steps in memory of their own, turns of threads, updates that say what is wrong."""

import threading
from typing import ClassVar

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nn import (
    LSTM,
    ComputationGraph,
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
)
from nn.step.worker import MOST_SHARDS
from optimize import Listener, NoOp, Sgd
from tests.nn.step.test_final_stretches import Hears
from tests.nn.step.test_kinds_of_nodes import OTHER, X, Y, siamese

RNG = np.random.default_rng(8)
N = 8


def batch(n=N):
    return RNG.normal(size=(n, 4)).astype("f"), np.eye(3, dtype="f")[RNG.integers(0, 3, n)]


def network(**settings):
    layers = DenseLayer(n_in=4, n_out=5, activation="tanh"), OutputLayer(n_out=3, activation="softmax")
    base = NeuralNetConfiguration(**{"seed": 1, "updater": Sgd(0.5), **settings})
    return MultiLayerNetwork(base.list(*layers)).init()


def others_may_enter(net):
    """Tell whether another thread could take its turn now."""
    taken = []

    def enter():
        if net.lock.acquire(blocking=False):
            net.lock.release()
            taken.append(True)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    return bool(taken)


class Asks(Listener):
    def __init__(self):
        self.entered, self.backends = [], []

    def on_forward_pass(self, model, activations):
        self.entered.append(others_may_enter(model))
        self.backends.append(nd.backend())


def test_a_computation_has_the_networks_turn_and_backend_in_the_thread_that_made_it_too():
    """The generator of the network last made in a thread is that thread's."""
    own = NumpyBackend(threads=1)
    with nd.use_backend(own):
        net, asks = network(), Asks()
    net.set_listeners(asks)
    net.compute_gradient_and_score(net.step_input(*batch()))
    assert (asks.entered, asks.backends) == ([False], [own])
    assert others_may_enter(net)


def test_a_computation_that_raises_has_drawn_nothing():
    net, twin = network(drop_out=0.5), network(drop_out=0.5)
    x, y = batch()
    with pytest.raises(nd.ShapeError, match="labels"):
        net.compute_gradient_and_score(net.step_input(x, y[:, :2]))
    for one in (net, twin):
        one.fit(x, y)
    np.testing.assert_array_equal(nd.to_host(net.params()), nd.to_host(twin.params()))


class AsksWhileItUpdates(NoOp):
    """Asks in the update whether another thread could have its turn."""

    pure = False
    nets: ClassVar[list] = []
    entered: ClassVar[list] = []

    def apply(self, gradient, states, scratch, coefficients):
        self.entered.append(others_may_enter(self.nets[0]))


def test_a_copy_that_may_be_half_updated_refuses_an_update_too():
    """As in the child of a process that was forked in the middle of a step."""
    net = network()
    result = net.compute_gradient_and_score(net.step_input(*batch()))
    net.engine.in_child(stood_still=False)
    with pytest.raises(nd.ConfigurationError, match="a process must fork between two steps"):
        net.updater.update(result, 0, 0)


def test_an_update_has_the_networks_turn(monkeypatch):
    net = network(updater=AsksWhileItUpdates())
    monkeypatch.setattr(AsksWhileItUpdates, "nets", [net])
    monkeypatch.setattr(AsksWhileItUpdates, "entered", [])
    net.updater.update(net.compute_gradient_and_score(net.step_input(*batch())), 0, 0)
    assert set(AsksWhileItUpdates.entered) == {False}


def test_steps_stay_what_they_were_when_a_reader_uses_its_memory_again():
    net, (x, y) = network(), batch(4 * N)
    memory, steps = DataSet(np.zeros((N, 4), "f"), np.zeros((N, 3), "f")), []
    for start in range(0, 4 * N, N):
        memory.features[:], memory.labels[:] = x[start : start + N], y[start : start + N]
        steps.append(net.step_input(memory))
    assert net.compute_gradient_and_score(steps).score == pytest.approx(net.score(x, y), rel=1e-6)


# ---- results and updates


def test_an_update_takes_the_last_result_of_its_own_network_once():
    net, other, (x, y) = network(), network(), batch()
    params = nd.to_host(net.params()).copy()
    with pytest.raises(nd.ConfigurationError, match="update: the result must be of this network's own computation"):
        net.updater.update(other.compute_gradient_and_score(other.step_input(x, y)), 0, 0)
    first = net.compute_gradient_and_score(net.step_input(x, y))
    second = net.compute_gradient_and_score(net.step_input(x[:4], y[:4]))
    with pytest.raises(nd.ConfigurationError, match="update: the result must be the last one that was computed"):
        net.updater.update(first, 0, 0)
    np.testing.assert_array_equal(nd.to_host(net.params()), params)
    assert net.updater.update(second, 0, 0).taken
    with pytest.raises(nd.ConfigurationError, match="no update's yet"):
        net.updater.update(second, 1, 0)


@pytest.mark.parametrize("wrong", [None, 0, "x", np.zeros(3)], ids=repr)
def test_what_is_no_result_is_refused(wrong):
    with pytest.raises(nd.DTypeError, match="update: result must be a StepResult, got"):
        network().updater.update(wrong, 0, 0)


@pytest.mark.parametrize(
    "counts", [(None, 0), ("x", 0), (1.5, 0), (True, 0), (-1, 0), (0, None), (0, "x"), (0, -1)], ids=repr
)
def test_what_is_no_count_is_refused(counts):
    net = network()
    result = net.compute_gradient_and_score(net.step_input(*batch()))
    with pytest.raises(nd.ArgumentError, match=r"update: (iteration|epoch) must be an integer >= 0, got"):
        net.updater.update(result, *counts)
    assert net.updater.update(result, np.int64(0), np.int32(0)).taken


# ---- several minibatches, parts of a pass


def test_of_several_minibatches_the_sum_alone_is_final():
    net = network()
    hears = Hears(net)
    net.compute_gradient_and_score([net.step_input(*batch()), net.step_input(*batch())])
    ((start, stop, _),) = hears.copies[0]
    assert (start, stop) == (0, net.num_params())
    assert hears.check() == 1


def test_a_way_back_in_two_goes_adds_the_gradients_of_shared_parameters():
    net = siamese()
    nodes, step = net.engine.propagation, net.step_input([X, OTHER], [Y])
    found, heard = [], []
    for stops in ((0,), (1, 0), (2, 1, 0)):
        passed = nodes.forward(step)
        _, deltas, waiting = nodes.losses_of(step, passed)
        start, told = len(nodes.nodes), []

        def hear(first, last, told=told):
            told.append((first, last))

        for stop in stops:
            waiting = nodes.backward(passed, deltas, waiting, on_final=hear, start=start, stop=stop)
            start = stop
        found.append(nd.to_host(net.engine.vectors.gradient).copy())
        heard.append(told)
    assert heard[1:] == [heard[0]] * 2
    np.testing.assert_array_equal(found[1:], [found[0]] * 2)


def series(n=6, times=9):
    labels = np.eye(3, dtype="f")[RNG.integers(0, 3, (n, times))]
    return RNG.normal(size=(n, 2, times)).astype("f"), labels.swapaxes(1, 2)


def recurrent():
    conf = NeuralNetConfiguration(seed=1).list(
        LSTM(n_out=4), RnnOutputLayer(n_out=3, activation="softmax"), input_type=InputType.recurrent(2),
        backprop_type="truncated_bptt", tbptt_fwd_length=4, tbptt_back_length=4,
    )  # fmt: skip
    return MultiLayerNetwork(conf).init()


def test_segments_are_cut_as_their_series_and_begin_where_none_was_before():
    net = recurrent()
    segments = net.engine.segments(net.step_input(*series(), shards=3))
    assert [segment.shards for segment in segments] == [3, 3, 3]
    begun = net.engine.carrying(segments[1], 0)
    assert net.compute_gradient_and_score(segments[1]).score == net.compute_gradient_and_score(begun).score


# ---- shards, keep


class Looks(Listener):
    def on_forward_pass(self, model, activations):
        self.shown = [len(x) for x in activations]


@pytest.mark.parametrize(("examples", "shards"), [(3, 8), (10, 13), (1, 2)])
def test_fewer_examples_than_shards_can_be_watched(examples, shards):
    net, watched, looks, (x, y) = network(), network(), Looks(), batch(examples)
    watched.set_listeners(looks)
    for one in (net, watched):
        one.fit(x, y, shards=shards)
    assert set(looks.shown) == {examples}
    np.testing.assert_array_equal(nd.to_host(net.params()), nd.to_host(watched.params()))


def test_more_shards_than_memory_holds_are_refused():
    net, (x, y) = network(), batch()
    net.fit(x, y, shards=MOST_SHARDS)
    for compute in (lambda shards: net.fit(x, y, shards=shards), lambda shards: net.step_input(x, y, shards=shards)):
        with pytest.raises(nd.SizeError, match=f"shards must be at most {MOST_SHARDS}, got 1000000000"):
            compute(10**9)


class Toggles(Listener):
    def on_forward_pass(self, model, activations):
        model.keep(*([] if model.engine.shared_nodes.keeps else [0]))


def test_who_looks_may_ask_for_what_is_kept():
    net, (x, y) = network(), batch(3 * N)
    net.keep(1)
    net.set_listeners(Toggles())
    net.fit(x, y, batch_size=N, epochs=2, shuffle=False)
    assert net.iteration_count == 6


def test_the_epsilon_of_an_output_that_others_read_is_what_they_send_back():
    nodes = {
        "one": (OutputLayer(n_in=4, n_out=3, activation="softmax"), "in"),
        "between": (DenseLayer(n_in=3, n_out=5, activation="tanh"), "one"),
        "two": (OutputLayer(n_in=5, n_out=3, activation="softmax"), "between"),
    }
    conf = NeuralNetConfiguration(seed=1, dtype="float64").graph(["in"], nodes, ["one", "two"])
    net = ComputationGraph(conf).init()
    net.keep("one", "between", "two")
    x, y = batch()
    net.compute_gradient_and_score(net.step_input([x], [y, y]))
    between = net.kept("between")
    slope = 1.0 - nd.to_host(between.activation) ** 2
    expected = (nd.to_host(between.epsilon) * slope) @ nd.to_host(net.param_table()["between_W"]).T
    np.testing.assert_allclose(nd.to_host(net.kept("one").epsilon), expected, rtol=1e-12)
    assert net.kept("two").epsilon is None
