"""A recording that Ctrl-C ends leaves nothing behind."""

import gc
import itertools
import sys

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from backends.cpu.recording import active_recording
from backends.errors import NotRecorded


class BeginsOrEnds:
    """Raises KeyboardInterrupt where the n-th Python function begins or ends, where Python looks for signals."""

    def __init__(self, at):
        self.left = at

    def __call__(self, frame, event, argument):
        if "importlib" in frame.f_code.co_filename or frame.f_code.co_name == "<genexpr>":
            return None  # the lock of the one would stay; the end of the other, where it is dropped, raises nothing
        frame.f_trace_lines = False
        self.left -= event in ("call", "return")
        if self.left == 0 and event in ("call", "return"):
            sys.settrace(None)
            raise KeyboardInterrupt("on the way")
        return self


@pytest.fixture(autouse=True)
def on_numpy():
    gc.disable()  # a finaliser of another test's objects would swallow a KeyboardInterrupt
    try:
        with nd.use_backend(NumpyBackend(threads=1)):
            yield
    finally:
        gc.enable()


def test_nothing_is_recorded_after_ctrl_c():
    """Wherever it comes; also while its traceback, and so the functions that it has left, are kept."""
    x, y = np.ones((2, 6, 8), "float32")
    kept, before = [], sys.gettrace()
    for at in itertools.count(1):
        trace = BeginsOrEnds(at)
        try:
            sys.settrace(trace)
            nd.record(lambda: nd.multiply(nd.add(nd.traceable(x), y), 2.0))
        except KeyboardInterrupt as interrupt:
            kept.append(interrupt)
        finally:
            sys.settrace(before)
        assert nd.multiply(x, 2.0, np.empty_like(x)).sum() == 2.0 * x.size
        with pytest.raises(NotRecorded, match="records nothing"):
            active_recording()
        if trace.left > 0:
            break
    assert len(kept) == at - 1 > 20
