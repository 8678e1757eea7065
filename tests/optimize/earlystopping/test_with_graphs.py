"""Early stopping of a graph with two inputs and two outputs."""

import numpy as np
import pytest
from sklearn import metrics as sk

import nd
from nd.dataset import DataSet, ListDataSetIterator, MultiDataSet
from nn import ComputationGraph, DenseLayer, NeuralNetConfiguration, OutputLayer
from optimize import Adam, CheckpointListener, Listener, MapSchedule
from optimize.earlystopping import (
    ClassificationScoreCalculator,
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingTrainer,
    InMemoryModelSaver,
    LocalFileModelSaver,
    MaxEpochsTerminationCondition,
    MaxScoreIterationTerminationCondition,
    RegressionScoreCalculator,
    ROCScoreCalculator,
    TerminationReason,
)
from tests.optimize.graphs_at_work import DATA, FEATURES, LABELS, batches, graph, host


def conf_of(calculator=None, epochs=3, **settings):
    return EarlyStoppingConfiguration(
        score_calculator=calculator or DataSetLossCalculator(batches()),
        epoch_termination_conditions=MaxEpochsTerminationCondition(epochs),
        **settings,
    )


@pytest.mark.parametrize("saver", [lambda path: InMemoryModelSaver(), LocalFileModelSaver], ids=["memory", "disk"])
def test_epochs_are_those_of_fit_and_the_best_is_kept(saver, tmp_path):
    rates = {"updater": Adam(MapSchedule("epoch", {0: 0.02, 2: 3.0}))}
    stopped, fitted = graph(**rates), graph(**rates)
    result = EarlyStoppingTrainer(conf_of(model_saver=saver(tmp_path)), stopped, batches()).fit()
    kept = []

    class Keeps(Listener):
        def on_epoch_end(self, model):
            kept.append(host(model.params()))

    fitted.set_listeners(Keeps())
    fitted.fit(batches(), epochs=3)
    assert host(stopped.params()).tobytes() == host(fitted.params()).tobytes()
    assert (stopped.iteration_count, stopped.epoch_count) == (12, 3)
    assert result.best_model_epoch == 1
    assert type(result.best_model) is ComputationGraph
    assert host(result.best_model.params()).tobytes() == kept[1].tobytes()
    assert DataSetLossCalculator(DATA).calculate_score(result.best_model) == pytest.approx(result.best_model_score)


@pytest.mark.parametrize("data", [DATA, [DATA, DATA], lambda: (one for one in [DATA])], ids=["one", "list", "once"])
def test_kinds_of_training_data(data):
    net = graph()
    result = EarlyStoppingTrainer(conf_of(epochs=1), net, data() if callable(data) else data).fit()
    assert result.error is None
    assert net.iteration_count == (2 if type(data) is list else 1)


def test_scores_are_of_the_output_that_is_named():
    net = graph()
    net.fit(batches(), epochs=2)
    classes, numbers = (host(out).astype("float64") for out in net.output(*FEATURES))
    true = LABELS[0].argmax(1)
    score = ClassificationScoreCalculator("accuracy", batches()).calculate_score(net)
    assert score == sk.accuracy_score(true, classes.argmax(1))
    error = RegressionScoreCalculator("mae", batches(), output="numbers").calculate_score(net)
    np.testing.assert_allclose(error, sk.mean_absolute_error(LABELS[1], numbers), rtol=1e-6)
    area = ROCScoreCalculator("multiclass", "auc", batches(), output=0).calculate_score(net)
    expected = [sk.roc_auc_score(LABELS[0][:, k], classes[:, k]) for k in range(3)]
    np.testing.assert_allclose(area, np.mean(expected), rtol=1e-6)
    loss = DataSetLossCalculator(batches(), average=False).calculate_score(net)
    np.testing.assert_allclose(loss, 20 * net.score(DATA), rtol=1e-5)
    with pytest.raises(nd.ChoiceError, match=r"unknown output 'sums', expected one of classes, numbers"):
        RegressionScoreCalculator("mae", batches(), output="sums").calculate_score(net)


def test_an_iteration_condition_and_checkpoints(tmp_path):
    net = graph()
    net.set_listeners(CheckpointListener(tmp_path, save_every_n_epochs=1, log_saving=False))
    limit = MaxScoreIterationTerminationCondition(1e-9)
    result = EarlyStoppingTrainer(conf_of(iteration_termination_conditions=limit), net, batches()).fit()
    assert (result.termination_reason, net.iteration_count) == (TerminationReason.ITERATION_TERMINATION, 1)
    EarlyStoppingTrainer(conf_of(), net, batches()).fit()
    assert len(list(tmp_path.glob("checkpoint_*_ComputationGraph.zip"))) == 3


def test_a_graph_of_one_input_and_output_takes_data_sets():
    conf = NeuralNetConfiguration(seed=6).graph(
        ["in"], {"a": (DenseLayer(n_in=4, n_out=3), "in"), "out": (OutputLayer(n_out=3, activation="softmax"), "a")},
        ["out"],
    )  # fmt: skip
    data = ListDataSetIterator(DataSet(FEATURES[0], LABELS[0]), 8)
    several = [MultiDataSet(FEATURES[:1], LABELS[:1])]
    for train in (data, DataSet(FEATURES[0], LABELS[0]), list(data), several):
        result = EarlyStoppingTrainer(conf_of(DataSetLossCalculator(data)), ComputationGraph(conf).init(), train).fit()
        assert result.error is None


def test_data_of_another_kind_end_training_by_an_error():
    result = EarlyStoppingTrainer(conf_of(), graph(), DataSet(FEATURES[0], LABELS[0])).fit()
    assert result.termination_reason == TerminationReason.ERROR
    assert "expected features of 2 input(s), got 1" in result.termination_details
