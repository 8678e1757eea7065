"""Dropout of a layer's input: which numbers are drawn, in which order, and what they do."""

import copy
import pickle
import warnings
from dataclasses import fields

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nn import (
    ActivationLayer,
    AlphaDropout,
    ConvolutionLayer,
    DenseLayer,
    DropConnect,
    Dropout,
    DropoutLayer,
    GaussianDropout,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SpatialDropout,
    SubsamplingLayer,
)
from nn.layers import LAYERS
from nn.terms import noise
from nn.terms.dropout import DROPOUTS
from nn.terms.weight_noise import WEIGHT_NOISES
from optimize import MapSchedule
from tests.layers_at_work import backprop, forward
from tests.stand_ins import TOLERANCE, as_input

RNG = np.random.default_rng(30)
X, Y = RNG.normal(size=(6, 5)), np.eye(2)[[0, 1, 1, 0, 1, 0]]
IDENTITY = {"activation": "identity", "weight_init": "identity", "has_bias": False}


def network(*layers, input_type=None, **settings):
    conf = NeuralNetConfiguration(**{"seed": 3, "dtype": "float64", **settings}).list(*layers, input_type=input_type)
    return MultiLayerNetwork(conf).init()


def host(x):
    return nd.to_host(nd.copy(x))


def masks(seed, *draws):
    """Return the factors for draws of (shape, p): u >= p gives 0, else 1 / p, in c order, one draw after the other."""
    rng = nd.random.Random(seed)
    found = []
    for shape, p in draws:
        u = nd.to_host(rng.uniform(int(np.prod(shape)))).reshape(shape)
        found.append(np.where(u >= np.float32(p), 0.0, 1.0 / p))
    return found


def test_the_mask_is_drawn_in_c_order_whatever_the_order_of_the_input(backend, order):
    net = network(DropoutLayer(0.4), DenseLayer(n_in=5, n_out=5, **IDENTITY))
    nd.random.set_seed(77)
    dropped = net.feed_forward(as_input(backend, X, order), train=True)[1]
    np.testing.assert_allclose(host(dropped), X * masks(77, ((6, 5), 0.4))[0], **TOLERANCE["float64"])


def test_images_are_dropped_cell_by_cell(backend, order):
    net = network(DropoutLayer(0.7), input_type=InputType.convolutional(3, 4, 2))
    x = RNG.normal(size=(2, 2, 3, 4))
    nd.random.set_seed(77)
    dropped = net.feed_forward(as_input(backend, x, order), train=True)[1]
    np.testing.assert_allclose(host(dropped), x * masks(77, ((2, 2, 3, 4), 0.7))[0], **TOLERANCE["float64"])


def test_layers_draw_in_forward_order_each_over_its_input(backend):
    net = network(
        DenseLayer(n_in=5, n_out=5, drop_out=0.5, **IDENTITY),
        ActivationLayer("identity"),
        DenseLayer(n_in=5, n_out=5, drop_out=0.8, **IDENTITY),
        OutputLayer(n_in=5, n_out=5, drop_out=0.6, loss="mse", **IDENTITY),
    )
    nd.random.set_seed(9)
    found = net.feed_forward(X, train=True)
    first, second, third = masks(9, ((6, 5), 0.5), ((6, 5), 0.8), ((6, 5), 0.6))
    for activation, expected in zip(
        found[1:], (X * first, X * first, X * first * second, X * first * second * third), strict=True
    ):
        np.testing.assert_allclose(host(activation), expected, **TOLERANCE["float64"])


def test_the_same_mask_multiplies_epsilon(backend):
    layer = network(DenseLayer(n_in=5, n_out=5, drop_out=0.5, **IDENTITY)).get_layer(0)
    nd.random.set_seed(9)
    cache = forward(layer, nd.create(X), training=True)[1]
    epsilon = backprop(layer, nd.ones(6, 5, dtype="float64"), cache)
    np.testing.assert_allclose(host(epsilon), masks(9, ((6, 5), 0.5))[0], **TOLERANCE["float64"])


def test_the_score_of_a_step_uses_the_dropped_input_of_its_forward_pass(backend):
    net = network(OutputLayer(n_in=5, n_out=5, drop_out=0.5, loss="l2", **IDENTITY))
    labels = np.zeros((6, 5))
    net.set_input(as_input(backend, X))
    net.set_labels(as_input(backend, labels))
    nd.random.set_seed(9)
    net.compute_gradient_and_score()
    dropped = X * masks(9, ((6, 5), 0.5))[0]
    assert net.score() == pytest.approx((dropped**2).sum() / 6, rel=1e-12)
    np.testing.assert_allclose(host(net.gradient().gradient_for_variable()["0_W"]), 2 * dropped.T @ dropped, rtol=1e-10)


def test_dropout_keeps_the_mean():
    x = np.ones((200, 200))
    dropped = host(network(DropoutLayer(0.3)).feed_forward(x, train=True)[1])
    assert set(np.unique(dropped)) == {0.0, 1 / 0.3}
    assert dropped.mean() == pytest.approx(1.0, abs=0.04)
    assert (dropped > 0).mean() == pytest.approx(0.3, abs=0.012)


def test_training_continues_the_stream_that_the_weights_came_from():
    """init seeds the generator; the first mask follows the draws of the weights."""
    layers = DenseLayer(n_in=5, n_out=4, drop_out=0.5, activation="identity"), OutputLayer(n_in=4, n_out=2, loss="mse")
    net = network(*layers)
    rng = nd.random.Random(3)
    rng.gaussian(20)
    rng.gaussian(8)
    u = nd.to_host(rng.uniform(30)).reshape(6, 5)
    W = host(net.param_table()["0_W"])
    found = net.feed_forward_to_layer(0, X, train=True)[1]
    np.testing.assert_allclose(host(found), (X * np.where(u >= 0.5, 0.0, 2.0)) @ W, **TOLERANCE["float64"])


def test_the_same_seed_gives_the_same_training():
    def train(seed):
        layers = DenseLayer(n_in=5, n_out=8, drop_out=0.5), OutputLayer(n_in=8, n_out=2)
        net = network(*layers, seed=seed, updater="adam")
        net.fit(ListDataSetIterator(DataSet(X, Y), batch=4), epochs=3)
        return host(net.params())

    np.testing.assert_array_equal(train(3), train(3))
    assert (train(3) != train(4)).any()


def test_inference_draws_nothing_and_drops_nothing(backend):
    net = network(DenseLayer(n_in=5, n_out=5, drop_out=0.5, **IDENTITY))
    state = nd.random.get_random().get_state()
    for _ in range(2):
        np.testing.assert_array_equal(host(net.output(X)), X)
    net.predict(X)
    np.testing.assert_allclose(host(net.get_layer(0).pre_output(nd.create(X))), X, **TOLERANCE["float64"])
    assert nd.random.get_random().get_state() == state


def test_every_step_draws_anew():
    net = network(DropoutLayer(0.5))
    first, second = (host(net.feed_forward(X, train=True)[1]) for _ in range(2))
    assert (first != second).any()


def test_pooling_does_not_drop_even_if_configured(backend):
    net = network(SubsamplingLayer("max", kernel_size=(1, 1), stride=(1, 1), drop_out=0.5))
    x = RNG.normal(size=(2, 1, 3, 3))
    state = nd.random.get_random().get_state()
    np.testing.assert_array_equal(host(net.feed_forward(x, train=True)[1]), x)
    assert nd.random.get_random().get_state() == state


def test_a_convolution_drops_its_input(backend):
    net = network(ConvolutionLayer(n_in=2, n_out=2, kernel_size=1, drop_out=0.5, **IDENTITY))
    x = RNG.normal(size=(2, 2, 3, 3))
    nd.random.set_seed(4)
    found = net.feed_forward(x, train=True)[1]
    np.testing.assert_allclose(host(found), x * masks(4, ((2, 2, 3, 3), 0.5))[0], **TOLERANCE["float64"])


def test_keeping_everything_draws_all_the_same():
    """As in Java, so that what is drawn behind it is Java's."""
    net = network(DropoutLayer(1.0))
    generator = nd.random.get_random()
    after = generator.copy()
    after.uniform(X.size)
    np.testing.assert_array_equal(host(net.feed_forward(X, train=True)[1]), X)
    assert generator.get_state() == after.get_state()


@pytest.mark.parametrize("p", [-0.1, 1.5])
def test_p_is_a_probability(p):
    with pytest.raises(nd.ConfigurationError, match=rf"probability to retain, 0 < p <= 1, got {p}"):
        DenseLayer(n_in=1, n_out=1, drop_out=p)
    with pytest.raises(nd.ConfigurationError, match=rf"probability to retain, 0 < p <= 1, got {p}"):
        NeuralNetConfiguration(drop_out=p).list(DenseLayer(n_in=1, n_out=1))


def test_zero_is_none_for_a_layer_but_no_dropout():
    assert DenseLayer(drop_out=0.0).drop_out is None
    assert DenseLayer(drop_out=0.25).drop_out == Dropout(0.25)
    with pytest.raises(nd.ConfigurationError, match=r"0 < p <= 1, got 0\.0.*Leave it out for no dropout"):
        Dropout(0.0)
    for wrong in ("0.5", True, [0.5], float("nan")):
        with pytest.raises(
            nd.ArgumentError, match=r"^DenseLayer: drop_out must be a number or an IDropout or None, got"
        ):
            DenseLayer(drop_out=wrong)


# ---- what is kept, and what is dropped


RETAINING = (AlphaDropout, DropConnect, Dropout, SpatialDropout)
"""Everything whose p is the probability to retain."""


def layer_with(made):
    settings = {"weight_noise": made} if isinstance(made, DropConnect) else {"drop_out": made}
    return DenseLayer(n_in=2, n_out=2, **settings)


@pytest.fixture
def unwarned(monkeypatch):
    """The first warning of the process is still to come."""
    monkeypatch.setattr(noise, "_warned", False)


def test_these_are_all_that_retain():
    kinds = {**DROPOUTS, **WEIGHT_NOISES}.values()
    assert {kind for kind in kinds if "p" in {field.name for field in fields(kind)}} == set(RETAINING)


@pytest.mark.parametrize("kind", RETAINING)
def test_the_rate_is_what_is_dropped(kind):
    for rate, p in ((0.0, 1.0), (0.1, 0.9), (0.2, 0.8), (0.3, 0.7), (0.8, 0.2), (0.9, 0.1), (np.float64(0.5), 0.5)):
        assert kind(rate=rate) == kind(p)
        assert repr(kind(rate=rate)) == repr(kind(p))
    conf = NeuralNetConfiguration(seed=1).list(layer_with(kind(rate=0.2)))
    assert '"rate"' not in conf.to_json()
    assert MultiLayerConfiguration.from_json(conf.to_json()) == conf


def test_a_rate_of_a_fifth_drops_a_fifth():
    net = network(DropoutLayer(Dropout(rate=0.2)))
    kept = [host(net.feed_forward(np.ones((500, 6)), train=True)[1]) > 0]
    assert np.mean(kept) == pytest.approx(0.8, abs=0.045)  # 6 standard deviations


@pytest.mark.parametrize("kind", RETAINING)
def test_p_or_rate_is_given(kind):
    for got, make in (("neither", kind), (r"p=0\.8 and rate=0\.2", lambda: kind(0.8, rate=0.2))):
        with pytest.raises(
            nd.ConfigurationError, match=rf"{kind.__name__}: expected p, the .* retain, or rate, the .* drop, got {got}"
        ):
            make()
    for wrong in (1.0, -0.1, "0.2", MapSchedule("epoch", {0: 0.5})):
        with pytest.raises(
            nd.ArgumentError, match=rf"{kind.__name__}: rate must be a number with 0 <= it < 1 or None, "
        ):
            kind(rate=wrong)


@pytest.mark.parametrize(
    ("make", "who", "what"),
    [
        *((lambda kind=kind: LAYERS[kind](drop_out=0.2), f"{LAYERS[kind].__name__}: drop_out=0.2", "inputs")
          for kind in ("dense", "convolution", "lstm", "output", "dropout", "embedding")),
        (lambda: DropoutLayer(0.2), "DropoutLayer: drop_out=0.2", "inputs"),
        (lambda: DenseLayer.Builder().dropOut(0.2).build(), "DenseLayer: drop_out=0.2", "inputs"),
        (lambda: NeuralNetConfiguration(drop_out=0.2).list(DenseLayer(n_in=1, n_out=1)), "DenseLayer: drop_out=0.2",
         "inputs"),
        (lambda: NeuralNetConfiguration.Builder().dropOut(0.2).list().layer(DenseLayer(n_in=1, n_out=1)).build(),
         "DenseLayer: drop_out=0.2", "inputs"),
        (lambda: Dropout(0.2), "Dropout: p=0.2", "inputs"),
        (lambda: AlphaDropout(p=0.2), "AlphaDropout: p=0.2", "inputs"),
        (lambda: SpatialDropout(0.2), "SpatialDropout: p=0.2", "channels"),
        (lambda: DropConnect(0.2), "DropConnect: p=0.2", "weights"),
    ],
)  # fmt: skip
def test_little_that_is_kept_is_warned_of_once(unwarned, make, who, what):
    with pytest.warns(UserWarning, match="it is the probability to retain") as caught:
        [make(), make()]
    kind = who.partition(":")[0] if "p=" in who else "Dropout"
    assert [str(warning.message) for warning in caught] == [
        f"{who} keeps 20 % of the {what} and drops 80 %, because it is the probability to retain, as in "
        f"Deeplearning4j. To drop 20 %, write 0.8, or {kind}(rate=0.2); {kind}(rate=0.8) is the same as now, without "
        "this warning."
    ]
    assert caught[0].filename == __file__


def test_what_is_meant_and_what_a_file_says_is_not_warned_of(unwarned):
    noises = [
        *(kind(rate=0.8) for kind in RETAINING),
        GaussianDropout(0.2),
        Dropout(0.5),
        Dropout(MapSchedule("epoch", {0: 0.2})),
    ]
    text = NeuralNetConfiguration(seed=1).list(*map(layer_with, noises)).to_json()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        conf = MultiLayerConfiguration.from_json(text)
        copy.deepcopy(pickle.loads(pickle.dumps(conf)))
        DenseLayer(drop_out=0.5), DenseLayer(drop_out=0.0)
    assert [layer.weight_noise or layer.drop_out for layer in conf.layers] == noises
    with pytest.warns(UserWarning, match="Dropout: p=0.2 keeps 20 %"):  # it was not a file that took the warning
        Dropout(0.2)
