"""Ctrl-C at any moment, errors of listeners, iterators, preprocessors: saved and resumed, training goes on the same."""

import dis
import os
import signal
import sys
import threading
import time
from functools import cache

import numpy as np
import pytest

import nd
from nd.dataset import AsyncDataSetIterator, DataSet, ListDataSetIterator
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Listener, MaxNormConstraint
from tests.sweeps import share

RNG = np.random.default_rng(4)
DATA = DataSet(RNG.normal(size=(14, 4)).astype(np.float32), np.eye(2, dtype=np.float32)[RNG.integers(0, 2, 14)])
EPOCHS = 3
PACKAGES = tuple(
    os.path.dirname(os.path.abspath(each.__file__)) for each in (nd, sys.modules["nn"], sys.modules["optimize"])
)


class InThisThread(ListDataSetIterator):
    """Is not read ahead."""

    def async_supported(self):
        return False


def sgd():
    return NeuralNetConfiguration(seed=3, updater="adam", constrain_weights=MaxNormConstraint(1.5)).list(
        DenseLayer(n_in=4, n_out=5, activation="tanh", drop_out=0.7), OutputLayer(n_in=5, n_out=2, activation="softmax")
    )


def lines(algorithm="lbfgs", **settings):
    return NeuralNetConfiguration(
        seed=3, updater="sgd", optimization_algo=algorithm, iterations=2, max_num_line_search_iterations=3, **settings
    ).list(
        DenseLayer(n_in=4, n_out=3, activation="tanh", drop_out=0.8), OutputLayer(n_in=3, n_out=2, activation="softmax")
    )


def read_ahead():
    return ListDataSetIterator(DATA, batch=5)


def in_this_thread():
    return InThisThread(DATA, batch=5)


KINDS = {
    "sgd": (sgd, in_this_thread),
    "sgd, read ahead": (sgd, read_ahead),
    "sgd, one minibatch": (sgd, lambda: DATA),
    "lbfgs": (lines, in_this_thread),
    "conjugate gradient": (
        lambda: lines("conjugate_gradient", constrain_weights=MaxNormConstraint(1.5)),
        in_this_thread,
    ),
    "line gradient descent": (lambda: lines("line_gradient_descent"), lambda: DATA),
}


def everything(net):
    return (
        nd.to_host(net.params()).tobytes(),
        nd.to_host(net.updater_state()).tobytes(),
        net.random.get_state(),
        net.iteration_count,
        net.epoch_count,
    )


def uninterrupted(kind):
    make, data = KINDS[kind]
    net = MultiLayerNetwork(make()).init()
    net.fit(data(), epochs=EPOCHS)
    return everything(net)


def saved_and_resumed(net, data, path):
    """What becomes of an interrupted network, though others are made and trained in between."""
    net.save_checkpoint(path)
    resumed = MultiLayerNetwork.load_checkpoint(path)
    MultiLayerNetwork(sgd()).init()
    resumed.fit(data, epochs=EPOCHS)
    return everything(resumed)


@cache
def interruptible_lines(code):
    """Return the lines of a function at which Python handles signals: it does so at calls and at jumps back."""
    where = ("CALL", "JUMP_BACKWARD", "RESUME", "SEND")
    return {each.positions.lineno for each in dis.get_instructions(code) if each.opname.startswith(where)}


class AtEvent:
    """Sends SIGINT at the n-th line of this library that the main thread comes to, or the next that can be stopped."""

    def __init__(self, at):
        self.at, self.count, self.where = at, 0, ""

    def __call__(self, frame, event, argument):
        return self.line if frame.f_code.co_filename.startswith(PACKAGES) else None

    def line(self, frame, event, argument):
        if event == "line":
            self.count += 1
            if self.count >= self.at and not self.where and frame.f_lineno in interruptible_lines(frame.f_code):
                self.where = f"{frame.f_code.co_qualname}:{frame.f_lineno}"
                signal.raise_signal(signal.SIGINT)
        return self.line


def interrupted(net, data, at):
    """Train; return the trace once SIGINT has come, None where training has ended before."""
    trace, before = AtEvent(at), sys.gettrace()
    sys.settrace(trace)
    try:
        net.fit(data, epochs=EPOCHS)
    except KeyboardInterrupt:
        return trace
    finally:
        sys.settrace(before)
    return None


def warmed(kind):
    """Return how many lines a fit takes that is not the first, which records."""
    uninterrupted(kind)
    (make, data), trace = KINDS[kind], AtEvent(sys.maxsize)
    net, given = MultiLayerNetwork(make()).init(), data()
    sys.settrace(trace)
    try:
        net.fit(given, epochs=EPOCHS)
    finally:
        sys.settrace(None)
    return trace.count


def check_at(kind, points, tmp_path):
    make, data = KINDS[kind]
    whole, wrong = uninterrupted(kind), []
    for at in points:
        net = MultiLayerNetwork(make()).init()
        trace = interrupted(net, data(), at)
        if trace is not None and saved_and_resumed(net, data(), tmp_path / "checkpoint.zip") != whole:
            wrong.append((at, trace.where))
    assert not wrong, wrong
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        signal.raise_signal(signal.SIGINT)
    net = MultiLayerNetwork(make()).init()
    assert nd.random.get_random() is net.random  # no interrupted network's generator has stayed in force
    net.fit(data())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("kind", ["sgd", "sgd, read ahead"])
@pytest.mark.quick_rows("sgd")
def test_interrupted_at_many_lines(kind, tmp_path):
    lines_in_all = warmed(kind)
    last = range(lines_in_all - 5, lines_in_all + 1)
    check_at(kind, [*range(3, last[0], max(1, lines_in_all // 20)), *last], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_interrupted_at_most_lines(kind, tmp_path):
    lines_in_all = warmed(kind)
    last = range(lines_in_all - 60, lines_in_all + 1)
    check_at(kind, [*range(1, last[0], max(1, lines_in_all // share(400))), *last], tmp_path)


# ---- errors instead of Ctrl-C


class _Stop(Exception):
    pass


class Raises(Listener):
    """Raises in the n-th call of one of its methods."""

    def __init__(self, method, at):
        self.count = 0

        def called(*arguments):
            self.count += 1
            if self.count == at:
                raise _Stop(f"{method}, call {at}")

        setattr(self, method, called)


def check_after(net, data, kind, tmp_path, **keywords):
    with pytest.raises(_Stop, match="call"):
        net.fit(data, epochs=EPOCHS)
    net.set_listeners()
    assert saved_and_resumed(net, KINDS[kind][1](), tmp_path / "checkpoint.zip") == uninterrupted(kind)


METHODS = (
    "on_epoch_start", "on_forward_pass", "on_backward_pass", "on_gradient_calculation", "iteration_done",
    "on_epoch_end", "on_fit_end", "close",
)  # fmt: skip


HEARD = [  # one minibatch has no epochs
    (kind, method)
    for kind, (_, data) in KINDS.items()
    for method in METHODS
    if not (method.startswith("on_epoch") and isinstance(data(), DataSet))
]


@pytest.mark.parametrize("calls", [(2,), pytest.param((1, 3), marks=pytest.mark.slow)], ids=["second", "others"])
@pytest.mark.parametrize(
    ("kind", "method"), [pytest.param(*one, marks=[pytest.mark.slow] * (at % 3 > 0)) for at, one in enumerate(HEARD)]
)
@pytest.mark.quick_rows(every=3)
def test_a_listener_raises(kind, method, calls, tmp_path):
    make, data = KINDS[kind]
    for at in (1,) if method in ("on_fit_end", "close") else calls:
        net = MultiLayerNetwork(make()).init()
        net.set_listeners(Raises(method, at))
        check_after(net, data(), kind, tmp_path)


class _Broken:
    """A preprocessor that raises in its n-th call."""

    def __init__(self, at):
        self.at, self.count = at, 0

    def pre_process(self, data_set):
        self.count += 1
        if self.count == self.at:
            raise _Stop(f"pre_process, call {self.at}")


@pytest.mark.parametrize("kind", ["sgd", "sgd, read ahead", "lbfgs"])
@pytest.mark.parametrize("at", [1, 2, 5, 9])
@pytest.mark.parametrize("what", ["iterator", "preprocessor"])
@pytest.mark.quick_rows(every=3)
def test_the_source_raises(kind, at, what, tmp_path, monkeypatch):
    make, data = KINDS[kind]
    source, net = data(), MultiLayerNetwork(make()).init()
    if what == "preprocessor":
        source.set_pre_processor(_Broken(at))
    else:
        following, broken = source.next, _Broken(at)
        monkeypatch.setattr(source, "next", lambda *arguments: (broken.pre_process(None), following(*arguments))[1])
    check_after(net, source, kind, tmp_path)


@pytest.mark.parametrize("how", ["fit", "fit_batch"])
def test_an_update_is_never_half_applied(how, monkeypatch):
    """Ctrl-C in the update, in the constraints, or between: the update is whole, counted and constrained."""
    whole = MultiLayerNetwork(sgd()).init()
    whole.fit_batch(DATA)
    net = MultiLayerNetwork(sgd()).init()
    run = {"fit": lambda: net.fit(DATA), "fit_batch": lambda: net.fit_batch(DATA)}[how]
    for owner, name in ((net.updater, "update"), (net.updater.constraints, "apply")):
        given = getattr(owner, name)

        def interrupted(*arguments, given=given, **keywords):
            signal.raise_signal(signal.SIGINT)
            return given(*arguments, **keywords)

        monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        run()
    assert everything(net) == everything(whole)
    assert net.iteration_count == 1


def test_as_fit_begins_it_leaves_a_network_that_may_be_fitted(monkeypatch):
    net = MultiLayerNetwork(sgd()).init()
    begin = net._begin_fit  # nothing public is called between the beginning and the first minibatch
    # Right after it.
    monkeypatch.setattr(net, "_begin_fit", lambda call: (begin(call), signal.raise_signal(signal.SIGINT)))
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        net.fit(DATA)
    monkeypatch.undo()
    net.fit(DATA)
    assert net.iteration_count == 1


# ---- reading ahead


class Slow(ListDataSetIterator):
    """Its second minibatch is a long time coming."""

    def __init__(self, gate, reading):
        super().__init__(DATA, batch=5)
        self.gate, self.reading, self.inside, self.most = gate, reading, 0, 0

    def next(self, num=None):
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.position_of_next():
            self.reading()
            self.gate.wait(30)
        self.inside -= 1
        return super().next(num)

    def position_of_next(self):
        return self.state() != ListDataSetIterator(DATA, batch=5).state()


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "AsyncDataSetIterator"]


def test_ctrl_c_does_not_wait_for_a_slow_source_and_who_reads_on_does():
    gate, main = threading.Event(), threading.main_thread().ident
    sent = []

    def reading():
        if not sent:
            sent.append(1)
            signal.pthread_kill(main, signal.SIGINT)

    base, net = Slow(gate, reading), MultiLayerNetwork(sgd()).init()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        net.fit(base)
    assert time.monotonic() - began < 20  # the gate is shut for 30
    assert len(threads()) == 1
    threading.Timer(0.2, gate.set).start()
    net.fit(base)
    assert base.most == 1  # never two threads in it
    assert not threads()


def test_the_prefetch_thread_starts_and_ends_whole():
    """SIGINT at every line of a use from beginning to end: no other error, and no thread stays."""
    files = (os.path.join(os.path.dirname(os.path.abspath(nd.__file__)), "dataset"), threading.__file__)

    def use():
        with AsyncDataSetIterator(ListDataSetIterator(DATA, batch=5), queue_size=2) as iterator:
            return [each.num_examples() for each in iterator]

    class Here(AtEvent):
        def __call__(self, frame, event, argument):
            return self.line if frame.f_code.co_filename.startswith(files) else None

    at, ended = 0, False
    while not ended:
        at += 1
        sys.settrace(Here(at))
        try:
            ended = use() == [5, 5, 4]
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        for thread in threads():
            thread.join(30)
        assert not threads(), at
    assert at > 100
