"""Kernels: their compiler, their launches, their threads, and float32 numbers below the smallest normal one."""

import json
import os

import numpy as np
import pytest

from tests.cuda_on_host.test_streams import run_program

TEXT = """
extern "C" __global__ void take(int *ticket, int *order)
{
    order[(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] = atomicAdd(ticket, 1);
}

extern "C" __global__ void tenth(const float *x, float *out) { *out = *x * 0.1f; }
extern "C" __global__ void tenth_of_double(const double *x, double *out) { *out = *x * 0.1; }

// The first threads add up what each of them has left in the shared array; the others have ended.
extern "C" __global__ void add_up(int left, int *out)
{
    __shared__ int tile[64];
    if (threadIdx.x >= left)
        return;
    tile[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < left; ++i)
        sum += tile[i];
    __syncthreads();
    tile[threadIdx.x] = sum;
    __syncthreads();
    out[threadIdx.x] = tile[left - 1 - threadIdx.x];
}

extern "C" __global__ void turn_over(int *x)
{
    extern __shared__ int all[];
    all[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void scale(float *x, int n, double by)
{
    if (threadIdx.x < n)
        x[threadIdx.x] *= by;
}
"""


def kernel(cupy, name):
    return cupy.RawModule(code=TEXT).get_function(name)


def threads_in_order(cupy, grid, block):
    count = int(np.prod(grid + block))
    ticket, order = cupy.zeros(1, "i4"), cupy.zeros(count, "i4")
    kernel(cupy, "take")(grid, block, (ticket, order))
    return order.get().tolist()


def nodes_in_order(cupy):
    """Return when the nodes of a graph ran: the first one, two that come after it on two streams, and the last one."""
    take, ticket, order = kernel(cupy, "take"), cupy.zeros(1, "i4"), cupy.zeros(4, "i4")
    start, side = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    start.begin_capture()

    def run(node, stream):
        with stream:
            take((1,), (1,), (ticket, order[node:]))

    run(0, start)
    side.wait_event(start.record())
    run(1, start)
    run(2, side)
    start.wait_event(side.record())
    run(3, start)
    graph = start.end_capture()
    graph.launch(start)
    start.synchronize()
    return order.get().tolist()


def subnormals(cupy):
    """Return a tenth of the smallest normal number, and of the one that is a tenth of it, of both types."""
    results = []
    for dtype, name in (("f4", "tenth"), ("f8", "tenth_of_double")):
        smallest = np.finfo(dtype).tiny
        for value in (smallest, np.asarray(smallest * np.asarray(0.1, dtype), dtype)):
            x, out = cupy.asarray(np.full(1, value, dtype)), cupy.zeros(1, dtype)
            kernel(cupy, name)((1,), (1,), (x, out))
            results.append(float(out.get()[0]))
    return results


def in_other_modes():
    import cupy

    seen = [threads_in_order(cupy, (2,), (2, 2)), nodes_in_order(cupy), subnormals(cupy)]
    print(json.dumps(seen))


@pytest.fixture
def driver(cupy, launches):
    return cupy.cuda.driver


def mode(word):
    return word in os.environ.get("HOST_CUDA", "").split(",")


def test_order_of_threads_and_nodes(cupy, launches):
    reverse = mode("reverse")
    assert threads_in_order(cupy, (2,), (2, 2)) == ([3, 2, 1, 0, 7, 6, 5, 4] if reverse else list(range(8)))
    assert nodes_in_order(cupy) == ([0, 2, 1, 3] if reverse else [0, 1, 2, 3])


def test_float32_subnormals_are_flushed(cupy, launches):
    single, again, double, tenth = subnormals(cupy)
    assert double == np.finfo("f8").tiny * 0.1 > 0
    assert tenth == double * 0.1 > 0
    assert (single == again == 0) is not mode("noftz")


def test_in_other_modes(launches):
    threads, nodes, numbers = json.loads(run_program("in_other_modes", "reverse,noftz", __name__))
    assert threads == [3, 2, 1, 0, 7, 6, 5, 4]
    assert nodes == [0, 2, 1, 3]
    single, again, double, tenth = numbers
    smallest = np.finfo("f4").tiny
    assert single == float(smallest * np.float32(0.1)) > 0
    assert again == float(np.float32(single) * np.float32(0.1)) > 0
    assert double > tenth > 0


@pytest.mark.parametrize("left", [1, 5, 63, 64])
def test_threads_wait_for_those_that_have_not_ended(cupy, launches, left):
    out = cupy.zeros(64, "i4")
    kernel(cupy, "add_up")((1,), (64,), (np.int32(left), out))
    assert out.get().tolist() == [left * (left + 1) // 2] * left + [0] * (64 - left)


def test_shared_memory_whose_size_a_launch_gives(cupy, driver):
    x = cupy.arange(1024, dtype="i4")
    kernel(cupy, "turn_over")((1,), (1024,), (x,), shared_mem=4096)
    assert x.get().tolist() == list(range(1023, -1, -1))
    with pytest.raises(driver.CUDADriverError, match=r"^CUDA_ERROR_INVALID_VALUE: invalid argument"):
        kernel(cupy, "turn_over")((1,), (1024,), (x,), shared_mem=(48 << 10) + 1)


@pytest.mark.parametrize(
    ("grid", "block"),
    [((1,), (1025,)), ((1,), (32, 33)), ((1,), (1, 1, 65)), ((1, 65536), (1,))],
    ids=str,
)
def test_limits_of_a_launch(cupy, driver, grid, block):
    x = cupy.ones(1, "f")
    with pytest.raises(driver.CUDADriverError, match=r"^CUDA_ERROR_INVALID_VALUE: invalid argument"):
        kernel(cupy, "scale")(grid, block, (x, np.int32(1), 2.0))
    kernel(cupy, "scale")((1, 65535), (1024,), (x, np.int32(1), 1.0))
    assert x.get() == 1


def test_arguments_that_do_not_fit_a_parameter(cupy, launches):
    scale, x = kernel(cupy, "scale"), cupy.ones(3, "f")
    for arguments, message in (
        ((x, 3, 2.0), r"kernel scale: argument 1 of \[11004, 8, 1008\] does not fit the parameter 4"),
        ((x, np.int32(3), np.float32(2)), "argument 2 of .* does not fit the parameter 1008"),
        ((x, np.int32(3), 2), "argument 2 of .* does not fit the parameter 1008"),
        ((x.astype("f8"), np.int32(3), 2.0), "argument 0 of .* does not fit the parameter 11004"),
        ((x.view("i4"), np.int32(3), 2.0), "argument 0 of .* does not fit the parameter 11004"),
        ((7, np.int32(3), 2.0), "argument 0 of .* does not fit the parameter 11004"),
        ((x, np.int32(3)), "kernel scale: expected 3 arguments, got 2"),
    ):
        with pytest.raises(TypeError, match=message):
            scale((1,), (4,), arguments)
    assert x.get().tolist() == [1, 1, 1]
    scale((1,), (4,), (x, np.int32(3), 2.0))
    assert x.get().tolist() == [2, 2, 2]
    scale((1,), (4,), (0, np.int32(0), 2.0))  # no address


def test_what_the_compiler_says(cupy, driver):
    error = cupy.cuda.compiler.CompileException
    with pytest.raises(error, match="unrecognized option --no-such-option"):
        cupy.RawModule(code=TEXT, options=("--no-such-option",)).compile()
    wrong = 'extern "C" __global__ void wrong(float *x)\n{\n    *x = unknown;\n}\n'
    with pytest.raises(error, match=r"kernel:3:.*unknown.* was not declared"):
        cupy.RawModule(code=wrong).compile()
    with pytest.raises(error, match=r"kernel:1:.*expected"):
        cupy.RawModule(code='extern "C" __global__ void wrong(float *x { }').compile()
    with pytest.raises(driver.CUDADriverError, match="CUDA_ERROR_NOT_FOUND: named symbol not found"):
        kernel(cupy, "nobody")
    defined = 'extern "C" __global__ void define(int *x) { *x = NUMBER; }'
    x = cupy.zeros(1, "i4")
    cupy.RawModule(code=defined, options=("-DNUMBER=7",)).get_function("define")((1,), (1,), (x,))
    assert x.get() == 7


def test_what_is_not_implemented_says_so(cupy, launches, capfd):
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match=r"^cudaErrorNotSupported: operation not supported"):
        cupy.cuda.runtime.deviceGetLimit(0)
    assert capfd.readouterr().err == "not implemented: cudaDeviceGetLimit\n"
