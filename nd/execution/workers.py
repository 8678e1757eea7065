"""Execution of computations: formulas compiled where the backend can, work side by side, memory used again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from backends.base import Backend
from backends.scheduling import ALONE, Meeting, Seat, UpdatePlan, Work, WorkPlan
from nd.typing import Array

from ..arguments import checked
from ..state import NOTHING, backend, eager, state, use_backend


class Elementwise:
    """A computation on arrays of one shape, or that broadcast to it, element by element and in place.

    Parameters
    ----------
    formula : callable
        Takes what the object is called with: arrays, numbers, and arrays ``[]`` that hold a number. Writes some of the
        arrays with this package's functions, and depends on nothing else that changes. An array ``[]`` that it writes
        may be seen before or after that by other elements.
    scratch : tuple of int
        Places of arguments whose contents matter neither before nor after.

    Notes
    -----
    CuPy makes one kernel of it; what it cannot make a kernel of, a reduction or a random draw, runs as it is written.

    Examples
    --------
    >>> import nd
    >>> half_sum = Elementwise(lambda x, y: nd.muli(nd.addi(x, y), 0.5))
    >>> x = nd.create([1.0, 3.0])
    >>> half_sum(x, nd.create([3.0, 5.0]))
    >>> x.tolist()
    [2.0, 4.0]
    """

    @checked
    def __init__(self, formula: Callable[..., object], scratch: tuple[int, ...] = ()) -> None:
        self.formula, self.scratch = formula, scratch
        self.compiled: dict[object, Any] = {}

    def __call__(self, *arguments: object) -> None:
        state.backend.run_formula(self, arguments, use_backend)


def elementwise(formula: Callable[..., object], scratch: tuple[int, ...] = ()) -> Callable[..., Any]:
    """Return a formula as the current backend runs it best: itself, or an `Elementwise`; parameters as there."""
    return Elementwise(formula, scratch) if state.backend.compiles else formula


def summed(formula: Callable[..., object]) -> Callable[..., Any]:
    """Return a formula as the current backend runs it best: itself, or a `Summed`; parameters as there."""
    return Summed(formula) if state.backend.compiles else formula


class Summed:
    """A sum over all elements of what a formula makes of each.

    Parameters
    ----------
    formula : callable
        As for `Elementwise`, but returns an array ``[]``, or several: sums and products by `nd.sum` and `nd.dot`,
        which may be multiplied by numbers and added up. It may also write arrays.

    Examples
    --------
    >>> import nd
    >>> penalty = Summed(lambda w, l2: 0.5 * l2 * nd.dot(w, w))
    >>> float(penalty(nd.create([3.0, 4.0]), 0.1))
    1.25
    """

    @checked
    def __init__(self, formula: Callable[..., Any]) -> None:
        self.formula = formula
        self.compiled: dict[object, Any] = {}

    def __call__(self, *arguments: object, out: object = None) -> Any:
        """Return the sums, in the elements of the vector `out` when it is given."""
        return state.backend.sum_formula(self, arguments, use_backend, out)


Task = Callable[[], object]

__all__ = [
    "ALONE", "Meeting", "Seat", "UpdatePlan", "Work", "WorkPlan", "deferred_memory", "meeting", "plan_shards",
    "plan_update", "plan_work", "run_tasks",
]  # fmt: skip


def plan_work(examples: int, work: Work | None) -> WorkPlan:
    """Return how a minibatch is divided among workers, and into what parts each of them divides its share.

    Parameters
    ----------
    examples : int
    work : Work, optional
        Cost of an example; None for a minibatch that must stay in one piece.
    """
    return backend().plan_work(examples, work)


def meeting(count: int) -> Meeting:
    """Return where so many workers of a step exchange numbers: each of them has one of its `seats`."""
    return backend().meeting(count)


def plan_update(length: int) -> UpdatePlan:
    """Return how an update of so many parameters is divided among workers."""
    return backend().plan_update(length)


def deferred_memory(count: int, dtype: str) -> Array | None:
    """Return a vector of zeros for numbers that the device decides by while the host goes on; None where it waits."""
    return backend().deferred_memory(count, dtype)


def plan_shards(count: int, meet: bool) -> tuple[tuple[int, int], ...]:
    """Return first and last, behind it, of the shards of a minibatch that every worker computes: a part of the tree.

    The tree is that of halves. Where shards `meet`, each has a worker of its own.
    """
    return backend().plan_shards(count, meet)


def run_tasks(
    tasks: Sequence[Task], light: bool = False, meeting: Meeting | None = None, undivided: bool = False
) -> list[Any]:
    """Run tasks that do not depend on one another, each on the current backend; return what they return.

    The first error of a task is raised. `light` tasks have no matrix product that is worth more than one worker. In
    eager mode they run one after the other in this thread. Tasks that take the seats of a `meeting` run side by side.
    Inside of `undivided` tasks nothing is split, also where there is one alone.
    """
    current, is_eager = state.backend, state.eager
    if undivided and len(tasks) == 1:
        return current.run_in_turn([*tasks, _nothing])[:1]  # of several, each has a thread
    if light and len(tasks) == 1 and current.needs_no_hold:
        return [tasks[0]()]
    if is_eager and meeting is None:
        return current.run_in_turn(tasks, light)
    if len(tasks) > 1:  # the first stays in this thread
        tasks = [*tasks[:1], *(_on(current, is_eager, task) for task in tasks[1:])]
    return current.run_tasks(tasks, light, meeting)


def _nothing() -> None:
    pass


def _on(target: Backend, is_eager: bool, task: Task) -> Task:
    def run() -> Any:
        with use_backend(target), eager() if is_eager else NOTHING:
            return task()

    return run


class Buffers:
    """Memory by name: call it with a name and a shape, and the same name gives the same memory in every step.

    So a training step allocates nothing large after the first one. One computation at a time uses them; what is handed
    out is overwritten by the next.

    Parameters
    ----------
    dtype : str
        Where none is named.
    """

    @checked
    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self._memory: dict[tuple[str, str], Array] = {}
        self._kept: list[Array] = []
        self._views: dict[tuple[str, tuple[int, ...], str], Array] = {}

    def __call__(self, name: str, shape: tuple[int, ...], dtype: str | None = None) -> Array:
        """Return an uninitialised activation of that shape, in the backend's preferred memory order."""
        key = (name, shape, dtype or self.dtype)
        view = self._views.get(key)
        return self._new_view(key) if view is None else view

    def _new_view(self, key: tuple[str, tuple[int, ...], str]) -> Array:
        """A smaller batch takes the beginning of a larger one's memory; a larger one replaces it."""
        name, shape, dtype = key
        memory = self._memory.get((name, dtype))
        if memory is None or memory.shape[0] < math.prod(shape):
            needed = math.prod(shape)
            if memory is not None and state.backend.keeps_addresses:
                self._kept.append(memory)
                needed = max(needed, 2 * memory.shape[0])  # so that little is kept in vain
            memory = self._memory[name, dtype] = state.backend.empty((needed,), dtype)
            self._views = {old: view for old, view in self._views.items() if (old[0], old[2]) != (name, dtype)}
        view = self._views[key] = state.backend.activation_view(memory, shape)
        return view


@checked
def fresh_buffers(dtype: str) -> Callable[..., Array]:
    """Return what is called as `Buffers` are, and gives new memory each time: for results that are the user's."""

    def fresh(name: str, shape: tuple[int, ...], kind: str | None = None) -> Array:
        return state.backend.empty_activation(shape, kind or dtype)

    return fresh
