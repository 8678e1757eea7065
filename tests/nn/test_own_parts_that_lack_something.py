"""Mistakes in constraints, updaters, iterators and classes of one's own, and methods that are left out."""

from dataclasses import dataclass

import numpy as np
import pytest

import nd
from nd.activations import Activation
from nd.dataset import DataSet, DataSetIterator
from nd.losses import Loss
from nn import (
    DenseLayer,
    FeedForwardConf,
    FrozenLayer,
    LayerConf,
    LayerRuntime,
    OutputLayer,
    ParamSpec,
)
from nn.terms.preprocessors import InputPreProcessor
from optimize import LayerConstraint, Schedule, Sgd, UnitNormConstraint, Updater
from optimize.regularization import Regularization
from tests.cells import every_row
from tests.nn.own_parts_refused import EAGER, PURE, X, Y, beside, network, refused

# ---- constraints


def constraint_that_returns(wrong, pure, after=0):
    calls = []

    @dataclass(frozen=True, kw_only=True)
    class Own(LayerConstraint):
        def constrained(self, param, iteration, epoch):
            calls.append(param)
            return wrong(param) if len(calls) > after else 0.5 * param

    Own.pure = pure
    return Own()


WRONG_PARAMS = {
    "None": (lambda p: None, nd.ConfigurationError, r"an array \[4, 5\], got None\. Return the new parameter\."),
    "float": (lambda p: 0.5, nd.ConfigurationError, r"an array \[4, 5\], got 0\.5\. Return the new parameter\."),
    "row": (lambda p: p[:1], nd.ShapeError, r"an array \[4, 5\], got \[1, 5\]\. Return a number for every one of the"),
    "NaN": (lambda p: p * float("nan"), nd.ConfigurationError, "finite numbers, got NaN or infinity among them. Look"),
}


@EAGER
@PURE
@pytest.mark.parametrize("after", [0, 1], ids=["first", "second"])
@pytest.mark.parametrize(("wrong", "error", "message"), WRONG_PARAMS.values(), ids=WRONG_PARAMS)
def test_a_constraint_that_returns_no_parameter_is_refused(wrong, error, message, after, pure, eager):
    own = constraint_that_returns(wrong, pure, after)
    net = network(DenseLayer(n_in=4, n_out=5), OutputLayer(n_out=3), updater="adam", constrain_weights=[own])
    message = message.replace(r"\[4, 5\]", r"\[5, 3\]").replace(r"\[1, 5\]", r"\[1, 3\]") if after else message
    label = r"layer 1 \(OutputLayer\)" if after else r"layer 0 \(DenseLayer\)"
    state = np.array(nd.to_host(net.updater_state()))
    refused(net, f"{label}: W: Own: constrained must return {message}", error, eager)
    np.testing.assert_array_equal(nd.to_host(net.updater_state()), state)


def test_constraints_of_the_library_are_not_looked_at(monkeypatch):
    net = network(DenseLayer(n_in=4, n_out=5), OutputLayer(n_out=3), constrain_weights=[UnitNormConstraint()])
    monkeypatch.setattr(nd, "all_finite", lambda *_: pytest.fail("looked at"))
    with nd.eager():
        net.fit_batch(DataSet(X, Y))


# ---- classes of layers


def conf_class(specs=None, base=FeedForwardConf, **members):
    """A layer class whose `param_specs` returns that."""

    @dataclass(frozen=True, kw_only=True)
    class Own(base):
        def param_specs(self):
            return () if specs is None else specs

    for name, value in members.items():
        setattr(Own, name, value)
    return Own


ONE = ParamSpec("W", (5, 5), initial=0.1)
WRONG_CLASSES = {
    "no updaters": ({"specs": (ONE,), "base": LayerConf, "runtime": LayerRuntime}, {}, "a layer with parameters must "
        r"come from BaseLayerConf or FeedForwardConf, .* got \['W'\] in the class Own\. Change its base\."),
    "one": ({"specs": ONE, "runtime": LayerRuntime}, {"n_out": 5}, "must return a tuple of ParamSpec, got a "
        r"ParamSpec alone\. A comma makes a tuple of one: \(ParamSpec\(\.\.\.\),\)\."),
    "texts": ({"specs": ("W",), "runtime": LayerRuntime}, {"n_out": 5}, r"a tuple of ParamSpec, got \('W',\)"),
    "twice": ({"specs": (ONE, ONE), "runtime": LayerRuntime}, {"n_out": 5}, "param_specs must give every parameter its "
        r"own name, got 'W' twice\. Rename one of them\."),
    "no runtime": ({}, {"n_out": 5}, r"runtime must be a class from LayerRuntime, got none\. Say runtime = \.\.\."),
    "another runtime": ({"runtime": dict}, {"n_out": 5}, "a class from LayerRuntime, got the class dict"),
}  # fmt: skip


@every_row(("members", "fields", "message"), WRONG_CLASSES.values(), ids=WRONG_CLASSES)
@every_row("frozen", [False, True], ids=["", "frozen"])
def test_a_class_of_layers_that_cannot_be_is_refused(members, fields, message, frozen):
    own = conf_class(**members)(**fields)
    label = r"layer 1 \(FrozenLayer\): " if frozen else r"layer 1 \(Own\): "
    with pytest.raises(nd.ConfigurationError, match=f"{label}.*{message}"):
        beside(FrozenLayer(own) if frozen else own)


def test_a_weight_that_is_drawn_needs_fans():
    own = conf_class((ParamSpec("V", (5, 5)),), runtime=LayerRuntime)(n_out=5)
    message = r"layer 1 \(Own\): the weight 'V' must have fan_in and fan_out > 0 to be drawn, got 0\.0 and 0\.0"
    with pytest.raises(nd.ConfigurationError, match=message):
        beside(own)


# ---- methods that are left out


class NoValue(Activation):
    pass


class NoSlope(Activation):
    def value(self, z, out=None, training=False):
        return nd.exp(z, out)


class NoTerms(Loss):
    pass


class NoLossSlope(Loss):
    def terms(self, y, p, activation):
        return p - y


class NoForward(LayerRuntime):
    pass


class NoBackward(LayerRuntime):
    def forward(self, x, params, ctx):
        return x, None


@dataclass(frozen=True)
class NoCoefficients(Updater):
    pass


@dataclass(frozen=True)
class NoApply(Updater):
    def coefficients(self, iteration, epoch):
        return ()


@dataclass(frozen=True, kw_only=True)
class NoConstrained(LayerConstraint):
    pass


@dataclass(frozen=True)
class NoValueAt(Schedule):
    pass


LEFT_OUT = {
    "value": (lambda: network(DenseLayer(n_in=4, n_out=5, activation=NoValue()), OutputLayer(n_out=3)),
        r"NoValue: value\(z, out=None, training=False\) must be defined, the activation of z\. Write it in"),
    "slope": (lambda: network(DenseLayer(n_in=4, n_out=5, activation=NoSlope()), OutputLayer(n_out=3)),
        r"NoSlope: slope\(z, a\) must be defined, the derivative da/dz\. Write it in the class, or backprop"),
    "terms": (lambda: network(OutputLayer(n_in=4, n_out=3, loss=NoTerms())), r"NoTerms: terms\(y, p, activation\) "),
    "slope of a loss": (lambda: network(OutputLayer(n_in=4, n_out=3, loss=NoLossSlope())),
        r"NoLossSlope: slope\(y, p\) must be defined, the derivative of the sum of terms"),
    "forward": (lambda: beside(conf_class(base=LayerConf, runtime=NoForward)()),
        r"layer 1 \(Own\): NoForward: forward\(x, params, ctx\) must be defined, the activations and a cache"),
    "backward": (lambda: beside(conf_class(base=LayerConf, runtime=NoBackward)()),
        r"layer 1 \(Own\): NoBackward: backward\(epsilon, cache, params, grads, ctx\) must be defined, the gradients"),
    "coefficients": (lambda: network(OutputLayer(n_in=4, n_out=3), updater=NoCoefficients()),
        r"NoCoefficients: coefficients\(iteration, epoch\) must be defined, a tuple of the numbers"),
    "apply": (lambda: network(OutputLayer(n_in=4, n_out=3), updater=NoApply()),
        r"NoApply: apply\(gradient, states, scratch, coefficients\) must be defined, the gradient becomes the update"),
    "constrained": (lambda: network(OutputLayer(n_in=4, n_out=3), constrain_weights=[NoConstrained()]),
        r"NoConstrained: constrained\(param, iteration, epoch\) must be defined, the parameter as it has to be"),
    "value_at": (lambda: network(OutputLayer(n_in=4, n_out=3), updater=Sgd(NoValueAt())),
        r"NoValueAt: value_at\(iteration, epoch\) must be defined\. Write it"),
}  # fmt: skip


@every_row(("make", "message"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_a_method_that_is_left_out_is_said(make, message):
    refused(make(), message, NotImplementedError)


def test_methods_that_are_left_out_of_other_parts_are_said():
    with pytest.raises(NotImplementedError, match=r"PreProcessor: pre_process\(x, examples, buffers=None\) must be"):
        InputPreProcessor().pre_process(X, 6)
    with pytest.raises(NotImplementedError, match=r"Regularization: score\(params, coefficient\) must be defined, the"):
        Regularization(0.1).score(X, 0.1)


# ---- updaters


def updater_with(coefficients=None, apply=None, pure=True):
    @dataclass(frozen=True)
    class Own(Updater):
        learning_rate: float = 0.1

        def coefficients(self, iteration, epoch):
            return (self.learning_rate,) if coefficients is None else coefficients(iteration)

        def apply(self, gradient, states, scratch, coefficients):
            return nd.muli(gradient, coefficients[0]) if apply is None else apply(gradient)

    Own.pure = pure
    return Own()


WRONG_COEFFICIENTS = {
    "float": (lambda i: 0.1, r"got 0\.1\. A comma makes a tuple of one: \(rate,\)\."),
    "None": (lambda i: None, r"got None\. A comma"),
    "text": (lambda i: ("a",), r"got \('a',\)\. "),
    "bool": (lambda i: (True,), r"got \(True,\)\. "),
    "array": (lambda i: (np.ones(3),), r"got a tuple of 1\. "),
}


@EAGER
@PURE
@pytest.mark.parametrize(("coefficients", "message"), WRONG_COEFFICIENTS.values(), ids=WRONG_COEFFICIENTS)
def test_coefficients_are_a_tuple_of_numbers(coefficients, message, pure, eager):
    net = network(OutputLayer(n_in=4, n_out=3), updater=updater_with(coefficients, pure=pure))
    refused(net, "Own: coefficients must return a tuple of numbers, " + message, nd.ConfigurationError, eager)


@PURE
def test_as_many_coefficients_in_every_iteration(pure):
    net = network(OutputLayer(n_in=4, n_out=3), updater=updater_with(lambda i: (0.1,) * (i + 1), pure=pure))
    net.fit_batch(DataSet(X, Y))
    before = np.array(nd.to_host(net.params()))
    message = r"Own: coefficients must return .*, as many for every iteration, got 2 after 1\. Return 0 or 1 for"
    with pytest.raises(nd.ConfigurationError, match=message):
        net.fit_batch(DataSet(X, Y))
    np.testing.assert_array_equal(nd.to_host(net.params()), before)
    assert net.iteration_count == 1


def test_coefficients_may_be_numbers_of_numpy_in_a_list():
    net = network(OutputLayer(n_in=4, n_out=3), updater=updater_with(lambda i: [np.float32(0.1)]))
    net.fit_batch(DataSet(X, Y))
    assert net.iteration_count == 1


@EAGER
@PURE
def test_an_update_that_is_returned_is_refused(pure, eager):
    net = network(OutputLayer(n_in=4, n_out=3), updater=updater_with(apply=lambda gradient: 0.1 * gradient, pure=pure))
    message = r"Own: apply must turn gradient into the update in its own memory, got another array"
    refused(net, message, nd.ConfigurationError, eager)


# ---- iterators


class Returning(DataSetIterator):
    def __init__(self, *items):
        self.items, self.at = items, 0

    def has_next(self):
        return self.at < len(self.items)

    def next(self, num=None):
        self.at += 1
        return self.items[self.at - 1]

    def reset(self):
        self.at = 0

    def batch(self):
        return 6


@pytest.mark.parametrize("wrong", [None, (X, Y), 5], ids=["None", "tuple", "number"])
def test_an_iterator_returns_data_sets(wrong):
    net = network(OutputLayer(n_in=4, n_out=3))
    message = rf"^fit: expected a DataSet, got {type(wrong).__name__}\. Wrap arrays as DataSet\(x, y\)\."
    with pytest.raises(nd.DTypeError, match=message):
        net.fit(Returning(DataSet(X, Y), wrong))
    assert net.iteration_count == 1
