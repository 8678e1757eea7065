"""Graphs for the stand-in for CuPy: while a stream is captured nothing runs, and what CUDA refuses is refused."""

import contextlib


class CaptureError(RuntimeError):
    """As cudaErrorStreamCaptureUnsupported."""


class Recording:
    """What is captured now, if anything: calls without arguments."""

    def __init__(self):
        self.calls = None

    def do(self, call):
        """Run a call, or note it for the graph."""
        if self.calls is None:
            call()
        else:
            self.calls.append(call)

    def refuse(self, what):
        """Raise if a stream is captured."""
        if self.calls is not None:
            raise CaptureError(f"{what}: operation not permitted when stream is capturing")


recording = Recording()


class Graph:
    """As cupy.cuda.Graph."""

    def __init__(self, calls, launches):
        self.calls, self.launches = calls, launches

    def launch(self, stream=None):
        assert recording.calls is None
        self.launches.append("graph")
        for call in self.calls:
            call()


def stream_class(launches):
    """Return a class like cupy.cuda.Stream."""

    class Stream:
        def __init__(self, null=False, non_blocking=False):
            self.non_blocking = non_blocking

        def wait_event(self, event):
            event.waited += 1

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

        def begin_capture(self):
            assert recording.calls is None
            recording.calls = []

        def end_capture(self):
            calls, recording.calls = recording.calls, None
            return Graph(calls, launches)

    return Stream


class Event:
    """As cupy.cuda.Event, of streams on which everything has run when the call returns."""

    def __init__(self, block=False, disable_timing=False):
        self.recorded, self.waited, self.synchronized = 0, 0, 0

    def record(self, stream=None):
        recording.refuse("an event of another stream")
        self.recorded += 1

    def synchronize(self):
        recording.refuse("synchronize")
        self.synchronized += 1


class MemoryPool:
    """As cupy.cuda.MemoryPool; NumPy's memory stays anyway as long as a call knows it."""

    def malloc(self, size):
        return bytearray(size)


@contextlib.contextmanager
def using_allocator(allocate):
    if allocate is not None:
        allocate(1)
    yield
