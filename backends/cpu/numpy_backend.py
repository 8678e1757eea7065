"""The reference backend: NumPy, results written straight into `out`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import cached_property, partial
from typing import Any

import numpy as np

from backends.typing import Array, HostArray, NumpyArray

from ..base import DTYPES, Backend
from ..dispatch import dispatching
from ..errors import DTypeError
from ..scheduling import Meeting, UpdatePlan, Work, WorkPlan, in_one_piece, subtrees
from ..settings import wants_onednn
from . import batch_norm, embedding, stacks
from .accelerated import OneDnn, describe_onednn, multiplies, takes_images, turns
from .blas_level1 import LEAST_ELEMENTS, LevelOne
from .blas_threads import BlasThreads
from .meeting import WorkersMeeting
from .recording import SETTINGS, UFUNC_BUFFER, TracedArray, quietly
from .rectifying import rectify
from .table import TABLE
from .workers import Workers, even_parts, thread_count

_OLDEST = np.lib.NumpyVersion(np.__version__) < "2.1.0"  # whose reshape has no copy=False
LEAST_EXAMPLES = 8  # in a part of a minibatch
VECTOR = 16  # examples that a part is a multiple of: 64 bytes, so that every row of it begins a cache line
TILE_BYTES = 4 << 20  # of the largest activation of a part; the caches hold it, and inner loops stay long
LEAST_MULTIPLICATIONS = 25_000_000  # below which the BLAS alone with its threads is faster than waking ours
MULTIPLICATIONS_PER_PARAMETER = 36  # that a worker has to save, because each worker has a gradient to be added
MULTIPLICATIONS_PER_BYTE = 8  # of the largest activation, that take as long as the passes over activations
MULTIPLICATIONS_PER_LOOKUP = 64  # that take as long as one number that is looked up in a table, or added to it
LEAST_PER_STEP = 400_000  # multiplications of a worker in a time step, below which the interpreter's lock costs more
LEAST_PER_MEETING = 20_000_000
"""Multiplications between two meetings, below which one worker is faster: of a residual network with 42 meetings a step
of 16 (10 million between two) takes 11.5 ms undivided and 13.4 by two workers, of 32 19.1 and 17.8, of 64 32.6 and
26.0, of a small network with 4 meetings a step of 16 (25 million) 3.1 and 2.4."""
LIGHT = 40_000_000  # multiplications of a step with so few that no product is worth more than one worker
LEAST_PRODUCT = 20_000_000  # multiplications of a matrix product that is worth waking threads
LEAST_OF_ONEDNN = 1 << 20
"""Multiplications of a product: fewer take OpenBLAS 0.4 to 1 of oneDNN's time, more 1 to 2 (AVX-512; one thread)."""
LEAST_ASSIGNED = 1 << 14  # elements of images that are worth oneDNN's copy where no recording is made
LEAST_REORDERED = 1024  # elements that are worth oneDNN's copy into another memory order
DENSE = 4  # multiplications per parameter and pass up to which products are split, unless examples are many:
DENSE_EXAMPLES = 128  # at least, and
DENSE_PARAMETERS = 4_000  # for each of which there must be an example, because each worker has a gradient to be added


def _parts(start: int, stop: int, most: int) -> list[slice]:
    """Cut a range into as few parts as have about `most` examples, all but the last of full cache lines."""
    length = stop - start
    size = -(-length // -(-length // most))
    size += -size % VECTOR if size >= VECTOR else 0
    return [slice(first, min(first + size, stop)) for first in range(start, stop, size)]


def _run_with_buffer(run: Callable[..., list[object]], tasks: Sequence[Callable[[], object]]) -> list[object]:
    np.setbufsize(UFUNC_BUFFER)
    return run(tasks)


def _sum_of_places(x: NumpyArray, keepdims: bool) -> NumpyArray | None:
    """Return the sums over all places of ``[N, C, ...]`` by BLAS, which takes a fifth of NumPy's time for them.

    None where neither channels nor examples lie innermost, side by side.
    """
    if x.dtype.kind != "f" or x.size == 0:
        return None
    for axes in ((0, *range(2, x.ndim), 1), (1, *range(2, x.ndim), 0)):
        lying = x.transpose(axes)
        if lying.flags.c_contiguous and lying.shape[-1] > 1:
            sums = np.matmul(
                np.ones(math.prod(x.shape[2:]), x.dtype), lying.reshape(lying.shape[0], -1, lying.shape[-1])
            )
            sums = sums if axes[0] == 0 else sums.T
            return sums.reshape(*x.shape[:2], *(1,) * (x.ndim - 2)) if keepdims else sums
    return None


CACHE_LINE = 64  # bytes; activations that begin one are read 5 to 10 % faster by oneDNN's convolutions
UFUNCS = (
    "absolute", "add", "cos", "divide", "exp", "log", "multiply", "power", "sign", "sin", "sqrt", "square", "subtract",
    "tanh",
)  # fmt: skip


@dispatching(TABLE)
class NumpyBackend(Backend):
    """NumPy on the host. Arrays are numpy.ndarray."""

    name = "numpy"
    update_chunk = 1 << 16  # elements: a chunk of parameters, gradient, state and scratch stays in the L2 cache
    worker_elements = 1 << 16  # of an update that are worth a worker of their own
    cached_elements = 1 << 16
    multiplies_bool = True

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(np)
        self.dtypes = {name: np.dtype(name) for name in DTYPES}
        self.dtype_names = {np.dtype(name): name for name in DTYPES}
        self.threads = thread_count() if threads is None else threads
        self._blas, self.level_one = BlasThreads(), LevelOne()
        self._workers = Workers(self.threads)
        self._recorder: Backend | None = None
        self._wants_onednn = wants_onednn()  # once: what the environment says later is for backends made later
        self.workers = self.threads if self._blas.controllable else 1
        self.needs_no_hold = self._blas.count() in (None, self.threads)
        self._least_product = LEAST_PRODUCT if self.workers > 1 else math.inf

    settings = SETTINGS
    batched_matmul = stacks.batched_matmul
    for_channels = batch_norm.for_channels
    products_with = stacks.products_with
    pull_rows = embedding.pull_rows
    scatter_add = embedding.scatter_add

    @cached_property
    def onednn(self) -> OneDnn:
        """oneDNN's primitives; None without it, which whatever runs them has asked before."""
        from ..onednn.library import library

        there = self._wants_onednn and library() is not None
        return OneDnn() if there else None  # type: ignore[return-value]

    def accelerates(self, *arrays: NumpyArray | None) -> bool:
        """Tell whether oneDNN computes with arrays: of float32, and not empty."""
        fit = all(x is None or (x.dtype == "float32" and x.size > 0) for x in arrays)
        return fit and self.onednn is not None

    def quiet(self) -> AbstractContextManager[object]:
        return np.errstate(all="ignore")

    def quietly(self, function: Callable[..., object], *arguments: object) -> Any:
        return quietly(function, *arguments)

    def is_array(self, x: object) -> bool:
        return isinstance(x, (np.ndarray, np.generic))  # reductions of everything give scalars

    def is_ready(self, x: object, dtype: str) -> bool:
        return type(x) is np.ndarray and x.dtype is self.dtypes.get(dtype)

    def asarray(self, data: object, dtype: str) -> Array:
        try:
            array = np.asarray(data)
            if array.dtype.kind not in "fiub":
                raise TypeError(f"dtype {array.dtype}")
            return np.asarray(array, dtype=self.dtype(dtype))
        except (TypeError, ValueError) as error:
            raise DTypeError(f"create: the data must be numbers in a regular nesting, got {error}.") from error

    def from_host(self, array: object, dtype: str) -> Array:
        return np.array(array, dtype=dtype)

    def to_host(self, x: Any) -> HostArray:
        return np.asarray(x.get() if type(x).__module__ == "cupy" else x)

    def describe(self) -> dict[str, str]:
        blas = np.show_config("dicts")["Build Dependencies"]["blas"]
        return {
            "numpy": np.__version__,
            "blas": f"{blas.get('name')} {blas.get('version')}",
            "onednn": describe_onednn(self._wants_onednn),
            "threads": f"{self.threads} (ND_NUM_THREADS)" if self._blas.controllable else "as the BLAS chooses",
        }

    def item(self, x: Any) -> float:
        return x if type(x) in (int, float) else x.item()  # numpy.float64 is a float too

    # ---- recording

    def recorder(self) -> Backend:
        from .recorder import recorder_of  # whose class derives from this one

        if self._recorder is None:
            self._recorder = recorder_of(self)
        return self._recorder

    def traceable(self, x: NumpyArray) -> Array:
        return x.view(TracedArray)

    def may_share_memory(self, x: NumpyArray, y: NumpyArray) -> bool:
        return np.may_share_memory(np.asarray(x), np.asarray(y))  # of which it does not ask a subclass

    # ---- work side by side

    def plan_work(self, examples: int, work: Work | None) -> WorkPlan:
        if work is None:
            return in_one_piece(examples)
        count = min(self.workers, max(examples // LEAST_EXAMPLES, 1))
        cost = work.multiplications + MULTIPLICATIONS_PER_LOOKUP * work.looked_up
        passes = MULTIPLICATIONS_PER_BYTE * work.largest
        if examples * (cost + passes) < LEAST_MULTIPLICATIONS + MULTIPLICATIONS_PER_PARAMETER * work.parameters:
            count = 1
        few = work.looked_up or examples < max(DENSE_EXAMPLES, work.parameters / DENSE_PARAMETERS)
        if few and cost <= DENSE * 3 * work.parameters:  # with a table of rows never: additions to it run one by one
            count = 1
        most = 1 << max(TILE_BYTES // max(work.largest, 1), LEAST_EXAMPLES, 1).bit_length() - 1
        whole = work.per_lstm_step > 0 and self.onednn is not None  # which is not loaded for the sake of other networks
        loops = (work.per_step, 0 if whole else work.per_lstm_step)
        per_step = min(filter(None, loops), default=0)
        if per_step:  # many short calls: examples stay together, and workers only share what is worth the lock
            most = examples
            if examples * per_step < count * LEAST_PER_STEP:
                count = 1
        if work.meetings:  # in the middle of its work a worker cannot wait for a part that it has not begun
            most = examples
            if examples * work.multiplications < LEAST_PER_MEETING * work.meetings:
                count = 1
        shares = _parts(0, examples, -(-examples // count))
        workers = tuple(tuple(_parts(share.start, share.stop, most)) for share in shares)
        undivided = len(workers) == len(workers[0]) == 1
        return WorkPlan(workers, examples * cost < LIGHT, undivided)

    def plan_shards(self, count: int, meet: bool) -> tuple[tuple[int, int], ...]:
        return tuple(subtrees(0, count, count if meet else self.workers))

    def plan_update(self, length: int) -> UpdatePlan:
        parts = even_parts(length, max(1, min(self.workers, length // self.worker_elements)))
        return UpdatePlan(tuple((part.start, part.stop) for part in parts), self.update_chunk, 0)

    def is_busy(self) -> bool:
        """Tell whether the workers run something, so that nothing inside of it is split."""
        return self._workers.busy

    def meeting(self, count: int) -> Meeting:
        return WorkersMeeting(count)

    def run_tasks(
        self, tasks: Sequence[Callable[[], object]], light: bool = False, meeting: Meeting | None = None
    ) -> list[object]:
        return self._run_held(tasks, partial(self._workers.run, meeting=meeting))  # type: ignore[arg-type]  # from `meeting`

    def run_in_turn(self, tasks: Sequence[Callable[[], object]], light: bool = False) -> list[object]:
        return self._run_held(tasks, self._workers.run_in_turn)

    def _run_held(self, tasks: Sequence[Callable[[], object]], run: Callable[..., list[object]]) -> list[object]:
        """Run tasks while the BLAS has one thread per task."""
        blas = self._blas.hold()
        try:
            return copy_context().run(_run_with_buffer, run, tasks)  # a Ctrl-C leaves NumPy's settings as they are
        finally:
            self._blas.release(blas)

    # ---- creation and shape

    def empty(self, shape: Sequence[int], dtype: str, order: str = "c") -> np.ndarray:
        return np.empty(tuple(shape), self.dtype(dtype), "C" if order == "c" else "F")

    def lasting(self, length: int, dtype: str) -> Array:
        memory = self.empty((length + CACHE_LINE,), dtype)
        start = -memory.ctypes.data % CACHE_LINE // memory.itemsize
        return memory[start : start + length]

    def to_activation_order(self, x: NumpyArray, buffers: Callable[[str, tuple[int, ...]], Array]) -> Array:
        # No row of the table, as the next one: every layer calls these, most often for nothing.
        turned = x.T if x.ndim == 2 else x.transpose(*range(1, x.ndim), 0)
        if turned.flags.c_contiguous:
            return x
        view = buffers("input", x.shape)
        if x.size >= LEAST_REORDERED and x.dtype == view.dtype and x.ndim > 2 and self.accelerates(x):
            return self.onednn.running.reordered(x, view)
        view[...] = x
        return view

    def to_input_order(self, x: NumpyArray, buffers: Callable[..., Array]) -> Array:
        if x.ndim < 4 or not takes_images(self, x):
            return self.to_activation_order(x, buffers)
        return self.onednn.running.with_channels_innermost(x, buffers, "input")

    def activation_view(self, flat: NumpyArray, shape: Sequence[int]) -> Array:
        view: NumpyArray = self.reshape_view(flat[: math.prod(shape)], (*shape[1:], *shape[:1]))
        return view.transpose(view.ndim - 1, *range(view.ndim - 1)) if view.ndim else view

    def fill(self, x: NumpyArray, value: float) -> Array:
        x.fill(value)
        return x

    def assign(self, target: NumpyArray, source: Any) -> Array:
        if target.ndim > 3 and target.size >= LEAST_ASSIGNED and turns(self, source, target):
            self.onednn.running.copied(source, target)
        elif type(target) is np.ndarray:
            target[...] = source
        else:
            np.copyto(target, source, casting="unsafe")
        return target

    def copy(self, x: NumpyArray) -> Array:
        return np.array(x, order="C")

    def snapshot(self, arrays: Sequence[NumpyArray]) -> list[Array]:
        from .snapshot import snapshot  # which few programs need

        return snapshot(arrays)

    def astype(self, x: NumpyArray, dtype: str) -> Array:
        kind = self.dtype(dtype)
        return x if x.dtype is kind or x.dtype == kind else np.astype(x, kind)

    def reshape(self, x: NumpyArray, shape: Sequence[int]) -> Array:
        return x.reshape(shape)

    def reshape_view(self, x: NumpyArray, shape: Sequence[int]) -> Array:
        if not _OLDEST:
            return np.reshape(x, shape, copy=False)
        reshaped = x.view(np.ndarray).reshape(shape)  # untraced: a recording would refuse a copy
        if x.size and reshaped.__array_interface__["data"] != x.__array_interface__["data"]:
            raise ValueError(f"reshape_view: {list(shape)} must not need a copy, got strides {x.strides}.")
        return x.reshape(shape)

    def transpose(self, x: NumpyArray) -> Array:
        return x.T

    def permute(self, x: NumpyArray, axes: Sequence[int]) -> Array:
        return x.transpose(axes)

    # ---- arithmetic that the generic code would do in several passes

    def maximum(self, x: NumpyArray | float, y: NumpyArray | float, out: NumpyArray | None = None) -> Array:
        return np.maximum(x, y, out=out)  # by keyword: NumPy deprecates a third positional argument of this ufunc

    def minimum(self, x: NumpyArray | float, y: NumpyArray | float, out: NumpyArray | None = None) -> Array:
        return np.minimum(x, y, out=out)

    def greater(self, x: NumpyArray | float, y: Any, out: NumpyArray | None = None) -> Array:
        return np.greater(x, y) if out is None else np.greater(x, y, out=out, casting="unsafe")

    def greater_equal(self, x: NumpyArray | float, y: Any, out: NumpyArray | None = None) -> Array:
        return np.greater_equal(x, y) if out is None else np.greater_equal(x, y, out=out, casting="unsafe")

    def equal(self, x: NumpyArray | float, y: NumpyArray | float, out: NumpyArray | None = None) -> Array:
        return np.equal(x, y) if out is None else np.equal(x, y, out=out, casting="unsafe")

    def relu(self, x: NumpyArray, out: NumpyArray | None = None) -> Array:
        return rectify(x, out)

    def put_where(self, target: NumpyArray, value: NumpyArray | float, condition: NumpyArray) -> Array:
        np.copyto(target, value, casting="unsafe", where=condition)
        return target

    def sum(self, x: NumpyArray, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
        sums = _sum_of_places(x, keepdims) if x.ndim > 2 and axis == tuple(range(2, x.ndim)) else None
        if sums is not None:
            return sums
        if type(axis) is tuple and len(axis) > 1 and x.size and x.strides[axis[-1]] != min(x.strides):
            for each in axis[:-1]:  # one by one, along long rows: together it takes four to eight times as long
                x = np.add.reduce(x, axis=each, keepdims=True)
        return np.add.reduce(x, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]

    def max(self, x: NumpyArray, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
        return np.maximum.reduce(x, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]

    def sum_into(self, x: NumpyArray, axis: int, out: NumpyArray) -> Array:
        return np.add.reduce(x, axis=axis, out=out)

    def row_products(self, x: NumpyArray, y: NumpyArray) -> Array:
        return np.vecdot(x, y)

    def dot(self, x: NumpyArray, y: NumpyArray, out: NumpyArray | None = None) -> Array:
        return np.dot(x, y) if out is None else np.dot(x, y, out)

    def matmul(self, a: NumpyArray, b: NumpyArray, out: NumpyArray | None = None) -> Array:
        if out is None:
            return np.matmul(a, b)
        rows = out
        if not out.flags.c_contiguous:
            if not out.flags.f_contiguous:
                return np.matmul(a, b, out=out)
            a, b, rows = b.T, a.T, out.T  # the same, written row by row
        size = rows.size * b.shape[0]
        if size >= self._least_product and not self.is_busy():
            multiply = self.onednn.products.product if multiplies(self, a, b) else np.dot
            self.run_tasks([partial(multiply, a[part], b, rows[part]) for part in even_parts(len(a), self.workers)])
        elif (
            size >= LEAST_OF_ONEDNN and self._blas.held and multiplies(self, a, b)
        ):  # else the BLAS has its own threads
            self.onednn.products.note_product(a, b, rows)
        else:
            np.dot(a, b, rows)  # as matmul, with less ado for small ones
        return out

    def axpby(self, alpha: Any, x: NumpyArray, beta: Any, y: NumpyArray, scratch: NumpyArray) -> Array:
        run = None if y.size < LEAST_ELEMENTS else self.level_one.bound(alpha, x, beta, y)
        if run is not None:
            run()
            return y
        np.multiply(x, alpha, scratch)
        np.multiply(y, beta, y)
        return np.add(scratch, y, y)


for _name in UFUNCS:  # which take (x, y, out), as Backend's elementwise primitives do
    setattr(NumpyBackend, _name, staticmethod(getattr(np, _name)))
