"""Dropout's relatives: which numbers they draw, in which order, what they do, and how often."""

import json
import math

import numpy as np
import pytest

import nd
from nn import (
    ActivationLayer,
    AlphaDropout,
    DenseLayer,
    Dropout,
    DropoutLayer,
    GaussianDropout,
    GaussianNoise,
    IDropout,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SpatialDropout,
)
from nn.terms.dropout import DROPOUTS
from nn.terms.noise import NumbersInForce
from optimize import FixedSchedule, Listener, MapSchedule, StepSchedule
from tests.cells import every_row
from tests.layers_at_work import backprop, forward
from tests.stand_ins import TOLERANCE, as_input

RNG = np.random.default_rng(31)
X, Y = RNG.normal(size=(6, 5)), np.eye(2)[[0, 1, 1, 0, 1, 0]]
ALPHA = -1.7580993408473766
KINDS = [AlphaDropout(0.7), Dropout(0.6), GaussianDropout(0.3), GaussianNoise(0.5), SpatialDropout(0.5)]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
SCHEDULE = MapSchedule("iteration", {0: 0.9, 2: 0.4})
SCHEDULED = [type(kind)(SCHEDULE) for kind in KINDS]
every_scheduled = pytest.mark.parametrize("kind", SCHEDULED, ids=lambda kind: type(kind).__name__)


def network(*layers, input_type=None, **settings):
    conf = NeuralNetConfiguration(**{"seed": 3, "dtype": "float64", **settings}).list(*layers, input_type=input_type)
    return MultiLayerNetwork(conf).init()


def images(kind):
    return network(DropoutLayer(kind), input_type=InputType.convolutional(3, 4, 2))


def host(x):
    return nd.to_host(nd.copy(x))


def expected(kind, x, seed):
    """What a kind makes of x in training and of ones on the way back, written another way."""
    rng = nd.random.Random(seed)
    if isinstance(kind, GaussianDropout):
        noise = nd.to_host(rng.gaussian(x.size)).astype(float).reshape(x.shape)
        factor = 1.0 + noise * math.sqrt(kind.rate / (1.0 - kind.rate))
        return x * factor, factor
    if isinstance(kind, GaussianNoise):
        noise = nd.to_host(rng.gaussian(x.size)).astype(float).reshape(x.shape)
        return x + kind.stddev * noise, np.ones(x.shape)
    shape = x.shape[:2] if isinstance(kind, SpatialDropout) else x.shape
    u = nd.to_host(rng.uniform(math.prod(shape))).reshape(shape)
    if isinstance(kind, AlphaDropout):
        a = (kind.p + ALPHA**2 * kind.p * (1.0 - kind.p)) ** -0.5
        stays = u <= np.float32(kind.p)
        return np.where(stays, a * x, a * ALPHA) - a * (1.0 - kind.p) * ALPHA, np.where(stays, a, 0.0)
    factor = np.where(u < np.float32(kind.p), 1.0 / kind.p, 0.0)
    factor = factor.reshape(*shape, *(1,) * (x.ndim - len(shape))) * np.ones(x.shape)
    return x * factor, factor


def test_every_kind_is_tried():
    assert {type(kind) for kind in KINDS} == set(DROPOUTS.values())


@every_kind
def test_forward_and_back_whatever_the_memory_order(kind, backend, order):
    net, x = images(kind), RNG.normal(size=(2, 2, 3, 4))
    nd.random.set_seed(77)
    out, back = expected(kind, x, 77)
    state = nd.random.get_random().get_state()
    found = net.feed_forward(as_input(backend, x, order), train=True)[1]
    np.testing.assert_allclose(host(found), out, rtol=1e-6, atol=1e-6)
    nd.random.get_random().set_state(state)
    layer = net.get_layer(0)
    cache = forward(layer, as_input(backend, x, order), training=True)[1]
    epsilon = backprop(layer, nd.ones(*x.shape, dtype="float64"), cache)
    np.testing.assert_allclose(host(epsilon), back, rtol=1e-6, atol=1e-6)


@every_kind
def test_masks_are_the_same_in_c_f_and_batch_innermost_order(kind):
    layer, found, made = images(kind).get_layer(0), [], RNG.normal(size=(4, 3, 2, 5))
    innermost = np.moveaxis(np.ascontiguousarray(np.moveaxis(made, 0, -1)), -1, 0)
    for x in (made, np.asfortranarray(made), innermost):
        nd.random.set_seed(5)
        found.append(host(forward(layer, x, training=True)[0]))
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


@every_kind
def test_every_kind_moves_the_generator_by_one_op_of_its_masks_length(kind):
    net, x = images(kind), RNG.normal(size=(3, 2, 3, 4))
    rng = nd.random.Random(8)
    rng.uniform(6 if isinstance(kind, SpatialDropout) else x.size)
    nd.random.set_seed(8)
    net.feed_forward(x, train=True)
    assert nd.random.get_random().get_state() == rng.get_state()


def test_alpha_dropout_by_hand(backend, monkeypatch):
    """p = 0.5: a = 1 / sqrt(0.5 + 0.25 * 3.0909...), b = a / 2 * 1.758...; u = 0.2 stays, u = 0.9 goes."""
    monkeypatch.setattr(nd.random.Random, "uniform", lambda self, n: nd.create([0.2, 0.9, 0.5, 0.6], dtype="float32"))
    found = network(DropoutLayer(AlphaDropout(0.5))).feed_forward(np.array([[1.0, 1.0], [-2.0, 3.0]]), train=True)[1]
    a, b = 0.8864053, 0.7791943
    gone = -1.7580993 * a + b
    np.testing.assert_allclose(host(found), [[a + b, gone], [-2.0 * a + b, gone]], rtol=1e-6)


# ---- statistics: within five standard errors at 1e6 draws

N = 1_000_000
SIGMAS = 5.0


def check_moments(sample, mean, variance, fourth):
    """`fourth` is the fourth central moment."""
    sample = sample.astype(np.float64)
    assert abs(sample.mean() - mean) <= SIGMAS * math.sqrt(variance / sample.size)
    error = math.sqrt((fourth - variance**2) / sample.size)
    assert abs(((sample - mean) ** 2).mean() - variance) <= SIGMAS * error + 1e-6 * variance


def check_two_points(sample, p, high, low):
    """`high` with probability p, else `low`."""
    assert np.isclose(np.unique(sample), sorted((high, low)), rtol=1e-6).all()
    mean = p * high + (1 - p) * low
    rate = (np.abs(sample - high) < 1e-6 * abs(high)).mean()
    assert abs(rate - p) <= SIGMAS * math.sqrt(p * (1 - p) / sample.size)
    check_moments(
        sample,
        mean,
        p * (high - mean) ** 2 + (1 - p) * (low - mean) ** 2,
        p * (high - mean) ** 4 + (1 - p) * (low - mean) ** 4,
    )


def sample_of(kind, x):
    nd.random.set_seed(2718)
    return host(network(DropoutLayer(kind), dtype="float32").feed_forward(x, train=True)[1])


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_statistics_of_what_stays_or_goes(p):
    ones = np.ones((1000, 1000), np.float32)
    check_two_points(sample_of(Dropout(p), ones), p, 1.0 / p, 0.0)
    check_two_points(sample_of(SpatialDropout(p), ones[:, :, None]), p, 1.0 / p, 0.0)
    a = (p + ALPHA**2 * p * (1 - p)) ** -0.5
    b = -a * (1 - p) * ALPHA
    check_two_points(sample_of(AlphaDropout(p), ones), p, a + b, a * ALPHA + b)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_statistics_of_gaussian_noise(rate):
    ones, variance = np.ones((1000, 1000), np.float32), rate / (1 - rate)
    check_moments(sample_of(GaussianDropout(rate), ones), 1.0, variance, 3 * variance**2)
    check_moments(sample_of(GaussianNoise(rate), ones), 1.0, rate**2, 3 * rate**4)


def test_alpha_dropout_keeps_mean_and_variance_of_standard_numbers():
    x = nd.to_host(nd.random.Random(4).gaussian(N)).reshape(1000, 1000)
    found = sample_of(AlphaDropout(0.6), x).astype(float)
    assert abs(found.mean()) <= SIGMAS * 1.5 / 1000
    assert abs(found.var() - 1.0) <= SIGMAS * 3.0 / 1000


# ---- outside of training


@every_kind
def test_nothing_at_inference(kind, backend):
    noisy, plain = (network(DenseLayer(n_in=5, n_out=4, drop_out=d), OutputLayer(n_out=2)) for d in (kind, None))
    state = noisy.random.get_state()
    first, second = (host(noisy.output(X)) for _ in "12")
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, host(plain.output(X)))
    assert noisy.random.get_state() == state


# ---- schedules


@every_scheduled
def test_numbers_follow_the_schedule_by_iteration(kind, backend):
    """Iterations 0 and 1 with 0.9, then 0.4: as networks with these numbers fixed, drawing the same."""
    channels = isinstance(kind, SpatialDropout)
    input_type = InputType.convolutional(2, 2, 5) if channels else InputType.feed_forward(5)
    x = RNG.normal(size=(6, 5, 2, 2)) if channels else X
    net, early, late = (
        network(DropoutLayer(each), OutputLayer(n_out=2), input_type=input_type, updater="sgd", learning_rate=0.3)
        for each in (kind, type(kind)(0.9), type(kind)(0.4))
    )
    net.random.set_seed(6)
    for _ in range(4):
        net.fit(x, Y)
    early.random.set_seed(6)
    for _ in range(2):
        early.fit(x, Y)
    late.set_params(early.params())
    late.random.set_state(early.random.get_state())
    for _ in range(2):
        late.fit(x, Y)
    np.testing.assert_allclose(host(net.params()), host(late.params()), **TOLERANCE["float64"])
    assert (host(net.params()) != host(early.params())).any()


class Watching(Listener):
    def on_forward_pass(self, model, activations):
        pass


def test_steps_that_a_listener_looks_into_use_the_same_numbers():
    found = []
    for listeners in ([], [Watching()]):
        net = network(DropoutLayer(GaussianDropout(SCHEDULE)), OutputLayer(n_in=5, n_out=2))
        net.set_listeners(listeners)
        for _ in range(4):
            net.fit(X, Y)
        found.append(host(net.params()))
    np.testing.assert_array_equal(found[0], found[1])


def test_numbers_follow_the_schedule_by_epoch():
    net = network(DropoutLayer(Dropout(StepSchedule("epoch", 0.5, 0.5, 1))), OutputLayer(n_in=5, n_out=2))
    for epoch, p in enumerate((0.5, 0.25, 0.125)):
        net.epoch_count = epoch
        dropped = host(net.feed_forward(np.ones((6, 5)), train=True)[1])
        assert set(np.unique(dropped)) <= {0.0, 1.0 / p}


def test_a_schedule_that_leaves_the_range_says_when():
    net = network(DropoutLayer(Dropout(MapSchedule("iteration", {0: 0.5, 1: 1.5}))), OutputLayer(n_in=5, n_out=2))
    net.fit(X, Y)
    with pytest.raises(nd.ConfigurationError, match=r"Dropout: p is the .* got 1\.5 at iteration 1, epoch 0"):
        net.fit(X, Y)


def test_fixed_numbers_stay_floats():
    assert Dropout(np.float32(0.5)) == Dropout(0.5)
    assert NumbersInForce(Dropout(0.5), "float32").values == (0.5,)
    assert not Dropout(0.5).scheduled
    assert Dropout(FixedSchedule(0.5)).scheduled


# ---- configuration


@every_row("kind", [*KINDS, *SCHEDULED], ids=str)
def test_json_both_ways(kind):
    conf = NeuralNetConfiguration(seed=1, drop_out=kind).list(DenseLayer(n_in=1, n_out=2), ActivationLayer("tanh"))
    text = conf.to_json()
    assert MultiLayerConfiguration.from_json(text).layers == conf.layers
    written = json.loads(text)["confs"][0]["layer"]["idropout"]
    assert written["@class"] == f"org.deeplearning4j.nn.conf.dropout.{type(kind).__name__}"
    names = {"GaussianDropout": ("rate", "rateSchedule"), "GaussianNoise": ("stddev", "stddevSchedule")}
    number, schedule = names.get(type(kind).__name__, ("p", "pschedule"))
    scheduled = kind in SCHEDULED
    assert written[number] == ("NaN" if scheduled else getattr(kind, number))
    assert (written[schedule] is not None) == scheduled


def test_the_builder_and_the_network_take_every_kind():
    layer = DenseLayer.Builder().nIn(1).nOut(2).dropOut(GaussianNoise(0.1)).build()
    assert layer == DenseLayer(n_in=1, n_out=2, drop_out=GaussianNoise(0.1))
    assert NeuralNetConfiguration(drop_out=AlphaDropout(0.9)).list(layer).layers[0].drop_out == GaussianNoise(0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AlphaDropout(0.0), r"AlphaDropout: p is the probability to retain, 0 < p <= 1, got 0\.0"),
        (lambda: SpatialDropout(1.1), r"SpatialDropout: p is the probability to retain, 0 < p <= 1, got 1\.1"),
        (lambda: GaussianDropout(1.0), r"GaussianDropout: rate is the probability to drop, 0 <= rate < 1, got 1\.0"),
        (lambda: GaussianNoise(-1.0), r"GaussianNoise: stddev must be finite and >= 0, got -1\.0"),
        (lambda: GaussianNoise(math.inf), r"GaussianNoise: stddev must be a number or a Schedule, got inf"),
        (lambda: Dropout("0.5"), r"Dropout: p must be a number or a Schedule or None, got '0\.5'"),
        (lambda: GaussianDropout(True), r"GaussianDropout: rate must be a number or a Schedule, got True"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        make()


def test_channels_need_more_than_rows():
    net = network(DenseLayer(n_in=5, n_out=2, drop_out=SpatialDropout(0.5)))
    with pytest.raises(nd.ShapeError, match=r"SpatialDropout: expected input \[N, C, \.\.\.\] of rank 3 or more, got"):
        net.feed_forward(X, train=True)
    with pytest.raises(nd.ShapeError, match=r"layer 0 \(DenseLayer\): SpatialDropout: .* rank 3 or more, got \[N, 5\]"):
        network(DenseLayer(n_out=2, drop_out=SpatialDropout(0.5)), input_type=InputType.feed_forward(5))


class Halving(IDropout):
    """One of the user's own: halves what comes, and on its way back adds 1."""

    def apply_dropout(self, x, numbers, buffers):
        return nd.multiply(x, 0.5, buffers("halved", x.shape)), x

    def backprop(self, epsilon, kept):
        return nd.addi(epsilon, 1.0)


def test_a_kind_of_ones_own(backend):
    net = network(DenseLayer(n_in=5, n_out=5, activation="identity", weight_init="identity", drop_out=Halving()))
    np.testing.assert_allclose(host(net.feed_forward(X, train=True)[1]), X / 2)
    np.testing.assert_allclose(host(net.output(X)), X)
    layer = net.get_layer(0)
    cache = forward(layer, nd.create(X), training=True)[1]
    np.testing.assert_allclose(host(backprop(layer, nd.create(X), cache)), X + 1.0)
    with pytest.raises(
        nd.ConfigurationError, match=r"to_json: dropout Halving must be .* registered .*nn\.register\(Halving\)"
    ):
        net.conf.to_json()
