"""When a network calls its listeners, and the progress bar that fit puts among them."""

import io
import sys

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import CheckpointListener, Listener, ProgressBarListener, Sgd
from tests.stand_ins import TOLERANCE

RNG = np.random.default_rng(11)
FEATURES = RNG.normal(size=(12, 3)).astype(np.float32)
LABELS = np.eye(2, dtype=np.float32)[RNG.integers(0, 2, 12)]


class Recorder(Listener):
    """Writes down every call, and does what a test asks for at an iteration."""

    def __init__(self, log=None, at=None):
        self.log = [] if log is None else log
        self.at = at or {}
        self.seen = []

    def on_epoch_start(self, model):
        self.log.append(("epoch_start", model.epoch_count))

    def on_epoch_end(self, model):
        self.log.append(("epoch_end", model.epoch_count))

    def on_forward_pass(self, model, activations):
        self.log.append(("forward", [tuple(a.shape) for a in activations]))

    def on_backward_pass(self, model):
        self.log.append(("backward",))

    def on_gradient_calculation(self, model):
        self.log.append(("gradient",))
        self.seen.append((np.array(nd.to_host(model.params())), np.array(nd.to_host(model.flattened_gradients()))))

    def iteration_done(self, model, iteration, epoch):
        self.log.append(("done", iteration, epoch))
        self.seen[-1] = (*self.seen[-1], np.array(nd.to_host(model.params())))
        if iteration in self.at:
            raise self.at[iteration]

    def close(self):
        self.log.append(("close",))


class BadlyClosed(Listener):
    def close(self):
        raise RuntimeError("the file is gone")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def network():
    conf = NeuralNetConfiguration(seed=2, updater=Sgd(0.5)).list(
        DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def batches(size=4):
    return ListDataSetIterator(DataSet(FEATURES, LABELS), size)


@pytest.fixture
def bars(monkeypatch):
    """The progress bars that were made."""
    import tqdm

    made = []

    class Bar(tqdm.tqdm):
        def __init__(self, *arguments, **settings):
            super().__init__(*arguments, **settings)
            made.append(self)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    return made


@pytest.fixture
def open_terminal(monkeypatch):
    """Makes stderr a terminal; to be called in the test, because pytest replaces stderr after the fixtures."""

    def replace():
        fake = Terminal()
        monkeypatch.setattr(sys, "stderr", fake)
        return fake

    return replace


# ---- order


def one_step(iteration, epoch, examples):
    forward = ("forward", [(examples, 3), (examples, 4), (examples, 2)])
    return [forward, ("backward",), ("gradient",), ("done", iteration, epoch)]


def test_hooks_come_in_order():
    net, listener = network(), Recorder()
    net.set_listeners(listener)
    net.fit(batches(8), epochs=2)
    assert listener.log == [
        ("epoch_start", 0), *one_step(0, 0, 8), *one_step(1, 0, 4), ("epoch_end", 0),
        ("epoch_start", 1), *one_step(2, 1, 8), *one_step(3, 1, 4), ("epoch_end", 1),
        ("close",),
    ]  # fmt: skip
    assert (net.iteration_count, net.epoch_count) == (4, 2)


def test_a_single_minibatch_is_no_epoch():
    net, listener = network(), Recorder()
    net.set_listeners(listener)
    net.fit(FEATURES, LABELS)
    assert listener.log == [*one_step(0, 0, 12), ("close",)]
    assert (net.iteration_count, net.epoch_count) == (1, 0)


def test_every_listener_hears_a_hook_before_any_hears_the_next():
    log = []
    net = network()
    net.set_listeners(Recorder(log))
    net.add_listeners(Recorder(log))
    net.fit(FEATURES, LABELS)
    assert log == [call for call in [*one_step(0, 0, 12), ("close",)] for _ in range(2)]


def test_the_gradient_is_raw_and_the_parameters_move_before_iteration_done():
    net, listener = network(), Recorder()
    net.set_listeners(listener)
    net.fit(FEATURES, LABELS)
    before, gradient, after = listener.seen[0]
    np.testing.assert_allclose(after, before - 0.5 * gradient / 12, **TOLERANCE["float32"])
    assert np.abs(gradient).max() > 0.1


@pytest.mark.parametrize("error", [KeyboardInterrupt("ctrl-c"), RuntimeError("broken")])
def test_listeners_are_closed_after_an_error(error):
    net, listener, other = network(), Recorder(at={1: error}), Recorder()
    net.set_listeners(listener, other)
    with pytest.raises(type(error), match=str(error)):
        net.fit(batches(), epochs=5)
    assert listener.log[-2:] == [("done", 1, 0), ("close",)]
    assert other.log.count(("close",)) == listener.log.count(("close",)) == 1
    assert net.listeners == [listener, other]
    listener.at.clear()
    net.fit(batches())
    assert (net.iteration_count, net.epoch_count) == (2 + 3, 1)


def test_listeners_are_closed_when_the_data_do_not_fit():
    net, listener = network(), Recorder()
    net.set_listeners(listener)
    with pytest.raises(nd.ShapeError, match=r"layer 0 \(DenseLayer\): expected input \[N, 3\], got \[12, 2\]"):
        net.fit(FEATURES[:, :2], LABELS)
    assert listener.log == [("close",)]


def test_one_listener_that_fails_to_close_does_not_keep_the_others_open(open_terminal, bars):
    open_terminal()
    net, before, after = network(), Recorder(), Recorder()
    broken = BadlyClosed()
    net.set_listeners(before, broken, after)
    with pytest.raises(RuntimeError, match="the file is gone"):
        net.fit(batches())
    assert before.log[-1] == after.log[-1] == ("close",)
    assert net.listeners == [before, broken, after]
    assert [bar.disable for bar in bars] == [True]


# ---- the progress bar


def test_a_terminal_gets_a_bar_per_epoch(open_terminal, bars):
    terminal = open_terminal()
    net = network()
    net.fit(batches(), epochs=2)
    assert [(bar.desc, bar.total, bar.n, bar.disable) for bar in bars] == [
        ("epoch 1/2", 3, 3, True),
        ("epoch 2/2", 3, 3, True),
    ]
    shown = terminal.getvalue()
    assert "epoch 2/2: 100%" in shown
    assert "batch/s" in shown
    assert "score 0." in shown
    assert shown.endswith("\n")
    assert net.listeners == []


@pytest.mark.parametrize("error", [KeyboardInterrupt("ctrl-c"), RuntimeError("broken")])
def test_the_bar_is_closed_on_ctrl_c(open_terminal, bars, error):
    terminal = open_terminal()
    net, listener = network(), Recorder(at={1: error})
    net.set_listeners(listener)
    with pytest.raises(type(error), match=str(error)):
        net.fit(batches(), epochs=5)
    assert [(bar.n, bar.disable) for bar in bars] == [(1, True)]
    assert terminal.getvalue().endswith("\n")
    assert net.listeners == [listener]


def test_a_bar_counts_the_epochs_before_a_checkpoint(open_terminal, bars, tmp_path):
    net, saver = network(), CheckpointListener(tmp_path, save_every_n_iterations=4)
    net.set_listeners(saver)
    net.fit(batches(), epochs=2)
    open_terminal()
    MultiLayerNetwork.load_checkpoint(tmp_path).fit(batches(), epochs=2)
    assert [(bar.desc, bar.n) for bar in bars] == [("epoch 2/2", 2)]


def test_nothing_is_printed_where_there_is_no_terminal(bars, capsys):
    network().fit(batches(), epochs=2)
    assert capsys.readouterr() == ("", "")
    assert bars == []


def test_a_single_minibatch_gets_no_bar(open_terminal, bars):
    terminal = open_terminal()
    network().fit(FEATURES, LABELS, epochs=3)
    assert (terminal.getvalue(), bars) == ("", [])


def test_no_second_bar_beside_the_users_own(open_terminal, bars):
    open_terminal()
    net = network()
    own = ProgressBarListener(batches=3, epochs=1)
    net.set_listeners(own)
    net.fit(batches())
    assert len(bars) == 1
    assert net.listeners == [own]


def test_the_bar_looks_at_the_score_as_seldom_as_asked(open_terminal):
    terminal = open_terminal()
    net = network()
    asked = []
    bar = ProgressBarListener(batches=50, score_frequency=20)
    bar.on_epoch_start(net)
    net.score = lambda: asked.append(bar) or 0.5
    for iteration in range(50):
        bar.iteration_done(net, iteration, 0)
    bar.on_epoch_end(net)
    assert len(asked) == 3
    assert "score 0.5000" in terminal.getvalue()


def test_a_bar_that_was_not_started_or_is_closed_stays_silent(open_terminal):
    terminal = open_terminal()
    bar = ProgressBarListener()
    bar.iteration_done(network(), 0, 0)
    bar.close()
    bar.close()
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("algorithm", ["stochastic_gradient_descent", "line_gradient_descent", "lbfgs"])
def test_inside_iteration_done_the_step_is_counted(algorithm, tmp_path):
    """So what is saved there goes on with the next step, to the bit; Java's count is still that of the step."""
    counts, path = [], tmp_path / "net.zip"

    class Counts(Listener):
        def iteration_done(self, model, iteration, epoch):
            counts.append((iteration, model.iteration_count, epoch, model.epoch_count))
            if iteration == 3:
                model.save_checkpoint(path)

    def batches():
        return ListDataSetIterator(DataSet(FEATURES, LABELS), 4)

    layers = DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_out=2, activation="softmax")
    conf = NeuralNetConfiguration(seed=5, updater=Sgd(0.1), optimization_algo=algorithm).list(*layers)
    net = MultiLayerNetwork(conf).init()
    net.set_listeners(Counts())
    net.fit(batches(), epochs=2)
    assert counts == [(i, i + 1, i // 3, i // 3) for i in range(6)]
    again = MultiLayerNetwork.load_checkpoint(path)
    assert again.iteration_count == 4
    again.fit(batches(), epochs=2)
    assert again.iteration_count == 6
    np.testing.assert_array_equal(nd.to_host(again.params()), nd.to_host(net.params()))
