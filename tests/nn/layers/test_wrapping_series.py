"""Layers around layers over series: masks, and states from segment to segment."""

import numpy as np
import pytest

import nd
from nn import (
    LSTM,
    Bidirectional,
    DenseLayer,
    FrozenLayer,
    GravesLSTM,
    InputType,
    LastTimeStep,
    MaskZeroLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    SimpleRnn,
    TimeDistributed,
)
from nn.layers.runtime import Context
from optimize import Sgd
from tests.layers_at_work import backprop, forward
from tests.nn.layers.test_every_layer import check_derivative
from tests.nn.layers.test_wrapping import (
    CLOSE,
    RNG,
    SERIES_OUT,
    C,
    H,
    N,
    T,
    X,
    at_work,
    end_of,
    host,
    network,
)

GAPS = np.array([[1, 1, 1, 1, 1, 0, 0], [0, 1, 1, 0, 1, 1, 0], [1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1, 0]], float)
ENDS = np.array([[1, 1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0, 0]], float)


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


def context():
    return Context(False, nd.fresh_buffers("float64"))


@pytest.mark.parametrize(
    "inside",
    [
        SimpleRnn(n_out=H),
        LSTM(n_out=H),
        GravesLSTM(n_out=H),
        Bidirectional(LSTM(n_out=H)),
        Bidirectional(SimpleRnn(n_out=H), "mul"),
    ],
    ids=["simple", "lstm", "graves", "both-lstm", "both-simple"],
)
@pytest.mark.parametrize(
    "wrap",
    [LastTimeStep, lambda layer: layer, lambda layer: LastTimeStep(MaskZeroLayer(layer))],
    ids=["last", "alone", "mask-zero"],
)
@pytest.mark.quick_rows(every=3)
def test_gradients_with_masks_are_those_of_the_score(inside, wrap):
    """Of an LSTM in LastTimeStep, or of both directions of it, Java's are not."""
    layer = wrap(inside)
    net = network(layer, end_of(layer), bias_init=0.1)
    x = np.where(GAPS[:, None] > 0, X, 0.0)
    shape = (N, 2, T) if end_of(layer) is SERIES_OUT else (N, 2)
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
@pytest.mark.quick_rows(1)
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
        np.testing.assert_allclose(parts[2][2], whole[2], **CLOSE)  # the only one that goes on till the end


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
