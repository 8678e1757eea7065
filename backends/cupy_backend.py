"""CuPy on a CUDA device: cuBLAS, CuPy's own elementwise kernels, and the kernels of `backends.cuda`.

CuPy is imported when a `CupyBackend` is made, not with this module.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from . import cupy_diagnosis
from .base import DTYPES, Array, Backend
from .cuda import REALS, Kernels, geometry
from .cuda.elementwise import Elementwise, Summed
from .cuda.graphs import say_once
from .cuda.rows import Rows
from .errors import BackendError
from .numpy_backend import UFUNCS
from .settings import switch
from .spatial import Buffers
from .window import Window

# CuPy's ufuncs take (x, y, out), and comparisons also store their 0 and 1 in the dtype of `out`.
DEVICE_UFUNCS = (*UFUNCS, "equal", "greater", "greater_equal", "maximum", "minimum")


class CupyBackend(Backend):
    """CuPy on a CUDA device. Arrays are cupy.ndarray.

    Raises
    ------
    BackendError
        CuPy is missing, no CUDA device is visible, or a small computation on it fails.
    """

    name = "cupy"
    merges_penalties = True

    def __init__(self) -> None:
        self.cupy, namespace = _import_cupy()
        _check_device(self.cupy)
        if switch("ND_TF32", False):
            os.environ["CUPY_TF32"] = "1"  # which CuPy reads at its first product
        super().__init__(namespace)
        self._dtypes = {name: np.dtype(name) for name in DTYPES}
        self._dtype_names = {dtype: name for name, dtype in self._dtypes.items()}
        self._kernels = Kernels(self.cupy)
        self._row_kernels = Rows(self._kernels)
        self._recorder: Any = None
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
            answer = self._probe()
        except Exception as error:  # whatever breaks here, the backend is unusable for that reason
            raise cupy_diagnosis.does_not_compute(self.cupy, error) from error
        if answer != 72.0:
            raise BackendError(
                f"cupy: the device must compute, expected 72 from a small product, got {answer}. "
                "Check the driver with nvidia-smi, or select ND_BACKEND=numpy."
            )

    def _probe(self) -> float:
        image = self.full((4, 1, 2, 2), 3.0, "float32")
        pooled, _ = self.max_pool(image, Window((2, 2), (2, 2)), self.fresh_buffers("float32"))
        square = self.reshape(pooled, (2, 2))
        return self.item(self.sum(self.matmul(square, square)))

    def describe(self) -> dict[str, str]:
        cuda = self.cupy.cuda
        device = cuda.Device()
        name = cuda.runtime.getDeviceProperties(device.id)["name"]
        free, total = device.mem_info
        return {
            "cupy": self.cupy.__version__,
            "cuda runtime": _version(cuda.get_local_runtime_version()),
            "cuda driver": _version(cuda.runtime.driverGetVersion()),
            "device": f"{device.id}: {name.decode()}, compute capability {device.compute_capability}",
            "memory": f"{free >> 20} MiB free of {total >> 20} MiB",
            **cupy_diagnosis.doubts(),
        }

    # ---- recording

    def recorder(self) -> Any:
        if not self._graphs:
            return None
        from .cupy_recorder import recorder_of  # whose class derives from this one

        if self._recorder is None:
            self._recorder = recorder_of(self)
        return self._recorder

    # ---- arrays in and out

    def is_array(self, x: object) -> bool:
        return isinstance(x, self.cupy.ndarray)

    def from_host(self, array: Any, dtype: str) -> Array:
        """Return a copy of a numpy array on the device, through CuPy's pinned memory."""
        kind = np.dtype(dtype)
        if kind.itemsize < array.dtype.itemsize:
            return self.cupy.asarray(array, kind)
        return self.cupy.asarray(array).astype(kind, copy=False)  # images are bytes on the way and floats only there

    def to_host(self, x: Array) -> Any:
        return self.cupy.asnumpy(x)

    def item(self, x: Array) -> float:
        return x if isinstance(x, (int, float)) else x.item()

    def synchronize(self) -> None:
        self.cupy.cuda.Device().synchronize()

    # ---- creation and shape

    def empty(self, shape: Sequence[int], dtype: str, order: str = "c") -> Array:
        axes, kind, c_or_f = tuple(shape), self.dtype(dtype), "C" if order == "c" else "F"
        out_of_memory = self.cupy.cuda.memory.OutOfMemoryError
        try:
            return self.cupy.empty(axes, kind, c_or_f)
        except out_of_memory:
            self.cupy.get_default_memory_pool().free_all_blocks()  # what CuPy keeps for arrays of other sizes
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

    def fill(self, x: Array, value: float) -> Array:
        x.fill(value)
        return x

    def assign(self, target: Array, source: Any) -> Array:
        if isinstance(source, list):
            source = self.cupy.asarray(source, target.dtype)
        self.cupy.copyto(target, source, casting="unsafe")
        return target

    def copy(self, x: Array) -> Array:
        return x.copy(order="C")

    def astype(self, x: Array, dtype: str) -> Array:
        return x.astype(self.dtype(dtype), copy=False)

    def reshape(self, x: Array, shape: Sequence[int]) -> Array:
        return x.reshape(tuple(shape))

    def transpose(self, x: Array) -> Array:
        return x.T

    def permute(self, x: Array, axes: Sequence[int]) -> Array:
        return x.transpose(tuple(axes))

    def to_activation_order(self, x: Array, buffer: Buffers) -> Array:
        return x if _batch_innermost(x) else super().to_activation_order(x, buffer)

    # ---- reductions and linear algebra

    def sum(self, x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return x.sum(axis=axis, keepdims=keepdims)

    def max(self, x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return x.max(axis=axis, keepdims=keepdims)

    def sum_into(self, x: Array, axis: int, out: Array) -> Array:
        return out if self._row_kernels.sum(x, axis, out) else x.sum(axis=axis, out=out)

    def softmax(self, x: Array, axis: int, out: Array | None = None) -> Array:
        made = self.cupy.empty_like(x) if out is None else out
        return made if self._row_kernels.softmax(x, axis, made) else super().softmax(x, axis, out)

    def dot(self, x: Array, y: Array) -> Array:
        return self.cupy.dot(x, y)

    def matmul(self, a: Array, b: Array, out: Array | None = None) -> Array:
        if out is None:
            return self.cupy.matmul(a, b)
        if out.flags.f_contiguous and not out.flags.c_contiguous:
            self.cupy.matmul(b.T, a.T, out=out.T)  # the same product: cuBLAS then writes it where it belongs
        else:
            self.cupy.matmul(a, b, out=out)
        return out

    def run_formula(self, formula: Any, arguments: tuple[Any, ...], current: Any) -> None:
        compiled = formula.compiled.get(self)
        if compiled is None:
            compiled = formula.compiled[self] = Elementwise(self.cupy, formula.formula, formula.scratch)
        if not compiled.run(arguments, current):
            formula.formula(*arguments)

    def sum_formula(self, formula: Any, arguments: tuple[Any, ...], current: Any) -> Array:
        compiled = formula.compiled.get(self)
        if compiled is None:
            compiled = formula.compiled[self] = Summed(self.cupy, formula.formula)
        total = compiled.total(arguments, current)
        return formula.formula(*arguments) if total is None else total

    # ---- random numbers

    def random_raw(self, root: int, node: int, n: int) -> Array:
        out = self.empty((n,), "uint64")
        self._kernels.launch("random_raw", "f", n, (out, root, node, n))
        return out

    def random_uniform(self, root: int, node: int, n: int, dtype: str) -> Array:
        kind = dtype if self.dtype(dtype).char in REALS else "float32"
        out = self.empty((n,), kind)
        self._kernels.launch("random_uniform", out.dtype.char, n, (out, root, node, n))
        return self.astype(out, dtype)

    # ---- sliding windows: outputs come from `buffers` with the batch innermost, inputs lie as they like

    def im2col(self, x: Array, window: Window, buffers: Buffers) -> Array:
        if x.dtype.char not in REALS:
            return super().im2col(x, window, buffers)
        col = buffers("col", (*x.shape[:2], *window.kernel, *window.out))
        self._run("im2col", window, (_like(x, col),), (col,))
        return col

    def col2im(self, col: Array, window: Window, buffers: Buffers) -> Array:
        if col.dtype.char not in REALS:
            return super().col2im(col, window, buffers)
        image = buffers("epsilon", (*col.shape[:2], *window.size))
        self._run("col2im", window, (self._packed(_like(col, image), buffers),), (image,))
        return image

    def product_of_channels(self, rows: Array, columns: Array, out: Array, buffers: Buffers) -> None:
        self.matmul(rows, columns.T, out)

    def sum_channels(self, rows: Array, out: Array, buffers: Buffers) -> None:
        self.sum_into(rows, 1, out)

    def max_pool(self, x: Array, window: Window, buffers: Buffers) -> tuple[Array, Any]:
        shape = (*x.shape[:2], *window.out)
        out, winner = buffers("pooled", shape), buffers("winner", shape, "int32")
        self._run("max_pool", window, (_like(x, out),), (out, winner))
        return out, winner

    def conv2d_max_pool(
        self,
        x: Array,
        W: Array,
        b: Array | None,
        activate: Any,
        windows: tuple[Window, Window],
        buffers: tuple[Buffers, Buffers],
        keep: bool = True,
    ) -> tuple[Array, Any]:
        if b is None or activate is not None or W.dtype.char not in REALS or not b.flags.c_contiguous:
            return super().conv2d_max_pool(x, W, b, activate, windows, buffers, keep)
        z, convolved = self.conv2d(x, W, None, windows[0], buffers[0])
        shape = (*z.shape[:2], *windows[1].out)
        out, winner = buffers[1]("pooled", shape), buffers[1]("winner", shape, "int32")
        self._run("max_pool_biased", windows[1], (z, b), (out, winner))
        return out, (convolved, winner)

    def max_pool_backward(self, epsilon: Array, saved: Any, window: Window, buffers: Buffers) -> Array:
        image = buffers("epsilon", (*epsilon.shape[:2], *window.size))
        self._run("max_pool_backward", window, (_like(epsilon, image), saved), (image,))
        return image

    def avg_pool(self, x: Array, window: Window, count_padding: bool, buffers: Buffers) -> tuple[Array, Any]:
        out = buffers("pooled", (*x.shape[:2], *window.out))
        counted = int(count_padding or not window.has_padding)
        self._run("avg_pool", window, (_like(x, out),), (out,), counted)
        return out, counted

    def avg_pool_backward(self, epsilon: Array, saved: Any, window: Window, buffers: Buffers) -> Array:
        image = buffers("epsilon", (*epsilon.shape[:2], *window.size))
        self._run("avg_pool_backward", window, (_like(epsilon, image),), (image,), saved)
        return image

    def pnorm_pool(self, x: Array, window: Window, p: int, buffers: Buffers) -> tuple[Array, Any]:
        out = buffers("pooled", (*x.shape[:2], *window.out))
        x = _like(x, out)
        self._run("pnorm_pool", window, (x,), (out,), float(p))
        return out, (x, out)

    def pnorm_pool_backward(self, epsilon: Array, saved: Any, window: Window, p: int, buffers: Buffers) -> Array:
        x, norm = saved
        image = buffers("epsilon", x.shape)
        inputs = (_like(epsilon, image), self._packed(x, buffers), norm)
        self._run("pnorm_pool_backward", window, inputs, (image,), float(p))
        return image

    def _run(
        self, name: str, window: Window, inputs: tuple[Array, ...], outputs: tuple[Array, ...], *tail: float
    ) -> None:
        """Launch a kernel that reads the first input by its strides and makes each element of the first output."""
        read, made = inputs[0], outputs[0]
        shape = geometry(window, read.shape[0], made.size, read.strides)
        self._kernels.launch(name, made.dtype.char, made.size, (*inputs, *outputs, shape, *tail))

    def _packed(self, x: Array, buffers: Buffers) -> Array:
        """Return `x`, or a copy, as the kernels expect what they do not read by strides."""
        return x if _batch_innermost(x) else self.assign(buffers("packed", x.shape), x)


def _batch_innermost(x: Array) -> bool:
    """Tell whether `x` has no gaps in memory and its first axis innermost."""
    return x.transpose((*range(1, x.ndim), 0)).flags.c_contiguous


def _like(x: Array, out: Array) -> Array:
    """Kernels know one type at a time."""
    return x if x.dtype == out.dtype else x.astype(out.dtype)


def _version(number: int) -> str:
    """Format CUDA's 13020 as 13.2."""
    return f"{number // 1000}.{number % 1000 // 10}"


def _import_cupy() -> tuple[ModuleType, ModuleType]:
    try:
        import array_api_compat.cupy as namespace
        import cupy
    except Exception as error:  # a broken installation raises ImportError, OSError, ValueError, ...
        raise cupy_diagnosis.not_importable(error) from error
    return cupy, namespace


def _check_device(cupy: ModuleType) -> None:
    if not cupy.cuda.is_available():
        raise cupy_diagnosis.no_device(cupy)
