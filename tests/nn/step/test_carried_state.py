"""State proved before there are recurrent layers: a layer that adds up over segments of series."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import nd
from backends.cpu import numpy_backend
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet, ListDataSetIterator
from nn import InputType, MultiLayerNetwork, NeuralNetConfiguration, RnnOutputLayer, register
from nn.layers import FeedForwardConf, LayerRuntime
from nn.terms.params import ParamSpec
from optimize import Adam, CollectScoresListener, Listener, Sgd

N, C, T, OUT, LENGTH = 6, 3, 10, 2, 4


class AddingUpRuntime(LayerRuntime):
    """a_t = w * (s + x_0 + ... + x_t), where s is the sum over the segments before."""

    pure = splits = True

    def initial_state(self, examples):
        return (nd.zeros(examples, self.conf.n_in, dtype=self.dtype),)

    def forward_from(self, x, state, params, ctx):
        total = ctx.buffer("total", x.shape)
        before = state[0]
        for t in range(x.shape[2]):
            nd.add(before, x[:, :, t], total[:, :, t])
            before = total[:, :, t]
        a = nd.multiply(total, nd.reshape(params["w"], (1, -1, 1)), ctx.buffer("a", x.shape))
        return a, total, (before,)

    def backward(self, epsilon, cache, params, grads, ctx):
        nd.assign(grads["w"], nd.channel_sums(epsilon, cache))
        below = ctx.buffer("below", epsilon.shape)
        nd.multiply(epsilon, nd.reshape(params["w"], (1, -1, 1)), below)
        for t in range(epsilon.shape[2] - 2, -1, -1):
            nd.addi(below[:, :, t], below[:, :, t + 1])
        return below


@dataclass(frozen=True, kw_only=True)
class AddingUp(FeedForwardConf):
    """The layer's configuration."""

    runtime: ClassVar = AddingUpRuntime
    takes: ClassVar = "series"

    def param_specs(self):
        return (ParamSpec("w", (1, self.n_in or 0), "c", initial=0.3),)

    def preprocessor_for(self, input_type):
        return None

    def output_type(self, label, input_type):
        return input_type


@pytest.fixture(autouse=True)
def known():
    register(AddingUp)


def network(length=LENGTH, dtype="float64", **settings):
    kind = "standard" if length is None else "truncated_bptt"
    base = NeuralNetConfiguration(seed=4, dtype=dtype, **{"updater": Sgd(0.01), **settings})
    conf = base.list(
        AddingUp(n_out=C), RnnOutputLayer(n_out=OUT, loss="mse", activation="identity"),
        input_type=InputType.recurrent(C), backprop_type=kind, tbptt_fwd_length=length or T,
    )  # fmt: skip
    return MultiLayerNetwork(conf).init()


def batches(count=3, seed=0):
    rng = np.random.default_rng(seed)
    return [DataSet(rng.normal(size=(N, C, T)), rng.normal(size=(N, OUT, T))) for _ in range(count)]


DATA_OF_LISTENERS = np.full((N, C, LENGTH), 0.3), np.full((N, OUT, LENGTH), 0.1)


def by_hand(params, data, rate, length):
    """Return score of every segment and the parameters after them, in float64 and without any of this."""
    w, W, b = (
        params[0, :C].copy(),
        params[0, C : C + C * OUT].reshape(C, OUT, order="F").copy(),
        params[0, -OUT:].copy(),
    )
    scores, s = [], np.zeros((N, C))
    for start in range(0, T, length):
        x, y = data.features[:, :, start : start + length], data.labels[:, :, start : start + length]
        total = s[:, :, None] + np.cumsum(x, axis=2)
        a = total * w[None, :, None]
        away = np.einsum("nct,co->not", a, W) + b[None, :, None] - y
        scores.append((away**2).sum() / OUT / N)
        delta = 2.0 * away / OUT
        da = np.einsum("not,co->nct", delta, W)
        gradients = (da * total).sum((0, 2)), np.einsum("nct,not->co", a, delta), delta.sum((0, 2))
        s = total[:, :, -1]
        w, W, b = (p - rate * g / N for p, g in zip((w, W, b), gradients, strict=True))
    return scores, np.concatenate([w, W.ravel(order="F"), b])


@pytest.mark.parametrize("eager", [False, True], ids=["recorded", "eager"])
def test_segments_are_steps_that_carry_the_state(eager):
    net, scores = network(), CollectScoresListener()
    (data,) = batches(1)
    net.set_listeners(scores)
    expected, params = by_hand(nd.to_host(net.params()), data, 0.01, LENGTH)
    if eager:
        with nd.eager():
            net.fit_batch(data)
    else:
        net.fit_batch(data)
    np.testing.assert_allclose(scores.scores, expected, rtol=1e-12)
    np.testing.assert_allclose(nd.to_host(net.params())[0], params, rtol=1e-12)
    assert (net.iteration_count, net.engine.state) == (3, ())


def test_the_record_repeats_the_steps_to_the_bit():
    recorded, plain = network(dtype="float32"), network(dtype="float32")
    for data in batches() * 3:
        recorded.fit_batch(data)
        with nd.eager():
            plain.fit_batch(data)
    np.testing.assert_array_equal(recorded.params(), plain.params())
    assert (
        len(recorded.engine.gradients.workers[0].recordings) == 3
    )  # first segments of 4 steps, later ones, and those of 2
    assert len(plain.engine.gradients.workers[0].recordings) == 0


def test_a_segment_as_long_as_the_series_is_the_whole_to_the_bit():
    whole, one = network(None), network(T)
    for data in batches():
        whole.fit_batch(data)
        one.fit_batch(data)
    np.testing.assert_array_equal(whole.params(), one.params())


def test_parts_of_a_minibatch_carry_their_rows(monkeypatch):
    for name, value in (
        ("LEAST_MULTIPLICATIONS", 0), ("MULTIPLICATIONS_PER_PARAMETER", 0), ("LEAST_EXAMPLES", 2), ("DENSE", 0),
        ("TILE_BYTES", 1), ("VECTOR", 1),
    ):  # fmt: skip
        monkeypatch.setattr(numpy_backend, name, value)
    nets = []
    for threads in (1, 2, 3):
        with nd.use_backend(NumpyBackend(threads=threads)):
            nets.append(network())
            nets[-1].fit(ListDataSetIterator(batches()), epochs=2)
    assert [len(net.engine.gradients.workers) for net in nets] == [1, 2, 3]
    for net in nets[1:]:
        np.testing.assert_allclose(net.params(), nets[0].params(), rtol=1e-12)


class SeesState(Listener):
    """Notes the state that is committed while listeners hear of a step."""

    def __init__(self):
        self.committed, self.after = [], []

    def iteration_done(self, model, iteration, epoch):
        self.committed.append([nd.to_host(each).copy() for each in model.engine.state])
        self.after.append([nd.to_host(each).copy() for each in model.engine.last.state])


@pytest.mark.parametrize("algorithm", ["stochastic_gradient_descent", "lbfgs", "conjugate_gradient"])
def test_evaluating_never_commits(algorithm):
    """A search evaluates many times from the state where the segment begins, which it leaves alone."""
    net, sees = network(optimization_algo=algorithm, updater="sgd", iterations=2), SeesState()
    (data,) = batches(1)
    net.set_listeners(sees)
    net.fit_batch(data)
    assert len(sees.committed) == 6
    sums = np.cumsum(data.features, axis=2)
    for step in range(6):
        segment = step // 2
        if segment:
            np.testing.assert_allclose(sees.committed[step][0], sums[:, :, segment * LENGTH - 1], rtol=1e-12)
        np.testing.assert_allclose(sees.after[step][0], sums[:, :, min((segment + 1) * LENGTH, T) - 1], rtol=1e-12)


class Computes(Listener):
    """Lets the network compute something else after every step."""

    def __init__(self, compute):
        self.compute = compute

    def iteration_done(self, model, iteration, epoch):
        self.compute(model)


@pytest.mark.parametrize("algorithm", ["stochastic_gradient_descent", "lbfgs"])
@pytest.mark.parametrize(
    "compute",
    [
        lambda model: model.compute_gradient_and_score(),
        lambda model: model.calculate_gradients(*DATA_OF_LISTENERS),
        lambda model: model.score(DataSet(*DATA_OF_LISTENERS)),
        lambda model: model.output(DATA_OF_LISTENERS[0]),
        lambda model: model.rnn_time_step(DATA_OF_LISTENERS[0]),
    ],
    ids=["gradient", "gradients of other data", "score", "output", "step"],
)
@pytest.mark.quick_rows(every=3)
def test_what_listeners_compute_is_carried_nowhere(compute, algorithm):
    settings = {"optimization_algo": algorithm, "updater": "sgd"}
    net, twin = network(**settings), network(**settings)
    net.set_listeners(Computes(compute))
    history, expected = (each.fit(ListDataSetIterator(batches(2)), epochs=2) for each in (net, twin))
    np.testing.assert_array_equal(net.params(), twin.params())
    assert history.score == expected.score


class SavesAt(Listener):
    """Writes a checkpoint after one iteration."""

    def __init__(self, iteration, path):
        self.iteration, self.path = iteration, path

    def iteration_done(self, model, iteration, epoch):
        if iteration == self.iteration:
            model.save_checkpoint(self.path)


@pytest.mark.parametrize("settings", [{"updater": Adam(0.01)}, {"updater": "sgd", "optimization_algo": "lbfgs"}])
@pytest.mark.parametrize("iterations", [1, 2])
@pytest.mark.parametrize(
    "saved_at", [pytest.param(n, marks=[pytest.mark.slow] * (n not in (0, 4, 11))) for n in range(12)]
)
@pytest.mark.quick_rows(every=4)
def test_a_checkpoint_in_the_middle_of_a_series_goes_on_to_the_bit(saved_at, iterations, settings, tmp_path):
    net, path = network(dtype="float32", iterations=iterations, **settings), tmp_path / "middle.zip"
    net.set_listeners(SavesAt(saved_at, path))
    net.fit(ListDataSetIterator(batches(2)), epochs=2)
    again = MultiLayerNetwork.load_checkpoint(path)
    assert again.iteration_count == saved_at + 1
    again.fit(ListDataSetIterator(batches(2)), epochs=2)
    assert again.iteration_count == net.iteration_count == 12 * iterations
    np.testing.assert_array_equal(again.params(), net.params())


def test_a_segment_that_fails_gives_everything_back():
    net, twin = network(updater=Adam(0.01)), network(updater=Adam(0.01))
    (data,) = batches(1)
    spoilt = data.features.copy()
    spoilt[0, 0, LENGTH + 1] = np.nan
    with pytest.raises(nd.NumericError, match="at iteration 1"):
        net.fit(DataSet(spoilt, data.labels))
    twin.fit(DataSet(data.features[:, :, :LENGTH], data.labels[:, :, :LENGTH]))
    assert net.iteration_count == twin.iteration_count == 1
    np.testing.assert_array_equal(net.params(), twin.params())
    np.testing.assert_array_equal(net.updater_state(), twin.updater_state())
    net.fit(data)
    twin.fit(data)
    np.testing.assert_array_equal(net.params(), twin.params())


def test_series_that_cannot_be_cut_are_refused():
    net = network()
    shorter = DataSet(np.zeros((N, C, T)), np.zeros((N, OUT, T - 1)))
    with pytest.raises(nd.ShapeError, match=r"truncated backprop needs features \[N, C, T\] and labels"):
        net.fit_batch(shorter)


def test_predictions_begin_anew():
    net, data = network(), batches(1)[0]
    first = nd.to_host(net.output(data.features)).copy()
    net.fit_batch(DataSet(data.features, data.labels))
    net.set_params(network().params())
    np.testing.assert_array_equal(net.output(data.features), first)
    a = net.get_layer(0).activate(data.features)
    np.testing.assert_allclose(a, 0.3 * np.cumsum(data.features, axis=2), rtol=1e-12)
