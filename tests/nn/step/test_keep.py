"""Activations and epsilons are kept for whoever asks: the numbers of the step, which stays what it is to the bit."""

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nn.conf.nodes import Source
from optimize import Listener
from tests.nn.layers.test_contracts import batch, network
from tests.nn.layers.test_every_layer import SAMPLES, check_derivative, some_kinds
from tests.nn.step.test_kinds_of_nodes import OTHER, X, Y, cut_graph, siamese
from tests.nn.step.test_looking_changes_nothing import NETWORKS
from tests.step_plans import recorded, split_small_minibatches
from tests.ways_of_a_step import network_of

TESTED = "frozen", "normalised", "pooled"


def computed(net, step):
    """Return the gradient after a step."""
    with net.lock, net.engine.on_backend(), nd.random.drawing(net.random.copy()):
        net.engine.last = net.engine.gradients.compute(step, 0, 0)
        return nd.to_host(nd.copy(net.engine.last.gradient()))


def check_epsilon(net, step, number, kept):
    """Compare an epsilon with central differences of the loss that the nodes behind make of the activation."""
    activation, place = nd.to_host(kept.activation), Source(number)
    above = net.engine.propagation.forward(step, True, stop=number + 1)

    def loss():
        x = nd.create(activation, dtype=net.dtype)
        arrivals = {**above.arrivals, place: above.arrivals[place]._replace(x=x)}
        passed = net.engine.propagation.forward(step, True, start=number + 1, before=above._replace(arrivals=arrivals))
        return nd.item(net.engine.propagation.losses_of(step, passed).loss)

    check_derivative(loss, activation, kept.epsilon, SAMPLES)


@some_kinds
def test_an_epsilon_is_the_derivative_of_the_loss_and_the_step_stays_what_it_is(case):
    net = network(case, drop_out=None)
    step = net.step_input(*batch(case, net))
    expected = computed(net, step)
    net.keep(0)
    for _ in range(2):  # the second one is replayed
        np.testing.assert_array_equal(computed(net, step), expected)
        kept = net.kept(0)
    if len(net.layers) == 1:
        assert kept.epsilon is None
        return
    assert kept.epsilon.shape == kept.activation.shape
    check_epsilon(net, step, 0, kept)


@pytest.fixture(params=[1, 2])
def workers(request, monkeypatch):
    """Workers that share every minibatch that can be shared."""
    if request.param > 1:
        split_small_minibatches(monkeypatch)
    with nd.use_backend(NumpyBackend(threads=request.param)):
        yield request.param


class Looks(Listener):
    def on_forward_pass(self, model, activations):
        self.shown = [nd.to_host(nd.copy(x)) for x in activations[1:]]


@pytest.mark.parametrize("name", TESTED)
def test_what_lies_inside_of_two_that_run_as_one_and_above_what_is_trained(name, workers):
    """Of all nodes, with all ways through a step: recorded, replayed, eager, watched by a listener."""
    conf, batches, _ = NETWORKS[name]
    net = network_of(conf("float64"))
    step = net.step_input(batches(1)[0])
    expected = computed(net, step)
    everything = range(len(net.layers))
    net.keep(*everything)
    ways = []
    for _ in range(2):
        np.testing.assert_array_equal(computed(net, step), expected)
        ways.append([net.kept(number) for number in everything])
    assert all(recorded(net.engine.gradients))
    with nd.eager():
        np.testing.assert_array_equal(computed(net, step), expected)
    ways.append([net.kept(number) for number in everything])
    looks = Looks()
    net.set_listeners(looks)
    net.compute_gradient_and_score(step)
    ways.append([net.kept(number) for number in everything])
    for way in ways[1:]:
        for kept, first in zip(way, ways[0], strict=True):
            np.testing.assert_array_equal(kept.activation, first.activation)
            np.testing.assert_array_equal(kept.epsilon, first.epsilon)
    for kept, shown in zip(ways[0], looks.shown, strict=True):
        np.testing.assert_array_equal(kept.activation, shown)
    for number, kept in enumerate(ways[0][:-1]):
        check_epsilon(net, step, number, kept)
    assert ways[0][-1].epsilon is None


def test_of_a_graph_by_the_names_of_its_vertices():
    net = siamese()
    net.keep("left", "right", "sum")
    net.fit([X, OTHER], [Y])
    left, right, difference = map(net.kept, ("left", "right", "sum"))
    np.testing.assert_array_equal(left.activation - right.activation, difference.activation)
    np.testing.assert_array_equal(left.epsilon, difference.epsilon)
    np.testing.assert_array_equal(right.epsilon, -difference.epsilon)


def test_of_several_outputs_the_first():
    net = cut_graph()
    net.keep("cut")
    net.fit(X, Y)
    assert net.kept("cut").activation.shape == net.kept("cut").epsilon.shape == (len(X), 2)


def chain():
    return network_of(NETWORKS["pooled"][0]("float32")), NETWORKS["pooled"][1](1)[0]


def test_kept_arrays_are_new_ones():
    net, data = chain()
    net.keep(0)
    net.fit(data)
    first = net.kept(0)
    before = nd.to_host(nd.copy(first.activation))
    nd.fill(first.activation, 7.0)
    np.testing.assert_array_equal(net.kept(0).activation, before)
    net.fit(data)
    assert not np.array_equal(net.kept(0).activation, before)


def test_what_is_not_kept_is_an_error_that_names_keep():
    net, data = chain()
    message = r"kept: layer 1 .* must be kept while a step runs, .* Call net\.keep\(1\) before fit"
    with pytest.raises(nd.ConfigurationError, match=message):
        net.kept(1)
    net.keep(1)
    with pytest.raises(nd.ConfigurationError, match=message):  # no step yet
        net.kept(1)
    net.fit(data)
    net.keep(0)  # another one: that of before is gone
    with pytest.raises(nd.ConfigurationError, match=message):
        net.kept(1)
    net.fit(data)
    assert net.kept(0).epsilon is not None
    net.keep()
    net.fit(data)
    with pytest.raises(nd.ConfigurationError, match=r"net\.keep\(0\)"):
        net.kept(0)
    assert not net.engine.last.kept


def test_names_that_there_are_not():
    net, _ = chain()
    with pytest.raises(nd.ConfigurationError, match=r"keep: layer must be 0\.\.5, got 7"):
        net.keep(0, 7)
    with pytest.raises(nd.ChoiceError, match="keep: unknown layer 'conv'"):
        net.keep("conv")
    with pytest.raises(nd.ChoiceError, match=r"keep: unknown vertex 'lift', .* Did you mean 'left'"):
        siamese().keep("lift")


def test_what_is_kept_takes_memory_only_as_long_as_somebody_asks():
    net, data = chain()

    def bytes_of_recordings():
        return sum(reader.recording.size for reader in net.engine.gradients.workers[0].recordings._known.values())

    net.fit(data)
    without = bytes_of_recordings()
    net.keep(*range(len(net.layers)))
    net.fit(data)
    assert bytes_of_recordings() > without
    net.keep()
    net.fit(data)
    assert bytes_of_recordings() == without


def test_a_copy_of_a_network_keeps_nothing():
    net, data = chain()
    net.keep(0)
    net.fit(data)
    copied = net.clone()
    copied.fit(data)
    assert not copied.engine.last.kept
