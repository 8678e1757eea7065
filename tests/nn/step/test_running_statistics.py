"""The running statistics of batch normalisations: what moves them, how far, and what leaves them alone."""

import math

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nn import (
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    FrozenLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
    TransferLearning,
    WeightNoise,
)
from optimize import Adam, MaxNormConstraint, Nesterovs, NoOp, Sgd
from tests.stand_ins import TOLERANCE
from tests.step_plans import recorded, recorded_updates, workers_of

RNG = np.random.default_rng(23)
SIZES = (5, 4, 7, 5, 3)
BATCHES = [(RNG.normal(0.5, 1.5, (n, 3)), np.eye(2)[RNG.integers(0, 2, n)]) for n in SIZES]
EPS, DECAY = 0.01, 0.7


def host(x):
    return nd.to_host(nd.copy(x))


def network(*layers, dtype="float64", normalisation=(), **settings):
    """A normalisation of the features themselves, so that no parameter changes what it sees; then others."""
    first = BatchNormalization(n_out=3, eps=EPS, decay=DECAY, **dict(normalisation))
    layers = layers or (OutputLayer(n_out=2, loss="mcxent"),)
    conf = NeuralNetConfiguration(seed=4, dtype=dtype, **{"updater": Sgd(0.1), "bias_init": 0.1, **settings})
    return MultiLayerNetwork(conf.list(first, *layers, input_type=InputType.feed_forward(3))).init()


class ByHand:
    """Follows the minibatches in Python's numbers; `limit` is the largest way that a value may go in a step."""

    def __init__(self, log, decay=DECAY, limit=math.inf):
        self.log, self.decay, self.limit = log, decay, limit
        self.mean, self.second = [0.0] * 3, [0.0 if log else 1.0] * 3

    def see(self, x):
        for c in range(3):
            values = [float(row[c]) for row in x]
            mean = sum(values) / len(values)
            variance = sum((value - mean) ** 2 for value in values) / len(values)
            before = 10.0 ** (2.0 * self.second[c]) if self.log else self.second[c]
            after = self.decay * before + (1.0 - self.decay) * variance
            self._go(self.mean, c, self.decay * self.mean[c] + (1.0 - self.decay) * mean)
            self._go(self.second, c, 0.5 * math.log10(after) if self.log else after)

    def _go(self, values, c, target):
        values[c] += max(-self.limit, min(self.limit, target - values[c]))

    def check(self, net, dtype="float64"):
        name = "0_log10stdev" if self.log else "0_var"
        np.testing.assert_allclose(host(net.get_param("0_mean"))[0], self.mean, **TOLERANCE[dtype])
        np.testing.assert_allclose(host(net.get_param(name))[0], self.second, **TOLERANCE[dtype])


@pytest.mark.parametrize("updater", [Sgd(0.5), Adam(0.01), NoOp()], ids=lambda updater: type(updater).__name__)
@pytest.mark.parametrize("log", [True, False])
@pytest.mark.quick_rows(2)
def test_they_follow_the_minibatches(log, updater, backend, dtype):
    net, expected = network(dtype=dtype, updater=updater, normalisation={"use_log_std": log}), ByHand(log)
    for x, y in BATCHES:
        net.fit(x, y)
        expected.see(x.astype(dtype))
        expected.check(net, dtype)
    x = BATCHES[0][0]
    scale = host(net.get_param("0_gamma"))[0]
    variance = 10.0 ** (2.0 * np.array(expected.second)) if log else np.array(expected.second)
    inference = scale * (x - expected.mean) / np.sqrt(variance + EPS) + host(net.get_param("0_beta"))[0]
    found = net.feed_forward(x.astype(dtype))[1]
    np.testing.assert_allclose(nd.to_host(found), inference, rtol=100 * TOLERANCE[dtype]["rtol"], atol=1e-5)


@pytest.mark.parametrize("log", [True, False])
def test_a_data_set_that_is_one_minibatch_sets_them(log):
    net = network(normalisation={"use_log_std": log, "minibatch": False})
    for x, y in BATCHES[:2]:
        net.fit(x, y)
    expected = ByHand(log, decay=0.0)
    expected.see(BATCHES[1][0])
    expected.check(net)


def test_a_channel_that_never_changes_has_a_logarithm():
    net = network(normalisation={"minibatch": False})
    net.fit(np.ones((4, 3)), BATCHES[1][1])
    assert np.isfinite(host(net.params())).all()
    assert np.isfinite(host(net.output(np.ones((2, 3))))).all()


@pytest.mark.parametrize("log", [True, False])
def test_clipping_of_the_layer_holds_for_them(log, backend):
    clipping = {"gradient_normalization": "clip_element_wise_absolute_value", "gradient_normalization_threshold": 0.05}
    net = network(normalisation={"use_log_std": log, **clipping})
    expected = ByHand(log, limit=0.05)
    for x, y in BATCHES:
        net.fit(x, y)
        expected.see(x)
        expected.check(net)
    free = ByHand(log)
    for x, _ in BATCHES:
        free.see(x)
    assert np.abs(np.subtract(free.mean, expected.mean)).max() > 0.01


def test_a_norm_of_the_layer_takes_them_in_and_gamma_and_beta_as_means_over_the_examples(backend):
    clipping = {"gradient_normalization": "clip_l2_per_layer", "gradient_normalization_threshold": 0.1}
    x, y = BATCHES[0]
    free, net = network(updater=NoOp()), network(updater=NoOp(), normalisation=clipping)
    free.set_input(x)
    free.set_labels(y)
    free.compute_gradient_and_score()
    ways = {name: host(free.gradient().gradient_for_variable()[f"0_{name}"]) for name in free.get_layer(0).params}
    ways["gamma"], ways["beta"] = ways["gamma"] / len(x), ways["beta"] / len(x)
    norm = math.sqrt(sum((way**2).sum() for way in ways.values()))
    assert norm > 0.1
    before = {name: host(net.get_param(f"0_{name}")) for name in ways}
    net.fit(x, y)
    for name, way in ways.items():
        expected = before[name] - way * 0.1 / norm
        np.testing.assert_allclose(host(net.get_param(f"0_{name}")), expected, **TOLERANCE["float64"])


def test_java_s_order_of_the_vector_and_of_the_updaters_state():
    """Blocks: W, b, gamma, beta with Adam; mean, log10stdev with none; then the output layer's."""
    layers = DenseLayer(n_out=4), BatchNormalization(), OutputLayer(n_out=2)
    conf = NeuralNetConfiguration(seed=1, dtype="float64", updater=Adam(0.1))
    net = MultiLayerNetwork(conf.list(*layers, input_type=InputType.feed_forward(3))).init()
    names = ["0_W", "0_b", "1_gamma", "1_beta", "1_mean", "1_log10stdev", "2_W", "2_b"]
    assert list(net.param_table()) == names
    net.set_params(np.arange(42.0)[None])
    for name, first in (("1_gamma", 16), ("1_beta", 20), ("1_mean", 24), ("1_log10stdev", 28), ("2_W", 32)):
        assert host(net.get_param(name)).T.ravel()[0] == first
    np.testing.assert_array_equal(host(net.get_param("1_mean")), [[24.0, 25.0, 26.0, 27.0]])
    assert tuple(net.updater_state().shape) == (1, 2 * 24 + 2 * 10)
    net = MultiLayerNetwork(net.conf).init()
    x, y = BATCHES[0]
    net.set_input(x)
    net.set_labels(y)
    net.compute_gradient_and_score()
    g = host(net.flattened_gradients())[0] / len(x)
    net.fit(x, y)
    means, squares = 0.1 * g, 0.001 * g**2
    expected = np.concatenate([means[:24], squares[:24], means[32:], squares[32:]])
    np.testing.assert_allclose(host(net.updater_state())[0], expected, rtol=1e-9, atol=1e-15)


def deep(dtype="float64", **settings):
    layers = (
        DenseLayer(n_out=4, activation="identity"),
        BatchNormalization(eps=EPS),
        ActivationLayer("tanh"),
        OutputLayer(n_out=2, loss="mcxent"),
    )
    return network(*layers, dtype=dtype, normalisation={"use_log_std": False}, **settings)


def running_places(net):
    places = np.zeros(net.num_params(), bool)
    for view in net.conf.layout().views:
        places[view.start : view.stop] = view.spec.running
    return places


def test_the_gradient_of_the_whole_objective():
    net = deep(l1=0.02, l2=0.05, l1_bias=0.03, l2_bias=0.04)
    x, y = BATCHES[2]
    net.set_input(x)
    net.set_labels(y)
    net.compute_gradient_and_score()
    gradient = host(net.updater.objective_gradient(len(x), 0, 0))
    params, running = host(net.params()), running_places(net)
    assert running.sum() == 2 * 3 + 2 * 4
    for place in range(params.size):
        scores = []
        for step in (1e-5, -1e-5):
            moved = params.copy()
            moved[0, place] += step
            net.set_params(moved)
            net.compute_gradient_and_score()
            scores.append(net.score())
        numeric = (scores[0] - scores[1]) / 2e-5
        assert gradient[place] == pytest.approx(0.0 if running[place] else numeric, rel=1e-6, abs=1e-8)
        assert not running[place] or numeric == 0.0
    plain = deep()
    for each in (plain, net):
        each.set_params(params)
        each.set_input(x)
        each.set_labels(y)
        each.compute_gradient_and_score()
    penalties = 0.0
    for key, view in net.param_table().items():
        l1, l2 = {"W": (0.02, 0.05), "b": (0.03, 0.04)}.get(key[2:], (0.0, 0.0))
        penalties += l1 * np.abs(host(view)).sum() + 0.5 * l2 * (host(view) ** 2).sum()
    assert net.score() - plain.score() == pytest.approx(penalties, rel=1e-9)


@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("algorithm", ["line_gradient_descent", "conjugate_gradient", "lbfgs"])
@pytest.mark.quick_rows(2)
def test_a_line_search_moves_them_once_a_step(algorithm, iterations, backend):
    net = network(optimization_algo=algorithm, iterations=iterations, normalisation={"use_log_std": False})
    expected = ByHand(log=False)
    for x, y in BATCHES[:3]:
        before = net.score(DataSet(x, y), training=True)
        taken = net.iteration_count
        net.fit(x, y)
        assert 1 <= net.iteration_count - taken <= iterations
        for _ in range(net.iteration_count - taken):
            expected.see(x)
        expected.check(net)
        assert net.score(DataSet(x, y), training=True) < before


def test_of_a_line_they_take_the_point_where_it_ends():
    net = deep(optimization_algo="lbfgs")
    x, y = BATCHES[0]
    net.fit(x, y)
    hidden = host(net.feed_forward(x, train=True)[2])  # at the parameters that were arrived at
    np.testing.assert_allclose(host(net.get_param("2_mean"))[0], 0.1 * hidden.mean(0), rtol=1e-9)


@pytest.mark.parametrize("minimize", [True, False])
def test_a_score_that_is_to_grow_moves_them_the_same_way(minimize):
    net, expected = network(minimize=minimize, normalisation={"use_log_std": False}), ByHand(log=False)
    for x, y in BATCHES[:3]:
        net.fit(x, y)
        expected.see(x)
    expected.check(net)


def test_looking_moves_nothing():
    net, (x, y) = deep(), BATCHES[0]
    net.fit(x, y)
    before = host(net.params())
    net.score(DataSet(x, y), training=True)
    net.feed_forward(x, train=True)
    net.output(x)
    net.set_input(x)
    net.set_labels(y)
    for _ in range(2):
        net.compute_gradient_and_score()
    np.testing.assert_array_equal(host(net.params()), before)


def test_nothing_else_touches_them(backend):
    noise = WeightNoise(NormalDistribution(0.0, 5.0), True, True)
    settings = {"l2": 10.0, "l1_bias": 10.0, "weight_decay_bias": 5.0, "weight_noise": noise, "drop_out": 0.5}
    constraints = {"constrain_all_parameters": MaxNormConstraint(1e-3), "bias_updater": Sgd(100.0)}
    net = network(updater=NoOp(), normalisation={"use_log_std": False, **settings, **constraints})
    expected = ByHand(log=False)
    for x, y in BATCHES:
        net.fit(x, y)
        expected.see(x)
    expected.check(net)
    assert np.linalg.norm(host(net.get_param("0_gamma"))) <= 1.01e-3


@pytest.mark.parametrize("updater", [Adam(0.01), Nesterovs(learning_rate=0.1)], ids=["adam", "nesterovs"])
@pytest.mark.numpy_first
def test_training_goes_on_from_a_file_bit_for_bit(updater, backend, tmp_path):
    whole, half = (deep("float32", updater=updater) for _ in range(2))
    for x, y in BATCHES:
        whole.fit(x, y)
    for x, y in BATCHES[:2]:
        half.fit(x, y)
    half.save(tmp_path / "net.zip")
    half.save_checkpoint(tmp_path / "checkpoint.zip")
    for resumed in (
        MultiLayerNetwork.load(tmp_path / "net.zip"),
        MultiLayerNetwork.load_checkpoint(tmp_path / "checkpoint.zip"),
    ):
        for x, y in BATCHES[2:]:
            resumed.fit(x, y)
        np.testing.assert_array_equal(host(resumed.params()), host(whole.params()))
        np.testing.assert_array_equal(host(resumed.updater_state()), host(whole.updater_state()))


def images(threads):
    with nd.use_backend(NumpyBackend(threads=threads)):
        layers = (
            ConvolutionLayer(n_out=16, kernel_size=3, activation="identity", has_bias=False),
            BatchNormalization(),
            ActivationLayer("relu"),
            OutputLayer(n_out=3),
        )
        conf = NeuralNetConfiguration(seed=3, updater=Sgd(0.1))
        return MultiLayerNetwork(conf.list(*layers, input_type=InputType.convolutional(12, 12, 8))).init()


def test_two_workers_that_meet_train_as_one_does():
    x = RNG.normal(size=(256, 8, 12, 12)).astype(np.float32)
    y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 256)]
    nets = [images(threads) for threads in (1, 2)]
    for count, net in enumerate(nets, 1):
        assert [len(worker) for worker in workers_of(net, x.shape)] == [1] * count
        net.fit(x, y, epochs=2)
    assert len(workers_of(nets[1], x.shape, training=False)) == 2
    np.testing.assert_allclose(host(nets[0].params()), host(nets[1].params()), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(nets[0].output(x), nets[1].output(x), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(nets[1].output(x), nets[1].feed_forward(x)[-1], rtol=1e-4, atol=1e-5)


def test_a_step_from_the_record_is_the_step_itself(monkeypatch):
    x, y = RNG.normal(size=(6, 8, 12, 12)).astype(np.float32), np.eye(3, dtype=np.float32)[[0, 1, 2, 2, 1, 0]]
    replayed = images(1)
    for number in range(4):
        replayed.fit(x + number, y)
    assert recorded(replayed.engine.gradients) == recorded_updates(replayed.updater) == [1]
    monkeypatch.setattr(NumpyBackend, "recorder", lambda self: None)
    plain = images(1)
    for number in range(4):
        plain.fit(x + number, y)
    assert recorded(plain.engine.gradients) == recorded_updates(plain.updater) == [0]
    np.testing.assert_array_equal(host(replayed.params()), host(plain.params()))


def test_a_way_that_is_not_finite_is_refused():
    net = network(optimization_algo="lbfgs", dtype="float32", normalisation={"use_log_std": False})
    before = host(net.params())
    with np.errstate(all="ignore"), pytest.raises(nd.NumericError, match="must be finite"):
        net.fit(np.full((4, 3), 1e30) * np.arange(4.0)[:, None], BATCHES[1][1])
    np.testing.assert_array_equal(host(net.params()), before)


def test_another_size_below_goes_through_to_the_layer_above():
    net = deep()
    moved = TransferLearning.Builder(net).nOutReplace(1, 6, "xavier").build()
    assert [getattr(layer, "n_in", None) for layer in moved.conf.layers] == [3, 3, 6, None, 6]
    np.testing.assert_array_equal(host(moved.get_param("2_mean")), np.zeros((1, 6)))
    np.testing.assert_array_equal(host(moved.get_param("2_gamma")), np.ones((1, 6)))
    frozen = TransferLearning.Builder(net).setFeatureExtractor(2).build()
    assert isinstance(frozen.conf.layers[2], FrozenLayer)
    x, y = BATCHES[0]
    before = host(frozen.get_param("2_mean"))
    frozen.fit(x, y)
    np.testing.assert_array_equal(host(frozen.get_param("2_mean")), before)
