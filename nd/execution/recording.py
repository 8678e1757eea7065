"""Recording: a computation is written down when it first runs, and replayed without the Python around it."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Hashable, Iterator
from functools import partial, reduce
from itertools import count
from operator import getitem, itemgetter
from typing import Any

from backends.errors import ArgumentError, NotRecorded
from nd.typing import Array

from ..arguments import argument_names, checked, shown
from ..arrays.creation import create_uninitialized
from ..random import get_random
from ..state import Restoring, backend, computing, explained, state, use_backend
from .workers import Buffers

logger = logging.getLogger("nd")

Compute = Callable[[Any], Any]
MOST_KEYS = 32  # recordings of one owner
MOST_BYTES = 1 << 28  # of the memory that only they need
IDLE = 64  # runs after which a key that has not come again makes room for another


class Recording:
    """A computation that `record` wrote down.

    Parameters
    ----------
    of_backend : object
        The backend's: `replay` computes again, on the same memory, `size` is what only it needs of that, in bytes.
    result : array, or nested tuples of arrays
        Returned by the computation; `replay` fills it anew.
    """

    def __init__(self, of_backend: Any, result: object) -> None:
        self.of_backend, self.replay, self.result = of_backend, of_backend.replay, result

    @property
    def size(self) -> int:
        """Bytes of the memory that only this recording needs."""
        return self.of_backend.size


@checked
def record(run: Callable[[], Any]) -> Recording | None:
    """Run a computation and write it down; None, without having run it, where the backend cannot record.

    Parameters
    ----------
    run : callable
        Reads and writes `traceable` arrays and buffers only, returns an array, or tuples of arrays and None, and
        depends on nothing else that changes.

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

    returned: list[object] = []

    def run_on_recorder() -> list[object]:
        with use_backend(recorder), recorder.quiet():
            returned[:] = [run()]
        results = returned[0]
        return [results] if results is None else [result for result in leaves(results) if result is not None]

    try:
        with Restoring():
            recording, results = recorder.record(run_on_recorder, get_random)
    except NotRecorded:
        generator.set_state(drawn)
        raise
    return Recording(recording, with_leaves(returned[0], iter(results)))


@explained
def traceable(x: Array) -> Array:
    """Return a view of an array for computations that are recorded."""
    return backend().traceable(x)


def noted(call: Callable[[], object]) -> None:
    """Make a call of the host's, which may compute; a recording makes it again at that place, in every replay."""
    current = state.backend

    def run() -> None:
        with use_backend(current.replays_on):
            call()

    current.noted(run)


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

    def run(self, key: Hashable, compute: Compute, inputs: tuple[Any, ...] = ()) -> Any:
        """Compute, by a recording where there is one; return what `compute` does.

        The memory of the results is used again by the next run of the key.

        Parameters
        ----------
        key : hashable
            Everything that decides on the operations.
        compute : callable
            Takes what `inputs` are, returns an array, or tuples of arrays and None, named or not. Memory that stays,
            it holds itself, `traceable`. An input that it writes and returns is best handed in again: no copy is made.
        inputs : tuple
            Named or not, of arrays, None, numbers and such tuples, alike in every run of the key. A recording reads
            copies of the arrays, but for what the backend has staged, and the numbers from arrays ``[]``.
        """
        if self.pure and not state.eager:
            self._runs += 1
            reader = self._known.get(key)
            if reader is not None:
                reader.last_run = self._runs
                return reader.replay(inputs)
            if key not in self._known and self._make_room():
                reader = self._record(key, compute, inputs)
                if reader is not None:
                    return reader.outputs
        with computing(backend()):
            return compute(in_order(inputs, self._memory))

    def _record(self, key: Hashable, compute: Compute, inputs: tuple[Any, ...]) -> _Reader | None:
        """Record while it is computed, and return that; None where it cannot be."""
        if backend().recorder() is None:
            return None
        reader = _Reader(self.dtype, inputs)
        reader.last_run = self._runs
        try:
            reader.record(compute, inputs)
        except NotRecorded as refused:
            logger.debug("not recorded: %s", refused)
            self._known[key] = None
            return None
        self._known[key] = reader
        return reader

    def recorded(self) -> list[Recording]:
        """Return the recordings that there are, the one that ran last at the end."""
        return [reader.recording for reader in self._known.values() if reader is not None]

    def clear(self) -> None:
        """Throw all recordings away, and their memory."""
        self._known.clear()

    def holds(self, key: Hashable) -> bool:
        """Tell whether the next run of that key replays a recording."""
        return self.pure and not state.eager and self._known.get(key) is not None

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

    last_run = 0
    outputs: Any
    """What the computation has returned; every replay fills it anew."""

    def __init__(self, dtype: str, inputs: tuple[Any, ...]) -> None:
        self._arrays: list[tuple[Callable[[object], object], Array]] = []  # (where an input lies, where it is read)
        self._numbers: list[Callable[[Any], Any]] = []
        for path in _paths(inputs):
            value = path(inputs)
            if value is None:
                continue
            if not state.backend.is_array(value):
                self._numbers.append(path)
            else:
                staged = state.backend.stages and state.backend.is_staged(value)
                self._arrays.append((path, value if staged else state.backend.input_like(value)))
        self._cells: object = create_uninitialized(len(self._numbers), dtype=dtype) if self._numbers else None
        self._written: list[float] = []
        self._last: object = None

    def record(self, compute: Compute, inputs: tuple[Any, ...]) -> None:
        """Compute while it is recorded; raise NotRecorded where that cannot be."""
        self._put(inputs)
        memory = [target for _, target in self._arrays]
        traced = list(map(traceable, memory))
        arrays = iter(traced)
        cells = iter([] if self._cells is None else map(traceable, state.backend.cells(self._cells)))
        given = mapped(lambda x: x if x is None else next(arrays if state.backend.is_array(x) else cells), inputs)
        inside = {id(array): target for array, target in zip(traced, memory, strict=True)}
        where: list[object] = []  # of every result that is an input the memory of that

        def run() -> Any:
            results = compute(given)
            where[:] = [inside.get(id(result)) for result in leaves(results)]
            return results

        self.recording: Recording = record(run)  # type: ignore[assignment]
        own = iter(where)
        self.outputs = mapped(lambda x: x if (memory := next(own)) is None else memory, self.recording.result)

    def replay(self, inputs: tuple[Any, ...]) -> Any:
        """Compute again, on these."""
        self._put(inputs)
        self.recording.replay()
        return self.outputs

    def _put(self, inputs: tuple[Any, ...]) -> None:
        for path, target in self._arrays:
            array = path(inputs)
            if array is not target:  # else nobody else writes there: it was staged, or a result before
                state.backend.assign(target, array)
        if self._cells is not None and inputs is not self._last:
            numbers = [path(inputs) for path in self._numbers]
            if numbers != self._written:
                state.backend.assign(self._cells, numbers)
                self._written = numbers
            self._last = None if self._arrays else inputs  # which then holds numbers alone


def _paths(nested: tuple[Any, ...], outer: tuple[int, ...] = ()) -> Iterator[Callable[[Any], Any]]:
    """Yield, for everything in nested tuples that is no tuple, what takes it out of others like these."""
    for place, item in enumerate(nested):
        path = (*outer, place)
        if isinstance(item, tuple):
            yield from _paths(item, path)
        else:
            yield _path(*path)


def _path(first: int, second: int | None = None, *rest: int) -> Callable[[Any], Any]:
    if second is None:
        return itemgetter(first)
    if not rest:
        return lambda nested: nested[first][second]
    if len(rest) == 1:
        return lambda nested, third=rest[0]: nested[first][second][third]  # type: ignore[misc]
    return lambda nested: reduce(getitem, (first, second, *rest), nested)


def in_order(inputs: Any, memory: Callable[..., Array] | None = None) -> Any:
    """Return inputs with their arrays in the order in which a recording reads them: sums round alike then.

    Copies lie in the `memory`, `Buffers` say; without it in new memory. What is staged stays where it is.
    """
    return mapped(partial(_ordered, count(), memory or _new_memory), inputs)


def _ordered(places: Iterator[int], memory: Callable[..., Array], x: Any) -> Any:
    current = state.backend
    if not current.is_array(x) or (current.stages and current.is_staged(x)):
        return x
    place, dtype = next(places), current.dtype_name(x)
    return current.to_input_order(x, lambda name, shape, kind=dtype: memory(f"{name}{place}", shape, kind))


def _new_memory(name: str, shape: tuple[int, ...], dtype: str) -> Array:
    return state.backend.activation_view(state.backend.empty((math.prod(shape),), dtype), shape)


# ---- arrays in tuples, named or not, which may hold further tuples


def leaves(nested: Any) -> Iterator[Any]:
    """Yield everything in nested tuples that is no tuple, in its order."""
    if not isinstance(nested, tuple):
        yield nested
        return
    for item in nested:
        yield from leaves(item)


def mapped(function: Callable[[Any], Any], nested: Any) -> Any:
    """Return nested tuples of the same kinds, with what the function makes of everything that is no tuple."""
    if not isinstance(nested, tuple):
        return function(nested)
    items = [mapped(function, item) for item in nested]
    return tuple(items) if type(nested) is tuple else type(nested)(*items)


def with_leaves(nested: Any, replaced: Iterator[object]) -> Any:
    """Return nested tuples of the same kinds with others in the place of everything that is neither tuple nor None."""
    return mapped(lambda item: None if item is None else next(replaced), nested)
