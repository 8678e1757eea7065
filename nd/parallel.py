"""Work that may run side by side: the backend decides whether it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from backends.base import Backend
from backends.scheduling import Work

from .state import backend, use_backend

Task = Callable[[], object]

__all__ = ["Work", "lanes", "run_lanes", "split_examples"]


def lanes() -> int:
    """Return how many tasks the current backend runs side by side."""
    return backend().lanes


def split_examples(examples: int, work: Work) -> list[list[slice]]:
    """Return for each lane the stretches of a minibatch that it should treat, one after the other.

    Parameters
    ----------
    examples : int
    work : Work
        What a training step costs; with little of it there is one lane.
    """
    return backend().split_examples(examples, work)


def run_lanes(tasks: Sequence[Task], light: bool = False) -> None:
    """Run tasks that do not depend on one another, each on the current backend; return when all have run.

    The first error of a task is raised. `light` tasks have no matrix product that is worth more than one lane.
    """
    here = backend()
    if len(tasks) > 1:  # the first stays in this thread
        tasks = [*tasks[:1], *(_on(here, task) for task in tasks[1:])]
    here.run_lanes(tasks, light)


def _on(here: Backend, task: Task) -> Task:
    def run() -> None:
        with use_backend(here):
            task()

    return run
