"""Work that waits (HOST_CUDA=late): it runs when somebody waits for it, in the order of streams and events."""

import ctypes
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
NOT_READY = 600
NON_BLOCKING = 1


def run_program(name, modes, module=__name__):
    """Run a function of a test file in a process of its own, and return what it prints."""
    command = [sys.executable, "-c", f"import {module} as tests; tests.{name}()"]
    environment = {**os.environ, "HOST_CUDA": modes}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Cells:
    """Numbers of the device that the host looks at without waiting; work writes one of them on a stream."""

    def __init__(self, cupy):
        self.runtime = cupy.cuda.runtime
        self.memory = self.runtime.malloc(64)
        self.clear()

    def clear(self):
        self.runtime.memset(self.memory, 0, 64)
        self.runtime.deviceSynchronize()

    def write(self, place, value, stream):
        self.runtime.memsetAsync(self.memory + place, value, 1, stream)

    def copy(self, source, target, stream):
        self.runtime.memcpyAsync(self.memory + target, self.memory + source, 1, 3, stream)

    def seen(self, count):
        return list(ctypes.string_at(self.memory, count))


def check_streams(cells, new):
    """Who waits for a stream lets its work run, and no other's."""
    first, second = new(NON_BLOCKING), new(NON_BLOCKING)
    cells.write(0, 1, first)
    cells.write(1, 1, second)
    cells.write(0, 2, first)
    cells.copy(0, 2, first)
    assert cells.seen(3) == [0, 0, 0]
    assert cells.runtime.streamQuery(first) == NOT_READY
    assert cells.seen(3) == [0, 0, 0], "a question is not a wait"
    cells.runtime.streamSynchronize(first)
    assert cells.seen(3) == [2, 0, 2]
    assert cells.runtime.streamQuery(first) == 0
    assert cells.runtime.streamQuery(second) == NOT_READY
    cells.runtime.deviceSynchronize()
    assert cells.seen(3) == [2, 1, 2]


def check_events(cells, new):
    """Who waits for an event lets run what was queued before it was recorded; so does a stream that waits for it."""
    runtime, first, second = cells.runtime, new(NON_BLOCKING), new(NON_BLOCKING)
    begin, event = runtime.eventCreate(), runtime.eventCreate()
    runtime.eventRecord(begin, first)
    cells.write(0, 1, first)
    runtime.eventRecord(event, first)
    cells.write(1, 1, first)
    runtime.streamWaitEvent(second, event)
    cells.copy(0, 2, second)
    assert runtime.eventQuery(event) == NOT_READY
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorNotReady"):
        runtime.eventElapsedTime(begin, event)
    assert cells.seen(3) == [0, 0, 0]
    runtime.streamSynchronize(second)
    assert cells.seen(3) == [1, 0, 1]
    assert runtime.eventQuery(event) == 0
    assert runtime.eventElapsedTime(begin, event) >= 0
    runtime.eventRecord(event, first)
    runtime.eventSynchronize(event)
    assert cells.seen(3) == [1, 1, 1]


def check_without_an_event(cells, new):
    """Without an event one stream reads before the other has written."""
    first, second = new(NON_BLOCKING), new(NON_BLOCKING)
    cells.write(0, 1, first)
    cells.copy(0, 1, second)
    cells.runtime.streamSynchronize(second)
    cells.runtime.streamSynchronize(first)
    assert cells.seen(2) == [1, 0]


def check_legacy_stream(cells, new):
    """The legacy stream waits for blocking streams, and they for it; the others do not take part."""
    before, after, apart = new(0), new(0), new(NON_BLOCKING)
    cells.write(0, 1, before)
    cells.write(1, 1, apart)
    cells.copy(0, 2, 0)
    cells.copy(2, 3, after)
    cells.runtime.streamSynchronize(after)
    assert cells.seen(4) == [1, 0, 1, 1]
    cells.write(0, 2, 0)
    cells.runtime.streamSynchronize(apart)
    assert cells.seen(4) == [1, 1, 1, 1]
    cells.runtime.deviceSynchronize()
    assert cells.seen(4) == [2, 1, 1, 1]


def check_stream_of_the_thread(cells, new):
    """The default stream of a thread is one that takes part."""
    cells.write(0, 1, 2)
    cells.copy(0, 1, 1)
    assert cells.seen(2) == [0, 0]
    cells.runtime.streamSynchronize(0)
    assert cells.seen(2) == [1, 1]


def check_destroyed_stream(cells, new):
    """A stream that is destroyed still has its work done."""
    stream = new(NON_BLOCKING)
    cells.write(0, 1, stream)
    cells.runtime.streamDestroy(stream)
    assert cells.seen(1) == [0]
    with pytest.raises(cells.runtime.CUDARuntimeError, match="cudaErrorInvalidResourceHandle"):
        cells.runtime.streamSynchronize(stream)
    cells.runtime.deviceSynchronize()
    assert cells.seen(1) == [1]


def check_graph(cells, new):
    """A graph runs as one piece of work, after its launch before, which was on another stream."""
    runtime, first, second = cells.runtime, new(NON_BLOCKING), new(NON_BLOCKING)
    runtime.streamBeginCapture(first)
    cells.copy(1, 2, first)
    cells.copy(0, 1, first)
    executable = runtime.graphInstantiate(runtime.streamEndCapture(first))
    cells.write(0, 1, first)
    runtime.graphLaunch(executable, first)
    runtime.graphLaunch(executable, second)
    assert cells.seen(3) == [0, 0, 0]
    runtime.streamSynchronize(second)
    assert cells.seen(3) == [1, 1, 1]


def late():
    import cupy

    cells = Cells(cupy)
    checks = (check_streams, check_events, check_without_an_event, check_legacy_stream, check_stream_of_the_thread)
    for check in (*checks, check_destroyed_stream, check_graph):
        cells.clear()
        check(cells, cells.runtime.streamCreateWithFlags)
        print(check.__name__)


def test_work_runs_when_somebody_waits_and_no_more_than_that(launches):
    assert run_program("late", "late").split() == [name for name in globals() if name.startswith("check_")]


def test_work_runs_at_once_otherwise(cupy, launches):
    late = "late" in os.environ.get("HOST_CUDA", "").split(",")
    cells = Cells(cupy)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        cells.write(0, 1, stream.ptr)
        assert cells.seen(2) == [not late, 0]
        assert stream.done is not late
    cells.runtime.free(cells.memory)


def test_calls_are_noted(cupy, launches):
    x = cupy.zeros(3, "f")
    launches.clear()
    x += 1
    x.get()
    cupy.cuda.get_current_stream().synchronize()
    calls = launches.calls()
    assert calls[0].startswith("launch cupy_add")
    assert calls[-1] == "synchronize stream"
    assert "copy" in calls
    assert launches.calls() == []


def test_times_and_flags(cupy, launches):
    runtime = cupy.cuda.runtime
    stream = runtime.streamCreateWithPriority(NON_BLOCKING, -1)
    assert runtime.streamGetFlags(stream) == NON_BLOCKING
    assert runtime.streamGetPriority(stream) == -1
    first, second, untimed = runtime.eventCreate(), runtime.eventCreate(), runtime.eventCreateWithFlags(2)
    for event in (first, second, untimed):
        runtime.eventRecord(event, stream)
    runtime.streamSynchronize(stream)
    assert 0 <= runtime.eventElapsedTime(first, second) < 1000
    for event in (untimed, runtime.eventCreate()):
        with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidResourceHandle"):
            runtime.eventElapsedTime(first, event)
    runtime.streamDestroy(stream)
