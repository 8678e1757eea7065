"""Noise and constraints: the same training from a seed on every backend, captured as CUDA graphs or not."""

import numpy as np
import pytest

import nd
from backends.cuda.cupy_backend import CupyBackend
from nd.dataset import DataSet
from nn import (
    AlphaDropout,
    ConvolutionLayer,
    DenseLayer,
    DropConnect,
    Dropout,
    DropoutLayer,
    GaussianDropout,
    GaussianNoise,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OrthogonalDistribution,
    OutputLayer,
    SpatialDropout,
    SubsamplingLayer,
    WeightNoise,
)
from optimize import (
    MapSchedule,
    MaxNormConstraint,
    MinMaxNormConstraint,
    Nesterovs,
    NonNegativeConstraint,
    StepSchedule,
    UnitNormConstraint,
)
from tests.cells import every_row, wide_values

RNG = np.random.default_rng(35)
FALLING = MapSchedule("iteration", {0: 0.9, 2: 0.6, 5: 0.2})
NOISES = {
    "alpha": {"drop_out": AlphaDropout(0.7)},
    "alpha, falling": {"drop_out": AlphaDropout(FALLING)},
    "dropout, falling": {"drop_out": Dropout(FALLING)},
    "gaussian dropout": {"drop_out": GaussianDropout(0.3)},
    "gaussian dropout, falling": {"drop_out": GaussianDropout(FALLING)},
    "gaussian noise": {"drop_out": GaussianNoise(0.2)},
    "gaussian noise, by epoch": {"drop_out": GaussianNoise(StepSchedule("epoch", 0.2, 0.5, 1))},
    "drop connect": {"weight_noise": DropConnect(0.7, apply_to_biases=True)},
    "drop connect, falling": {"weight_noise": DropConnect(FALLING)},
    "weight noise": {"weight_noise": WeightNoise(NormalDistribution(0.0, 0.1)), "drop_out": 0.8},
    "weight factors": {"weight_noise": WeightNoise(NormalDistribution(1.0, 0.1), additive=False)},
}
CONSTRAINTS = {
    "max norm": {"constrain_all_parameters": MaxNormConstraint(0.3)},
    "min and max": {"constrain_weights": MinMaxNormConstraint(0.2, 0.3, rate=0.5)},
    "not negative": {"constrain_weights": NonNegativeConstraint()},
    "unit norm": {"constrain_weights": UnitNormConstraint()},
    "several": {"constrain_weights": [NonNegativeConstraint(), MaxNormConstraint(0.4)]},
}
every_noise = pytest.mark.parametrize("name", NOISES)
every_kind = pytest.mark.parametrize("name", wide_values([*CONSTRAINTS, *NOISES], 7))


def conf(settings, p=0.7):
    return NeuralNetConfiguration(seed=5, l2=1e-3, updater=Nesterovs(learning_rate=0.05), **settings).list(
        ConvolutionLayer(n_out=4, kernel_size=3, activation="tanh"),
        SubsamplingLayer("max", kernel_size=2, stride=2),
        DropoutLayer(SpatialDropout(p)),
        DenseLayer(n_out=6, activation="relu"),
        OutputLayer(n_out=3, loss="mcxent", activation="softmax"),
        input_type=InputType.convolutional_flat(8, 8, 1),
    )


def of(name):
    return conf({**NOISES, **CONSTRAINTS}[name], FALLING if "falling" in name else 0.7)


def batch(n):
    return DataSet(RNG.random((n, 64), np.float32), np.eye(3, dtype=np.float32)[RNG.integers(0, 3, n)])


BATCHES = [batch(n) for n in (6, 6, 6, 4, 6, 4, 6)]


def trained(backend, configuration, after_step=lambda: None):
    """Return scores, parameters on the host, and the generator's state."""
    scores = []
    with nd.use_backend(backend):
        net = MultiLayerNetwork(configuration).init()
        for data in BATCHES:
            net.fit_batch(data)
            scores.append(net.score())
            after_step()
        return scores, np.array(nd.to_host(nd.copy(net.params()))), nd.random.get_random().get_state()


def graphs_of(launches, backend, configuration):
    """Return how many graphs each step launches."""
    counts = []
    launches.clear()
    trained(backend, configuration, lambda: counts.append(launches.taken().count("graph")))
    return counts


@pytest.fixture
def eager(cupy, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("ND_CUDA_GRAPH", "0")
        return CupyBackend()


@every_kind
@pytest.mark.quick_rows(4)
def test_a_seed_gives_the_same_training_on_every_backend(name, any_backend):
    here, again = (trained(any_backend, of(name)) for _ in "12")
    on_numpy = trained("numpy", of(name))
    assert here[0] == again[0]
    np.testing.assert_array_equal(here[1], again[1])
    np.testing.assert_allclose(here[0], on_numpy[0], rtol=1e-5)
    np.testing.assert_allclose(here[1], on_numpy[1], rtol=1e-4, atol=1e-6)
    assert here[2] == on_numpy[2]


@every_kind
def test_graphs_compute_what_eager_steps_compute(name, device, eager):
    captured, alone = trained(device, of(name)), trained(eager, of(name))
    np.testing.assert_allclose(captured[0], alone[0], rtol=1e-6)
    np.testing.assert_allclose(captured[1], alone[1], rtol=1e-5, atol=1e-7)
    assert captured[2] == alone[2]
    assert len(set(captured[0])) == len(BATCHES)


@every_kind
def test_noise_and_constraints_are_part_of_the_graphs(name, device, launches):
    counts = graphs_of(launches, device, of(name))
    constrained = name in CONSTRAINTS
    assert counts[2] == counts[-1] == 2 + constrained  # forward and backward; the update; the constraints


def test_eager_steps_launch_no_graph(eager, launches):
    assert graphs_of(launches, eager, conf(NOISES["alpha"] | CONSTRAINTS["several"])) == [0] * len(BATCHES)


ORTHOGONAL = NeuralNetConfiguration(seed=5, weight_noise=WeightNoise(OrthogonalDistribution(0.1))).list(
    OutputLayer(n_in=64, n_out=3)
)


def test_a_draw_that_no_graph_can_hold_runs_eagerly(device, eager):
    captured, alone = trained(device, ORTHOGONAL), trained(eager, ORTHOGONAL)
    np.testing.assert_allclose(captured[0], alone[0], rtol=1e-5)


def test_around_a_draw_that_no_graph_can_hold_there_is_a_graph_of_the_update(device, launches):
    assert graphs_of(launches, device, ORTHOGONAL)[-1] == 1


@every_row("shape", [(3, 4), (2, 3, 4, 5)], ids=str)
@every_row(
    "kind", [Dropout(0.6), AlphaDropout(0.6), GaussianDropout(0.6), GaussianNoise(0.6), SpatialDropout(0.6)], ids=str
)
def test_masks_do_not_depend_on_how_buffers_lie(kind, shape, any_backend):
    """As the backend likes them, which is with the batch innermost, and in c order."""
    if isinstance(kind, SpatialDropout) and len(shape) < 3:
        shape = (*shape, 1)
    host = RNG.normal(size=shape).astype("float32")
    with nd.use_backend(any_backend):
        preferred = any_backend.empty_activation
        makers = (
            lambda name, shape: preferred(shape, "float32"),
            lambda name, shape: nd.zeros(*shape, dtype="float32"),
        )
        found = []
        for buffers in makers:
            nd.random.set_seed(4)
            x = nd.assign(buffers("x", shape), nd.create(host))
            out, kept = kind.apply_dropout(x, kind.numbers(0, 0), buffers)
            found.append([nd.to_host(nd.copy(each)) for each in (out, kept) if each is not None])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    with nd.use_backend("numpy"):
        nd.random.set_seed(4)
        out, _ = kind.apply_dropout(host, kind.numbers(0, 0), makers[1])
    np.testing.assert_allclose(found[0][0], out, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("graphs", [0, 1])
def test_an_update_that_was_undone_is_not_constrained_either(graphs, cupy, monkeypatch):
    """What the guard has undone stays; without it, shrinking by the epsilon would change it, step after step."""
    monkeypatch.setenv("ND_CUDA_GRAPH", str(graphs))
    spoilt = batch(6)
    spoilt.features[0, 0] = np.nan
    configuration = conf({"constrain_all_parameters": MaxNormConstraint(0.3), "drop_out": GaussianNoise(0.1)})
    with nd.use_backend(CupyBackend()) as device:
        net = MultiLayerNetwork(configuration).init()
        for data in BATCHES[:3]:
            net.fit_batch(data)
        before = np.array(nd.to_host(net.params()))
        for data in (spoilt, *BATCHES[4:6]):
            net.fit_batch(data)
        np.testing.assert_array_equal(nd.to_host(net.params()), before)
        assert net.iteration_count == 6
        with pytest.raises(nd.NumericError, match=r"must be finite, got nan at iteration 3\."):
            net.get_optimizer().finish()
        assert net.iteration_count == 3
        net.fit_batch(BATCHES[3])
        assert (device.to_host(net.params()) != before).any()


def test_the_host_waits_for_nothing(device, monkeypatch):
    configuration = conf({**CONSTRAINTS["several"], **NOISES["drop connect, falling"]})
    with nd.use_backend(device):
        net = MultiLayerNetwork(configuration).init()
        net.fit_batch(BATCHES[0])
        monkeypatch.setattr(CupyBackend, "item", lambda *_: pytest.fail("asked for a number"))
        monkeypatch.setattr(CupyBackend, "to_host", lambda *_: pytest.fail("copied to the host"))
        for data in BATCHES[1:]:
            net.fit_batch(data)
