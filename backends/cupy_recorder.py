"""The CuPy backend while a CUDA graph is made: products by our own kernel, and nothing that makes the host wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .cuda import REALS
from .cuda.graphs import Graph
from .cupy_backend import CupyBackend
from .errors import NotRecorded

Array = Any


def recorder_of(backend: CupyBackend) -> CupyBackend:
    """Return the backend on which computations of that one are recorded."""
    return _Recorder(backend)


class _Recorder(CupyBackend):
    """Runs computations as `CupyBackend` does, by what a graph can hold.

    Parameters
    ----------
    backend : CupyBackend
    """

    def __init__(self, backend: CupyBackend) -> None:
        self.__dict__.update(backend.__dict__)

    def record(self, run: Callable[[], Array]) -> tuple[Graph, Array]:
        """Run once; return the graph, and the result, whose memory the graph fills anew each time."""
        result = run()
        if not self.is_array(result):
            raise NotRecorded(f"the result is {type(result).__name__}, nothing that a graph computes.")
        return Graph(self.cupy, run, result), result

    def matmul(self, a: Array, b: Array, out: Array | None = None) -> Array:
        if a.dtype.char not in REALS or a.dtype != b.dtype or a.ndim != 2 or b.ndim != 2:
            raise NotRecorded(f"a graph holds products of real matrices of one dtype, got {a.dtype} and {b.dtype}.")
        made = self.empty((a.shape[0], b.shape[1]), self.dtype_name(a)) if out is None else out
        return self._products.run(a, b, made)

    def _prefers_own(self, a: Array, b: Array) -> bool:
        return a.dtype.char in REALS

    def dot(self, x: Array, y: Array) -> Array:
        return self.sum(self.multiply(x, y))

    # ---- what would wait for the device, or not be the same the next time

    def to_host(self, x: Array) -> Any:
        raise NotRecorded("a graph cannot hold a copy to the host.")

    def item(self, x: Array) -> float:
        raise NotRecorded("a graph cannot hold a decision on a value.")

    def random_raw(self, root: int, node: int, n: int) -> Any:
        raise NotRecorded("a graph cannot hold random draws.")

    def random_uniform(self, root: int, node: int, n: int, dtype: str) -> Any:
        raise NotRecorded("a graph cannot hold random draws.")
