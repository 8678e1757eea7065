"""Layers around layers over series: masks, states, noise, how they are trained, what files say of them."""

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
    GravesLSTM,
    InputType,
    LastTimeStep,
    MaskZeroLayer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
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
from tests.layers_at_work import backprop, forward
from tests.nn.layers.test_every_layer import check_derivative
from tests.step_plans import recorded

N, C, H, T = 4, 3, 5, 7
RNG = np.random.default_rng(17)
X = RNG.normal(size=(N, C, T))
GAPS = np.array([[1, 1, 1, 1, 1, 0, 0], [0, 1, 1, 0, 1, 1, 0], [1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1, 0]], float)
ENDS = np.array([[1, 1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0, 0]], float)
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
    net = network(layer, RnnLossLayer() if False else _end_of(layer), **settings)
    net.set_params(host(net.params()) + 0.1 * np.random.default_rng(5).normal(size=(1, net.num_params())))
    return net.get_layer(0)


def _end_of(layer):
    gives_rows = isinstance(layer, LastTimeStep) or isinstance(getattr(layer, "layer", None), LastTimeStep)
    return ROWS_OUT if gives_rows else SERIES_OUT


def with_params(layer, like):
    """Give a layer the parameters of another one."""
    for name, view in like.params.items():
        nd.assign(layer.params[name], view)
    return layer


# ---- masks


def last_of(activations, mask):
    return np.stack([a[:, np.flatnonzero(steps)[-1]] for a, steps in zip(activations, mask, strict=True)])


@pytest.mark.parametrize("mask", [GAPS, ENDS], ids=["gaps", "ends"])
@pytest.mark.parametrize("kind", [SimpleRnn, LSTM, GravesLSTM])
def test_the_last_step_that_counts_is_that_of_the_series_without_the_others(kind, mask, backend):
    """A mask starts the layer anew after a gap: from there to the last step that counts, nothing else is seen."""
    layer = at_work(LastTimeStep(kind(n_out=H)))
    found = host(forward(layer, nd.create(X, dtype="float64"), mask=nd.create(mask, dtype="float64"))[0])
    for n, steps in enumerate(mask):
        last = np.flatnonzero(steps)[-1]
        gaps = np.flatnonzero(steps[:last] == 0)
        start = gaps[-1] + 1 if len(gaps) else 0
        alone = layer.layer.propagate(
            nd.create(X[n : n + 1, :, start : last + 1], dtype="float64"),
            layer.initial_state(1), layer.params, context(),
        )[0]  # fmt: skip
        np.testing.assert_allclose(found[n], host(alone)[0, :, -1], **CLOSE)
    assert layer.feed_forward_mask(nd.create(mask)) is None


def context(mask=None):
    from nn.layers.runtime import Context

    return Context(False, nd.fresh_buffers("float64"), mask)


@pytest.mark.parametrize(
    "inside",
    [SimpleRnn(n_out=H), LSTM(n_out=H), GravesLSTM(n_out=H), Bidirectional(LSTM(n_out=H)), Bidirectional(SimpleRnn(n_out=H), "mul")],
    ids=["simple", "lstm", "graves", "both-lstm", "both-simple"],
)  # fmt: skip
@pytest.mark.parametrize("wrap", [LastTimeStep, lambda layer: layer, lambda layer: LastTimeStep(MaskZeroLayer(layer))])
def test_gradients_with_masks_are_those_of_the_score(inside, wrap):
    """Java's notes doubt its gradient of the last step of both directions; ours is that of differences, and Java's."""
    layer = wrap(inside)
    net = network(layer, _end_of(layer), bias_init=0.1)
    x = np.where(GAPS[:, None] > 0, X, 0.0)
    shape = (N, 2, T) if _end_of(layer) is SERIES_OUT else (N, 2)
    y = np.moveaxis(np.eye(2)[RNG.integers(0, 2, (N, *shape[2:]))], -1, 1)

    def loss():
        net.set_input(x)
        net.set_labels(y)
        net.set_masks(GAPS, GAPS if len(shape) == 3 else None)
        net.compute_gradient_and_score()
        return net.score() * N

    loss()
    gradients = {key: nd.copy(g) for key, g in net.gradient().gradient_for_variable().items()}
    for key, view in net.param_table().items():
        check_derivative(loss, view, gradients[key], 4)


@pytest.mark.parametrize("kind", [SimpleRnn, LSTM, GravesLSTM])
def test_blank_steps_are_a_mask(kind, backend):
    blank = np.where(GAPS[:, None] > 0, X, 0.0)
    blank[2, 1:, 3] = 0.0  # not all of it
    wrapped, plain = at_work(LastTimeStep(MaskZeroLayer(kind(n_out=H)))), at_work(LastTimeStep(kind(n_out=H)))
    with_params(wrapped, plain)
    x = nd.create(blank, dtype="float64")
    expected, kept = forward(plain, x, mask=nd.create(GAPS, dtype="float64"))
    for given in (None, nd.ones(N, T, dtype="float64")):  # which it does not look at
        found, own = forward(wrapped, x, mask=given)
        np.testing.assert_allclose(host(found), host(expected), **CLOSE)
        below, theirs = (
            host(backprop(layer, nd.ones(N, H, dtype="float64"), each))
            for layer, each in ((wrapped, own), (plain, kept))
        )
        np.testing.assert_allclose(below, theirs, **CLOSE)
        expected, kept = forward(plain, x, mask=nd.create(GAPS, dtype="float64"))


def test_another_value_may_mean_blank():
    layer = at_work(MaskZeroLayer(SimpleRnn(n_out=H), 2.0))
    x = X.copy()
    x[1, :, 4] = 2.0
    found = host(forward(layer, nd.create(x, dtype="float64"))[0])
    silent = ~found.any(axis=1)
    assert [*zip(*np.nonzero(silent), strict=True)] == [(1, 4)]


def test_both_directions_of_a_simple_rnn_see_what_counts_alone():
    layer = at_work(Bidirectional(SimpleRnn(n_out=H)))
    found = host(forward(layer, nd.create(X, dtype="float64"), mask=nd.create(ENDS, dtype="float64"))[0])
    for n, length in enumerate(ENDS.sum(1).astype(int)):
        alone = host(forward(layer, nd.create(X[n : n + 1, :, :length], dtype="float64"))[0])
        np.testing.assert_allclose(found[n, :, :length], alone[0], **CLOSE)
        assert not found[n, :, length:].any()


def test_rows_of_steps_that_do_not_count_are_silent():
    layer = at_work(TimeDistributed(DenseLayer(n_out=H)))
    plain = host(forward(layer, nd.create(X, dtype="float64"))[0])
    found = host(forward(layer, nd.create(X, dtype="float64"), mask=nd.create(GAPS, dtype="float64"))[0])
    np.testing.assert_allclose(found, plain * GAPS[:, None], **CLOSE)
    np.testing.assert_array_equal(layer.feed_forward_mask(GAPS), GAPS)


# ---- states


SEGMENTS = (slice(0, 3), slice(3, 4), slice(4, T))


@pytest.mark.parametrize(
    "layer",
    [MaskZeroLayer(LSTM(n_out=H)), LastTimeStep(SimpleRnn(n_out=H)), LastTimeStep(MaskZeroLayer(GravesLSTM(n_out=H)))],
    ids=["mask-zero", "last", "last-of-mask-zero"],
)
def test_a_state_goes_on_from_segment_to_segment(layer):
    layer = at_work(layer)
    x = np.where(ENDS[:, None] > 0, X, 0.0)
    whole = host(forward(layer, nd.create(x, dtype="float64"))[0])
    state, parts = layer.initial_state(N), []
    for segment in SEGMENTS:
        a, _, state = layer.propagate(nd.create(x[:, :, segment], dtype="float64"), state, layer.params, context())
        parts.append(host(a))
    if whole.ndim == 3:
        np.testing.assert_allclose(np.concatenate(parts, 2), whole, **CLOSE)
    else:
        counted = [0 if not x[n, :, 4:].any() else 2 for n in range(N)]
        np.testing.assert_allclose(parts[2][[2]], whole[[2]], **CLOSE)
        assert counted == [0, 0, 2, 0]


def test_both_directions_carry_nothing_and_say_so():
    assert at_work(Bidirectional(LSTM(n_out=H))).initial_state(N) == ()
    both = Bidirectional(LSTM(n_out=H))
    assert all(layer.reads_ahead for layer in (both, LastTimeStep(both), MaskZeroLayer(both), FrozenLayer(both)))
    others = (LastTimeStep(LSTM(n_out=H)), TimeDistributed(DenseLayer(n_out=H)), MaskZeroLayer(LSTM(n_out=H)))
    assert not any(layer.reads_ahead for layer in others)


def test_segments_of_truncated_backprop_go_on_inside_of_what_wraps():
    nets = []
    for layer in (LSTM(n_out=H), MaskZeroLayer(LSTM(n_out=H))):
        base = NeuralNetConfiguration(seed=4, dtype="float64", activation="tanh", updater=Sgd(0.1))
        conf = base.list(
            layer, SERIES_OUT, input_type=InputType.recurrent(C), backprop_type="truncated_bptt", tbptt_fwd_length=3
        )
        nets.append(MultiLayerNetwork(conf).init())
        nets[-1].fit(X, np.moveaxis(np.eye(2)[RNG.integers(0, 1, (N, T))], -1, 1), epochs=2)
    np.testing.assert_array_equal(host(nets[0].params()), host(nets[1].params()))


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
    "wrap", [LastTimeStep, lambda layer: LastTimeStep(Bidirectional(layer)), lambda layer: LastTimeStep(MaskZeroLayer(layer))]
)  # fmt: skip
def test_what_may_not_be_recorded_or_split_may_not_inside_either(wrap, own_layers):
    own, ours = (network(wrap(kind(n_out=H)), ROWS_OUT, updater=Sgd(0.1)) for kind in (Impure, SimpleRnn))
    assert (own.shared_nodes.pure, ours.shared_nodes.pure) == (False, True)
    assert (own.shared_nodes.splits(True), ours.shared_nodes.splits(True)) == (False, True)
    y = np.eye(2)[[0, 1, 1, 0]]
    for net in (own, ours):
        net.fit(X, y, epochs=3)
    np.testing.assert_allclose(host(own.params()), host(ours.params()), **CLOSE)
    assert sum(recorded(own.gradients)) == 0


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
    """Java's too small network leaves them out; those of the layer itself hold there, too."""
    net = network(
        Bidirectional(SimpleRnn(n_out=H)), SERIES_OUT, updater=Sgd(3.0), constrain_weights=MaxNormConstraint(0.4)
    )
    y = np.moveaxis(np.eye(2)[RNG.integers(0, 2, (N, T))], -1, 1)
    net.fit(X, y)
    norms = {name: np.linalg.norm(host(view), axis=0).max() for name, view in net.get_layer(0).params.items()}
    assert all((norms[name] <= 0.4) == (name[1:] != "b") or norms[name] <= 0.4 for name in norms)
    assert all(norms[name] <= 0.4 for name in ("fW", "fRW", "bW", "bRW"))
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
    net = network(Bidirectional(SimpleRnn(n_out=H)), SERIES_OUT, dtype="float32")
    rng = nd.random.Random(4)
    sets = [
        [rng.gaussian(rows * H, "float32") for rows in (C, H)] for _ in range(4)
    ] if hasattr(rng, "gaussian") else None  # fmt: skip
    assert (Bidirectional(SimpleRnn()).drawings, LastTimeStep(Bidirectional(SimpleRnn())).drawings) == (2, 2)
    assert Bidirectional(MaskZeroLayer(Bidirectional(SimpleRnn()))).drawings == 3
    assert FrozenLayer(DenseLayer()).drawings == 1
    assert sets is None or net is not None


@pytest.mark.parametrize("wrap", [LastTimeStep, MaskZeroLayer, TimeDistributed, Bidirectional])
def test_dropout_of_what_wraps_has_no_effect_and_that_inside_has(wrap):
    inside = DenseLayer(n_out=H) if wrap is TimeDistributed else SimpleRnn(n_out=H)
    x = nd.create(X, dtype="float64")
    outer = at_work(replace(wrap(inside), drop_out=0.5))
    np.testing.assert_array_equal(host(forward(outer, x, True)[0]), host(forward(outer, x, False)[0]))
    assert outer.may_split(True)
    inner = at_work(wrap(replace(inside, drop_out=0.5)))
    assert (host(forward(inner, x, True)[0]) != host(forward(inner, x, False)[0])).any()
    assert not inner.may_split(True)
    assert inner.may_split(False)


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
    net = network(layer, _end_of(layer), l2=0.01, updater="adam", gradient_normalization="clip_l2_per_layer")
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
