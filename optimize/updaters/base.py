"""What every updater is: a frozen configuration, and a formula over one chunk of the flat vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from ..schedules import Schedule, as_schedule

Array = Any
States = tuple[Array, ...]
Coefficients = Sequence[Any]


@dataclass(frozen=True)
class Updater:
    """Turns a gradient into the update that is subtracted from the parameters.

    Updaters with equal configuration share a block of the flat vector (`optimize.network_updater`).
    """

    state_names: ClassVar[tuple[str, ...]] = ()
    """Names of the state vectors, in the order in which they lie in a block's state."""

    def __post_init__(self) -> None:
        for field in fields(self):
            as_schedule(f"{type(self).__name__}.{field.name}", getattr(self, field.name))

    def coefficients(self, iteration: int, epoch: int) -> Coefficients:
        """Return the numbers that `apply` needs, the same for every element in an iteration."""
        raise NotImplementedError

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        """Turn `gradient` into the update, in place, and move the states on.

        Parameters
        ----------
        gradient : array ``[n]``
            In: the gradient, divided by the minibatch size and regularised. Out: what to subtract.
        states : arrays ``[n]``
            One for each of `state_names`.
        scratch : array ``[n]``
            Contents undefined.
        coefficients : sequence of float, or of arrays with one number each
            From `coefficients`. What is computed from them alone belongs there: here they are operands only.
        """
        raise NotImplementedError

    @staticmethod
    def at(value: float | Schedule, iteration: int, epoch: int) -> float:
        """Return a hyper-parameter's value now."""
        return value.value_at(iteration, epoch) if isinstance(value, Schedule) else value
