"""When and where a backend computes: side by side, in which portions, recorded, while the host goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from backends.typing import Array

Task = Callable[[], object]


class Work(NamedTuple):
    """What a computation of a network costs, for a backend that splits it.

    Parameters
    ----------
    multiplications : int
        Per example.
    largest : int
        Bytes of the largest activation, per example.
    parameters : int
        Numbers that every worker computes for itself, to be added: the length of a gradient.
    """

    multiplications: int
    largest: int
    parameters: int


class WorkPlan(NamedTuple):
    """How a minibatch is computed."""

    workers: tuple[tuple[slice, ...], ...]
    """For each worker the parts of the minibatch that it computes, one after the other."""
    light: bool
    """Whether there is so little to do that no matrix product is worth more than one worker."""
    is_whole: bool
    """Whether the minibatch stays in one piece."""


class UpdatePlan(NamedTuple):
    """How the update of the parameters is computed."""

    shares: tuple[tuple[int, int], ...]
    """For each worker the elements of the flat vector that it treats, from a first one up to a last."""
    chunk: int
    """Elements that are treated in one go, as many as fit a cache."""
    most_merged: int
    """Different penalties that are worth treating in one pass, each with a vector that says where it holds."""


class Scheduling:
    """Mixin of `Backend`: everything at once, one after the other, and never recorded."""

    keeps_addresses = False
    """Whether what is recorded knows memory by its address, and does not keep it."""

    # ---- recording

    def recorder(self) -> Any:
        """Return the backend on which `nd.record` runs a computation to write it down; None where there is none."""
        return None

    def traceable(self, x: Array) -> Array:
        """Return a view of `x` for computations that are recorded."""
        return x

    def deferred_memory(self, count: int, dtype: str) -> Array | None:
        """Return a vector of zeros for numbers that the device decides by, as the host does not wait for it.

        None where an operation is over when it returns, so that the host decides.
        """
        return None

    # ---- work side by side

    def plan_work(self, examples: int, work: Work | None) -> WorkPlan:
        """Return how so many examples are divided, of which each costs that; None: they stay together."""
        return WorkPlan(((slice(0, examples),),), False, True)

    def plan_update(self, length: int) -> UpdatePlan:
        """Return how an update of so many parameters is divided."""
        return UpdatePlan(((0, length),), max(length, 1), 0)

    def run_tasks(self, tasks: Sequence[Task], light: bool = False) -> list[Any]:
        """Run tasks that do not depend on one another, as many as a plan has workers; return what they return.

        `light` tasks have no product that is worth more than one worker.
        """
        return [task() for task in tasks]

    def run_in_turn(self, tasks: Sequence[Task], light: bool = False) -> list[Any]:
        """Run such tasks one after the other in this thread, with the numbers that `run_tasks` gives."""
        return [task() for task in tasks]
