"""Scoring other data, and solving by hand, beside a training that is under way."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import L2Regularization, Listener, Nesterovs, Sgd, Solver
from tests.stand_ins import make_backend

RNG = np.random.default_rng(7)
BATCH = DataSet(RNG.normal(size=(8, 3)).astype(np.float32), np.eye(2, dtype=np.float32)[RNG.integers(0, 2, 8)])
OTHER = DataSet(RNG.normal(size=(2, 3)).astype(np.float32), np.eye(2, dtype=np.float32)[[0, 1]])


def network(**settings):
    return MultiLayerNetwork(
        NeuralNetConfiguration(seed=5, updater=Nesterovs(0.1), **settings).list(
            DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_out=2, activation="softmax")
        )
    ).init()


class ScoresOthers(Listener):
    """Asks for the score of a validation set at every hook."""

    def __init__(self):
        self.seen = []

    def on_forward_pass(self, model, activations):
        model.score(OTHER)

    def iteration_done(self, model, iteration, epoch):
        before = model.score()
        self.seen.append((model.score(OTHER), model.score() - before, model.batch_size))


@pytest.mark.parametrize("iterations", [1, 3])
def test_scoring_other_data_disturbs_nothing(iterations):
    net, quiet, listener = network(iterations=iterations), network(iterations=iterations), ScoresOthers()
    net.set_listeners([listener])
    net.fit(BATCH)
    quiet.fit(BATCH)
    np.testing.assert_array_equal(net.params(), quiet.params())
    assert net.score() == quiet.score()
    assert [entry[1:] for entry in listener.seen] == [(0.0, 8)] * iterations
    assert listener.seen[-1][0] == net.score(OTHER)


def test_the_score_of_data_is_its_mean_loss_and_the_penalty():
    net = network(l2=0.3)
    p = net.output(OTHER.features)
    loss = -np.mean(np.log(p[[0, 1], [0, 1]]))
    penalty = 0.15 * sum((net.get_param(key) ** 2).sum() for key in ("0_W", "1_W"))
    assert net.score(OTHER) == pytest.approx(loss + penalty, rel=1e-6)
    with pytest.raises(nd.DataError, match="needs labels"):
        net.score(DataSet(OTHER.features))


def test_a_solver_by_hand_runs_on_the_networks_backend():
    with nd.use_backend(make_backend("strict")):
        net, fitted = network(), network()
        fitted.fit(BATCH)
    net.set_input(BATCH.features)
    net.set_labels(BATCH.labels)
    with nd.use_backend("numpy"):
        Solver(net.conf, model=net).optimize()
    to_host = make_backend("strict").to_host
    np.testing.assert_array_equal(to_host(net.params()), to_host(fitted.params()))


def test_what_is_no_listener_is_refused():
    with pytest.raises(nd.DTypeError, match=r"expected instances of optimize\.Listener, got 7"):
        network().set_listeners(ScoresOthers(), 7)
    with pytest.raises(nd.DTypeError, match="got 'score'"):
        network().add_listeners("score")


@pytest.mark.parametrize("index", [-1, 2, "layer0"])
def test_layers_that_are_not_there(index):
    with pytest.raises(nd.ConfigurationError, match=r"get_layer: index must be 0\.\.1, got"):
        network().get_layer(index)


def test_evaluating_one_data_set():
    assert network().evaluate(BATCH).get_num_row_counter() == 8
    with pytest.raises(nd.DataError, match="evaluate: a data set needs labels"):
        network().evaluate([DataSet(BATCH.features)])


def test_numpy_integers_are_integers():
    conf = NeuralNetConfiguration(seed=np.int64(5)).list(
        DenseLayer(n_in=np.int64(3), n_out=np.int32(4)), OutputLayer(n_out=np.int64(2))
    )
    net = MultiLayerNetwork(conf).init()
    net.fit(BATCH, epochs=np.int64(2))
    assert net.iteration_count == 2
    assert [type(size) for size in (conf.layers[0].n_in, conf.layers[0].n_out, conf.base.seed)] == [int] * 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sgd(float("nan")), r"Sgd.learning_rate: expected a finite number, got nan"),
        (lambda: Nesterovs(0.1, momentum=2.0), r"momentum must be in 0\.\.1, got 2\.0"),
        (lambda: L2Regularization(-1.0), r"expected a penalty >= 0, got -1\.0"),
    ],
)
def test_rates_out_of_range(make, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        make()


def test_gemm_wants_arrays_of_one_dtype():
    a = nd.ones(2, 2)
    with pytest.raises(nd.DTypeError, match="gemm: expected arrays of one dtype, got list"):
        nd.gemm([[1.0]], a)
    with pytest.raises(nd.DTypeError, match="gemm: expected arrays of one dtype, got float64"):
        nd.gemm(a, nd.ones(2, 2, dtype="float64"))
    assert nd.zeros(2, dtype=np.float64).dtype == np.float64


def test_an_empty_iterable_that_can_be_read_once():
    with pytest.raises(nd.DataError, match="must have at least one minibatch, got none"):
        network().fit(iter([]))
