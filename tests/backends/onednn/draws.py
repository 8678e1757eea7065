"""Shapes, geometries, numbers and memory orders drawn at random, and memory as a step has it."""

import functools
import math

import numpy as np

from backends.generic.window import Window
from backends.onednn.convolution import is_sound
from tests.cells import run_all
from tests.sweeps import share

FEW, MANY = 20, share(500)
ORDERS = ("as it is", "batch innermost", "channels innermost", "permuted", "strided")


def sweep(check, count, *arguments):
    """Call a check with a generator of each number; the first failure is raised, with the numbers of all."""
    calls = {str(n): functools.partial(check, np.random.default_rng(n), *arguments) for n in range(count)}
    run_all("draws", calls)


def numbers(rng, shape, offset=0.0):
    return (rng.normal(size=shape) + offset).astype(np.float32)


def empty_laid(rng, shape, order=None):
    """Return memory of a shape that lies in one of `ORDERS`, filled with NaN."""
    order = order or ORDERS[rng.integers(len(ORDERS))]
    axes = list(range(len(shape)))
    if order == "batch innermost":
        axes = [*axes[1:], 0]
    elif order == "channels innermost":
        axes = [0, *axes[2:], 1] if len(axes) > 1 else axes
    elif order == "permuted":
        axes = [int(axis) for axis in rng.permutation(axes)]
    steps = [int(rng.integers(1, 3)) if order == "strided" else 1 for _ in axes]
    memory = np.full([shape[axis] * step for axis, step in zip(axes, steps, strict=True)], np.nan, np.float32)
    return memory[tuple(slice(None, None, step) for step in steps)].transpose(np.argsort(axes))


def laid(rng, values, order=None):
    """Return an array that lies in one of `ORDERS`, which nobody may write."""
    x = empty_laid(rng, values.shape, order)
    x[...] = values
    x.flags.writeable = False
    return x


def window_over(rng, axes):
    """Draw the geometry of a window over some axes, padded unevenly; some of it is under the kernel wherever it is."""
    most = (24, 10, 6)[axes - 1]
    while True:
        size, kernel = (tuple(int(n) for n in rng.integers(1, most + 1, axes)) for most in (most, 4))
        stride, dilation = (tuple(int(n) for n in rng.integers(1, 4, axes)) for _ in range(2))
        reach = [far * (length - 1) for far, length in zip(dilation, kernel, strict=True)]
        before, after = (tuple(int(rng.integers(0, min(far, 4) + 1)) for far in reach) for _ in range(2))
        if all(s + b + a > far for s, b, a, far in zip(size, before, after, reach, strict=True)):
            window = Window(size, kernel, stride, dilation, before, after)
            if is_sound(window):
                return window


def channels(rng):
    """Draw a number of channels: few, or those of the kernels that work on whole vectors."""
    return int(rng.integers(1, 12)) if rng.random() < 0.7 else int(rng.choice([16, 20, 24, 32, 48]))


class Buffers:
    """Memory by name, as a layer has it: one piece for a name, batch innermost, and at first nothing but NaN."""

    def __init__(self):
        self._memory = {}

    def __call__(self, name, shape, kind="float32"):
        length, key = math.prod(shape), (name, kind)
        if key not in self._memory or self._memory[key].size < length:
            dtype = np.dtype(kind)
            self._memory[key] = np.full(length, np.nan if dtype.kind == "f" else 1, dtype)
        memory = self._memory[key][:length]
        return memory.reshape((*shape[1:], shape[0])).transpose(len(shape) - 1, *range(len(shape) - 1))
