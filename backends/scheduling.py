"""When and where a backend computes: side by side, in which portions, recorded, while the host goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Array = Any


class Work(NamedTuple):
    """What a computation of a network costs, for a backend that splits it.

    Parameters
    ----------
    multiplications : int
        Per example.
    largest : int
        Bytes of the largest activation, per example.
    parameters : int
        Numbers that every lane computes for itself, to be added: the length of a gradient.
    """

    multiplications: int
    largest: int
    parameters: int


class Scheduling:
    """Mixin of `Backend`: everything at once, one after the other, and never recorded."""

    merges_penalties = False
    """Whether an update in one go is worth a vector for each penalty that does not hold everywhere."""
    asynchronous = False
    """Whether operations run while the host goes on, which waits when it asks for a value."""
    stages = False
    """Whether `staged` has a better way for host data than `from_host`."""
    keeps_addresses = False
    """Whether what is recorded knows memory by its address, and does not keep it."""
    update_chunk = 1 << 62
    """Elements that the update of the parameters treats in one go; a CPU backend sets what fits its cache."""
    lanes = 1
    """Tasks that `run_lanes` runs side by side."""
    lane_elements = 1 << 62
    """Elements of an update that are worth a lane of their own."""

    # ---- recording

    def recorder(self) -> Any:
        """Return the backend on which `nd.record` runs a computation to write it down; None where there is none."""
        return None

    def traceable(self, x: Array) -> Array:
        """Return a view of `x` for computations that are recorded."""
        return x

    # ---- work side by side

    def split_examples(self, examples: int, work: Work) -> list[list[slice]]:
        """Return for each lane the stretches of a minibatch that it treats, one after the other."""
        return [[slice(0, examples)]]

    def run_lanes(self, tasks: Sequence[Callable[[], object]], light: bool = False) -> None:
        """Run tasks that do not depend on one another, `lanes` of them at most; return when all have run.

        `light` tasks have no product that is worth more than one lane.
        """
        for task in tasks:
            task()
