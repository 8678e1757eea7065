"""Ctrl-C at every line and at random moments of every public pass: it comes out, and the network goes on as before."""

import dis
import inspect
import os
import random
import signal
import sys
import threading
import time
from functools import cache

import numpy as np
import pytest

import nd
from nd.state import state
from tests.nn import passes
from tests.nn.passes import LIBRARIES, PASSES, Unraisable, faults, in_force, made, whole
from tests.nn.step.test_interrupted import interruptible_lines
from tests.nn.step.test_interrupted_at_random import Alarm
from tests.sweeps import share

FOLDER = os.path.dirname(os.path.abspath(passes.__file__))
STDLIB = os.path.dirname(threading.__file__)
TRACED = (
    *(os.path.dirname(os.path.abspath(sys.modules[name].__file__)) for name in ("backends", "nd", "nn", "optimize")),
    os.path.dirname(np.__file__), os.path.join(STDLIB, "contextlib.py"), os.path.join(STDLIB, "weakref.py"),
    os.path.join(STDLIB, "_weakrefset.py"), os.path.join(STDLIB, "zipfile.py"), os.path.join(STDLIB, "functools.py"),
)  # fmt: skip


@cache
def leaves(code, offset):
    """Tell whether a with block ends there: Python looks for signals only when its `__exit__` has begun."""
    following = [each for each in dis.get_instructions(code) if each.offset >= offset][:3]
    return [(each.opname, each.argval) for each in following] == [("LOAD_CONST", None)] * 3


class AtEvent:
    """Sends SIGINT at the n-th beginning, line or end of a Python function that the main thread comes to."""

    def __init__(self, at):
        self.at, self.count, self.where = at, 0, ""

    def __call__(self, frame, event, argument):
        code = frame.f_code
        if not code.co_filename.startswith(TRACED) or "importlib" in code.co_filename:
            return None
        # A trace is told of generators that are dropped, too, where Python does not look for signals.
        dropped = code.co_flags & inspect.CO_GENERATOR and (event == "call" or code.co_name == "<genexpr>")
        of_user = code.co_name == "__exit__" and frame.f_back.f_code is passes.eager_block  # see docs/threads.md
        checked = event != "line" or (frame.f_lineno in interruptible_lines(code) and not leaves(code, frame.f_lasti))
        if not (dropped or of_user) and event != "exception" and checked:
            self.count += 1
            if self.count >= self.at and not self.where:
                self.where = f"{code.co_filename}: {code.co_qualname}:{frame.f_lineno}, {event}"
                signal.raise_signal(signal.SIGINT)
        return self


def run(name, net, at, path):
    """Run a pass with SIGINT at an event; return the trace, and whether KeyboardInterrupt came out."""
    trace, before = AtEvent(at), sys.gettrace()
    sys.settrace(trace)
    try:
        PASSES[name](net, path)
    except KeyboardInterrupt:
        return trace, True
    finally:
        sys.settrace(before)
    return trace, False


def check(name, library, share, path):
    """Interrupt a pass at a share of its events, and at the last ones; return how many there are."""
    whole(name, library, path)
    count, wrong = run(name, made(name, library), sys.maxsize, path)[0].count, []
    last = max(1, count - 40)
    for at in [*range(1, last, max(1, int(last / share))), *range(last, count + 1, max(1, 40 * 4 // share))]:
        net, before = made(name, library), in_force()
        with Unraisable() as swallowed:
            trace, came = run(name, net, at, path)
        if trace.where:
            wrong += [(at, trace.where, "swallowed", *swallowed)] if not came or swallowed else []
            wrong += [(at, trace.where, fault) for fault in faults(name, library, net, before, path)]
    assert not wrong, "\n".join(map(str, wrong))
    return count


SOME = ("fit read ahead", "output in training")


@pytest.mark.parametrize("name", SOME)
@pytest.mark.quick_rows("output in training")
def test_at_some_lines(name, tmp_path):
    assert check(name, LIBRARIES[0], 3, tmp_path) > 20


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", PASSES)
def test_at_most_lines(name, library, tmp_path):
    check(name, library, share(100), tmp_path)


# ---- at random moments


def sent_after(seconds, name, net, path):
    """Run a pass with SIGINT after some seconds; return whether it was sent, and whether KeyboardInterrupt came out."""

    def work(alarm):
        alarm.after(seconds)
        PASSES[name](net, path)

    alarm = Alarm()
    came = alarm.interrupting(work) is not None
    return alarm.sent, came


def duration(name, library, path):
    """Return the seconds that a pass takes."""
    net, began = made(name, library), time.perf_counter()
    PASSES[name](net, path)
    return time.perf_counter() - began


def check_at_random(name, library, count, path, seed=20261124):
    """Interrupt a pass so often; return how many SIGINTs came, within the time that it takes."""
    rng, wrong, sent, left = random.Random(seed), [], 0, 0
    whole(name, library, path)
    lasts = min(duration(name, library, path) for _ in range(3))  # of a busy machine's one may be many times as long
    for _ in range(3 * count):
        net, before = made(name, library), in_force()
        moment, began = rng.uniform(0.0, lasts), time.perf_counter()
        with Unraisable() as swallowed:
            was_sent, came = sent_after(moment, name, net, path)
        if time.perf_counter() - began > moment + 10:
            wrong.append((moment, "it took long"))
        if name == "fit in eager mode" and nd.is_eager():  # by the block of its own, see docs/threads.md
            state.eager, left = False, left + 1
        if was_sent:
            sent += 1
            wrong += [(moment, "swallowed", *swallowed)] if not came or swallowed else []
            wrong += [(moment, fault) for fault in faults(name, library, net, before, path)]
        if sent == count:
            break
    assert not wrong, "\n".join(map(str, wrong))
    assert left <= 2
    return sent


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", PASSES)
def test_200_at_random_moments(name, library, tmp_path):
    assert check_at_random(name, library, share(200), tmp_path) > share(200) // 2
