"""Weight noise: what stands in for the weights in training, and only there."""

import json
import math

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nn import (
    BinomialDistribution,
    ConvolutionLayer,
    DenseLayer,
    DropConnect,
    GaussianNoise,
    InputType,
    IWeightNoise,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
    SubsamplingLayer,
    UniformDistribution,
    WeightNoise,
)
from nn.layers import LAYERS
from nn.terms.weight_noise import WEIGHT_NOISES
from optimize import MapSchedule
from tests.cases.layers import LAYER_CASES, make_features
from tests.cells import every_row
from tests.layers_at_work import forward
from tests.stand_ins import TOLERANCE, as_input
from tests.step_plans import workers_of

RNG = np.random.default_rng(33)
X, Y = RNG.normal(size=(6, 5)), np.eye(2)[[0, 1, 1, 0, 1, 0]]
KINDS = {
    "connect": DropConnect(0.6),
    "connect all": DropConnect(0.5, apply_to_biases=True),
    "add": WeightNoise(NormalDistribution(0.0, 0.3)),
    "add all": WeightNoise(UniformDistribution(-0.2, 0.1), apply_to_biases=True),
    "multiply": WeightNoise(NormalDistribution(1.0, 0.3), additive=False),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))


def network(kind, **settings):
    conf = NeuralNetConfiguration(seed=3, dtype="float64", bias_init=0.3, weight_noise=kind, **settings).list(
        DenseLayer(n_in=5, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def images(kind, **settings):
    conf = NeuralNetConfiguration(seed=3, dtype="float64", weight_noise=kind, **settings).list(
        ConvolutionLayer(n_out=3, kernel_size=2, activation="relu", bias_init=0.1),
        SubsamplingLayer("max", kernel_size=2, stride=2),
        OutputLayer(n_out=2),
        input_type=InputType.convolutional(5, 5, 2),
    )
    return MultiLayerNetwork(conf).init()


def host(x):
    return np.array(nd.to_host(nd.copy(x)))


def table(net):
    return {key: host(view) for key, view in net.param_table().items()}


def order_of(w):
    """The order in which a parameter lies in the vector: matrices in f, biases and kernels in c."""
    return "F" if w.ndim == 2 and w.shape[0] > 1 else "C"


def drawn_in_place_of(kind, params, rng):
    """What stands in for parameters, key -> array, in their order; and the slope of each by its parameter."""
    found, slopes = {}, {}
    for key, w in params.items():
        if key.endswith("b") and not kind.apply_to_biases:
            found[key], slopes[key] = w, np.ones(w.shape)
        elif isinstance(kind, DropConnect):
            drawn = nd.to_host(rng.uniform(w.size)).reshape(w.shape, order=order_of(w))
            slopes[key] = 1.0 * (drawn < np.float32(kind.p))
            found[key] = w * slopes[key]
        else:
            noise = nd.to_host(kind.distribution.draw(rng, w.shape, "float64")).reshape(w.shape, order=order_of(w))
            slopes[key] = np.ones(w.shape) if kind.additive else noise
            found[key] = w + noise if kind.additive else w * noise
    return found, slopes


def test_every_kind_is_tried():
    assert {type(kind) for kind in KINDS.values()} == set(WEIGHT_NOISES.values())


@every_kind
def test_forward_and_gradient_use_what_was_drawn(kind, backend):
    """A network without noise that has the drawn weights gives the same score and the same gradient."""
    net, plain = network(kind), network(None)
    before = host(net.params())
    net.random.set_seed(17)
    noised, _ = drawn_in_place_of(kind, table(net), nd.random.Random(17))
    for key, view in plain.param_table().items():
        nd.assign(view, as_input(backend, noised[key]))
    for each in (net, plain):
        each.set_input(as_input(backend, X))
        each.set_labels(as_input(backend, Y))
        each.compute_gradient_and_score()
    assert net.score() == pytest.approx(plain.score(), rel=1e-12)
    np.testing.assert_allclose(
        host(net.flattened_gradients()), host(plain.flattened_gradients()), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_array_equal(host(net.params()), before)


@every_kind
@pytest.mark.parametrize("make", [network, images])
def test_the_gradient_is_that_by_what_stands_in(kind, make):
    """Central differences by the parameter are the gradient times d(what stands in) / d(parameter), seeds frozen."""
    net = make(kind, l1=1e-3, l2=1e-2, l1_bias=2e-3, l2_bias=3e-2)
    x = X if make is network else RNG.normal(size=(6, 2, 5, 5))
    net.set_input(x)
    net.set_labels(Y)

    def score():
        net.random.set_seed(17)
        net.compute_gradient_and_score()
        return net.score()

    score()
    gradients = {key: host(g) / len(x) for key, g in net.gradient().gradient_for_variable().items()}
    _, slopes = drawn_in_place_of(kind, table(net), nd.random.Random(17))
    for key, view in net.param_table().items():
        l1, l2 = (2e-3, 3e-2) if key.endswith("b") else (1e-3, 1e-2)
        for index in list(np.ndindex(*view.shape))[::3]:
            kept, step = float(view[index]), 1e-6
            view[index] = kept + step
            above = score()
            view[index] = kept - step
            below = score()
            view[index] = kept
            whole = gradients[key][index] * slopes[key][index] + l1 * np.sign(kept) + l2 * kept
            assert (above - below) / (2 * step) == pytest.approx(whole, rel=1e-5, abs=1e-8), (key, index)


def test_the_score_is_the_noised_loss_and_the_penalties_on_the_parameters_themselves():
    kind = DropConnect(0.5)
    bare, penalised = network(kind), network(kind, l2=0.1)
    for net in (bare, penalised):
        net.random.set_seed(4)
        net.set_input(X)
        net.set_labels(Y)
        net.compute_gradient_and_score()
    weights = [w for key, w in table(bare).items() if key.endswith("W")]
    penalty = 0.05 * sum((w**2).sum() for w in weights)
    assert penalised.score() == pytest.approx(bare.score() + penalty, rel=1e-12)


def test_dropout_is_drawn_first_then_weight_then_bias(backend):
    conf = NeuralNetConfiguration(seed=3, dtype="float64", bias_init=1.0).list(
        DenseLayer(
            n_in=5, n_out=3, activation="identity", drop_out=GaussianNoise(0.5), weight_noise=DropConnect(0.5, True)
        )
    )
    net = MultiLayerNetwork(conf).init()
    nd.random.set_seed(12)
    found = host(net.feed_forward(as_input(backend, X), train=True)[1])
    rng = nd.random.Random(12)
    x = X + 0.5 * nd.to_host(rng.gaussian(30)).reshape(6, 5)
    kept = [nd.to_host(rng.uniform(n)).reshape(shape, order="F") < 0.5 for n, shape in ((15, (5, 3)), (3, (1, 3)))]
    params = table(net)
    np.testing.assert_allclose(found, x @ (params["0_W"] * kept[0]) + params["0_b"] * kept[1], rtol=1e-6, atol=1e-7)


@every_kind
def test_drawn_anew_in_every_forward_pass(kind):
    net = network(kind)
    first, second = (host(net.feed_forward(X, train=True)[1]) for _ in "12")
    assert (first != second).any()
    data = DataSet(X, Y)
    assert net.score(data, training=True) != net.score(data, training=True)


@every_kind
@pytest.mark.parametrize("make", [network, images])
@pytest.mark.quick_rows(every=3)
def test_nothing_at_inference(kind, make, backend):
    net, plain = make(kind), make(None)
    x = X if make is network else RNG.normal(size=(6, 2, 5, 5))
    state = net.random.get_state()
    first, second = (host(net.output(x)) for _ in "12")
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, host(plain.output(x)))
    assert net.score(DataSet(x, Y)) == plain.score(DataSet(x, Y))
    assert net.random.get_state() == state
    net.fit(x, Y)
    np.testing.assert_array_equal(host(net.output(x)), host(net.output(x)))


WITHOUT_NOISE = {
    "batch_normalization", "convolution1d", "element_wise_multiplication", "embedding", "embedding_sequence",
    "graves_bidirectional_lstm", "prelu",
}  # fmt: skip
"""Layers with parameters that take none in Java, which their runtimes say too."""


@every_row("name", [name for name, conf in LAYERS.items() if "weight_noise" in conf.inherited])
def test_every_layer_with_parameters_gets_it(name):
    case = LAYER_CASES[name][0]
    conf = NeuralNetConfiguration(seed=7, weight_noise=WeightNoise(NormalDistribution(0.0, 0.5))).list(
        case.layer, input_type=case.input_type
    )
    layer = MultiLayerNetwork(conf).init().get_layer(0)
    assert layer.noised == () or name not in WITHOUT_NOISE
    if not layer.params or layer.noised == ():
        assert layer.noising is None
        return
    x = nd.create(make_features(case), dtype="float32")
    for values in (lambda training: forward(layer, x, training)[0], lambda training: layer.pre_output(x, training)):
        plain, noisy = (host(values(training)) for training in (False, True))
        assert (plain != noisy).any()


def test_minibatches_are_not_split_where_weights_are_drawn():
    shape = (256, 8, 12, 12)
    with nd.use_backend(NumpyBackend(threads=2)):
        for kind, workers in ((None, 2), (DropConnect(0.5), 1)):
            conf = NeuralNetConfiguration(seed=3, weight_noise=kind).list(
                ConvolutionLayer(n_out=16, kernel_size=3),
                OutputLayer(n_out=3),
                input_type=InputType.convolutional(12, 12, 8),
            )
            net = MultiLayerNetwork(conf).init()
            assert len(workers_of(net, shape)) == workers
            assert len(workers_of(net, shape, training=False)) == 2  # nothing is drawn there


def test_the_schedule_of_dropconnect():
    net = network(DropConnect(MapSchedule("iteration", {0: 1.0, 1: 1e-9})))
    np.testing.assert_allclose(host(net.feed_forward(X, train=True)[1]), host(net.feed_forward(X)[1]))
    net.fit(X, Y)
    bias = table(net)["0_b"]
    np.testing.assert_allclose(host(net.feed_forward(X, train=True)[1]), np.tanh(bias) * np.ones((6, 4)), rtol=1e-6)


N = 1_000_000


def noised_ones(kind):
    net = MultiLayerNetwork(
        NeuralNetConfiguration(seed=3).list(
            DenseLayer(n_in=1000, n_out=1000, weight_init="ones", activation="identity", weight_noise=kind)
        )
    ).init()
    nd.random.set_seed(2718)
    layer = net.get_layer(0)
    return host(layer.noising.draw(layer.params, nd.fresh_buffers("float32"))["W"]).astype(np.float64)


@pytest.mark.parametrize("p", [0.2, 0.7])
def test_statistics_of_dropconnect(p):
    found = noised_ones(DropConnect(p))
    assert set(np.unique(found)) == {0.0, 1.0}
    assert abs(found.mean() - p) <= 5.0 * math.sqrt(p * (1 - p) / N)
    assert abs(found.var() - p * (1 - p)) <= 5.0 * abs(1 - 2 * p) * math.sqrt(p * (1 - p) / N) + 1e-6


@pytest.mark.parametrize(
    ("kind", "mean", "std", "kurtosis"),
    [
        (WeightNoise(NormalDistribution(0.5, 0.2)), 1.5, 0.2, 3.0),
        (WeightNoise(NormalDistribution(1.0, 0.3), additive=False), 1.0, 0.3, 3.0),
        (WeightNoise(UniformDistribution(-1.0, 1.0)), 1.0, 3**-0.5, 1.8),
        (WeightNoise(BinomialDistribution(1, 0.5), additive=False), 0.5, 0.5, 1.0),
    ],
)
def test_statistics_of_weight_noise(kind, mean, std, kurtosis):
    found = noised_ones(kind)
    assert abs(found.mean() - mean) <= 5.0 * std / math.sqrt(N)
    assert abs(found.var() - std**2) <= 5.0 * std**2 * math.sqrt((kurtosis - 1.0) / N) + 1e-5


@pytest.mark.parametrize("kind", [*KINDS.values(), DropConnect(MapSchedule("epoch", {0: 0.5}), True)], ids=str)
def test_json_both_ways(kind):
    conf = NeuralNetConfiguration(seed=1, weight_noise=kind).list(DenseLayer(n_in=1, n_out=2))
    text = conf.to_json()
    assert MultiLayerConfiguration.from_json(text).layers == conf.layers
    written = json.loads(text)["confs"][0]["layer"]["weightNoise"]
    assert written["@class"] == f"org.deeplearning4j.nn.conf.weightnoise.{type(kind).__name__}"
    keys = {"weightRetainProb", "weightRetainProbSchedule", "applyToBiases"}
    assert set(written) - {"@class"} == (
        keys if isinstance(kind, DropConnect) else {"additive", "applyToBias", "distribution"}
    )


def test_the_spelling_of_javas_constructor_is_read():
    text = NeuralNetConfiguration(seed=1, weight_noise=DropConnect(0.25)).list(DenseLayer(n_in=1, n_out=2)).to_json()
    read = MultiLayerConfiguration.from_json(text.replace('weightRetainProb"', 'weightRetainProbability"'))
    assert read.layers[0].weight_noise == DropConnect(0.25)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DropConnect(0.0), r"DropConnect: p is the probability to retain, 0 < p <= 1, got 0\.0"),
        (lambda: DropConnect(0.5, 1), r"DropConnect: apply_to_biases must be True or False, got 1"),
        (lambda: WeightNoise(0.1), r"WeightNoise: distribution must be a Distribution, got 0\.1"),
        (lambda: WeightNoise(NormalDistribution(), "yes"), r"WeightNoise: additive must be True or False, got 'yes'"),
        (
            lambda: DenseLayer(weight_noise=0.5),
            r"DenseLayer: weight_noise must be an IWeightNoise or None, got 0\.5",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        make()


class Negated(IWeightNoise):
    """One of the user's own."""

    def get_parameter(self, param, numbers, out):
        return nd.multiply(param, -1.0, out)


def test_a_kind_of_ones_own(backend):
    net = network(Negated())
    params = table(net)
    found = host(net.feed_forward(as_input(backend, X), train=True)[1])
    np.testing.assert_allclose(found, np.tanh(-X @ params["0_W"] + params["0_b"]), **TOLERANCE["float64"])
    with pytest.raises(nd.ConfigurationError, match=r"weight noise Negated must be .* nn\.register\(Negated\)"):
        net.conf.to_json()
