"""The progress of a fit where tqdm is not installed: plain text, and never an error."""

import io
import sys

import numpy as np
import pytest

from nd.dataset import DataSet, ListDataSetIterator
from nn import MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Listener, ProgressBarListener, ScoreIterationListener, Sgd
from optimize.listeners import reporting
from optimize.listeners.reporting import ProgressLine, report


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def no_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(reporting, "SECONDS_BETWEEN_DRAWINGS", 0)


def network():
    conf = NeuralNetConfiguration(seed=2, updater=Sgd(0.5)).list(OutputLayer(n_in=3, n_out=2, activation="softmax"))
    return MultiLayerNetwork(conf).init()


def batches():
    return ListDataSetIterator(DataSet(np.zeros((12, 3), "float32"), np.tile(np.eye(2, dtype="float32"), (6, 1))), 4)


def seen(text):
    """What a terminal shows in the end: a carriage return goes back to the start of the line, and text covers text."""
    shown = []
    for line in text.split("\n"):
        cells = []
        for piece in line.split("\r"):
            cells[: len(piece)] = piece
        shown.append("".join(cells).rstrip())
    return shown


def test_fit_on_a_terminal_shows_a_line_per_epoch(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    network().fit(batches(), epochs=2)
    # features of zeros: every class has the probability 1/2, and log 2 is 0.6931
    assert seen(terminal.getvalue()) == [
        "epoch 1/2: 3/3 batches, score 0.6931", "epoch 2/2: 3/3 batches", ""
    ]  # fmt: skip
    assert "\repoch 1/2: 2/3 batches" in terminal.getvalue()


def test_fit_without_a_terminal_shows_nothing(capsys):
    network().fit(batches(), epochs=2)
    assert capsys.readouterr() == ("", "")


def test_a_bar_of_the_users_own_is_one_line_where_there_is_no_terminal(capsys):
    net = network()
    net.set_listeners(ProgressBarListener())
    net.fit(batches())
    assert capsys.readouterr() == ("", "epoch 1: 3 batches, score 0.6931\n")


def test_reports_stand_above_the_line(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", terminal)
    net = network()
    net.set_listeners(ScoreIterationListener(2))
    net.fit(batches())
    assert seen(terminal.getvalue()) == [
        "Score at iteration 0 is 0.693147", "Score at iteration 2 is 0.693147",
        "epoch 1/1: 3/3 batches, score 0.6931", "",
    ]  # fmt: skip


def test_the_line_is_closed_when_fit_fails(monkeypatch):
    class Failing(Listener):
        def iteration_done(self, model, iteration, epoch):
            raise ValueError("stop")

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    net = network()
    net.set_listeners(Failing())
    with pytest.raises(ValueError, match="stop"):
        net.fit(batches())
    assert terminal.getvalue().endswith("batches\n")
    report("after")
    assert terminal.getvalue().endswith("batches\n")  # nobody draws it again


def test_a_line_draws_no_more_often_than_it_should(monkeypatch):
    now = [50.0]
    monkeypatch.setattr(reporting, "SECONDS_BETWEEN_DRAWINGS", 0.1)
    monkeypatch.setattr(reporting.time, "monotonic", lambda: now[0])
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    line = ProgressLine(None, "epoch 1")
    for seconds in (50.05, 50.125, 50.2):
        now[0] = seconds
        line.update()
    assert terminal.getvalue() == "\repoch 1: 0 batches\repoch 1: 2 batches"
    line.close()
    line.close()
    assert seen(terminal.getvalue()) == ["epoch 1: 3 batches", ""]
