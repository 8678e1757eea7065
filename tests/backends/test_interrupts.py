"""Ctrl-C is held back in the main thread, and delivered; programs keep a handler of their own."""

import signal
import sys
import threading

import pytest

from backends import interrupts
from backends.interrupts import Handling, Held


def test_held_back_until_the_block_ends():
    done = []

    def work():
        with Handling(), Held():
            signal.raise_signal(signal.SIGINT)
            done.append(1)
            with Held():
                signal.raise_signal(signal.SIGINT)
            done.append(2)

    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        work()
    assert done == [1, 2]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with Held():  # nothing is left over
        pass


def test_the_second_one_is_not_lost():
    with Handling():
        with pytest.raises(KeyboardInterrupt, match=r"^$"), Held():
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            signal.raise_signal(signal.SIGINT)


def test_outside_of_a_held_block_it_comes_at_once():
    with Handling(), pytest.raises(KeyboardInterrupt, match=r"^$"):
        signal.raise_signal(signal.SIGINT)


def test_an_error_of_the_block_is_the_context():
    def work():
        with Held():
            signal.raise_signal(signal.SIGINT)
            raise ValueError("in the block")

    with pytest.raises(KeyboardInterrupt, match=r"^$") as caught:
        work()
    assert str(caught.value.__context__) == "in the block"


def test_a_handler_of_the_programs_own_is_kept(monkeypatch):
    heard = []

    def own(number, frame):
        heard.append(number)

    before = signal.signal(signal.SIGINT, own)
    try:
        with Handling(), Held():
            assert signal.getsignal(signal.SIGINT) is own
            signal.raise_signal(signal.SIGINT)
            assert heard == [signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_hold_nothing_back():
    entered, leave = threading.Event(), threading.Event()

    def work():
        with Handling(), Held():
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert entered.wait(30)
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            signal.raise_signal(signal.SIGINT)
    finally:
        leave.set()
        thread.join()


def lines_traced(line, interrupt):
    """Return a trace function that interrupts at one line of backends/interrupts.py, and the lines it has seen."""
    seen = []

    def trace(frame, event, argument):
        if frame.f_code.co_filename != interrupts.__file__:
            return None
        if event == "line":
            seen.append(frame.f_lineno)
            if len(seen) == line:
                sys.settrace(None)
                interrupt()
        return trace

    return trace, seen


def by_an_alarm():
    """A handler of another signal runs, and SIGINT comes within it."""
    before = signal.signal(signal.SIGALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    try:
        signal.raise_signal(signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("blocks", [(Handling,), (Held,), (Handling, Held), (Handling, Handling)])
def test_no_handler_is_left_wherever_another_signals_handler_is_interrupted(blocks):
    def work(left):
        if left:
            with left[0]():
                work(left[1:])

    line, raised = 0, 0
    while line == raised:  # until there is no such line
        line += 1
        trace, seen = lines_traced(line, by_an_alarm)
        sys.settrace(trace)
        try:
            work(blocks)
        except KeyboardInterrupt:
            raised += 1
        finally:
            sys.settrace(None)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, seen
    assert raised >= 8
