"""What the listeners that come with the library print and keep."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import nd
from nn import MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import CollectScoresListener, PerformanceListener, ScoreIterationListener, Sgd
from optimize.listeners import performance


class Clock:
    """Stands in for the module time."""

    now = 100.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    fake = Clock()
    monkeypatch.setattr(performance, "time", fake)
    return fake


def model(score=0.25, batch_size=64, etl_ms=0.0):
    asked = []

    def score_once_asked():
        asked.append(score)
        return score

    return SimpleNamespace(score=score_once_asked, batch_size=batch_size, last_etl_ms=etl_ms, asked=asked)


def run(listener, iterations, of_model):
    for iteration in iterations:
        listener.iteration_done(of_model, iteration, 0)


@pytest.mark.parametrize("with_bar", [False, True])
def test_score_iteration_listener_prints(capsys, monkeypatch, with_bar):
    """Also above a progress bar, through tqdm, when there is one."""
    if with_bar:
        import tqdm  # noqa: F401
    else:
        monkeypatch.delitem(sys.modules, "tqdm", raising=False)
    of_model = model(score=1.23456789)
    run(ScoreIterationListener(3), range(7), of_model)
    lines = [f"Score at iteration {iteration} is 1.23457\n" for iteration in (0, 3, 6)]
    assert capsys.readouterr() == ("".join(lines), "")
    assert len(of_model.asked) == 3  # asking makes a GPU wait


def test_collect_scores_keeps_every_frequency_th_score():
    listener = CollectScoresListener(frequency=3)
    for iteration in range(8):
        listener.iteration_done(model(score=10.0 + iteration), iteration, 0)
    assert (listener.iterations, listener.scores) == ([0, 3, 6], [10.0, 13.0, 16.0])


def test_collect_scores_keeps_all_by_default():
    listener = CollectScoresListener()
    run(listener, range(5, 8), model(score=0.5))
    assert (listener.iterations, listener.scores) == ([5, 6, 7], [0.5] * 3)


def test_collected_scores_are_python_floats(dtype):
    conf = NeuralNetConfiguration(seed=1, dtype=dtype, updater=Sgd(0.1)).list(OutputLayer(n_in=2, n_out=2))
    net = MultiLayerNetwork(conf).init()
    listener = CollectScoresListener()
    net.set_listeners(listener)
    net.fit(np.array([[0.5, -1.0]]), np.array([[1.0, 0.0]]), epochs=3)
    assert [type(score) for score in listener.scores] == [float] * 3
    assert listener.scores == sorted(set(listener.scores), reverse=True)


def test_performance_by_a_faked_clock(clock, capsys):
    listener = PerformanceListener(frequency=2)
    assert np.isnan([listener.samples_per_second, listener.batches_per_second, listener.etl_ms]).all()
    clock.now = 200.0
    listener.on_epoch_start(model())
    clock.now = 200.3
    listener.iteration_done(model(batch_size=64, etl_ms=1.0), 0, 0)
    assert capsys.readouterr().out == ""
    clock.now = 200.5
    of_model = model(batch_size=36, etl_ms=3.0)
    listener.iteration_done(of_model, 1, 0)
    assert listener.samples_per_second == pytest.approx(100 / 0.5)
    assert listener.batches_per_second == pytest.approx(2 / 0.5)
    assert listener.etl_ms == pytest.approx(2.0)
    assert capsys.readouterr().out == (
        "iteration 1; ETL: 2.00 ms; iteration time: 250.00 ms; samples/sec: 200.0; batches/sec: 4.00\n"
    )
    assert of_model.asked == []


def test_performance_starts_a_new_window_after_each_line(clock, capsys):
    listener = PerformanceListener(frequency=1)
    for number, seconds in enumerate((1.0, 0.5)):
        clock.now += seconds
        listener.iteration_done(model(batch_size=10, etl_ms=number), number, 0)
    assert (listener.samples_per_second, listener.etl_ms) == (20.0, 1.0)
    assert capsys.readouterr().out.count("\n") == 2


def test_the_time_between_epochs_does_not_count(clock):
    listener = PerformanceListener(frequency=1)
    clock.now += 1000.0
    listener.on_epoch_start(model())
    clock.now += 2.0
    listener.iteration_done(model(batch_size=10), 0, 0)
    assert listener.samples_per_second == 5.0


@pytest.mark.parametrize(("etl_ms", "waits"), [(49.9, False), (50.1, True), (240.0, True)])
def test_performance_says_when_training_waits_for_data(clock, capsys, etl_ms, waits):
    listener = PerformanceListener(frequency=1)
    clock.now += 0.25
    listener.iteration_done(model(etl_ms=etl_ms), 0, 0)
    said = f"; ETL: {etl_ms:.2f} ms (training waits for data); " in capsys.readouterr().out
    assert said is waits


def test_performance_reports_the_score_on_request(clock, capsys):
    listener = PerformanceListener(frequency=1, report_score=True)
    clock.now += 1.0
    listener.iteration_done(model(score=0.125), 7, 0)
    line = capsys.readouterr().out
    assert line.startswith("iteration 7; ")
    assert line.endswith("; score: 0.125\n")


def test_a_clock_that_stands_still_does_no_harm(clock):
    listener = PerformanceListener(frequency=1)
    listener.iteration_done(model(batch_size=1), 0, 0)
    assert np.isfinite(listener.samples_per_second)


@pytest.mark.parametrize("count", [0, -5])
@pytest.mark.parametrize("kind", [CollectScoresListener, PerformanceListener])
def test_frequencies_start_at_1(kind, count):
    with pytest.raises(nd.ConfigurationError, match=rf"{kind.__name__}: \w+ must be an integer >= 1, got {count}\."):
        kind(count)


def test_a_score_is_printed_at_no_negative_frequency():
    with pytest.raises(nd.ConfigurationError, match="print_iterations must be an integer >= 0, got -5"):
        ScoreIterationListener(-5)
