"""Memory of the device and pinned memory: who waits for copies, and what becomes of who touches what is not theirs."""

import ctypes
import os

import numpy as np
import pytest

from tests.cuda_on_host.test_streams import run_program

TO_DEVICE, TO_HOST, WITHIN = 1, 2, 3
NON_BLOCKING = 1
SIZE = 8
READ = """
extern "C" __global__ void read(const float *x, float *out, int i) { *out = x[i]; }
extern "C" __global__ void write(float *x, int i) { x[i] = 1; }
"""


def in_forks(checks):
    """Run each check in a child of this process, as it may lose the device; print the names of those that passed."""
    for check in checks:
        child = os.fork()
        if not child:
            status = 1
            try:
                check()
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0, check.__name__
        print(check.__name__, flush=True)


def named(prefix):
    return [name for name in globals() if name.startswith(prefix)]


class Buffers:
    """A stream, device memory, and both kinds of the host's memory, of eight bytes each."""

    def __init__(self):
        import cupy

        self.runtime = cupy.cuda.runtime
        self.stream = self.runtime.streamCreateWithFlags(NON_BLOCKING)
        self.memory, self.other = self.runtime.malloc(SIZE), self.runtime.malloc(SIZE)
        self.pinned_address = self.runtime.hostAlloc(SIZE, 0)
        self.pinned = np.frombuffer((ctypes.c_char * SIZE).from_address(self.pinned_address), "u1")
        self.pageable = np.zeros(SIZE, "u1")

    def fill(self, value, stream=None):
        self.runtime.memsetAsync(self.memory, value, SIZE, self.stream if stream is None else stream)

    def copy(self, target, source, kind):
        self.runtime.memcpyAsync(target, source, SIZE, kind, self.stream)

    def synchronize(self):
        self.runtime.streamSynchronize(self.stream)

    def seen(self):
        return ctypes.string_at(self.memory, 1)[0]


def late_pinned_memory_is_read_when_the_copy_runs():
    buffers = Buffers()
    buffers.pinned[:] = 1
    buffers.copy(buffers.memory, buffers.pinned_address, TO_DEVICE)
    buffers.pinned[:] = 2
    buffers.synchronize()
    assert buffers.seen() == 2


def late_pageable_memory_is_read_at_once():
    buffers = Buffers()
    buffers.pageable[:] = 1
    buffers.copy(buffers.memory, buffers.pageable.ctypes.data, TO_DEVICE)
    buffers.pageable[:] = 2
    assert buffers.seen() == 255
    buffers.synchronize()
    assert buffers.seen() == 1


def late_copies_to_pageable_memory_wait_and_to_pinned_memory_do_not():
    buffers = Buffers()
    buffers.pinned[:] = 0
    buffers.fill(3)
    buffers.copy(buffers.pinned_address, buffers.memory, TO_HOST)
    assert buffers.pinned[0] == 0
    buffers.copy(buffers.pageable.ctypes.data, buffers.memory, TO_HOST)
    assert buffers.pinned[0] == buffers.pageable[0] == 3


def late_copies_within_the_host_wait():
    buffers = Buffers()
    buffers.pageable[:] = 4
    buffers.copy(buffers.pinned_address, buffers.pageable.ctypes.data, 0)
    assert buffers.pinned[0] == 4


def late_synchronous_copies():
    buffers = Buffers()
    runtime = buffers.runtime
    buffers.fill(1, 0)
    runtime.memcpy(buffers.other, buffers.memory, SIZE, WITHIN)
    assert buffers.seen() == 255, "within the device nobody waits"
    runtime.memcpy(buffers.pinned_address, buffers.other, SIZE, TO_HOST)
    assert buffers.pinned[0] == 1
    buffers.pinned[:] = 2
    runtime.memcpy(buffers.memory, buffers.pinned_address, SIZE, TO_DEVICE)
    assert buffers.seen() == 2
    runtime.memset(buffers.memory, 3, SIZE)
    assert buffers.seen() == 2, "cudaMemset does not wait"


def late_to_free_memory_of_the_device_is_to_wait():
    buffers = Buffers()
    buffers.fill(1)
    buffers.runtime.free(buffers.other)
    assert buffers.seen() == 1


def late_a_copy_of_pinned_memory_that_is_freed_loses_the_device():
    buffers = Buffers()
    buffers.copy(buffers.memory, buffers.pinned_address, TO_DEVICE)
    buffers.runtime.freeHost(buffers.pinned_address)
    with pytest.raises(buffers.runtime.CUDARuntimeError, match="cudaErrorIllegalAddress"):
        buffers.synchronize()


def late():
    import cupy

    cupy.cuda.runtime.deviceSynchronize()
    in_forks([globals()[name] for name in named("late_")])


def lost(cupy):
    """Assert that the device does no more."""
    runtime = cupy.cuda.runtime
    event = runtime.eventCreate()
    for call in (runtime.deviceSynchronize, lambda: runtime.malloc(4), lambda: runtime.eventRecord(event, 0)):
        with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorIllegalAddress: an illegal memory access was"):
            call()


def arrays():
    import cupy

    module = cupy.RawModule(code=READ)
    return cupy, module.get_function("read"), module.get_function("write"), cupy.ones(5, "f"), cupy.zeros(1, "f")


def illegal(cupy):
    return pytest.raises(cupy.cuda.driver.CUDADriverError, match="CUDA_ERROR_ILLEGAL_ADDRESS")


def tight_the_whole_of_an_array_may_be_read():
    _, read, write, x, out = arrays()
    for i in range(5):
        write((1,), (1,), (x, np.int32(i)))
        read((1,), (1,), (x, out, np.int32(i)))
        assert out.get() == 1


def tight_behind_an_array_nothing_may_be_read():
    cupy, read, _, x, out = arrays()
    with illegal(cupy):
        read((1,), (1,), (x, out, np.int32(5)))
    lost(cupy)


def tight_nor_written():
    cupy, _, write, x, _ = arrays()
    with illegal(cupy):
        write((1,), (1,), (x, np.int32(5)))
    lost(cupy)


def replay_on_freed_memory(work):
    cupy, read, _, x, out = arrays()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        work(cupy, read, x, out, stream)
        graph = stream.end_capture()
        graph.launch()
        stream.synchronize()
        assert out.get() == 1
        del x
        with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match="cudaErrorIllegalAddress"):
            graph.launch()
    lost(cupy)


def tight_a_graph_may_not_read_what_is_freed():
    replay_on_freed_memory(lambda cupy, read, x, out, stream: read((1,), (1,), (x, out, np.int32(4))))


def tight_nor_may_a_copy_of_a_graph():
    def copy(cupy, read, x, out, stream):
        cupy.cuda.runtime.memcpyAsync(out.data.ptr, x.data.ptr, 4, WITHIN, stream.ptr)

    replay_on_freed_memory(copy)


def tight():
    import cupy

    from tests.cuda_on_host import tight as mode

    mode.install()
    arrays()  # whose kernels are compiled once
    cupy.cuda.runtime.deviceSynchronize()
    in_forks([globals()[name] for name in named("tight_")])


@pytest.mark.parametrize("mode", ["late", "tight"])
def test_in_a_mode(launches, mode):
    expected = named(f"{mode}_")
    assert len(expected) >= 5
    assert run_program(mode, mode, __name__).split() == expected


@pytest.fixture
def runtime(cupy, launches):
    return cupy.cuda.runtime


@pytest.fixture
def memory(runtime):
    made = runtime.malloc(SIZE)
    yield made
    runtime.free(made)


def fails(runtime, name):
    return pytest.raises(runtime.CUDARuntimeError, match=f"^cudaError{name}: ")


def test_new_memory_is_not_cleared(runtime, memory):
    assert ctypes.string_at(memory, SIZE) == b"\xff" * SIZE
    assert np.isnan(np.frombuffer(ctypes.string_at(memory, SIZE), "f")).all()


def test_memory_is_counted_and_runs_out(cupy, runtime):
    free, total = runtime.memGetInfo()
    assert 0 < free <= total
    large = runtime.malloc(1 << 20)
    assert runtime.memGetInfo() == (free - (1 << 20), total)
    with fails(runtime, "MemoryAllocation"):
        runtime.malloc(total)
    runtime.free(large)
    assert runtime.memGetInfo() == (free, total)
    with pytest.raises(cupy.cuda.memory.OutOfMemoryError, match="Out of memory allocating"):
        cupy.empty(total + 1, "u1")


def test_what_is_freed_must_have_been_allocated(runtime, memory):
    pinned = runtime.hostAlloc(SIZE, 0)
    for free, address in (
        (runtime.free, memory + 4),
        (runtime.free, pinned),
        (runtime.freeHost, memory),
        (runtime.freeHost, pinned + 4),
    ):
        with fails(runtime, "InvalidValue"):
            free(address)
    runtime.freeHost(pinned)
    with fails(runtime, "InvalidValue"):
        runtime.freeHost(pinned)
    runtime.free(0)


def test_copies_stay_within_memory_on_the_side_that_they_say(runtime, memory):
    host = np.zeros(2 * SIZE, "u1").ctypes.data
    for call in (
        lambda: runtime.memcpy(memory, host, SIZE + 1, TO_DEVICE),
        lambda: runtime.memcpy(host, memory + 1, SIZE, TO_HOST),
        lambda: runtime.memcpy(memory, host, SIZE, TO_HOST),
        lambda: runtime.memcpy(host, memory, SIZE, TO_DEVICE),
        lambda: runtime.memcpy(memory, host, SIZE, WITHIN),
        lambda: runtime.memset(memory, 0, SIZE + 1),
        lambda: runtime.memset(host, 0, SIZE),
    ):
        with fails(runtime, "InvalidValue"):
            call()
    runtime.memcpy(memory, host, SIZE, 4)
    assert ctypes.string_at(memory, SIZE) == bytes(SIZE)


def test_kinds_of_memory(runtime, memory):
    pinned = runtime.hostAlloc(SIZE, 0)
    kinds = [runtime.pointerGetAttributes(each).type for each in (memory, pinned, np.zeros(1).ctypes.data)]
    assert kinds == [2, 1, 0]
    runtime.freeHost(pinned)
