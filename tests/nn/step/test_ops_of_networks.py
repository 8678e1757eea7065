"""In eager mode a network goes through the executioner: hooks hear ops, and the bits are those of a recorded step."""

import collections
import inspect
import sys

import numpy as np
import pytest

import nd
from backends.base import Backend
from backends.cpu.numpy_backend import NumpyBackend
from backends.reporting import COMPUTATIONS, REPORTED
from nd import ops
from nd.activations import ACTIVATIONS, Activation
from nd.dataset import DataSet
from nd.execution.executioner import HeardCall
from nd.execution.fused_ops import FUSED
from nd.execution.network_ops import OF_CALLS, WITHOUT_OP
from nn import (
    LSTM,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SubsamplingLayer,
)
from optimize.updaters import UPDATERS
from tests.nn.layers.test_contracts import batch, network
from tests.nn.layers.test_every_layer import some_kinds

RNG = np.random.default_rng(4)
IMAGES = RNG.random((8, 784), dtype=np.float32)
DIGITS = np.eye(10, dtype=np.float32)[RNG.integers(0, 10, 8)]
ROWS = DataSet(RNG.normal(size=(6, 4)).astype(np.float32), np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 6)])


class Hook:
    """Keeps what it hears, in a block."""

    def __init__(self):
        self.heard = []

    def __call__(self, op):
        self.heard.append(op)

    def __enter__(self):
        nd.add_hook(self)
        return self.heard

    def __exit__(self, *error):
        nd.remove_hook(self)


def names(heard):
    return [op.who for op in heard]


def lenet(backend):
    """README's LeNet."""
    conf = NeuralNetConfiguration(seed=123, l2=5e-4, weight_init="xavier", updater="sgd").list(
        ConvolutionLayer(n_out=20, kernel_size=(5, 5), activation="identity"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        ConvolutionLayer(n_out=50, kernel_size=(5, 5), activation="identity"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        DenseLayer(n_out=500, activation="relu"),
        OutputLayer(n_out=10, loss="negativeloglikelihood", activation="softmax"),
        input_type=InputType.convolutional_flat(28, 28, 1),
    )
    with nd.use_backend(backend):
        return MultiLayerNetwork(conf).init()


def dense(**settings):
    conf = NeuralNetConfiguration(seed=2, **settings).list(
        DenseLayer(n_in=4, n_out=5, activation="sigmoid"), OutputLayer(n_out=3, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def steps(case, dtype, hooked):
    """Return parameters and output after two steps, eager and heard by a hook, or as `fit` runs them."""
    net = network(case, dtype=dtype)
    data = batch(case, net)
    nd.random.set_seed(5)
    heard = []
    if hooked:
        with nd.eager(), Hook() as heard:
            net.fit(*data)
            net.fit(*data)
    else:
        net.fit(*data)
        net.fit(*data)
    return heard, nd.to_host(net.params()).copy(), nd.to_host(net.output(data[0])).copy()


def assert_printable(heard, backend):
    """Every op has arrays, or a number, that it has made or written."""
    for op in heard:
        assert op.outputs or isinstance(op.z, (int, float)), op.who
        assert all(backend.is_array(array) for array in op.outputs), op.who
        assert op.outputs == () or op.z is op.outputs[0] or isinstance(op, HeardCall), op.who
        assert op.inputs, op.who


@some_kinds
@pytest.mark.quick_rows(every=3)
def test_heard_steps_compute_the_bits_of_recorded_ones(backend, case):
    _, *expected = steps(case, "float32", hooked=False)
    heard, *found = steps(case, "float32", hooked=True)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    assert {op.who for op in heard if isinstance(op, HeardCall)} <= set(WITHOUT_OP)
    assert_printable(heard, nd.backend())


@pytest.mark.parametrize("name", UPDATERS)
def test_the_arithmetic_of_every_updater_is_heard_as_ops(name):
    """The last op of all writes the parameters."""
    with nd.use_backend(NumpyBackend(threads=1)):
        net, plain = dense(updater=name), dense(updater=name)
        with nd.eager(), Hook() as heard:
            net.fit_batch(ROWS)
            net.fit_batch(ROWS)
        for _ in range(2):
            plain.fit_batch(ROWS)
    np.testing.assert_array_equal(net.params(), plain.params())
    assert not [op.who for op in heard if isinstance(op, HeardCall)]
    written = [op for op in heard if op.z is not None and np.may_share_memory(op.z, net.params())]
    assert {op.who for op in written} == {"Sub"}


# ---- by name


FORWARD = ["Gemm", "BroadcastAdd", "RectifiedLinear", "Gemm", "SoftMax"]
SCORE = ["MaxPairwise", "MinPairwise", "Log", "Mul", "Mul", "Sum"]
BACKWARD = ["Sub", "Mmul", "Sum", "Gemm", "RectifiedLinearBp", "Mmul", "Sum", "Gemm"]


def gradient_ops(backend):
    """Return what is heard of a step of LeNet that is not the first, from its first convolution to its last."""
    net = lenet(backend)
    with nd.eager():
        net.fit(IMAGES, DIGITS)
        with Hook() as heard:
            net.fit(IMAGES, DIGITS)
    first = next(place for place, op in enumerate(heard) if op.who in ("Conv2DMaxPooling2D", "Im2col"))
    last = max(place for place, op in enumerate(heard) if "Dot" in op.who)
    return heard[first:last]


def test_the_ops_of_lenet_by_name():
    heard = gradient_ops(NumpyBackend(threads=1))
    fused = ["Conv2DMaxPooling2D", "Conv2DMaxPooling2D"]
    assert names(heard) == [*fused, *FORWARD, *SCORE, *BACKWARD, *[f"{name}Derivative" for name in fused]]
    convolution = heard[1]
    assert [array.shape for array in (convolution.x, convolution.weights, convolution.bias, convolution.z)] == [
        (8, 20, 12, 12),
        (50, 20, 5, 5),
        (1, 50),
        (8, 50, 4, 4),
    ]
    back = heard[-2]
    assert [array.shape for array in back.outputs] == [(8, 20, 12, 12), (50, 20, 5, 5), (1, 50)]


def test_where_no_algorithm_fuses_them_convolutions_are_their_parts():
    """As Deeplearning4j's articles show them: im2col and a product; on the way back a product and col2im."""
    with nd.use_backend("array_api:numpy"):
        heard = [op for op in gradient_ops("array_api:numpy") if not isinstance(op, (ops.Assign, ops.ScalarSet))]
    convolved = ["Im2col", "Mmul", "BroadcastAdd", "MaxPooling2D"]
    back = ["MaxPooling2DDerivative", "Mmul", "Mmul"]
    assert names(heard) == [*convolved, *convolved, *FORWARD, *SCORE, *BACKWARD, *back, "Mmul", "Col2Im", *back]
    pooled = next(op for op in heard if op.who == "MaxPooling2DDerivative")
    assert (pooled.x, pooled.y.shape, pooled.z.shape) == (None, (8, 50, 4, 4), (8, 50, 8, 8))


def test_max_pooling_goes_back_as_col2im_of_is_max(backend):
    """By ops: a window's largest cell is marked, times epsilon, and put where im2col took it."""
    x = nd.create(np.random.default_rng(2).normal(size=(2, 3, 4, 4)).astype(np.float32))
    epsilon = nd.create(np.random.default_rng(3).normal(size=(2, 3, 2, 2)).astype(np.float32))
    col = nd.exec(ops.Im2col(x, kernel=2, stride=2))
    cells = nd.reshape(col, (2, 3, 4, 2, 2))
    won = nd.exec(ops.IsMax(cells, dimension=2))
    shares = nd.exec(ops.BroadcastMul(won, epsilon, dimension=(0, 1, 3, 4)))
    image = nd.exec(ops.Col2Im(nd.reshape(shares, (2, 3, 2, 2, 2, 2)), size=4, stride=2))
    found = nd.exec(ops.MaxPooling2DDerivative(x, epsilon, kernel=2))
    np.testing.assert_array_equal(nd.to_host(found), nd.to_host(image))


@pytest.mark.slow
def test_activations_and_their_derivatives_are_one_op_each(backend):
    with_ops = [name for name in ACTIVATIONS if f"{name}_bp" in ops.OPS]
    assert len(with_ops) >= 21  # all that Java has
    for name in with_ops:
        conf = NeuralNetConfiguration(seed=2, updater="sgd").list(
            DenseLayer(n_in=4, n_out=5, activation=name), OutputLayer(n_out=3, activation="sigmoid", loss="mse")
        )
        net = MultiLayerNetwork(conf).init()
        with nd.eager(), Hook() as heard:
            net.fit_batch(ROWS)
            net.output(ROWS.features)
        kinds = {getattr(type(op), "function", None) for op in heard if isinstance(op, ops.ActivationBp)}
        of_loss = set() if backend.compiles else {ACTIVATIONS["sigmoid"]}  # else part of the loss's formula
        assert kinds == {ACTIVATIONS[name]} | of_loss
        values = {type(op.activation) for op in heard if isinstance(op, ops.ActivationOp) and hasattr(op, "activation")}
        assert values >= {ACTIVATIONS[name], ACTIVATIONS["sigmoid"]} - {ACTIVATIONS["softmax"]}


def test_an_activation_of_ones_own_is_heard_as_what_it_calls():
    class Gaussian(Activation):
        def value(self, z, out=None, training=False):
            return nd.exp(nd.multiply(nd.square(z), -1.0), out)

        def slope(self, z, a):
            return nd.multiply(nd.multiply(z, a), -2.0)

    conf = NeuralNetConfiguration(seed=2, updater="sgd").list(
        DenseLayer(n_in=4, n_out=5, activation=Gaussian()), OutputLayer(n_out=3, activation="softmax")
    )
    with nd.use_backend("numpy"):
        net = MultiLayerNetwork(conf).init()
        with nd.eager(), Hook() as heard:
            net.fit_batch(ROWS)
    assert {"Square", "Exp"} <= set(names(heard))


def test_series_are_heard_as_one_pass_or_step_by_step():
    conf = NeuralNetConfiguration(seed=2, updater="sgd").list(
        LSTM(n_in=3, n_out=4, activation="tanh"), RnnOutputLayer(n_out=2, activation="softmax")
    )
    with nd.use_backend("array_api:numpy"):
        net = MultiLayerNetwork(conf).init()
        x, y = RNG.normal(size=(2, 3, 5)), np.moveaxis(np.eye(2)[RNG.integers(0, 2, (2, 5))], -1, 1)
        with nd.eager(), Hook() as heard:
            net.fit(x, y)
    assert "LSTMLayer" not in names(heard)  # which this backend has not
    assert collections.Counter(names(heard))["Tanh"] >= 5


# ---- random ops


def test_dropout_is_executed_as_a_random_op_with_the_network_s_generator(backend):
    """The op's draws are the network's: made again from the generator's state before the step, they are the same."""
    net = dense(drop_out=0.6, updater="sgd")
    before = net.random.get_state()
    with nd.eager(), Hook() as heard:
        net.fit_batch(ROWS)
    draws = [op for op in heard if isinstance(op, ops.RandomOp)]
    assert names(draws) == ["DropOutInverted", "DropOutInverted"]
    assert [op.extra_args for op in draws] == [(0.6,), (0.6,)]
    assert all(op.rng is net.random for op in draws)
    again = nd.random.Random(1)
    again.set_state(before)
    for op in draws:
        ones = nd.ones(*op.z.shape)
        np.testing.assert_array_equal(
            nd.to_host(nd.execRandom(ops.DropOutInverted(ones, p=0.6), again)), nd.to_host(op.z)
        )


@pytest.mark.parametrize(
    ("draw", "kind"),
    [
        (lambda rng: rng.uniform(6, "float32", -1.0, 2.0), "UniformDistribution"),
        (lambda rng: rng.gaussian(6, "float64", 1.0, 2.0), "GaussianDistribution"),
        (lambda rng: rng.bernoulli(6, "float32", 0.3), "BernoulliDistribution"),
        (lambda rng: rng.binomial(6, "float32", 3, 0.3), "BinomialDistribution"),
        (lambda rng: rng.retained(6, "float64", 0.3), "DropOut"),
        (lambda rng: rng.dropout_factors(nd.zeros(2, 3), 0.3), "DropOutInverted"),
    ],
)
def test_draws_are_heard_as_one_op_and_are_the_same(backend, draw, kind):
    for release in ("1.0.0-beta7", "1.0.0-M2.1"):
        plain, heard_one = nd.random.Random(7), nd.random.Random(7)
        plain.keeps_23_bits = heard_one.keeps_23_bits = release != "1.0.0-beta7"
        expected = draw(plain)
        with Hook() as heard:
            found = draw(heard_one)
        assert [op.who for op in heard if op.who not in ("ScalarSet", "full")] == [kind]
        np.testing.assert_array_equal(nd.to_host(found), nd.to_host(expected))
        assert heard_one.get_state() == plain.get_state()


# ---- the executioner


def test_what_a_hook_hears_was_executed_by_exec_or_exec_random():
    through = collections.Counter()

    def hook(op):
        frame, functions = sys._getframe(), []
        while frame is not None:
            functions.append((frame.f_globals.get("__name__"), frame.f_code.co_name))
            frame = frame.f_back
        name = "execRandom" if isinstance(op, ops.RandomOp) else "exec"
        assert isinstance(op, HeardCall) or ("nd.execution.executioner", name) in functions
        through[type(op).__name__] += 1

    with nd.use_backend("numpy"):
        net = dense(drop_out=0.5, updater="adam")
        nd.add_hook(hook)
        try:
            with nd.eager():
                net.fit_batch(ROWS)
        finally:
            nd.remove_hook(hook)
    assert through["Gemm"] == 3
    assert through["DropOutInverted"] == 2


def test_without_a_hook_no_op_is_made(monkeypatch):
    """Neither by a recorded step, nor by one that is run as it is written, nor while calls are recorded."""
    made = []
    monkeypatch.setattr(ops.Op, "of_call", classmethod(lambda cls, *arguments, **fields: made.append(cls)))
    monkeypatch.setattr(ops.Op, "__init__", lambda self, *arguments, **fields: made.append(type(self)))
    with nd.use_backend("numpy"):
        net = dense(drop_out=0.5)
        net.fit_batch(ROWS)
        net.fit_batch(ROWS)
        with nd.eager(), nd.record_calls() as calls:
            net.fit_batch(ROWS)
    assert made == []
    assert {"gemm", "affine_gradients"} <= {call.primitive for call in calls}


def test_a_record_of_calls_and_a_hook_hear_of_the_same_step_each_in_its_way():
    with nd.use_backend("array_api:numpy"):
        net = lenet("array_api:numpy")
        with nd.eager(), nd.record_calls() as alone:
            net.fit(IMAGES, DIGITS)
        net = lenet("array_api:numpy")
        with nd.eager(), Hook() as heard, nd.record_calls() as calls:
            net.fit(IMAGES, DIGITS)
    assert [call.primitive for call in calls] == [call.primitive for call in alone]
    assert "conv2d_max_pool" in {call.primitive for call in calls}
    assert "Im2col" in names(heard)
    for call, expected in zip(calls, alone, strict=True):
        if isinstance(expected.outputs[0], np.ndarray):
            np.testing.assert_array_equal(call.outputs[0], expected.outputs[0])


# ---- the table


def test_every_primitive_that_is_reported_has_an_op_or_a_reason():
    table = {*OF_CALLS, *FUSED} - set(COMPUTATIONS)
    assert not table & set(WITHOUT_OP)
    assert table | set(WITHOUT_OP) == set(REPORTED)
    assert set(COMPUTATIONS) <= set(OF_CALLS)


@pytest.mark.parametrize("name", FUSED)
def test_a_fused_op_names_the_parameters_of_its_primitive(name):
    parameters = [each for each in inspect.signature(getattr(Backend, name)).parameters if each != "self"]
    parameters = [each for each in parameters if each != "backend"]
    assert FUSED[name].parameters.split() == parameters
    assert set(FUSED[name].writes.split()) <= set(parameters)


def test_outer_products_and_numbers_in_front_are_ops_too(backend):
    column, row = nd.create([[1.0], [2.0]]), nd.create([[3.0, 4.0]])
    with Hook() as heard:
        outer = nd.multiply(column, row)
        wide = nd.subtract(row, nd.create([[1.0, 1.0], [2.0, 2.0]]))
        one = nd.divide(1.0, row)
        power = nd.power(2.0, row)
        wins = nd.greater(3.5, row)
    assert names(heard) == ["Mul", "BroadcastRSub", "RDiv", "power", "Lt"]
    assert nd.to_host(outer).tolist() == [[3.0, 4.0], [6.0, 8.0]]
    assert nd.to_host(wide).tolist() == [[2.0, 3.0], [1.0, 2.0]]
    assert nd.to_host(one).tolist() == [[np.float32(1 / 3).item(), 0.25]]
    assert nd.to_host(power).tolist() == [[8.0, 16.0]]
    assert nd.to_host(wins).tolist() == [[True, False]]


def test_calls_without_an_op_have_outputs_that_one_can_print():
    with nd.use_backend("numpy"), Hook() as heard:
        u, s, vh = nd.svd(nd.create([[2.0, 0.0], [0.0, 1.0]]))
    (call,) = heard
    assert (call.who, call.x.shape) == ("svd", (2, 2))
    assert [array.shape for array in call.outputs] == [u.shape, s.shape, vh.shape]
    assert call.z is call.outputs[0]
    assert call.seconds > 0.0
