"""Listeners that are called around nodes: what they are given, when, and that nothing else changes."""

import sys

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nn import (
    ConvolutionLayer,
    DenseLayer,
    FrozenLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import ComposableIterationListener, Listener
from optimize.api import AROUND_NODES
from tests.nn.step.test_kinds_of_nodes import OTHER, X, Y, cut_graph, siamese
from tests.nn.step.test_looking_changes_nothing import IMAGES, NETWORKS, convolution, images, largest, output, pooling
from tests.step_plans import recorded, split_small_minibatches
from tests.ways_of_a_step import network_of

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


class Hears(Listener):
    """Keeps what every call is given, by hook and name; of several calls the last."""

    def __init__(self):
        self.order, self.given = [], {}

    def _hear(self, hook, model, name, arrays):
        self.order.append((hook, name))
        hosted = [[None if x is None else nd.to_host(x) for x in several] for several in arrays]
        self.given[hook, name] = type(arrays)(*hosted)

    def before_forward(self, model, name, arrays):
        self._hear("before_forward", model, name, arrays)

    def after_forward(self, model, name, arrays):
        self._hear("after_forward", model, name, arrays)

    def before_backward(self, model, name, arrays):
        self._hear("before_backward", model, name, arrays)

    def after_backward(self, model, name, arrays):
        self._hear("after_backward", model, name, arrays)


@pytest.fixture(params=[1, 2])
def workers(request, monkeypatch):
    """Workers that share every minibatch that can be shared, each in parts of two examples."""
    if request.param > 1:
        split_small_minibatches(monkeypatch)
    with nd.use_backend(NumpyBackend(threads=request.param)):
        yield request.param


def heard(net, *data, **settings):
    """Return what a step of a network tells a listener."""
    hears = Hears()
    net.set_listeners(hears)
    net.fit(*data, **settings)
    return hears


def assert_is(found, expected):
    assert (found is None) == (expected is None)
    if found is not None:
        np.testing.assert_array_equal(found, expected)


# ---- what is given


@pytest.mark.parametrize("name", ["frozen", "normalised", "pooled"])
def test_every_node_is_called_with_the_arrays_that_are_kept_of_it(name, workers):
    """Of the whole minibatch, whatever computes it; two nodes that run as one are called one by one."""
    conf, batches, _ = NETWORKS[name]
    net, data = network_of(conf("float64")), batches(1)[0]
    names = net.layer_names
    net.keep(*names)
    hears = heard(net, data)
    kept = dict(zip(names, map(net.kept, names), strict=True))
    there = [(hook, one) for one in names for hook in AROUND_NODES[:2]]
    back = [(hook, one) for one in reversed(names) for hook in AROUND_NODES[2:]]
    assert hears.order == there + back
    before, epsilon = data.features, None  # of features nobody needs one
    for one in names:
        given = [hears.given[hook, one] for hook in AROUND_NODES]
        assert [len(arrays.inputs) for arrays in given] == [1, 1, 0, 1]
        assert [len(arrays.outputs) for arrays in given] == [0, 1, 1, 1]
        for arrays in given[:2]:
            assert_is(arrays.inputs[0], before)
        assert_is(given[1].outputs[0], kept[one].activation)
        for arrays in given[2:]:
            assert_is(arrays.outputs[0], kept[one].epsilon)
        assert_is(given[3].inputs[0], epsilon)
        before, epsilon = kept[one].activation, kept[one].epsilon


def test_a_graph_gives_a_node_all_its_inputs():
    net = siamese()
    hears = heard(net, [X, OTHER], [Y])
    difference = hears.given["after_backward", "sum"]
    (epsilon,) = difference.outputs
    assert_is(difference.inputs[0], epsilon)
    assert_is(difference.inputs[1], -epsilon)
    first, second = hears.given["after_forward", "sum"].inputs
    assert_is(hears.given["after_forward", "sum"].outputs[0], first - second)
    for name, x, way in (("left", X, 0), ("right", OTHER, 1)):  # two nodes with the same parameters
        assert_is(hears.given["before_forward", name].inputs[0], x)
        assert_is(hears.given["before_backward", name].outputs[0], difference.inputs[way])


@pytest.mark.parametrize("second", [0, 1])
def test_a_node_with_several_outputs_gives_them_all(second, workers):
    net = cut_graph(second)
    hears = heard(net, X, Y)
    (whole,), both = hears.given["after_forward", "cut"]
    assert_is(np.concatenate(both, 1), whole)
    (below,), epsilons = hears.given["after_backward", "cut"]
    expected = [epsilons[0], np.zeros((len(X), 3)) if epsilons[1] is None else epsilons[1]]
    assert (epsilons[1] is None) == (not second)
    assert_is(below, np.concatenate(expected, 1))


def test_activations_of_two_readers_get_the_sum_of_what_each_gives():
    hears = heard(cut_graph(0), X, Y)
    by_reader = [hears.given["after_backward", name].inputs[0] for name in ("a", "b")]
    np.testing.assert_allclose(hears.given["before_backward", "cut"].outputs[0], sum(by_reader), **CLOSE)


def test_below_frozen_nodes_that_run_as_one_too():
    """Nothing would go back there; what does changes no parameter."""
    layers = [FrozenLayer(convolution(4)), FrozenLayer(pooling()), FrozenLayer(convolution(3)), FrozenLayer(pooling())]
    base = NeuralNetConfiguration(seed=3, dtype="float64", updater="sgd")
    conf = base.list(*layers, DenseLayer(n_out=5, activation="tanh"), output(), input_type=IMAGES)
    one_by_one = [FrozenLayer(convolution(4)), pooling(), FrozenLayer(convolution(3)), pooling()]
    twin = network_of(base.list(*one_by_one, DenseLayer(n_out=5, activation="tanh"), output(), input_type=IMAGES))
    net, quiet = network_of(conf), network_of(conf)
    twin.set_params(net.params())
    quiet.fit(images(1))
    found, expected = heard(net, images(1)), heard(twin, images(1))
    np.testing.assert_array_equal(net.params(), quiet.params())
    for name in net.layer_names[:4]:
        (epsilon,), (also,) = (each.given["after_backward", name].outputs for each in (found, expected))
        np.testing.assert_allclose(epsilon, also, **CLOSE)
        assert epsilon.any()
    (activation,) = found.given["after_forward", "layer0"].outputs
    assert_is(found.given["after_forward", "layer1"].outputs[0], largest(activation, 2))


def test_segments_of_series_are_given_one_after_the_other():
    conf, batches, _ = NETWORKS["truncated"]
    hears = heard(network_of(conf("float64")), batches(1)[0])
    assert hears.order.count(("after_forward", "layer0")) == 2
    assert hears.given["after_backward", "layer0"].outputs[0].shape == (6, 4, 1)  # 3 steps, and what is left of 4


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ["noisy", "normalised"])
def test_shards_are_given_as_the_whole_minibatch(threads, name):
    conf, batches, _ = NETWORKS[name]
    with nd.use_backend(NumpyBackend(threads=threads)):
        quiet, net = network_of(conf("float32")), network_of(conf("float32"))
        quiet.fit(batches(1), shards=4)
        hears = heard(net, batches(1), shards=4)
        np.testing.assert_array_equal(net.params(), quiet.params())
        assert net.random.get_state() == quiet.random.get_state()
    assert {len(x) for arrays in hears.given.values() for x in arrays.inputs if x is not None} == {6}


def test_several_minibatches_of_a_step_are_given_one_by_one():
    conf, batches, _ = NETWORKS["pooled"]
    quiet, net = network_of(conf("float32")), network_of(conf("float32"))
    hears = Hears()
    net.set_listeners(hears)
    results = [one.compute_gradient_and_score([one.step_input(data) for data in batches()]) for one in (quiet, net)]
    np.testing.assert_array_equal(results[0].gradient(), results[1].gradient())
    assert hears.order.count(("before_backward", "layer1")) == len(batches())


def test_channels_are_where_the_network_has_them():
    last = InputType.convolutional(5, 4, 2, "NHWC")
    layers = ConvolutionLayer(n_out=3, kernel_size=2, activation="tanh"), OutputLayer(n_out=2, activation="softmax")
    net = network_of(NeuralNetConfiguration(seed=1).list(*layers, input_type=last))
    x = np.random.default_rng(0).normal(size=(4, 5, 4, 2)).astype(np.float32)
    hears = heard(net, x, np.eye(2)[[0, 1, 0, 1]])
    assert_is(hears.given["before_forward", "layer0"].inputs[0], x)
    assert hears.given["after_backward", "layer0"].outputs[0].shape == (4, 4, 3, 3)
    assert hears.given["after_backward", "layer1"].inputs[0].shape == (4, 4, 3, 3)


# ---- who is called


def chain(**settings):
    conf = NeuralNetConfiguration(seed=2, updater="adam", **settings)
    layers = DenseLayer(n_out=5, activation="tanh", name="hidden"), OutputLayer(n_out=3, activation="softmax")
    return MultiLayerNetwork(conf.list(*layers, input_type=InputType.feed_forward(6))).init()


def test_only_what_is_overridden_is_called_at_the_iterations_that_are_wanted():
    class Sometimes(Hears):
        def wants(self, hook, iteration):
            return hook == "after_backward" and iteration == 1

    net, hears = chain(), Sometimes()
    net.set_listeners(hears)
    net.fit([(X, Y)] * 3)
    assert hears.order == [("after_backward", net.layer_names[1]), ("after_backward", "hidden")]
    assert all(recorded(net.engine.gradients))


def test_an_override_in_the_spelling_of_java():
    class Spelled(Listener):
        def afterBackward(self, model, name, arrays):
            self.epsilon = arrays.outputs[0]

    net, spelled = chain(), Spelled()
    net.set_listeners(spelled)
    net.fit(X, Y)
    assert tuple(spelled.epsilon.shape) == (len(X), 5)


def test_several_as_one_hand_on_what_they_hear():
    class Deaf(Listener):
        pass

    net, hears = chain(), Hears()
    assert not ComposableIterationListener(Deaf()).hears_nodes()
    assert ComposableIterationListener(Deaf(), hears).hears_nodes()
    net.set_listeners(ComposableIterationListener(Deaf(), hears))
    net.fit(X, Y)
    assert len(hears.order) == 2 * len(AROUND_NODES)


def test_listeners_that_are_taken_away_are_called_no_longer():
    net, hears = chain(), Hears()
    net.set_listeners(hears)
    net.listeners.clear()
    net.fit(X, Y)
    net.add_listeners(hears)
    net.set_listeners()
    net.fit(X, Y)
    assert not hears.order


def test_steps_of_a_network_whose_listeners_override_none_call_nothing_for_it():
    """And the recordings are those of steps without a listener."""
    net = chain()
    net.set_listeners(Listener())
    step = net.step_input(X, Y)
    net.compute_gradient_and_score(step)
    names = []

    def hear(frame, event, argument):
        if event == "call":
            names.append((frame.f_code.co_filename.rpartition("/")[2], frame.f_code.co_name))

    sys.setprofile(hear)
    try:
        net.compute_gradient_and_score(step)
    finally:
        sys.setprofile(None)
    assert ("recording.py", "replay") in names
    assert not [name for name in names if name[0] in {"around_nodes.py", "node_calls.py"} or name[1] == "hears_nodes"]
    net.set_listeners()
    net.compute_gradient_and_score(step)
    assert recorded(net.engine.gradients) == [1]


def test_what_a_mask_silences_is_given_as_zeros(workers):
    mask = np.array([1.0, 0.0] * (len(X) // 2))[:, None]
    hears = heard(chain(), DataSet(X, Y, mask, mask))
    for hook in ("after_forward", "after_backward"):
        (array,) = hears.given[hook, "hidden"].outputs
        assert array[::2].any(1).all()
        assert not array[1::2].any()


# ---- nothing changes


def state_of(net):
    vectors = [nd.to_host(nd.copy(vector)) for vector in (net.params(), net.updater_state())]
    return *vectors, net.random.get_state(), net.iteration_count


def assert_same_state(found, expected):
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("hook", AROUND_NODES)
def test_what_a_hook_raises_ends_fit_and_the_step_is_undone(hook, workers):
    conf, batches, _ = NETWORKS["noisy"]
    net, quiet = network_of(conf("float32")), network_of(conf("float32"))
    for one in (net, quiet):
        one.fit(batches()[0])

    def broken(self, model, name, arrays):
        if name == "layer1":
            raise RuntimeError(f"{hook} of {name}")

    listener = type("Broken", (Listener,), {hook: broken})()
    before = state_of(net)
    net.set_listeners(listener)
    with pytest.raises(RuntimeError, match=f"{hook} of layer1"):
        net.fit(batches()[1])
    assert_same_state(state_of(net), before)
    net.set_listeners()
    for one in (net, quiet):
        one.fit(batches()[1])
    assert_same_state(state_of(net), state_of(quiet))


@pytest.mark.parametrize("hook", AROUND_NODES)
def test_a_hook_may_stop_training(hook):
    net = chain()
    stop = type("Stops", (Listener,), {hook: lambda self, model, name, arrays: model.stop_training("enough")})()
    net.set_listeners(stop)
    assert net.fit([(X, Y)] * 3).stopped == "enough"
    assert net.iteration_count == 1


def other_network(net):
    chain(drop_out=0.5).fit(X, Y)


TASKS = {
    "another network": other_network,
    "draws": lambda net: nd.rand(3),
    "predicts": lambda net: net.output(X),
    "draws of its own": lambda net: net.feed_forward(X, True),
    "another generator": lambda net: nd.random.set_random(nd.random.Random(5)),
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("hook", AROUND_NODES)
@pytest.mark.quick_rows(every=3)
def test_what_a_hook_computes_changes_nothing(hook, task, workers):
    quiet, net = chain(drop_out=0.5), chain(drop_out=0.5)
    quiet.fit([(X, Y)] * 2)
    listener = type("Works", (Listener,), {hook: lambda self, model, name, arrays: TASKS[task](model)})()
    net.set_listeners(listener)
    net.fit([(X, Y)] * 2)
    assert_same_state(state_of(net), state_of(quiet))
