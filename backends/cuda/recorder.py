"""The CuPy backend while a CUDA graph is recorded: products by our own kernel, nothing that makes the host wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from backends.typing import Array, HostArray

from ..errors import NotRecorded
from . import REALS
from .cupy_backend import CupyBackend
from .draws import Draws
from .graphs import Graph
from .scratch import Scratch
from .spatial import batch_innermost


def recorder_of(backend: CupyBackend) -> CupyBackend:
    """Return the backend on which computations of that one are recorded."""
    kind = type(backend)
    if kind is CupyBackend:
        return _Recorder(backend)
    # With what a class of a user's own does its own way.
    return type(f"Recording{kind.__name__}", (_Recorder, kind), {})(backend)


class _Recorder(CupyBackend):
    """Runs computations as `CupyBackend` does, by what a graph can hold.

    Parameters
    ----------
    backend : CupyBackend
    """

    silent = True

    def __init__(self, backend: CupyBackend) -> None:
        self.__dict__.update(backend.__dict__)
        self._thread = threading.local()  # several threads may record networks of their own

    @property
    def _draws(self) -> Draws | None:
        return getattr(self._thread, "draws", None)

    def record(self, run: Callable[[], list[Any]], generator: Callable[[], object]) -> tuple[Graph, list[object]]:
        """Run once; return the graph, and the results, whose memory every replay fills anew.

        `generator` returns the generator that random numbers may be drawn from.
        """
        draws, scratch = Draws(self.cupy, generator()), Scratch(self.cupy)

        def run_noting_draws() -> list[object]:
            before, self._thread.draws = self._draws, draws
            try:
                draws.begin()
                results = self.scratches.holding(scratch, run)
            finally:
                self._thread.draws = before
            draws.end()
            return results

        results = run_noting_draws()
        for result in results:
            if not self.is_array(result):
                raise NotRecorded(f"the result is {type(result).__name__}, nothing that a graph computes.")
        return Graph(self.cupy, run_noting_draws, results, draws), results

    def dropout_factors(self, root: int, node: int, p: float, out: Array) -> Array:
        if self._draws is None or out.dtype.char not in REALS or not batch_innermost(out):
            raise NotRecorded("a graph cannot hold such random draws.")
        move = self._draws.note(root, node)
        if not self._draws.captured:
            return super().dropout_factors(root, node, p, out)
        arguments = (out, self._draws.states, *move, p, out.shape[0], out.size)
        self.kernels.launch("dropout_factors_from", out.dtype.char, out.size, arguments)
        return out

    def random_uniform(self, root: int, node: int, n: int, dtype: str) -> Array:
        if self._draws is None:
            raise NotRecorded("a graph cannot hold such random draws.")
        move = self._draws.note(root, node)
        if not self._draws.captured:
            return super().random_uniform(root, node, n, dtype)
        out = self.empty((n,), dtype if self.dtype(dtype).char in REALS else "float32")
        self.kernels.launch("random_uniform_from", out.dtype.char, n, (out, self._draws.states, *move, n))
        return self.astype(out, dtype)

    def random_moved(self, n: int) -> None:
        if self._draws is not None:
            self._draws.moved(n)

    def matmul(self, a: Array, b: Array, out: Array | None = None) -> Array:
        _check_real(a, b, 2)
        product = self.empty((a.shape[0], b.shape[1]), self.dtype_name(a)) if out is None else out
        return self.products.run(a, b, product)

    def batched_matmul(self, a: Array, b: Array, out: Array | None = None) -> Array:
        _check_real(a, b, 3)
        return super().batched_matmul(a, b, out)

    def prefers_own(self, a: Array, b: Array) -> bool:
        return a.dtype.char in REALS

    def dot(self, x: Array, y: Array, out: Array | None = None) -> Array:
        return self.stored(self.sum(self.multiply(x, y)), out)

    def noted(self, call: Callable[[], object]) -> None:
        raise NotRecorded("a graph cannot hold a call of the host's.")

    # ---- refused: it would wait for the device, or a replay would not repeat it

    def to_host(self, x: Array) -> HostArray:
        raise NotRecorded("a graph cannot hold a copy to the host.")

    def item(self, x: Array | float) -> float:
        raise NotRecorded("a graph cannot hold a decision on a value.")

    def svd(self, a: Array) -> tuple[Array, Array, Array]:
        raise NotRecorded("a graph cannot hold a decomposition.")

    def random_raw(self, root: int, node: int, n: int) -> Array:
        raise NotRecorded("a graph cannot hold random draws.")


def _check_real(a: Array, b: Array, axes: int) -> None:
    if a.dtype.char not in REALS or a.dtype != b.dtype or a.ndim != axes or b.ndim != axes:
        raise NotRecorded(f"a graph holds products of real matrices of one dtype, got {a.dtype} and {b.dtype}.")
