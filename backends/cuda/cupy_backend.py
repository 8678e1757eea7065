"""CuPy on a CUDA device: cuBLAS, CuPy's own elementwise kernels, and the kernels of `backends.cuda`.

CuPy is imported when a `CupyBackend` is made, not with this module.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any
from weakref import ref

import numpy as np

from backends.typing import Array, CupyArray, HostArray

from ..base import DTYPES, Backend
from ..cpu.numpy_backend import UFUNCS
from ..dispatch import dispatching
from ..errors import BackendError
from ..generic import formulas
from ..generic.window import Window
from ..scheduling import UpdatePlan
from ..settings import switch
from ..signatures import Buffers
from . import REALS, Kernels, stacks
from . import diagnosis as cupy_diagnosis
from .convolutions import Convolutions
from .devices import check_chosen, only_device
from .elementwise import Elementwise, Summed
from .graphs import capture_lock, say_once
from .products import Products
from .rows import sum_rows
from .scratch import Scratches
from .splits import Splits
from .table import TABLE
from .uploads import Uploads

# CuPy's ufuncs take (x, y, out), and comparisons also store their 0 and 1 in the dtype of `out`.
DEVICE_UFUNCS = (*UFUNCS, "equal", "greater", "greater_equal", "maximum", "minimum")


LEAST_TF32 = 80  # compute capability
MOST_MERGED = 4  # penalties that one kernel of an update treats
MOST_STAGED = 256  # arrays of minibatches that are known, those that are gone included
MOST_OWN = 1 << 26  # multiplications of a product that our kernel makes


@dispatching(TABLE)
class CupyBackend(Backend):
    """CuPy on a CUDA device. Arrays are cupy.ndarray.

    Parameters
    ----------
    device : str
        ``"cuda:1"``: the device that this process computes on; without it the first one that it sees.

    Attributes
    ----------
    kernels, products, convolutions, uploads, scratches
        What our kernels do, and their memory.

    Raises
    ------
    BackendError
        CuPy is missing, no CUDA device is visible, or a small computation on it fails.
    """

    name = "cupy"
    compiles = True
    keeps_addresses = True  # CUDA graphs
    stages = True
    joins_products = True
    looks_at_indices = False

    def __init__(self, device: str = "") -> None:
        with only_device(device):
            self.cupy, namespace = _import_cupy()
            there = self.cupy.cuda.is_available()
            check_chosen(self.cupy.cuda.runtime.getDeviceCount() if there else 0, device)
        if not there:
            raise cupy_diagnosis.no_device(self.cupy)
        if switch("ND_TF32", False):
            use_tf32(self.cupy.cuda.Device().compute_capability)
        super().__init__(namespace)
        self.dtypes = {name: np.dtype(name) for name in DTYPES}
        self.dtype_names = {dtype: name for name, dtype in self.dtypes.items()}
        self.kernels = Kernels(self.cupy)
        self.uploads = Uploads(self.cupy, self.kernels)
        self._staged: dict[int, ref[Array]] = {}
        self.scratches = Scratches(self.cupy)
        splits = Splits(self.scratches, self.cupy.cuda.Device().attributes["MultiProcessorCount"])
        self.products = Products(self.kernels, splits)
        self.convolutions = Convolutions(self.kernels, splits)
        self._recorder: CupyBackend | None = None
        self._graphs = switch("ND_CUDA_GRAPH", True)
        if not self._graphs:
            say_once("cupy: steps run eagerly, because ND_CUDA_GRAPH=0")
        for name in DEVICE_UFUNCS:
            setattr(self, name, getattr(self.cupy, name))
        self._check_computes()

    # ---- is it usable?

    def _check_computes(self) -> None:
        """Run one of our kernels, CuPy's own and cuBLAS: headers, compiler or library of any of them may be missing."""
        try:
            image = self.full((4, 1, 2, 2), 3.0, "float32")
            pooled, _ = self.max_pool(image, Window((2, 2), (2, 2)), self.fresh_buffers("float32"))
            square = self.reshape(pooled, (2, 2))
            answer = self.item(self.sum(self.matmul(square, square)))
        except Exception as error:  # of any kind: the backend is unusable for that reason
            raise cupy_diagnosis.does_not_compute(self.cupy, error) from error
        if answer != 72.0:
            raise BackendError(
                f"cupy: the device must compute, expected 72 from a small product, got {answer}. "
                "Check the driver with nvidia-smi, or select ND_BACKEND=numpy."
            )

    def memory_size(self) -> int:
        return int(self.cupy.cuda.Device().mem_info[1])

    def describe(self) -> dict[str, str]:
        cuda = self.cupy.cuda
        device = cuda.Device()
        name = cuda.runtime.getDeviceProperties(device.id)["name"]
        free, total = device.mem_info
        try:
            runtime = _version(cuda.get_local_runtime_version())
        except Exception as error:  # it looks for libcudart, without which CuPy works
            runtime = f"unknown: {error}"
        return {
            "cupy": self.cupy.__version__,
            "cuda runtime": runtime,
            "cuda driver": _version(cuda.runtime.driverGetVersion()),
            "device": f"{device.id}: {name.decode()}, compute capability {device.compute_capability}",
            "memory": f"{free >> 20} MiB free of {total >> 20} MiB",
            **cupy_diagnosis.doubts(),
        }

    # ---- recording

    def recorder(self) -> CupyBackend | None:
        if not self._graphs:
            return None
        from .recorder import recorder_of  # whose class derives from this one

        if self._recorder is None:
            self._recorder = recorder_of(self)
        return self._recorder

    def plan_update(self, length: int) -> UpdatePlan:
        return UpdatePlan(((0, length),), max(length, 1), MOST_MERGED)

    def deferred_memory(self, count: int, dtype: str) -> Array:
        return self.full((count,), 0.0, dtype)

    # ---- arrays in and out

    def is_array(self, x: object) -> bool:
        return isinstance(x, self.cupy.ndarray)

    def may_share_memory(self, x: object, y: object) -> bool:
        return self.cupy.may_share_memory(x, y)

    def from_host(self, array: HostArray, dtype: str) -> Array:
        """Return a copy of a numpy array on the device, through CuPy's pinned memory."""
        kind = np.dtype(dtype)
        if kind.itemsize < array.dtype.itemsize:
            return self.cupy.asarray(array, kind)
        return self.cupy.asarray(array).astype(kind, copy=False)  # images are bytes on the way and floats only there

    def staged(self, array: object, dtype: str, buffer: Callable[[], Array]) -> Array | None:
        out = buffer()
        if not self.uploads.serves(array, out):
            return None
        self.uploads.copy(array, out)
        if len(self._staged) >= MOST_STAGED:
            self._staged = {key: known for key, known in self._staged.items() if known() is not None}
        self._staged[id(out)] = ref(out)
        return out

    def is_staged(self, array: Array) -> bool:
        known = self._staged.get(id(array))
        return known is not None and known() is array

    def to_host(self, x: Array) -> HostArray:
        return self.cupy.asnumpy(x)

    def item(self, x: Any) -> float:
        return x if isinstance(x, (int, float)) else x.item()

    def synchronize(self) -> None:
        with capture_lock:
            self.cupy.cuda.Device().synchronize()

    # ---- creation and shape

    def empty(self, shape: Sequence[int], dtype: str, order: str = "c") -> Array:
        axes, kind, c_or_f = tuple(shape), self.dtype(dtype), "C" if order == "c" else "F"
        out_of_memory = self.cupy.cuda.memory.OutOfMemoryError
        try:
            return self.cupy.empty(axes, kind, c_or_f)
        except out_of_memory:
            self.cupy.get_default_memory_pool().free_all_blocks()  # which CuPy keeps for arrays of other sizes
        try:
            return self.cupy.empty(axes, kind, c_or_f)
        except out_of_memory as error:
            raise BackendError(self._out_of_memory(axes, kind)) from error

    def _out_of_memory(self, axes: tuple[int, ...], kind: Any) -> str:
        pool, (free, total) = self.cupy.get_default_memory_pool(), self.cupy.cuda.Device().mem_info
        used, pooled, asked = pool.used_bytes(), pool.total_bytes(), math.prod(axes) * kind.itemsize
        return (
            f"cupy: an array {list(axes)} of {kind.name} must fit into the device's memory: "
            f"{asked >> 20} MiB requested, got {free >> 20} MiB free of {total >> 20} MiB, "
            f"{used >> 20} MiB used, {pooled >> 20} MiB pooled. "
            "Use a smaller minibatch, or end other programs that nvidia-smi lists."
        )

    def fill(self, x: CupyArray, value: float) -> Array:
        x.fill(value)
        return x

    def assign(self, target: Array, source: Any) -> Array:
        if isinstance(source, list):
            source = self.cupy.asarray(source, target.dtype)
        self.cupy.copyto(target, source, casting="unsafe")
        return target

    def copy(self, x: CupyArray) -> Array:
        return x.copy(order="C")

    def astype(self, x: CupyArray, dtype: str) -> Array:
        return x.astype(self.dtype(dtype), copy=False)

    def reshape(self, x: CupyArray, shape: Sequence[int]) -> Array:
        return x.reshape(tuple(shape))

    def transpose(self, x: Array) -> Array:
        return x.T

    def permute(self, x: CupyArray, axes: Sequence[int]) -> Array:
        return x.transpose(tuple(axes))

    # ---- reductions and linear algebra

    def sum(self, x: CupyArray, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
        return x.sum(axis=axis, keepdims=keepdims)

    def max(self, x: CupyArray, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
        return x.max(axis=axis, keepdims=keepdims)

    def sum_into(self, x: CupyArray, axis: int, out: CupyArray) -> Array:
        return out if sum_rows(self.kernels, x, axis, out) else x.sum(axis=axis, out=out)

    def prefers_own(self, a: Array, b: Array) -> bool:
        """Tell whether our kernel makes the product a @ b: cuBLAS needs more than one launch for some small ones."""
        return a.dtype.char in REALS and a.size * b.shape[-1] <= MOST_OWN

    products_with = stacks.products_with

    def sum_channels(self, rows: CupyArray, out: CupyArray, buffers: Buffers) -> None:
        self.sum_into(rows, 1, out)

    def product_of_channels(self, rows: CupyArray, columns: CupyArray, out: CupyArray, buffers: Buffers) -> None:
        self.matmul(rows, columns.T, out)

    def dot(self, x: Array, y: Array, out: Array | None = None) -> Array:
        return self.cupy.dot(x, y, out)

    def matmul(self, a: CupyArray, b: CupyArray, out: CupyArray | None = None) -> Array:
        if out is None:
            return self.cupy.matmul(a, b)
        if a.ndim == 2 and a.dtype == b.dtype == out.dtype and self.prefers_own(a, b):
            return self.products.run(a, b, out)
        if out.flags.f_contiguous and not out.flags.c_contiguous:
            self.cupy.matmul(b.T, a.T, out=out.T)  # the same product, which cuBLAS then writes without a copy
        else:
            self.cupy.matmul(a, b, out=out)
        return out

    def run_formula(self, formula: Any, arguments: tuple[object, ...], current: object) -> None:
        compiled = formula.compiled.get(self)
        if compiled is None:
            compiled = formula.compiled[self] = Elementwise(self.cupy, formula.formula, formula.scratch)
        if not compiled.run(arguments, current):
            formula.formula(*arguments)

    def sum_formula(
        self, formula: Any, arguments: tuple[object, ...], current: object, out: Array | None = None
    ) -> Array | tuple[Array, ...]:
        compiled = formula.compiled.get(self)
        if compiled is None:
            compiled = formula.compiled[self] = Summed(self.cupy, formula.formula, self.scratches)
        totals = compiled.totals(arguments, current, out)
        if totals is None:
            return formulas.sum_formula(self, formula, arguments, current, out)
        return self.cells(totals) if compiled.several else self.reshape(totals, ())

    # ---- random numbers

    def random_raw(self, root: int, node: int, n: int) -> Array:
        out = self.empty((n,), "uint64")
        self.kernels.launch("random_raw", "f", n, (out, np.uint64(root), np.uint64(node), n))
        return out

    def random_uniform(self, root: int, node: int, n: int, dtype: str) -> Array:
        kind = dtype if self.dtype(dtype).char in REALS else "float32"
        out = self.empty((n,), kind)
        self.kernels.launch("random_uniform", out.dtype.char, n, (out, np.uint64(root), np.uint64(node), n))
        return self.astype(out, dtype)


def _version(number: int) -> str:
    """Format CUDA's 13020 as 13.2."""
    return f"{number // 1000}.{number % 1000 // 10}"


def use_tf32(capability: str) -> None:
    """Let CuPy's products use TF32: all of this process if none has run yet, because CuPy looks when the first runs."""
    if int(capability) < LEAST_TF32:
        say_once(f"cupy: ND_TF32=1 changes nothing: the device has compute capability {capability}, TF32 came with 80")
    else:
        os.environ["CUPY_TF32"] = "1"


def _import_cupy() -> tuple[ModuleType, ModuleType]:
    try:
        import cupy  # first: where neither is installed, its extra is the remedy, and it brings the other

        return cupy, import_module("array_api_compat.cupy")
    except Exception as error:  # a broken installation raises ImportError, OSError, ValueError, ...
        raise cupy_diagnosis.not_importable(error) from error
