"""Memory stays flat over batches of varying size: what oneDNN is given is given back, and caches have an end."""

import gc
import os
import pathlib

import numpy as np
import pytest

from backends.cpu.numpy_backend import NumpyBackend
from backends.generic.window import Window
from backends.onednn import convolution, lstm, pooling, primitive
from backends.onednn.primitive import Primitive
from tests.backends.onednn.draws import Buffers, numbers
from tests.backends.onednn.networks import data, network

STATUS = pathlib.Path("/proc/self/status")
SIZES = (8, 5, 16, 3, 11, 16, 1, 8)


@pytest.fixture
def handles(onednn):
    """Returns the handles of oneDNN's memories that are there, made since now."""
    before = set(primitive._there)

    def now():
        primitive.destroy_ended()
        return {handle for handle in primitive._there - before if handle.kind == "memory"}

    return now


def test_memories_end_with_their_calls(handles, accelerated):
    rng, window = np.random.default_rng(1), Window((6, 6), (3, 3))
    x, W = numbers(rng, (4, 16, 6, 6)), numbers(rng, (16, 16, 3, 3))
    for _ in range(5):
        accelerated.conv2d(x, W, None, window, Buffers())
    gc.collect()
    assert handles() == set()


def test_memories_end_with_their_network(handles):
    net = network("normalised", NumpyBackend(1))
    for n in SIZES:
        net.fit(data("normalised", n))
    held = len(handles())
    assert held > 0
    for n in SIZES:
        net.fit(data("normalised", n))
    gc.collect()
    assert len(handles()) <= held
    del net
    gc.collect()
    assert handles() == set()


def test_primitives_that_nobody_has_are_destroyed(onednn, monkeypatch):
    primitive.descriptor_of.cache_clear()  # full, it would end one of other tests for each of this one
    gc.collect()  # what other tests have left
    primitive.destroy_ended()
    ended, destroy = [], dict(onednn.destroy)
    for kind, function in destroy.items():
        monkeypatch.setitem(
            onednn.destroy, kind, lambda handle, kind=kind, end=function: ended.append(kind) or end(handle)
        )
    layout = primitive.in_c_order((3, 5, 7))
    kernel = Primitive("reorder", (layout, primitive.Layout((3, 5, 7), (1, 3, 15))))
    x, out = np.ones((3, 5, 7), np.float32), np.zeros((7, 5, 3), np.float32).T
    call = kernel.bound({primitive.SRC: x, primitive.DST: out})
    del kernel
    gc.collect()
    primitive.destroy_ended()
    assert ended == []  # the call has it
    call()
    assert (out == 1).all()
    del call
    gc.collect()
    assert ended == []  # until the next one is made
    primitive.destroy_ended()
    assert sorted(ended) == ["memory", "memory", "primitive", "primitive_desc"]


def test_caches_have_an_end():
    for cached in (
        convolution.kernels_of,
        convolution.is_sound,
        lstm._kernels,
        pooling.averages,
        pooling._arguments,
        primitive.descriptor_of,
        primitive.primitive,
    ):
        assert cached.cache_info().maxsize is not None


def resident():
    """Return this process's memory in MB."""
    if not STATUS.exists():
        pytest.skip("this system has no /proc")
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def growth(name, threads, steps):
    """Return how many MB a process grows over so many steps of varying batches, the first ones left out."""
    net, batches = network(name, NumpyBackend(threads)), [data(name, n) for n in SIZES]
    for _ in range(3):
        for given in batches:
            net.fit(given)
    gc.collect()
    before = resident()
    for number in range(steps):
        net.fit(batches[number % len(batches)])
    gc.collect()
    return resident() - before


@pytest.mark.parametrize("name", ["normalised", "series"])
def test_memory_is_flat(name):
    assert growth(name, 1, 60) < 4


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["depthwise", "lenet", "normalised", "residual", "series", "unet", "vgg"])
def test_memory_is_flat_over_300_steps(name, threads):
    assert growth(name, threads, 300) < 4


@pytest.mark.slow
def test_memory_is_flat_over_shapes_that_never_come_again(accelerated):
    """More of them than the caches keep: what these forget is given back."""
    window, W = Window((9, 9), (3, 3)), numbers(np.random.default_rng(1), (16, 16, 3, 3))

    def convolve(first, count):
        for n in range(first, first + count):
            accelerated.conv2d(np.ones((n, 16, 9, 9), np.float32), W, None, window, Buffers())

    convolve(1, 1400)
    gc.collect()
    before = resident()
    convolve(1401, 600)
    gc.collect()
    assert resident() - before < 30, os.getpid()
