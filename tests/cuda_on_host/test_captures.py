"""The rules of captures, with the error of each, through CuPy; library/streams.cpp has the sentences that say so."""

import contextlib
import gc
import threading

import numpy as np
import pytest

BLOCKING, NON_BLOCKING = 0, 1
GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
MODES = {"global": GLOBAL, "thread-local": THREAD_LOCAL, "relaxed": RELAXED}
TO_DEVICE, TO_HOST = 1, 2
KERNEL = 'extern "C" __global__ void count(int *x, int by) { *x = 10 * *x + by; }'


@pytest.fixture
def runtime(cupy, launches):
    return cupy.cuda.runtime


@pytest.fixture(autouse=True)
def no_foreign_garbage():
    """What other tests left is not freed during a capture here: in the global mode CUDA refuses that, rightly."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def event(runtime):
    """An event that was recorded outside of any capture."""
    made = runtime.eventCreate()
    runtime.eventRecord(made, 0)
    yield made
    runtime.eventDestroy(made)


@pytest.fixture
def memory(runtime):
    """Device memory of eight bytes, all 0, that no pool knows."""
    made = runtime.malloc(8)
    runtime.memset(made, 0, 8)
    yield made
    runtime.free(made)


def fails(runtime, name):
    return pytest.raises(runtime.CUDARuntimeError, match=f"^cudaError{name}: ")


@contextlib.contextmanager
def new_stream(runtime, flags=NON_BLOCKING):
    stream = runtime.streamCreateWithFlags(flags)
    try:
        yield stream
    finally:
        runtime.streamDestroy(stream)  # which ends a capture, too


@contextlib.contextmanager
def capturing(runtime, mode=GLOBAL, flags=NON_BLOCKING):
    with new_stream(runtime, flags) as stream:
        runtime.streamBeginCapture(stream, mode)
        yield stream


def recorded(runtime, stream):
    event = runtime.eventCreate()
    runtime.eventRecord(event, stream)
    return event


def fork(runtime, stream, other):
    runtime.streamWaitEvent(other, recorded(runtime, stream))


def assert_valid(runtime, stream):
    runtime.graphDestroy(runtime.streamEndCapture(stream))
    assert not runtime.streamIsCapturing(stream)


def assert_invalid(runtime, stream):
    with pytest.raises(RuntimeError, match="has invalidated the capture"):
        runtime.streamIsCapturing(stream)
    with fails(runtime, "StreamCaptureInvalidated"):
        runtime.streamEndCapture(stream)
    assert not runtime.streamIsCapturing(stream)


def error_of(call):
    """Return the exception that a call raises, or None."""
    try:
        call()
    except Exception as error:
        return error
    return None


def elsewhere(call):
    """Call it in another thread; return the exception that it raises, or None."""
    raised = []
    thread = threading.Thread(target=lambda: raised.append(error_of(call)))
    thread.start()
    thread.join()
    return raised[0]


ASKING = {
    "synchronize stream": (lambda r, s: r.streamSynchronize(s), "StreamCaptureUnsupported"),
    "query stream": (lambda r, s: r.check_status(r.streamQuery(s)), "StreamCaptureUnsupported"),
    "synchronize device": (lambda r, s: r.deviceSynchronize(), "StreamCaptureUnsupported"),
    "synchronize event": (lambda r, s: r.eventSynchronize(recorded(r, s)), "CapturedEvent"),
    "query event": (lambda r, s: r.check_status(r.eventQuery(recorded(r, s))), "CapturedEvent"),
    "wait for no event": (lambda r, s: r.streamWaitEvent(s, r.eventCreate()), "StreamCaptureIsolation"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("asked", ASKING)
def test_what_is_captured_may_not_be_asked_whether_it_has_run(runtime, asked, mode):
    call, error = ASKING[asked]
    for flags in (BLOCKING, NON_BLOCKING):
        with capturing(runtime, MODES[mode], flags) as stream:
            with fails(runtime, error):
                call(runtime, stream)
            assert_invalid(runtime, stream)


def test_what_is_captured_may_not_wait_for_what_is_not(runtime, event):
    with capturing(runtime, RELAXED) as stream:
        with fails(runtime, "StreamCaptureIsolation"):
            runtime.streamWaitEvent(stream, event)
        assert_invalid(runtime, stream)


def test_an_invalid_capture_takes_no_work(runtime, memory, event):
    with capturing(runtime) as stream, new_stream(runtime) as other:
        captured = recorded(runtime, stream)
        with fails(runtime, "StreamCaptureIsolation"):
            runtime.streamWaitEvent(stream, event)
        for call in (
            lambda: runtime.memsetAsync(memory, 1, 8, stream),
            lambda: runtime.eventRecord(event, stream),
            lambda: runtime.streamWaitEvent(stream, captured),
            lambda: runtime.streamWaitEvent(other, captured),
        ):
            with fails(runtime, "StreamCaptureInvalidated"):
                call()
        assert_invalid(runtime, stream)
        runtime.memsetAsync(memory, 1, 8, stream)
        runtime.streamSynchronize(stream)


def unsafe_calls(cupy, memory, event, other):
    """Return the calls that may be unsafe, each to be made once."""
    runtime = cupy.cuda.runtime
    ours, pinned, host = runtime.malloc(8), runtime.hostAlloc(8, 0), np.zeros(2, "f")
    image, _ = cupy.cuda.compiler.compile_using_nvrtc(KERNEL)
    return {
        "malloc": lambda: runtime.free(runtime.malloc(8)),
        "free": lambda: runtime.free(ours),
        "hostAlloc": lambda: runtime.freeHost(runtime.hostAlloc(8, 0)),
        "freeHost": lambda: runtime.freeHost(pinned),
        "query event": lambda: runtime.check_status(runtime.eventQuery(event)),
        "synchronize event": lambda: runtime.eventSynchronize(event),
        "query stream": lambda: runtime.check_status(runtime.streamQuery(other)),
        "synchronize stream": lambda: runtime.streamSynchronize(other),
        "memcpy": lambda: runtime.memcpy(memory, host.ctypes.data, 8, TO_DEVICE),
        "memset": lambda: runtime.memset(memory, 0, 8),
        "load a module": lambda: cupy.cuda.function.Module().load(image),
    }


@pytest.mark.parametrize("thread", ["own", "other"])
@pytest.mark.parametrize("mode", MODES)
def test_calls_that_may_be_unsafe(cupy, runtime, memory, event, mode, thread):
    refused = MODES[mode] == GLOBAL or (MODES[mode] == THREAD_LOCAL and thread == "own")
    with new_stream(runtime) as other:
        calls = unsafe_calls(cupy, memory, event, other)
        for name, call in calls.items():
            with capturing(runtime, MODES[mode]) as stream:
                error = elsewhere(call) if thread == "other" else error_of(call)
                if refused:
                    assert "operation not permitted when stream is capturing" in str(error), name
                    assert_invalid(runtime, stream)
                else:
                    assert error is None, name
                    assert_valid(runtime, stream)


def test_an_unsafe_call_and_the_device_end_every_capture(runtime):
    for call in (runtime.deviceSynchronize, lambda: runtime.malloc(8)):
        with capturing(runtime) as first, capturing(runtime) as second:
            with fails(runtime, "StreamCaptureUnsupported"):
                call()
            assert_invalid(runtime, first)
            assert_invalid(runtime, second)


def legacy_calls(cupy, memory, event):
    runtime, host = cupy.cuda.runtime, np.zeros(2, "f")
    kernel = cupy.RawModule(code=KERNEL).get_function("count")
    number = cupy.ndarray((), "i4", cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(memory, 8, None), 0))

    def launch():
        with cupy.cuda.Stream.null:
            kernel((1,), (1,), (number, np.int32(1)))

    return {
        "launch": launch,
        "memcpy": lambda: runtime.memcpy(memory, host.ctypes.data, 8, TO_DEVICE),
        "memset": lambda: runtime.memset(memory, 0, 8),
        "memcpyAsync": lambda: runtime.memcpyAsync(memory, host.ctypes.data, 8, TO_DEVICE, 0),
        "memsetAsync": lambda: runtime.memsetAsync(memory, 0, 8, 0),
        "record": lambda: runtime.eventRecord(event, 0),
        "wait": lambda: runtime.streamWaitEvent(0, event),
        "synchronize": lambda: runtime.streamSynchronize(0),
        "query": lambda: runtime.check_status(runtime.streamQuery(0)),
    }


@pytest.mark.parametrize("flags", [BLOCKING, NON_BLOCKING], ids=["blocking", "non-blocking"])
def test_the_legacy_stream_is_of_no_use_while_a_blocking_stream_is_captured(cupy, runtime, memory, event, flags):
    calls = legacy_calls(cupy, memory, event)
    for name, call in calls.items():
        with capturing(runtime, RELAXED, flags) as stream:
            if flags == NON_BLOCKING:
                call()
                assert_valid(runtime, stream)
                continue
            with pytest.raises(RuntimeError, match="would make the legacy stream depend on a capturing") as raised:
                call()
            assert isinstance(raised.value, runtime.CUDARuntimeError) or name == "launch"
            assert_invalid(runtime, stream)


def test_to_ask_whether_the_legacy_stream_is_captured_does_no_harm(runtime):
    with capturing(runtime, flags=BLOCKING) as stream:
        with fails(runtime, "StreamCaptureImplicit"):
            runtime.streamIsCapturing(0)
        assert runtime.streamIsCapturing(stream)
        assert_valid(runtime, stream)
    assert not runtime.streamIsCapturing(0)


def test_a_captured_event_does_not_capture_the_legacy_stream(runtime):
    with capturing(runtime) as stream:
        with fails(runtime, "StreamCaptureImplicit"):
            fork(runtime, stream, 0)
        assert_invalid(runtime, stream)


def test_forks_that_join_are_one_graph(cupy, runtime):
    kernel = cupy.RawModule(code=KERNEL).get_function("count")
    numbers = cupy.zeros(2, "i4")
    start, side = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    start.begin_capture()
    with start:
        kernel((1,), (1,), (numbers[:1], np.int32(1)))
    fork(runtime, start.ptr, side.ptr)
    assert side.is_capturing()
    with side:
        kernel((1,), (1,), (numbers[:1], np.int32(2)))
    with start:
        kernel((1,), (1,), (numbers[1:], np.int32(3)))
    fork(runtime, side.ptr, start.ptr)
    with start:
        kernel((1,), (1,), (numbers[:1], np.int32(4)))
    graph = start.end_capture()
    assert not side.is_capturing()
    assert numbers.get().tolist() == [0, 0]
    graph.launch(start)
    start.synchronize()
    assert numbers.get().tolist() == [124, 3]


def test_a_fork_with_work_that_has_not_joined(runtime, memory):
    with new_stream(runtime) as other, capturing(runtime) as stream:
        fork(runtime, stream, other)
        runtime.memsetAsync(memory, 1, 8, other)
        fork(runtime, other, stream)
        runtime.memsetAsync(memory, 2, 8, other)  # after it has joined
        with fails(runtime, "StreamCaptureUnjoined"):
            runtime.streamEndCapture(stream)
        assert not runtime.streamIsCapturing(stream)
        assert not runtime.streamIsCapturing(other)


def test_a_fork_without_work_need_not_join(runtime):
    with new_stream(runtime) as other, capturing(runtime) as stream:
        fork(runtime, stream, other)
        assert runtime.streamIsCapturing(other)
        assert_valid(runtime, stream)
        assert not runtime.streamIsCapturing(other)


def test_two_captures_do_not_merge(runtime):
    with capturing(runtime, RELAXED) as first, capturing(runtime, RELAXED) as second:
        with fails(runtime, "StreamCaptureMerge"):
            fork(runtime, first, second)
        assert_invalid(runtime, first)
        assert_invalid(runtime, second)


def test_where_a_capture_begins_and_ends(runtime):
    with fails(runtime, "StreamCaptureUnsupported"):
        runtime.streamBeginCapture(0, RELAXED)
    with new_stream(runtime) as other, capturing(runtime) as stream:
        with fails(runtime, "IllegalState"):
            runtime.streamEndCapture(other)
        fork(runtime, stream, other)
        for captured in (stream, other):
            with fails(runtime, "IllegalState"):
                runtime.streamBeginCapture(captured, GLOBAL)
        assert_valid(runtime, stream)
    with new_stream(runtime) as other, capturing(runtime) as stream:
        fork(runtime, stream, other)
        with fails(runtime, "StreamCaptureUnmatched"):
            runtime.streamEndCapture(other)
        assert_invalid(runtime, stream)


@pytest.mark.parametrize("mode", MODES)
def test_the_thread_that_ends_a_capture(runtime, mode):
    with capturing(runtime, MODES[mode]) as stream:
        error = elsewhere(lambda: runtime.graphDestroy(runtime.streamEndCapture(stream)))
        if MODES[mode] == RELAXED:
            assert error is None
            assert not runtime.streamIsCapturing(stream)
        else:
            assert str(error).startswith("cudaErrorStreamCaptureWrongThread: ")
            assert_invalid(runtime, stream)


def test_a_captured_event_is_of_no_use_after_its_capture(runtime):
    with capturing(runtime) as stream, new_stream(runtime) as other:
        event = recorded(runtime, stream)
        assert_valid(runtime, stream)
        for call in (
            lambda: runtime.eventSynchronize(event),
            lambda: runtime.check_status(runtime.eventQuery(event)),
            lambda: runtime.streamWaitEvent(other, event),
            lambda: runtime.eventElapsedTime(event, event),
        ):
            with fails(runtime, "CapturedEvent"):
                call()
        runtime.eventRecord(event, stream)
        runtime.eventSynchronize(event)
        assert runtime.eventQuery(event) == 0


def test_an_event_that_was_never_recorded_has_nothing_to_wait_for(runtime):
    event = runtime.eventCreate()
    with capturing(runtime) as stream:
        runtime.eventSynchronize(event)
        assert runtime.eventQuery(event) == 0
        assert_valid(runtime, stream)


def test_captured_copies_run_at_each_launch(runtime, memory):
    source, target = np.full(2, 1, "f"), np.zeros(2, "f")
    with capturing(runtime) as stream:
        runtime.memcpyAsync(memory, source.ctypes.data, 8, TO_DEVICE, stream)
        runtime.memcpyAsync(target.ctypes.data, memory, 8, TO_HOST, stream)
        graph = runtime.streamEndCapture(stream)
        executable = runtime.graphInstantiate(graph)
        assert target.tolist() == [0, 0]
        for value in (2, 3):
            source[:] = value
            runtime.graphLaunch(executable, stream)
            runtime.streamSynchronize(stream)
            assert target.tolist() == [value, value]
        runtime.graphExecDestroy(executable)
        runtime.graphDestroy(graph)


def test_a_stream_that_is_destroyed_takes_its_capture_along(runtime, memory):
    with new_stream(runtime) as other, capturing(runtime) as stream:
        joined = runtime.streamCreateWithFlags(NON_BLOCKING)
        fork(runtime, stream, joined)
        runtime.streamDestroy(joined)
        assert_invalid(runtime, stream)
        origin = runtime.streamCreateWithFlags(BLOCKING)
        runtime.streamBeginCapture(origin, GLOBAL)
        fork(runtime, origin, other)
        runtime.streamDestroy(origin)
        assert not runtime.streamIsCapturing(other)
        runtime.memset(memory, 0, 8)
        with fails(runtime, "InvalidResourceHandle"):
            runtime.streamEndCapture(origin)
