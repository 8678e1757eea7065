"""Mistakes in parts of one's own: an error says whose part it is, what must hold, what came, and what to do."""

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import pytest

import nd
from nd.activations import Activation
from nd.dataset import DataSet
from nd.losses import Loss
from nn import (
    DenseLayer,
    FeedForwardConf,
    FrozenLayer,
    LayerConf,
    LayerRuntime,
    LossLayer,
    OutputLayer,
    ParamSpec,
)
from tests.nn.own_parts_refused import EAGER, PURE, X, Y, beside, network, refused

FLOAT64 = "float64"

# ---- activations


def doubling(value=None, slope=None, backprop=None, pure=True):
    class Double(Activation):
        def value(self, z, out=None, training=False):
            return 2.0 * z if value is None else value(z)

        def slope(self, z, a):
            return 2.0 + 0.0 * z if slope is None else slope(z)

    Double.pure = Double.splits = pure
    if backprop is not None:
        Double.backprop = lambda self, z, a, epsilon, out=None: backprop(epsilon)
    return Double()


WRONG_ARRAYS = {
    "None": (lambda x: None, nd.DTypeError, r"an array \[6, \d\] of float32, got None\. Return the result\."),
    "float": (lambda x: 1.0, nd.DTypeError, r"an array \[6, \d\] of float32, got 1\.0\. Return a number for every"),
    "float64": (lambda x: nd.astype(x, FLOAT64), nd.DTypeError, r"float32, got float64\. Convert it with nd\.astype"),
    "int32": (lambda x: nd.astype(x, "int32"), nd.DTypeError, r"float32, got int32\. Convert it with nd\.astype"),
    "rows": (lambda x: x[:2], nd.ShapeError, r"\[6, \d\], got \[2, \d\]\. Return a number for every place\."),
    "one row": (
        lambda x: nd.sum(x, axis=0, keepdims=True), nd.ShapeError, r"\[6, \d\], got \[1, \d\]\. Return a number for",
    ),
}  # fmt: skip
WRONG = pytest.mark.parametrize(("wrong", "error", "message"), WRONG_ARRAYS.values(), ids=WRONG_ARRAYS)
ACTIVATION_METHODS = {
    "value": r"layer 0 \(DenseLayer\): Double: value\(z, out, training\) must return ",
    "slope": r"layer 0 \(DenseLayer\): Double: slope\(z, a\) must return ",
    "backprop": r"layer 0 \(DenseLayer\): Double: backprop\(z, a, epsilon, out\) must return ",
}


@PURE
@EAGER
def test_an_activation_may_return_its_result_elsewhere(pure, eager, backend):
    """What it returns counts: `out` has it then, forward and back."""
    written = DenseLayer(n_in=4, n_out=5, activation="identity")
    own = DenseLayer(n_in=4, n_out=5, activation=doubling(backprop=lambda epsilon: 2.0 * epsilon, pure=pure))
    nets = network(own, OutputLayer(n_out=3)), network(written, OutputLayer(n_out=3))
    W = nets[1].get_param("0_W")
    nd.muli(W, 2.0)
    with nd.eager() if eager else nullcontext():
        for _ in range(3):
            found, expected = (nd.to_host(net.output(X)) for net in nets)
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        nets[0].fit_batch(DataSet(X, Y))
    assert np.isfinite(nets[0].score())


@EAGER
@PURE
@pytest.mark.parametrize(
    ("method", "wrong", "error", "message"),
    [
        pytest.param(method, *values, id=f"{method}-{name}")
        for method in ACTIVATION_METHODS
        for name, values in WRONG_ARRAYS.items()
        if (method, name) != ("slope", "float")  # which may be one number
    ],
)
@pytest.mark.quick_rows(every=3)
def test_an_activation_that_returns_something_else_is_refused(method, pure, eager, wrong, error, message):
    net = network(DenseLayer(n_in=4, n_out=5, activation=doubling(**{method: wrong}, pure=pure)), OutputLayer(n_out=3))
    refused(net, ACTIVATION_METHODS[method] + message, error, eager)


@PURE
@EAGER
def test_a_slope_may_be_one_number(pure, eager):
    nets = [
        network(DenseLayer(n_in=4, n_out=5, activation=doubling(slope=slope, pure=pure)), OutputLayer(n_out=3))
        for slope in (None, lambda z: 2.0)
    ]
    with nd.eager() if eager else nullcontext():
        for net in nets:
            net.fit_batch(DataSet(X, Y))
    np.testing.assert_array_equal(*(nd.to_host(net.params()) for net in nets))


def test_a_slope_may_be_a_comparison():
    class Ramp(Activation):
        def value(self, z, out=None, training=False):
            return nd.maximum(z, 0.0, out)

        def slope(self, z, a):
            return z > 0.0

    nets = [network(DenseLayer(n_in=4, n_out=5, activation=a), OutputLayer(n_out=3)) for a in (Ramp(), "relu")]
    for net in nets:
        net.fit_batch(DataSet(X, Y))
    np.testing.assert_array_equal(*(nd.to_host(net.params()) for net in nets))


@WRONG
def test_the_activation_of_a_layer_without_parameters_is_said_too(wrong, error, message):
    net = network(DenseLayer(n_in=4, n_out=3), LossLayer(activation=doubling(wrong), loss="mse"))
    refused(net, r"layer 1 \(LossLayer\): Double: value\(z, out, training\) must return " + message, error)


# ---- losses


def squares(pure=True, **methods):
    class Squares(Loss):
        def terms(self, y, p, activation):
            return nd.square(p - y)

        def slope(self, y, p):
            return 2.0 * (p - y)

    Squares.pure = Squares.splits = pure
    for name, wrong in methods.items():
        setattr(Squares, name, lambda self, y, p, *rest, wrong=wrong: wrong(p))
    return Squares()


@WRONG
@EAGER
@PURE
@pytest.mark.parametrize("method", ["terms", "slope"])
@pytest.mark.quick_rows(every=3)
def test_a_loss_that_returns_something_else_is_refused(method, pure, eager, wrong, error, message):
    net = network(OutputLayer(n_in=4, n_out=3, activation="tanh", loss=squares(pure, **{method: wrong})))
    text = message.replace(r"\[6, \d\]", r"\[6, 3\] or \[6, 1\]", 1) if method == "terms" else message
    refused(net, rf"layer 0 \(OutputLayer\): loss Squares: {method}\(.*\) must return " + text, error, eager)


def test_terms_are_for_every_output_or_every_example():
    of_examples = squares(terms=lambda p: nd.sum(nd.square(p), 1))
    refused(
        network(OutputLayer(n_in=4, n_out=3, loss=of_examples)),
        r"loss Squares: terms\(y, p, activation\) must return \[6, 3\] or \[6, 1\], got \[6\]\. ",
        nd.ShapeError,
    )
    net = network(OutputLayer(n_in=4, n_out=3, loss=squares(terms=lambda p: nd.sum(nd.square(p), 1, keepdims=True))))
    net.fit_batch(DataSet(X, Y))


def test_scores_of_a_loss_are_numbers():
    class Own(type(squares())):
        def score(self, labels, z, p, activation, mask=None):
            return nd.sum(p - labels, 1)

        def score_array(self, labels, z, p, activation, mask=None):
            return nd.sum(p - labels)

    net = network(OutputLayer(n_in=4, n_out=3, loss=Own()))
    refused(net, r"layer 0 \(OutputLayer\): loss Own: score must return \[\], got \[6\]\. ", nd.ShapeError)
    with pytest.raises(nd.ShapeError, match=r"\(OutputLayer\): loss Own: score_array must return \[6\], got \[\]\. "):
        net.score_examples(DataSet(X, Y), False)


# ---- layers


def own_layer(forward=None, backward=None, pure=True, base=LayerConf, specs=(), **fields):
    class Runtime(LayerRuntime):
        def forward(self, x, params, ctx):
            return (2.0 * x, None) if forward is None else forward(x, params)

        def backward(self, epsilon, cache, params, grads, ctx):
            return 2.0 * epsilon if backward is None else backward(epsilon, cache, params, grads)

    Runtime.pure = Runtime.splits = pure

    @dataclass(frozen=True, kw_only=True)
    class Own(base):
        runtime = Runtime

        def param_specs(self):
            return specs

    return Own(name="mine", **fields)


OWN = r"layer 1 'mine' \(Own\): "
PAIR, ARRAY = r"forward must return \(activations, cache\), ", "an array of float32, got "
BACK = r"backward must return dL/dx \[6, 5\], "
WRONG_FORWARD = {
    "array": (lambda x, _: x, nd.ConfigurationError, PAIR + r"got an array of shape \[6, 5\]\. Without a cache return"),
    "None": (lambda x, _: None, nd.ConfigurationError, PAIR + r"got None\. "),
    "three": (lambda x, _: (x, x, x), nd.ConfigurationError, PAIR + r"got a tuple of 3\. "),
    "list": (lambda x, _: ([1, 2], None), nd.DTypeError, f"{PAIR}.*{ARRAY}" + r"\[1, 2\]\. Make it with nd\.create\."),
    "float64": (lambda x, _: (nd.astype(x, FLOAT64), None), nd.DTypeError, f"{PAIR}.*{ARRAY}float64. Convert it with"),
    "int32": (lambda x, _: (nd.astype(x, "int32"), None), nd.DTypeError, f"{PAIR}.*{ARRAY}int32. Convert it with nd"),
    "lost rows": (
        lambda x, _: (x[:2], None), nd.ShapeError,
        r"forward must return activations \[6, \.\.\.\], got \[2, 5\]\. Return a row for every example of x, \[6, 5",
    ),
}  # fmt: skip
WRONG_BACKWARD = {
    "columns": (lambda e, *_: e[:, :3], nd.ShapeError, BACK + r"got \[6, 3\]\. It has the shape of the input"),
    "rows": (lambda e, *_: e[:3], nd.ShapeError, BACK + r"got \[3, 5\]\. "),
    "one row": (lambda e, *_: nd.sum(e, axis=0, keepdims=True), nd.ShapeError, BACK + r"got \[1, 5\]\. "),
    "float": (lambda e, *_: 2.0, nd.DTypeError, BACK + ARRAY + r"2\.0\. Make it with nd\.create\."),
    "tuple": (lambda e, *_: (e, None), nd.DTypeError, BACK + ARRAY + r"a tuple of 2\. "),
    "float64": (
        lambda e, *_: nd.astype(e, FLOAT64),
        nd.DTypeError,
        BACK + ARRAY + r"float64\. Convert it with nd",
    ),
}


@EAGER
@PURE
@pytest.mark.parametrize(("forward", "error", "message"), WRONG_FORWARD.values(), ids=WRONG_FORWARD)
def test_activations_of_another_kind_are_refused(forward, error, message, pure, eager):
    refused(beside(own_layer(forward, pure=pure)), OWN + message, error, eager)


@EAGER
@PURE
@pytest.mark.parametrize(("backward", "error", "message"), WRONG_BACKWARD.values(), ids=WRONG_BACKWARD)
def test_a_gradient_of_another_kind_is_refused(backward, error, message, pure, eager):
    refused(beside(own_layer(backward=backward, pure=pure)), OWN + message, error, eager)


def test_a_layer_of_rows_returns_n_out_columns():
    own = own_layer(lambda x, params: (x[:, :3], None), base=FeedForwardConf, n_in=5, n_out=5)
    refused(beside(own), OWN + r"forward must return activations \[6, 5\], got \[6, 3\]\. ", nd.ShapeError)


def test_no_message_names_what_a_recording_is_made_of():
    for forward, error, _ in WRONG_FORWARD.values():
        with pytest.raises(error, match="mine") as caught:
            beside(own_layer(forward)).fit_batch(DataSet(X, Y))
        assert "Traced" not in str(caught.value)


def test_a_frozen_layer_of_ones_own_is_checked_too():
    frozen = FrozenLayer(own_layer(backward=lambda e, *_: e[:, :3]))
    refused(beside(frozen), r"backward must return dL/dx \[6, 5\], got \[6, 3\]\. ", nd.ShapeError)


def test_the_layer_is_named_once_where_a_function_of_nd_refuses():
    def forward(x, params):
        return nd.gemm(x, params["W"]), x

    specs = (ParamSpec("W", (7, 5), initial=0.1),)
    own = own_layer(forward, base=FeedForwardConf, specs=specs, n_in=5, n_out=5)
    refused(beside(own), rf"^{OWN}gemm: (?!.*layer 1)", nd.ShapeError)


# ---- gradients that are not written where they belong

MATRIX = (ParamSpec("W", (5, 5), initial=0.1),)


def rebound(epsilon, x, params, grads):
    grads["W"] = nd.gemm(nd.transpose(x), epsilon)
    return nd.gemm(epsilon, nd.transpose(params["W"]))


@EAGER
@PURE
def test_a_gradient_in_the_place_of_the_array_is_refused(pure, eager):
    own = own_layer(
        lambda x, params: (nd.gemm(x, params["W"]), x), rebound, pure, FeedForwardConf, MATRIX, n_in=5, n_out=5
    )
    net = beside(own)
    message = OWN + r"backward must write into the arrays of grads, \['W'\], got another one in the place of 'W'\. "
    for _ in range(2):  # the arrays are back
        refused(net, message + r"Write nd\.assign\(grads\['W'\], \.\.\.\)\.", nd.ConfigurationError, eager)


def test_a_new_entry_among_the_gradients_is_refused():
    def backward(epsilon, x, params, grads):
        grads["V"] = epsilon
        return epsilon

    refused(beside(own_layer(backward=backward)), r"got another one in the place of 'V'\. ", nd.ConfigurationError)
