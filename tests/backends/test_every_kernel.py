"""Every kernel of ours runs once, or a few times where it has several ways, and computes what NumPy computes.

Small enough to run under compute-sanitizer: `--backend=cupy` takes the real device, with memory of its own for every
array, so that not a byte beyond it goes unnoticed.
"""

import contextlib
import re

import numpy as np
import pytest

import nd
from backends.cuda import Kernels, source
from backends.window import Window
from tests.stand_ins import TOLERANCE, make_backend

WINDOW = Window((7, 6), (3, 2), (2, 2), (1, 1), (1, 0), (1, 1))
RNG = np.random.default_rng(8)
IMAGE, LONG, SQUARE = RNG.normal(size=(5, 3, 7, 6)), RNG.normal(size=(3, 150)), RNG.normal(size=(70, 70))
LEFT, RIGHT = RNG.random((9, 1100)), RNG.random((1100, 67))  # an inner axis that is split


@pytest.fixture
def device_here(request, monkeypatch):
    """The device of --backend, else CuPy's stand-in; its arrays are not taken from CuPy's pool."""
    chosen = request.config.getoption("--backend")
    backend = make_backend(chosen) if chosen else request.getfixturevalue("device")
    has_pool = chosen == "cupy"
    with backend.cupy.cuda.using_allocator(None) if has_pool else contextlib.nullcontext():
        yield backend


product_plus_one = nd.Elementwise(lambda x, y: nd.addi(nd.muli(x, y), 1.0))
sum_of_sizes = nd.Summed(lambda x, y: nd.sum(nd.absolute(x) * nd.absolute(y)))


def windows(backend, dtype):
    buffers = backend.fresh_buffers(dtype)
    x = backend.from_host(IMAGE, dtype)
    col = backend.im2col(x, WINDOW, buffers)
    yield col
    yield backend.col2im(col, WINDOW, backend.fresh_buffers(dtype))
    pools = (
        (backend.max_pool, backend.max_pool_backward, ()),
        (backend.avg_pool, backend.avg_pool_backward, (False,)),
        (backend.pnorm_pool, backend.pnorm_pool_backward, (2,)),
    )
    for forward, backward, settings in pools:
        buffers = backend.fresh_buffers(dtype)
        out, saved = forward(x, WINDOW, *settings, buffers)
        yield out
        yield backward(out, saved, WINDOW, *(settings if forward == backend.pnorm_pool else ()), buffers)


def fused_convolution(backend, dtype):
    x = backend.from_host(IMAGE, dtype)
    W, b = backend.from_host(IMAGE[:4, :, :2, :2], dtype), backend.from_host(LONG[0, :4], dtype)
    first = Window((7, 6), (2, 2), (1, 1), (1, 1), (0, 0), (0, 0))
    second = Window(first.out, (2, 2), (2, 2), (1, 1), (0, 0), (0, 0))
    buffers = (backend.fresh_buffers(dtype), backend.fresh_buffers(dtype))
    yield backend.conv2d_max_pool(x, W, b, None, (first, second), buffers)[0]


def rows(backend, dtype):
    long, square = backend.from_host(LONG, dtype), backend.from_host(SQUARE[:, :9], dtype)
    for x in (long, square):
        yield backend.softmax(x, -1)
        for axis in (0, 1):
            yield backend.sum_into(x, axis, backend.empty((x.shape[1 - axis],), dtype))


def products(backend, dtype):
    """On a device by the kernel that CUDA graphs hold."""
    multiply = backend.recorder().matmul if backend.name == "cupy" else backend.matmul
    left, right, square = (backend.from_host(each, dtype) for each in (LEFT, RIGHT, np.abs(SQUARE)))
    yield multiply(left, right)
    yield multiply(square, backend.transpose(square))


def formulas(backend, dtype):
    with nd.use_backend(backend):
        x, y = backend.from_host(SQUARE, dtype), backend.from_host(SQUARE[:1], dtype)
        product_plus_one(x, y)
        yield x
        yield sum_of_sizes(x, y)


def draws(backend, dtype):
    yield backend.random_uniform(123, 456, 300, dtype)
    yield backend.astype(backend.random_raw(123, 456, 300), "float64")  # below 2^32: exactly


GROUPS = (windows, fused_convolution, rows, products, formulas, draws)


def kernel_names():
    return set(re.findall(r'^extern "C" __global__ void (?:__launch_bounds__\(\d+\) )?(\w+)', source(), re.MULTILINE))


@pytest.fixture
def launched(monkeypatch):
    """Names of what is launched."""
    names, launch = set(), Kernels.launch

    def noted(self, name, *arguments):
        names.add(name)
        launch(self, name, *arguments)

    monkeypatch.setattr(Kernels, "launch", noted)
    return names


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_kernel_computes_what_numpy_computes(dtype, device_here, launched):
    reference = make_backend("numpy")
    for group in GROUPS:
        found, expected = list(group(device_here, dtype)), list(group(reference, dtype))
        assert len(found) == len(expected) > 0
        for got, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(device_here.to_host(got), reference.to_host(wanted), **TOLERANCE[dtype])
    if device_here.name == "cupy":
        assert launched == kernel_names()
