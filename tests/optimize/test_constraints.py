"""Constraints: what they make of parameters, when they are applied, and to which."""

import json
import math

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet, ListDataSetIterator
from nn import (
    ActivationLayer,
    CapsuleStrengthLayer,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    PrimaryCapsules,
)
from optimize import (
    Adam,
    LayerConstraint,
    Listener,
    MaxNormConstraint,
    MinMaxNormConstraint,
    NonNegativeConstraint,
    Sgd,
    UnitNormConstraint,
)
from optimize.constraints import CONSTRAINTS, Constraining
from tests.cells import every_row
from tests.stand_ins import TOLERANCE, as_input
from tests.step_plans import workers_of

RNG = np.random.default_rng(34)
X, Y = RNG.normal(size=(12, 5)), np.eye(3)[RNG.integers(0, 3, 12)]
KINDS = [MaxNormConstraint(0.5), MinMaxNormConstraint(0.4, 0.6), NonNegativeConstraint(), UnitNormConstraint()]


def host(x):
    return np.array(nd.to_host(nd.copy(x)))


def network(dtype="float64", **settings):
    conf = NeuralNetConfiguration(**{"seed": 3, "dtype": dtype, "updater": Sgd(0.5), **settings}).list(
        DenseLayer(n_in=5, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=3, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def table(net):
    return {key: host(view) for key, view in net.param_table().items()}


def test_a_vector_has_one_norm():
    """Axes by default: all but the first, of a vector the only one."""
    (found,) = UnitNormConstraint(params="b").on({"b": (2,)}, "layer 0")
    assert found.dimensions == (0,)
    for each in (found, UnitNormConstraint()):
        np.testing.assert_allclose(host(each.constrained(nd.create([3.0, 4.0], "float64"), 1, 0)), [0.6, 0.8])


def test_the_bias_of_primary_capsules_is_constrained():
    capsules = PrimaryCapsules(capsule_dimensions=2, channels=2, kernel_size=2)
    layers = capsules, CapsuleStrengthLayer(), OutputLayer(n_out=2, loss="mse", activation="identity")
    conf = NeuralNetConfiguration(seed=3, constrain_bias=MaxNormConstraint(0.1)).list(
        *layers, input_type=InputType.convolutional(3, 3, 1)
    )
    net = MultiLayerNetwork(conf).init()
    net.set_params(np.ones((1, net.num_params())))
    net.updater.constraints.apply(1, 0)
    assert np.sqrt((table(net)["0_b"] ** 2).sum()) == pytest.approx(0.1, rel=1e-5)
    assert (table(net)["0_W"] == 1.0).all()


def test_every_kind_is_tried():
    assert {type(kind) for kind in KINDS} == set(CONSTRAINTS.values())


# ---- by hand: rows of norm 5, 1 and 0

ROWS = [[3.0, -4.0], [0.6, 0.8], [0.0, 0.0]]
BY_HAND = {
    "max norm": (MaxNormConstraint(2.0), [[1.2, -1.6], [0.6, 0.8], [0, 0]]),
    "min and max": (MinMaxNormConstraint(1.5, 2.0), [[1.2, -1.6], [0.9, 1.2], [0, 0]]),
    "half the way": (MinMaxNormConstraint(1.5, 2.0, rate=0.5), [[2.1, -2.8], [0.75, 1.0], [0, 0]]),
    "unit norm": (UnitNormConstraint(), [[0.6, -0.8], [0.6, 0.8], [0, 0]]),
    "not negative": (NonNegativeConstraint(), [[3.0, 0.0], [0.6, 0.8], [0, 0]]),
    "over columns": (UnitNormConstraint(dimensions=0), [[0.9805807, -0.9805807], [0.1961161, 0.1961161], [0, 0]]),
    "over everything": (MaxNormConstraint(1.0, dimensions=[0, 1]), (np.array(ROWS) / math.sqrt(26.0)).tolist()),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name, backend, dtype, order):
    constraint, expected = BY_HAND[name]
    x = as_input(backend, np.array(ROWS), order, dtype)
    found = constraint.constrained(x, 1, 0)
    np.testing.assert_allclose(host(found), expected, rtol=1e-5, atol=1e-7)
    assert nd.dtype_name(found) == dtype
    np.testing.assert_allclose(host(x), np.array(ROWS, dtype))


def test_the_epsilon_of_java():
    found = host(MaxNormConstraint(2.0).constrained(nd.create(ROWS, dtype="float64"), 1, 0))
    np.testing.assert_allclose(
        found[:2], [[6.0 / 5.000001, -8.0 / 5.000001], [0.6 / 1.000001, 0.8 / 1.000001]], rtol=1e-14
    )


# ---- while training


def norms(w, dimensions=1):
    return np.sqrt((w.astype(np.float64) ** 2).sum(dimensions))


def test_norms_stay_within_over_twenty_steps(backend, dtype):
    net = network(
        dtype, updater=Adam(0.3), constrain_weights=MaxNormConstraint(0.7), constrain_bias=UnitNormConstraint()
    )
    for _ in range(20):
        net.fit(as_input(backend, X), as_input(backend, Y))
        params = table(net)
        for key in ("0_W", "1_W"):
            assert norms(params[key]).max() <= 0.7 * (1.0 + 1e-6)
        for key in ("0_b", "1_b"):
            np.testing.assert_allclose(norms(params[key]), 1.0, rtol=1e-5)
    assert norms(params["0_W"]).max() > 0.69


def test_what_is_held_above_zero_and_between_two_norms_over_twenty_steps(backend):
    kinds = [NonNegativeConstraint(), MinMaxNormConstraint(0.3, 0.5)]
    net = network(updater=Adam(0.3), constrain_weights=kinds)
    for _ in range(20):
        net.fit(as_input(backend, X), as_input(backend, Y))
        for key in ("0_W", "1_W"):
            w = table(net)[key]
            found = norms(w)
            assert w.min() >= 0.0
            assert found.max() <= 0.5 * (1.0 + 1e-12)
            assert (found[found > 0.0] >= 0.3 * (1.0 - 1e-3)).all()  # the epsilon beside a norm that was small


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_applied_once_after_the_update(kind, backend):
    net, plain = network(constrain_all_parameters=kind), network()
    for each in (net, plain):
        each.fit(as_input(backend, X), as_input(backend, Y))
    for key, updated in plain.param_table().items():
        expected = kind.constrained(updated, 1, 0)
        np.testing.assert_allclose(host(net.param_table()[key]), host(expected), **TOLERANCE["float64"])
    assert net.score() == plain.score()  # of the parameters before


class Counting(LayerConstraint):
    """One of the user's own: notes the counts."""

    seen = []

    def constrained(self, param, iteration, epoch):
        self.seen.append((iteration, epoch))
        return param * 1.0


def test_a_kind_of_ones_own_hears_the_iteration_that_comes_next(monkeypatch):
    monkeypatch.setattr(Counting, "seen", [])
    net = network(constrain_bias=Counting())
    net.fit(ListDataSetIterator(DataSet(X, Y), 6), epochs=2)
    assert Counting.seen == [(1, 0)] * 2 + [(2, 0)] * 2 + [(3, 1)] * 2 + [(4, 1)] * 2
    with pytest.raises(
        nd.ConfigurationError, match=r"to_json: constraint Counting must be .* Call nn\.register\(Counting\)"
    ):
        net.conf.to_json()


class Watching(Listener):
    def __init__(self):
        self.seen = []

    def iteration_done(self, model, iteration, epoch):
        self.seen.append(host(model.params()))


def test_listeners_see_what_training_goes_on_from():
    net, listener = network(constrain_weights=MaxNormConstraint(0.5)), Watching()
    net.set_listeners(listener)
    net.fit(X, Y, epochs=3)
    np.testing.assert_array_equal(listener.seen[-1], host(net.params()))
    assert norms(table(net)["0_W"]).max() <= 0.5 * (1.0 + 1e-12)


def test_the_work_is_recorded(monkeypatch):
    net = network(constrain_weights=MaxNormConstraint(0.5))
    net.fit(X, Y)
    monkeypatch.setattr(MaxNormConstraint, "constrained", lambda *_: pytest.fail("computed as it is written"))
    net.fit(X, Y, epochs=3)
    assert norms(table(net)["0_W"]).max() <= 0.5 * (1.0 + 1e-12)


def test_minibatches_that_are_split_over_workers():
    x, y = RNG.normal(size=(256, 8, 12, 12)), np.eye(3)[RNG.integers(0, 3, 256)]
    with nd.use_backend(NumpyBackend(threads=2)):
        conf = NeuralNetConfiguration(seed=3, dtype="float64", constrain_weights=MaxNormConstraint(0.5)).list(
            ConvolutionLayer(n_out=16, kernel_size=3),
            OutputLayer(n_out=3),
            input_type=InputType.convolutional(12, 12, 8),
        )
        net = MultiLayerNetwork(conf).init()
        assert len(workers_of(net, x.shape)) == 2
        for _ in range(2):
            net.fit(x, y)
        assert norms(table(net)["0_W"], (1, 2, 3)).max() <= 0.5 * (1.0 + 1e-12)
        assert norms(table(net)["1_W"]).max() <= 0.5 * (1.0 + 1e-12)


def test_a_network_without_constraints_has_none():
    assert network().updater.constraints is None
    assert isinstance(network(constrain_weights=KINDS).updater.constraints, Constraining)


# ---- which parameters


def constraints_of(layer, **defaults):
    return (
        NeuralNetConfiguration(**defaults)
        .list(layer, input_type=InputType.convolutional(4, 4, 2))
        .layers[0]
        .constraints
    )


def test_each_names_its_parameters_and_axes():
    conv = {"n_out": 3, "kernel_size": 2}
    maximum = MaxNormConstraint(1.0)
    assert constraints_of(ConvolutionLayer(**conv, constrain_weights=maximum)) == (
        MaxNormConstraint(1.0, dimensions=(1, 2, 3), params=("W",)),
    )
    assert constraints_of(ConvolutionLayer(**conv, constrain_bias=maximum)) == (
        MaxNormConstraint(1.0, dimensions=(1,), params=("b",)),
    )
    assert constraints_of(ConvolutionLayer(**conv, constrain_all_parameters=maximum)) == (
        MaxNormConstraint(1.0, dimensions=(1,), params=("b",)),
        MaxNormConstraint(1.0, dimensions=(1, 2, 3), params=("W",)),
    )
    assert constraints_of(ConvolutionLayer(**conv, constraints=NonNegativeConstraint(params="b"))) == (
        NonNegativeConstraint(params=("b",)),
    )
    assert constraints_of(ConvolutionLayer(**conv, constraints=[NonNegativeConstraint()])) == (
        NonNegativeConstraint(params=("W",)),
    )
    assert constraints_of(DenseLayer(n_out=2, has_bias=False, constrain_bias=maximum)) is None


def test_a_layer_with_constraints_has_none_of_the_networks():
    defaults = {"constrain_weights": NonNegativeConstraint(), "constrain_bias": UnitNormConstraint()}
    assert [type(each) for each in constraints_of(DenseLayer(n_out=2), **defaults)] == [
        NonNegativeConstraint,
        UnitNormConstraint,
    ]
    own = constraints_of(DenseLayer(n_out=2, constrain_weights=MaxNormConstraint(1)), **defaults)
    assert own == (MaxNormConstraint(1.0, dimensions=(1,), params=("W",)),)


def test_the_builder_as_in_java():
    layer = DenseLayer.Builder().nIn(2).nOut(2).constrainWeights(NonNegativeConstraint(), MaxNormConstraint(1)).build()
    assert layer.constrain_weights == (NonNegativeConstraint(), MaxNormConstraint(1))
    base = NeuralNetConfiguration.Builder().constrainAllParameters(UnitNormConstraint()).build()
    assert base.constrain_all_parameters == (UnitNormConstraint(),)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_json_both_ways(kind):
    conf = NeuralNetConfiguration(seed=1, constrain_all_parameters=kind).list(
        DenseLayer(n_in=2, n_out=2), ActivationLayer("tanh")
    )
    text = conf.to_json()
    again = MultiLayerConfiguration.from_json(text)
    assert again.layers == conf.layers
    (written,) = json.loads(text)["confs"][0]["layer"]["constraints"]
    assert written["@class"] == f"org.deeplearning4j.nn.conf.constraint.{type(kind).__name__}"
    assert (written["params"], written["epsilon"]) == (["W", "b"], 1e-6)
    assert written["dimensions"] == (None if isinstance(kind, NonNegativeConstraint) else [1])
    assert set(written) >= {MaxNormConstraint: {"maxNorm"}, MinMaxNormConstraint: {"min", "max", "rate"}}.get(
        type(kind), set()
    )
    net = MultiLayerNetwork(again).init()
    assert isinstance(net.updater.constraints, Constraining)


@every_row(
    ("make", "message"),
    [
        (lambda: MaxNormConstraint(-1), r"MaxNormConstraint: max_norm must be a number >= 0, got -1"),
        (
            lambda: MaxNormConstraint(1, dimensions=-1),
            r"MaxNormConstraint: dimensions must be an integer >= 0 or a sequence .* got -1",
        ),
        (lambda: UnitNormConstraint(dimensions=()), r"UnitNormConstraint: dimensions must be axes >= 0"),
        (
            lambda: UnitNormConstraint(params=[3]),
            r"UnitNormConstraint: params must be text or a sequence of text or None, got \[3\]",
        ),
        (lambda: MinMaxNormConstraint(2, 1), r"MinMaxNormConstraint: min must be <= max, got 2\.0 and 1\.0"),
        (lambda: MinMaxNormConstraint(1, 2, 0), r"MinMaxNormConstraint: rate must be a number with 0 < it <= 1, got 0"),
        (
            lambda: DenseLayer(constrain_bias=2.0),
            r"DenseLayer: constrain_bias must be a LayerConstraint or a sequence .*, got 2\.0",
        ),
        (
            lambda: NeuralNetConfiguration(constrain_weights=["max"]),
            r"constrain_weights must be a LayerConstraint or a sequence .*, got \['max'\]",
        ),
        (
            lambda: constraints_of(DenseLayer(n_out=2, constraints=NonNegativeConstraint(params="V"))),
            r"layer 0 \(DenseLayer\): NonNegativeConstraint is for the parameters \['V'\], got \['W', 'b'\]",
        ),
        (
            lambda: constraints_of(DenseLayer(n_out=2, constrain_weights=MaxNormConstraint(1, dimensions=(1, 2)))),
            r"layer 0 \(DenseLayer\): MaxNormConstraint is over the axes \[1, 2\], got 'W' with 2 axes",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        make()
