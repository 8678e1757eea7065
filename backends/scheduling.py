"""A backend's schedule: what it computes side by side, in which portions, recorded, or while the host goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from backends.typing import Array

from .errors import BackendError

Task = Callable[[], object]


class Work(NamedTuple):
    """Cost of a computation of a network, for a backend that splits it.

    Parameters
    ----------
    multiplications : int
        Per example.
    largest : int
        Bytes of the largest activation, per example.
    parameters : int
        Numbers that every worker computes for itself, to be added: the length of a gradient.
    per_step : int
        Multiplications per example of the smallest product that comes once in every time step; 0 where nothing goes
        through series step by step. Without those of LSTM units of tanh and sigmoid:
    per_lstm_step : int
        The same of these alone, which a backend may run whole.
    meetings : int
        How often workers need numbers of one another on the way: each of them then has one part, and all run at once.
    looked_up : int
        Numbers per example that come from the rows of a table, or are added to them, in as many passes.
    """

    multiplications: int
    largest: int
    parameters: int
    per_step: int = 0
    meetings: int = 0
    looked_up: int = 0
    per_lstm_step: int = 0


class WorkPlan(NamedTuple):
    """Division of a minibatch."""

    workers: tuple[tuple[slice, ...], ...]
    """For every worker, the parts of the minibatch that it computes, one after the other."""
    light: bool
    """Whether there is so little to do that no matrix product is worth more than one worker."""
    undivided: bool
    """Whether the minibatch stays in one piece."""


class UpdatePlan(NamedTuple):
    """Division of an update of the parameters."""

    shares: tuple[tuple[int, int], ...]
    """For every worker, the elements of the flat vector that it treats, from a first one up to a last."""
    chunk: int
    """Elements that are treated in one go, as many as fit a cache."""
    most_merged: int
    """Different penalties that are worth treating in one pass; every one takes a vector that says where it holds."""


class Seat:
    """The place of one worker where all of a step exchange numbers; this one is of a worker that is alone.

    Attributes
    ----------
    number, count : int
        Of this worker, from 0, and of all.
    """

    number, count = 0, 1

    def begin(self) -> None:
        """Begin a pass through the network, in which every worker calls `gather` equally often."""

    def gather(self, vector: Array) -> Array:
        """Return ``[workers, n]``, the vectors ``[n]`` of all workers, in their order, when all have come."""
        return vector[None, ...]


ALONE = Seat()


class Meeting:
    """Where workers of a step exchange numbers.

    Attributes
    ----------
    seats : tuple of Seat
        One for every worker.
    """

    def __init__(self, seats: tuple[Seat, ...] = (ALONE,)) -> None:
        self.seats = seats


def subtrees(first: int, stop: int, most: int) -> list[tuple[int, int]]:
    """Cut the leaves `first` .. `stop` of a tree of halves into at most so many of its parts."""
    if most < 2 or stop - first < 2:
        return [(first, stop)]
    middle = (first + stop) // 2
    return [*subtrees(first, middle, most // 2), *subtrees(middle, stop, most - most // 2)]


class Scheduling:
    """Mixin of `Backend`: everything at once, one after the other, and never recorded."""

    needs_no_hold = False
    """Whether a single light task runs as well without `run_tasks`, which is most often one of microseconds."""
    keeps_addresses = False
    """Whether a recording knows memory by its address, and does not keep it."""

    # ---- recording

    def recorder(self) -> Any:
        """Return the backend on which `nd.record` records a computation; None where there is none."""
        return None

    def traceable(self, x: Array) -> Array:
        """Return a view of `x` for computations that are recorded."""
        return x

    @property
    def replays_on(self) -> Any:
        """The backend on which what is recorded here is replayed: itself where it records nothing."""
        return self

    def noted(self, call: Callable[[], object]) -> None:
        """Make a call of the host's; a recording makes it again at that place, in every replay."""
        call()

    def deferred_memory(self, count: int, dtype: str) -> Array | None:
        """Return a vector of zeros for numbers that the device decides by, as the host does not wait for it.

        None where an operation is over when it returns, so that the host decides.
        """
        return None

    # ---- work side by side

    def plan_work(self, examples: int, work: Work | None) -> WorkPlan:
        """Return the division of so many examples, of that cost per example; None: they stay together."""
        return WorkPlan(((slice(0, examples),),), False, True)

    def plan_shards(self, count: int, meet: bool) -> tuple[tuple[int, int], ...]:
        """Return first and last, behind it, of the shards of a minibatch that every worker computes.

        Each has a part of the tree of halves, see `subtrees`; where they `meet`, one shard.

        Raises
        ------
        BackendError
            Shards that meet cannot run side by side.
        """
        if meet:
            raise BackendError(
                f"shards: layers whose examples meet, as in batch normalisation, must run side by side, which "
                f"{type(self).__name__} does not do. Leave shards out, or train on the CPU."
            )
        return ((0, count),)

    def plan_update(self, length: int) -> UpdatePlan:
        """Return the division of an update of so many parameters."""
        return UpdatePlan(((0, length),), max(length, 1), 0)

    def meeting(self, count: int) -> Meeting:
        """Return where so many workers exchange numbers, as many as a plan has."""
        return Meeting()

    def run_tasks(self, tasks: Sequence[Task], light: bool = False, meeting: Meeting | None = None) -> list[Any]:
        """Run tasks that do not depend on one another, as many as a plan has workers; return their results.

        `light` tasks have no product that is worth more than one worker. Those that take the seats of a meeting run
        side by side in any case.
        """
        return [task() for task in tasks]

    def run_in_turn(self, tasks: Sequence[Task], light: bool = False) -> list[Any]:
        """Run such tasks one after the other in this thread; their numbers are those of `run_tasks`."""
        return [task() for task in tasks]
