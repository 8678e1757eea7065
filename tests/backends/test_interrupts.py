"""Ctrl-C is held back in the main thread, and delivered; programs keep a handler of their own."""

import signal
import threading

import pytest

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
