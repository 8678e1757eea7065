"""CUDA graphs: a computation captured once, and launched again as one piece of work."""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .arguments import same_memory
from .draws import Draws

if TYPE_CHECKING:
    from types import ModuleType


logger = logging.getLogger("nd")
capture_lock = threading.RLock()
"""Held while something is captured: `nd.synchronize` waits for it, because CUDA refuses both at the same time."""


class Graph:
    """A computation on memory that stays, captured when it is run for the second time.

    The first run, eagerly, has compiled the kernels and allocated the buffers: nothing of that may happen while a
    stream is captured. A computation that cannot be captured is run eagerly every time.

    Parameters
    ----------
    cupy : module
    run : callable
        The computation; returns arrays.
    results : list of array
        Results of its first run; further runs fill them again.
    draws : Draws
        Its random draws.
    """

    def __init__(self, cupy: ModuleType, run: Callable[[], list[Any]], results: list[Any], draws: Draws) -> None:
        self._cupy, self._run, self._results, self._draws = cupy, run, results, draws
        self._graph = None
        self._pool: Any = None
        self._kept: list[object] = []
        self._refused = False

    @property
    def size(self) -> int:
        """Bytes of the memory that belongs to it alone."""
        return 0 if self._pool is None else self._pool.total_bytes()

    def replay(self) -> None:
        """Compute again."""
        if self._graph is None and not self._refused:
            self._capture()
        if self._graph is None:
            self._fill(self._run())
        elif self._draws:
            self._draws.before_launch()
            self._graph.launch()
            self._draws.after_launch()
        else:
            self._graph.launch()

    def _capture(self) -> None:
        cuda = self._cupy.cuda
        stream, self._pool = cuda.Stream(non_blocking=True), cuda.MemoryPool()  # others may use the default stream
        self._kept = []  # without the memory of an interrupted capture
        try:
            with capture_lock, self._draws.capturing(), stream, cuda.using_allocator(self._allocate):
                self._graph = self._captured(stream)
        except Exception as error:  # the driver refuses to capture something: then the step runs as it did before
            self._refused, self._kept = True, []
            say_once(f"cupy: steps are not captured as CUDA graphs, because of {type(error).__name__}: {error}")
        else:
            say_once("cupy: repeated steps run as CUDA graphs; ND_CUDA_GRAPH=0 runs them eagerly")

    def _captured(self, stream: Any) -> Any:
        """Return the graph of the computation; Ctrl-C leaves none."""
        stream.begin_capture()
        try:
            self._fill(self._run())
            self._draws.wind()
        except BaseException:
            with contextlib.suppress(Exception):  # it has failed, for the reason that is raised
                stream.end_capture()
            raise
        return stream.end_capture()

    def _fill(self, results: list[object]) -> None:
        """Put results where those of the first run lie."""
        for target, result in zip(self._results, results, strict=True):
            if not same_memory(result, target):
                self._cupy.copyto(target, result)

    def _allocate(self, size: int) -> object:
        """Return memory that belongs to this graph alone, as long as it lives."""
        memory = self._pool.malloc(size)
        self._kept.append(memory)
        return memory


@functools.cache
def say_once(message: str) -> None:
    """Log a decision that holds for every graph alike."""
    logger.info(message)
