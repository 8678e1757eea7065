"""What CupyBackend does besides kernels: detection, messages, diagnosis. On the stand-in for CuPy."""

import builtins
import sys

import numpy as np
import pytest

import backends
import nd
from backends.cuda import geometry, source
from backends.cupy_backend import CupyBackend
from backends.errors import BackendError
from backends.window import Window


def test_cupy_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(
        BackendError, match=r'CuPy must be installed, .*Run: pip install "ndwright\[cuda13\]"'
    ) as caught:
        CupyBackend()
    assert "ndwright[cuda12]" in str(caught.value)


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


def test_no_device_says_what_cuda_says(fake_cupy):
    def no_driver():
        raise RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")

    fake_cupy.cuda.is_available = lambda: False
    fake_cupy.cuda.runtime.getDeviceCount = no_driver
    with pytest.raises(BackendError, match=r"a CUDA device must be visible, got none \(cudaErrorInsufficientDriver"):
        CupyBackend()
    fake_cupy.cuda.runtime.getDeviceCount = lambda: 0
    with pytest.raises(BackendError, match=r"got none \(0 devices\). Check nvidia-smi"):
        CupyBackend()


def test_headers_that_are_missing_name_the_package_that_has_them(fake_cupy):
    def no_headers(**keywords):
        raise OSError("cannot open source file\n  cuda_fp16.h")

    fake_cupy.RawModule = no_headers
    with pytest.raises(
        BackendError, match=r'got OSError: cannot .* cuda_fp16.h Run: pip install "cupy-cuda13x\[ctk\]"'
    ):
        CupyBackend()
    fake_cupy.cuda.runtime.runtimeGetVersion = lambda: 12090
    with pytest.raises(BackendError, match=r"cupy-cuda12x\[ctk\]"):
        CupyBackend()


def test_a_device_that_computes_nonsense_is_not_used(fake_cupy):
    product = fake_cupy.matmul
    fake_cupy.matmul = lambda a, b, out=None: product(a, b, out=out) * 0.0
    with pytest.raises(BackendError, match=r"expected 72 from a small product, got 0\.0"):
        CupyBackend()


def test_the_probe_runs_our_own_kernel(device, fake_cupy):
    assert fake_cupy.launches == ["max_pool"]


def test_memory_that_does_not_suffice(device):
    expected = (
        r"an array \[65536, 65536\] of float64 must fit .*: 32768 MiB requested, got 3072 MiB free of 4096 MiB, "
        "1280 MiB used, 1536 MiB pooled. Use a smaller minibatch"
    )
    with pytest.raises(BackendError, match=expected):
        device.empty((1 << 16, 1 << 16), "float64")
    assert device.cupy.launches.count("free_all_blocks") == 1


def test_memory_that_the_pool_keeps_is_given_back_first(device, fake_cupy, monkeypatch):
    whole = fake_cupy.empty

    def full_until_freed(shape, dtype=float, order="C"):
        if "free_all_blocks" not in fake_cupy.launches:
            raise fake_cupy.cuda.memory.OutOfMemoryError("Out of memory")
        return whole(shape, dtype, order)

    monkeypatch.setattr(fake_cupy, "empty", full_until_freed)
    assert device.empty((3, 2), "float32").shape == (3, 2)
    assert fake_cupy.launches.count("free_all_blocks") == 1


def test_describe_names_versions_device_and_memory(device):
    assert device.describe() == {
        "cupy": "14.0.0",
        "cuda runtime": "13.2",
        "cuda driver": "13.1",
        "device": "0: NumPy in disguise, compute capability 75",
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


def test_synchronize_waits_for_the_device(device, fake_cupy):
    device.synchronize()
    assert fake_cupy.launches[-1] == "synchronize"


def test_auto_takes_cupy_when_a_kernel_runs(fake_cupy, monkeypatch, caplog):
    monkeypatch.setattr(backends, "_instances", {})
    with caplog.at_level("INFO", logger="nd"):
        assert backends.get_backend("auto").name == "cupy"
    assert [record.message for record in caplog.records] == [
        "backend: cupy, because a CUDA device ran a kernel: 0: NumPy in disguise, compute capability 75"
    ]


def test_narrow_numbers_travel_narrow_and_wide_ones_are_narrowed_before(device, fake_cupy, monkeypatch):
    sent = []
    original = fake_cupy.asarray

    def asarray(array, dtype=None):
        sent.append(str(np.dtype(dtype or array.dtype)))
        return original(array, dtype)

    monkeypatch.setattr(fake_cupy, "asarray", asarray)
    for source_dtype, target in (("uint8", "float32"), ("float64", "float32"), ("float32", "float64")):
        assert device.dtype_name(device.from_host(np.ones(3, source_dtype), target)) == target
    assert sent == ["uint8", "float32", "float32"]


def test_the_stand_in_refuses_numpy_arrays_as_cupy_does(device):
    x = device.full((2,), 1.0, "float32")
    with pytest.raises(TypeError, match="Unsupported type"):
        device.add(x, np.ones(2, "float32"))
    with pytest.raises(TypeError, match=r"numpy\.concatenate was called with an array of the device"):
        np.concatenate([x, x])


def test_geometry_lies_in_memory_as_the_kernels_read_it(fake_cupy):
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
    kernel = fake_cupy.RawModule(code=text, options=("-DREAL=float",)).get_function("spread")
    out = fake_cupy.empty((22,), "int64")
    total, strides = 1 << 40, (-1, 1 << 33, 3, 4, 99, 99)
    kernel((1,), (1,), (out, geometry(window, batch, total, strides)))
    expected = [11, 12, 2, 3, 4, 5, 6, 7, 13, 14, *window.out, batch, total, -1, 1 << 33, 3, 4, 123, 456, 789, 3]
    assert fake_cupy.asnumpy(out).tolist() == expected


def test_random_bits_of_positions_beyond_32_bits(fake_cupy):
    root, node, i = (1 << 64) - 3, 987654321, (1 << 40) + 5
    text = (
        f'{source()}\nextern "C" __global__ void one(unsigned long long *out)'
        f"{{ out[0] = random_bits({root}ULL, {node}ULL, {i}LL); }}"
    )
    kernel = fake_cupy.RawModule(code=text, options=("-DREAL=float",)).get_function("one")
    out = fake_cupy.empty((1,), "uint64")
    kernel((1,), (1,), (out,))
    low, mask = (1 << 32) - 1, (1 << 64) - 1
    s0 = ((i + 2) * (node + 24243287) & mask) | root
    s1 = ((s0 + 723829) * (i + 2) & mask) ^ node
    v = ((s0 ^ s1) & low) * 0x9E3779BB & low
    v = ((v << 5) | (v >> 27)) & low
    assert fake_cupy.asnumpy(out).tolist() == [v * 5 & low]
