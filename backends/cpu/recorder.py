"""The NumPy backend while a recording is made: new arrays are traced, what a recording cannot hold is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from backends.typing import Array, HostArray, NumpyArray

from ..base import Backend
from ..errors import NotRecorded
from ..generic.random_bits import advanced
from ..scheduling import Meeting
from .accelerated import OneDnn
from .numpy_backend import NumpyBackend
from .recording import Recording, TracedArray, active_recording, note, own_memory, plain, unrecorded, writable


def recorder_of(backend: NumpyBackend) -> Backend:
    """Return the backend on which computations of that one are recorded."""
    kind = type(backend)
    if kind is NumpyBackend:
        return _Recorder(backend)
    # With what a class of a user's own does its own way.
    return type(f"Recording{kind.__name__}", (_Recorder, kind), {})(backend)


def _result(result: object) -> HostArray:
    if not isinstance(result, TracedArray):
        raise NotRecorded(f"the result is {type(result).__name__}, nothing that the recording computes.")
    return result.view(np.ndarray)


class _Recorder(NumpyBackend):
    """Runs computations as `NumpyBackend` does, on traced arrays.

    Parameters
    ----------
    backend : NumpyBackend
        The one whose workers run what is recorded.
    """

    silent = True

    def __init__(self, backend: NumpyBackend) -> None:
        self.__dict__.update(backend.__dict__)
        self._plain, self.needs_no_hold = backend, False

    @property
    def onednn(self) -> OneDnn:
        return self._plain.onednn  # loaded once, for both

    def run_tasks(
        self, tasks: Sequence[Callable[[], object]], light: bool = False, meeting: Meeting | None = None
    ) -> list[object]:
        """Note the tasks, one for a worker, which write their last argument and do not meet, and run them."""
        plain_tasks = []
        for task in tasks:
            if not isinstance(task, partial):
                raise NotRecorded("a recording cannot hold tasks that it does not know.")
            writable(task.args[-1])
            plain_tasks.append(partial(task.func, *plain(task.args)))
        note(super().run_tasks, plain_tasks)
        return super().run_tasks(plain_tasks)

    def record(self, run: Callable[[], list[Any]], generator: Callable[[], object]) -> tuple[Recording, list[object]]:
        """Run once; return the recording, and the results, whose memory every replay fills anew.

        `generator` returns the generator that random numbers are drawn from, at once and at every replay.
        """
        recording = Recording(generator)
        return recording, list(map(_result, recording.hear(run)))

    @property
    def replays_on(self) -> NumpyBackend:
        return self._plain

    def noted(self, call: Callable[[], object]) -> None:
        note(call)
        unrecorded(call)

    # ---- new arrays

    def empty(self, shape: Sequence[int], dtype: str, order: str = "c") -> np.ndarray:
        return own_memory(super().empty(shape, dtype, order))

    def lasting(self, length: int, dtype: str) -> Array:
        return self._plain.lasting(length, dtype)

    def activation_view(self, flat: NumpyArray, shape: Sequence[int]) -> Array:
        return super().activation_view(self.traceable(flat), shape)

    def assign(self, target: NumpyArray, source: Any) -> Array:
        np.copyto(target, source, casting="unsafe")  # which asks a traced source too, where the target is not
        return target

    copy = Backend.copy

    def reshape(self, x: Array, shape: Sequence[int]) -> Array:
        try:
            return self.reshape_view(x, shape)
        except ValueError:
            return self.reshape_view(self.copy(x), shape)

    def axpby(self, alpha: object, x: NumpyArray, beta: object, y: NumpyArray, scratch: NumpyArray) -> Array:
        run = self.level_one.bound(plain(alpha), plain(x), plain(beta), writable(y))
        if run is None:
            return Backend.axpby(self, alpha, x, beta, y, scratch)
        note(run)
        run()
        return y

    def pull_rows(
        self, table: NumpyArray, indices: NumpyArray, who: str = "pull_rows", out: NumpyArray | None = None
    ) -> Array:
        rows = self.empty((indices.shape[0], table.shape[1]), self.dtype_name(table)) if out is None else out
        pull = partial(self._plain.pull_rows, plain(table), plain(indices), who, writable(rows))
        note(pull)
        pull()
        return rows

    def scatter_add(self, table: NumpyArray, indices: NumpyArray, updates: NumpyArray) -> Array:
        add = partial(super().scatter_add, writable(table), plain(indices), plain(updates))
        note(add)
        add()
        return table

    # ---- random draws, which every replay draws anew

    def random_uniform(self, root: int, node: int, n: int, dtype: str) -> Array:
        return self._drawn(root, node, self._plain.random_uniform, self.empty((n,), dtype), n, dtype)

    def random_raw(self, root: int, node: int, n: int) -> Array:
        return self._drawn(root, node, self._plain.random_raw, self.empty((n,), "uint64"), n)

    def dropout_factors(self, root: int, node: int, p: float, out: NumpyArray) -> Array:
        memory = writable(out)

        def factors(root: int, node: int) -> Array:
            return self._plain.dropout_factors(root, node, p, memory)

        return self._drawn(root, node, factors, out)

    def _drawn(
        self, root: int, node: int, draw: Callable[..., NumpyArray], out: NumpyArray, *arguments: object
    ) -> Array:
        """Draw into an array, and note that every replay draws again, from the generator's state at that time."""
        generator, memory = active_recording().generator, plain(out)
        if generator is None or generator().get_state() != (root, node):
            raise NotRecorded("a recording holds draws of this thread's generator only.")

        def run() -> None:
            numbers = draw(*generator().get_state(), *arguments)
            if numbers is not memory:
                np.copyto(memory, numbers)

        note(run)
        run()
        return out

    def random_moved(self, n: int) -> None:
        current: Any = active_recording().generator

        def move() -> None:
            generator = current()
            generator.node = advanced(generator.node, n)

        note(move)

    # ---- refused: a replay would not repeat it

    def to_host(self, x: Array) -> HostArray:
        raise NotRecorded("a recording cannot hold a copy to the host.")

    def item(self, x: Array | float) -> float:
        raise NotRecorded("a recording cannot hold a decision on a value.")
