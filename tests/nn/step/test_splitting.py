"""Minibatches in parts, side by side and recorded: the numbers are those of the whole, computed layer by layer."""

import sys
import threading
from contextlib import nullcontext

import numpy as np
import pytest

import nd
from backends.cpu import numpy_backend
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet, ListDataSetIterator
from nd.execution.recording import MOST_KEYS
from nn import (
    LSTM,
    Convolution1DLayer,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SubsamplingLayer,
)
from optimize import Adam, L1Regularization, Listener, Nesterovs, Sgd
from tests.stand_ins import make_backend
from tests.step_plans import recorded, workers_of

RNG = np.random.default_rng(5)
LANES = (1, 2, 3)


@pytest.fixture
def eager_to_split(monkeypatch):
    """Every minibatch of two examples is worth splitting, and four are a full stretch."""
    monkeypatch.setattr(numpy_backend, "LEAST_MULTIPLICATIONS", 0)
    monkeypatch.setattr(numpy_backend, "MULTIPLICATIONS_PER_PARAMETER", 0)
    monkeypatch.setattr(numpy_backend, "LEAST_EXAMPLES", 2)
    monkeypatch.setattr(numpy_backend, "DENSE", 0)
    monkeypatch.setattr(numpy_backend, "TILE_BYTES", 1)
    monkeypatch.setattr(numpy_backend, "VECTOR", 1)


def conf(updater=None, dtype="float64", **settings):
    layers = (
        ConvolutionLayer(n_out=4, kernel_size=3, activation=settings.pop("activation", "relu")),
        SubsamplingLayer("max", kernel_size=2, stride=2),
        DenseLayer(n_out=7, activation="tanh"),
        OutputLayer(n_out=3, loss=settings.pop("loss", "mcxent"), activation="softmax"),
    )
    settings = {"l2": 0.01, "l1": 0.003, **settings}
    return NeuralNetConfiguration(
        seed=3, dtype=dtype, updater=updater or Nesterovs(learning_rate=0.05), **settings
    ).list(*layers, input_type=InputType.convolutional(8, 8, 2))


def batch(n, masks=False):
    x, y = RNG.normal(size=(n, 2, 8, 8)), np.eye(3)[RNG.integers(0, 3, n)]
    mask = (RNG.random((n, 1)) < 0.7).astype(float) if masks else None
    return DataSet(x, y, None, mask)


def strictly(configuration, batches):
    """Return score and gradient of each batch, and the parameters after training on all, without any of this."""
    with nd.use_backend(make_backend("strict")):
        return trained(MultiLayerNetwork(configuration).init(), batches)


def trained(net, batches):
    found = []
    for data in batches:
        net.set_input(data.features)
        net.set_labels(data.labels)
        net.set_masks(data.features_mask, data.labels_mask)
        net.compute_gradient_and_score()
        found.append((net.score(), np.array(nd.to_host(net.flattened_gradients()))))
        net.fit_batch(data)
    return found, np.array(nd.to_host(net.params()))


def assert_same(found, expected):
    for (score, gradient), (expected_score, expected_gradient) in zip(found[0], expected[0], strict=True):
        assert score == pytest.approx(expected_score, rel=1e-11)
        np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("masks", [False, True], ids=["all labels", "masked labels"])
@pytest.mark.parametrize("workers", LANES)
@pytest.mark.quick_rows(3)
def test_parts_give_what_the_whole_gives(workers, masks, eager_to_split):
    batches = [batch(n, masks) for n in (12, 12, 5, 12, 1, 17)]
    with nd.use_backend(NumpyBackend(threads=workers)):
        net = MultiLayerNetwork(conf()).init()
        found = trained(net, batches)
    plan = workers_of(net, (12, 2, 8, 8))
    assert len(plan) == workers
    assert [s.stop - s.start for worker in plan for s in worker] == [2] * 6
    assert_same(found, strictly(conf(), batches))


@pytest.mark.parametrize("updater", [Adam(0.01), Sgd(0.1)])
@pytest.mark.parametrize("mini_batch", [True, False])
def test_other_updaters_and_sums_instead_of_means(updater, mini_batch, eager_to_split):
    batches = [batch(n) for n in (6, 9, 6)]
    settings = {"updater": updater, "mini_batch": mini_batch}
    with nd.use_backend(NumpyBackend(threads=2)):
        found = trained(MultiLayerNetwork(conf(**settings)).init(), batches)
    assert_same(found, strictly(conf(**settings), batches))


def test_two_runs_agree_to_the_bit(eager_to_split):
    batches = [batch(n) for n in (12, 12, 5, 17)]
    runs = []
    with nd.use_backend(NumpyBackend(threads=2)):
        for _ in range(2):
            net = MultiLayerNetwork(conf(dtype="float32")).init()
            net.fit(ListDataSetIterator(batches), epochs=3)
            runs.append((net.score(), np.array(net.params())))
    assert runs[0][0] == runs[1][0]
    np.testing.assert_array_equal(runs[0][1], runs[1][1])


def test_steps_are_recorded_and_follow_new_parameters_and_data(eager_to_split):
    with nd.use_backend(NumpyBackend(threads=2)):
        net, twin = (MultiLayerNetwork(conf()).init() for _ in range(2))
        net.fit_batch(batch(8))
        programs = recorded(net.engine.gradients)
        assert programs == [1, 1]
        fresh = RNG.normal(size=net.num_params())
        data = batch(8)
        for each in (net, twin):
            each.set_params(fresh)
            each.set_updater_state(np.zeros(net.updater_state().shape))
            each.iteration_count = 0
            each.fit_batch(data)
        assert recorded(net.engine.gradients) == [1, 1]
    np.testing.assert_array_equal(net.params(), twin.params())


@pytest.mark.slow
def test_only_so_many_shapes_are_remembered():
    with nd.use_backend(NumpyBackend(threads=1)):
        net = MultiLayerNetwork(conf()).init()
        for n in range(1, 3 * MOST_KEYS):
            net.fit_batch(batch(n))
            net.output(batch(n).features)
        assert recorded(net.engine.gradients) == [MOST_KEYS]
        assert recorded(net.engine.outputs) == [MOST_KEYS]


@pytest.mark.parametrize("workers", LANES)
def test_predictions_in_parts(workers, eager_to_split):
    x = batch(11).features
    with nd.use_backend(make_backend("strict")):
        expected = nd.to_host(MultiLayerNetwork(conf()).init().output(x))
    with nd.use_backend(NumpyBackend(threads=workers)):
        net = MultiLayerNetwork(conf()).init()
        first = net.output(x)
        again = net.output(x)
        assert not np.shares_memory(first, again)
        np.testing.assert_allclose(first, expected, rtol=1e-9)
        np.testing.assert_array_equal(first, again)
        np.testing.assert_allclose(net.output(x[:3]), expected[:3], rtol=1e-9)


@pytest.mark.parametrize(
    ("layer", "settings"),
    [(DenseLayer(n_out=4), {"drop_out": 0.5}), (DenseLayer(n_out=4, activation="rrelu"), {})],
    ids=["dropout", "rrelu"],
)
def test_random_draws_stay_in_one_piece_and_are_repeated_from_the_record(layer, settings, eager_to_split):
    output = OutputLayer(n_out=3, loss="mcxent", activation="softmax")
    configuration = NeuralNetConfiguration(seed=3, updater=Sgd(0.1), **settings).list(
        layer, output, input_type=InputType.feed_forward(6)
    )
    data = DataSet(RNG.normal(size=(8, 6)), np.eye(3)[RNG.integers(0, 3, 8)])
    params, counts = [], []
    for backend, block in (
        (NumpyBackend(threads=2), nullcontext()),
        (NumpyBackend(threads=2), nd.eager()),
        (make_backend("strict"), nullcontext()),
    ):
        with nd.use_backend(backend), block:
            net = MultiLayerNetwork(configuration).init()
            nd.random.set_seed(9)
            for _ in range(3):
                net.fit_batch(data)
            params.append(np.array(nd.to_host(net.params())))
            assert len(workers_of(net, (8, 6))) == 1
            counts.append(recorded(net.engine.gradients))
    assert counts == [[1], [0], [0]]
    np.testing.assert_array_equal(params[0], params[1])
    np.testing.assert_allclose(params[0], params[2], rtol=2e-5, atol=2e-6)


def test_a_loss_over_the_whole_minibatch_is_not_split(eager_to_split):
    with nd.use_backend(NumpyBackend(threads=2)):
        net = MultiLayerNetwork(_fmeasure()).init()
        assert workers_of(net, (8, 6)) == [[slice(0, 8)]]


def _fmeasure():
    return NeuralNetConfiguration(seed=3).list(
        OutputLayer(n_in=6, n_out=1, loss="fmeasure", activation="sigmoid"),
    )


class Watching(Listener):
    """Notes what the hooks can see."""

    def __init__(self):
        self.shapes, self.gradients = [], []

    def on_gradient_calculation(self, model):
        self.gradients.append(np.array(model.flattened_gradients()))


class WatchingActivations(Watching):
    def on_forward_pass(self, model, activations):
        self.shapes.append([tuple(each.shape) for each in activations])


@pytest.mark.parametrize("watching", [Watching, WatchingActivations])
def test_listeners_see_the_whole_gradient_and_all_activations(watching, eager_to_split):
    data = batch(8)
    with nd.use_backend(NumpyBackend(threads=2)):
        net, alone = MultiLayerNetwork(conf()).init(), MultiLayerNetwork(conf()).init()
        listener = watching()
        net.set_listeners(listener)
        net.fit_batch(data)
        alone.set_input(data.features)
        alone.set_labels(data.labels)
        alone.compute_gradient_and_score()
        np.testing.assert_allclose(listener.gradients[0], alone.flattened_gradients(), rtol=1e-9, atol=1e-11)
        alone.fit_batch(data)
    np.testing.assert_allclose(net.params(), alone.params(), rtol=1e-9)
    if watching is WatchingActivations:
        assert listener.shapes == [[(8, 2, 8, 8), (8, 4, 6, 6), (8, 4, 3, 3), (8, 7), (8, 3)]]


def test_a_step_that_fails_leaves_nothing_for_the_next(eager_to_split):
    good, bad = batch(8), batch(8)
    bad.features[7, 0, 0, 0] = np.inf
    with nd.use_backend(NumpyBackend(threads=2)), np.errstate(all="ignore"):
        net, twin = MultiLayerNetwork(conf()).init(), MultiLayerNetwork(conf()).init()
        with pytest.raises(nd.NumericError, match="must be finite"):
            net.fit_batch(bad)
        one = DataSet(good.features[:1], good.labels[:1])
        for each in (net, twin):
            each.fit_batch(one)
            each.fit_batch(good)
    np.testing.assert_array_equal(net.params(), twin.params())


def test_networks_train_in_threads_of_their_own(eager_to_split):
    batches = [batch(n) for n in (8, 12, 5)]
    backend = NumpyBackend(threads=2)
    nets = []
    with nd.use_backend(backend):
        alone = MultiLayerNetwork(conf()).init()
        alone.fit(ListDataSetIterator(batches), epochs=4)
        nets = [MultiLayerNetwork(conf()).init() for _ in range(3)]

    threads = [
        threading.Thread(target=net.fit, args=(ListDataSetIterator(batches),), kwargs={"epochs": 4}) for net in nets
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for net in nets:
        np.testing.assert_array_equal(net.params(), alone.params())


@pytest.mark.parametrize("layer", [Convolution1DLayer(n_out=64, kernel_size=5), LSTM(n_out=200, activation="tanh")])
def test_series_are_split_alike_whether_the_configuration_says_their_length_or_not(layer):
    def plan(*length):
        out = RnnOutputLayer(n_out=5, loss="mcxent", activation="softmax")
        of_series = NeuralNetConfiguration(seed=1).list(layer, out, input_type=InputType.recurrent(64, *length))
        with nd.use_backend(NumpyBackend(threads=2)):
            return workers_of(MultiLayerNetwork(of_series).init(), (32, 64, 100))

    assert len(plan(100)) == 2
    assert plan() == plan(100)


def test_penalties_are_split_over_the_workers():
    with nd.use_backend("numpy"):
        vectors = MultiLayerNetwork(conf()).init().engine.vectors
        whole = vectors.penalty_sum.at(0, 0)
        assert sum(vectors.penalty_sum.share(0, 0, part, 3) for part in range(3)) == pytest.approx(whole, rel=1e-13)
        by_hand = sum(
            (0.003 * np.abs(flat).sum() if isinstance(penalty, L1Regularization) else 0.005 * (flat**2).sum())
            for flat, penalty in vectors.penalties
        )
        assert whole == pytest.approx(by_hand, rel=1e-12)


def test_workers_that_record_at_the_same_time_share_nothing(monkeypatch):
    """Every worker records its part of a new shape; threads change as often as they can."""
    monkeypatch.setattr("backends.cpu.numpy_backend.LEAST_EXAMPLES", 1)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with nd.use_backend(NumpyBackend(threads=4)):
            net = MultiLayerNetwork(conf()).init()
            for n in range(8, 40):
                net.fit_batch(batch(n))
    finally:
        sys.setswitchinterval(interval)
    assert net.iteration_count == 32
