"""What a CUDA graph cannot hold runs eagerly, or is refused when it is recorded."""

import numpy as np
import pytest

import nd
from backends.errors import NotRecorded


def waiting(cupy, x):
    cupy.cuda.Device().synchronize()
    return x + x


NOT_CAPTURED = {
    "cublas": (lambda cupy, x: cupy.matmul(x, x), "NotImplementedError: calling cuBLAS API during stream capture"),
    "number": (lambda cupy, x: x * x[0, 1].item(), "RuntimeError: the current stream is capturing, so D2H transfers"),
    "to host": (lambda cupy, x: x * x.get()[0, 1], "RuntimeError: the current stream is capturing, so D2H transfers"),
    "from host": (
        lambda cupy, x: x * cupy.asarray(np.full((3, 3), 2, "f")),
        "RuntimeError: the current stream is capturing, so H2D transfers",
    ),
    "wait": (waiting, "CUDARuntimeError: cudaErrorStreamCapture"),
}


@pytest.mark.parametrize("name", NOT_CAPTURED)
def test_what_cupy_or_cuda_refuses_to_capture_runs_eagerly_each_time(name, device, cupy, says):
    run, message = NOT_CAPTURED[name]
    with nd.use_backend(device):
        x = nd.create(np.arange(9, dtype="float32").reshape(3, 3))
        program = nd.record(lambda: run(cupy, x))
        for _ in range(3):
            nd.assign(x, x + 1)
            program.replay()
            np.testing.assert_array_equal(program.result.get(), run(cupy, x).get())
    (said,) = says()
    assert said.startswith(f"cupy: steps are not captured as CUDA graphs, because of {message}")


def test_after_a_refused_capture_others_are_captured(device, cupy, says):
    with nd.use_backend(device):
        x = nd.ones(3, 3)
        refused, captured = (nd.record(run) for run in (lambda: waiting(cupy, x), lambda: x * 3))
        for _ in range(2):
            refused.replay()
            nd.assign(x, x + 1)
            captured.replay()
        np.testing.assert_array_equal(captured.result.get(), np.full((3, 3), 9, "f"))
    assert "cupy: repeated steps run as CUDA graphs; ND_CUDA_GRAPH=0 runs them eagerly" in says()


REFUSED = {
    "item": (lambda x: nd.item(nd.sum(x)), "a graph cannot hold a decision on a value"),
    "to host": (lambda x: nd.to_host(x), "a graph cannot hold a copy to the host"),
    "integers": (
        lambda x: nd.gemm(nd.zeros(2, 2, dtype="int32"), nd.zeros(2, 2, dtype="int32")),
        "a graph holds products of real",
    ),
    "nothing": (lambda x: None, "the result is NoneType, nothing that a graph computes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_graph_cannot_hold(name, device):
    run, message = REFUSED[name]
    with nd.use_backend(device):
        x = nd.zeros(4)
        with pytest.raises(NotRecorded, match=message):
            nd.record(lambda: run(x))
