"""Backends for tests on machines without a GPU, and arrays in awkward memory orders."""

import ctypes
import functools
import sys

import numpy as np

from backends import get_backend
from backends.base import Backend
from backends.cpu.numpy_backend import NumpyBackend

TOLERANCE = {"float32": {"rtol": 2e-5, "atol": 2e-6}, "float64": {"rtol": 1e-12, "atol": 1e-13}}
"""How far a result may be from a float64 oracle, by dtype."""
DIAGNOSIS = ("-c", "import runpy, sys; sys.modules['torch'] = None; runpy.run_module('nd', run_name='__main__')")
"""What Python is told for ``-m nd`` without PyTorch, whose import takes longer than all the rest."""


class ReadOnlyNumpy(NumpyBackend):
    """NumPy whose `as_input` arrays refuse to be written."""

    name = "numpy-readonly"


ABOVE = ("nn", "optimize")
"""Packages that ask `nd` for everything but what follows."""
OF_EVERY_ARRAY = {"shape", "ndim", "dtype"}
"""What they may ask an array itself, beside operators and basic indices with steps ahead."""


@functools.cache
def forbid_everything_but_nd():
    """Let arrays of array_api_strict raise where code above the backends asks them for what is `nd`'s to do."""
    from array_api_strict._array_object import Array

    def asked_from_above():
        return sys._getframe(2).f_globals.get("__name__", "").partition(".")[0] in ABOVE

    def index(self, key, original=Array.__getitem__):
        keys = key if isinstance(key, tuple) else (key,)
        views = all(one is None or one is ... or isinstance(one, int | slice) for one in keys)
        back = any(isinstance(one, slice) and (one.step or 1) < 0 for one in keys)
        if (back or not views) and asked_from_above():
            raise AssertionError(f"above the backends an index must be a view with steps ahead, got {key!r}")
        return original(self, key)

    def forbidden(name, original):
        def ask(self):
            if asked_from_above():
                raise AssertionError(f"above the backends an array must not be asked for {name}; nd has a function")
            return original.__get__(self, type(self))

        return property(ask)

    Array.__getitem__ = index
    names = set(vars(Array)) - OF_EVERY_ARRAY
    for name in sorted(name for name in names if not name.startswith("_")):
        setattr(Array, name, forbidden(name, vars(Array)[name]))


class StrictBackend(Backend):
    """The generic primitives on array_api_strict, on a device that the host cannot read by accident.

    What is above the backends is held to `nd` by its arrays.
    """

    name = "strict"

    def __init__(self):
        import array_api_strict

        forbid_everything_but_nd()
        super().__init__(array_api_strict, array_api_strict.Device("device1"))

    def reshape_view(self, x, shape):
        # array_api_strict takes every array without elements for a copy
        return self.xp.reshape(x, tuple(shape), copy=False if x.size else None)

    def may_share_memory(self, x, y):
        return np.may_share_memory(x._array, y._array)

    def to_host(self, x):
        return np.asarray(self.xp.asarray(x, device=self.xp.Device("CPU_DEVICE"), copy=True))


@functools.cache
def make_backend(name):
    """Return a backend or stand-in of that name."""
    if name == "numpy-readonly":
        return ReadOnlyNumpy()
    return StrictBackend() if name == "strict" else get_backend(name)


def as_input(backend, array, order="c", dtype=None):
    """Put a numpy array on `backend` in c, f or strided memory order; read-only on the read-only stand-in."""
    array = np.asarray(array, dtype=dtype)
    if backend.name == "strict":
        return backend.asarray(array.tolist(), str(array.dtype))
    if order == "strided":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype) if array.ndim else array
        host = wide[..., ::2] if array.ndim else array
        host[...] = array
    else:
        host = np.array(array, order=order.upper())
    if backend.name.startswith("numpy"):
        host.flags.writeable = backend.name != "numpy-readonly"
        return host
    return backend.from_host(host, str(host.dtype))


def twin(cupy, array):
    """Return a cupy.ndarray that lies on the device as a numpy array lies here: gaps, 0 and negative strides."""
    low, high = np.lib.array_utils.byte_bounds(array) if array.size else (array.ctypes.data,) * 2
    host = np.empty(high - low, np.uint8)
    ctypes.memmove(host.ctypes.data, low, high - low)
    memory = cupy.empty(max(high - low, 1), np.uint8)
    memory[: high - low].set(host)
    return cupy.ndarray(array.shape, array.dtype, memory.data + (array.ctypes.data - low), array.strides)
