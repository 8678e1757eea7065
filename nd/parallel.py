"""Work that may run side by side: the backend decides how it is divided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from backends.base import Backend
from backends.scheduling import UpdatePlan, Work, WorkPlan

from .state import backend, state, use_backend

Array = Any
Task = Callable[[], object]

__all__ = ["UpdatePlan", "Work", "WorkPlan", "deferred_memory", "plan_update", "plan_work", "run_lanes"]


def plan_work(examples: int, work: Work | None) -> WorkPlan:
    """Return how a minibatch is divided among workers, and into what parts each of them divides its share.

    Parameters
    ----------
    examples : int
    work : Work, optional
        What an example costs; None for a minibatch that must stay whole.
    """
    return backend().plan_work(examples, work)


def plan_update(length: int) -> UpdatePlan:
    """Return how an update of so many parameters is divided among workers."""
    return backend().plan_update(length)


def deferred_memory(count: int, dtype: str) -> Array | None:
    """Return a vector of zeros for numbers that the device decides by while the host goes on; None where it waits."""
    return backend().deferred_memory(count, dtype)


def run_lanes(tasks: Sequence[Task], light: bool = False) -> None:
    """Run tasks that do not depend on one another, each on the current backend; return when all have run.

    The first error of a task is raised. `light` tasks have no matrix product that is worth more than one worker. In
    eager mode they run one after the other in this thread.
    """
    backend()  # chosen by now
    here = state.backend
    if state.eager:
        here.run_in_turn(tasks)
        return
    if len(tasks) > 1:  # the first stays in this thread
        tasks = [*tasks[:1], *(_on(here, task) for task in tasks[1:])]
    here.run_lanes(tasks, light)


def _on(here: Backend, task: Task) -> Task:
    def run() -> None:
        with use_backend(here):
            task()

    return run
