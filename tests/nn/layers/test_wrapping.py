"""Layers around layers over series: own layers inside, noise, how they are trained, what files say of them."""

import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import nd
from nn import (
    LSTM,
    Bidirectional,
    Convolution1DLayer,
    DenseLayer,
    FrozenLayer,
    GlobalPoolingLayer,
    InputType,
    LastTimeStep,
    MaskZeroLayer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
    RnnLossLayer,
    RnnOutputLayer,
    SimpleRnn,
    TimeDistributed,
    register,
    unregister,
)
from nn.layers import FeedForwardConf, LayerRuntime
from nn.layers.recurrent.simple_rnn import SimpleRnnRuntime
from nn.transferlearning import TransferLearningHelper
from optimize import MaxNormConstraint, Sgd
from tests.layers_at_work import forward
from tests.step_plans import recorded

N, C, H, T = 4, 3, 5, 7
RNG = np.random.default_rng(17)
X = RNG.normal(size=(N, C, T))
ROWS_OUT = OutputLayer(n_out=2, activation="softmax")
SERIES_OUT = RnnOutputLayer(n_out=2, activation="softmax")
CLOSE = {"rtol": 1e-10, "atol": 1e-12}


def host(x):
    return nd.to_host(nd.copy(x))


def network(*layers, kind=None, **settings):
    base = NeuralNetConfiguration(**{"seed": 4, "dtype": "float64", "activation": "tanh", **settings})
    return MultiLayerNetwork(base.list(*layers, input_type=kind or InputType.recurrent(C))).init()


def at_work(layer, **settings):
    """Return a layer in a network of its own, with biases that are not all zeros."""
    net = network(layer, end_of(layer), **settings)
    net.set_params(host(net.params()) + 0.1 * np.random.default_rng(5).normal(size=(1, net.num_params())))
    return net.get_layer(0)


def end_of(layer):
    gives_rows = isinstance(layer, LastTimeStep) or isinstance(getattr(layer, "layer", None), LastTimeStep)
    return ROWS_OUT if gives_rows else SERIES_OUT


# ---- layers of a user's own inside


class ImpureRuntime(SimpleRnnRuntime):
    """Says nothing, so it is not recorded and not split."""


@dataclass(frozen=True, kw_only=True)
class Impure(SimpleRnn):
    """Its configuration."""

    runtime: ClassVar = ImpureRuntime


class RunningRuntime(LayerRuntime):
    """Rows with a state."""

    pure = splits = True

    def initial_state(self, examples):
        return (nd.zeros(examples, 1, dtype=self.dtype),)

    def forward_from(self, x, state, params, ctx):
        return x, None, state

    def backward(self, epsilon, cache, params, grads, ctx):
        return epsilon


@dataclass(frozen=True, kw_only=True)
class Running(FeedForwardConf):
    """Its configuration."""

    runtime: ClassVar = RunningRuntime


@pytest.fixture
def own_layers():
    register(Impure)
    yield
    unregister(Impure)


@pytest.mark.parametrize(
    "wrap",
    [LastTimeStep, lambda layer: LastTimeStep(Bidirectional(layer)), lambda layer: LastTimeStep(MaskZeroLayer(layer))],
    ids=["last", "both", "mask-zero"],
)
def test_what_may_not_be_recorded_or_split_may_not_inside_either(wrap, own_layers):
    own, ours = (network(wrap(kind(n_out=H)), ROWS_OUT, updater=Sgd(0.1)) for kind in (Impure, SimpleRnn))
    assert (own.engine.shared_nodes.pure, ours.engine.shared_nodes.pure) == (False, True)
    assert (own.engine.shared_nodes.splits(True), ours.engine.shared_nodes.splits(True)) == (False, True)
    y = np.eye(2)[[0, 1, 1, 0]]
    for net in (own, ours):
        net.fit(X, y, epochs=3)
    np.testing.assert_allclose(host(own.params()), host(ours.params()), **CLOSE)
    assert sum(recorded(own.engine.gradients)) == 0


def test_rows_with_a_state_are_refused_at_every_step():
    with pytest.raises(nd.ConfigurationError, match=r"TimeDistributed\): the layer inside must be one without a state"):
        network(TimeDistributed(Running(n_out=C)), SERIES_OUT)


# ---- how they are trained


SETTINGS = {
    "l1": 0.01, "l2_bias": 0.02, "gradient_normalization": "clip_l2_per_layer",
    "gradient_normalization_threshold": 0.05, "updater": Sgd(0.3),
}  # fmt: skip


@pytest.mark.parametrize("wrap", [LastTimeStep, MaskZeroLayer], ids=["last", "mask-zero"])
def test_what_wraps_one_layer_is_trained_as_that(wrap):
    """A pooling of one step, or of all, beside it."""
    settings = {**SETTINGS, "constrain_weights": MaxNormConstraint(0.4), "bias_updater": Sgd(0.01)}
    x, y = X[:, :, :1], np.eye(2)[[0, 1, 1, 0]]
    behind = () if wrap is LastTimeStep else (GlobalPoolingLayer("sum"),)
    wrapped = network(wrap(SimpleRnn(n_out=H)), *behind, ROWS_OUT, **settings)
    plain = network(SimpleRnn(n_out=H), GlobalPoolingLayer("sum"), ROWS_OUT, **settings)
    for net in (wrapped, plain):
        net.fit(x, y, epochs=4)
    np.testing.assert_allclose(host(wrapped.params()), host(plain.params()), **CLOSE)
    np.testing.assert_allclose(wrapped.score(), plain.score(), **CLOSE)


def test_constraints_of_the_network_hold_in_both_directions():
    """In Java only those of the layer itself do."""
    net = network(
        Bidirectional(SimpleRnn(n_out=H)),
        SERIES_OUT,
        updater=Sgd(3.0),
        constrain_weights=MaxNormConstraint(0.4, dimensions=0),
    )
    y = np.moveaxis(np.eye(2)[RNG.integers(0, 2, (N, T))], -1, 1)
    net.fit(X, y)
    norms = {name: np.linalg.norm(host(view), axis=0).max() for name, view in net.get_layer(0).params.items()}
    assert all(norms[name] <= 0.4 for name in ("fW", "fRW", "bW", "bRW"))
    assert norms["fb"] > 0.4
    assert [constraint.params for constraint in net.conf.layers[0].constraints] == [("fW", "fRW", "bW", "bRW")]


def test_both_directions_are_normalised_as_one_layer():
    net = network(Bidirectional(SimpleRnn(n_out=H)), SERIES_OUT, **{**SETTINGS, "l1": None, "l2_bias": None})
    y = np.moveaxis(np.eye(2)[RNG.integers(0, 2, (N, T))], -1, 1)
    before = host(net.params()).copy()
    net.fit(X, y)
    of_both = sum(view.size for view in net.get_layer(0).params.values())
    moved = (before - host(net.params()))[0, :of_both]
    np.testing.assert_allclose(np.linalg.norm(moved), 0.3 * 0.05, rtol=1e-9)


def test_weights_are_drawn_twice_and_what_is_behind_them_later():
    """Both directions, W and RW of each, and once more; what the second time gives stays."""
    net, rng = network(Bidirectional(SimpleRnn(n_out=H)), SERIES_OUT, weight_init="xavier"), nd.random.Random(4)
    layout = net.conf.layout()
    weights = [view for view in layout.views if not view.spec.bias]
    for drawn in (weights[:4], weights):
        for view in drawn:
            deviation = np.sqrt(2.0 / (view.spec.fan_in + view.spec.fan_out))
            expected = NormalDistribution(0.0, deviation).draw(rng, view.spec.shape, "float64")
    np.testing.assert_array_equal(host(view.flat(net.params())), host(expected).ravel())
    assert [view.key for view in weights] == ["0_fW", "0_fRW", "0_bW", "0_bRW", "1_W"]
    assert (Bidirectional(SimpleRnn()).drawings, LastTimeStep(Bidirectional(SimpleRnn())).drawings) == (2, 2)
    assert Bidirectional(MaskZeroLayer(Bidirectional(SimpleRnn()))).drawings == 3
    assert FrozenLayer(DenseLayer()).drawings == 1


@pytest.mark.parametrize("wrap", [LastTimeStep, MaskZeroLayer, TimeDistributed, Bidirectional])
def test_dropout_of_what_wraps_has_no_effect_and_that_inside_has(wrap):
    inside = DenseLayer(n_out=H) if wrap is TimeDistributed else SimpleRnn(n_out=H)
    x = nd.create(X, dtype="float64")
    outer = at_work(replace(wrap(inside), drop_out=0.5))
    np.testing.assert_array_equal(host(forward(outer, x, True)[0]), host(forward(outer, x, False)[0]))
    assert not outer.has_noise
    inner = at_work(wrap(replace(inside, drop_out=0.5)))
    assert (host(forward(inner, x, True)[0]) != host(forward(inner, x, False)[0])).any()
    assert inner.has_noise


# ---- what is refused


def test_messages():
    with pytest.raises(nd.ConfigurationError, match=r"LastTimeStep: layer must be a layer configuration, got None"):
        LastTimeStep()
    with pytest.raises(nd.ConfigurationError, match=r"a layer with a loss cannot be inside of another one, got Rnn"):
        MaskZeroLayer(RnnOutputLayer(n_out=2))
    with pytest.raises(nd.ChoiceError, match=r"Bidirectional: (?s:.*)'sum'"):
        Bidirectional(LSTM(n_out=2), "sum")
    with pytest.raises(nd.ConfigurationError, match=r"bwd must be as layer"):
        Bidirectional(LSTM(n_out=2), bwd=LSTM(n_out=3))
    with pytest.raises(nd.ConfigurationError, match=r"the layer inside must give time series, got GlobalPoolingLayer"):
        network(LastTimeStep(GlobalPoolingLayer("max")), ROWS_OUT)
    with pytest.raises(nd.ConfigurationError, match=r"expected time series, got feed_forward\(3\)"):
        TimeDistributed(DenseLayer(n_out=2)).output_type("layer 0", InputType.feed_forward(3))
    images = GlobalPoolingLayer("max")
    with pytest.raises(nd.ConfigurationError, match=r"expected time series, images or volumes, got feed_forward"):
        network(TimeDistributed(images), SERIES_OUT)
    layer = at_work(LastTimeStep(SimpleRnn(n_out=H)))
    for wrapped in (layer, at_work(MaskZeroLayer(SimpleRnn(n_out=H))), at_work(Bidirectional(SimpleRnn(n_out=H)))):
        with pytest.raises(nd.ShapeError, match=r"layer 0 \(.*\): expected .*got \[4, 3\]"):
            wrapped.activate(X[:, :, 0])


# ---- files


JAVA_LAYERS = "org.deeplearning4j.nn.conf.layers."


def written(layer):
    net = network(layer, end_of(layer), l2=0.01, updater="adam", gradient_normalization="clip_l2_per_layer")
    return json.loads(net.conf.to_json())["confs"][0]


def test_both_directions_are_complete_layers_in_files():
    conf = written(Bidirectional(LSTM(n_out=H), "add"))
    fields = conf["layer"]
    assert (fields["@class"], fields["mode"]) == (JAVA_LAYERS + "recurrent.Bidirectional", "ADD")
    assert fields["fwd"] == fields["bwd"]
    assert fields["fwd"]["@class"] == JAVA_LAYERS + "LSTM"
    assert (fields["nin"], fields["nout"], fields["rnndataFormat"]) == (C, H, "NCW")
    assert (fields["gradientNormalization"], fields["layerName"]) == ("ClipL2PerLayer", "layer0")
    assert conf["variables"] == ["fW", "fRW", "fb", "bW", "bRW", "bb"]


@pytest.mark.parametrize(
    ("layer", "java", "more"),
    [
        (LastTimeStep(LSTM(n_out=H)), "recurrent.LastTimeStep", {}),
        (MaskZeroLayer(LSTM(n_out=H), 1.5), "util.MaskZeroLayer", {"maskingValue": 1.5}),
        (TimeDistributed(DenseLayer(n_out=H)), "recurrent.TimeDistributed", {"rnnDataFormat": "NCW"}),
    ],
)
def test_what_is_inside_is_the_underlying_layer_in_files(layer, java, more):
    fields = written(layer)["layer"]
    assert fields["@class"] == JAVA_LAYERS + java
    assert fields["underlying"]["@class"] == JAVA_LAYERS + type(layer.layer).__name__
    assert {key: fields[key] for key in more} == more
    assert fields["idropout"] is fields["constraints"] is None


def test_files_whose_directions_differ_are_refused():
    document = json.loads(network(Bidirectional(SimpleRnn(n_out=H)), SERIES_OUT).conf.to_json())
    document["confs"][0]["layer"]["bwd"]["nout"] = H + 1
    with pytest.raises(nd.NdError, match=r"bwd must be as layer"):
        MultiLayerConfiguration.from_json(json.dumps(document))


# ---- sizes and formats


def test_sizes_without_an_input_type():
    base = NeuralNetConfiguration(seed=1, activation="tanh")
    conf = base.list(
        Bidirectional(SimpleRnn(n_in=C, n_out=H)),
        TimeDistributed(DenseLayer(n_out=4)),
        LastTimeStep(Bidirectional(LSTM(n_out=2), "mul")),
        ROWS_OUT,
    )
    assert [(layer.n_in, layer.n_out) for layer in conf.layers] == [(C, 2 * H), (2 * H, 4), (4, 2), (2, 2)]
    net = MultiLayerNetwork(conf).init()
    assert net.layer_size(0) == 2 * H
    assert net.output(X).shape == (N, 2)
    assert "Bidirectional" in net.summary()


def test_labels_behind_both_directions_have_the_columns_of_both():
    net = network(Bidirectional(SimpleRnn(n_out=2)), RnnLossLayer(loss="mse", activation="identity"))
    net.fit(X, np.zeros((N, 4, T)))
    assert np.isfinite(net.score())


@pytest.mark.parametrize(
    "layer",
    [
        LastTimeStep(Convolution1DLayer(n_out=2, kernel_size=2, data_format="NWC")),
        LastTimeStep(TimeDistributed(DenseLayer(n_out=2), "NWC")),
        LastTimeStep(Bidirectional(LSTM(n_out=2, data_format="NWC"), "add")),
        LastTimeStep(MaskZeroLayer(SimpleRnn(n_out=2))),
    ],
)
def test_series_with_the_channels_last(layer):
    kinds = {"NCW": InputType.recurrent(C, T), "NWC": InputType.recurrent(C, T, "NWC")}
    plain = json.loads(network(layer, ROWS_OUT, kind=kinds["NWC"]).conf.to_json().replace("NWC", "NCW"))
    last = network(layer, ROWS_OUT, kind=kinds["NWC"])
    first = MultiLayerNetwork(MultiLayerConfiguration.from_json(json.dumps(plain))).init()
    first.set_params(last.params())
    np.testing.assert_allclose(host(last.output(np.moveaxis(X, 1, 2))), host(first.output(X)), **CLOSE)


# ---- frozen


def test_what_wraps_can_be_frozen_and_featurized():
    net = network(
        FrozenLayer(LastTimeStep(Bidirectional(LSTM(n_out=H)))), DenseLayer(n_out=4), ROWS_OUT, updater=Sgd(0.1)
    )
    before = host(net.params()).copy()
    helper = TransferLearningHelper(net)
    features = helper.featurize(nd.dataset.DataSet(X, np.eye(2)[[0, 1, 1, 0]]))
    np.testing.assert_allclose(host(features.features), host(net.feed_forward(X)[1]), **CLOSE)
    net.fit(X, np.eye(2)[[0, 1, 1, 0]])
    kept = sum(view.size for view in net.get_layer(0).params.values())
    moved = host(net.params()) != before
    assert not moved[0, :kept].any()
    assert moved[0, kept:].any()
