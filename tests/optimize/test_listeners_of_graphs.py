"""Every listener with a graph of two inputs and two outputs; checkpoints in the middle of its epochs."""

import importlib.util

import numpy as np
import pytest

import nd
from nd.dataset import MultiDataSet
from nd.evaluation import RegressionEvaluation
from nn import ComputationGraph
from optimize import (
    CheckpointListener,
    CollectScoresListener,
    EvaluativeListener,
    HtmlReportListener,
    Listener,
    NanListener,
    PerformanceListener,
    ProgressBarListener,
    ReduceLearningRateOnPlateau,
    ScoreIterationListener,
    StatisticsListener,
    TensorBoardListener,
    TimeIterationListener,
)

from .graphs_at_work import DATA, FEATURES, LABELS, batches, graph, host


def test_scores_and_times_are_printed(capsys):
    net, scores, plain = graph(), CollectScoresListener(), graph()
    net.set_listeners(
        ScoreIterationListener(2), PerformanceListener(2, True), scores, TimeIterationListener(4), ProgressBarListener()
    )
    net.fit(batches())
    plain.fit(batches())
    printed, bar = capsys.readouterr()
    assert printed.count("Score at iteration") == printed.count("samples/sec") == 2
    assert "epoch 1" in bar
    assert len(scores.scores) == 4
    assert scores.scores[-1] == plain.score()
    assert host(net.params()).tobytes() == host(plain.params()).tobytes()


def test_evaluations_of_one_output():
    first, second = EvaluativeListener(DATA, callback=print), EvaluativeListener(
        batches(), evaluations=[RegressionEvaluation], callback=lambda *_: None, output="numbers"
    )  # fmt: skip
    net = graph()
    net.set_listeners(first, second)
    net.fit(batches(), epochs=2)
    classes, numbers = (host(out) for out in net.output(*FEATURES))
    assert first.evaluations[0].accuracy() == (classes.argmax(1) == LABELS[0].argmax(1)).mean()
    errors = ((numbers.astype("float64") - LABELS[1]) ** 2).mean(0)
    np.testing.assert_allclose(second.evaluations[0].mean_squared_error(1), errors[1], rtol=1e-6)


def test_statistics_are_of_vertices_by_name():
    net, listener = graph(), StatisticsListener(2)
    net.set_listeners(listener)
    net.fit(batches())
    assert [record.iteration for record in listener.records] == [0, 2]
    record = listener.records[-1]
    assert list(record.activations) == [node.name for node in net.conf.nodes]
    assert sorted(record.gradients) == sorted(net.param_table())
    assert record.activations["classes"].mean == pytest.approx(1 / 3, rel=1e-5)


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")
def test_a_report(tmp_path):
    net = graph()
    net.set_listeners(HtmlReportListener(tmp_path / "report.html", DATA, 1))
    net.fit(batches())
    text = (tmp_path / "report.html").read_text()
    assert "Confusion matrix" in text
    assert "Filters of the first layer" in text  # x takes 4 numbers: images of 2 by 2


@pytest.mark.skipif(importlib.util.find_spec("tensorboardX") is None, reason="needs tensorboardX")
def test_tensorboard(tmp_path):
    net = graph()
    net.set_listeners(TensorBoardListener(tmp_path, 1, 2))
    net.fit(batches())
    assert list(tmp_path.iterdir())


def test_rates_of_all_layers_are_reduced_on_a_plateau():
    net = graph()
    net.set_listeners(ReduceLearningRateOnPlateau(0.5, patience=1, min_delta=1e9))
    net.fit(batches(), epochs=3)
    assert net.learning_rates() == dict.fromkeys(("x", "my_y", "norm", "classes", "numbers"), 0.005)
    net = graph()
    net.set_listeners(ReduceLearningRateOnPlateau(0.5, patience=1, min_delta=1e9, monitor="validation_score"))
    history = net.fit(batches(), epochs=2, validation_data=batches())
    assert net.get_learning_rate("x") == 0.01
    assert history.validation_score[-1] == pytest.approx(net.score(DATA), rel=1e-6)
    assert history.validation_accuracy[-1] == net.evaluate(DATA).accuracy()


def broken(features=None, labels=None):
    arrays = [[array.copy() for array in group] for group in (FEATURES, LABELS)]
    if features is not None:
        arrays[0][features][2, 0] = np.nan
    if labels is not None:
        arrays[1][labels][3, 1] = np.inf
    return MultiDataSet(*arrays)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (broken(features=1), r"minibatch: features 'b' must be finite, got 1 NaN and 0 infinite of 60 numbers"),
        (broken(labels=1), r"minibatch: labels 'numbers' must be finite, got 0 NaN and 1 infinite of 40 numbers"),
    ],
)
def test_what_is_not_finite_in_the_data_is_named(data, message):
    net = graph()
    net.set_listeners(NanListener())
    with pytest.raises(nd.NumericError, match=message):
        net.fit(data)


def test_what_is_not_finite_in_the_graph_is_named():
    net = graph()
    net.set_listeners(NanListener())
    net.get_param("my_y_b")[0, 0] = np.nan
    with pytest.raises(nd.NumericError, match=r"layer 'my_y' \(DenseLayer\): parameter my_y_b must be finite"):
        net.fit(DATA)
    net = graph()
    net.set_listeners(NanListener())
    nd.assign(net.get_param("norm_gamma"), 3e38)
    nd.assign(net.get_param("norm_beta"), 3e38)
    with pytest.raises(nd.NumericError, match=r"layer 'norm' \(BatchNormalization\): activations must be finite"):
        net.fit(DATA)


class Stops(Listener):
    """Ends training as if the process was killed."""

    def __init__(self, at):
        self.at = at

    def iteration_done(self, model, iteration, epoch):
        if iteration + 1 == self.at:
            raise KeyboardInterrupt("killed")


@pytest.mark.parametrize("at", [1, 3, 4, 6])
@pytest.mark.quick_rows(1)
def test_resumed_in_the_middle_of_an_epoch_to_the_last_bit(at, tmp_path):
    """Shuffled minibatches, dropout, Adam, running statistics."""
    whole = graph()
    whole.fit(batches(shuffle=True, seed=3), epochs=3)
    net = graph()
    net.set_listeners(CheckpointListener(tmp_path, save_every_n_iterations=1, log_saving=False), Stops(at))
    with pytest.raises(KeyboardInterrupt, match="killed"):
        net.fit(batches(shuffle=True, seed=3), epochs=3)
    assert sorted(path.name for path in tmp_path.glob("*.zip"))[0] == "checkpoint_0_ComputationGraph.zip"
    resumed = ComputationGraph.load_checkpoint(tmp_path)
    assert resumed.iteration_count == at
    history = resumed.fit(batches(shuffle=True, seed=3), epochs=3)
    assert history.score == whole.history.score[-len(history.score) :]
    for ours, theirs in ((resumed.params(), whole.params()), (resumed.updater_state(), whole.updater_state())):
        assert host(ours).tobytes() == host(theirs).tobytes()
    assert (resumed.iteration_count, resumed.epoch_count) == (whole.iteration_count, whole.epoch_count) == (12, 3)
    assert resumed.random.get_state() == whole.random.get_state()


@pytest.mark.parametrize("algorithm", ["lbfgs", "conjugate_gradient", "line_gradient_descent"])
def test_line_searches_lower_the_score(algorithm):
    net = graph(optimization_algo=algorithm, updater="sgd", drop_out=None)
    scores = net.fit(DATA, epochs=12) and net.score()
    assert scores < 0.8 * graph().score(DATA)
