"""Java's listeners as ported programs make and ask them; the numbers are Deeplearning4j 1.0.0-M2.1's."""

import io
import time

import numpy as np
import pytest

import nd
from nn.dl4j import (
    Activation,
    DataSet,
    DenseLayer,
    LossFunctions,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    Sgd,
    TimeUnit,
)
from nn.dl4j.listeners import (
    CheckpointListener,
    CollectScoresIterationListener,
    PerformanceListener,
    ScoreStat,
    SleepyTrainingListener,
)

SCORES = [
    1.239457368850708, 1.2095692157745361, 1.1831114292144775, 1.1597139835357666, 1.1390388011932373,
    1.12077796459198, 1.104650855064392, 1.0904029607772827, 1.0778043270111084, 1.066648006439209,
]  # fmt: skip
DATA = DataSet(np.arange(8, dtype="float32").reshape(4, 2), np.eye(3, dtype="float32")[[0, 1, 2, 0]])


def network():
    net = MultiLayerNetwork(
        NeuralNetConfiguration.Builder().seed(6).updater(Sgd(0.1)).list()
        .layer(DenseLayer.Builder().nIn(2).nOut(2).activation(Activation.TANH).build())
        .layer(OutputLayer.Builder(LossFunctions.LossFunction.MCXENT).nIn(2).nOut(3).activation(Activation.SOFTMAX)
               .build()).build()
    )  # fmt: skip
    net.init()
    return net


def trained(listener, steps=10):
    net = network()
    net.setListeners(listener)
    for _ in range(steps):
        net.fit(DATA)
    return net


@pytest.mark.parametrize(
    ("frequency", "iterations"), [(1, list(range(10))), (3, [2, 5, 8]), (0, list(range(10))), (-2, list(range(10)))]
)
def test_every_third_call_keeps_its_score(frequency, iterations):
    listener = CollectScoresIterationListener(frequency)
    trained(listener)
    kept = listener.getScoreVsIter()
    assert kept.getEffectiveIndexes() == iterations
    assert np.allclose(kept.getEffectiveScores(), [SCORES[i] for i in iterations], rtol=1e-4)
    assert (listener.iterations, listener.scores) == (kept.getEffectiveIndexes(), kept.getEffectiveScores())


def test_calls_are_counted_over_fits():
    listener = CollectScoresIterationListener(3)
    net = trained(listener)
    for _ in range(2):
        net.fit(DATA)
    assert listener.getScoreVsIter().getEffectiveIndexes() == [2, 5, 8, 11]


@pytest.mark.parametrize(("count", "length"), [(0, 10000), (3, 10000), (10000, 10000), (10005, 20000)])
def test_scores_stand_in_one_list_that_zeros_fill_up(count, length):
    kept = ScoreStat()
    for i in range(count):
        kept.addScore(i, float(i + 1))
    assert (len(kept.getScores()), len(kept.getIndexes())) == (1, 1)
    assert (
        len(kept.getScores()[0]) == len(kept.getIndexes()[0]) == length == ScoreStat.BUCKET_LENGTH * (length // 10000)
    )
    assert kept.getScores()[0] == [*range(1, count + 1), *[0.0] * (length - count)]


def test_scores_in_files_as_java_writes_them(tmp_path):
    listener = CollectScoresIterationListener(1)
    numbers = [1.0, 0.1, 1e-3, 1e-4, 123456789.0, 1e7, 9999999.0, 1e10, 0.1 + 0.2, 1 / 3, 1e21, -0.0, 100.0]
    for i, number in enumerate([*numbers, float("nan"), float("inf"), float("-inf")]):
        listener.getScoreVsIter().addScore(i, number)
    texts = "1.0 0.1 0.001 1.0E-4 1.23456789E8 1.0E7 9999999.0 1.0E10 0.30000000000000004 0.3333333333333333 1.0E21"
    texts += " -0.0 100.0 NaN Infinity -Infinity"
    lines = ["Iteration,Score", *(f"{i},{text}" for i, text in enumerate(texts.split()))]
    stream = io.BytesIO()
    listener.exportScores(stream, ",")
    assert stream.getvalue().decode() == "\n".join(lines)
    listener.exportScores(tmp_path / "scores.txt")
    assert (tmp_path / "scores.txt").read_bytes().decode() == "\n".join(lines).replace(",", "\t")
    listener.exportScores(tmp_path / "scores.txt", ";")
    assert (tmp_path / "scores.txt").read_bytes().decode() == "\n".join(lines).replace(",", ";")


def test_a_stream_of_texts_is_refused():
    with pytest.raises(nd.NdError, match="exportScores"):
        CollectScoresIterationListener().exportScores(io.StringIO())


def test_no_scores_are_a_heading_alone():
    stream = io.BytesIO()
    CollectScoresIterationListener().exportScores(stream)
    assert stream.getvalue() == b"Iteration\tScore"


# ---- checkpoints


def test_a_checkpoint_after_every_epoch(tmp_path):
    listener = CheckpointListener.Builder(tmp_path).keepAll().saveEveryEpoch().logSaving(False).build()
    net = network()
    net.setListeners(listener)
    net.fit(DATA.batchBy(2), 3)
    for of in ((), (tmp_path,)):
        owner = CheckpointListener if of else listener
        assert [each.getIteration() for each in owner.availableCheckpoints(*of)] == [2, 4, 6]
        assert owner.lastCheckpoint(*of).getCheckpointNum() == 2
        assert owner.getFileForCheckpoint(*of, 1).name == "checkpoint_1_MultiLayerNetwork.zip"
        assert owner.getFileForCheckpoint(*of, listener.lastCheckpoint()).name == "checkpoint_2_MultiLayerNetwork.zip"
        assert owner.loadCheckpointMLN(*of, 1).getIterationCount() == 4
        assert owner.loadCheckpointMLN(*of, listener.availableCheckpoints()[0]).getIterationCount() == 2
    last = CheckpointListener.loadLastCheckpointMLN(tmp_path)
    assert last.getIterationCount() == 6
    assert np.array_equal(last.params(), net.params())


def test_checkpoints_that_are_not_there(tmp_path):
    assert CheckpointListener.availableCheckpoints(tmp_path) == []
    assert CheckpointListener.lastCheckpoint(tmp_path) is None
    with pytest.raises(FileNotFoundError, match="checkpoint 7"):
        CheckpointListener.loadCheckpointMLN(tmp_path, 7)
    with pytest.raises(FileNotFoundError, match="complete checkpoint"):
        CheckpointListener.loadLastCheckpointMLN(tmp_path)
    with pytest.raises(nd.ConfigurationError, match="when to write"):
        CheckpointListener.Builder(tmp_path).keepAll().build()


def test_checkpoints_that_are_not_named(tmp_path):
    listener = CheckpointListener.Builder(tmp_path).saveEveryEpoch().logSaving(False).build()
    for call in (
        lambda: listener.getFileForCheckpoint(), lambda: listener.getFileForCheckpoint(tmp_path, 1, 2),
        lambda: CheckpointListener.getFileForCheckpoint(tmp_path), lambda: listener.loadCheckpointMLN(),
        lambda: CheckpointListener.getFileForCheckpoint(tmp_path, 1, 2),
    ):  # fmt: skip
        with pytest.raises(nd.ConfigurationError, match="getFileForCheckpoint: expected a checkpoint or its number"):
            call()


@pytest.mark.parametrize("since_last", [(), (False,), (True,)])
def test_a_checkpoint_every_three_iterations(tmp_path, since_last):
    listener = CheckpointListener.Builder(str(tmp_path)).saveEveryNIterations(3, *since_last).logSaving(False).build()
    trained(listener)
    assert [each.getIteration() for each in listener.availableCheckpoints()] == [3, 6, 9]


def test_iterations_since_the_last_checkpoint_where_training_goes_on(tmp_path):
    net = network()
    for _ in range(2):
        net.fit(DATA)
    builder = CheckpointListener.Builder(tmp_path).saveEveryNIterations(3, True).saveEvery(1, TimeUnit.DAYS, True)
    listener = builder.logSaving(False).build()
    net.setListeners(listener)
    for _ in range(7):
        net.fit(DATA)
    assert [each.getIteration() for each in listener.availableCheckpoints()] == [5, 8]


# ---- throughput and waiting


def test_performance_listener_from_its_builder(capsys):
    builder = PerformanceListener.Builder().reportScore(True).reportSample(False).reportBatch(False)
    listener = builder.reportIteration(False).reportTime(False).reportETL(False).setFrequency(2).build()
    trained(listener, 4)
    lines = [line for line in capsys.readouterr().out.splitlines() if "score" in line]
    assert len(lines) == 2
    assert "score: 1.209" in lines[0]


def test_performance_listener_by_constructors():
    default = PerformanceListener.Builder().build()
    assert (default.frequency, default.report_score) == (1, False)
    assert (PerformanceListener(5).frequency, PerformanceListener(5).report_score) == (5, False)
    assert PerformanceListener(5, True).report_score
    assert PerformanceListener(5, True, True).report_score
    for wrong in (lambda: PerformanceListener(0), lambda: PerformanceListener.Builder().setFrequency(0).build()):
        with pytest.raises(nd.ConfigurationError, match="frequency"):
            wrong()
    with pytest.raises(nd.ChoiceError, match="report_energy"):
        PerformanceListener.Builder().reportEnergy(True)


def test_sleepy_listener_waits(monkeypatch):
    waits = []
    monkeypatch.setattr(time, "sleep", waits.append)
    builder = SleepyTrainingListener.builder().timerIteration(30).timerFF(20).timerBP(10).timerES(5).timerEE(4)
    listener = builder.sleepMode(SleepyTrainingListener.SleepMode.BUSY).build()
    net = network()
    net.setListeners(listener)
    net.fit(DATA.batchBy(2), 1)
    assert [round(1000 * wait) for wait in waits] == [5, 20, 10, 30, 20, 10, 30, 4]
    assert (listener.getTimerFF(), listener.wants("on_gradient_calculation", 0)) == (20, False)


def test_sleepy_listener_subtracts_what_has_passed(monkeypatch):
    waits, clock = [], iter([1.0, 1.0, 1.25, 1.5])
    monkeypatch.setattr(time, "sleep", waits.append)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    mode = SleepyTrainingListener.TimeMode.ADDITIVE
    listener = SleepyTrainingListener.Builder().timerIteration(1000).timeMode(mode).build()
    for iteration in range(2):
        listener.iterationDone(None, iteration, 0)
    assert waits == [1.0, 0.75]


@pytest.mark.parametrize("mode", ["sleep_mode", "time_mode"])
def test_modes_of_waiting_that_there_are_not(mode):
    with pytest.raises(nd.ChoiceError, match=f"SleepyTrainingListener: unknown {mode} 'junk'"):
        SleepyTrainingListener(**{mode: "junk"})
