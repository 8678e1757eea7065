"""A backend's schedule: what it computes side by side, in which portions, recorded, or while the host goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from backends.typing import Array

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


def in_one_piece(examples: int) -> WorkPlan:
    """Return the plan of a minibatch that one worker computes in one piece."""
    return WorkPlan(((slice(0, examples),),), False, True)


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
