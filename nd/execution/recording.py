"""Recording: a computation is written down when it first runs, and replayed without the Python around it."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from backends.errors import ArgumentError, NotRecorded
from nd.typing import Array

from ..arguments import argument_names, checked, shown
from ..arrays.creation import create_uninitialized
from ..explained import explained
from ..random import get_random
from ..state import backend, computing, state, use_backend
from .workers import Buffers

logger = logging.getLogger("nd")

Arrays = Sequence[Array | None]
Compute = Callable[[Arrays, Sequence[Any]], Array]
MOST_KEYS = 32  # recordings of one owner
MOST_BYTES = 1 << 28  # of the memory that only they need
IDLE = 64  # runs after which a key that has not come again makes room for another


class Recording:
    """A computation that `record` wrote down.

    Parameters
    ----------
    of_backend : object
        The backend's: `replay` computes again, on the same memory, `size` is what only it needs of that, in bytes.
    result : array
        Returned by the computation; `replay` fills it anew.
    """

    def __init__(self, of_backend: Any, result: Array) -> None:
        self.of_backend, self.replay, self.result = of_backend, of_backend.replay, result

    @property
    def size(self) -> int:
        """Bytes of the memory that only this recording needs."""
        return self.of_backend.size


@checked
def record(run: Callable[[], Array]) -> Recording | None:
    """Run a computation and write it down; None, without having run it, where the backend cannot record.

    Parameters
    ----------
    run : callable
        Reads and writes `traceable` arrays and buffers only, returns an array, and depends on nothing else that
        changes.

    Raises
    ------
    NotRecorded
        The computation decides by a value, or draws random numbers where the backend cannot repeat that. Parts of it
        may have run; the generator is as it was.
    """
    if isinstance(run, type) or argument_names(run, (), {}) is None:
        raise ArgumentError(f"record: run must be a function without arguments, got {shown(run)}. Use a lambda.")
    recorder, generator = backend().recorder(), get_random()
    if recorder is None:
        return None
    drawn = generator.get_state()

    def run_on_recorder() -> Array:
        with use_backend(recorder), recorder.quiet():
            return run()

    try:
        recording, result = recorder.record(run_on_recorder, get_random)
    except NotRecorded:
        generator.set_state(drawn)
        raise
    return Recording(recording, result)


@explained
def traceable(x: Array) -> Array:
    """Return a view of an array for computations that are recorded."""
    return backend().traceable(x)


class Recordings:
    """The computations of one owner, recorded for every key: shapes, say, and whatever else decides what is done.

    Parameters
    ----------
    dtype : str
        Of the numbers that they are given.
    pure : bool
        Whether they read and write arrays only, by functions of this package, and take no decision on values. What is
        not pure is computed as it is written each time.
    most, most_bytes : int
        Recordings that are kept, and bytes that only they need.

    Notes
    -----
    The recording that has not run for the longest time makes room for another, once it has not run for 64 runs: where
    more keys than that alternate, some are computed without a recording, because recording costs more than it saves
    once. What cannot be recorded of one key does not keep others from it. In eager mode nothing is recorded.
    """

    def __init__(self, dtype: str, pure: bool, most: int = MOST_KEYS, most_bytes: int = MOST_BYTES) -> None:
        self.dtype, self.pure, self.most, self.most_bytes = dtype, pure, most, most_bytes
        self._memory = Buffers(dtype)  # of what is not recorded
        self._known: dict[Hashable, _Reader | None] = {}  # the one that ran last comes last; None: cannot be
        self._runs = 0

    def __len__(self) -> int:
        return sum(recording is not None for recording in self._known.values())

    def run(
        self,
        key: Hashable,
        compute: Compute,
        arrays: Arrays = (),
        numbers: Sequence[float] = (),
        own: Sequence[bool] = (),
    ) -> Array:
        """Compute, by a recording where there is one; the result's memory is used again by the next run of the key.

        Parameters
        ----------
        key : hashable
            Everything that decides on the operations.
        compute : callable
            Takes arrays and numbers like these, returns an array.
        arrays : sequence of array or None
            Copied to where the recording reads them.
        numbers : sequence of float
            In a recording they are arrays ``[]``.
        own : sequence of bool, optional
            Which arrays lie where nobody else writes, in every run of the key: they are read there.
        """
        if not self.pure or state.eager:
            return self._plainly(compute, arrays, numbers, own)
        self._runs += 1
        reader = self._known.get(key)
        if reader is not None:
            reader.last_run = self._runs
            return reader.replay(arrays, numbers)
        if key in self._known or not self._make_room():
            return self._plainly(compute, arrays, numbers, own)
        return self._first_run(key, compute, arrays, numbers, own)

    def _first_run(
        self, key: Hashable, compute: Compute, arrays: Arrays, numbers: Sequence[float], own: Sequence[bool]
    ) -> Array:
        """Record while it is computed."""
        if backend().recorder() is None:
            return self._plainly(compute, arrays, numbers, own)
        reader = _Reader(self.dtype, arrays, numbers, own)
        reader.last_run = self._runs
        try:
            reader.record(compute)
        except NotRecorded as refused:
            logger.debug("not recorded: %s", refused)
            self._known[key] = None
            return self._plainly(compute, arrays, numbers, own)
        self._known[key] = reader
        return reader.recording.result

    def _plainly(self, compute: Compute, arrays: Arrays, numbers: Sequence[Any], own: Sequence[bool]) -> Array:
        with computing(backend()):
            return compute(in_order(arrays, own, self._memory), numbers)

    def forget(self, key: Hashable) -> None:
        """Forget the recording of a key, if there is one."""
        self._known.pop(key, None)

    def clear(self) -> None:
        """Forget all of them."""
        self._known.clear()

    def _make_room(self) -> bool:
        """Tell whether there is room for another; those that no longer run go."""
        while self._known and (len(self._known) >= self.most or self._bytes() >= self.most_bytes):
            oldest = min(self._known, key=self._last_run)
            if self._runs - self._last_run(oldest) <= IDLE:
                return False
            del self._known[oldest]
        return True

    def _bytes(self) -> int:
        return sum(reader.recording.size for reader in self._known.values() if reader is not None)

    def _last_run(self, key: Hashable) -> int:
        """Return when a key ran last; what cannot be recorded may go at any time."""
        reader = self._known[key]
        return -IDLE if reader is None else reader.last_run


class _Reader:
    """A recording, and the memory from which it reads arrays and numbers that change from run to run."""

    recording: Recording
    last_run = 0

    def __init__(self, dtype: str, arrays: Arrays, numbers: Sequence[float], own: Sequence[bool]) -> None:
        kept = own or (False,) * len(arrays)
        self._arrays = [
            array if array is None or stays else state.backend.input_like(array)
            for array, stays in zip(arrays, kept, strict=True)
        ]
        there = [(place, target) for place, target in enumerate(self._arrays) if target is not None]
        self._copied = [(place, target) for place, target in there if not kept[place]]
        self._own = [(place, target) for place, target in there if kept[place]]
        self._numbers: Sequence[float] = ()
        self._memory: Array | Any = create_uninitialized(len(numbers), dtype=dtype) if numbers else None
        self._put(arrays, numbers)

    def record(self, compute: Compute) -> None:
        """Compute while it is recorded; raise NotRecorded where that cannot be."""
        arrays = [None if array is None else traceable(array) for array in self._arrays]
        cells = () if self._memory is None else [traceable(cell) for cell in state.backend.cells(self._memory)]
        self.recording = record(partial(compute, arrays, cells))  # type: ignore[assignment]

    def replay(self, arrays: Arrays, numbers: Sequence[float]) -> Array:
        """Compute again, on these."""
        self._put(arrays, numbers)
        recording = self.recording
        recording.replay()
        return recording.result

    def _put(self, arrays: Arrays, numbers: Sequence[float]) -> None:
        for place, target in self._copied:
            state.backend.assign(target, arrays[place])
        for place, target in self._own:
            if target is not arrays[place]:  # buffers that have grown since lie elsewhere
                state.backend.assign(target, arrays[place])
        if numbers != self._numbers:
            state.backend.assign(self._memory, numbers)
            self._numbers = numbers


def in_order(arrays: Arrays, own: Sequence[bool] = (), memory: Callable[..., Array] | None = None) -> Arrays:
    """Return arrays, but those that are `own`, in the order in which a recording reads them: sums round alike then.

    Copies lie in the `memory`, `Buffers` say; without it in new memory.
    """
    kept = own or (False,) * len(arrays)
    return [
        x if x is None or stays else _ordered(x, place, memory or _new_memory)
        for place, (x, stays) in enumerate(zip(arrays, kept, strict=True))
    ]


def _ordered(x: Array, place: int, memory: Callable[..., Array]) -> Array:
    dtype = state.backend.dtype_name(x)
    return state.backend.to_input_order(x, lambda name, shape, kind=dtype: memory(f"{name}{place}", shape, kind))


def _new_memory(name: str, shape: tuple[int, ...], dtype: str) -> Array:
    return state.backend.activation_view(state.backend.empty((math.prod(shape),), dtype), shape)
