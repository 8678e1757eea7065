"""One layer back by itself: derivatives, in memory that is nobody else's."""

import numpy as np
import pytest

import nd
from nn import BatchNormalization, DenseLayer, FrozenLayer, InputType, NeuralNetConfiguration, OutputLayer
from nn.layers.losses.output import OutputMixin
from tests.cases.layers import make_features, make_labels
from tests.layers_at_work import forward
from tests.nn.layers.test_every_layer import SAMPLES, check_derivative, make_network, some_kinds
from tests.ways_of_a_step import network_of

RNG = np.random.default_rng(6)
X, Y = RNG.normal(size=(4, 5)), np.eye(3)[[0, 2, 1, 0]]


def at(seed, call):
    nd.random.set_seed(seed)
    return call()


def check(case, net, loss, computing):
    """Compare a gradient and dL/dx, as they are computed, with differences of a loss of the layer alone."""
    layer, x = net.get_layer(0), computing.x
    gradient, below = at(99, computing.compute)
    specs = {spec.name: spec for spec in layer.conf.param_specs()}
    assert list(gradient.gradient_for_variable()) == list(specs)
    for name, spec in specs.items():
        found = gradient.get_gradient_for(name)
        assert tuple(found.shape) == spec.shape
        if not spec.trainable:
            assert not nd.to_host(found).any()
        elif not (spec.running or spec.pretrained):
            check_derivative(lambda: at(99, loss), layer.params[name], found, SAMPLES)
    if case.vocabulary:
        assert below is None
    else:
        assert tuple(below.shape) == x.shape
        check_derivative(lambda: at(99, loss), x, below, SAMPLES)


class Computing:
    """What is computed by hand of a layer."""

    def __init__(self, net, case, **given):
        self.layer, self.case, self.given = net.get_layer(0), case, given
        self.x = nd.create(make_features(case), dtype="float64")

    def compute(self):
        return self.layer.backprop_gradient(self.x, training=self.case.draws, **self.given)

    def activations(self):
        return forward(self.layer, self.x, self.case.draws)


@some_kinds
@pytest.mark.quick_rows(every=3)
def test_every_layer_gives_derivatives_and_leaves_the_network_as_it_is(case):
    net = make_network(case)
    nd.fill(net.flattened_gradients(), 7.0)
    params = nd.to_host(nd.copy(net.params()))
    computing = Computing(net, case)
    weights = np.random.default_rng(4).normal(size=computing.activations()[0].shape)
    computing.given["epsilon"] = weights
    before = weights.copy(), nd.to_host(nd.copy(computing.x))
    check(case, net, lambda: float((nd.to_host(computing.activations()[0]) * weights).sum()), computing)
    np.testing.assert_array_equal(weights, before[0])
    np.testing.assert_allclose(computing.x, before[1], rtol=0, atol=1e-15)  # differences have come and gone
    np.testing.assert_allclose(net.params(), params, rtol=0, atol=1e-15)
    assert (nd.to_host(net.flattened_gradients()) == 7.0).all()


@some_kinds
def test_every_layer_with_a_loss_takes_labels(case):
    net = make_network(case)
    layer = net.get_layer(0)
    if not isinstance(layer, OutputMixin):
        return
    y = make_labels(case, net.output(make_features(case)).shape[1:])
    computing = Computing(net, case, labels=y)

    def loss():
        return nd.item(layer.summed_loss(nd.create(y, dtype="float64"), computing.activations()[1], None))

    check(case, net, loss, computing)


def dense(**settings):
    base = NeuralNetConfiguration(**{"seed": 3, "dtype": "float64", **settings})
    layers = DenseLayer(n_out=4, activation="tanh"), OutputLayer(n_out=3, activation="softmax")
    return network_of(base.list(*layers, input_type=InputType.feed_forward(5)))


def test_two_layers_by_hand_are_the_network():
    net = dense()
    hidden, last = net.layers
    activations = hidden.activate(X)
    of_last, epsilon = last.backprop_gradient(activations, labels=Y)
    of_hidden, below = hidden.backprop_gradient(X, epsilon)
    gradient, expected = net.calculate_gradients(X, Y)
    np.testing.assert_allclose(below, expected, rtol=1e-12)
    for number, by_hand in enumerate((of_hidden, of_last)):
        for name, of_parameter in by_hand.gradient_for_variable().items():
            np.testing.assert_allclose(of_parameter, gradient.get_gradient_for(f"{number}_{name}"), rtol=1e-12)
    np.testing.assert_array_equal(of_hidden.gradient()[0, :20], of_hidden.get_gradient_for("W").reshape(-1, order="F"))


def test_labels_and_an_epsilon_are_added():
    last = dense().get_layer(1)
    a, epsilon = RNG.normal(size=(4, 4)), RNG.normal(size=(4, 3))
    both = last.backprop_gradient(a, epsilon, labels=Y)
    parts = last.backprop_gradient(a, epsilon), last.backprop_gradient(a, labels=Y)
    np.testing.assert_allclose(both.second, parts[0].second + parts[1].second, rtol=1e-12)
    np.testing.assert_allclose(both.first.gradient(), parts[0].first.gradient() + parts[1].first.gradient(), rtol=1e-12)


def test_a_mask_holds_for_activations_and_labels():
    hidden, last = dense().layers
    mask = nd.create([[1.0], [0.0], [1.0], [0.0]], dtype="float64")
    below = hidden.backprop_gradient(X, np.ones((4, 4)), mask=mask).second
    assert nd.to_host(below).any(1).tolist() == [True, False, True, False]
    some = last.backprop_gradient(RNG.normal(size=(4, 4)), labels=Y, mask=mask).second
    assert nd.to_host(some).any(1).tolist() == [True, False, True, False]


def test_noise_is_that_of_the_current_generator_in_training_alone():
    hidden = dense(drop_out=0.5).get_layer(0)
    epsilon = np.ones((4, 4))

    def draw(seed):
        return nd.to_host(at(seed, lambda: hidden.backprop_gradient(X, epsilon, True)).second)

    np.testing.assert_array_equal(draw(1), draw(1))
    assert (draw(1) != draw(2)).any()
    assert (draw(1) == 0.0).any()
    assert nd.to_host(hidden.backprop_gradient(X, epsilon).second).all()


def test_what_is_frozen_has_zeros_and_running_statistics_how_far_they_go():
    layers = FrozenLayer(DenseLayer(n_out=5)), BatchNormalization(), OutputLayer(n_out=3, activation="softmax")
    conf = NeuralNetConfiguration(seed=3, dtype="float64").list(*layers, input_type=InputType.feed_forward(5))
    frozen, normal, _ = network_of(conf).layers
    gradient, below = frozen.backprop_gradient(X, np.ones((4, 5)))
    assert nd.to_host(below).any()
    assert not nd.to_host(gradient.gradient()).any()
    way = normal.backprop_gradient(X, np.ones((4, 5)), True).first.get_gradient_for("mean")
    np.testing.assert_allclose(way, -0.1 * X.mean(0, keepdims=True), rtol=1e-9)


@pytest.mark.parametrize(
    ("number", "given", "error", "message"),
    [
        (0, {"x": X}, nd.ArgumentError, r"layer 0 .*: backprop_gradient: epsilon must be .*, got None\. Give it"),
        (0, {"x": X, "labels": Y}, nd.ConfigurationError, r"labels must be of a layer with a loss.* Give epsilon"),
        (0, {"x": X, "epsilon": Y}, nd.ShapeError, r"epsilon must be \[4, 4\], got \[4, 3\]"),
        (0, {"x": X[:, :3], "epsilon": Y}, nd.ShapeError, r"layer 0 .*: expected input \[N, 5\], got \[4, 3\]"),
        (1, {"x": X[:, :4], "labels": Y[:, :2]}, nd.ShapeError, r"layer 1 .* labels"),
    ],
)
def test_what_does_not_fit_is_refused(number, given, error, message):
    with pytest.raises(error, match=message):
        dense().get_layer(number).backprop_gradient(**given)


@some_kinds
def test_what_every_layer_hands_out_is_nobody_elses(case):
    net = make_network(case)
    layer, x = net.get_layer(0), nd.create(make_features(case), dtype="float64")
    before, params = nd.to_host(nd.copy(x)), nd.to_host(nd.copy(net.params()))
    for call in (layer.pre_output, layer.activate):
        nd.fill(call(x), 7.0)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(net.params(), params)


@pytest.mark.parametrize("call", ["pre_output", "activate", "backprop_gradient"])
def test_every_call_takes_lists_and_refuses_a_number(call):
    net = dense()
    given = {"epsilon": np.ones((4, 4))} if call == "backprop_gradient" else {}
    by_hand = getattr(net.get_layer(0), call)
    expected, found = by_hand(X, **given), by_hand(X.tolist(), **given)
    np.testing.assert_array_equal(expected[1], found[1])
    whole = np.arange(20).reshape(4, 5)
    np.testing.assert_array_equal(by_hand(whole, **given)[1], by_hand(whole.astype("float64"), **given)[1])
    with pytest.raises(nd.ShapeError, match=r"layer 0 .*: expected input \[N, \.\.\.\], got \[\]"):
        by_hand(3.0, **given)
