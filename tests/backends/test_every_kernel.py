"""Every kernel of ours runs once, or a few times where it has several ways, and computes what NumPy computes.

Small enough to run under compute-sanitizer: every array has memory of its own, so that not a byte beyond it goes
unnoticed.
"""

import re

import numpy as np
import pytest

import nd
from backends.cuda import Kernels, source
from backends.cuda.cupy_backend import CupyBackend
from backends.generic.window import Window
from tests.stand_ins import TOLERANCE, make_backend

WINDOW = Window((7, 6), (3, 2), (2, 2), (1, 1), (1, 0), (1, 1))
RNG = np.random.default_rng(8)
IMAGE, LONG, SQUARE = RNG.normal(size=(5, 3, 7, 6)), RNG.normal(size=(3, 150)), RNG.normal(size=(70, 70))
LEFT, RIGHT = RNG.random((9, 1100)), RNG.random((1100, 67))  # an inner axis that is split


@pytest.fixture
def apart(cupy):
    """A backend whose arrays are not taken from CuPy's pool."""
    with cupy.cuda.using_allocator(None):
        yield CupyBackend()


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


def blocks(backend, number):
    """Let products be cut for a device that has room for so many blocks, where they are ours."""
    if backend.name == "cupy":
        backend.products._splits.blocks = number


def convolutions(backend, dtype):
    """Of few and of many channels, of few and of many blocks."""
    for channels, outputs, room in ((3, 4, 1000), (3, 4, 1), (40, 41, 8)):
        blocks(backend, room)
        image = np.tile(IMAGE, (1, 14, 1, 1))[:, :channels] / 10
        x, W = (
            backend.from_host(image, dtype),
            backend.from_host(np.resize(LONG, (outputs, channels, 3, 2)) / 30, dtype),
        )
        b = backend.from_host(np.resize(LONG, (1, outputs)), dtype)
        z, saved = backend.conv2d(x, W, b, WINDOW, backend.fresh_buffers(dtype))
        yield backend.copy(z)
        gradients = backend.full(W.shape, 0.0, dtype), backend.full(b.shape, 0.0, dtype)
        yield backend.conv2d_backward(z, saved, W, WINDOW, gradients, backend.fresh_buffers(dtype))
        yield from gradients


def fused_convolution(backend, dtype):
    x = backend.from_host(IMAGE, dtype)
    W, b = backend.from_host(IMAGE[:4, :, :2, :2], dtype), backend.from_host(LONG[0, :4], dtype)
    first = Window((7, 6), (2, 2), (1, 1), (1, 1), (0, 0), (0, 0))
    second = Window(first.out, (2, 2), (2, 2), (1, 1), (0, 0), (0, 0))
    buffers = (backend.fresh_buffers(dtype), backend.fresh_buffers(dtype))
    pooled, saved = backend.conv2d_max_pool(x, W, b, None, (first, second), buffers)
    yield backend.copy(pooled)
    gradients = backend.full(W.shape, 0.0, dtype), backend.full(b.shape, 0.0, dtype)
    yield backend.conv2d_max_pool_backward(pooled, saved, W, (first, second), gradients, buffers)
    yield from gradients


def rows(backend, dtype):
    long, square = backend.from_host(LONG, dtype), backend.from_host(SQUARE[:, :9], dtype)
    for x in (long, square):
        yield backend.softmax(x, -1)
        for axis in (0, 1):
            yield backend.sum_into(x, axis, backend.empty((x.shape[1 - axis],), dtype))
        normal, inverse = backend.empty(x.shape, dtype), backend.empty((x.shape[0], 1), dtype)
        yield from (backend.normalize_rows(x, normal, inverse), inverse)
        yield backend.normalize_rows_back(backend.copy(x), normal, inverse, backend.copy(normal))


def products(backend, dtype):
    """On a device by the kernel that CUDA graphs hold."""
    recorder = backend.recorder() if backend.name == "cupy" else backend
    multiply, multiply_stacks = recorder.matmul, recorder.batched_matmul
    left, right, square = (backend.from_host(each, dtype) for each in (LEFT, RIGHT, np.abs(SQUARE)))
    for room in (1000, 1):
        blocks(backend, room)
        yield multiply(left, right)
        yield multiply(square, backend.transpose(square))
        stack = backend.reshape(left, (3, 3, 1100))
        yield multiply_stacks(stack, backend.permute(stack, (0, 2, 1)))
        W, b = backend.empty((9, 70), dtype), backend.empty((70,), dtype)
        backend.affine_gradients(square[:, :9], square, W, b)
        yield from (W, b)


def large_products(backend, dtype):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("backends.cuda.products.MUCH", 1)
        yield from products(backend, dtype)


def embeddings(backend, dtype):
    table, numbers = backend.from_host(SQUARE, dtype), backend.asarray([3, 69, 3, 0], "int64")
    found = backend.pull_rows(table, numbers)
    yield found
    backend.scatter_add(table, numbers, found)
    yield table


def uploads(backend, dtype):
    for given in ("uint8", "float32", "float64"):
        host = (100 * LEFT).astype(given)
        out = backend.empty_activation(host.shape, dtype)
        yield backend.from_host(host, dtype) if backend.staged(host, dtype, lambda out=out: out) is None else out


def formulas(backend, dtype):
    with nd.use_backend(backend):
        x, y = backend.from_host(SQUARE, dtype), backend.from_host(SQUARE[:1], dtype)
        product_plus_one(x, y)
        yield x
        yield sum_of_sizes(x, y)


def draws(backend, dtype):
    yield backend.random_uniform(123, 456, 300, dtype)
    yield backend.astype(backend.random_raw(123, 456, 300), "float64")  # below 2^32: exactly
    yield backend.dropout_factors(123, 456, 0.3, backend.empty_activation((9, 40), dtype))


def repeated_draws(backend, dtype):
    """Of a graph, where there is one."""

    def draw():
        rng = nd.random.get_random()
        out = backend.empty_activation((9, 40), dtype)
        return nd.concat([rng.uniform(300, dtype), nd.reshape(rng.dropout_factors(out, 0.3), (-1,))])

    nd.random.set_seed(6)
    with nd.use_backend(backend):
        program = nd.record(draw) if backend.name == "cupy" else None
        for _ in range(3):
            yield backend.copy(draw() if program is None else program.result)
            if program is not None:
                program.replay()


GROUPS = (
    windows, convolutions, fused_convolution, rows, products, large_products, embeddings, uploads, formulas, draws,
    repeated_draws,
)  # fmt: skip


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
def test_every_kernel_computes_what_numpy_computes(dtype, apart, launched):
    reference = make_backend("numpy")
    for group in GROUPS:
        found, expected = list(group(apart, dtype)), list(group(reference, dtype))
        assert len(found) == len(expected) > 0
        for got, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(apart.to_host(got), reference.to_host(wanted), **TOLERANCE[dtype])
    assert launched == kernel_names()
