"""Memory in which the blocks of a kernel leave their numbers to one another."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from backends.typing import CupyArray

if TYPE_CHECKING:
    from types import ModuleType


Result = TypeVar("Result")
PER_THREAD = 2
"""The address that stands for a stream of every thread's own, cudaStreamPerThread."""
MOST_STREAMS = 16
"""That keep memory of their own."""


class Scratch:
    """Memory of the kernels of one stream, or of one graph, which run one after the other.

    It stays as long as the scratch, because a graph may know its address.

    Parameters
    ----------
    cupy : module
    """

    def __init__(self, cupy: ModuleType) -> None:
        self._cupy = cupy
        self._partial: dict[str, CupyArray] = {}
        self._arrived: CupyArray | None = None
        self._kept: list[CupyArray] = []

    def partial(self, dtype: Any, least: int) -> CupyArray:
        """Return a vector of at least that many elements, which hold anything."""
        if dtype.char not in self._partial or self._partial[dtype.char].size < least:
            self._partial[dtype.char] = self._new(least, dtype)
        return self._partial[dtype.char]

    def arrived(self, least: int) -> CupyArray:
        """Return int32 counters, at least that many, all 0; whoever uses one leaves it at 0."""
        if self._arrived is None or self._arrived.size < least:
            self._arrived = self._new(least, "i")
            self._arrived.fill(0)
        return self._arrived

    def _new(self, least: int, dtype: str) -> CupyArray:
        """Return memory at least twice as large as that which it replaces, so that little is kept in vain."""
        memory = self._cupy.empty(1 << (least - 1).bit_length(), dtype)
        self._kept.append(memory)
        return memory


class Scratches:
    """The scratch of every stream and graph: kernels of several of them run side by side.

    Parameters
    ----------
    cupy : module
    """

    def __init__(self, cupy: ModuleType) -> None:
        self._cupy = cupy
        self._of_streams: dict[tuple[int, int, int], tuple[Any, Scratch]] = {}
        self._lock = threading.Lock()
        self._thread = threading.local()

    def current(self) -> Scratch:
        """Return the one that this thread holds, or else that of its current stream."""
        held: Scratch | None = getattr(self._thread, "scratch", None)
        if held is not None:
            return held
        cuda = self._cupy.cuda
        stream = cuda.get_current_stream()
        thread = threading.get_ident() if stream.ptr == PER_THREAD else 0
        key = (cuda.runtime.getDevice(), stream.ptr, thread)
        entry = self._of_streams.get(key)
        if entry is not None:
            return entry[1]
        with self._lock:
            if len(self._of_streams) >= MOST_STREAMS:
                self._of_streams.pop(next(iter(self._of_streams)))[0].synchronize()
            # The stream stays as long as its scratch, so that no other one gets its address.
            return self._of_streams.setdefault(key, (stream, Scratch(self._cupy)))[1]

    def holding(self, scratch: Scratch, run: Callable[[], Result]) -> Result:
        """Call a function whose kernels use a scratch, that of a graph; return its result.

        No context manager: Ctrl-C may come as one is about to end, and what it has set would then stay.
        """
        before, self._thread.scratch = getattr(self._thread, "scratch", None), scratch
        try:
            return run()
        finally:
            self._thread.scratch = before
