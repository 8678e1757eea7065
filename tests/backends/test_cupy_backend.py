"""What CupyBackend does besides kernels: detection, messages, diagnosis."""

import builtins
import os
import pathlib
import subprocess
import sys
import time
import types

import numpy as np
import pytest

import backends
import nd
from backends.cuda import geometry, options, source
from backends.cuda.cupy_backend import CupyBackend
from backends.errors import BackendError
from backends.generic.window import Window

ROOT = pathlib.Path(__file__).parents[2]
MAKE_ONE = "from backends.cuda.cupy_backend import CupyBackend; CupyBackend()"


def test_cupy_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(
        BackendError, match=r'CuPy must be installed, .*Run: pip install "cupy-cuda13x\[ctk\]>=14"'
    ) as caught:
        CupyBackend()
    assert "cupy-cuda12x[ctk]>=14" in str(caught.value)


@pytest.mark.parametrize(
    "error",
    [
        ImportError("libcudart.so: cannot open"),
        ModuleNotFoundError("No module named 'fastrlock'", name="fastrlock"),
        ValueError("numpy.dtype size changed"),
    ],
)
def test_cupy_that_does_not_import(monkeypatch, error):
    original = builtins.__import__

    def broken(name, *arguments):
        if name in ("cupy", "array_api_compat.cupy"):
            raise error
        return original(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", broken)
    expected = f"the installed CuPy must be importable, got {type(error).__name__}: {error} Uninstall"
    with pytest.raises(BackendError, match=expected):
        CupyBackend()


def no_driver():
    raise RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (no_driver, r"a CUDA device must be visible, got none \(cudaErrorInsufficientDriver"),
        (lambda: 0, r"got none \(0 devices\). Check nvidia-smi"),
    ],
    ids=["no driver", "no device"],
)
def test_no_device_says_what_cuda_says(monkeypatch, count, expected):
    runtime = types.SimpleNamespace(
        getDeviceCount=count, driverGetVersion=lambda: 13010, runtimeGetVersion=lambda: 13020
    )
    cupy = types.SimpleNamespace(cuda=types.SimpleNamespace(is_available=lambda: False, runtime=runtime))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "array_api_compat.cupy", types.SimpleNamespace())
    with pytest.raises(BackendError, match=expected):
        CupyBackend()


def run_without_a_device(program):
    """Run a program that sees no device: neither a real one nor the host CUDA's."""
    hidden = {"CUDA_VISIBLE_DEVICES": "", "HOST_CUDA_DEVICES": "0"}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **hidden}, capture_output=True, text=True, check=False)


def test_a_device_that_is_hidden(cupy):
    done = run_without_a_device(MAKE_ONE)
    assert done.returncode == 1
    assert "BackendError: cupy: a CUDA device must be visible, got none (cudaErrorNoDevice: no CUDA" in done.stderr
    assert "CUDA_VISIBLE_DEVICES='' hides every device: unset it" in done.stderr


def test_auto_takes_numpy_where_there_is_no_device(cupy):
    done = run_without_a_device("import backends; print(backends.get_backend('auto').name)")
    assert (done.stdout, done.stderr) == ("numpy\n", "")


@pytest.mark.parametrize("major", [12, 13])
def test_headers_that_are_missing_name_the_package_that_has_them(cupy, monkeypatch, major):
    def no_headers(**keywords):
        raise OSError("cannot open source file\n  cuda_fp16.h")

    monkeypatch.setattr(cupy, "RawModule", no_headers)
    monkeypatch.setattr(cupy.cuda.runtime, "runtimeGetVersion", lambda: major * 1000 + 20)
    expected = rf'got OSError: cannot .* cuda_fp16.h Run: pip install "cupy-cuda{major}x\[ctk\]"'
    with pytest.raises(BackendError, match=expected):
        CupyBackend()


def test_a_device_that_computes_nonsense_is_not_used(cupy, monkeypatch):
    product = cupy.matmul
    monkeypatch.setattr(cupy, "matmul", lambda a, b, out=None: product(a, b, out=out) * 0.0)
    with pytest.raises(BackendError, match=r"expected 72 from a small product, got 0\.0"):
        CupyBackend()


def test_the_probe_runs_our_own_kernel_and_cublas(launches):
    CupyBackend()
    launched = launches.all()
    assert "cublas" in launched
    assert [name for name in launched if not name.startswith("cu")] == ["max_pool"]


class Pool:
    """In the place of CuPy's pool of memory, which it tells about."""

    def __init__(self):
        self.freed = 0

    def free_all_blocks(self):
        self.freed += 1

    def used_bytes(self):
        return 5 << 28

    def total_bytes(self):
        return 6 << 28


@pytest.fixture
def pool(cupy, monkeypatch):
    made = Pool()
    monkeypatch.setattr(cupy, "get_default_memory_pool", lambda: made)
    return made


def half_full(cupy, monkeypatch):
    """Let the device say that it has 4 GiB, 3 of them free."""

    class Device(cupy.cuda.Device):
        mem_info = (3 << 30, 4 << 30)

    monkeypatch.setattr(cupy.cuda, "Device", Device)


def test_memory_that_does_not_suffice(device, pool, monkeypatch):
    half_full(device.cupy, monkeypatch)
    expected = (
        r"an array \[1048576, 1048576\] of float64 must fit .*: 8388608 MiB requested, got 3072 MiB free of 4096 MiB, "
        "1280 MiB used, 1536 MiB pooled. Use a smaller minibatch"
    )
    with pytest.raises(BackendError, match=expected):
        device.empty((1 << 20, 1 << 20), "float64")
    assert pool.freed == 1


def test_memory_that_the_pool_keeps_is_given_back_first(device, pool, monkeypatch):
    whole = device.cupy.empty

    def full_until_freed(shape, dtype=float, order="C"):
        if not pool.freed:
            raise device.cupy.cuda.memory.OutOfMemoryError(24, 0)
        return whole(shape, dtype, order)

    monkeypatch.setattr(device.cupy, "empty", full_until_freed)
    assert device.empty((3, 2), "float32").shape == (3, 2)
    assert pool.freed == 1


def test_describe_names_versions_device_and_memory(device, monkeypatch):
    half_full(device.cupy, monkeypatch)
    cuda = device.cupy.cuda
    monkeypatch.setattr(cuda, "get_local_runtime_version", lambda: 13020)
    monkeypatch.setattr(cuda.runtime, "driverGetVersion", lambda: 13010)
    facts = device.describe()
    name = cuda.runtime.getDeviceProperties(0)["name"].decode()
    assert facts == {
        "cupy": device.cupy.__version__,
        "cuda runtime": "13.2",
        "cuda driver": "13.1",
        "device": f"0: {name}, compute capability {cuda.Device(0).compute_capability}",
        "memory": "3072 MiB free of 4096 MiB",
    }


def test_without_libcudart_the_runtime_is_unknown(device, monkeypatch):
    def missing():
        raise OSError("libcudart.so.13: cannot open shared object file")

    monkeypatch.setattr(device.cupy.cuda, "get_local_runtime_version", missing)
    assert device.describe()["cuda runtime"] == "unknown: libcudart.so.13: cannot open shared object file"


@pytest.mark.parametrize("p", [1, 1.0])
def test_dropout_that_keeps_everything(device, p):
    with nd.use_backend(device):
        out = nd.zeros(4, 5)
        nd.random.Random(3).dropout_factors(out, p)
        assert nd.to_host(out).tolist() == [[1.0] * 5] * 4


def test_synchronize_waits_for_the_device(device):
    device.random_uniform(1, 2, 100_000, "float32")
    last = device.cupy.cuda.Event()
    last.record()
    device.synchronize()
    assert last.done


def test_synchronize_is_one_call(device, launches):
    launches.clear()
    device.synchronize()
    assert launches.calls() == ["synchronize device"]


def test_auto_takes_cupy_when_a_kernel_runs(cupy, monkeypatch, caplog):
    """Without the backends that this process has made already."""
    monkeypatch.setattr(backends, "_instances", {})
    with caplog.at_level("INFO", logger="nd"):
        chosen = backends.get_backend("auto")
    assert chosen.name == "cupy"
    assert [record.message for record in caplog.records if record.levelname == "INFO"] == [
        f"backend: cupy, because a CUDA device ran a kernel: {chosen.describe()['device']}"
    ]


def test_narrow_numbers_travel_narrow_and_wide_ones_are_narrowed_before(device, monkeypatch):
    sent = []
    original = device.cupy.asarray

    def asarray(array, dtype=None):
        sent.append(str(np.dtype(dtype or array.dtype)))
        return original(array, dtype)

    monkeypatch.setattr(device.cupy, "asarray", asarray)
    for source_dtype, target in (("uint8", "float32"), ("float64", "float32"), ("float32", "float64")):
        assert device.dtype_name(device.from_host(np.ones(3, source_dtype), target)) == target
    assert sent == ["uint8", "float32", "float32"]


def test_arrays_of_the_host_are_not_sent_behind_ones_back(device):
    x = device.full((2,), 1.0, "float32")
    with pytest.raises(TypeError, match="Unsupported type"):
        device.add(x, np.ones(2, "float32"))
    with pytest.raises(TypeError, match="Implicit conversion to a NumPy array is not allowed"):
        np.asarray(x)


def test_geometry_lies_in_memory_as_the_kernels_read_it(cupy):
    """Every field reaches the field of that name in window.cu, and an index beyond 32 bits is split right."""
    window = Window((11, 12), (2, 3), (4, 5), (6, 7), (13, 14), (15, 16))
    batch, height, width = 70_000, 1000, 999
    i = 123 + batch * (456 + width * (789 + height * 3))
    fields = (
        "height", "width", "kernel_h", "kernel_w", "stride_h", "stride_w", "dilation_h", "dilation_w", "pad_top",
        "pad_left", "out_h", "out_w", "batch", "total", "stride_n", "stride_c", "stride_y", "stride_x",
    )  # fmt: skip
    copies = "".join(f"out[{number}] = g.{field};" for number, field in enumerate(fields))
    text = (
        f'{source()}\nextern "C" __global__ void spread(long long *out, const Geometry g)'
        f"{{ {copies} Place p = place_of({i}LL, g, {height}, {width});"
        " out[18] = p.n; out[19] = p.x; out[20] = p.y; out[21] = p.c; }"
    )
    kernel = cupy.RawModule(code=text, options=options("float")).get_function("spread")
    out = cupy.empty((22,), "int64")
    total, strides = 1 << 40, (-1, 1 << 33, 3, 4, 99, 99)
    kernel((1,), (1,), (out, geometry(window, batch, total, strides)))
    expected = [11, 12, 2, 3, 4, 5, 6, 7, 13, 14, *window.out, batch, total, -1, 1 << 33, 3, 4, 123, 456, 789, 3]
    assert cupy.asnumpy(out).tolist() == expected


def test_random_bits_of_positions_beyond_32_bits(cupy):
    root, node, i = (1 << 64) - 3, 987654321, (1 << 40) + 5
    text = (
        f'{source()}\nextern "C" __global__ void one(unsigned long long *out)'
        f"{{ out[0] = random_bits({root}ULL, {node}ULL, {i}LL); }}"
    )
    kernel = cupy.RawModule(code=text, options=options("float")).get_function("one")
    out = cupy.empty((1,), "uint64")
    kernel((1,), (1,), (out,))
    low, mask = (1 << 32) - 1, (1 << 64) - 1
    s0 = ((i + 2) * (node + 24243287) & mask) | root
    s1 = ((s0 + 723829) * (i + 2) & mask) ^ node
    v = ((s0 ^ s1) & low) * 0x9E3779BB & low
    v = ((v << 5) | (v >> 27)) & low
    assert cupy.asnumpy(out).tolist() == [v * 5 & low]


@pytest.mark.parametrize(("takes", "says"), [(0.0, False), (0.2, True)])
def test_a_compilation_that_takes_long_says_so(takes, says, monkeypatch, caplog):
    monkeypatch.setattr(backends.cuda, "PATIENCE", 0.02)
    backends.cuda._say_it_compiles.cache_clear()
    with backends.cuda.saying_so_if_slow():
        time.sleep(takes)
    expected = "cupy: compiling kernels for this device; CuPy keeps them (in CUPY_CACHE_DIR) for the next time"
    assert caplog.messages == [expected] * says
