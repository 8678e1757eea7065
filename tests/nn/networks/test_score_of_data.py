"""Scoring other data, and solving by hand, beside a training that is under way."""

import numpy as np
import pytest
from sklearn import metrics as sk

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nd.evaluation import Evaluation, RegressionEvaluation, ROCMultiClass
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import L2Regularization, Listener, Nesterovs, Sgd, Solver
from tests.stand_ins import make_backend

RNG = np.random.default_rng(7)
BATCH = DataSet(RNG.normal(size=(8, 3)).astype(np.float32), np.eye(2, dtype=np.float32)[RNG.integers(0, 2, 8)])
OTHER = DataSet(RNG.normal(size=(2, 3)).astype(np.float32), np.eye(2, dtype=np.float32)[[0, 1]])


def network(**settings):
    return MultiLayerNetwork(
        NeuralNetConfiguration(seed=5, updater=Nesterovs(learning_rate=0.1), **settings).list(
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


@pytest.mark.parametrize(("index", "said"), [(-1, r"0\.\.1"), (2, r"0\.\.1"), (1.5, "an integer or text")])
def test_layers_that_are_not_there(index, said):
    with pytest.raises(nd.ConfigurationError, match=f"get_layer: (layer|index) must be {said}, got"):
        network().get_layer(index)


def test_a_layer_by_its_name():
    net = network()
    assert net.get_layer("layer1") is net.get_layer(1)
    with pytest.raises(nd.ChoiceError, match="unknown layer 'layer3', expected one of layer0, layer1"):
        net.get_layer("layer3")


def test_evaluating_one_data_set():
    assert network().evaluate(BATCH).get_num_row_counter() == 8
    with pytest.raises(nd.DataError, match="evaluate: a data set needs labels"):
        network().evaluate([DataSet(BATCH.features)])


def test_several_evaluations_in_one_pass():
    net, passes = network(), []
    output, predicted = net.output, net.engine.predicted
    net.engine.predicted = lambda *arguments: passes.append(1) or predicted(*arguments)
    data = ListDataSetIterator(BATCH, 3)
    evaluations = net.do_evaluation(data, Evaluation(), ROCMultiClass(), RegressionEvaluation())
    assert len(passes) == 3
    alone = net.evaluate(data), net.evaluate_roc_multi_class(data), net.evaluate_regression(data)
    assert [each.to_json() for each in evaluations] == [each.to_json() for each in alone]
    assert net.evaluate_roc_multi_class(data, 10).threshold_steps == 10
    guess = nd.to_host(output(BATCH.features))
    expected = sk.roc_auc_score(nd.to_host(BATCH.labels)[:, 1], guess[:, 1])
    assert net.evaluate_roc(data).calculate_auc() == pytest.approx(expected)
    assert net.evaluate_roc(data, threshold_steps=5).get_roc_curve().num_points() == 6
    named = net.evaluate_regression(data, ["first", "second"])
    assert named.column_names == ["first", "second"]
    error = guess - nd.to_host(BATCH.labels)
    assert named.mean_squared_error(1) == pytest.approx((error[:, 1].astype(float) ** 2).mean(), rel=1e-6)


def test_rows_of_a_mask_are_left_out():
    mask = np.array([1, 0, 1, 1, 1, 0, 1, 1])
    masked = DataSet(BATCH.features, BATCH.labels, labels_mask=mask)
    for evaluation in network().do_evaluation(masked, Evaluation(), ROCMultiClass(), RegressionEvaluation()):
        kept = DataSet(BATCH.features[mask == 1], BATCH.labels[mask == 1])
        (expected,) = network().do_evaluation(kept, type(evaluation)())
        assert evaluation.values() == pytest.approx(expected.values(), rel=1e-5)


@pytest.mark.parametrize("name", ["evaluate", "evaluate_regression", "evaluate_roc", "evaluate_roc_multi_class"])
def test_nothing_to_evaluate(name):
    evaluate = getattr(network(), name)
    with pytest.raises(nd.DataError, match=f"^{name}: the iterator must have at least one minibatch, got none"):
        evaluate([])
    with pytest.raises(nd.DataError, match=f"^{name}: a data set needs labels, got none"):
        evaluate(DataSet(BATCH.features))


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
        (lambda: Sgd(float("nan")), r"Sgd: learning_rate must be a number >= 0 or a Schedule, got nan"),
        (
            lambda: Nesterovs(0.1, momentum=2.0),
            r"momentum must be a number in 0\.\.1 or a Schedule, got 2\.0",
        ),
        (
            lambda: L2Regularization(-1.0),
            r"coefficient must be a number >= 0 or a Schedule, got -1\.0",
        ),
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


def test_masks_that_leave_nothing_to_evaluate():
    masked = DataSet(BATCH.features, BATCH.labels, None, np.zeros((8, 1)))
    with pytest.raises(nd.DataError, match="evaluate: the masks must leave labels to compare with, got none"):
        network().evaluate(masked)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([{"x": BATCH.features}], r"expected a DataSet, got .*\. Wrap arrays"),
        (3, r"expected features with labels, a DataSet or an iterator of them, got 3\. Wrap arrays"),
        (None, r"expected features with labels, a DataSet or an iterator of them, got None\. Wrap arrays"),
    ],
)
def test_what_is_evaluated_are_data_sets(data, message):
    with pytest.raises(nd.DTypeError, match=f"^evaluate: {message}"):
        network().evaluate(data)
    with pytest.raises(nd.DTypeError, match=f"^do_evaluation: {message}"):
        network().do_evaluation(data, Evaluation())


@pytest.mark.parametrize(("wrong", "name"), [(Evaluation, "Evaluation"), ("accuracy", "str"), (None, "NoneType")])
def test_evaluations_are_made_before_they_are_used(wrong, name):
    with pytest.raises(
        nd.DTypeError, match=rf"do_evaluation: expected evaluations, as Evaluation\(\) .*, got {name}\."
    ):
        network().do_evaluation(BATCH, wrong)
