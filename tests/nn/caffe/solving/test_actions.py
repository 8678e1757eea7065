"""Signals that ask a solver to stop or to write a snapshot."""

import signal
import threading

import pytest

import nd
from nn.caffe.solving.actions import SignalActions
from tests.cells import every_row

HANGUP = getattr(signal, "SIGHUP", None)


def heard_now():
    return signal.getsignal(signal.SIGINT), HANGUP and signal.getsignal(HANGUP)


@pytest.mark.skipif(HANGUP is None, reason="the system has no SIGHUP")
def test_an_action_is_asked_for_once():
    before = heard_now()
    with SignalActions() as actions:
        assert actions() == "none"
        signal.raise_signal(HANGUP)
        assert [actions(), actions()] == ["snapshot", "none"]
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(HANGUP)
        assert [actions(), actions(), actions()] == ["stop", "snapshot", "none"]
    assert heard_now() == before


@every_row(("effect", "asked"), [("none", "none"), ("snapshot", "snapshot"), ("stop", "stop")])
def test_what_a_signal_does_is_chosen(effect, asked):
    with SignalActions(effect) as actions:
        signal.raise_signal(signal.SIGINT)
        assert [actions(), actions()] == [asked, "none"]


def test_a_second_ctrl_c_before_the_solver_asks_interrupts():
    before = heard_now()
    with SignalActions() as actions:
        signal.raise_signal(signal.SIGINT)
        assert actions() == "stop"
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            signal.raise_signal(signal.SIGINT)
    assert heard_now() == before


def test_another_thread_hears_nothing():
    before, said = heard_now(), []

    def run():
        with SignalActions() as actions:
            said.extend([actions(), heard_now() == before])

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert said == ["none", True]


def test_there_are_three_actions():
    with pytest.raises(nd.ChoiceError, match=r"effect of SIGHUP: unknown action 'pause', expected one of none, snap"):
        SignalActions("stop", "pause")
